/*
 * query/sort.c -- sort keys are value keys strung together, so that one memcmp orders two documents
 * by all paths. With few results wanted, a heap keeps only those.
 */
#include "query/sort.h"
#include "base/bytes.h"
#include "query/collation.h"
#include "query/sort_steps.h"
#include <stdlib.h>

/* Up to here the wanted results are kept in a heap; above, everything is kept and sorted. */
#define MAX_HEAP 10000

typedef struct sort_entry {
    uint64_t head; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint8_t *key;  /* heap: its own; list: set when all keys are there and can't move any more */
    size_t size;
    size_t capacity; /* heap: of `key`; list: the offset of the key in the keys */
    hit hit;
} sort_entry;

struct sorter {
    const order_path *order;
    uint32_t order_count;
    const collation *collation;
    uint64_t keep;
    bool heap;
    sort_entry *entries; /* heap: the greatest is first */
    size_t count;
    size_t capacity;
    tansu_buffer keys;
    tansu_buffer scratch;
    tansu_buffer forms[2]; /* for sort_key() */
    size_t key_bytes;      /* of the heap's entries */
};

/* sorter_new -- see sort.h. */
sorter *sorter_new(const order_path *order, uint32_t order_count, const collation *by,
                   uint64_t keep) {
    sorter *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->order = order;
    s->order_count = order_count;
    s->collation = by;
    s->keep = keep;
    s->heap = keep <= MAX_HEAP;
    return s;
}

/* sorter_free -- fine on NULL. */
void sorter_free(sorter *s) {
    if (!s)
        return;
    for (size_t i = 0; s->heap && i < s->count; i++)
        free(s->entries[i].key);
    free(s->entries);
    tansu_buffer_free(&s->keys);
    tansu_buffer_free(&s->scratch);
    tansu_buffer_free(&s->forms[0]);
    tansu_buffer_free(&s->forms[1]);
    free(s);
}

/* ---- Keys ---- */

/* The least or greatest value that a path has found so far. */
typedef struct extreme {
    const collation *collation;
    tansu_buffer *forms; /* of the value, and of one beside it */
    doc_value value;     /* in the form of the collation */
    bool failed;         /* memory was exhausted */
    bool found;
    bool greatest;
} extreme;

/* consider -- keeps the more extreme of two values. */
static void consider(extreme *e, const doc_value *value) {
    doc_value form = *value;
    if (e->collation && !collation_value(e->collation, &e->forms[1], value, &form)) {
        e->failed = true;
        return;
    }
    int order = e->found ? value_compare(&form, &e->value) : 0;
    if (!e->found || (e->greatest ? order > 0 : order < 0)) {
        tansu_buffer kept = e->forms[1];
        e->forms[1] = e->forms[0];
        e->forms[0] = kept;
        e->value = form;
    }
    e->found = true;
}

/* visit -- a value at a path's end, or if it is an array its elements. An empty array has none, and
 * so sorts as a missing field does. */
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

/* sort_key -- see sort.h. */
bool sort_key(const order_path *order, uint32_t order_count, const collation *by,
              tansu_buffer forms[2], const uint8_t *doc, size_t size, tansu_buffer *key) {
    for (uint32_t i = 0; i < order_count; i++) {
        const order_path *path = &order[i];
        extreme e = {.collation = by,
                     .forms = forms,
                     .value = {NULL, 0, DOC_MISSING},
                     .greatest = path->descending};
        doc_value value;
        if (!path_get(path->path, doc, size, &value) || value.type == DOC_ARRAY)
            path_walk(path->path, doc, size, visit, &e, NULL);
        else if (by)
            consider(&e, &value);
        else
            e.value = value;
        if (e.failed || !value_key(key, &e.value, path->descending))
            return false;
    }
    return true;
}

/* head_of -- a key's first eight bytes, most significant first. */
static uint64_t head_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_entries -- by key, and equal ones by docno, which is the order of insertion. */
static int compare_entries(const void *left, const void *right) {
    const sort_entry *a = left, *b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);
    if (order == 0)
        order = (a->size > b->size) - (a->size < b->size);
    return order != 0 ? order : (a->hit.docno > b->hit.docno) - (a->hit.docno < b->hit.docno);
}

/* ---- Adding ---- */

/* too_large -- the sort is over its bound. */
static tansu_status too_large(tansu_error *error) {
    return error_set(
        error, TANSU_E_TOO_LARGE, "hints.$orderby",
        "The sort needs more than 100 MiB of memory: create an index over the paths of "
        "$orderby, or ask for fewer documents with $max.");
}

/* grow_entries -- room for one more entry. */
static bool grow_entries(sorter *s) {
    if (s->count < s->capacity)
        return true;
    size_t capacity = s->capacity == 0 ? 64 : s->capacity * 2;
    sort_entry *entries = realloc(s->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    s->entries = entries;
    s->capacity = capacity;
    return true;
}

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

/* set_key -- gives a heap entry its own copy of the scratch key. */
static tansu_status set_key(sorter *s, sort_entry *entry, tansu_error *error) {
    size_t size = s->scratch.size;
    if (entry->capacity < size) {
        if (s->key_bytes - entry->capacity + size > SORT_MEMORY)
            return too_large(error);
        uint8_t *key = realloc(entry->key, size);
        if (!key)
            return error_memory(error);
        s->key_bytes += size - entry->capacity;
        entry->key = key;
        entry->capacity = size;
    }
    memcpy(entry->key, s->scratch.data, size);
    entry->size = size;
    entry->head = head_of(s->scratch.data, size);
    return TANSU_OK;
}

/* add_to_heap -- keeps the least `keep` entries. */
static tansu_status add_to_heap(sorter *s, const hit *h, tansu_error *error) {
    if (s->keep == 0)
        return TANSU_OK;
    if (s->count == s->keep) {
        sort_entry candidate = {.head = head_of(s->scratch.data, s->scratch.size),
                                .key = s->scratch.data,
                                .size = s->scratch.size,
                                .hit = *h};
        if (compare_entries(&candidate, &s->entries[0]) >= 0)
            return TANSU_OK;
        s->entries[0].hit = *h;
        tansu_status status = set_key(s, &s->entries[0], error);
        if (status == TANSU_OK)
            sift_down(s);
        return status;
    }
    if (!grow_entries(s))
        return error_memory(error);
    s->entries[s->count] = (sort_entry){.hit = *h};
    tansu_status status = set_key(s, &s->entries[s->count], error);
    if (status != TANSU_OK)
        return status;
    s->count++;
    sift_up(s);
    return TANSU_OK;
}

/* add_to_list -- keeps everything; the key is an offset as long as the keys may still move. */
static tansu_status add_to_list(sorter *s, const hit *h, tansu_error *error) {
    if ((s->count + 1) * sizeof *s->entries + s->keys.size + s->scratch.size > SORT_MEMORY)
        return too_large(error);
    size_t offset = s->keys.size;
    if (!grow_entries(s) || !buffer_append(&s->keys, s->scratch.data, s->scratch.size))
        return error_memory(error);
    s->entries[s->count++] = (sort_entry){.head = head_of(s->scratch.data, s->scratch.size),
                                          .capacity = offset,
                                          .size = s->scratch.size,
                                          .hit = *h};
    return TANSU_OK;
}

/* sorter_add -- see sort.h. */
tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error) {
    s->scratch.size = 0;
    if (!sort_key(s->order, s->order_count, s->collation, s->forms, doc, size, &s->scratch))
        return error_memory(error);
    return s->heap ? add_to_heap(s, h, error) : add_to_list(s, h, error);
}

/* sorter_finish -- see sort.h. */
tansu_status sorter_finish(sorter *s, const watch *w, hit **hits, size_t *count,
                           tansu_error *error) {
    for (size_t i = 0; !s->heap && i < s->count; i++)
        s->entries[i].key = s->keys.data + s->entries[i].capacity;
    tansu_status status =
        sort_steps(s->entries, s->count, sizeof *s->entries, compare_entries, w, error);
    if (status != TANSU_OK)
        return status;
    size_t wanted = s->count < s->keep ? s->count : (size_t)s->keep;
    hit *result = malloc((wanted == 0 ? 1 : wanted) * sizeof *result);
    if (!result)
        return error_memory(error);
    for (size_t i = 0; i < wanted; i++)
        result[i] = s->entries[i].hit;
    *hits = result;
    *count = wanted;
    return TANSU_OK;
}
