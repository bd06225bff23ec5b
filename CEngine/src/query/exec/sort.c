/*
 * query/exec/sort.c -- sorting by concatenated value keys, so that one memcmp() compares two
 * documents by all paths.
 */
#include "query/exec/sort.h"
#include "bson/path.h"
#include "bson/value.h"
#include "query/util/merge_sort.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"
#include <stdlib.h>

/* Up to this number of results a heap keeps them; above it all matches are sorted. */
#define MAX_HEAP 10000

typedef struct sort_entry {
    uint64_t prefix; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint8_t *key;
    size_t size;
    size_t capacity; /* of `key` */
    hit hit;
} sort_entry;

struct sorter {
    sorter_options options;
    sort_entry *entries; /* a heap, the greatest first; sorted at the end */
    size_t count;
    size_t capacity;
    size_t next;
    size_t key_bytes;        /* of the entries of the heap */
    external_sort *external; /* all matches; NULL: the heap is used */
    uint64_t returned;
    tansu_buffer scratch;
    tansu_buffer collated[2]; /* scratch of sort_key() */
};

/* begin_external -- from now on all matches are kept. */
static bool begin_external(sorter *s) {
    const external_sort_options options = {
        .rctx = s->options.rctx,
        .deadline = s->options.deadline,
        .memory = s->options.memory,
        .may_spill = s->options.may_spill,
        .refusal = {.context = "hints.$orderby",
                    .what = "Sort",
                    .limit = s->options.memory,
                    .advice = "create an index on the paths of \"$orderby\", lower \"$max\""}};
    s->external = external_sort_new(&options);
    return s->external != NULL;
}

sorter *sorter_new(const sorter_options *options) {
    sorter *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    if (options->keep > MAX_HEAP && !begin_external(s)) {
        free(s);
        return NULL;
    }
    return s;
}

/* free_heap -- empties the heap. */
static void free_heap(sorter *s) {
    for (size_t i = 0; i < s->count; i++)
        free(s->entries[i].key);
    free(s->entries);
    s->entries = NULL;
    s->count = s->capacity = s->key_bytes = 0;
}

void sorter_free(sorter *s) {
    if (!s)
        return;
    free_heap(s);
    external_sort_free(s->external);
    tansu_buffer_free(&s->scratch);
    tansu_buffer_free(&s->collated[0]);
    tansu_buffer_free(&s->collated[1]);
    free(s);
}

/* ---- Keys ---- */

/* The least or greatest value that a path has found so far. */
typedef struct extreme {
    const collation *collation;
    tansu_buffer *scratch; /* of `value`, and of the one that is compared with it */
    doc_value value;       /* collated */
    bool failed;           /* memory was exhausted */
    bool found;
    bool greatest;
} extreme;

/* consider -- keeps the more extreme of two values. */
static void consider(extreme *e, const doc_value *value) {
    doc_value collated = *value;
    if (e->collation && !collation_value(e->collation, &e->scratch[1], value, &collated)) {
        e->failed = true;
        return;
    }
    int order = e->found ? value_compare(&collated, &e->value) : 0;
    if (!e->found || (e->greatest ? order > 0 : order < 0)) {
        tansu_buffer kept = e->scratch[1];
        e->scratch[1] = e->scratch[0];
        e->scratch[0] = kept;
        e->value = collated;
    }
    e->found = true;
}

/* visit -- considers a value at a path's end, or the elements of an array. An empty array has none
 * and so sorts like a missing field. */
static bool visit(void *context, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY) {
        consider(context, value);
    } else if (doc_iter_value(&iter, value)) {
        while (doc_iter_next(&iter))
            consider(context, &iter.value);
    }
    return true;
}

bool sort_key(const order_path *order, uint32_t order_count, const collation *collation,
              tansu_buffer scratch[2], const uint8_t *doc, size_t size, tansu_buffer *key) {
    for (uint32_t i = 0; i < order_count; i++) {
        const order_path *path = &order[i];
        extreme e = {.collation = collation,
                     .scratch = scratch,
                     .value = {NULL, 0, DOC_MISSING},
                     .greatest = path->descending};
        doc_value value;
        if (!path_get(path->path, doc, size, &value) || value.type == DOC_ARRAY)
            path_walk_positions(path->path, doc, size, visit, &e, NULL);
        else if (collation)
            consider(&e, &value);
        else
            e.value = value;
        if (e.failed || !value_key(key, &e.value, path->descending))
            return false;
    }
    return true;
}

/* prefix_of -- the first eight bytes of a key, most significant first. */
static uint64_t prefix_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_entries -- by key, and equal keys by record id, which is insertion order. */
static int compare_entries(const void *left, const void *right) {
    const sort_entry *a = left, *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);
    if (order == 0)
        order = (a->size > b->size) - (a->size < b->size);
    return order != 0 ? order : (a->hit.rid > b->hit.rid) - (a->hit.rid < b->hit.rid);
}

/* ---- Adding ---- */

/* sift_down -- restores the heap below its first entry. */
static void sift_down(sorter *s) {
    sort_entry moved = s->entries[0];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->count)
            break;
        if (child + 1 < s->count && compare_entries(&s->entries[child], &s->entries[child + 1]) < 0)
            child++;
        if (compare_entries(&moved, &s->entries[child]) >= 0)
            break;
        s->entries[at] = s->entries[child];
        at = child;
    }
    s->entries[at] = moved;
}

/* sift_up -- restores the heap above its last entry. */
static void sift_up(sorter *s) {
    size_t at = s->count - 1;
    sort_entry moved = s->entries[at];
    while (at > 0 && compare_entries(&moved, &s->entries[(at - 1) / 2]) > 0) {
        s->entries[at] = s->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->entries[at] = moved;
}

/* set_key -- copies the scratch key to a heap entry; *fits is false when the keys would exceed the
 * memory limit. */
static tansu_status set_key(sorter *s, sort_entry *entry, bool *fits, tansu_error *error) {
    size_t size = s->scratch.size;
    *fits = entry->capacity >= size || s->key_bytes - entry->capacity + size <= s->options.memory;
    if (!*fits)
        return TANSU_OK;
    if (entry->capacity < size) {
        uint8_t *key = realloc(entry->key, size);
        if (!key)
            return error_memory(error);
        s->key_bytes += size - entry->capacity;
        entry->key = key;
        entry->capacity = size;
    }
    memcpy(entry->key, s->scratch.data, size);
    entry->size = size;
    entry->prefix = prefix_of(s->scratch.data, size);
    return TANSU_OK;
}

/* add_key -- adds a hit and its key to the external sort. */
static tansu_status add_key(sorter *s, const hit *h, const uint8_t *key, size_t size,
                            tansu_error *error) {
    uint8_t ref[8];
    store_u64(ref, h->ref);
    const sort_record r = {key, size, h->rid, ref, sizeof ref};
    return external_sort_add(s->external, &r, error);
}

/* switch_to_external -- the needed results exceed the memory limit: from now on all matches are
 * kept. Those that the heap has dropped are not among the results. */
static tansu_status switch_to_external(sorter *s, tansu_error *error) {
    if (!begin_external(s))
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < s->count; i++)
        status = add_key(s, &s->entries[i].hit, s->entries[i].key, s->entries[i].size, error);
    free_heap(s);
    return status;
}

/* add_to_heap -- keeps the smallest `keep` entries; *fits is false when they exceed the memory
 * limit. */
static tansu_status add_to_heap(sorter *s, const hit *h, bool *fits, tansu_error *error) {
    *fits = true;
    if (s->options.keep == 0)
        return TANSU_OK;
    if (s->count == s->options.keep) {
        sort_entry candidate = {.prefix = prefix_of(s->scratch.data, s->scratch.size),
                                .key = s->scratch.data,
                                .size = s->scratch.size,
                                .hit = *h};
        if (compare_entries(&candidate, &s->entries[0]) >= 0)
            return TANSU_OK;
        tansu_status status = set_key(s, &s->entries[0], fits, error);
        if (status != TANSU_OK || !*fits)
            return status;
        s->entries[0].hit = *h;
        sift_down(s);
        return TANSU_OK;
    }
    if (!ARRAY_RESERVE(s->entries, s->count, s->capacity, 1))
        return error_memory(error);
    s->entries[s->count] = (sort_entry){.hit = *h};
    tansu_status status = set_key(s, &s->entries[s->count], fits, error);
    if (status != TANSU_OK || !*fits)
        return status;
    s->count++;
    sift_up(s);
    return TANSU_OK;
}

tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error) {
    bool fits = true;
    tansu_status status = TANSU_OK;
    s->scratch.size = 0;
    if (!sort_key(s->options.order, s->options.order_count, s->options.collation, s->collated, doc,
                  size, &s->scratch))
        return error_memory(error);
    if (!s->external)
        status = add_to_heap(s, h, &fits, error);
    if (!s->external && !fits)
        status = switch_to_external(s, error);
    if (status == TANSU_OK && s->external)
        status = add_key(s, h, s->scratch.data, s->scratch.size, error);
    return status;
}

tansu_status sorter_finish(sorter *s, tansu_error *error) {
    return s->external ? external_sort_finish(s->external, error)
                       : merge_sort(s->entries, s->count, sizeof *s->entries, compare_entries,
                                    s->options.deadline, error);
}

tansu_status sorter_next(sorter *s, hit *h, tansu_error *error) {
    if (s->returned == s->options.keep)
        return TANSU_DONE;
    if (s->external) {
        sort_record r;
        tansu_status status = external_sort_next(s->external, &r, error);
        if (status != TANSU_OK)
            return status;
        *h = (hit){.rid = r.tie_breaker, .ref = load_u64(r.payload)};
    } else if (s->next == s->count) {
        return TANSU_DONE;
    } else {
        *h = s->entries[s->next++].hit;
    }
    s->returned++;
    return TANSU_OK;
}

uint64_t sorter_spilled(const sorter *s) {
    return s->external ? external_sort_spilled(s->external) : 0;
}
