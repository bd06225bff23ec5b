/*
 * test_places.c -- docno → place: what was set is found, by readers beside the writer as well, and
 * after checkpoints that were committed, but not after those that were not.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "index/definition.h"
#include "index/places.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tansu_error error;
static char file[1024], wal[1032]; /* in a temporary folder */

static cabinet *new_cabinet(void) {
    cabinet *cab = NULL;
    unlink(file);
    unlink(wal);
    CHECK_OK(cabinet_open(&fs_system, file, CABINET_CREATE, &cab, &error), &error);
    REQUIRE(cab != NULL);
    return cab;
}

static uint64_t get(places *p, uint64_t docno) {
    uint64_t place = UINT64_MAX;
    CHECK_OK(places_get(p, docno, &place, &error), &error);
    return place;
}

static void set(places *p, uint64_t docno, uint64_t place) {
    CHECK_OK(places_prepare(p, docno, &error), &error);
    places_set(p, docno, place);
}

static void what_was_set_is_found(void) {
    places *p;
    REQUIRE(places_new(7, NULL, 0, &p, &error) == TANSU_OK);
    static const uint64_t docnos[] = {0, 1, 1023, 1024, 65535, 65536, 196607, 196608, 5000000};
    size_t count = sizeof(docnos) / sizeof(docnos[0]);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(0, get(p, docnos[i]));
        set(p, docnos[i], docnos[i] * 8 + 1);
    }
    for (size_t i = 0; i < count; i++)
        CHECK_INT(docnos[i] * 8 + 1, get(p, docnos[i]));
    CHECK_INT(0, get(p, 2));
    CHECK_INT(0, get(p, INDEX_MAX_DOCNO));
    CHECK_INT(0, get(p, UINT64_MAX));
    set(p, 1, 99);
    CHECK_INT(99, get(p, 1));
    CHECK_STATUS(TANSU_E_TOO_LARGE, places_prepare(p, INDEX_MAX_DOCNO + 1, &error));
    const uint64_t *words;
    CHECK_OK(places_chunk(p, 0, &words, &error), &error);
    if (CHECK(words != NULL))
        CHECK_INT(99, places_load(&words[1]));
    CHECK_OK(places_chunk(p, 2, &words, &error), &error);
    CHECK(words == NULL);
    CHECK(places_memory(p) > 7 * PLACES_CHUNK * 8);
    CHECK_STATUS(TANSU_E_MISUSE, places_checkpoint(p, NULL, &error));
    places_free(p);
    places_free(NULL);
}

static uint64_t checkpoint(places *p, cabinet *cab, bool fails) {
    uint64_t written = 0;
    CHECK_OK(cabinet_begin(cab, &error), &error);
    CHECK_OK(places_checkpoint(p, &written, &error), &error);
    if (fails) {
        cabinet_abort(cab);
        places_checkpoint_failed(p);
    } else {
        CHECK_OK(cabinet_commit(cab, &error), &error);
    }
    return written;
}

static void checkpoints_write_what_changed(void) {
    random_source random = random_start(1);
    cabinet *cab = new_cabinet();
    static uint64_t model[20000];
    uint64_t count = 0;
    places *p;
    REQUIRE(places_new(3, cab, 0, &p, &error) == TANSU_OK);
    for (int round = 0; round < 30 && check_failures() == 0; round++) {
        for (int i = 0; i < 40; i++) {
            /* Some chunks are never used: they are not in the cabinet. */
            uint64_t docno = random_below(&random, count + 700) % 20000;
            if (docno / PLACES_CHUNK % 5 == 3)
                continue;
            model[docno] = random_next(&random) | 1;
            set(p, docno, model[docno]);
            if (docno >= count)
                count = docno + 1;
        }
        bool fails = round % 3 == 1;
        uint64_t written = checkpoint(p, cab, fails);
        CHECK(written > 0);
        CHECK_INT(fails ? (int64_t)written : 0, checkpoint(p, cab, false));
        if (round % 4 == 0) {
            places_free(p);
            CHECK_OK(cabinet_close(cab, &error), &error);
            REQUIRE(cabinet_open(&fs_system, file, 0, &cab, &error) == TANSU_OK);
            REQUIRE(places_new(3, cab, count, &p, &error) == TANSU_OK);
        }
        for (uint64_t docno = 0; docno < 20000; docno += 7)
            if (!CHECK_INT(model[docno], get(p, docno)))
                break;
    }
    /* Another collection sees none of them. */
    places *other;
    REQUIRE(places_new(4, cab, count, &other, &error) == TANSU_OK);
    for (uint64_t docno = 0; docno < count; docno += 100)
        CHECK_INT(0, get(other, docno));
    set(other, 5, 55);
    CHECK_INT(1, checkpoint(other, cab, false));
    places_free(other);
    places_free(p);

    /* Dropped: gone from the cabinet. */
    CHECK_OK(cabinet_begin(cab, &error), &error);
    CHECK_OK(places_remove_stored(cab, 3, count, &error), &error);
    CHECK_OK(cabinet_commit(cab, &error), &error);
    REQUIRE(places_new(3, cab, count, &p, &error) == TANSU_OK);
    for (uint64_t docno = 0; docno < count; docno += 100)
        CHECK_INT(0, get(p, docno));
    places_free(p);
    REQUIRE(places_new(4, cab, 6, &p, &error) == TANSU_OK);
    CHECK_INT(55, get(p, 5));
    places_free(p);
    CHECK_OK(cabinet_close(cab, &error), &error);
}

static void damaged_chunks_are_errors(void) {
    cabinet *cab = new_cabinet();
    CHECK_OK(cabinet_begin(cab, &error), &error);
    CHECK_OK(cabinet_put(cab, CABINET_PLACES, (uint64_t)9 << 40, "short", 5, &error), &error);
    CHECK_OK(cabinet_commit(cab, &error), &error);
    places *p;
    REQUIRE(places_new(9, cab, 10, &p, &error) == TANSU_OK);
    uint64_t place;
    const uint64_t *words;
    CHECK_STATUS(TANSU_E_CORRUPT, places_get(p, 3, &place, &error));
    CHECK_STATUS(TANSU_E_CORRUPT, places_chunk(p, 0, &words, &error));
    CHECK_STATUS(TANSU_E_CORRUPT, places_prepare(p, 3, &error));
    places_free(p);
    CHECK_STATUS(TANSU_E_CORRUPT, places_new(9, cab, UINT64_MAX, &p, &error));
    CHECK_OK(cabinet_close(cab, &error), &error);
}

/* ---- Threads ---- */

#define ALL 300000

typedef struct shared_state {
    places *p;
    cabinet *cab;
    atomic_uint_fast64_t published; /* docnos below have a place */
    atomic_bool done;
} shared_state;

static shared_state shared;

static void *read_places(void *context) {
    random_source random = random_start(10 + (uint64_t)(uintptr_t)context);
    do {
        uint64_t published = atomic_load(&shared.published);
        uint64_t docno = random_below(&random, published + 1);
        uint64_t place = 0;
        CHECK_STATUS(TANSU_OK, places_get(shared.p, docno, &place, NULL));
        CHECK(docno < published ? place == docno * 2 + 1 : place == 0 || place == docno * 2 + 1);
        const uint64_t *words;
        CHECK_STATUS(TANSU_OK, places_chunk(shared.p, docno / PLACES_CHUNK, &words, NULL));
        CHECK(docno >= published || words != NULL);
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void *write_checkpoints(void *context) {
    (void)context;
    do {
        CHECK_STATUS(TANSU_OK, cabinet_begin(shared.cab, NULL));
        CHECK_STATUS(TANSU_OK, places_checkpoint(shared.p, NULL, NULL));
        CHECK_STATUS(TANSU_OK, cabinet_commit(shared.cab, NULL));
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void readers_and_checkpoints_beside_a_writer(void) {
    shared.cab = new_cabinet();
    /* The first half comes from the cabinet: readers and writer load it at the same time. */
    REQUIRE(places_new(1, shared.cab, 0, &shared.p, &error) == TANSU_OK);
    for (uint64_t docno = 0; docno < ALL / 2; docno++)
        set(shared.p, docno, docno * 2 + 1);
    checkpoint(shared.p, shared.cab, false);
    places_free(shared.p);
    REQUIRE(places_new(1, shared.cab, ALL / 2, &shared.p, &error) == TANSU_OK);
    atomic_store(&shared.published, ALL / 2);

    pthread_t readers[3], keeper;
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&readers[i], NULL, read_places, (void *)(uintptr_t)i) == 0);
    REQUIRE(pthread_create(&keeper, NULL, write_checkpoints, NULL) == 0);
    for (uint64_t docno = 0; docno < ALL; docno++) {
        set(shared.p, docno, docno * 2 + 1);
        if (docno >= ALL / 2)
            atomic_store(&shared.published, docno + 1);
    }
    atomic_store(&shared.done, true);
    for (int i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    pthread_join(keeper, NULL);

    checkpoint(shared.p, shared.cab, false);
    places_free(shared.p);
    REQUIRE(places_new(1, shared.cab, ALL, &shared.p, &error) == TANSU_OK);
    for (uint64_t docno = 0; docno < ALL; docno++)
        if (!CHECK_INT(docno * 2 + 1, get(shared.p, docno)))
            break;
    places_free(shared.p);
    CHECK_OK(cabinet_close(shared.cab, &error), &error);
}

/* remove_chunk -- removes one of the chunks from the cabinet, as damage would. */
static void remove_chunk(cabinet *cab, uint32_t collection, uint64_t number) {
    CHECK_OK(cabinet_begin(cab, &error), &error);
    CHECK_OK(cabinet_remove(cab, CABINET_PLACES, (uint64_t)collection << 40 | number, &error),
             &error);
    CHECK_OK(cabinet_commit(cab, &error), &error);
}

static void a_missing_chunk_is_damage_unless_it_is_a_gap(void) {
    const uint64_t count = 9 * PLACES_CHUNK + 5;
    cabinet *cab = new_cabinet();
    places *p;
    tansu_buffer gaps = TANSU_BUFFER_INIT;
    REQUIRE(places_new(7, cab, 0, &p, &error) == TANSU_OK);
    set(p, 2 * PLACES_CHUNK, 11);
    set(p, 3 * PLACES_CHUNK, 12);
    set(p, 6 * PLACES_CHUNK, 13);
    CHECK_OK(places_prepare(p, 8 * PLACES_CHUNK, &error), &error); /* and taken back */
    CHECK_OK(places_gaps_give(p, count, &gaps, &error), &error);
    CHECK_INT(4 * 16, gaps.size); /* 0 1, 4 5, 7, 9 */
    CHECK_INT(0, load_u64(gaps.data));
    CHECK_INT(2, load_u64(gaps.data + 8));
    CHECK_INT(9, load_u64(gaps.data + 48));
    CHECK_OK(cabinet_begin(cab, &error), &error);
    CHECK_OK(places_checkpoint(p, NULL, &error), &error);
    CHECK_OK(cabinet_commit(cab, &error), &error);
    places_free(p);

    REQUIRE(places_new(7, cab, count, &p, &error) == TANSU_OK);
    CHECK_OK(places_gaps_take(p, gaps.data, gaps.size, &error), &error);
    CHECK_INT(2, places_next_chunk(p, 0, 10));
    CHECK_INT(6, places_next_chunk(p, 4, 10));
    CHECK_INT(10, places_next_chunk(p, 9, 10));
    for (uint64_t docno = 0; docno < count; docno += PLACES_CHUNK / 2)
        CHECK_INT(docno == 2 * PLACES_CHUNK   ? 11
                  : docno == 3 * PLACES_CHUNK ? 12
                  : docno == 6 * PLACES_CHUNK ? 13
                                              : 0,
                  get(p, docno));
    /* What is in a gap may still be filled. */
    set(p, 9 * PLACES_CHUNK + 5, 14);
    CHECK_OK(places_gaps_give(p, count + 1, &gaps, &error), &error);
    CHECK_INT(3 * 16, gaps.size);
    places_free(p);

    for (uint64_t number = 0; number < 9; number++) {
        bool there = number == 2 || number == 3 || number == 6 || number == 8;
        remove_chunk(cab, 7, number);
        REQUIRE(places_new(7, cab, count - 5, &p, &error) == TANSU_OK);
        CHECK_OK(places_gaps_take(p, gaps.data, gaps.size, &error), &error);
        uint64_t place;
        CHECK_STATUS(there ? TANSU_E_CORRUPT : TANSU_OK,
                     places_get(p, number * PLACES_CHUNK, &place, &error));
        CHECK(cabinet_doubted(cab) == (number >= 2));
        places_free(p);
    }
    /* Gaps that make no sense. */
    REQUIRE(places_new(7, cab, count, &p, &error) == TANSU_OK);
    CHECK_STATUS(TANSU_E_CORRUPT, places_gaps_take(p, gaps.data, 15, &error));
    store_u64(gaps.data + 8, 5); /* over the next one */
    CHECK_STATUS(TANSU_E_CORRUPT, places_gaps_take(p, gaps.data, gaps.size, &error));
    store_u64(gaps.data + 8, UINT64_MAX);
    CHECK_STATUS(TANSU_E_CORRUPT, places_gaps_take(p, gaps.data, gaps.size, &error));
    places_free(p);
    tansu_buffer_free(&gaps);
    CHECK_OK(cabinet_close(cab, &error), &error);
}

int main(void) {
    char *folder = folder_new();
    snprintf(file, sizeof(file), "%s/places.tch", folder);
    snprintf(wal, sizeof(wal), "%s.wal", file);
    RUN(what_was_set_is_found);
    RUN(checkpoints_write_what_changed);
    RUN(damaged_chunks_are_errors);
    RUN(readers_and_checkpoints_beside_a_writer);
    RUN(a_missing_chunk_is_damage_unless_it_is_a_gap);
    folder_end(folder);
    return check_finish();
}
