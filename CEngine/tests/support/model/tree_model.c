/*
 * support/model/tree_model.c -- trees compared with a sorted array.
 */
#include "support/model/tree_model.h"
#include "index/tree/rid_suffix.h"
#include "index/tree/tree_block.h"
#include "support/check.h"
#include "util/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* compare -- an item against a key, in memcmp order, the shorter first. */
static int compare(const model_item *a, const uint8_t *key, size_t size) {
    size_t shared = a->size < size ? a->size : size;
    int order = memcmp(a->bytes, key, shared);
    return order != 0 ? order : (a->size > size) - (a->size < size);
}

/* model_rank -- binary search. */
size_t model_rank(const model *m, const uint8_t *key, size_t size) {
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&m->items[middle], key, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* model_has -- the item at that rank is the key. */
static bool model_has(const model *m, size_t rank, const uint8_t *key, size_t size) {
    return rank < m->count && compare(&m->items[rank], key, size) == 0;
}

static uint8_t **pool;
static size_t pool_count, pool_capacity;

/* keep -- notes memory for model_end(). */
static void *keep(void *memory) {
    REQUIRE(memory != NULL);
    if (pool_count == pool_capacity) {
        pool_capacity = pool_capacity * 2 + 64;
        pool = realloc(pool, pool_capacity * sizeof(*pool));
        REQUIRE(pool != NULL);
    }
    return pool[pool_count++] = memory;
}

/* model_end -- every item of every model. */
void model_end(void) {
    for (size_t i = 0; i < pool_count; i++)
        free(pool[i]);
    free(pool);
    pool = NULL;
    pool_count = pool_capacity = 0;
}

/* model_insert -- later items move up. */
bool model_insert(model *m, const uint8_t *key, size_t size) {
    size_t rank = model_rank(m, key, size);
    if (model_has(m, rank, key, size))
        return false;
    if (m->count == m->capacity) {
        m->capacity = m->capacity * 2 + 64;
        m->items = realloc(m->items, m->capacity * sizeof(model_item));
        REQUIRE(m->items != NULL);
    }
    memmove(m->items + rank + 1, m->items + rank, (m->count - rank) * sizeof(model_item));
    m->items[rank].size = (uint32_t)size;
    m->items[rank].bytes = keep(malloc(size));
    memcpy(m->items[rank].bytes, key, size);
    m->count++;
    return true;
}

/* model_remove -- later items move down. */
bool model_remove(model *m, const uint8_t *key, size_t size) {
    size_t rank = model_rank(m, key, size);
    if (!model_has(m, rank, key, size))
        return false;
    m->count--;
    memmove(m->items + rank, m->items + rank + 1, (m->count - rank) * sizeof(model_item));
    return true;
}

/* model_copy -- shares the items' bytes. */
model model_copy(const model *m) {
    model copy = {malloc((m->count + 1) * sizeof(model_item)), m->count, m->count + 1};
    REQUIRE(copy.items != NULL);
    if (m->count > 0)
        memcpy(copy.items, m->items, m->count * sizeof(model_item));
    return copy;
}

/* model_rid -- the last five bytes as a number, without the bits of the form. */
static uint64_t model_rid(const model_item *a) {
    uint64_t rid = 0;
    for (uint32_t i = a->size < 5 ? 0 : a->size - 5; i < a->size; i++)
        rid = rid << 8 | a->bytes[i];
    return rid >> TYPE_TAG_BITS;
}

/* model_key -- of few enough keys that many repeat. */
size_t model_key(random_source *random, enum key_kind kind, uint8_t *key) {
    uint64_t n = random_below(random, 3000);
    size_t size = 0;
    switch (kind) {
    case SHORT_KEYS:
        size = 1 + random_below(random, 7);
        for (size_t i = 0; i < size; i++)
            key[i] = (uint8_t[]){0, 1, 'a', 255}[random_below(random, 4)];
        return size;
    case USUAL_KEYS:
        size = (size_t)snprintf((char *)key, 64, "value %llu", (unsigned long long)(n * 7919));
        memset(key + size, 0, 5);
        store_be32(key + size + 1, (uint32_t)n);
        return size + 5;
    case NEAR_KEYS:
        memcpy(key, "the very same value of a field\0\1\0", 33);
        store_be32(key + 33, (uint32_t)n);
        return 37;
    default:
        size = random_below(random, 100) == 0 ? 70000 : random_below(random, 1500);
        memset(key, 'x', size);
        store_be32(key + size, (uint32_t)n);
        return size + 4;
    }
}

static __thread tansu_error error;

/* cursor_is_on -- key and record id of the entry are the item's. */
static bool cursor_is_on(const tree_cursor *cursor, const model_item *expected) {
    tansu_buffer key = TANSU_BUFFER_INIT;
    REQUIRE(tree_cursor_key(cursor, &key));
    bool same = compare(expected, key.data, key.size) == 0 &&
                tree_cursor_rid(cursor) == model_rid(expected);
    tansu_buffer_free(&key);
    return same;
}

/* model_same -- every entry by a cursor, forwards and backwards, and by the quick way. */
void model_same(tree_store *store, const tree *t, const model *m) {
    if (!CHECK_INT(m->count, t->count) || !CHECK_OK(tree_visit(store, t, NULL, &error), &error))
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

    uint64_t rids[97];
    size_t count = 97;
    CHECK_OK(tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, &error), &error);
    for (i = 0; count == 97;) {
        CHECK_OK(tree_cursor_rids(&cursor, NULL, 0, rids, 97, &count, &error), &error);
        for (size_t j = 0; j < count && i < m->count; j++, i++)
            if (!CHECK_INT(model_rid(&m->items[i]), rids[j]))
                return;
    }
    tree_cursor_end(&cursor);
    CHECK_INT(m->count, i);
}

/* check_found -- what a look-up found is the first item that begins with the bytes. */
static void check_found(const model *m, const uint8_t *bytes, size_t size, bool found,
                        uint64_t rid) {
    size_t expected = model_rank(m, bytes, size);
    bool has = expected < m->count && m->items[expected].size >= size &&
               memcmp(m->items[expected].bytes, bytes, size) == 0;
    CHECK_INT(has, found);
    if (has && found)
        CHECK_INT(model_rid(&m->items[expected]), rid);
}

/* model_same_at -- everything that can be asked about one key. */
void model_same_at(tree_store *store, const tree *t, const model *m, const uint8_t *key,
                   size_t size, const uint8_t *bound, size_t bound_size) {
    size_t expected = model_rank(m, key, size);
    uint64_t rank, rid;
    bool valid, found;
    CHECK_OK(tree_rank(store, t, key, size, &rank, &error), &error);
    CHECK_INT(expected, rank);

    size_t other = model_rank(m, bound, bound_size);
    const tree_range ranges[] = {{key, size, bound, bound_size}, {bound, bound_size, key, size}};
    const size_t counts[] = {other > expected ? other - expected : 0,
                             expected > other ? expected - other : 0};
    for (int i = 0; i < 2; i++) {
        uint64_t count;
        CHECK_OK(tree_count(store, t, &ranges[i], &count, &error), &error);
        CHECK_INT(counts[i], count);
        uint64_t few_rids[7] = {0};
        tree_few few = {.rids = few_rids, .capacity = 7};
        CHECK_OK(tree_count_few(store, t, &ranges[i], &count, &few, &error), &error);
        CHECK_INT(counts[i], count);
        CHECK(!few.complete || few.count == count);
        size_t first = model_rank(m, ranges[i].low, ranges[i].low_size);
        for (uint32_t j = 0; few.complete && j < few.count; j++)
            CHECK_INT(model_rid(&m->items[first + j]), few_rids[j]);
    }

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
    uint64_t rids[50];
    while (count == 50) {
        CHECK_OK(tree_cursor_rids(&cursor, bound, bound_size, rids, 50, &count, &error), &error);
        for (size_t i = 0; i < count; i++, at++)
            if (!CHECK(at < end) || !CHECK_INT(model_rid(&m->items[at]), rids[i]))
                return;
    }
    tree_cursor_end(&cursor);
    CHECK_INT(end > expected ? end : expected, at);

    size_t begin = size / 2 + 1 > size ? size : size / 2 + 1;
    CHECK_OK(tree_find_prefix(store, t, key, begin, &found, &rid, &error), &error);
    check_found(m, key, begin, found, rid);
}

void model_look_up(tree_writer *writer, const tree *t, const model *m, const uint8_t *key,
                   size_t size) {
    bool found;
    uint64_t rid;
    CHECK_OK(tree_look_up(writer, t, key, size, &found, &rid, &error), &error);
    check_found(m, key, size, found, rid);
}

void model_change(tree_writer *writer, tree *t, model *m, const uint8_t *key, size_t size,
                  bool inserts) {
    bool was;
    if (inserts) {
        CHECK_OK(tree_insert(writer, t, key, size, &was, &error), &error);
        CHECK_INT(!model_insert(m, key, size), was);
    } else {
        CHECK_OK(tree_remove(writer, t, key, size, &was, &error), &error);
        CHECK_INT(model_remove(m, key, size), was);
    }
}

/* model_step -- inserts or removes a key, in tree and model. */
void model_step(random_source *random, enum key_kind kind, tree_writer *writer, tree *t, model *m,
                unsigned inserts) {
    static uint8_t key[MODEL_KEY_MAX];
    size_t size = model_key(random, kind, key);
    /* The entry itself, what it begins with, or another. */
    if (random_chance(random, 40))
        model_look_up(writer, t, m, key, 1 + random_below(random, size));
    if (random_chance(random, 5)) {
        static uint8_t other[MODEL_KEY_MAX];
        model_look_up(writer, t, m, other, model_key(random, kind, other));
    }
    model_change(writer, t, m, key, size, random_chance(random, inserts));
    CHECK_INT(m->count, t->count);
}

/* counted_key -- all begin alike. */
size_t counted_key(uint32_t n, uint8_t *to) {
    memcpy(to, "\x40ordered", 8);
    store_be32(to + 8, n);
    return 12;
}

/* next_counted -- from `next` to `count`. */
bool next_counted(void *context, const uint8_t **bytes, size_t *size) {
    counting *c = context;
    if (c->next == c->count)
        return false;
    *size = counted_key(c->next++, c->key);
    *bytes = c->key;
    return true;
}

void tree_model_discard_retired(tree_writer *writer, retire_list *retired, size_t first) {
    for (size_t i = first; i < retired->count; i++) {
        retire_item *item = &retired->items[i];
        if (item->free == block_retired && ((tree_block *)item->object)->epoch >= writer->epoch)
            block_free(writer->store, item->object);
    }
    if (retired->count > first)
        retired->count = first;
}
