/*
 * test_tree_stored.c -- the stored form of index blocks: every block that is encoded is decoded to
 * the same, and any bytes to a block that can be read, or to an error.
 */
#include "index/tree/rid_suffix.h"
#include "index/tree/tree_block.h"
#include "index/tree/tree_change.h"
#include "support/check.h"
#include "support/model/tree_model.h"
#include "util/buffer.h"

#include <stdlib.h>
#include <string.h>

#define STRINGS_MOST 400

static tansu_error error;
static tree_store *store;
static uint8_t bytes[MODEL_KEY_MAX];

/* page_valid -- everything that reading a page relies on: sizes first, then each slot. */
static bool page_valid(const uint8_t *bytes, size_t size) {
    tree_page head;
    if (size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    const tree_page *page = (const tree_page *)(const void *)bytes;
    uint64_t front = sizeof(head) + (((uint64_t)head.prefix_size + 3) & ~(uint64_t)3) +
                     (uint64_t)head.count * sizeof(tree_slot);
    if (head.capacity > size || front + head.heap > head.capacity || head.dead > head.heap)
        return false;
    const tree_slot *slots = page_slots(page);
    uint64_t used = 0;
    for (uint32_t i = 0; i < head.count; i++) {
        uint32_t offset = slots[i].offset;
        if (offset == 0 || offset > head.heap)
            return false;
        const uint8_t *at = bytes + head.capacity - offset;
        if (at[0] >= 0x80 && offset < 4)
            return false;
        uint32_t suffix_size;
        const uint8_t *suffix = page_suffix(page, i, &suffix_size);
        if (page_entry_size(suffix_size) > offset || (at[0] >= 0x80 && suffix_size < 0x80) ||
            page_head(suffix, suffix_size) != slots[i].head)
            return false;
        used += page_entry_size(suffix_size);
    }
    return used == head.heap - head.dead;
}

/* ---- Pages of all shapes ---- */

/* How the strings of a page are made. */
enum shape {
    ANY_BYTES,   /* those of tree_model.h, without a rid suffix */
    MANY_VALUES, /* a value each, the record ids in the same order */
    FEW_VALUES,  /* and record ids in any order */
    ONE_VALUE,   /* nothing differs but the record ids */
    TAGS,        /* a document's values, of other types */
    SHAPES
};

/* value_put -- a value; its size. */
static size_t value_put(uint8_t *to, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(i + 8 < size ? 'a' : number >> 8 * (size - 1 - i));
    return size;
}

/* make_string -- the string with that number. */
static size_t make_string(random_source *random, enum shape shape, uint64_t i, uint8_t *to) {
    size_t size = 0;
    uint64_t rid = 1000 + i;
    uint32_t tag = 1;
    switch (shape) {
    case ANY_BYTES: return model_key(random, (enum key_kind)(i % KEY_KINDS), to);
    case MANY_VALUES: size = value_put(to, i, 9); break;
    case FEW_VALUES:
        size = value_put(to, random_below(random, 5), 1 + random_below(random, 40));
        rid = random_next(random) & MAX_RID;
        rid >>= random_below(random, 35);
        break;
    case ONE_VALUE:
        size = value_put(to, 7, 6);
        rid = i << random_below(random, 24);
        break;
    default:
        size = value_put(to, i / 3, 3);
        rid = i / 2;
        tag = (uint32_t)random_below(random, 32);
    }
    suffix_put(to + size, rid, tag);
    return size + RID_SUFFIX_SIZE;
}

/* make_model -- sorted strings of a shape. */
static model make_model(random_source *random, enum shape shape) {
    model m = {NULL, 0, 0};
    uint64_t wanted = 1 + random_below(random, random_chance(random, 50) ? STRINGS_MOST : 6);
    for (uint64_t i = 0; i < wanted; i++) {
        size_t size = make_string(random, shape, i, bytes);
        model_insert(&m, bytes, size);
    }
    return m;
}

/* refs_of -- references to all strings of a model. */
static void refs_of(const model *m, tree_ref *refs) {
    for (size_t i = 0; i < m->count; i++)
        refs[i] = (tree_ref){m->items[i].bytes, NULL, m->items[i].size, 0};
}

/* make_leaf -- a leaf of a model's strings; with `less` its prefix is shorter than it could be. */
static tree_content *make_leaf(random_source *random, const model *m, bool less) {
    tree_ref refs[STRINGS_MOST] = {{0}};
    uint32_t prefix, count = (uint32_t)m->count;
    refs_of(m, refs);
    page_measure(refs, count, &prefix);
    if (less)
        prefix = (uint32_t)random_below(random, prefix + 1);
    uint64_t size = sizeof(tree_page) + page_align(prefix);
    for (uint32_t i = 0; i < count; i++)
        size += sizeof(tree_slot) + page_entry_size(ref_size(&refs[i]) - prefix);
    tree_content *content = content_leaf(store, size);
    REQUIRE(content != NULL);
    page_fill(leaf_page(content), leaf_page(content)->capacity, 0, refs, count, prefix);
    return content;
}

/* decode -- a content from a record. */
static tansu_status decode(const tansu_buffer *record, int level, tree_content **content) {
    const char *fault;
    /* As many bytes as the record has, so that a read beyond them is noticed. */
    uint8_t *exact = malloc(record->size);
    REQUIRE(exact != NULL || record->size == 0);
    if (record->size != 0)
        memcpy(exact, record->data, record->size);
    tansu_status status = stored_decode(store, exact, record->size, level, content, &fault, &error);
    free(exact);
    return status;
}

/* same_pages -- two pages have the same strings, and the same prefix. */
static void same_pages(const tree_page *a, const tree_page *b) {
    CHECK(page_valid((const uint8_t *)b, b->capacity));
    CHECK_INT(a->level, b->level);
    CHECK_INT(0, b->dead);
    if (!CHECK_INT(a->count, b->count) ||
        !CHECK_BYTES(a->bytes, a->prefix_size, b->bytes, b->prefix_size))
        return;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t a_size, b_size;
        const uint8_t *p = page_suffix(a, i, &a_size), *q = page_suffix(b, i, &b_size);
        if (a_size != b_size || memcmp(p, q, a_size) != 0)
            CHECK_BYTES(p, a_size, q, b_size);
    }
}

/* check_again -- encodes and decodes a leaf. */
static void check_again(const tree_content *content, tansu_buffer *record) {
    tree_content *again;
    record->size = 0;
    REQUIRE(stored_encode(record, content));
    if (CHECK_STATUS(TANSU_OK, decode(record, 0, &again))) {
        same_pages(&as_leaf(content)->page, leaf_page(again));
        stored_drop(store, again);
    }
    CHECK_STATUS(TANSU_E_CORRUPT, decode(record, 1, &again));
}

static void what_is_encoded_is_decoded(void) {
    random_source random = random_start(1);
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (int round = 0; round < 1500; round++) {
        model m = make_model(&random, (enum shape)(round % SHAPES));
        tree_content *leaf = make_leaf(&random, &m, random_chance(&random, 30));
        check_again(leaf, &record);
        while (leaf_page(leaf)->count > 1 && random_chance(&random, 60)) {
            page_remove(leaf_page(leaf), (uint32_t)random_below(&random, leaf_page(leaf)->count));
            check_again(leaf, &record);
        }
        content_free(store, leaf);
        free(m.items);
        if (round % 100 == 0)
            model_end();
    }
    model_end();
    tansu_buffer_free(&record);
}

/* The usual leaves of an index take a few bytes for each entry. */
static void usual_leaves_are_small(void) {
    static const struct {
        enum shape shape;
        size_t most; /* bytes for each string, times ten */
    } cases[] = {{MANY_VALUES, 25}, {ONE_VALUE, 60}};
    random_source random = random_from(1);
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model m = {NULL, 0, 0};
        for (uint64_t k = 0; k < 200; k++)
            model_insert(&m, bytes, make_string(&random, cases[i].shape, k, bytes));
        tree_content *leaf = make_leaf(&random, &m, false);
        record.size = 0;
        REQUIRE(stored_encode(&record, leaf));
        if (!CHECK(record.size * 10 < m.count * cases[i].most))
            check_note("%zu strings take %zu bytes", m.count, record.size);
        content_free(store, leaf);
        free(m.items);
    }
    model_end();
    tansu_buffer_free(&record);
}

/* ---- Inner blocks ---- */

/* make_inner -- an inner block above `children` blocks. */
static tree_content *make_inner(random_source *random, uint32_t children, uint32_t level) {
    model m = {NULL, 0, 0};
    enum key_kind kind = (enum key_kind)random_below(random, KEY_KINDS);
    while (m.count + 1 < children)
        model_insert(&m, bytes, model_key(random, kind, bytes));
    tree_ref refs[INNER_MAX] = {{0}};
    uint32_t prefix;
    refs_of(&m, refs);
    uint64_t size = page_measure(refs, children - 1, &prefix);
    tree_content *content = content_inner(store, size);
    REQUIRE(content != NULL);
    content->level = level;
    tree_inner *inner = inner_of(content);
    page_fill(&inner->keys, inner->keys.capacity, (uint8_t)level, refs, children - 1, prefix);
    for (uint32_t i = 0; i < children; i++) {
        uint64_t number = 1 + (random_next(random) >> (1 + random_below(random, 62)));
        inner->child[i] = block_new(store, 0, NULL, number);
        REQUIRE(inner->child[i] != NULL);
        inner->count[i] = 1 + (random_next(random) >> (17 + random_below(random, 46)));
    }
    free(m.items);
    return content;
}

/* same_inner -- two inner blocks are the same. */
static void same_inner(const tree_inner *a, const tree_inner *b) {
    same_pages(&a->keys, &b->keys);
    for (uint32_t i = 0; i < inner_children(a) && inner_children(a) == inner_children(b); i++) {
        CHECK_INT(atomic_load(&a->child[i]->number), atomic_load(&b->child[i]->number));
        CHECK_INT(a->count[i], b->count[i]);
    }
}

static void inner_blocks_are_decoded(void) {
    random_source random = random_start(2);
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (int round = 0; round < 300; round++) {
        uint32_t level = 1 + (uint32_t)random_below(&random, TREE_MAX_HEIGHT - 1);
        tree_content *again,
            *inner = make_inner(&random, 1 + (uint32_t)random_below(&random, INNER_MAX), level);
        record.size = 0;
        REQUIRE(stored_encode(&record, inner));
        if (CHECK_STATUS(TANSU_OK, decode(&record, (int)level, &again))) {
            CHECK_INT(level, again->level);
            same_inner(inner_of(inner), inner_of(again));
            stored_drop(store, again);
        }
        CHECK_STATUS(TANSU_E_CORRUPT, decode(&record, (int)level - 1, &again));
        stored_drop(store, inner);
        model_end();
    }
    tansu_buffer_free(&record);
}

/* ---- Any bytes ---- */

/* read_page -- everything that a reader may do with a page. */
static void read_page(const tree_page *page) {
    bool exact;
    CHECK(page_valid((const uint8_t *)page, page->capacity));
    for (uint32_t i = 0; i < page->count; i++) {
        tree_ref ref = page_ref(page, i);
        page_rid(page, i);
        if (ref_size(&ref) <= sizeof bytes) {
            ref_copy(bytes, &ref, 0, ref_size(&ref));
            page_search(page, bytes, ref_size(&ref), &exact);
        }
    }
}

/* try_bytes -- a record of any bytes; whether a block was made of it. */
static bool try_bytes(const tansu_buffer *record) {
    tree_content *content;
    tansu_status status = decode(record, -1, &content);
    if (status != TANSU_OK) {
        CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_MEMORY);
        return false;
    }
    read_page(content->level == 0 ? leaf_page(content) : &inner_of(content)->keys);
    stored_drop(store, content);
    return true;
}

/* damage -- changes some bytes of a record. */
static void damage(random_source *random, tansu_buffer *record) {
    size_t changes = 1 + random_below(random, 4);
    for (size_t i = 0; i < changes && record->size > 0; i++) {
        /* The bytes of the front count for more than others. */
        size_t at =
            random_below(random, random_chance(random, 40) && record->size > 8 ? 8 : record->size);
        if (random_chance(random, 10))
            record->size = at;
        else
            record->data[at] = random_chance(random, 30) ? 0xFF : (uint8_t)random_next(random);
    }
}

static void damaged_blocks_are_read_or_errors(void) {
    random_source random = random_start(3);
    tansu_buffer record = TANSU_BUFFER_INIT, bad = TANSU_BUFFER_INIT;
    int decoded = 0, refused = 0;
    for (int round = 0; round < 400; round++) {
        enum shape shape = (enum shape)(round % (SHAPES + 1));
        tree_content *content;
        if (shape == SHAPES) {
            content = make_inner(&random, 1 + (uint32_t)random_below(&random, INNER_MAX), 1);
        } else {
            model m = make_model(&random, shape);
            content = make_leaf(&random, &m, random_chance(&random, 30));
            free(m.items);
        }
        record.size = 0;
        REQUIRE(stored_encode(&record, content));
        stored_drop(store, content);
        model_end();
        for (int i = 0; i < 40; i++) {
            REQUIRE(buffer_set(&bad, record.data, record.size));
            damage(&random, &bad);
            if (try_bytes(&bad))
                decoded++;
            else
                refused++;
        }
    }
    CHECK(decoded > 100);
    CHECK(refused > 1000);
    tansu_buffer_free(&record);
    tansu_buffer_free(&bad);
}

static void random_bytes_are_read_or_errors(void) {
    random_source random = random_start(4);
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (int round = 0; round < 40000; round++) {
        record.size = 0;
        size_t size = random_below(&random, round % 2 == 0 ? 20 : 300);
        for (size_t i = 0; i < size; i++)
            REQUIRE(buffer_append_byte(&record, (uint8_t)random_next(&random)));
        /* Most of the time the front is one that leads on to the strings. */
        if (size > 5 && random_chance(&random, 80)) {
            record.data[0] = STORED_DELTAS | (uint8_t)random_below(&random, 3);
            record.data[1] %= RID_SUFFIX_SIZE + 1;
            record.data[2] %= 16;
            record.data[3] %= 8;
            record.data[4] %= 128;
        }
        try_bytes(&record);
    }
    tansu_buffer_free(&record);
}

static void a_part_of_a_block_is_an_error(void) {
    random_source random = random_start(5);
    tansu_buffer record = TANSU_BUFFER_INIT, part = TANSU_BUFFER_INIT;
    for (int round = 0; round < 30; round++) {
        model m = make_model(&random, (enum shape)(1 + round % (SHAPES - 1)));
        tree_content *content =
            round % 3 == 0 ? make_inner(&random, 1 + (uint32_t)random_below(&random, 10), 2)
                           : make_leaf(&random, &m, false);
        record.size = 0;
        REQUIRE(stored_encode(&record, content));
        tree_content *made;
        for (size_t size = 0; size < record.size; size++) {
            REQUIRE(buffer_set(&part, record.data, size));
            CHECK_STATUS(TANSU_E_CORRUPT, decode(&part, -1, &made));
        }
        REQUIRE(buffer_set(&part, record.data, record.size) && buffer_append_byte(&part, 0));
        CHECK_STATUS(TANSU_E_CORRUPT, decode(&part, -1, &made));
        stored_drop(store, content);
        free(m.items);
        model_end();
    }
    tansu_buffer_free(&record);
    tansu_buffer_free(&part);
}

/* ---- The bytes that docs/file-format.md shows ---- */

static void the_documented_leaf_has_these_bytes(void) {
    /* The values 10 41, 10 42 and 10 42 again, of the record ids 0, 1 and 9. */
    static const uint8_t expected[] = {0x80, 0x05, 0x03, 0x01, 0x15, 0x10, 0x61,
                                       0x00, 0x41, 0x01, 0x01, 0x01, 0x42, 0x87};
    static const struct {
        uint8_t value;
        uint64_t rid;
    } strings[] = {{0x41, 0}, {0x42, 1}, {0x42, 9}};
    model m = {NULL, 0, 0};
    for (size_t i = 0; i < 3; i++) {
        bytes[0] = 0x10;
        bytes[1] = strings[i].value;
        suffix_put(bytes + 2, strings[i].rid, 1);
        model_insert(&m, bytes, 2 + RID_SUFFIX_SIZE);
    }
    random_source random = random_from(1);
    tree_content *leaf = make_leaf(&random, &m, false);
    tansu_buffer record = TANSU_BUFFER_INIT;
    REQUIRE(stored_encode(&record, leaf));
    CHECK_BYTES(expected, sizeof expected, record.data, record.size);
    check_again(leaf, &record);
    content_free(store, leaf);
    tansu_buffer_free(&record);
    free(m.items);
    model_end();
}

int main(void) {
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    RUN(what_is_encoded_is_decoded);
    RUN(usual_leaves_are_small);
    RUN(inner_blocks_are_decoded);
    RUN(damaged_blocks_are_read_or_errors);
    RUN(random_bytes_are_read_or_errors);
    RUN(a_part_of_a_block_is_an_error);
    RUN(the_documented_leaf_has_these_bytes);
    tree_store_free(store);
    return check_finish();
}
