/*
 * test_memory.c -- the memory of index blocks keeps to its bound under sustained load, with
 * snapshots held, and with much more index than the bound allows; and no answer is wrong for it.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((int64_t)1024 * 1024)

/* save -- a document with that `_id` and other fields at random. */
static void save(tansu_db *db, random_source *source, uint32_t id) {
    char text[200];
    snprintf(text, sizeof text, "{'_id': %u, 'a': %u, 'b': %u, 's': 'name %u'}", id,
             (unsigned)random_below(source, 1000000), (unsigned)random_below(source, 100),
             (unsigned)random_below(source, 5000));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
}

static void make_indexes(tansu_db *db) {
    CHECK_OK(call_index(db, NULL, "c", "a", "{'a': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "b", "{'b': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "s", "{'s': 1}", NULL), &call_error);
}

/* A snapshot costs what it sees, once, and not what is written while it is held. */
static void a_held_snapshot_costs_what_it_sees(void) {
    enum { LIVE = 3000, UPDATES = 40000 };
    char *folder = folder_new();
    random_source source = random_start(1);
    tansu_db *db = call_open(folder);
    make_indexes(db);
    for (uint32_t i = 0; i < LIVE; i++)
        save(db, &source, i);
    int64_t live = call_statistic(db, "indexMemoryBytes"), most = 0;
    CHECK_INT(0, call_statistic(db, "snapshots"));
    tansu_txn *held = call_begin(db, TANSU_TXN_READ), *second = NULL;
    char before[4000];
    snprintf(before, sizeof before, "%s", call_find(db, held, "c", "{'b': 7}", "{'$max': 20}"));
    for (uint32_t i = 0; i < UPDATES; i++) {
        save(db, &source, (uint32_t)random_below(&source, LIVE));
        int64_t now = i % 16 == 0 ? call_statistic(db, "indexMemoryBytes") : 0;
        most = now > most ? now : most;
        if (i == UPDATES / 4)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        if (i == UPDATES / 2)
            second = call_begin(db, TANSU_TXN_READ);
    }
    CHECK_TEXT(before, call_find(db, held, "c", "{'b': 7}", "{'$max': 20}"));
    CHECK_INT(LIVE, call_count(db, held, "c", "{}"));
    CHECK_INT(2, call_statistic(db, "snapshots"));
    CHECK(call_statistic(db, "oldestSnapshot") < call_statistic(db, "sequence") - UPDATES / 2);
    CHECK(most < 4 * live); /* the newest state and two snapshots, each once, with some slack */
    tansu_txn_abort(held);
    tansu_txn_abort(second);
    CHECK(call_statistic(db, "indexMemoryBytes") < live * 3 / 2);
    CHECK_INT(0, call_statistic(db, "snapshots"));
    check_note("live %lld KiB, at most %lld KiB", (long long)live / 1024, (long long)most / 1024);
    call_close(db);
    folder_end(folder);
}

/* save_wide -- a document with as many indexed fields as asked for. */
static void save_wide(tansu_db *db, random_source *source, uint32_t id, uint32_t fields) {
    bson_t doc = BSON_INITIALIZER;
    BSON_APPEND_INT32(&doc, "_id", (int32_t)id);
    for (uint32_t i = 0; i < fields; i++) {
        char name[12];
        snprintf(name, sizeof name, "f%u", i);
        BSON_APPEND_INT32(&doc, name, (int32_t)random_below(source, 1000000));
    }
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
}

/* Indexes several times as large as the bound, written at random places. */
static void writing_keeps_to_the_bound(void) {
    enum { DOCUMENTS = 20000, FIELDS = 8 };
    const int64_t bound = 2 * MIB;
    /* Loaded, an entry takes the eight bytes that make searching fast, its key and its suffix. */
    const int64_t whole = (int64_t)DOCUMENTS * (FIELDS + 1) * 24;
    char *folder = folder_new();
    random_source source = random_start(2);
    tansu_options options = call_options(folder);
    options.index_cache_bytes = (uint64_t)bound;
    tansu_db *db = call_open_with(&options);
    for (uint32_t i = 0; i < FIELDS; i++) {
        char name[12], keys[24];
        snprintf(name, sizeof name, "f%u", i);
        snprintf(keys, sizeof keys, "{'f%u': 1}", i);
        CHECK_OK(call_index(db, NULL, "c", name, keys, NULL), &call_error);
    }
    int64_t most = 0, most_dirty = 0;
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        save_wide(db, &source, i, FIELDS);
        if (i % 8 != 0)
            continue;
        int64_t now = call_statistic(db, "indexMemoryBytes");
        int64_t dirty = call_statistic(db, "indexDirtyBytes");
        most = now > most ? now : most;
        most_dirty = dirty > most_dirty ? dirty : most_dirty;
    }
    check_note(
        "bound %lld KiB, at most %lld KiB, dirty at most %lld KiB, file %lld KiB, %lld stalls",
        (long long)bound / 1024, (long long)most / 1024, (long long)most_dirty / 1024,
        (long long)call_statistic(db, "indexFileBytes") / 1024,
        (long long)call_statistic(db, "writeStalls"));
    CHECK(whole > 2 * bound);
    CHECK(most_dirty < bound * 7 / 8);
    /* Inner blocks and the handles of leaves are not within the bound, nor is what the writer loads
     * while the background thread evicts, which may have to wait for a processor. */
    CHECK(most < bound * 3 / 2 + whole / 16);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{'f3': {'$gte': 0}}"));
    call_close(db);
    folder_end(folder);
}

/* Reading alone keeps to it as well, and so does reading out of open cursors. */
static void reading_keeps_to_the_bound(void) {
    enum { DOCUMENTS = 30000, CURSORS = 20 };
    char *folder = folder_new();
    random_source source = random_start(3);
    tansu_options options = call_options(folder);
    tansu_db *db = call_open_with(&options);
    make_indexes(db);
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        save(db, &source, i);
    int64_t whole = call_statistic(db, "indexMemoryBytes"), bound = whole / 6, most = 0;
    call_close(db);
    options.index_cache_bytes = (uint64_t)bound;
    options.read_only = true;
    db = call_open_with(&options);
    tansu_cursor *cursors[CURSORS];
    for (int i = 0; i < CURSORS; i++)
        cursors[i] = call_cursor(db, NULL, "c", "{}", "{'$orderby': {'a': 1}}");
    for (uint32_t i = 0; i < 20000; i++) {
        char query[60];
        uint32_t id = (uint32_t)random_below(&source, DOCUMENTS);
        snprintf(query, sizeof query, "{'_id': %u}", id);
        CHECK_INT(1, call_count(db, NULL, "c", query));
        snprintf(query, sizeof query, "{'a': {'$gte': %u}}",
                 (unsigned)random_below(&source, 1000000));
        CHECK(call_count(db, NULL, "c", query) >= 0);
        CHECK(call_next(cursors[i % CURSORS])[0] == '{');
        if (i % 16 != 0)
            continue;
        int64_t now = call_statistic(db, "indexMemoryBytes");
        most = now > most ? now : most;
    }
    check_note("whole %lld KiB, bound %lld KiB, at most %lld KiB", (long long)whole / 1024,
               (long long)bound / 1024, (long long)most / 1024);
    /* Inner blocks and the handles of leaves are not within the bound. */
    CHECK(most < bound + whole / 8);
    for (int i = 0; i < CURSORS; i++)
        tansu_cursor_close(cursors[i]);
    call_close(db);
    folder_end(folder);
}

/* ---- Threads ---- */

typedef struct reading {
    tansu_db *db;
    uint64_t seed;
    atomic_bool *done;
} reading;

/* read_on -- looks documents up by two indexes that must agree, within a snapshot that is held a
 * while. */
static void *read_on(void *context) {
    reading *r = context;
    random_source source = random_start(r->seed);
    while (!atomic_load(r->done)) {
        tansu_txn *txn;
        CHECK_STATUS(TANSU_OK,
                     tansu_txn_begin(r->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, NULL));
        int64_t all = call_count(r->db, txn, "c", "{}");
        for (int i = 0; i < 30; i++) {
            char low[40], high[40];
            unsigned at = (unsigned)random_below(&source, 1000000);
            snprintf(low, sizeof low, "{'a': {'$lt': %u}}", at);
            snprintf(high, sizeof high, "{'a': {'$gte': %u}}", at);
            CHECK_INT(all, call_count(r->db, txn, "c", low) + call_count(r->db, txn, "c", high));
        }
        tansu_txn_abort(txn);
    }
    return NULL;
}

/* Readers under snapshots, a writer, checkpoints, and evictions all the time. */
static void readers_are_right_while_blocks_come_and_go(void) {
    enum { LIVE = 20000, UPDATES = 15000, READERS = 3 };
    char *folder = folder_new();
    random_source source = random_start(4);
    tansu_options options = call_options(folder);
    options.index_cache_bytes = 1;
    tansu_db *db = call_open_with(&options);
    make_indexes(db);
    for (uint32_t i = 0; i < LIVE; i++)
        save(db, &source, i);
    atomic_bool done = false;
    pthread_t threads[READERS];
    reading readings[READERS];
    for (uint64_t i = 0; i < READERS; i++) {
        readings[i] = (reading){db, 10 + i, &done};
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &readings[i]) == 0);
    }
    for (uint32_t i = 0; i < UPDATES; i++) {
        save(db, &source, (uint32_t)random_below(&source, LIVE));
        if (i % 1000 == 0)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    atomic_store(&done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(a_held_snapshot_costs_what_it_sees);
    RUN(writing_keeps_to_the_bound);
    RUN(reading_keeps_to_the_bound);
    RUN(readers_are_right_while_blocks_come_and_go);
    return check_finish();
}
