/*
 * test_tree.c -- ordered sets of byte strings against a plain sorted array: every operation, several
 * versions at once, aborts, checkpoints, eviction, damaged blocks and concurrent readers.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "index/tree.h"
#include "toolkit/check.h"
#include "toolkit/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The model: a sorted array of byte strings ---- */

typedef struct item {
    uint32_t size;
    uint8_t *bytes; /* never freed before the test's end: models share them */
} item;

typedef struct model {
    item *items;
    size_t count, capacity;
} model;

static int item_compare(const item *a, const uint8_t *key, size_t size) {
    size_t shared = a->size < size ? a->size : size;
    int order = memcmp(a->bytes, key, shared);
    return order != 0 ? order : (a->size > size) - (a->size < size);
}

static size_t model_rank(const model *m, const uint8_t *key, size_t size) {
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (item_compare(&m->items[middle], key, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool model_has(const model *m, size_t rank, const uint8_t *key, size_t size) {
    return rank < m->count && item_compare(&m->items[rank], key, size) == 0;
}

static uint8_t **pool;
static size_t pool_count, pool_capacity;

static void *keep(void *memory) {
    REQUIRE(memory != NULL);
    if (pool_count == pool_capacity) {
        pool_capacity = pool_capacity * 2 + 64;
        pool = realloc(pool, pool_capacity * sizeof(*pool));
        REQUIRE(pool != NULL);
    }
    return pool[pool_count++] = memory;
}

static void empty_pool(void) {
    for (size_t i = 0; i < pool_count; i++)
        free(pool[i]);
    free(pool);
    pool = NULL;
    pool_count = pool_capacity = 0;
}

static bool model_insert(model *m, const uint8_t *key, size_t size) {
    size_t rank = model_rank(m, key, size);
    if (model_has(m, rank, key, size))
        return false;
    if (m->count == m->capacity) {
        m->capacity = m->capacity * 2 + 64;
        m->items = realloc(m->items, m->capacity * sizeof(item));
        REQUIRE(m->items != NULL);
    }
    memmove(m->items + rank + 1, m->items + rank, (m->count - rank) * sizeof(item));
    m->items[rank].size = (uint32_t)size;
    m->items[rank].bytes = keep(malloc(size));
    memcpy(m->items[rank].bytes, key, size);
    m->count++;
    return true;
}

static bool model_remove(model *m, const uint8_t *key, size_t size) {
    size_t rank = model_rank(m, key, size);
    if (!model_has(m, rank, key, size))
        return false;
    m->count--;
    memmove(m->items + rank, m->items + rank + 1, (m->count - rank) * sizeof(item));
    return true;
}

static model model_copy(const model *m) {
    model copy = {malloc((m->count + 1) * sizeof(item)), m->count, m->count + 1};
    REQUIRE(copy.items != NULL);
    if (m->count > 0)
        memcpy(copy.items, m->items, m->count * sizeof(item));
    return copy;
}

static uint64_t model_docno(const item *a) {
    uint64_t docno = 0;
    for (uint32_t i = a->size < 5 ? 0 : a->size - 5; i < a->size; i++)
        docno = docno << 8 | a->bytes[i];
    return docno;
}

/* ---- Keys ---- */

enum key_kind { SHORT_KEYS, USUAL_KEYS, NEAR_KEYS, LONG_KEYS, KEY_KINDS };

static size_t make_key(random_source *random, enum key_kind kind, uint8_t *key) {
    uint64_t n = random_below(random, 3000);
    size_t size = 0;
    switch (kind) {
    case SHORT_KEYS: /* few letters, also 0x00 and 0xFF: many are prefixes of others */
        size = 1 + random_below(random, 7);
        for (size_t i = 0; i < size; i++)
            key[i] = (uint8_t[]){0, 1, 'a', 255}[random_below(random, 4)];
        return size;
    case USUAL_KEYS:
        size = (size_t)snprintf((char *)key, 64, "value %llu", (unsigned long long)(n * 7919));
        memset(key + size, 0, 5);
        store_be32(key + size + 1, (uint32_t)n);
        return size + 5;
    case NEAR_KEYS: /* one value, many documents: nothing but the docno differs */
        memcpy(key, "the very same value of a field\0\1\0", 33);
        store_be32(key + 33, (uint32_t)n);
        return 37;
    default: /* some have hundreds or thousands of bytes and differ at the end only */
        size = random_below(random, 100) == 0 ? 70000 : random_below(random, 1500);
        memset(key, 'x', size);
        store_be32(key + size, (uint32_t)n);
        return size + 4;
    }
}

/* ---- Comparing ---- */

static tansu_error error;

static bool cursor_is_on(const tree_cursor *cursor, const item *expected) {
    tansu_buffer key = TANSU_BUFFER_INIT;
    REQUIRE(tree_cursor_key(cursor, &key));
    bool same = item_compare(expected, key.data, key.size) == 0 &&
                tree_cursor_docno(cursor) == model_docno(expected);
    tansu_buffer_free(&key);
    return same;
}

/* same_both_ways -- every entry by a cursor, forwards and backwards, and by the quick way. */
static void same_both_ways(tree_store *store, const tree *t, const model *m) {
    if (!CHECK_INT(m->count, t->count) || !CHECK_OK(tree_check(store, t, &error), &error))
        return;
    tree_cursor cursor;
    bool valid;
    tree_cursor_init(&cursor, store, t);
    CHECK_OK(tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error), &error);
    size_t i = 0;
    for (; valid && i < m->count; i++) {
        if (!CHECK(cursor_is_on(&cursor, &m->items[i])))
            return;
        CHECK_OK(tree_cursor_next(&cursor, &valid, &error), &error);
    }
    CHECK(!valid && i == m->count);

    if (m->count > 0)
        CHECK_OK(tree_cursor_seek_rank(&cursor, m->count - 1, &valid, &error), &error);
    for (i = m->count; valid && i > 0; i--) {
        if (!CHECK(cursor_is_on(&cursor, &m->items[i - 1])))
            return;
        CHECK_OK(tree_cursor_previous(&cursor, &valid, &error), &error);
    }
    CHECK(!valid && i == 0);

    uint64_t docnos[97];
    size_t count = 97;
    CHECK_OK(tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error), &error);
    for (i = 0; count == 97;) {
        CHECK_OK(tree_cursor_docnos(&cursor, NULL, 0, docnos, 97, &count, &error), &error);
        for (size_t j = 0; j < count && i < m->count; j++, i++)
            if (!CHECK_INT(model_docno(&m->items[i]), docnos[j]))
                return;
    }
    CHECK_INT(m->count, i);
}

/* same_at -- everything that can be asked about one key. */
static void same_at(tree_store *store, const tree *t, const model *m, const uint8_t *key,
                    size_t size, const uint8_t *bound, size_t bound_size) {
    size_t expected = model_rank(m, key, size);
    uint64_t rank, docno;
    bool valid, found;
    CHECK_OK(tree_rank(store, t, key, size, &rank, &error), &error);
    CHECK_INT(expected, rank);

    tree_cursor cursor;
    tree_cursor_init(&cursor, store, t);
    CHECK_OK(tree_cursor_seek_before(&cursor, key, size, &valid, &error), &error);
    CHECK_INT(expected > 0, valid);
    if (valid)
        CHECK(cursor_is_on(&cursor, &m->items[expected - 1]));
    CHECK_OK(tree_cursor_seek_rank(&cursor, expected, &valid, &error), &error);
    CHECK_INT(expected < m->count, valid);
    if (valid)
        CHECK(cursor_is_on(&cursor, &m->items[expected]));
    CHECK_OK(tree_cursor_seek(&cursor, key, size, &valid, &error), &error);
    CHECK_INT(expected < m->count, valid);
    if (valid)
        CHECK(cursor_is_on(&cursor, &m->items[expected]));

    size_t end = model_rank(m, bound, bound_size), at = expected, count = 50;
    uint64_t docnos[50];
    while (count == 50) {
        CHECK_OK(tree_cursor_docnos(&cursor, bound, bound_size, docnos, 50, &count, &error),
                 &error);
        for (size_t i = 0; i < count; i++, at++)
            if (!CHECK(at < end) || !CHECK_INT(model_docno(&m->items[at]), docnos[i]))
                return;
    }
    CHECK_INT(end > expected ? end : expected, at);

    size_t begin = size / 2 + 1 > size ? size : size / 2 + 1;
    expected = model_rank(m, key, begin);
    bool has = expected < m->count && m->items[expected].size >= begin &&
               memcmp(m->items[expected].bytes, key, begin) == 0;
    CHECK_OK(tree_find_prefix(store, t, key, begin, &found, &docno, &error), &error);
    CHECK_INT(has, found);
    if (has && found)
        CHECK_INT(model_docno(&m->items[expected]), docno);
}

/* ---- Versions: what the catalog does with trees ---- */

#define HELD 4

typedef struct version {
    tree t;
    model m;
    retire_list retired; /* by the version that followed */
} version;

static uint8_t key[80000], bound[80000];

/* one_step -- inserts or removes a key, in tree and model. */
static void one_step(random_source *random, enum key_kind kind, tree_writer *writer, tree *t,
                     model *m, unsigned inserts) {
    size_t size = make_key(random, kind, key);
    bool was;
    if (random_chance(random, inserts)) {
        CHECK_OK(tree_insert(writer, t, key, size, &was, &error), &error);
        CHECK_INT(!model_insert(m, key, size), was);
    } else {
        CHECK_OK(tree_remove(writer, t, key, size, &was, &error), &error);
        CHECK_INT(model_remove(m, key, size), was);
    }
    CHECK_INT(m->count, t->count);
}

/* versions_of -- commits of random sizes, some aborted, with the last few versions held and compared. */
static void versions_of(enum key_kind kind, int commits, int most_steps) {
    random_source random = random_start(100 + kind);
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    version held[HELD] = {{.t = {NULL, 0}}};
    size_t newest = 0;
    tree_writer writer = {store, 1, NULL};

    for (int commit = 0; commit < commits && check_failures() == 0; commit++) {
        /* Grows, shrinks to nothing, grows again. */
        unsigned inserts = commit * 3 / commits == 1 ? 20 : 80;
        retire_list retired = {NULL, 0, 0};
        writer.epoch++;
        writer.retired = &retired;
        tree t = held[newest].t;
        model m = model_copy(&held[newest].m);
        uint64_t first = writer.epoch;
        for (uint64_t steps = random_below(&random, (uint64_t)most_steps) + 1; steps > 0; steps--) {
            if (random_chance(&random, 2))
                writer.epoch++; /* as for a statement of its own in a transaction */
            one_step(&random, kind, &writer, &t, &m, inserts);
        }
        if (random_chance(&random, 25)) {
            uint64_t last = writer.epoch;
            writer.epoch = first;
            tree_discard(&writer, &t);
            tree_discard_retired(&writer, &retired, 0);
            CHECK_INT(0, retired.count);
            retire_forget(&retired);
            free(m.items);
            writer.epoch = last;
        } else {
            held[newest].retired = retired;
            newest = (newest + 1) % HELD;
            /* The oldest goes, and with it what its follower had replaced. */
            retire_run(&held[newest].retired);
            free(held[newest].m.items);
            held[newest] = (version){.t = t, .m = m};
        }
        for (int i = 0; i < 5; i++) {
            const version *v = &held[random_below(&random, HELD)];
            size_t size = make_key(&random, kind, key);
            size_t bound_size = make_key(&random, kind, bound);
            same_at(store, &v->t, &v->m, key, size, bound, bound_size);
        }
        if (commit % 16 == 0)
            for (int i = 0; i < HELD; i++)
                same_both_ways(store, &held[i].t, &held[i].m);
    }
    for (size_t i = 0; i < HELD; i++) {
        size_t at = (newest + 1 + i) % HELD;
        same_both_ways(store, &held[at].t, &held[at].m);
        if (at == newest)
            tree_release(store, &held[at].t);
        retire_run(&held[at].retired);
        free(held[at].m.items);
    }
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    empty_pool();
}

static void versions_of_short_keys(void) {
    versions_of(SHORT_KEYS, 150, 80);
}
static void versions_of_usual_keys(void) {
    versions_of(USUAL_KEYS, 150, 80);
}
static void versions_of_near_keys(void) {
    versions_of(NEAR_KEYS, 150, 80);
}
static void versions_of_long_keys(void) {
    versions_of(LONG_KEYS, 60, 30);
}

/* ---- Shapes ---- */

typedef struct counting {
    uint32_t next, count;
    uint8_t key[16];
} counting;

static size_t counted_key(uint32_t n, uint8_t *to) {
    memcpy(to, "\x40ordered", 8);
    store_be32(to + 8, n);
    return 12;
}

static bool next_counted(void *context, const uint8_t **bytes, size_t *size) {
    counting *c = context;
    if (c->next == c->count)
        return false;
    *size = counted_key(c->next++, c->key);
    *bytes = c->key;
    return true;
}

static void rising_keys_fill_the_blocks(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    tree t = {NULL, 0};
    uint32_t count = 50000;
    for (uint32_t i = 0; i < count; i++) {
        writer.epoch++;
        size_t size = counted_key(i, key);
        CHECK_OK(tree_insert(&writer, &t, key, size, NULL, &error), &error);
        retire_run(&retired);
    }
    CHECK_OK(tree_check(store, &t, &error), &error);
    /* A slot, a length byte and at most four bytes each, and little else. */
    CHECK(tree_store_memory(store) < count * 15);
    uint64_t rank;
    size_t size = counted_key(31234, key);
    CHECK_OK(tree_rank(store, &t, key, size, &rank, &error), &error);
    CHECK_INT(31234, rank);
    /* Taking all out in the same order leaves nothing behind. */
    for (uint32_t i = 0; i < count; i++) {
        bool found;
        writer.epoch += i % 3;
        size = counted_key(i, key);
        CHECK_OK(tree_remove(&writer, &t, key, size, &found, &error), &error);
        if (!CHECK(found))
            break;
        if (i % 1000 == 0)
            CHECK_OK(tree_check(store, &t, &error), &error);
    }
    CHECK(t.root == NULL && t.count == 0);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

static void built_trees_are_like_others(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    for (uint32_t count = 0; count < 30000; count = count * 3 + 1) {
        tree t;
        counting source = {.count = count};
        writer.epoch++;
        CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);
        CHECK_INT(count, t.count);
        CHECK_OK(tree_check(store, &t, &error), &error);
        model m = {NULL, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            size_t size = counted_key(i, key);
            model_insert(&m, key, size);
        }
        same_both_ways(store, &t, &m);
        random_source random = random_start(7);
        for (int i = 0; i < 300; i++) {
            size_t size = counted_key((uint32_t)random_below(&random, count + 1000), key);
            bool was;
            CHECK_OK(tree_insert(&writer, &t, key, size, &was, &error), &error);
            CHECK_INT(!model_insert(&m, key, size), was);
        }
        same_both_ways(store, &t, &m);
        tree_release(store, &t);
        free(m.items);
        empty_pool();
    }
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

static void huge_and_empty_keys(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    tree t = {NULL, 0};
    size_t size = 3 * 1024 * 1024;
    uint8_t *huge = malloc(size);
    REQUIRE(huge != NULL);
    memset(huge, 'h', size);
    for (int i = 0; i < 12; i++) { /* they differ in their last byte only */
        huge[size - 1] = (uint8_t)(i * 5 % 12);
        if (i % 4 == 0)
            writer.epoch++;
        CHECK_OK(tree_insert(&writer, &t, huge, size, NULL, &error), &error);
    }
    CHECK_OK(tree_check(store, &t, &error), &error);
    CHECK_INT(12, t.count);
    for (int i = 0; i < 12; i++) {
        uint64_t rank;
        bool found;
        huge[size - 1] = (uint8_t)i;
        CHECK_OK(tree_rank(store, &t, huge, size, &rank, &error), &error);
        CHECK_INT(0, rank);
        CHECK_OK(tree_remove(&writer, &t, huge, size, &found, &error), &error);
        CHECK(found);
    }
    CHECK(t.root == NULL);
    CHECK_STATUS(TANSU_E_TOO_LARGE, tree_insert(&writer, &t, huge, 0, NULL, &error));
    free(huge);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

/* ---- With a cabinet ---- */

static char folder[64], path[96], wal[100];

static cabinet *new_cabinet(void) {
    cabinet *cab;
    unlink(path);
    unlink(wal);
    REQUIRE(cabinet_open(path, true, false, &cab, &error) == TANSU_OK);
    return cab;
}

/* checkpoint -- as the catalog does it: free numbers out, new blocks in; `fails`: rolled back. */
static uint64_t checkpoint(tree_store *store, cabinet *cab, const tree *t, bool fails) {
    uint64_t root = 0, written, *numbers;
    size_t count;
    CHECK_OK(tree_store_take_free(store, &numbers, &count, &error), &error);
    CHECK_OK(cabinet_begin(cab, &error), &error);
    for (size_t i = 0; i < count; i++)
        CHECK_OK(cabinet_remove(cab, CABINET_BLOCK, numbers[i], &error), &error);
    CHECK_OK(tree_checkpoint(store, t, &root, &written, &error), &error);
    if (fails) {
        cabinet_abort(cab);
        tree_store_give_free(store, numbers, count);
        tree_checkpoint_failed(store);
    } else {
        CHECK_OK(cabinet_commit(cab, &error), &error);
        tree_checkpoint_done(store);
    }
    free(numbers);
    return root;
}

/* stored_blocks -- how many blocks the cabinet has. */
static size_t stored_blocks(tree_store *store, cabinet *cab) {
    size_t blocks = 0;
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (uint64_t i = 1; i < tree_store_next_block(store); i++)
        blocks += cabinet_get(cab, CABINET_BLOCK, i, &record, NULL) == TANSU_OK;
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
    cabinet *cab = new_cabinet();
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    tree_store_attach(store, cab, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    tree t = {NULL, 0};
    model m = {NULL, 0, 0};
    for (int round = 0; round < 40 && check_failures() == 0; round++) {
        writer.epoch++;
        for (int i = 0; i < 150; i++)
            one_step(&random, USUAL_KEYS, &writer, &t, &m, round < 25 ? 80 : 30);
        retire_run(&retired);
        uint64_t root = checkpoint(store, cab, &t, round % 4 == 1);
        if (round % 4 == 1) {
            CHECK_INT(0, t.root == NULL ? 0 : tree_root_block(&t));
            continue;
        }
        /* Removed numbers leave the cabinet one checkpoint later, for they were retired before it:
         * so it has exactly the blocks of this tree. */
        CHECK_INT(reachable_blocks(store, &t), stored_blocks(store, cab));
        if (round % 5 != 0)
            continue;
        uint64_t next = tree_store_next_block(store);
        tree_release(store, &t);
        CHECK_INT(0, tree_store_memory(store));
        tree_store_free(store);
        CHECK_OK(cabinet_close(cab, &error), &error);
        REQUIRE(cabinet_open(path, false, false, &cab, &error) == TANSU_OK);
        REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
        tree_store_attach(store, cab, next);
        writer.store = store;
        CHECK_OK(tree_open(store, root, m.count, &t, &error), &error);
        same_both_ways(store, &t, &m);
    }
    writer.epoch++;
    CHECK_OK(tree_retire_all(store, &t, &retired, &error), &error);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree nothing = {NULL, 0};
    CHECK_INT(0, checkpoint(store, cab, &nothing, false));
    CHECK_INT(0, stored_blocks(store, cab));
    tree_store_free(store);
    CHECK_OK(cabinet_close(cab, &error), &error);
    free(m.items);
    empty_pool();
}

static void evicted_blocks_come_back(void) {
    cabinet *cab = new_cabinet();
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    tree_store_attach(store, cab, 1);
    retire_list retired = {NULL, 0, 0}, evicted = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    tree t;
    counting source = {.count = 20000};
    CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);

    /* What was not stored, or not for good, stays. */
    uint64_t before = tree_store_memory(store);
    CHECK_OK(tree_evict(store, &t, 0, &evicted, &error), &error);
    CHECK_INT(0, evicted.count);
    CHECK_OK(cabinet_begin(cab, &error), &error);
    uint64_t root;
    CHECK_OK(tree_checkpoint(store, &t, &root, NULL, &error), &error);
    CHECK_OK(tree_evict(store, &t, 0, &evicted, &error), &error);
    CHECK_INT(0, evicted.count);
    CHECK_OK(cabinet_commit(cab, &error), &error);
    tree_checkpoint_done(store);

    /* A cursor goes on through leaves that are evicted under it. */
    tree_cursor cursor;
    tree_cursor_init(&cursor, store, &t);
    bool valid;
    CHECK_OK(tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error), &error);
    for (uint32_t i = 0; i < source.count; i++) {
        if (!CHECK(valid) || !CHECK_INT((uint64_t)'d' << 32 | i, tree_cursor_docno(&cursor)))
            break;
        if (i % 1000 == 0) {
            CHECK_OK(tree_evict(store, &t, 0, &evicted, &error), &error);
            CHECK(tree_store_memory(store) < before / 8);
        }
        CHECK_OK(tree_cursor_next(&cursor, &valid, &error), &error);
    }
    CHECK(evicted.count > 0);
    retire_run(&evicted);
    CHECK_OK(tree_check(store, &t, &error), &error);
    CHECK(tree_store_memory(store) > before / 2);
    CHECK_OK(tree_evict(store, &t, before / 2, &evicted, &error), &error);
    CHECK(tree_store_memory(store) <= before / 2);
    CHECK(tree_store_memory(store) > before / 4);
    retire_run(&evicted);

    /* A writer loads what it needs. */
    writer.epoch++;
    for (uint32_t i = 0; i < source.count; i += 7) {
        size_t size = counted_key(i, key);
        bool found;
        CHECK_OK(tree_remove(&writer, &t, key, size, &found, &error), &error);
        CHECK(found);
    }
    CHECK_OK(tree_check(store, &t, &error), &error);
    retire_run(&retired);
    tree_release(store, &t);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    CHECK_OK(cabinet_close(cab, &error), &error);
}

/* read_all -- reads a tree in all ways and says whether any reading found damage. */
static bool read_all(tree_store *store, const tree *t) {
    bool valid, found;
    uint64_t docno;
    tree_cursor cursor;
    tree_cursor_init(&cursor, store, t);
    tansu_status status = tree_check(store, t, &error);
    bool damaged = status == TANSU_E_CORRUPT;
    CHECK(damaged || status == TANSU_OK);
    for (uint32_t i = 0; i < 3000; i += 97) {
        size_t size = counted_key(i, key);
        status = tree_find_prefix(store, t, key, size, &found, &docno, &error);
        CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
        status = tree_rank(store, t, key, size, &docno, &error);
        CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
    }
    status = tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error);
    for (int i = 0; i < 5000 && status == TANSU_OK && valid; i++) {
        tree_cursor_docno(&cursor);
        tansu_buffer whole = TANSU_BUFFER_INIT;
        CHECK(tree_cursor_key(&cursor, &whole));
        tansu_buffer_free(&whole);
        status = tree_cursor_next(&cursor, &valid, &error);
    }
    CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
    return damaged;
}

/* Records whose checksum is right but whose bytes are not: what a hostile file may hold. */
static void damaged_blocks_are_errors(void) {
    random_source random = random_start(2);
    cabinet *cab = new_cabinet();
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    tree_store_attach(store, cab, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {store, 1, &retired};
    tree t;
    counting source = {.count = 3000};
    CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);
    uint64_t root = checkpoint(store, cab, &t, false);
    uint64_t blocks = tree_store_next_block(store);
    tree_release(store, &t);

    int damaged = 0;
    for (int round = 0; round < 400; round++) {
        uint64_t number = round % 3 == 0 ? root : 1 + random_below(&random, blocks - 1);
        tansu_buffer good = TANSU_BUFFER_INIT, bad = TANSU_BUFFER_INIT;
        REQUIRE(cabinet_get(cab, CABINET_BLOCK, number, &good, &error) == TANSU_OK);
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
        default:
            size = random_below(&random, size);
        }
        CHECK_OK(cabinet_begin(cab, &error), &error);
        CHECK_OK(cabinet_put(cab, CABINET_BLOCK, number, bad.data, size, &error), &error);
        CHECK_OK(cabinet_commit(cab, &error), &error);
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
        CHECK_OK(cabinet_begin(cab, &error), &error);
        CHECK_OK(cabinet_put(cab, CABINET_BLOCK, number, good.data, good.size, &error), &error);
        CHECK_OK(cabinet_commit(cab, &error), &error);
        tansu_buffer_free(&good);
        tansu_buffer_free(&bad);
    }
    CHECK(damaged > 200);
    CHECK_OK(tree_open(store, root, source.count, &t, &error), &error);
    CHECK_OK(tree_check(store, &t, &error), &error);
    tree_release(store, &t);
    CHECK_OK(tree_open(store, root, source.count + 1, &t, &error), &error);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_check(store, &t, &error));
    tree_release(store, &t);
    CHECK_OK(tree_open(store, blocks + 5, 1, &t, &error), &error);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_check(store, &t, &error));
    tree_release(store, &t);
    CHECK_STATUS(TANSU_E_CORRUPT, tree_open(store, 0, 1, &t, &error));
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    CHECK_OK(cabinet_close(cab, &error), &error);
}

/* ---- Threads ---- */

#define READERS  3
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
        uint64_t docno;
        const tree *t = &shared.versions[v];
        CHECK_STATUS(TANSU_OK,
                     tree_find_prefix(shared.store, t, own, size, &found, &docno, NULL));
        CHECK_INT(n % (unsigned)(v + 2) != 0, found);
        uint64_t docnos[256];
        size_t count = 256, total = 0;
        tree_cursor cursor;
        bool valid;
        tree_cursor_init(&cursor, shared.store, t);
        CHECK_STATUS(TANSU_OK, tree_cursor_seek(&cursor, own, 1, &valid, NULL));
        while (count == 256) {
            CHECK_STATUS(TANSU_OK,
                         tree_cursor_docnos(&cursor, NULL, 0, docnos, 256, &count, NULL));
            total += count;
        }
        CHECK_INT(t->count, total);
    } while (!atomic_load(&shared.done));
    return NULL;
}

static void *checkpoint_and_evict(void *context) {
    cabinet *cab = context;
    retire_list evicted = {NULL, 0, 0};
    do {
        const tree *t = &shared.versions[atomic_load(&shared.published) - 1];
        uint64_t root;
        CHECK_STATUS(TANSU_OK, cabinet_begin(cab, NULL));
        CHECK_STATUS(TANSU_OK, tree_checkpoint(shared.store, t, &root, NULL, NULL));
        if (atomic_load(&shared.published) % 3 == 0) {
            cabinet_abort(cab);
            tree_checkpoint_failed(shared.store);
        } else {
            CHECK_STATUS(TANSU_OK, cabinet_commit(cab, NULL));
            tree_checkpoint_done(shared.store);
        }
        CHECK_STATUS(TANSU_OK, tree_evict(shared.store, t, 0, &evicted, NULL));
    } while (!atomic_load(&shared.done));
    /* The caller runs it when no reader is left. */
    retire_list *kept = malloc(sizeof(*kept));
    REQUIRE(kept != NULL);
    *kept = evicted;
    return kept;
}

static void readers_and_a_checkpoint_beside_a_writer(void) {
    cabinet *cab = new_cabinet();
    REQUIRE(tree_store_new(&shared.store, &error) == TANSU_OK);
    tree_store_attach(shared.store, cab, 1);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {shared.store, 1, &retired};
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
            REQUIRE(pthread_create(&keeper, NULL, checkpoint_and_evict, cab) == 0);
    }
    usleep(100000);
    atomic_store(&shared.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    void *kept;
    pthread_join(keeper, &kept);
    retire_run(kept);
    free(kept);
    CHECK_OK(tree_check(shared.store, &t, &error), &error);
    retire_run(&retired);
    tree_release(shared.store, &t);
    CHECK_INT(0, tree_store_memory(shared.store));
    tree_store_free(shared.store);
    CHECK_OK(cabinet_close(cab, &error), &error);
}

int main(void) {
    snprintf(folder, sizeof(folder), "/tmp/tansu-tree-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/blocks.tch", folder);
    snprintf(wal, sizeof(wal), "%s.wal", path);
    RUN(versions_of_short_keys);
    RUN(versions_of_usual_keys);
    RUN(versions_of_near_keys);
    RUN(versions_of_long_keys);
    RUN(rising_keys_fill_the_blocks);
    RUN(built_trees_are_like_others);
    RUN(huge_and_empty_keys);
    RUN(checkpoints_keep_everything);
    RUN(evicted_blocks_come_back);
    RUN(damaged_blocks_are_errors);
    RUN(readers_and_a_checkpoint_beside_a_writer);
    unlink(path);
    unlink(wal);
    rmdir(folder);
    return check_finish();
}
