/*
 * test_tree_checkpoint.c -- trees in a block store: checkpoints, eviction, damaged blocks, and
 * readers and a checkpoint concurrently with a writer.
 */
#include "index/tree/rid_suffix.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/tree_model.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tansu_error error;
static uint8_t key[64];

static char path[1024], wal[1032]; /* in a temporary folder */

static block_store *new_block_store(void) {
    block_store *bs;
    unlink(path);
    unlink(wal);
    REQUIRE(block_store_open(&fs_system, path, BLOCK_STORE_CREATE, NULL, &bs, &error) == TANSU_OK);
    return bs;
}

/* new_store -- a tree store for the blocks of a block store; `next`: the number that the next block
 * gets. */
static tree_store *new_store(block_store *bs, uint64_t next) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    tree_store_attach(store, bs, next);
    return store;
}

/* checkpoint -- as the catalog does it: free numbers out, new blocks in; `fails`: rolled back. */
static uint64_t checkpoint(tree_store *store, block_store *bs, const tree *t, bool fails) {
    uint64_t root = 0, written, *numbers;
    size_t count;
    CHECK_OK(tree_store_take_free(store, &numbers, &count, &error), &error);
    CHECK_OK(block_store_begin(bs, &error), &error);
    for (size_t i = 0; i < count; i++)
        CHECK_OK(block_store_remove(bs, BLOCK_STORE_BLOCK, numbers[i], &error), &error);
    CHECK_OK(tree_checkpoint(store, t, &root, &written, &error), &error);
    if (fails) {
        block_store_abort(bs);
        tree_store_return_free(store, numbers, count);
        tree_checkpoint_failed(store);
    } else {
        CHECK_OK(block_store_commit(bs, &error), &error);
        tree_checkpoint_done(store);
    }
    free(numbers);
    return root;
}

/* stored_blocks -- how many blocks the block store has. */
static size_t stored_blocks(tree_store *store, block_store *bs) {
    size_t blocks = 0;
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (uint64_t i = 1; i < tree_store_next_block(store); i++)
        blocks += block_store_get(bs, BLOCK_STORE_BLOCK, i, &record, NULL) == TANSU_OK;
    tansu_buffer_free(&record);
    return blocks;
}

/* reachable_blocks -- how many blocks a tree has: all numbers that retiring it would free. */
static size_t reachable_blocks(tree_store *store, const tree *t) {
    retire_list all = {NULL, 0, 0};
    CHECK_OK(tree_retire_all(store, t, &all, &error), &error);
    size_t count = all.count;
    retire_forget(&all);
    return count;
}

static void checkpoints_keep_everything(void) {
    random_source random = random_start(1);
    block_store *bs = new_block_store();
    tree_store *store = new_store(bs, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    model m = {NULL, 0, 0};
    for (int round = 0; round < 40 && check_failures() == 0; round++) {
        writer.epoch++;
        for (int i = 0; i < 150; i++)
            model_step(&random, USUAL_KEYS, &writer, &t, &m, round < 25 ? 80 : 30);
        retire_run(&retired);
        uint64_t root = checkpoint(store, bs, &t, round % 4 == 1);
        if (round % 4 == 1) {
            CHECK_INT(0, t.root == NULL ? 0 : tree_root_block(&t));
            continue;
        }
        /* Removed numbers leave the block store one checkpoint later, for they were retired
         * before it: so it has exactly the blocks of this tree. */
        CHECK_INT(reachable_blocks(store, &t), stored_blocks(store, bs));
        if (round % 5 != 0)
            continue;
        uint64_t next = tree_store_next_block(store);
        tree_release(store, &t);
        CHECK_INT(0, tree_store_memory(store));
        tree_store_free(store);
        CHECK_OK(block_store_close(bs, &error), &error);
        REQUIRE(block_store_open(&fs_system, path, 0, NULL, &bs, &error) == TANSU_OK);
        store = new_store(bs, next);
        writer.store = store;
        CHECK_OK(tree_open(store, root, m.count, &t, &error), &error);
        model_same(store, &t, &m);
    }
    writer.epoch++;
    CHECK_OK(tree_retire_all(store, &t, &retired, &error), &error);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree nothing = {NULL, 0};
    CHECK_INT(0, checkpoint(store, bs, &nothing, false));
    CHECK_INT(0, stored_blocks(store, bs));
    tree_store_free(store);
    CHECK_OK(block_store_close(bs, &error), &error);
    free(m.items);
    model_end();
}

/* evict -- twice around: the first time only takes the marks of use off. */
static void evict(tree_store *store, const tree *t, uint64_t limit) {
    for (int round = 0; round < 2; round++)
        (void)tree_evict(store, t, 0, limit);
}

static void evicted_blocks_come_back(void) {
    block_store *bs = new_block_store();
    tree_store *store = new_store(bs, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t;
    counting source = {.count = 20000};
    CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);

    /* What was not stored, or not for good, stays. */
    uint64_t before = tree_store_memory(store);
    evict(store, &t, 0);
    CHECK_INT(before, tree_store_memory(store));
    CHECK(tree_store_dirty(store) > before * 9 / 10);
    CHECK_OK(block_store_begin(bs, &error), &error);
    uint64_t root;
    CHECK_OK(tree_checkpoint(store, &t, &root, NULL, &error), &error);
    evict(store, &t, 0);
    CHECK_INT(before, tree_store_memory(store));
    CHECK_OK(block_store_commit(bs, &error), &error);
    tree_checkpoint_done(store);
    CHECK_INT(0, tree_store_dirty(store));

    /* A cursor goes on through leaves that are evicted under it. */
    tree_cursor cursor;
    tree_cursor_init(&cursor, store, &t);
    bool valid;
    CHECK_OK(tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error), &error);
    for (uint32_t i = 0; i < source.count; i++) {
        if (!CHECK(valid) ||
            !CHECK_INT(((uint64_t)'d' << 32 | i) >> TYPE_TAG_BITS, tree_cursor_rid(&cursor)))
            break;
        if (i % 1000 == 0) {
            evict(store, &t, 0);
            CHECK(tree_store_memory(store) < before / 8);
        }
        CHECK_OK(tree_cursor_next(&cursor, &valid, &error), &error);
    }
    tree_cursor_end(&cursor);
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    CHECK(tree_store_memory(store) > before / 2);
    evict(store, &t, before / 2);
    CHECK(tree_store_memory(store) <= before / 2);
    CHECK(tree_store_memory(store) > before / 4);

    /* A writer loads what it needs. */
    writer.epoch++;
    for (uint32_t i = 0; i < source.count; i += 7) {
        size_t size = counted_key(i, key);
        bool found;
        CHECK_OK(tree_remove(&writer, &t, key, size, &found, &error), &error);
        CHECK(found);
    }
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    retire_run(&retired);
    tree_release(store, &t);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* read_all -- reads a tree in all ways and says whether any reading found damage. */
static bool read_all(tree_store *store, const tree *t) {
    bool valid, found;
    uint64_t rid;
    tree_cursor cursor;
    tree_cursor_init(&cursor, store, t);
    tansu_status status = tree_visit(store, t, NULL, &error);
    bool damaged = status == TANSU_E_CORRUPT;
    CHECK(damaged || status == TANSU_OK);
    for (uint32_t i = 0; i < 3000; i += 97) {
        size_t size = counted_key(i, key);
        status = tree_find_prefix(store, t, key, size, &found, &rid, &error);
        CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
        status = tree_rank(store, t, key, size, &rid, &error);
        CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
        uint8_t other[64];
        const tree_range range = {key, size, other, counted_key(3000 - i, other)};
        status = tree_count(store, t, &range, &rid, &error);
        CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
    }
    status = tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error);
    for (int i = 0; i < 5000 && status == TANSU_OK && valid; i++) {
        tree_cursor_rid(&cursor);
        tansu_buffer whole = TANSU_BUFFER_INIT;
        CHECK(tree_cursor_key(&cursor, &whole));
        tansu_buffer_free(&whole);
        status = tree_cursor_next(&cursor, &valid, &error);
    }
    tree_cursor_end(&cursor);
    CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
    return damaged;
}

/* Records whose checksum is right but whose bytes are not: what a hostile file may hold. */
static void damaged_blocks_are_errors(void) {
    random_source random = random_start(2);
    block_store *bs = new_block_store();
    tree_store *store = new_store(bs, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t;
    counting source = {.count = 3000};
    CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);
    uint64_t root = checkpoint(store, bs, &t, false);
    uint64_t blocks = tree_store_next_block(store);
    tree_release(store, &t);

    int damaged = 0;
    for (int round = 0; round < 200; round++) {
        uint64_t number = round % 3 == 0 ? root : 1 + random_below(&random, blocks - 1);
        tansu_buffer good = TANSU_BUFFER_INIT, bad = TANSU_BUFFER_INIT;
        REQUIRE(block_store_get(bs, BLOCK_STORE_BLOCK, number, &good, &error) == TANSU_OK);
        REQUIRE(buffer_set(&bad, good.data, good.size));
        size_t size = bad.size;
        switch (random_below(&random, 4)) {
        case 0: /* a byte of the head or of the first slots */
            bad.data[random_below(&random, 64)] ^= (uint8_t)(1 + random_below(&random, 255));
            break;
        case 1: /* any byte */
            bad.data[random_below(&random, size)] = (uint8_t)random_next(&random);
            break;
        case 2: /* a word of the head */
            store_u32(bad.data + 4 + 4 * random_below(&random, 5),
                      (uint32_t)random_next(&random) >> random_below(&random, 32));
            break;
        default: size = random_below(&random, size);
        }
        CHECK_OK(block_store_begin(bs, &error), &error);
        CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, number, bad.data, size, &error), &error);
        CHECK_OK(block_store_commit(bs, &error), &error);
        CHECK_OK(tree_open(store, root, source.count, &t, &error), &error);
        damaged += read_all(store, &t);
        bool found;
        key[0] = 0;
        for (uint32_t i = 0; i < 3000; i += 61) {
            size_t key_size = counted_key(i, key);
            writer.epoch = 2;
            tansu_status status = tree_remove(&writer, &t, key, key_size, &found, &error);
            CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
            status = tree_insert(&writer, &t, key, key_size - 1, &found, &error);
            CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
        }
        retire_run(&retired);
        tree_release(store, &t);
        CHECK_OK(block_store_begin(bs, &error), &error);
        CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, number, good.data, good.size, &error),
                 &error);
        CHECK_OK(block_store_commit(bs, &error), &error);
        tansu_buffer_free(&good);
        tansu_buffer_free(&bad);
    }
    CHECK(damaged > 80);
    CHECK_OK(tree_open(store, root, source.count, &t, &error), &error);
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    tree_release(store, &t);
    CHECK_OK(tree_open(store, root, source.count + 1, &t, &error), &error);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_visit(store, &t, NULL, &error));
    tree_release(store, &t);
    CHECK_OK(tree_open(store, blocks + 5, 1, &t, &error), &error);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_visit(store, &t, NULL, &error));
    tree_release(store, &t);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_open(store, 0, 1, &t, &error));
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* A look-up notes the way. Before the change that takes it the leaf is evicted, and maybe loaded
 * again, perhaps at another address or where another leaf was; or another key is changed. */
static void look_ups_stay_right_without_their_leaf(void) {
    random_source random = random_start(7);
    block_store *bs = new_block_store();
    tree_store *store = new_store(bs, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    model m = {NULL, 0, 0};
    for (uint32_t i = 0; i < 6000; i += 2)
        model_change(&writer, &t, &m, key, counted_key(i, key), true);
    for (int round = 0; round < 30 && check_failures() == 0; round++) {
        checkpoint(store, bs, &t, false);
        writer.epoch++;
        for (int i = 0; i < 40; i++) {
            uint32_t n = (uint32_t)random_below(&random, 6100);
            size_t size = counted_key(n, key);
            model_look_up(&writer, &t, &m, key, size - (size_t)random_below(&random, 2));
            if (random_chance(&random, 60))
                evict(store, &t, 0);
            if (random_chance(&random, 50)) {
                uint32_t other = (uint32_t)random_below(&random, 6100);
                uint64_t rank;
                size = counted_key(other, key);
                CHECK_OK(tree_rank(store, &t, key, size, &rank, &error), &error);
                CHECK_INT(model_rank(&m, key, size), rank);
            }
            if (random_chance(&random, 10))
                n += (uint32_t)random_below(&random, 3);
            model_change(&writer, &t, &m, key, counted_key(n, key), random_chance(&random, 50));
        }
        model_same(store, &t, &m);
        retire_run(&retired);
    }
    tree_release(store, &t);
    CHECK_INT(0, tree_store_memory(store));
    CHECK_INT(0, tree_store_dirty(store));
    tree_store_free(store);
    CHECK_OK(block_store_close(bs, &error), &error);
    free(m.items);
    model_end();
}

/* ---- Threads ---- */

#define READERS 3
#define VERSIONS 16

/* Versions that the writer has published; all are held to the end, so that readers may use any. */
typedef struct shared_state {
    tree_store *store;
    tree versions[VERSIONS];
    atomic_int published;
    atomic_bool done;
} shared_state;

static shared_state shared;

/* Version v has the keys 0 … 500 * (v + 1) - 1, but for the multiples of v + 2. */
static void *read_versions(void *context) {
    random_source random = random_start(20 + (uint64_t)(uintptr_t)context);
    uint8_t own[16];
    do {
        int v = (int)random_below(&random, (uint64_t)atomic_load(&shared.published));
        uint32_t n = (uint32_t)random_below(&random, 500u * (unsigned)(v + 1));
        size_t size = counted_key(n, own);
        bool found = false;
        uint64_t rid;
        const tree *t = &shared.versions[v];
        CHECK_STATUS(TANSU_OK, tree_find_prefix(shared.store, t, own, size, &found, &rid, NULL));
        CHECK_INT(n % (unsigned)(v + 2) != 0, found);
        uint64_t rids[256];
        size_t count = 256, total = 0;
        tree_cursor cursor;
        bool valid;
        tree_cursor_init(&cursor, shared.store, t);
        CHECK_STATUS(TANSU_OK, tree_cursor_seek(&cursor, own, 1, &valid, NULL));
        while (count == 256) {
            CHECK_STATUS(TANSU_OK, tree_cursor_rids(&cursor, NULL, 0, rids, 256, &count, NULL));
            total += count;
        }
        tree_cursor_end(&cursor);
        CHECK_INT(t->count, total);
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void *checkpoint_and_evict(void *context) {
    block_store *bs = context;
    do {
        const tree *t = &shared.versions[atomic_load(&shared.published) - 1];
        uint64_t root;
        CHECK_STATUS(TANSU_OK, block_store_begin(bs, NULL));
        CHECK_STATUS(TANSU_OK, tree_checkpoint(shared.store, t, &root, NULL, NULL));
        if (atomic_load(&shared.published) % 3 == 0) {
            block_store_abort(bs);
            tree_checkpoint_failed(shared.store);
        } else {
            CHECK_STATUS(TANSU_OK, block_store_commit(bs, NULL));
            tree_checkpoint_done(shared.store);
        }
        evict(shared.store, t, 0);
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void readers_and_a_checkpoint_concurrent_with_a_writer(void) {
    block_store *bs = new_block_store();
    shared.store = new_store(bs, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = shared.store, .epoch = 1, .retired = &retired};
    pthread_t readers[READERS], keeper;
    tree t = {NULL, 0};
    for (int v = 0; v < VERSIONS; v++) {
        bool was;
        writer.epoch++;
        for (uint32_t n = 0; n < 500u * (unsigned)(v + 1); n++) {
            size_t size = counted_key(n, key);
            if (n % (unsigned)(v + 2) == 0)
                CHECK_OK(tree_remove(&writer, &t, key, size, &was, &error), &error);
            else
                CHECK_OK(tree_insert(&writer, &t, key, size, &was, &error), &error);
        }
        shared.versions[v] = t;
        atomic_store(&shared.published, v + 1);
        for (int i = 0; v == 0 && i < READERS; i++)
            REQUIRE(pthread_create(&readers[i], NULL, read_versions, (void *)(uintptr_t)i) == 0);
        if (v == 0)
            REQUIRE(pthread_create(&keeper, NULL, checkpoint_and_evict, bs) == 0);
    }
    usleep(100000);
    atomic_store(&shared.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(keeper, NULL);
    CHECK_OK(tree_visit(shared.store, &t, NULL, &error), &error);
    retire_run(&retired);
    tree_release(shared.store, &t);
    CHECK_INT(0, tree_store_memory(shared.store));
    tree_store_free(shared.store);
    CHECK_OK(block_store_close(bs, &error), &error);
}

int main(void) {
    char *folder = folder_new();
    snprintf(path, sizeof(path), "%s/blocks.tch", folder);
    snprintf(wal, sizeof(wal), "%s.wal", path);
    RUN(checkpoints_keep_everything);
    RUN(evicted_blocks_come_back);
    RUN(look_ups_stay_right_without_their_leaf);
    RUN(damaged_blocks_are_errors);
    RUN(readers_and_a_checkpoint_concurrent_with_a_writer);
    folder_end(folder);
    return check_finish();
}
