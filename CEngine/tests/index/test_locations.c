/*
 * test_locations.c -- record id → location: what was set is found, by readers concurrently with the
 * writer as well, and after checkpoints that were committed, but not after those that were not.
 */
#include "index/definition.h"
#include "index/locations.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tansu_error error;
static char file[1024], wal[1032]; /* in a temporary folder */

static block_store *new_block_store(void) {
    block_store *bs = NULL;
    unlink(file);
    unlink(wal);
    CHECK_OK(block_store_open(&fs_system, file, BLOCK_STORE_CREATE, NULL, &bs, &error), &error);
    REQUIRE(bs != NULL);
    return bs;
}

static uint64_t get(locations *p, uint64_t rid) {
    uint64_t location = UINT64_MAX;
    CHECK_OK(locations_get(p, rid, &location, &error), &error);
    return location;
}

static void set(locations *p, uint64_t rid, uint64_t location) {
    CHECK_OK(locations_prepare(p, rid, &error), &error);
    locations_set(p, rid, location);
}

/* The record ids that a scan finds one run after the other are those that were set. */
static void a_scan_of_sparse_record_ids(void) {
    locations *p;
    const uint64_t *words;
    REQUIRE(locations_new(7, NULL, 0, &p, &error) == TANSU_OK);
    for (uint64_t rid = 0; rid < 5000; rid += 1 + rid / 2)
        set(p, rid, rid + 1);
    for (uint64_t rid = 0, end; rid < 5000; rid = end) {
        if (!CHECK_OK(locations_words(p, rid, &words, &end, &error), &error) || !CHECK(end > rid))
            break;
        for (uint64_t i = rid; i < end; i++)
            CHECK_INT(get(p, i), words == NULL ? 0 : locations_load(&words[i - rid]));
    }
    locations_free(p);
}

static void what_was_set_is_found(void) {
    locations *p;
    REQUIRE(locations_new(7, NULL, 0, &p, &error) == TANSU_OK);
    static const uint64_t rids[] = {0, 1, 1023, 1024, 65535, 65536, 196607, 196608, 5000000};
    size_t count = sizeof(rids) / sizeof(rids[0]);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(0, get(p, rids[i]));
        set(p, rids[i], rids[i] * 8 + 1);
    }
    for (size_t i = 0; i < count; i++)
        CHECK_INT(rids[i] * 8 + 1, get(p, rids[i]));
    CHECK_INT(0, get(p, 2));
    CHECK_INT(0, get(p, MAX_RID));
    CHECK_INT(0, get(p, UINT64_MAX));
    set(p, 1, 99);
    CHECK_INT(99, get(p, 1));
    CHECK_STATUS(TANSU_E_TOO_LARGE, locations_prepare(p, MAX_RID + 1, &error));
    const uint64_t *words;
    uint64_t end;
    CHECK_OK(locations_words(p, 1, &words, &end, &error), &error);
    if (CHECK(words != NULL && end > 1))
        CHECK_INT(99, locations_load(words));
    CHECK_OK(locations_words(p, 2 * LOCATIONS_CHUNK, &words, &end, &error), &error);
    CHECK(words == NULL);
    CHECK_INT(3 * LOCATIONS_CHUNK, end);
    CHECK_STATUS(TANSU_E_INVALID_STATE, locations_checkpoint(p, NULL, &error));
    locations_free(p);
    locations_free(NULL);
}

static uint64_t checkpoint(locations *p, block_store *bs, bool fails) {
    uint64_t written = 0;
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(locations_checkpoint(p, &written, &error), &error);
    if (fails) {
        block_store_abort(bs);
        locations_checkpoint_failed(p);
    } else {
        CHECK_OK(block_store_commit(bs, &error), &error);
    }
    return written;
}

static void checkpoints_write_what_changed(void) {
    random_source random = random_start(1);
    block_store *bs = new_block_store();
    static uint64_t model[20000];
    uint64_t count = 0;
    locations *p;
    REQUIRE(locations_new(3, bs, 0, &p, &error) == TANSU_OK);
    for (int round = 0; round < 30 && check_failures() == 0; round++) {
        for (int i = 0; i < 40; i++) {
            /* Some chunks are never used: they are not in the block store. */
            uint64_t rid = random_below(&random, count + 700) % 20000;
            if (rid / LOCATIONS_CHUNK % 5 == 3)
                continue;
            model[rid] = random_next(&random) | 1;
            set(p, rid, model[rid]);
            if (rid >= count)
                count = rid + 1;
        }
        bool fails = round % 3 == 1;
        uint64_t written = checkpoint(p, bs, fails);
        CHECK(written > 0);
        CHECK_INT(fails ? (int64_t)written : 0, checkpoint(p, bs, false));
        if (round % 4 == 0) {
            locations_free(p);
            CHECK_OK(block_store_close(bs, &error), &error);
            REQUIRE(block_store_open(&fs_system, file, 0, NULL, &bs, &error) == TANSU_OK);
            REQUIRE(locations_new(3, bs, count, &p, &error) == TANSU_OK);
        }
        for (uint64_t rid = 0; rid < 20000; rid += 7)
            if (!CHECK_INT(model[rid], get(p, rid)))
                break;
    }
    /* Another collection sees none of them. */
    locations *other;
    REQUIRE(locations_new(4, bs, count, &other, &error) == TANSU_OK);
    for (uint64_t rid = 0; rid < count; rid += 100)
        CHECK_INT(0, get(other, rid));
    set(other, 5, 55);
    CHECK_INT(1, checkpoint(other, bs, false));
    locations_free(other);
    locations_free(p);

    /* Dropped: gone from the block store. */
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(locations_remove_stored(bs, 3, count, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    REQUIRE(locations_new(3, bs, count, &p, &error) == TANSU_OK);
    for (uint64_t rid = 0; rid < count; rid += 100)
        CHECK_INT(0, get(p, rid));
    locations_free(p);
    REQUIRE(locations_new(4, bs, 6, &p, &error) == TANSU_OK);
    CHECK_INT(55, get(p, 5));
    locations_free(p);
    CHECK_OK(block_store_close(bs, &error), &error);
}

static void damaged_chunks_are_errors(void) {
    block_store *bs = new_block_store();
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_LOCATIONS, (uint64_t)9 << 40, "short", 5, &error),
             &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    locations *p;
    REQUIRE(locations_new(9, bs, 10, &p, &error) == TANSU_OK);
    uint64_t location;
    const uint64_t *words;
    CHECK_STATUS(TANSU_E_CORRUPT, locations_get(p, 3, &location, &error));
    uint64_t end;
    CHECK_STATUS(TANSU_E_CORRUPT, locations_words(p, 0, &words, &end, &error));
    CHECK_STATUS(TANSU_E_CORRUPT, locations_prepare(p, 3, &error));
    locations_free(p);
    CHECK_STATUS(TANSU_E_CORRUPT, locations_new(9, bs, UINT64_MAX, &p, &error));
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* ---- Threads ---- */

#define ALL 300000

typedef struct shared_state {
    locations *p;
    block_store *bs;
    atomic_uint_fast64_t published; /* record ids below have a location */
    atomic_bool done;
} shared_state;

static shared_state shared;

static void *read_locations(void *context) {
    random_source random = random_start(10 + (uint64_t)(uintptr_t)context);
    do {
        uint64_t published = atomic_load(&shared.published);
        uint64_t rid = random_below(&random, published + 1);
        uint64_t location = 0;
        CHECK_STATUS(TANSU_OK, locations_get(shared.p, rid, &location, NULL));
        CHECK(rid < published ? location == rid * 2 + 1 : location == 0 || location == rid * 2 + 1);
        const uint64_t *words;
        uint64_t end;
        CHECK_STATUS(TANSU_OK, locations_words(shared.p, rid, &words, &end, NULL));
        CHECK(rid >= published || words != NULL);
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void *write_checkpoints(void *context) {
    (void)context;
    do {
        CHECK_STATUS(TANSU_OK, block_store_begin(shared.bs, NULL));
        CHECK_STATUS(TANSU_OK, locations_checkpoint(shared.p, NULL, NULL));
        CHECK_STATUS(TANSU_OK, block_store_commit(shared.bs, NULL));
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void readers_and_checkpoints_concurrent_with_a_writer(void) {
    shared.bs = new_block_store();
    /* The first half comes from the block store: readers and writer load it at the same time. */
    REQUIRE(locations_new(1, shared.bs, 0, &shared.p, &error) == TANSU_OK);
    for (uint64_t rid = 0; rid < ALL / 2; rid++)
        set(shared.p, rid, rid * 2 + 1);
    checkpoint(shared.p, shared.bs, false);
    locations_free(shared.p);
    REQUIRE(locations_new(1, shared.bs, ALL / 2, &shared.p, &error) == TANSU_OK);
    atomic_store(&shared.published, ALL / 2);

    pthread_t readers[3], keeper;
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&readers[i], NULL, read_locations, (void *)(uintptr_t)i) == 0);
    REQUIRE(pthread_create(&keeper, NULL, write_checkpoints, NULL) == 0);
    for (uint64_t rid = 0; rid < ALL; rid++) {
        set(shared.p, rid, rid * 2 + 1);
        if (rid >= ALL / 2)
            atomic_store(&shared.published, rid + 1);
    }
    atomic_store(&shared.done, true);
    for (int i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    pthread_join(keeper, NULL);

    checkpoint(shared.p, shared.bs, false);
    locations_free(shared.p);
    REQUIRE(locations_new(1, shared.bs, ALL, &shared.p, &error) == TANSU_OK);
    for (uint64_t rid = 0; rid < ALL; rid++)
        if (!CHECK_INT(rid * 2 + 1, get(shared.p, rid)))
            break;
    locations_free(shared.p);
    CHECK_OK(block_store_close(shared.bs, &error), &error);
}

/* remove_chunk -- removes one of the chunks from the block store, as damage would. */
static void remove_chunk(block_store *bs, uint32_t collection, uint64_t number) {
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(
        block_store_remove(bs, BLOCK_STORE_LOCATIONS, (uint64_t)collection << 40 | number, &error),
        &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
}

static void a_missing_chunk_is_damage_unless_it_is_a_gap(void) {
    const uint64_t count = 9 * LOCATIONS_CHUNK + 5;
    block_store *bs = new_block_store();
    locations *p;
    tansu_buffer gaps = TANSU_BUFFER_INIT;
    REQUIRE(locations_new(7, bs, 0, &p, &error) == TANSU_OK);
    set(p, 2 * LOCATIONS_CHUNK, 11);
    set(p, 3 * LOCATIONS_CHUNK, 12);
    set(p, 6 * LOCATIONS_CHUNK, 13);
    CHECK_OK(locations_prepare(p, 8 * LOCATIONS_CHUNK, &error), &error); /* and taken back */
    CHECK_OK(locations_gaps_write(p, count, &gaps, &error), &error);
    CHECK_INT(4 * 16, gaps.size); /* 0 1, 4 5, 7, 9 */
    CHECK_INT(0, load_u64(gaps.data));
    CHECK_INT(2, load_u64(gaps.data + 8));
    CHECK_INT(9, load_u64(gaps.data + 48));
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(locations_checkpoint(p, NULL, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    locations_free(p);

    REQUIRE(locations_new(7, bs, count, &p, &error) == TANSU_OK);
    CHECK_OK(locations_gaps_read(p, gaps.data, gaps.size, &error), &error);
    CHECK_INT(2, locations_next_chunk(p, 0, 10));
    CHECK_INT(6, locations_next_chunk(p, 4, 10));
    CHECK_INT(10, locations_next_chunk(p, 9, 10));
    for (uint64_t rid = 0; rid < count; rid += LOCATIONS_CHUNK / 2)
        CHECK_INT(rid == 2 * LOCATIONS_CHUNK   ? 11
                  : rid == 3 * LOCATIONS_CHUNK ? 12
                  : rid == 6 * LOCATIONS_CHUNK ? 13
                                               : 0,
                  get(p, rid));
    /* What is in a gap may still be filled. */
    set(p, 9 * LOCATIONS_CHUNK + 5, 14);
    CHECK_OK(locations_gaps_write(p, count + 1, &gaps, &error), &error);
    CHECK_INT(3 * 16, gaps.size);
    locations_free(p);

    /* Other records, so that there are as many as chunks while chunks are removed. */
    CHECK_OK(block_store_begin(bs, &error), &error);
    for (uint64_t number = 1; number < 9; number++)
        CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, number, "block", 5, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    for (uint64_t number = 0; number < 9; number++) {
        bool there = number == 2 || number == 3 || number == 6 || number == 8;
        remove_chunk(bs, 7, number);
        REQUIRE(locations_new(7, bs, count - 5, &p, &error) == TANSU_OK);
        CHECK_OK(locations_gaps_read(p, gaps.data, gaps.size, &error), &error);
        uint64_t location;
        CHECK_STATUS(there ? TANSU_E_CORRUPT : TANSU_OK,
                     locations_get(p, number * LOCATIONS_CHUNK, &location, &error));
        CHECK(block_store_is_damaged(bs) == (number >= 2));
        locations_free(p);
    }
    /* More chunks outside the gaps than there are records. */
    REQUIRE(locations_new(7, bs, 100 * LOCATIONS_CHUNK, &p, &error) == TANSU_OK);
    CHECK_STATUS(TANSU_E_CORRUPT, locations_gaps_read(p, gaps.data, gaps.size, &error));
    locations_free(p);
    /* Gaps that make no sense. */
    REQUIRE(locations_new(7, bs, count, &p, &error) == TANSU_OK);
    CHECK_STATUS(TANSU_E_CORRUPT, locations_gaps_read(p, gaps.data, 15, &error));
    store_u64(gaps.data + 8, 5); /* over the next one */
    CHECK_STATUS(TANSU_E_CORRUPT, locations_gaps_read(p, gaps.data, gaps.size, &error));
    store_u64(gaps.data + 8, UINT64_MAX);
    CHECK_STATUS(TANSU_E_CORRUPT, locations_gaps_read(p, gaps.data, gaps.size, &error));
    locations_free(p);
    tansu_buffer_free(&gaps);
    CHECK_OK(block_store_close(bs, &error), &error);
}

int main(void) {
    char *folder = folder_new();
    snprintf(file, sizeof(file), "%s/places.tch", folder);
    snprintf(wal, sizeof(wal), "%s.wal", file);
    RUN(what_was_set_is_found);
    RUN(a_scan_of_sparse_record_ids);
    RUN(checkpoints_write_what_changed);
    RUN(damaged_chunks_are_errors);
    RUN(readers_and_checkpoints_concurrent_with_a_writer);
    RUN(a_missing_chunk_is_damage_unless_it_is_a_gap);
    folder_end(folder);
    return check_finish();
}
