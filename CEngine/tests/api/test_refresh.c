/*
 * test_refresh.c -- a reader goes to commits that another opening has made since: tansu_refresh(),
 * the option `follow`, and change feeds of a reader (docs/readers.md).
 */
#include "api/handles.h"
#include "log/tail.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/model/feed_model.h"
#include "support/random/random.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 500

/* writer_options -- small segments, so that there are several. */
static tansu_options writer_options(const char *path) {
    tansu_options options = call_options(path);
    options.segment_size = (uint64_t)1 << 20;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.compaction_percent = 0;
    return options;
}

/* open_writer -- for writing. */
static tansu_db *open_writer(const char *path) {
    tansu_options options = writer_options(path);
    return call_open_with(&options);
}

/* open_reader -- while the other one writes. */
static tansu_db *open_reader(const char *path, bool follow) {
    tansu_options options = writer_options(path);
    options.allow_writer = 1;
    options.follow = follow;
    return call_open_with(&options);
}

/* fill -- documents {_id, n: round} with some bytes, of which every tenth is removed instead. */
static void fill(tansu_db *db, int round) {
    char json[2100], pad[2000];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < DOCUMENTS; i++) {
        snprintf(json, sizeof json, "{'_id': %d, 'n': %d, 'pad': '%s'}", i, round, pad);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, json), &call_error);
    }
    snprintf(json, sizeof json, "{'_id': {'$mod': [10, %d]}}", round % 10);
    CHECK_OK(call_remove(db, txn, "c", json, NULL), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* check_filled -- what fill() has made is there. */
static void check_filled(tansu_db *db, tansu_txn *txn, int round) {
    char query[100];
    snprintf(query, sizeof query, "{'n': %d}", round);
    CHECK_INT(DOCUMENTS / 10 * 9, call_count(db, txn, "c", "{}"));
    CHECK_INT(DOCUMENTS / 10 * 9, call_count(db, txn, "c", query));
    snprintf(query, sizeof query, "{'_id': %d}", round % 10);
    CHECK_INT(0, call_count(db, txn, "c", query));
}

/* refresh -- whether there was something new. */
static bool refresh(tansu_db *db) {
    int changed = -1;
    uint64_t sequence = 0;
    CHECK_OK(tansu_refresh(db, &changed, &sequence, &call_error), &call_error);
    CHECK_INT((int64_t)sequence, call_statistic(db, "sequence"));
    return changed == 1;
}

/* ---- Refreshing ---- */

static void a_refresh_goes_to_the_newest_commit(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    tansu_db *reader = open_reader(folder, false); /* there is no file of marks yet */
    CHECK(!refresh(reader));
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int round = 0; round < 20; round++) { /* through several segments */
        fill(db, round);
        if (round != 0)
            check_filled(reader, NULL, round - 1);
        CHECK(refresh(reader));
        CHECK(!refresh(reader));
        check_filled(reader, NULL, round);
        if (round % 5 == 3)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    CHECK_INT(0, call_statistic(reader, "reopenings"));
    CHECK_INT(20, call_statistic(reader, "refreshes"));
    CHECK(call_statistic(reader, "logSegments") > 5);
    CHECK(maintenance_clean(reader));
    CHECK_OK(call_save(db, NULL, "other", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK(refresh(reader));
    CHECK(strstr(call_collections(reader, NULL), "other") != NULL);
    CHECK(strstr(call_collections(reader, NULL), "\"c\"") == NULL);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

static void what_is_open_keeps_what_it_sees(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false);
    tansu_txn *old[6];
    for (int round = 0; round < 6; round++) {
        old[round] = call_begin(reader, TANSU_TXN_READ);
        tansu_cursor *cursor = call_cursor(reader, NULL, "c", "{}", NULL);
        REQUIRE(call_next(cursor)[0] == '{');
        fill(db, round + 1);
        if (round % 2 == 1)
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK(refresh(reader));
        check_filled(reader, NULL, round + 1);
        for (int i = 0; i <= round; i++)
            check_filled(reader, old[i], i);
        int64_t left = 0;
        while (call_next(cursor)[0] == '{')
            left++;
        CHECK_INT(DOCUMENTS / 10 * 9 - 1, left);
        tansu_cursor_close(cursor);
    }
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(reader, &call_error));
    for (int i = 0; i < 6; i++)
        tansu_txn_abort(old[i]);
    CHECK(maintenance_clean(reader));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* A compaction is applied, so that the reader does not hold what the writer has removed. */
static void compactions_are_followed(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false);
    for (int round = 1; round < 12; round++) {
        fill(db, round);
        CHECK(refresh(reader));
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK(refresh(reader));
        check_filled(reader, NULL, round);
        CHECK_INT(call_statistic(db, "logSegments"), call_statistic(reader, "logSegments"));
    }
    CHECK_INT(0, call_statistic(reader, "reopenings"));
    CHECK(maintenance_clean(reader));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* A reader that has missed so much that its frames are not there any more opens the files again. */
static void what_was_compacted_away_is_reopened(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false);
    tansu_txn *old = call_begin(reader, TANSU_TXN_READ);
    for (int round = 1; round < 10; round++)
        fill(db, round);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK(refresh(reader));
    CHECK_INT(1, call_statistic(reader, "reopenings"));
    check_filled(reader, NULL, 9);
    check_filled(reader, old, 0);
    tansu_txn_abort(old);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* What only the reader's memory has is bounded: after a checkpoint it is in the file. */
static void a_state_that_grows_is_replaced(void) {
    char *folder = folder_new(), json[300];
    tansu_db *db = open_writer(folder);
    tansu_options options = writer_options(folder);
    options.allow_writer = 1;
    options.index_cache_bytes = 1;
    CHECK_OK(call_index(db, NULL, "c", "s", "{'s': 1}", NULL), &call_error);
    tansu_db *reader = call_open_with(&options);
    for (int round = 0; round < 40; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 1000; i++) {
            snprintf(json, sizeof json, "{'_id': %d, 's': '%0200d'}", i * 40 + round, i * 7919);
            CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, json), &call_error);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        CHECK(refresh(reader));
        CHECK_INT((round + 1) * 1000, call_count(reader, NULL, "c", "{}"));
        CHECK(call_statistic(reader, "indexDirtyBytes") < 3 << 20);
    }
    CHECK(call_statistic(reader, "reopenings") > 0);
    CHECK(maintenance_clean(reader));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* Writers that come and go, in files that they trim and continue. */
static void writers_may_end_and_begin(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false), *follower = open_reader(folder, true);
    for (int round = 1; round < 6; round++) {
        fill(db, round);
        call_close(db);
        CHECK(refresh(reader));
        check_filled(reader, NULL, round);
        check_filled(follower, NULL, round);
        CHECK(!refresh(reader));
        db = open_writer(folder);
        CHECK(!refresh(reader));
        check_filled(follower, NULL, round);
    }
    fill(db, 6);
    call_close(db);
    db = open_writer(folder);
    fill(db, 7);
    call_close(db); /* between two looks: the marks are as they were at the last one */
    check_filled(follower, NULL, 7);
    CHECK(refresh(reader));
    check_filled(reader, NULL, 7);
    CHECK_INT(0, call_statistic(reader, "reopenings"));
    call_close(follower);
    call_close(reader);
    folder_end(folder);
}

/* ---- An end of the log that is written again ---- */

static void an_end_that_was_written_again_is_opened_again(void) {
    char *folder = folder_new();
    const char *log = folder_join(folder, "log");
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, true);
    check_filled(reader, NULL, 0);
    call_close(db);
    tail_file_set_state(log, TAIL_FAILED);
    db = open_writer(folder);
    fill(db, 1);
    check_filled(reader, NULL, 1);
    CHECK_INT(1, call_statistic(reader, "reopenings"));
    fill(db, 2);
    check_filled(reader, NULL, 2);
    CHECK_INT(1, call_statistic(reader, "reopenings"));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* A writer writes the end of the log again before that call, counted down to 0. */
static int calls_before_reset;
static const char *reset_log;

static void reset_in_time(void) {
    if (calls_before_reset > 0 && --calls_before_reset == 0)
        tail_file_add_reset(reset_log);
}

static int size_with_reset(int fd, uint64_t *size) {
    reset_in_time();
    return fs_system.size(fd, size);
}

static void *map_with_reset(int fd, uint64_t size, bool writable) {
    reset_in_time();
    return fs_system.map(fd, size, writable);
}

/* What was read before and after that is not of one log, though each frame of it is valid. */
static void an_end_that_is_written_again_meanwhile_is_not_mixed(void) {
    char *folder = folder_new();
    reset_log = folder_join(folder, "log");
    fs calls = fs_system;
    calls.size = size_with_reset;
    calls.map = map_with_reset;
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_options options = writer_options(folder);
    options.allow_writer = 1;
    int opened = 0, refreshed = 0;
    for (bool reached = true; reached; opened++) {
        tansu_db *reader;
        calls_before_reset = opened + 1;
        CHECK_OK(handle_open(&options, &calls, &engine_query_hooks, &reader, &call_error),
                 &call_error);
        reached = calls_before_reset == 0;
        calls_before_reset = 0;
        check_filled(reader, NULL, 0);
        CHECK(!refresh(reader)); /* what it has is of the log that there is now */
        CHECK_INT(0, call_statistic(reader, "reopenings"));
        call_close(reader);
    }
    tansu_db *reader;
    REQUIRE(handle_open(&options, &calls, &engine_query_hooks, &reader, &call_error) == TANSU_OK);
    for (bool reached = true; reached; refreshed++) {
        fill(db, refreshed + 1);
        calls_before_reset = refreshed + 1;
        CHECK(refresh(reader));
        reached = calls_before_reset == 0;
        calls_before_reset = 0;
        check_filled(reader, NULL, refreshed + 1);
        CHECK_INT(refreshed + reached, call_statistic(reader, "reopenings"));
    }
    CHECK(opened > 3);
    CHECK(refreshed > 1);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

static void other_databases_are_as_new_as_they_can_be(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    CHECK(!refresh(db));
    call_close(db);
    tansu_options options = call_options(folder);
    options.follow = 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&options, &db, &call_error));
    options.follow = 0;
    options.read_only = 1;
    db = call_open_with(&options);
    CHECK(!refresh(db));
    call_close(db);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_refresh(NULL, NULL, NULL, &call_error));
    folder_end(folder);
}

/* ---- Following ---- */

static void a_follower_sees_the_newest_commit_in_each_read(void) {
    char *folder = folder_new(), text[60];
    tansu_db *db = open_writer(folder);
    tansu_db *follower = open_reader(folder, true);
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "{'_id': 1, 'n': %d}", i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
        snprintf(text, sizeof text, "{'n': %d}", i);
        CHECK_INT(1, call_count(follower, NULL, "c", text));
        tansu_txn *txn = call_begin(follower, TANSU_TXN_READ);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': -1}"), &call_error);
        CHECK_INT(1, call_count(follower, txn, "c", text));
        CHECK_INT(0, call_count(follower, NULL, "c", text));
        tansu_txn_abort(txn);
    }
    CHECK_INT(0, call_statistic(follower, "reopenings"));
    call_close(follower);
    call_close(db);
    folder_end(folder);
}

/* One thread of many that read while the writer goes on. */
typedef struct reading {
    tansu_db *db;
    int *stop; /* stored atomically */
    bool failed;
    uint64_t reads;
} reading;

static void *read_on(void *context) {
    reading *r = context;
    int64_t last = 0;
    while (__atomic_load_n(r->stop, __ATOMIC_RELAXED) == 0 && !r->failed) {
        tansu_error error;
        int64_t count = 0, again = 0;
        tansu_txn *txn = NULL;
        tansu_status status =
            tansu_txn_begin(r->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, &error);
        if (status == TANSU_OK)
            status = tansu_count(r->db, txn, "log", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count,
                                 &error);
        if (status == TANSU_OK)
            status = tansu_count(r->db, NULL, "log", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &again,
                                 &error);
        tansu_txn_abort(txn);
        r->failed = status != TANSU_OK || count < last || again < count;
        last = again;
        r->reads++;
    }
    return NULL;
}

static void threads_follow_together(void) {
    char *folder = folder_new(), text[60];
    tansu_db *db = open_writer(folder);
    tansu_options options = writer_options(folder);
    options.allow_writer = options.follow = 1;
    options.index_cache_bytes = 1;
    tansu_db *follower = call_open_with(&options);
    int stop = 0;
    reading readers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        readers[i] = (reading){.db = follower, .stop = &stop};
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &readers[i]) == 0);
    }
    for (int i = 0; i < 1500; i++) {
        snprintf(text, sizeof text, "{'_id': %d}", i);
        CHECK_OK(call_save(db, NULL, "log", TANSU_SAVE, text), &call_error);
        if (i % 100 == 99)
            fill(db, i / 100);
        if (i % 300 == 299)
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!readers[i].failed && readers[i].reads > 0);
    }
    CHECK_INT(1500, call_count(follower, NULL, "log", "{}"));
    call_close(follower);
    call_close(db);
    folder_end(folder);
}

/* A reader that is closed while others use what it had read before a refresh. */
static void closing_waits_for_what_is_open(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false);
    tansu_cursor *old = call_cursor(reader, NULL, "c", "{}", NULL);
    for (int round = 1; round < 10; round++)
        fill(db, round);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK(refresh(reader));
    CHECK_INT(1, call_statistic(reader, "reopenings"));
    tansu_cursor *newer = call_cursor(reader, NULL, "c", "{}", NULL);
    tansu_close(reader);
    CHECK(call_next(newer)[0] == '{');
    tansu_cursor_close(newer);
    CHECK(call_next(old)[0] == '{');
    tansu_cursor_close(old);
    call_close(db);
    folder_end(folder);
}

/* ---- Feeds ---- */

/* next_sequence -- the commit of the next event; 0: there is none in time. */
static int64_t next_sequence(tansu_feed *feed, int64_t timeout_ms) {
    tansu_change change;
    tansu_change_init(&change);
    tansu_status status = tansu_feed_next(feed, timeout_ms, &change, &call_error);
    if (status == TANSU_DONE)
        return 0;
    CHECK_OK(status, &call_error);
    return (int64_t)change.sequence;
}

static void *save_later(void *db) {
    usleep(50000);
    return call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 'late'}") == TANSU_OK ? db : NULL;
}

static void feeds_deliver_what_another_process_commits(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 0}"), &call_error);
    int64_t first = call_statistic(db, "sequence");
    tansu_db *follower = open_reader(folder, true), *reader = open_reader(folder, false);
    tansu_feed *feed = feed_model_open_feed(follower, TANSU_FEED_NOW, NULL);
    tansu_feed *refreshed = feed_model_open_feed(reader, TANSU_FEED_NOW, NULL);
    for (int i = 1; i < 30; i++) {
        char json[40];
        snprintf(json, sizeof json, "{'_id': %d}", i);
        CHECK_INT(0, next_sequence(feed, 0));
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
        CHECK_INT(first + i, next_sequence(feed, 0));
        CHECK_INT(0, next_sequence(refreshed, i == 1 ? 5 : 0));
        CHECK(refresh(reader));
        CHECK_INT(first + i, next_sequence(refreshed, 0));
    }
    pthread_t thread;
    void *saved;
    REQUIRE(pthread_create(&thread, NULL, save_later, db) == 0);
    CHECK_INT(first + 30, next_sequence(feed, -1));
    pthread_join(thread, &saved);
    CHECK(saved != NULL);
    CHECK_INT(0, next_sequence(feed, 40));
    tansu_feed_cancel(feed);
    tansu_change change;
    tansu_change_init(&change);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_feed_next(feed, -1, &change, &call_error));
    tansu_feed_close(feed);
    tansu_feed_close(refreshed);
    call_close(follower);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* The files are opened again under a feed: it goes on, unless events have been compacted away. */
static void feeds_survive_a_reopening(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder, false);
    tansu_feed *feed = feed_model_open_feed(reader, TANSU_FEED_NOW, NULL);
    for (int round = 1; round < 10; round++)
        fill(db, round);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK(refresh(reader));
    CHECK_INT(1, call_statistic(reader, "reopenings"));
    tansu_change change;
    tansu_change_init(&change);
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_feed_next(feed, 0, &change, &call_error));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_feed_next(feed, 0, &change, &call_error));
    uint64_t newest = 0;
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_feed_skip(feed, 0, &newest, &call_error));
    tansu_feed_close(feed);
    feed = feed_model_open_feed(reader, TANSU_FEED_NOW, NULL);
    fill(db, 10);
    CHECK(refresh(reader));
    CHECK_INT(call_statistic(db, "sequence"), next_sequence(feed, 0));
    tansu_feed_close(feed);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* ---- Failures ---- */

/* fail_each -- refreshes again and again; of the calls of one kind another one fails each time. */
static void fail_each(fault_kind kind, unsigned step) {
    random_source source = random_start((uint64_t)kind);
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    tansu_options options = writer_options(folder);
    options.allow_writer = 1;
    fill(db, 0);
    unsigned calls = 1;
    int round = 0;
    for (unsigned n = 1; n <= calls; n += step * random_step(&source)) {
        tansu_db *handle = NULL;
        REQUIRE(handle_open(&options, &fault_fs, &engine_query_hooks, &handle, NULL) == TANSU_OK);
        tansu_txn *old = call_begin(handle, TANSU_TXN_READ);
        int before = round;
        fill(db, ++round);
        if (n % 2 == 0)
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        fault_start(kind, n, false, EIO);
        tansu_status status = tansu_refresh(handle, NULL, NULL, NULL);
        unsigned made = fault_stop();
        calls = made > calls ? made : calls;
        CHECK(status == TANSU_OK || status == TANSU_E_IO || status == TANSU_E_MEMORY);
        check_filled(handle, NULL, status == TANSU_OK ? round : before);
        check_filled(handle, old, before);
        fill(db, ++round);
        CHECK_OK(tansu_refresh(handle, NULL, NULL, &call_error), &call_error);
        check_filled(handle, NULL, round);
        check_filled(handle, old, before);
        tansu_txn_abort(old);
        call_close(handle);
    }
    CHECK(calls > 3);
    call_close(db);
    folder_end(folder);
}

static void failing_calls_leave_what_was_there(void) {
    fail_each(FAULT_FILES, 1);
    if (fault_has_memory())
        fail_each(FAULT_MEMORY, 7);
}

/* check_answer -- what the command "refresh" returns. */
static void check_answer(tansu_db *db, const char *expected) {
    char *response = NULL;
    CHECK_STATUS(TANSU_OK, tansu_execute_json(db, "{\"op\": \"refresh\"}", &response));
    CHECK_TEXT(expected, response);
    tansu_free(response);
}

static void commands_refresh(void) {
    char *folder = folder_new(), json[512];
    tansu_db *db = open_writer(folder), *reader = NULL;
    snprintf(json, sizeof json, "{\"path\": \"%s\", \"allowWriter\": true}", folder);
    REQUIRE(CHECK_OK(tansu_open_json(json, &reader, &call_error), &call_error));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    snprintf(json, sizeof json, "{\"ok\": true, \"changed\": true, \"sequence\": %lld}",
             (long long)call_statistic(db, "sequence"));
    check_answer(reader, json);
    snprintf(json, sizeof json, "{\"ok\": true, \"changed\": false, \"sequence\": %lld}",
             (long long)call_statistic(db, "sequence"));
    check_answer(reader, json);
    call_close(reader);
    snprintf(json, sizeof json, "{\"path\": \"%s\", \"allowWriter\": true, \"follow\": true}",
             folder);
    REQUIRE(CHECK_OK(tansu_open_json(json, &reader, &call_error), &call_error));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_INT(2, call_count(reader, NULL, "c", "{}"));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(a_refresh_goes_to_the_newest_commit);
    RUN(what_is_open_keeps_what_it_sees);
    RUN(compactions_are_followed);
    RUN(what_was_compacted_away_is_reopened);
    RUN(a_state_that_grows_is_replaced);
    RUN(writers_may_end_and_begin);
    RUN(an_end_that_was_written_again_is_opened_again);
    RUN(an_end_that_is_written_again_meanwhile_is_not_mixed);
    RUN(other_databases_are_as_new_as_they_can_be);
    RUN(a_follower_sees_the_newest_commit_in_each_read);
    RUN(threads_follow_together);
    RUN(closing_waits_for_what_is_open);
    RUN(feeds_deliver_what_another_process_commits);
    RUN(feeds_survive_a_reopening);
    RUN(failing_calls_leave_what_was_there);
    RUN(commands_refresh);
    return check_finish();
}
