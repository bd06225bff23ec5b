/*
 * test_backup.c -- backups of both forms and what is restored from them: the same database as of
 * one commit, also concurrently with a writer, and nothing when a task is cancelled or refused.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What is in it ---- */

/* check_copy -- opens a folder and compares. */
static void check_copy(const char *path, const store_model *m, random_source *source) {
    tansu_db *db = call_open(path);
    CHECK_INT(m->commits, call_statistic(db, "sequence"));
    store_model_check(m, source, db, NULL);
    store_model copy = *m; /* and it is a database to go on with */
    for (int i = 0; i < 5; i++)
        store_model_step(&copy, source, db);
    store_model_check(&copy, source, db, NULL);
    call_close(db);
}

/* round_trip -- random work; now and then a backup of each form, which is restored and compared. */
static void round_trip(const char *path, uint64_t stream) {
    random_source source = random_start(stream);
    char *folder = folder_new();
    store_model m = {.most_pad = 60000};
    tansu_db *db = call_open(path);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < (round == 0 ? 0 : 60); i++) /* the first time it is empty */
            store_model_step(&m, &source, db);
        if (round >= 2) { /* from here on not all of history is in the log */
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
            m.commits = (uint64_t)call_statistic(db, "sequence");
        }
        for (int f = 0; f < 2; f++) {
            const char *to = path_in(folder, f == 0 ? "folder" : "file");
            const char *restored = path_in(folder, "restored/"); /* the slash is no harm */
            tansu_buffer report = TANSU_BUFFER_INIT;
            bson_t view;
            bson_iter_t at;
            CHECK_OK(tansu_backup(db, to, backup_forms[f], NULL, NULL, &report, &call_error),
                     &call_error);
            REQUIRE(bson_init_static(&view, report.data, report.size));
            CHECK(bson_iter_init_find(&at, &view, "sequence") &&
                  bson_iter_int64(&at) == (int64_t)m.commits);
            CHECK_OK(tansu_restore(to, restored, NULL, NULL, &report, &call_error), &call_error);
            REQUIRE(bson_init_static(&view, report.data, report.size));
            uint64_t documents = 0;
            for (unsigned c = 0; c < STORE_MODEL_COLLECTIONS; c++)
                documents += store_model_count(&m, c);
            CHECK(bson_iter_init_find(&at, &view, "documents") &&
                  bson_iter_int64(&at) == (int64_t)documents);
            tansu_buffer_free(&report);
            check_copy(path_in(folder, "restored"), &m, &source);
            if (f == 0)
                check_copy(to, &m, &source); /* also opens as it is */
            folder_remove(path_in(folder, "restored"));
            remove_at(to);
        }
    }
    store_model_check(&m, &source, db, NULL);
    call_close(db);
    folder_end(folder);
}

static void a_backup_holds_what_the_database_held(void) {
    char *folder = folder_new();
    round_trip(path_in(folder, "db"), 1);
    folder_end(folder);
}

static void a_memory_store_is_backed_up_as_well(void) {
    round_trip(NULL, 2);
}

/* A backup may be the source of the next one, also opened read-only. */
static void a_backup_of_a_backup(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    CHECK_OK(backup(db, path_in(folder, "one"), TANSU_BACKUP_FOLDER), &call_error);
    call_close(db);
    tansu_options options = call_options(path_in(folder, "one"));
    options.read_only = 1;
    db = call_open_with(&options);
    CHECK_OK(backup(db, path_in(folder, "two"), TANSU_BACKUP_FILE), &call_error);
    call_close(db);
    CHECK_OK(restore(path_in(folder, "two"), path_in(folder, "three")), &call_error);
    db = call_open(path_in(folder, "three"));
    sample_check(db);
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

/* ---- Concurrently with writers ---- */

typedef struct moving {
    tansu_db *db;
    atomic_bool stop;
    atomic_uint commits;
} moving;

#define ACCOUNTS 16

/* move -- shifts amounts between accounts; each commit leaves their sum as it was. */
static void *move(void *context) {
    moving *m = context;
    random_source source = random_start(3);
    while (!m->stop) {
        tansu_txn *txn = NULL;
        tansu_error error;
        int amount = (int)random_below(&source, 100);
        CHECK_OK(tansu_txn_begin(m->db, TANSU_TXN_WRITE, 0, &txn, &error), &error);
        for (int side = 0; side < 2; side++) {
            bson_t *query = BCON_NEW("_id", BCON_INT32((int)random_below(&source, ACCOUNTS)));
            bson_t *update =
                BCON_NEW("$inc", "{", "n", BCON_INT32(side == 0 ? amount : -amount), "}", "$set",
                         "{", "pad", "0123456789012345678901234567890123456789", "}");
            CHECK_OK(tansu_update(m->db, txn, "accounts", document_of(query), document_of(update),
                                  TANSU_NO_DOCUMENT, NULL, &error),
                     &error);
            bson_destroy(query);
            bson_destroy(update);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &error), &error);
        m->commits++;
    }
    return NULL;
}

/* check_accounts -- all are there and their sum is what it was. */
static void check_accounts(tansu_db *db) {
    CHECK_INT(ACCOUNTS, call_count(db, NULL, "accounts", "{}"));
    int64_t sum = 0;
    tansu_cursor *cursor = call_cursor(db, NULL, "accounts", "{}", "{}");
    tansu_document document;
    while (tansu_cursor_next(cursor, &document, NULL) == TANSU_OK) {
        bson_t doc;
        bson_iter_t at;
        REQUIRE(bson_init_static(&doc, document.data, document.size));
        REQUIRE(bson_iter_init_find(&at, &doc, "n"));
        sum += bson_iter_as_int64(&at);
    }
    tansu_cursor_close(cursor);
    CHECK_INT(ACCOUNTS * 1000, sum);
}

/* Compaction in the background gives way to each backup. */
static void a_backup_concurrent_with_a_writer_is_of_one_commit(void) {
    char *folder = folder_new();
    tansu_options options = call_options(path_in(folder, "db"));
    options.checkpoint_bytes = 100000;
    options.compaction_percent = 10;
    options.compaction_share = 50;
    moving m = {.db = call_open_with(&options)};
    for (int i = 0; i < ACCOUNTS; i++) {
        char json[64];
        snprintf(json, sizeof json, "{'_id': %d, 'n': 1000}", i);
        CHECK_OK(call_save(m.db, NULL, "accounts", TANSU_INSERT, json), &call_error);
    }
    pthread_t writer;
    REQUIRE(pthread_create(&writer, NULL, move, &m) == 0);
    for (int i = 0; i < 10; i++) {
        unsigned before = m.commits;
        while (m.commits < before + 100 ||
               (i == 0 && m.commits < 5000000 && call_statistic(m.db, "compactions") == 0))
            sched_yield();
        const char *to = path_in(folder, "backup");
        CHECK_OK(backup(m.db, to, backup_forms[i % 2]), &call_error);
        CHECK_OK(restore(to, path_in(folder, "restored")), &call_error);
        tansu_db *db = call_open(path_in(folder, "restored"));
        check_accounts(db);
        call_close(db);
        folder_remove(path_in(folder, "restored"));
        remove_at(to);
    }
    m.stop = true;
    pthread_join(writer, NULL);
    CHECK(call_statistic(m.db, "compactions") > 0);
    check_accounts(m.db);
    call_close(m.db);
    folder_end(folder);
}

/* What a progress function saw and does. */
typedef struct watch {
    tansu_db *db;
    const char *other;
    uint64_t calls;
    uint64_t stop_at; /* 0: never */
    uint64_t done, total;
    tansu_status second;
} watch;

/* look_on -- may try a second task, and ends this one on request. */
static int look_on(void *context, uint64_t done, uint64_t total) {
    watch *w = context;
    w->calls++;
    CHECK(done >= w->done && total >= done);
    w->done = done;
    w->total = total;
    if (w->other != NULL) {
        w->second = backup(w->db, w->other, TANSU_BACKUP_FILE);
        CHECK_STATUS(TANSU_E_BUSY, tansu_compact(w->db, NULL, NULL, NULL, &call_error));
        CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(w->db, &call_error)); /* it counts as open */
    }
    return w->calls != w->stop_at;
}

static void one_backup_at_a_time(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    watch w = {.db = call_open(from), .other = path_in(folder, "second")};
    for (int f = 0; f < 2; f++) {
        const char *to = path_in(folder, f == 0 ? "a" : "b");
        CHECK_OK(tansu_backup(w.db, to, backup_forms[f], look_on, &w, NULL, &call_error),
                 &call_error);
        CHECK_STATUS(TANSU_E_BUSY, w.second);
        CHECK(w.calls > 0);
        CHECK(nothing_at(w.other));
        w.calls = w.done = 0;
    }
    CHECK_OK(backup(w.db, path_in(folder, "c"), TANSU_BACKUP_FILE), &call_error);
    call_close(w.db);
    folder_end(folder);
    folder_end(from);
}

static void a_cancelled_task_leaves_nothing(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(path_in(folder, "db"));
    random_source source = random_start(4);
    store_model m = {.most_pad = 100000};
    for (int i = 0; i < 80; i++)
        store_model_step(&m, &source, db);
    const char *to = path_in(folder, "to");
    for (int f = 0; f < 2; f++) {
        const char *from = path_in(folder, f == 0 ? "folder" : "file");
        CHECK_OK(backup(db, from, backup_forms[f]), &call_error);
        for (int task = 0; task < 2; task++) {
            tansu_status status = TANSU_E_CANCELLED;
            for (uint64_t n = 1; status == TANSU_E_CANCELLED; n++) {
                watch w = {.stop_at = n};
                status = task == 0
                             ? tansu_backup(db, to, backup_forms[f], look_on, &w, NULL, &call_error)
                             : tansu_restore(from, to, look_on, &w, NULL, &call_error);
                CHECK(status == TANSU_OK ? w.calls < n : w.calls == n);
                if (status != TANSU_OK)
                    CHECK(nothing_at(to));
            }
            CHECK_OK(status, &call_error);
            CHECK(!file_exists(part_of(to)));
            remove_at(to);
        }
    }
    call_close(db);
    folder_end(folder);
}

/* ---- What is refused ---- */

static void what_is_there_is_not_touched(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    const char *to = path_in(folder, "mine");
    file_write(to, "precious", 8);
    for (int f = 0; f < 2; f++) {
        CHECK_STATUS(TANSU_E_EXISTS, backup(db, to, backup_forms[f]));
        CHECK_STATUS(TANSU_E_EXISTS, backup(db, folder, backup_forms[f]));
        CHECK_STATUS(TANSU_E_IO, backup(db, path_in(folder, "no/such"), backup_forms[f]));
        CHECK_INT(ENOENT, call_error.sys_errno);
        CHECK_STATUS(TANSU_E_IO, backup(db, path_in(folder, "mine/x"), backup_forms[f]));
        CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, backup(db, "", backup_forms[f]));
        CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, backup(db, NULL, backup_forms[f]));
        CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, backup(NULL, "x", backup_forms[f]));
    }
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, backup(db, path_in(folder, "x"), (tansu_backup_form)7));
    CHECK_OK(backup(db, path_in(folder, "good"), TANSU_BACKUP_FILE), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, restore(path_in(folder, "good"), to));
    CHECK_STATUS(TANSU_E_EXISTS, restore(path_in(folder, "good"), folder));
    CHECK_STATUS(TANSU_E_NOT_FOUND, restore(path_in(folder, "none"), path_in(folder, "y")));
    CHECK_STATUS(TANSU_E_NOT_FOUND, restore(folder, path_in(folder, "y")));
    CHECK_STATUS(TANSU_E_CORRUPT, restore(to, path_in(folder, "y")));
    CHECK_STATUS(TANSU_E_LOCKED, restore(from, path_in(folder, "y"))); /* it is open */
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, restore(NULL, path_in(folder, "y")));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, restore(to, NULL));
    CHECK(nothing_at(path_in(folder, "y")));
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(to, &bytes);
    CHECK_BYTES("precious", 8, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

/* What an earlier task left is replaced, be it a file or a folder with things in it. */
static void leftovers_are_replaced(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    for (int left = 0; left < 2; left++) {
        for (int f = 0; f < 2; f++) {
            const char *to = path_in(folder, "to");
            if (left == 0)
                file_write(part_of(to), "rest", 4);
            else
                folder_copy(from, part_of(to));
            CHECK_OK(backup(db, to, backup_forms[f]), &call_error);
            CHECK(!file_exists(part_of(to)));
            CHECK_OK(restore(to, path_in(folder, "restored")), &call_error);
            remove_at(to);
            folder_remove(path_in(folder, "restored"));
        }
    }
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

/* check_refused -- no copy of a database can be made at a path in its folder. */
static void check_refused(tansu_db *db, const char *to) {
    tansu_options target = call_options(to);
    tansu_db *copy = NULL;
    for (int f = 0; f < 2; f++) {
        CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, backup(db, to, backup_forms[f]));
        if (!CHECK(strstr(call_error.message, "outside") != NULL))
            check_note("%s: %s", to, call_error.message);
    }
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    char request[2000], *response = NULL;
    snprintf(request, sizeof request, "{\"op\": \"dump\", \"to\": \"%s\"}", to);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_execute_json(db, request, &response));
    tansu_free(response);
}

static void a_symbolic_link_to_nothing_is_something(void) {
    char *folder = folder_new(), *link = strdup(folder_join(folder, "link"));
    char *store = strdup(folder_join(folder, "store"));
    tansu_db *db = call_open(store), *copy = NULL;
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    REQUIRE(symlink("nowhere", link) == 0);
    CHECK_STATUS(TANSU_E_EXISTS, backup(db, link, TANSU_BACKUP_FOLDER));
    CHECK_STATUS(TANSU_E_EXISTS, backup(db, link, TANSU_BACKUP_FILE));
    tansu_options target = call_options(link);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    call_close(db);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_repair(store, link, NULL, NULL, NULL, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_repair(store, "", NULL, NULL, NULL, &call_error));
    CHECK(strstr(call_error.message, "empty") != NULL);
    free(store);
    free(link);
    folder_end(folder);
}

static void no_copy_is_made_in_the_folder_of_the_database(void) {
    char *folder = folder_new(), *store = strdup(folder_join(folder, "store"));
    char *link = strdup(folder_join(folder, "link")), here[1024];
    tansu_db *db = call_open(store);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    REQUIRE(mkdir(folder_join(store, "mine"), 0755) == 0 && symlink(store, link) == 0 &&
            getcwd(here, sizeof here) != NULL);
    static const char *const names[] = {"a", "log/a", "mine/a", "./a/", "log/../a", "../link/a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_refused(db, path_in(store, names[i]));
    check_refused(db, path_in(link, "a"));
    check_refused(db, path_in(link, "mine/a"));
    /* An empty folder that is there stays. */
    tansu_options target = call_options(path_in(store, "mine"));
    tansu_db *copy;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    CHECK(file_exists(path_in(store, "mine")));
    REQUIRE(chdir(store) == 0);
    check_refused(db, "a");
    check_refused(db, "mine/a");
    REQUIRE(chdir(path_in(store, "mine")) == 0);
    check_refused(db, "../a");
    check_refused(db, "../../link/a");
    CHECK_OK(backup(db, "../../beside", TANSU_BACKUP_FOLDER), &call_error);
    REQUIRE(chdir(here) == 0);
    /* Nor of a folder that is restored or salvaged. */
    char *beside = strdup(folder_join(folder, "beside"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, restore(beside, path_in(beside, "log/a")));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, maintenance_repair(beside, path_in(beside, "a")));
    CHECK_OK(restore(beside, path_in(folder, "beside2")), &call_error);
    call_close(db);
    free(beside);
    free(link);
    free(store);
    folder_end(folder);
}

int main(void) {
    RUN(a_backup_holds_what_the_database_held);
    RUN(a_memory_store_is_backed_up_as_well);
    RUN(a_backup_of_a_backup);
    RUN(a_backup_concurrent_with_a_writer_is_of_one_commit);
    RUN(one_backup_at_a_time);
    RUN(a_cancelled_task_leaves_nothing);
    RUN(what_is_there_is_not_touched);
    RUN(leftovers_are_replaced);
    RUN(a_symbolic_link_to_nothing_is_something);
    RUN(no_copy_is_made_in_the_folder_of_the_database);
    return check_finish();
}
