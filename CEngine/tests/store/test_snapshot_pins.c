/*
 * test_snapshot_pins.c -- an old snapshot keeps the segments that it needs on the disk, and none
 * that were written after it and compacted since: and it reads what it always has, whatever was
 * changed, removed, dropped and compacted meanwhile, also while other threads do that.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 2000
#define PADDING 400
#define MB ((int64_t)1000000)
#define LIVE ((int64_t)DOCUMENTS * (PADDING + 150))

/* What a snapshot sees: the value of each document; -1: it is not there. */
typedef struct view {
    tansu_txn *txn;
    int values[DOCUMENTS];
} view;

typedef struct world {
    tansu_db *db;
    random_source random;
    int next;
    bool removes; /* some of the documents that are changed */
    int values[DOCUMENTS];
} world;

/* change -- saves, or removes, one document. */
static void change(world *w, tansu_txn *txn, int id, bool removes) {
    static char padding[PADDING + 1];
    char key[32];
    if (removes) {
        int removed;
        snprintf(key, sizeof key, "{'_id': %d}", id);
        CHECK_OK(call_remove_id(w->db, txn, "c", key, &removed), &call_error);
        w->values[id] = -1;
        return;
    }
    memset(padding, 'a' + w->next % 26, PADDING);
    bson_t doc = BSON_INITIALIZER;
    BSON_APPEND_INT32(&doc, "_id", id);
    BSON_APPEND_INT32(&doc, "v", w->next);
    BSON_APPEND_UTF8(&doc, "pad", padding);
    CHECK_OK(call_save_bson(w->db, txn, "c", TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
    w->values[id] = w->next++;
}

/* work -- `count` changes, of documents up to `most`; every tenth is a removal. */
static void work(world *w, int count, int most) {
    for (int i = 0; i < count;) {
        tansu_txn *txn = call_begin(w->db, TANSU_TXN_WRITE);
        for (int k = 0; k < 50 && i < count; k++, i++)
            change(w, txn, (int)random_below(&w->random, (uint64_t)most),
                   w->removes && random_below(&w->random, 10) == 0);
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
}

/* world_open -- every document is there. */
static world world_open(const char *folder, bool compressed, uint64_t stream) {
    tansu_options options = call_options(folder);
    world w = {.db = call_open_with(&options), .random = random_start(stream), .removes = true};
    if (compressed && library_lz4())
        CHECK_OK(call_ensure(w.db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
    for (int id = 0; id < DOCUMENTS; id += 50) {
        tansu_txn *txn = call_begin(w.db, TANSU_TXN_WRITE);
        for (int k = 0; k < 50; k++)
            change(&w, txn, id + k, false);
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
    return w;
}

static void view_begin(view *v, const world *w) {
    v->txn = call_begin(w->db, TANSU_TXN_READ);
    memcpy(v->values, w->values, sizeof v->values);
}

/* number_of -- a member of a document. */
static int number_of(const uint8_t *data, size_t size, const char *key) {
    bson_t document;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&document, data, size));
    REQUIRE(bson_iter_init_find(&iter, &document, key));
    return bson_iter_int32(&iter);
}

/* value_of -- of one document, in any thread; -1: it is not there. */
static int value_of(const view *v, tansu_db *db, int id) {
    bson_t key = BSON_INITIALIZER;
    BSON_APPEND_INT32(&key, "_id", id);
    tansu_buffer found = TANSU_BUFFER_INIT;
    tansu_error error;
    tansu_status status =
        tansu_get(db, v->txn, "c", (tansu_document){bson_get_data(&key), key.len}, &found, &error);
    int value = status == TANSU_OK ? number_of(found.data, found.size, "v") : -1;
    CHECK(status == TANSU_E_NOT_FOUND || CHECK_OK(status, &error));
    tansu_buffer_free(&found);
    bson_destroy(&key);
    return value;
}

/* view_check -- single documents, and all of them in a scan. */
static void view_check(const view *v, tansu_db *db, int singles) {
    int there = 0, found = 0;
    for (int id = 0; id < DOCUMENTS; id++) {
        there += v->values[id] >= 0;
        if (id % (DOCUMENTS / singles) != 0)
            continue;
        CHECK_INT(v->values[id], value_of(v, db, id));
    }
    tansu_cursor *cursor = call_cursor(db, v->txn, "c", "{}", NULL);
    tansu_document document;
    tansu_status status;
    bool right = true;
    while ((status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK) {
        int id = number_of(document.data, document.size, "_id");
        right = right && v->values[id] == number_of(document.data, document.size, "v");
        found++;
    }
    CHECK_STATUS(TANSU_DONE, status);
    CHECK(right);
    CHECK_INT(there, found);
    tansu_cursor_close(cursor);
}

static void compact(tansu_db *db) {
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
}

/* ---- What is kept ---- */

static void an_old_snapshot_keeps_no_segment_that_was_written_after_it(void) {
    for (int kind = 0; kind < 4; kind++) {
        char *folder = kind == 3 ? NULL : folder_new();
        world w = world_open(folder, kind == 1, 1);
        CHECK_INT(0, call_statistic(w.db, "pinnedBytes"));
        view *v = calloc(1, sizeof *v);
        REQUIRE(v != NULL);
        view_begin(v, &w);
        int64_t most = 0;
        for (int round = 0; round < 12; round++) {
            /* a part of the documents stays as it is, or nothing */
            work(&w, 3000, kind == 2 ? DOCUMENTS / 2 : DOCUMENTS);
            compact(w.db);
            int64_t pinned = call_statistic(w.db, "pinnedBytes");
            most = pinned > most ? pinned : most;
            view_check(v, w.db, 50);
        }
        check_note("%.1f MB of %.1f MB", (double)most / 1e6, (double)LIVE / 1e6);
        CHECK(most > 0 && most <= 2 * LIVE + 2 * MB);
        CHECK_OK(tansu_txn_commit(v->txn, NULL, &call_error), &call_error);
        compact(w.db);
        CHECK_INT(0, call_statistic(w.db, "pinnedBytes"));
        CHECK_OK(maintenance_verify(w.db), &call_error);
        free(v);
        call_close(w.db);
        if (folder != NULL)
            folder_end(folder);
    }
}

#define VIEWS 8

static void snapshots_of_all_ages_read_what_they_saw(void) {
    for (int kind = 0; kind < 3; kind++) {
        char *folder = kind == 2 ? NULL : folder_new();
        world w = world_open(folder, kind == 1, 2 + (uint64_t)kind);
        view *views = calloc(VIEWS, sizeof *views);
        REQUIRE(views != NULL);
        for (int round = 0; round < 40; round++) {
            view *v = &views[random_below(&w.random, VIEWS)];
            if (v->txn != NULL) {
                view_check(v, w.db, 20);
                CHECK_OK(tansu_txn_commit(v->txn, NULL, &call_error), &call_error);
                v->txn = NULL;
            }
            view_begin(v, &w);
            work(&w, (int)random_below(&w.random, 2500), DOCUMENTS);
            if (random_below(&w.random, 3) != 0)
                compact(w.db);
            for (int i = 0; i < VIEWS; i++)
                if (views[i].txn != NULL && random_below(&w.random, 4) == 0)
                    view_check(&views[i], w.db, 20);
        }
        for (int i = 0; i < VIEWS; i++) {
            if (views[i].txn == NULL)
                continue;
            view_check(&views[i], w.db, 200);
            CHECK_OK(tansu_txn_commit(views[i].txn, NULL, &call_error), &call_error);
        }
        compact(w.db);
        CHECK_INT(0, call_statistic(w.db, "pinnedBytes"));
        free(views);
        call_close(w.db);
        if (folder != NULL)
            folder_end(folder);
    }
}

static void a_dropped_collection_is_read_in_an_old_snapshot(void) {
    char *folder = folder_new();
    world w = world_open(folder, false, 7);
    view *v = calloc(1, sizeof *v);
    REQUIRE(v != NULL);
    view_begin(v, &w);
    work(&w, 3000, DOCUMENTS);
    compact(w.db);
    work(&w, 3000, DOCUMENTS);
    CHECK_OK(tansu_collection_drop(w.db, NULL, "c", &call_error), &call_error);
    for (int i = 0; i < 3; i++) {
        compact(w.db);
        view_check(v, w.db, 100);
        work(&w, 2000, DOCUMENTS); /* in another collection of that name */
    }
    CHECK_OK(tansu_txn_commit(v->txn, NULL, &call_error), &call_error);
    free(v);
    call_close(w.db);
    folder_end(folder);
}

/* With more than are looked after, segments stay longer, and nothing else happens. */
static void many_snapshots_read_what_they_saw(void) {
    char *folder = folder_new();
    world w = world_open(folder, false, 8);
    view *views = calloc(100, sizeof *views);
    REQUIRE(views != NULL);
    for (int i = 0; i < 100; i++) {
        view_begin(&views[i], &w);
        work(&w, 200, DOCUMENTS);
        if (i % 10 == 9)
            compact(w.db);
    }
    for (int i = 0; i < 100; i++) {
        view_check(&views[i], w.db, 4);
        CHECK_OK(tansu_txn_commit(views[i].txn, NULL, &call_error), &call_error);
    }
    compact(w.db);
    CHECK_INT(0, call_statistic(w.db, "pinnedBytes"));
    free(views);
    call_close(w.db);
    folder_end(folder);
}

/* A reader of another process that goes on has another state for what comes. */
static void a_follower_keeps_little_for_an_old_snapshot(void) {
    for (int most = DOCUMENTS / 2; most <= DOCUMENTS; most += DOCUMENTS / 2) {
        char *folder = folder_new();
        world w = world_open(folder, false, 12);
        w.removes = false; /* what a reader needs of those, a writer does not know */
        tansu_options options = call_options(folder);
        options.allow_writer = 1;
        tansu_db *reader = call_open_with(&options);
        view views[2];
        for (int i = 0; i < 2; i++) {
            CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
            views[i].txn = call_begin(reader, TANSU_TXN_READ);
            memcpy(views[i].values, w.values, sizeof w.values);
            work(&w, 700, most);
        }
        int64_t pinned = 0;
        for (int round = 0; round < 12; round++) {
            work(&w, 3000, most);
            CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
            compact(w.db);
            CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
            int64_t now = call_statistic(w.db, "readers.0.pinnedBytes");
            pinned = now > pinned ? now : pinned;
            for (int i = 0; i < 2; i++)
                view_check(&views[i], reader, 50);
        }
        CHECK(call_statistic(reader, "reopenings") <= 2);
        check_note("%.1f MB of %.1f MB", (double)pinned / 1e6, (double)LIVE / 1e6);
        CHECK(pinned > 0 && pinned <= 6 * LIVE + 5 * MB);
        for (int i = 0; i < 2; i++)
            CHECK_OK(tansu_txn_commit(views[i].txn, NULL, &call_error), &call_error);
        call_close(reader);
        call_close(w.db);
        folder_end(folder);
    }
}

/* ---- Threads ---- */

typedef struct reading {
    const view *v;
    tansu_db *db;
    atomic_bool *stop;
    uint64_t checks;
} reading;

static void *read_all_the_time(void *context) {
    reading *r = context;
    while (!atomic_load(r->stop) || r->checks == 0) {
        view_check(r->v, r->db, 100);
        r->checks++;
    }
    return NULL;
}

static void threads_read_old_snapshots_while_segments_go(void) {
    for (int compressed = 0; compressed < 2; compressed++) {
        char *folder = folder_new();
        world w = world_open(folder, compressed, 9);
        enum { THREADS = 3 };
        view *views = calloc(THREADS, sizeof *views);
        REQUIRE(views != NULL);
        pthread_t threads[THREADS];
        reading readings[THREADS];
        atomic_bool stop = false;
        for (int i = 0; i < THREADS; i++) {
            view_begin(&views[i], &w);
            readings[i] = (reading){.v = &views[i], .db = w.db, .stop = &stop};
            work(&w, 1000, DOCUMENTS);
        }
        for (int i = 0; i < THREADS; i++)
            REQUIRE(pthread_create(&threads[i], NULL, read_all_the_time, &readings[i]) == 0);
        for (int round = 0; round < 15; round++) {
            work(&w, 2000, DOCUMENTS);
            compact(w.db);
        }
        atomic_store(&stop, true);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_OK(tansu_txn_commit(views[i].txn, NULL, &call_error), &call_error);
        }
        free(views);
        call_close(w.db);
        folder_end(folder);
    }
}

/* ---- The limit ---- */

static void who_keeps_more_than_the_limit_is_told_so(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.max_pinned_bytes = (uint64_t)LIVE / 2;
    world w = world_open(folder, false, 10);
    call_close(w.db);
    w.db = call_open_with(&options);
    tansu_txn *txn = call_begin(w.db, TANSU_TXN_READ);
    tansu_cursor *inner = call_cursor(w.db, txn, "c", "{}", NULL);
    tansu_cursor *cursor = call_cursor(w.db, NULL, "c", "{}", NULL);
    tansu_cursor *done = call_cursor(w.db, NULL, "c", "{'none': 1}", NULL);
    tansu_document document;
    CHECK_STATUS(TANSU_DONE, tansu_cursor_next(done, &document, &call_error));
    CHECK_OK(tansu_cursor_next(cursor, &document, &call_error), &call_error);
    CHECK_OK(tansu_cursor_next(inner, &document, &call_error), &call_error);
    work(&w, 6000, DOCUMENTS);
    compact(w.db);
    tansu_txn *later = call_begin(w.db, TANSU_TXN_READ);
    CHECK(call_statistic(w.db, "pinnedBytes") > LIVE / 2);
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_cursor_next(cursor, &document, &call_error));
    CHECK(strstr(call_error.message, "max_pinned_bytes") != NULL);
    CHECK_STATUS(TANSU_DONE, tansu_cursor_next(done, &document, &call_error));
    tansu_cursor_close(done);
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_cursor_next(inner, &document, &call_error));
    int64_t count;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_count(w.db, txn, "c", TANSU_NO_DOCUMENT,
                                                TANSU_NO_DOCUMENT, &count, &call_error));
    /* Those who keep nothing go on. */
    CHECK_OK(
        tansu_count(w.db, later, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count, &call_error),
        &call_error);
    CHECK(call_count(w.db, NULL, "c", "{}") > 0);
    tansu_cursor_close(cursor);
    tansu_cursor_close(inner);
    CHECK(call_statistic(w.db, "pinnedBytes") > LIVE / 2);
    tansu_txn_abort(txn);
    CHECK_INT(0, call_statistic(w.db, "pinnedBytes"));
    CHECK_OK(tansu_txn_commit(later, NULL, &call_error), &call_error);
    call_close(w.db);
    folder_end(folder);
}

/* What is far back is found by its links once. */
static void many_versions_are_passed_once(void) {
    char *folder = folder_new();
    world w = world_open(folder, false, 11);
    view *v = calloc(1, sizeof *v);
    REQUIRE(v != NULL);
    view_begin(v, &w);
    for (int i = 0; i < 60000; i++)
        change(&w, NULL, i % 3, false);
    for (int i = 0; i < 20000; i++) { /* 60,000,000 steps without that */
        int value = value_of(v, w.db, 1);
        if (i == 0 || i == 19999)
            CHECK_INT(1, value);
    }
    view_check(v, w.db, 100);
    CHECK_OK(tansu_txn_commit(v->txn, NULL, &call_error), &call_error);
    free(v);
    call_close(w.db);
    folder_end(folder);
}

int main(void) {
    RUN(an_old_snapshot_keeps_no_segment_that_was_written_after_it);
    RUN(snapshots_of_all_ages_read_what_they_saw);
    RUN(a_dropped_collection_is_read_in_an_old_snapshot);
    RUN(many_snapshots_read_what_they_saw);
    RUN(a_follower_keeps_little_for_an_old_snapshot);
    RUN(threads_read_old_snapshots_while_segments_go);
    RUN(who_keeps_more_than_the_limit_is_told_so);
    RUN(many_versions_are_passed_once);
    return check_finish();
}
