/*
 * test_open.c -- opening and closing: options, wrong folders, locks, read-only, temporary and
 * memory stores, handles that are still open.
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* try_open -- the status of opening with these options, closed again at once. */
static tansu_status try_open(const tansu_options *options) {
    tansu_db *db = NULL;
    tansu_status status = tansu_open(options, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    if (status == TANSU_OK)
        call_close(db);
    return status;
}

/* try_path -- the same at a path. */
static tansu_status try_path(const char *path) {
    tansu_options options = call_options(path);
    return try_open(&options);
}

/* ---- Options and paths ---- */

static void invalid_options_are_rejected(void) {
    char *folder = folder_new();
    tansu_options good = call_options(folder), bad;
    tansu_db *db;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(NULL, &db, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&good, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&(tansu_options){.path = folder}));
    CHECK(strstr(call_error.message, "not initialized; call tansu_options_init()") != NULL);
    bad = good, bad.struct_size = sizeof bad + 8;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    CHECK(strstr(call_error.message, "newer header") != NULL);
    bad = good, bad.path = "";
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.path = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.segment_size = 1000;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.segment_size = UINT64_MAX;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.store = (tansu_store)9;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.durability = (tansu_durability)-1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.durability = TANSU_DURABILITY_INTERVAL, bad.interval_ms = 0;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    bad = good, bad.store = TANSU_STORE_MEMORY, bad.read_only = 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&bad));
    CHECK(call_error.message[0] != 0);
    CHECK(!file_exists(folder_join(folder, "MANIFEST")));
    good.checkpoint_bytes = 0; /* after every commit: slow, but it makes sense */
    CHECK_OK(try_open(&good), &call_error);
    folder_end(folder);
}

static void options_of_an_older_header_are_completed(void) {
    char *folder = folder_new();
    tansu_options old = call_options(folder);
    old.struct_size = offsetof(tansu_options, compaction_percent);
    old.compaction_percent = old.compaction_share = 1000; /* whatever lies behind the old struct */
    CHECK_OK(try_open(&old), &call_error);
    old.struct_size--;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_open(&old));
    folder_end(folder);
}

static void paths_that_are_no_database_are_refused(void) {
    char *folder = folder_new();
    CHECK_STATUS(TANSU_E_IO, try_path(folder_join(folder, "no/such/folder")));
    CHECK_INT(ENOENT, call_error.sys_errno);
    file_write(folder_join(folder, "file"), "text", 4);
    CHECK_STATUS(TANSU_E_EXISTS, try_path(folder_join(folder, "file")));
    CHECK_STATUS(TANSU_E_EXISTS, try_path(folder)); /* it has other things in it */
    CHECK(!file_exists(folder_join(folder, "LOCK")));
    tansu_options options = call_options(folder_join(folder, "none"));
    options.must_exist = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    options.must_exist = 0;
    options.read_only = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    CHECK(!file_exists(folder_join(folder, "none")));
    mkdir(folder_join(folder, "empty"), 0755);
    options = call_options(folder_join(folder, "empty"));
    options.must_exist = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    options.must_exist = 0;
    CHECK_OK(try_open(&options), &call_error);
    options.must_exist = 1;
    CHECK_OK(try_open(&options), &call_error);
    folder_end(folder);
}

static void an_error_is_left_alone_on_success(void) {
    char *folder = sample_folder();
    tansu_error error;
    memset(&error, 0x5A, sizeof error);
    tansu_error before = error;
    tansu_db *db = NULL;
    folder_remove(folder_join(folder, "index")); /* that is no error */
    tansu_options options = call_options(folder);
    CHECK_STATUS(TANSU_OK, tansu_open(&options, &db, &error));
    CHECK_BYTES(&before, sizeof before, &error, sizeof error);
    call_close(db);
    folder_end(folder);
}

/* ---- Locks ---- */

static void one_handle_at_a_time(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    tansu_options options = call_options(folder);
    options.read_only = 1;
    CHECK_STATUS(TANSU_E_LOCKED, try_open(&options));
    sample_check(db);
    call_close(db);
    CHECK_OK(try_path(folder), &call_error);
    folder_end(folder);
}

/* check_holder_named -- the error of a locked database says which process has it open. */
static void check_holder_named(pid_t holder) {
    char expected[64];
    snprintf(expected, sizeof expected, "is open in process %ld (\"", (long)holder);
    CHECK(strstr(call_error.message, expected) != NULL);
}

/* hold_for -- a process that has the database open from now on until that many milliseconds later,
 * and then ends without closing it. */
static pid_t hold_for(const char *folder, int read_only, useconds_t milliseconds) {
    int ready[2];
    char byte = 0;
    REQUIRE(pipe(ready) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_db *db = NULL;
        tansu_options options = call_options(folder);
        options.read_only = read_only;
        if (tansu_open(&options, &db, NULL) != TANSU_OK || write(ready[1], &byte, 1) != 1)
            _exit(2);
        usleep(milliseconds * 1000);
        _exit(0);
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void opening_waits_for_another_process(void) {
    for (int shared = 0; shared < 2; shared++) {
        char *folder = sample_folder();
        pid_t child = hold_for(folder, shared, 200);
        CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
        check_holder_named(child);
        tansu_options options = call_options(folder);
        options.lock_timeout_ms = 600000;
        tansu_db *db = call_open_with(&options);
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        sample_check(db);
        /* This process never closes it meanwhile. */
        options.lock_timeout_ms = 30;
        CHECK_STATUS(TANSU_E_LOCKED, try_open(&options));
        CHECK(strstr(call_error.message, "already open in this process; ") != NULL);
        call_close(db);
        folder_end(folder);
    }
}

static void every_call_that_needs_the_lock_names_its_holder(void) {
    char *folder = sample_folder(), *beside = folder_new();
    const char *new_folder = folder_join(beside, "new");
    pid_t child = hold_for(folder, 0, 600000);
    tansu_db *db = NULL;
    char json[600];
    CHECK_STATUS(TANSU_E_LOCKED, maintenance_repair(folder, new_folder));
    check_holder_named(child);
    CHECK_STATUS(TANSU_E_LOCKED, restore(folder, new_folder));
    check_holder_named(child);
    snprintf(json, sizeof json, "{\"path\": \"%s\", \"lockTimeoutMs\": 20}", folder);
    CHECK_STATUS(TANSU_E_LOCKED, tansu_open_json(json, &db, &call_error));
    check_holder_named(child);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    options.lock_timeout_ms = 20;
    CHECK_STATUS(TANSU_E_LOCKED, try_open(&options));
    check_holder_named(child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    child = hold_for(folder, 0, 200);
    snprintf(json, sizeof json, "{\"path\": \"%s\", \"lockTimeoutMs\": 600000}", folder);
    CHECK_OK(tansu_open_json(json, &db, &call_error), &call_error);
    waitpid(child, NULL, 0);
    sample_check(db);
    CHECK_STATUS(TANSU_E_LOCKED, maintenance_repair(folder, new_folder));
    CHECK(strstr(call_error.message, "open in this process; ") != NULL);
    call_close(db);
    folder_end(beside);
    folder_end(folder);
}

static void one_process_at_a_time(void) {
    char *folder = sample_folder();
    int ready[2], done[2];
    char byte = 0;
    REQUIRE(pipe(ready) == 0 && pipe(done) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_db *db = NULL;
        tansu_options options = call_options(folder);
        tansu_status status = tansu_open(&options, &db, NULL);
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(2);
        _exit(status == TANSU_OK ? 0 : 1); /* without closing */
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    check_holder_named(child);
    REQUIRE(write(done[1], &byte, 1) == 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tansu_db *db = call_open(folder);
    sample_check(db);
    call_close(db);
    for (int i = 0; i < 2; i++)
        close(ready[i]), close(done[i]);
    folder_end(folder);
}

/* A process that is started has all descriptors until it becomes another program: a closed
 * database must be free at once all the same. */
static void closed_while_a_process_starts(void) {
    char *folder = sample_folder();
    int done[2];
    char byte = 0;
    REQUIRE(pipe(done) == 0);
    tansu_db *db = call_open(folder);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(read(done[0], &byte, 1) == 1 ? 0 : 1);
    call_close(db);
    CHECK_OK(try_path(folder), &call_error);
    REQUIRE(write(done[1], &byte, 1) == 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(done[0]), close(done[1]);
    folder_end(folder);
}

/* The file is only a name: deleting it takes the lock from nobody and gives it to nobody. */
static void deleting_the_lock_file_lets_nobody_in(void) {
    char *folder = sample_folder();
    tansu_options options = call_options(folder);
    for (int read_only = 0; read_only < 2; read_only++) {
        options.read_only = read_only;
        tansu_db *db = call_open_with(&options);
        for (int other = 0; other < 2; other++) {
            CHECK(remove(folder_join(folder, "LOCK")) == 0);
            options.read_only = other;
            bool shared = read_only != 0 && other != 0;
            CHECK_STATUS(shared ? TANSU_OK : TANSU_E_LOCKED, try_open(&options));
        }
        if (read_only == 0)
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': 3}"), &call_error);
        sample_check(db);
        call_close(db);
        CHECK_OK(try_path(folder), &call_error);
    }
    folder_end(folder);
}

/* ---- Read-only ---- */

/* check_read_only -- all that a read-only handle refuses. */
static void check_read_only(tansu_db *db) {
    sample_check(db);
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 99}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_remove_id(db, NULL, "c", "{'_id': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_index(db, NULL, "c", "x", "{'x': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_checkpoint(db, NULL));
    txn = call_begin(db, TANSU_TXN_READ);
    CHECK_INT(50, call_count(db, txn, "c", "{}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, txn, "c", TANSU_SAVE, "{'_id': 99}"));
    tansu_txn_abort(txn);
    CHECK_OK(tansu_sync(db, NULL), NULL);
}

static void several_may_read(void) {
    char *folders[] = {sample_folder(), sample_unclean(false), sample_unclean(true)};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        tansu_options options = call_options(folders[i]);
        options.read_only = 1;
        uint64_t before = sample_checksum(folders[i]);
        tansu_db *a = call_open_with(&options), *b = call_open_with(&options);
        check_read_only(a);
        check_read_only(b);
        CHECK_INT(i == 0 ? 0 : 1, call_count(a, NULL, "late", "{}"));
        CHECK_STATUS(TANSU_E_LOCKED, try_path(folders[i]));
        call_close(a);
        sample_check(b);
        call_close(b);
        CHECK_INT(before, sample_checksum(folders[i]));
        a = call_open(folders[i]);
        sample_check(a);
        CHECK_INT(i == 0 ? 0 : 1, call_count(a, NULL, "late", "{}"));
        call_close(a);
        folder_end(folders[i]);
    }
}

/* refuse_writing / refuse_folder -- the calls of a read-only file system. */
static int refuse_writing(const fs *calls, const char *path, int flags, int mode) {
    if ((flags & O_ACCMODE) == O_RDONLY && (flags & O_CREAT) == 0)
        return fs_system.open(calls, path, flags, mode);
    struct stat found;
    errno = (flags & O_CREAT) == 0 && stat(path, &found) != 0 ? ENOENT : EROFS;
    return -1;
}

static int refuse_folder(const fs *calls, const char *path, int mode) {
    (void)calls, (void)path, (void)mode;
    errno = EROFS;
    return -1;
}

static int refuse_name(const fs *calls, const char *path) {
    (void)calls, (void)path;
    errno = EROFS;
    return -1;
}

/* open_sealed -- opens with no wish of being read-only, on a file system that is. */
static tansu_status open_sealed(const char *folder, tansu_db **db) {
    static fs calls;
    calls = fs_system;
    calls.open = refuse_writing;
    calls.mkdir = refuse_folder;
    calls.unlink = refuse_name;
    tansu_options options = call_options(folder);
    return handle_open(&options, &calls, &engine_query_hooks, db, &call_error);
}

static void a_read_only_file_system_is_opened_read_only(void) {
    char *folders[] = {sample_folder(), sample_unclean(false), sample_unclean(true)};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        for (int locked = 1; locked >= 0; locked--) { /* with a LOCK, and copied without one */
            uint64_t before = sample_checksum(folders[i]);
            tansu_db *db = NULL;
            REQUIRE(CHECK_OK(open_sealed(folders[i], &db), &call_error));
            check_read_only(db);
            call_close(db);
            CHECK_INT(before, sample_checksum(folders[i]));
            unlink(folder_join(folders[i], "LOCK"));
        }
        /* Where a LOCK can be made it is. */
        tansu_options options = call_options(folders[i]);
        options.read_only = 1;
        tansu_db *db = call_open_with(&options);
        check_read_only(db);
        CHECK_STATUS(TANSU_E_LOCKED, try_path(folders[i]));
        call_close(db);
        folder_end(folders[i]);
    }
    char *empty = folder_new();
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_READ_ONLY, open_sealed(empty, &db));
    CHECK_STATUS(TANSU_E_READ_ONLY, open_sealed(folder_join(empty, "none"), &db));
    folder_end(empty);
}

/* What is torn after power loss is damage when only the process was killed. */
static void a_torn_log_can_be_read_without_recovery(void) {
    char *folder = sample_unclean(false);
    const char *name = folder_join(folder, "log/00000001.seg");
    tansu_options options = call_options(folder);
    options.read_only = 1;
    tansu_db *db = call_open_with(&options);
    int64_t sequence = call_statistic(db, "sequence");
    call_close(db);
    /* The last commit's document goes. */
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    size_t end = bytes.size;
    while (end > 0 && bytes.data[end - 1] == 0)
        end--;
    file_flip(name, end - 1, 0);
    uint64_t before = sample_checksum(folder);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
    CHECK(strstr(call_error.message, "tansu repair") != NULL);
    tail_file_lose_power(folder_join(folder, "log"), true);
    db = call_open_with(&options);
    CHECK_INT(sequence - 1, call_statistic(db, "sequence"));
    sample_check(db);
    CHECK_INT(0, call_count(db, NULL, "late", "{}"));
    call_close(db);
    CHECK_INT(before, sample_checksum(folder));
    tansu_buffer_free(&bytes);
    folder_end(folder);
}

/* ---- Stores ---- */

static void a_temporary_store_is_removed(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options), *second = call_open_with(&options);
    sample_fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    sample_check(db);
    CHECK_INT(0, call_count(second, NULL, "c", "{}"));
    call_close(db);
    call_close(second);
    CHECK_INT(0, rmdir(folder)); /* nothing is left in it */
    options.path = folder;       /* and now it is not there */
    CHECK_STATUS(TANSU_E_IO, try_open(&options));
    free(folder);
}

static void a_memory_store_has_no_files(void) {
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open_path(NULL, &db, NULL), NULL));
    sample_fill(db);
    sample_check(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK_INT(-1, call_statistic(db, "path"));
    call_close(db);
}

static void a_path_is_enough(void) {
    char *folder = folder_new();
    tansu_db *db = NULL;
    const char *path = folder_join(folder, "new");
    REQUIRE(CHECK_OK(tansu_open_path(path, &db, NULL), NULL));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_close(db);
    REQUIRE(CHECK_OK(tansu_open_path(path, &db, NULL), NULL));
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    tansu_close(db);
    tansu_close(NULL);
    CHECK_OK(tansu_shutdown(NULL, NULL), NULL);
    folder_end(folder);
}

/* ---- Closing with open handles ---- */

static void shutdown_refuses_while_handles_are_open(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    sample_fill(db);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    sample_check(db); /* nothing was closed */
    tansu_cursor_close(cursor);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

static void close_waits_for_the_last_handle(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    sample_fill(db);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{'n': 3}", NULL);
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ);
    tansu_txn *writing = call_begin(db, TANSU_TXN_WRITE), *more = NULL;
    tansu_close(db);
    CHECK_STATUS(TANSU_E_CLOSED, tansu_txn_begin(db, TANSU_TXN_READ, 0, &more, NULL));
    CHECK_TEXT("CLOSED", call_find(db, NULL, "c", "{}", NULL));
    CHECK_TEXT("CLOSED", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_CLOSED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    /* What is open goes on. */
    CHECK_INT(50, call_count(db, reading, "c", "{}"));
    CHECK_OK(call_save(db, writing, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
    CHECK_OK(tansu_txn_commit(writing, NULL, &call_error), &call_error);
    tansu_txn_abort(reading);
    CHECK_TEXT("{ \"_id\" : 3, \"n\" : 3 }", call_next(cursor));
    tansu_cursor_close(cursor);
    db = call_open(folder); /* now it is closed */
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(invalid_options_are_rejected);
    RUN(options_of_an_older_header_are_completed);
    RUN(paths_that_are_no_database_are_refused);
    RUN(an_error_is_left_alone_on_success);
    RUN(one_handle_at_a_time);
    RUN(one_process_at_a_time);
    RUN(opening_waits_for_another_process);
    RUN(every_call_that_needs_the_lock_names_its_holder);
    RUN(closed_while_a_process_starts);
    RUN(deleting_the_lock_file_lets_nobody_in);
    RUN(several_may_read);
    RUN(a_read_only_file_system_is_opened_read_only);
    RUN(a_torn_log_can_be_read_without_recovery);
    RUN(a_temporary_store_is_removed);
    RUN(a_memory_store_has_no_files);
    RUN(a_path_is_enough);
    RUN(shutdown_refuses_while_handles_are_open);
    RUN(close_waits_for_the_last_handle);
    return check_finish();
}
