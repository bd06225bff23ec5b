/*
 * test_compaction_crash.c -- a process that compacts is killed before and after each of its file
 * calls: the next one finds every document, whether it opens with the block store that is there or
 * without one, and compacts again. Likewise a disk that is full, and calls that fail, at each of
 * them. And it is killed between compactions that are cancelled and backups: what has a backup's
 * name then is whole.
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- File calls that count, and at one of which something happens ---- */

static struct {
    unsigned count; /* of calls that change something */
    unsigned at;    /* the call at which it happens; 0: never */
    bool after;     /* killed after the call rather than before it */
    int error; /* 0: the process is killed; otherwise the call, and every later one of its kind,
                        fails */
    bool only_space; /* calls that take space only */
} orders;

/* due -- counts a call; whether it is the one. */
static bool due(void) {
    return ++orders.count == orders.at;
}

/* fails -- counts a call and says whether it fails; before the one that is due, kills. */
static bool fails(bool takes_capacity) {
    if (orders.only_space && !takes_capacity)
        return false;
    bool now = due();
    if (now && orders.error == 0 && !orders.after)
        kill(getpid(), SIGKILL);
    errno = orders.error;
    return orders.error != 0 && orders.at != 0 && orders.count >= orders.at;
}

/* done -- after a call. */
static void done(void) {
    if (orders.count == orders.at && orders.error == 0 && orders.after)
        kill(getpid(), SIGKILL);
}

static int count_open(const fs *calls, const char *path, int flags, int mode) {
    if ((flags & O_CREAT) == 0)
        return fs_system.open(calls, path, flags, mode);
    if (fails(true))
        return -1;
    int fd = fs_system.open(calls, path, flags, mode);
    done();
    return fd;
}

static ssize_t count_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (fails(true))
        return -1;
    ssize_t n = fs_system.write(fd, bytes, size, offset);
    done();
    return n;
}

static int count_allocate(int fd, uint64_t offset, uint64_t size) {
    if (fails(true))
        return -1;
    int result = fs_system.allocate(fd, offset, size);
    done();
    return result;
}

static int count_truncate(int fd, uint64_t size) {
    if (fails(false))
        return -1;
    int result = fs_system.truncate(fd, size);
    done();
    return result;
}

static int count_sync(int fd, void *mapped, size_t size) {
    if (fails(false))
        return -1;
    int result = fs_system.sync(fd, mapped, size);
    done();
    return result;
}

static int count_sync_folder(const fs *calls, const char *path) {
    if (fails(false))
        return -1;
    int result = fs_system.sync_folder(calls, path);
    done();
    return result;
}

static int count_rename(const fs *calls, const char *from, const char *to) {
    if (fails(false))
        return -1;
    int result = fs_system.rename(calls, from, to);
    done();
    return result;
}

static int count_unlink(const fs *calls, const char *path) {
    if (fails(false))
        return -1;
    int result = fs_system.unlink(calls, path);
    done();
    return result;
}

/* ---- The store ---- */

#define DOCUMENTS 6000
#define KEPT(i) ((i) % 10 == 3)

/* Whether the documents of the store are compressed. */
static bool compressed;

/* make_store -- a few segments of which little is alive, closed, or left as a killed process
 * does. */
static void make_store(const char *folder) {
    tansu_db *db = call_open(folder);
    uint8_t filling[500] = {0};
    if (compressed)
        CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", "{'unique': true}"), &call_error);
    for (int i = 0; i < DOCUMENTS;) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int end = i + 500; i < end; i++) {
            bson_t doc = BSON_INITIALIZER;
            BSON_APPEND_INT32(&doc, "_id", i);
            BSON_APPEND_INT32(&doc, "n", 100000 + i);
            BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, sizeof filling);
            CHECK_OK(call_save_bson(db, txn, "c", TANSU_INSERT, &doc), &call_error);
            bson_destroy(&doc);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
    CHECK_OK(call_save(db, NULL, "dropped", TANSU_INSERT, "{'_id': 1}"), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "dropped", &call_error), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[64];
        snprintf(text, sizeof text, KEPT(i) ? "{'_id': %d, 'n': %d}" : "{'_id': %d}", i, i);
        if (KEPT(i))
            CHECK_OK(call_save(db, NULL, "c", TANSU_REPLACE, text), &call_error);
        else
            CHECK_OK(call_remove_id(db, NULL, "c", text, NULL), &call_error);
    }
    call_close(db);
}

/* check_store -- everything is as make_store() left it. */
static void check_store(tansu_db *db) {
    CHECK_INT(DOCUMENTS / 10, call_count(db, NULL, "c", "{}"));
    CHECK_INT(DOCUMENTS / 10, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    CHECK_INT(0, call_count(db, NULL, "c", "{'n': {'$gte': 100000}}"));
    CHECK_TEXT("{ \"_id\" : 3, \"n\" : 3 }", call_get(db, NULL, "c", "{'_id': 3}"));
    CHECK_TEXT("{ \"_id\" : 5993, \"n\" : 5993 }", call_get(db, NULL, "c", "{'_id': 5993}"));
    CHECK_INT(0, call_count(db, NULL, "dropped", "{}"));
}

/* open_counted -- over the calls above. */
static tansu_status open_counted(const char *folder, tansu_db **db) {
    static fs calls;
    calls = fs_system;
    calls.open = count_open;
    calls.write = count_write;
    calls.allocate = count_allocate;
    calls.truncate = count_truncate;
    calls.sync = count_sync;
    calls.sync_folder = count_sync_folder;
    calls.rename = count_rename;
    calls.unlink = count_unlink;
    tansu_options options = call_options(folder);
    return handle_open(&options, &calls, &engine_query_hooks, db, &call_error);
}

/* compact_twice -- a life with two compactions and commits between and after them. */
static void compact_twice(const char *folder) {
    tansu_db *db;
    if (open_counted(folder, &db) != TANSU_OK)
        _exit(10);
    if (tansu_compact(db, NULL, NULL, NULL, &call_error) != TANSU_OK)
        _exit(11);
    /* Records after the compaction whose versions before lie in the new segment. */
    for (int i = 3; i < 2003; i += 10) {
        char text[64];
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d}", i, i);
        if (call_save(db, NULL, "c", TANSU_REPLACE, text) != TANSU_OK)
            _exit(12);
    }
    if (tansu_compact(db, NULL, NULL, NULL, &call_error) != TANSU_OK)
        _exit(13);
    if (call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 3, 'n': 3}") != TANSU_OK)
        _exit(14);
    _exit(0);
}

/* inspect -- opens what is left in all ways, works on it, and opens it again. */
static void inspect(const char *folder, bool without_block_store) {
    tansu_options options = call_options(folder);
    if (without_block_store)
        folder_remove(folder_join(folder, "index"));
    options.read_only = 1;
    tansu_db *db = call_open_with(&options);
    check_store(db);
    call_close(db);
    options.read_only = 0;
    db = call_open_with(&options);
    check_store(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 'x', 'n': 'x'}"), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 'x'}", NULL), &call_error);
    check_store(db);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    check_store(db);
    call_close(db);
    folder_remove(folder_join(folder, "index"));
    db = call_open(folder);
    check_store(db);
    call_close(db);
}

/* copy_name -- a path for a copy. */
static char *copy_name(const char *folder, const char *name) {
    char *path = strdup(folder_join(folder, name));
    REQUIRE(path != NULL);
    return path;
}

static void killed_at_every_file_call(void) {
    char *folder = folder_new(), *store = copy_name(folder, "store");
    make_store(store);
    unsigned calls = 0;
    bool ended = false;
    random_source source = random_start(2);
    for (unsigned at = 1; !ended && check_failures() == 0; at += random_step(&source)) {
        char *copy = copy_name(folder, "copy"), *other = copy_name(folder, "other");
        folder_copy(store, copy);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            orders.at = (at + 1) / 2;
            orders.after = at % 2 == 0;
            compact_twice(copy);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        ended = WIFEXITED(status);
        if (ended)
            CHECK_INT(0, WEXITSTATUS(status));
        calls = at;
        folder_copy(copy, other);
        inspect(copy, false);
        inspect(other, true);
        if (check_failures() != 0)
            check_note("    killed %s call %u; the store is in %s",
                       at % 2 == 0 ? "after" : "before", (at + 1) / 2, folder);
        else {
            folder_remove(copy);
            folder_remove(other);
        }
        free(copy);
        free(other);
    }
    check_note("%u calls", calls / 2);
    CHECK(calls > 60);
    free(store);
    if (check_failures() == 0)
        folder_end(folder);
}

/* check_backup -- restores one, and opens it where it lies. */
static void check_backup(const char *folder, const char *from, bool is_folder) {
    const char *to = path_in(folder, "restored");
    CHECK_OK(restore(from, to), &call_error);
    for (int i = 0; i < (is_folder ? 2 : 1) && check_failures() == 0; i++) {
        tansu_db *db = call_open(i == 0 ? to : from);
        check_store(db);
        CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        check_store(db);
        call_close(db);
    }
    remove_at(to);
    remove_at(from);
}

/* fault_at -- one compaction in which calls fail from one on; false when it was not reached. */
static bool fault_at(const char *folder, const char *store, const char *copy, unsigned at,
                     int error, bool only_space) {
    folder_copy(store, copy);
    tansu_db *db;
    orders.count = orders.at = 0;
    orders.only_space = only_space;
    REQUIRE(CHECK_OK(open_counted(copy, &db), &call_error));
    orders.count = 0;
    orders.at = at;
    orders.error = error;
    tansu_status status = tansu_compact(db, NULL, NULL, NULL, &call_error);
    bool reached = orders.count >= at;
    if (!reached)
        CHECK_OK(status, &call_error);
    else if (status != TANSU_OK)
        CHECK(status == TANSU_E_IO || status == TANSU_E_FULL || status == TANSU_E_SYNC_FAILED);
    check_store(db); /* reading goes on */
    orders.at = 0;
    orders.error = 0;
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    const char *to = path_in(folder, "backup"); /* and so do backups */
    if (CHECK_OK(backup(db, to, backup_forms[at % 2]), &call_error))
        check_backup(folder, to, at % 2 == 0);
    if (only_space && reached) { /* and, when there is space again, everything */
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        check_store(db);
    }
    tansu_shutdown(db, &call_error);
    inspect(copy, at % 2 == 0);
    folder_remove(copy);
    return reached;
}

static void calls_that_fail_cost_nothing(void) {
    char *folder = folder_new(), *store = copy_name(folder, "store"),
         *copy = copy_name(folder, "copy");
    make_store(store);
    random_source source = random_start(3);
    unsigned at = 1;
    while (check_failures() == 0 && fault_at(folder, store, copy, at, EIO, false))
        at += random_step(&source);
    check_note("calls to %u made to fail", at - 1);
    CHECK(at > 20);
    free(store);
    free(copy);
    folder_end(folder);
}

static void a_full_disk_costs_nothing(void) {
    char *folder = folder_new(), *store = copy_name(folder, "store"),
         *copy = copy_name(folder, "copy");
    make_store(store);
    random_source source = random_start(3);
    unsigned at = 1;
    while (check_failures() == 0 && fault_at(folder, store, copy, at, ENOSPC, true))
        at += random_step(&source);
    check_note("calls to %u made to find the disk full", at - 1);
    CHECK(at > 5);
    free(store);
    free(copy);
    folder_end(folder);
}

/* ---- Backups ---- */

#define BACKUPS 6
#define MOST_STRIDE 80 /* a dozen kills: a life has about 500 places for one */

/* backup_to -- where a backup goes. */
static const char *backup_to(const char *folder, unsigned number) {
    static const char *const names[BACKUPS] = {"b0", "b1", "b2", "b3", "b4", "b5"};
    return path_in(folder, names[number]);
}

/* write_on_and_cancel -- a progress function: others write until the head is a new segment, and
 * then it is enough. */
static int write_on_and_cancel(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    static uint8_t filling[700000];
    for (int i = 0; i < 2; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", i);
        BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, sizeof filling);
        if (call_save_bson(context, NULL, "noise", TANSU_SAVE, &doc) != TANSU_OK)
            _exit(20);
        bson_destroy(&doc);
    }
    return 0;
}

/* cancel_and_back_up -- a life of cancelled compactions, backups of both forms, and one
 * compaction. */
static void cancel_and_back_up(const char *store, const char *folder) {
    tansu_db *db;
    if (open_counted(store, &db) != TANSU_OK)
        _exit(10);
    for (unsigned i = 0; i < BACKUPS; i++) {
        tansu_status status =
            tansu_compact(db, i == 4 ? NULL : write_on_and_cancel, db, NULL, &call_error);
        /* After the compaction there may be nothing to do. */
        if (status != (i < 4 ? TANSU_E_CANCELLED : TANSU_OK) &&
            (i < 5 || status != TANSU_E_CANCELLED))
            _exit(11);
        if (backup(db, backup_to(folder, i), backup_forms[i % 2]) != TANSU_OK)
            _exit(12);
    }
    _exit(0);
}

static void killed_between_cancelled_compactions_and_backups(void) {
    char *folder = folder_new(), *store = copy_name(folder, "store");
    char *copy = copy_name(folder, "copy");
    /* Usually one call in twenty; TANSU_CRASHES=4000 and more: each. */
    unsigned stride = 4000 / (unsigned)random_rounds("TANSU_CRASHES", 100);
    if (stride > MOST_STRIDE)
        stride = MOST_STRIDE;
    random_source source = random_start(1);
    make_store(store);
    unsigned kills = 0, found = 0;
    bool ended = false;
    for (unsigned at = 1; !ended && check_failures() == 0;
         at += 1 + (unsigned)random_below(&source, stride)) {
        folder_copy(store, copy);
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            orders.count = 0;
            orders.error = 0;
            orders.only_space = false;
            orders.at = (at + 1) / 2;
            orders.after = at % 2 == 0;
            cancel_and_back_up(copy, folder);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        ended = WIFEXITED(status);
        if (ended)
            CHECK_INT(0, WEXITSTATUS(status));
        kills++;
        for (unsigned i = 0; i < BACKUPS && check_failures() == 0; i++) {
            const char *from = backup_to(folder, i);
            remove_at(part_of(from));
            if (!file_exists(from))
                continue;
            check_backup(folder, from, backup_forms[i % 2] == TANSU_BACKUP_FOLDER);
            found++;
        }
        if (check_failures() == 0) {
            inspect(copy, at % 3 == 0);
            folder_remove(copy);
        } else {
            check_note("    killed %s call %u; the store is in %s",
                       at % 2 == 0 ? "after" : "before", (at + 1) / 2, folder);
        }
    }
    check_note("%u kills, %u backups", kills, found);
    CHECK(ended && kills > 5 && found > BACKUPS);
    free(copy);
    free(store);
    if (check_failures() == 0)
        folder_end(folder);
}

int main(void) {
    RUN(killed_at_every_file_call);
    RUN(killed_between_cancelled_compactions_and_backups);
    RUN(calls_that_fail_cost_nothing);
    RUN(a_full_disk_costs_nothing);
    compressed = library_lz4();
    if (compressed) {
        memset(&orders, 0, sizeof orders);
        RUN(killed_at_every_file_call);
        RUN(calls_that_fail_cost_nothing);
        RUN(a_full_disk_costs_nothing);
    }
    return check_finish();
}
