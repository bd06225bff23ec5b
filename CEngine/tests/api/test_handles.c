/*
 * test_handles.c -- what tansu.h promises of handles: who may open a database and how, what open
 * transactions, cursors and feeds mean for closing, who waits for whom, and what stays as it was
 * after an error. Written from the header and docs/durability.md alone, over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/timing.h"
#include "support/workload/sample_database.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* try_open -- the status of opening; what was opened is closed again. */
static tansu_status try_open(const tansu_options *options) {
    tansu_db *db = NULL;
    tansu_status status = tansu_open(options, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    tansu_close(db);
    return status;
}

static tansu_status try_path(const char *path, int read_only) {
    tansu_options options = call_options(path);
    options.read_only = read_only;
    return try_open(&options);
}

/* ---- Who may open ---- */

static void one_process_writes_or_several_read(void) {
    char *folder = sample_folder();
    tansu_options reading = call_options(folder);
    reading.read_only = 1;
    tansu_db *writer = call_open(folder);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 0));
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 1));
    CHECK_STATUS(TANSU_E_LOCKED, other_process_open(folder, 0));
    CHECK_STATUS(TANSU_E_LOCKED, other_process_open(folder, 1));
    sample_check(writer);
    call_close(writer);

    tansu_db *a = call_open_with(&reading), *b = call_open_with(&reading);
    CHECK_STATUS(TANSU_OK, other_process_open(folder, 1));
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 0));
    CHECK_STATUS(TANSU_E_LOCKED, other_process_open(folder, 0));
    sample_check(a);
    call_close(a);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 0));
    sample_check(b);
    call_close(b);
    CHECK_STATUS(TANSU_OK, other_process_open(folder, 0));
    folder_end(folder);
}

static void a_killed_process_leaves_no_lock(void) {
    char *folder = sample_folder();
    int ready[2], status = 0;
    char byte = 0;
    REQUIRE(pipe(ready) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_db *db = NULL;
        tansu_options options = call_options(folder);
        byte = tansu_open(&options, &db, NULL) == TANSU_OK;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK_INT(1, byte);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 0));
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_STATUS(TANSU_OK, try_path(folder, 0));
    close(ready[0]);
    close(ready[1]);
    folder_end(folder);
}

static void what_is_not_there_is_not_made_by_looking(void) {
    char *folder = folder_new();
    const char *path = folder_join(folder, "none");
    tansu_options options = call_options(path);
    options.must_exist = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    CHECK(!file_exists(path));
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_path(path, 1));
    CHECK(!file_exists(path));
    file_write(path, "text", 4);
    CHECK_STATUS(TANSU_E_EXISTS, try_path(path, 0));
    tansu_buffer b = TANSU_BUFFER_INIT;
    file_read(path, &b);
    CHECK_BYTES("text", 4, b.data, b.size);
    tansu_buffer_free(&b);
    CHECK_STATUS(TANSU_E_EXISTS, try_path(folder, 0)); /* a folder with other things in it */
    CHECK(!file_exists(folder_join(folder, "MANIFEST")));
    CHECK(!file_exists(folder_join(folder, "log")));
    folder_end(folder);
}

/* refuses_writing -- every call that writes ends with READ_ONLY. */
static void refuses_writing(tansu_db *db) {
    tansu_txn *txn = NULL;
    bson_t *keys = BCON_NEW("n", BCON_INT32(1));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 900}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_remove(db, NULL, "c", "{'_id': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_remove_id(db, NULL, "c", "{'_id': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_ensure(db, NULL, "d", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_index(db, NULL, "c", "more", "{'m': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_index_create(db, NULL, "c", "more", document_of(keys),
                                                       TANSU_NO_DOCUMENT, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_collection_drop(db, NULL, "c", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_collection_rename(db, NULL, "c", "d", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY,
                 tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_checkpoint(db, NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_compact(db, NULL, NULL, NULL, NULL));
    bson_destroy(keys);
}

/* same_files -- whether two folders hold the same log, MANIFEST and index files. */
static bool same_files(const char *one, const char *other) {
    static const char *const names[] = {"MANIFEST", "log/00000001.seg", "index/blocks.tch"};
    bool same = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tansu_buffer a = TANSU_BUFFER_INIT, b = TANSU_BUFFER_INIT;
        bool there = file_exists(folder_join(one, names[i]));
        same &= CHECK_INT(there, file_exists(folder_join(other, names[i])));
        if (there && same) {
            file_read(folder_join(one, names[i]), &a);
            file_read(folder_join(other, names[i]), &b);
            same &= CHECK(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
        }
        tansu_buffer_free(&a);
        tansu_buffer_free(&b);
    }
    return same;
}

static void a_read_only_opening_never_writes(void) {
    for (int unclean = 0; unclean < 3; unclean++) {
        char *folder = unclean == 0 ? sample_folder() : sample_unclean(unclean == 1);
        char *before = folder_new();
        folder_remove(before);
        folder_copy(folder, before);
        tansu_options options = call_options(folder);
        options.read_only = 1;
        tansu_db *db = call_open_with(&options);
        sample_check(db);
        CHECK_INT(unclean == 0 ? 0 : 1, call_count(db, NULL, "late", "{}"));
        refuses_writing(db);
        maintenance_clean(db);
        const char *to = path_in(before, "backup");
        CHECK_OK(tansu_backup(db, to, TANSU_BACKUP_FOLDER, NULL, NULL, NULL, &call_error),
                 &call_error);
        sample_check(db);
        call_close(db);
        same_files(before, folder);
        db = call_open(to);
        sample_check(db);
        call_close(db);
        folder_end(before);
        folder_end(folder);
    }
}

/* ---- Closing ---- */

static void shutdown_closes_nothing_while_a_handle_is_open(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ), *writing = call_begin(db, TANSU_TXN_WRITE);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    tansu_feed *feed = NULL;
    tansu_change change;
    tansu_change_init(&change);
    CHECK_OK(tansu_feed_open(db, TANSU_FEED_NOW, TANSU_NO_DOCUMENT, &feed, &call_error),
             &call_error);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK_OK(call_save(db, writing, "c", TANSU_SAVE, "{'_id': 700}"), &call_error);
    CHECK_OK(tansu_txn_commit(writing, NULL, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK_INT(50, call_count(db, reading, "c", "{}"));
    tansu_txn_abort(reading);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK(call_next(cursor)[0] == '{');
    tansu_cursor_close(cursor);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK_STATUS(TANSU_OK, tansu_feed_next(feed, 1000, &change, NULL));
    CHECK_INT(TANSU_CHANGE_INSERT, change.kind);
    tansu_feed_close(feed);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    CHECK_STATUS(TANSU_OK, tansu_shutdown(db, NULL));
    CHECK_STATUS(TANSU_OK, try_path(folder, 0));
    folder_end(folder);
}

static void close_happens_when_the_last_handle_ends(void) {
    for (int kind = 0; kind < 4; kind++) {
        char *folder = sample_folder();
        tansu_db *db = call_open(folder);
        tansu_txn *txn = NULL;
        tansu_cursor *cursor = NULL;
        tansu_feed *feed = NULL;
        tansu_change change;
        tansu_change_init(&change);
        if (kind < 2)
            txn = call_begin(db, kind == 0 ? TANSU_TXN_READ : TANSU_TXN_WRITE);
        else if (kind == 2)
            cursor = call_cursor(db, NULL, "c", "{}", NULL);
        else
            CHECK_OK(tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &feed, &call_error), &call_error);
        if (kind == 1)
            CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 800}"), &call_error);
        tansu_close(db);
        CHECK_STATUS(TANSU_E_LOCKED, try_path(folder, 0)); /* it is still open */
        if (kind == 0) {
            tansu_txn_abort(txn);
        } else if (kind == 1) {
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        } else if (kind == 2) {
            tansu_document d;
            CHECK_OK(tansu_cursor_next(cursor, &d, &call_error), &call_error);
            tansu_cursor_close(cursor);
        } else {
            CHECK_STATUS(TANSU_E_CLOSED, tansu_feed_next(feed, 5000, &change, NULL));
            tansu_feed_close(feed);
        }
        db = call_open(folder);
        CHECK_INT(kind == 1 ? 51 : 50, call_count(db, NULL, "c", "{}"));
        call_close(db);
        folder_end(folder);
    }
}

/* wait_in_feed -- a thread that waits for a change that never comes. */
static void *wait_in_feed(void *context) {
    tansu_change change;
    tansu_change_init(&change);
    CHECK_STATUS(TANSU_E_CLOSED, tansu_feed_next(context, -1, &change, NULL));
    tansu_feed_close(context);
    return NULL;
}

static void close_wakes_a_feed_that_waits(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *feed = NULL;
    pthread_t thread;
    CHECK_OK(tansu_feed_open(db, TANSU_FEED_NOW, TANSU_NO_DOCUMENT, &feed, &call_error),
             &call_error);
    REQUIRE(pthread_create(&thread, NULL, wait_in_feed, feed) == 0);
    timing_sleep(50);
    tansu_close(db);
    pthread_join(thread, NULL);
}

static void null_is_accepted_by_calls_that_end(void) {
    tansu_close(NULL);
    CHECK_STATUS(TANSU_OK, tansu_shutdown(NULL, NULL));
    tansu_txn_abort(NULL);
    tansu_txn_cancel(NULL);
    tansu_cursor_close(NULL);
    tansu_cursor_cancel(NULL);
    tansu_feed_close(NULL);
    tansu_feed_cancel(NULL);
    tansu_matcher_free(NULL);
    tansu_buffer_free(NULL);
    tansu_free(NULL);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_sync(NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_checkpoint(NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_stats(NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_verify(NULL, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_compact(NULL, NULL, NULL, NULL, NULL));
}

/* ---- Who waits for whom ---- */

struct other_writer {
    tansu_db *db;
    tansu_txn *txn;
    atomic_bool holds, release;
    tansu_status started;
};

/* hold_the_turn -- a writing transaction of another thread, until asked to end it. */
static void *hold_the_turn(void *context) {
    struct other_writer *w = context;
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_OK,
                 tansu_txn_begin(w->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL));
    bson_t *doc = BCON_NEW("_id", BCON_INT32(600));
    CHECK_STATUS(TANSU_OK, call_save_bson(w->db, txn, "c", TANSU_SAVE, doc));
    bson_destroy(doc);
    atomic_store(&w->holds, true);
    while (!atomic_load(&w->release))
        timing_sleep(1);
    tansu_txn_abort(txn);
    return NULL;
}

/* wait_for_turn -- a writer that waits for the other. */
static void *wait_for_turn(void *context) {
    struct other_writer *w = context;
    w->started = tansu_txn_start(w->txn, NULL);
    return NULL;
}

static void readers_never_wait_and_writers_wait_up_to_their_timeout(void) {
    char *folder = sample_folder();
    tansu_options options = call_options(folder);
    options.busy_timeout_ms = 200;
    tansu_db *db = call_open_with(&options);
    struct other_writer w = {.db = db};
    tansu_txn *txn = NULL;
    pthread_t thread, waiting;
    REQUIRE(pthread_create(&thread, NULL, hold_the_turn, &w) == 0);
    while (!atomic_load(&w.holds))
        timing_sleep(1);
    sample_check(db);
    CHECK_INT(50, call_count(db, NULL, "c", "{}"));
    CHECK_STATUS(TANSU_OK, tansu_checkpoint(db, NULL));
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ);
    tansu_txn_abort(reading);

    double before = timing_now();
    CHECK_STATUS(TANSU_E_BUSY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"));
    CHECK(timing_now() - before > 0.15);
    CHECK_STATUS(TANSU_E_BUSY,
                 tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL));
    CHECK(txn == NULL);

    /* prepare never waits; start does, until it is cancelled or the time runs out. */
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        CHECK_STATUS(TANSU_OK, tansu_txn_prepare(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT,
                                                 &w.txn, NULL));
        REQUIRE(pthread_create(&waiting, NULL, wait_for_turn, &w) == 0);
        if (cancelled)
            tansu_txn_cancel(w.txn);
        pthread_join(waiting, NULL);
        CHECK_STATUS(cancelled ? TANSU_E_CANCELLED : TANSU_E_BUSY, w.started);
        tansu_txn_abort(w.txn);
    }
    atomic_store(&w.release, true);
    pthread_join(thread, NULL);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 600}"), &call_error);
    call_close(db);
    folder_end(folder);
}

static void a_thread_is_not_made_to_wait_for_itself(void) {
    tansu_db *db = call_open(NULL); /* waits for a minute as by default */
    tansu_txn *first = call_begin(db, TANSU_TXN_WRITE), *second = NULL;
    double before = timing_now();
    CHECK_STATUS(TANSU_E_BUSY,
                 tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &second, NULL));
    CHECK_STATUS(TANSU_E_BUSY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"));
    CHECK(timing_now() - before < 30);
    tansu_txn_abort(first);
    call_close(db);
}

/* ---- After an error ---- */

static void a_commit_with_an_open_cursor_happens_not_at_all(void) {
    tansu_db *db = call_open(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_cursor *cursor = call_cursor(db, txn, "c", "{}", NULL);
    CHECK_STATUS(TANSU_E_BUSY, tansu_txn_commit(txn, NULL, NULL));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    tansu_cursor_close(cursor);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void cursors_of_an_aborted_transaction_have_an_invalid_state(void) {
    tansu_db *db = call_open(NULL);
    for (int mode = TANSU_TXN_READ; mode <= TANSU_TXN_WRITE; mode++) {
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        tansu_txn *txn = call_begin(db, (tansu_txn_mode)mode);
        tansu_cursor *cursor = call_cursor(db, txn, "c", "{}", NULL);
        tansu_document d;
        tansu_txn_abort(txn);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_cursor_next(cursor, &d, NULL));
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_cursor_next(cursor, &d, NULL));
        tansu_cursor_close(cursor);
    }
    call_close(db);
}

static void a_cancelled_transaction_keeps_nothing(void) {
    tansu_db *db = call_open(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_txn_cancel(txn);
    CHECK_STATUS(TANSU_E_CANCELLED, call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"));
    CHECK(call_count(db, txn, "c", "{}") == -(int64_t)TANSU_E_CANCELLED);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_commit(txn, NULL, NULL));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    call_close(db);
}

static void a_failed_call_leaves_a_transaction_as_it_was(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'u': 1}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2, 'u': 2}"), &call_error);
    bson_t *good = BCON_NEW("_id", BCON_INT32(3), "u", BCON_INT32(3));
    bson_t *taken = BCON_NEW("_id", BCON_INT32(4), "u", BCON_INT32(1));
    tansu_document list[] = {{bson_get_data(good), good->len}, {bson_get_data(taken), taken->len}};
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 tansu_save(db, txn, "c", list, 2, TANSU_SAVE, NULL, &call_error));
    CHECK_INT(1, call_error.offset);
    CHECK_STATUS(TANSU_E_EXISTS, call_save(db, txn, "c", TANSU_INSERT, "{'_id': 2}"));
    CHECK_STATUS(TANSU_E_NOT_FOUND, call_save(db, txn, "c", TANSU_REPLACE, "{'_id': 9}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_remove(db, txn, "c", "{'a': {'$nonsense': 1}}", NULL));
    CHECK_INT(2, call_count(db, txn, "c", "{}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"u\" : 1 } { \"_id\" : 2, \"u\" : 2 }",
               call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(2, call_count(db, NULL, "c", "{'u': {'$gt': 0}}"));
    maintenance_clean(db);
    bson_destroy(good);
    bson_destroy(taken);
    call_close(db);
}

static void a_read_transaction_does_not_write(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_remove(db, txn, "c", "{}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_ensure(db, txn, "d", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_savepoint_begin(txn, NULL));
    CHECK_INT(1, call_count(db, txn, "c", "{}"));
    tansu_txn_abort(txn);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void savepoints_end_once_each(void) {
    tansu_db *db = call_open(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_release(txn, NULL));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_roll_back(txn, NULL));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(call_save(db, txn, "made", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_index(db, txn, "c", "n", "{'n': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_collection_drop(db, txn, "c", NULL));
    tansu_cursor *cursor = call_cursor(db, txn, "c", "{}", NULL);
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_TEXT("INVALID_STATE", call_next(cursor));
    tansu_cursor_close(cursor);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_roll_back(txn, NULL));
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error),
             &call_error); /* keeps what it is open over */
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 3 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(0, call_count(db, NULL, "made", "{}"));
    call_close(db);
}

int main(void) {
    other_process_start();
    RUN(one_process_writes_or_several_read);
    RUN(a_killed_process_leaves_no_lock);
    RUN(what_is_not_there_is_not_made_by_looking);
    RUN(a_read_only_opening_never_writes);
    RUN(shutdown_closes_nothing_while_a_handle_is_open);
    RUN(close_happens_when_the_last_handle_ends);
    RUN(close_wakes_a_feed_that_waits);
    RUN(null_is_accepted_by_calls_that_end);
    RUN(readers_never_wait_and_writers_wait_up_to_their_timeout);
    RUN(a_thread_is_not_made_to_wait_for_itself);
    RUN(a_commit_with_an_open_cursor_happens_not_at_all);
    RUN(cursors_of_an_aborted_transaction_have_an_invalid_state);
    RUN(a_cancelled_transaction_keeps_nothing);
    RUN(a_failed_call_leaves_a_transaction_as_it_was);
    RUN(a_read_transaction_does_not_write);
    RUN(savepoints_end_once_each);
    other_process_end();
    return check_finish();
}
