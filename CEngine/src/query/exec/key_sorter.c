/*
 * query/exec/key_sorter.c -- a heap of records, and when it is left for an external sort.
 */
#include "query/exec/key_sorter.h"

#include "query/util/merge_sort.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* More records than that are no matter for a heap. */
#define HEAP_MAX 10000
/* Where all records are wanted, an external sort is made for more than this. */
#define FEW 64

typedef struct heap_entry {
    uint64_t prefix; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint64_t tie_breaker;
    uint8_t *bytes; /* the key, and behind it the payload */
    size_t key_size;
    size_t payload_size;
    size_t capacity;
} heap_entry;

struct key_sorter {
    external_sort_options how;
    uint64_t keep;
    heap_entry *entries; /* a heap, the greatest first; sorted at the end */
    size_t count, capacity;
    size_t used;             /* bytes of the entries */
    external_sort *external; /* NULL: the heap is used */
    bool finished;
    uint64_t next;    /* record */
    uint64_t spilled; /* by an external sort that has ended */
};

key_sorter *key_sorter_new(const external_sort_options *how, uint64_t keep) {
    key_sorter *s = calloc(1, sizeof *s);
    if (s)
        *s = (key_sorter){.how = *how, .keep = keep};
    return s;
}

/* free_heap -- empties the heap. */
static void free_heap(key_sorter *s) {
    for (size_t i = 0; i < s->count; i++)
        free(s->entries[i].bytes);
    free(s->entries);
    s->entries = NULL;
    s->count = s->capacity = s->used = 0;
}

void key_sorter_free(key_sorter *s) {
    if (!s)
        return;
    free_heap(s);
    external_sort_free(s->external);
    free(s);
}

/* prefix_of -- the first eight bytes of a key, most significant first. */
static uint64_t prefix_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    if (size != 0)
        memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_keys -- by key, and equal keys by tie-breaker; the prefixes are equal. */
static int compare_keys(const uint8_t *a, size_t a_size, uint64_t a_tie, const heap_entry *b) {
    size_t size = a_size < b->key_size ? a_size : b->key_size;
    int order = size != 0 ? memcmp(a, b->bytes, size) : 0;
    if (order == 0)
        order = (a_size > b->key_size) - (a_size < b->key_size);
    return order != 0 ? order : (a_tie > b->tie_breaker) - (a_tie < b->tie_breaker);
}

/* compare_entries -- the order of two entries. */
static int compare_entries(const void *left, const void *right) {
    const heap_entry *a = left, *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return compare_keys(a->bytes, a->key_size, a->tie_breaker, b);
}

/* ---- The heap ---- */

/* sift_down -- restores the heap below its first entry. */
static void sift_down(key_sorter *s) {
    heap_entry moved = s->entries[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->count; at = child) {
        if (child + 1 < s->count && compare_entries(&s->entries[child], &s->entries[child + 1]) < 0)
            child++;
        if (compare_entries(&moved, &s->entries[child]) >= 0)
            break;
        s->entries[at] = s->entries[child];
    }
    s->entries[at] = moved;
}

/* sift_up -- restores the heap above its last entry. */
static void sift_up(key_sorter *s) {
    size_t at = s->count - 1;
    heap_entry moved = s->entries[at];
    for (; at > 0 && compare_entries(&moved, &s->entries[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        s->entries[at] = s->entries[(at - 1) / 2];
    s->entries[at] = moved;
}

/* set_entry -- copies a record. */
static tansu_status set_entry(key_sorter *s, heap_entry *entry, const sort_record *r,
                              uint64_t prefix, tansu_error *error) {
    size_t size = r->key_size + r->payload_size;
    if (size > entry->capacity) {
        uint8_t *bytes = realloc(entry->bytes, size);
        if (!bytes)
            return error_memory(error);
        s->used += size - entry->capacity;
        entry->bytes = bytes;
        entry->capacity = size;
    }
    if (r->key_size != 0)
        memcpy(entry->bytes, r->key, r->key_size);
    if (r->payload_size != 0)
        memcpy(entry->bytes + r->key_size, r->payload, r->payload_size);
    entry->prefix = prefix;
    entry->tie_breaker = r->tie_breaker;
    entry->key_size = r->key_size;
    entry->payload_size = r->payload_size;
    return TANSU_OK;
}

/* add_to_heap -- keeps the least records. */
static tansu_status add_to_heap(key_sorter *s, const sort_record *r, tansu_error *error) {
    uint64_t prefix = prefix_of(r->key, r->key_size);
    if (s->count == s->keep) {
        const heap_entry *worst = &s->entries[0];
        if (prefix > worst->prefix ||
            (prefix == worst->prefix &&
             compare_keys(r->key, r->key_size, r->tie_breaker, worst) >= 0))
            return TANSU_OK;
        tansu_status status = set_entry(s, &s->entries[0], r, prefix, error);
        if (status == TANSU_OK)
            sift_down(s);
        return status;
    }
    if (!ARRAY_RESERVE(s->entries, s->count, s->capacity, 1))
        return error_memory(error);
    s->entries[s->count] = (heap_entry){.bytes = NULL};
    tansu_status status = set_entry(s, &s->entries[s->count], r, prefix, error);
    if (status == TANSU_OK) {
        s->count++;
        sift_up(s);
    }
    return status;
}

/* record_of -- an entry as a record. */
static sort_record record_of(const heap_entry *e) {
    return (sort_record){e->bytes, e->key_size, e->tie_breaker, e->bytes + e->key_size,
                         e->payload_size};
}

/* leave_heap -- from now on all records are kept; those that the heap has dropped are not among the
 * ones that are wanted. */
static tansu_status leave_heap(key_sorter *s, tansu_error *error) {
    tansu_status status = TANSU_OK;
    s->external = external_sort_new(&s->how);
    if (!s->external)
        return error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < s->count; i++) {
        const sort_record r = record_of(&s->entries[i]);
        status = external_sort_add(s->external, &r, error);
    }
    free_heap(s);
    return status;
}

/* ---- Records ---- */

tansu_status key_sorter_add(key_sorter *s, const sort_record *record, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (!s->external && s->keep > HEAP_MAX && s->count == FEW)
        status = leave_heap(s, error);
    if (status == TANSU_OK && s->external)
        return external_sort_add(s->external, record, error);
    if (status == TANSU_OK && s->keep != 0)
        status = add_to_heap(s, record, error);
    if (status == TANSU_OK && s->used + s->capacity * sizeof *s->entries > s->how.memory)
        status = leave_heap(s, error);
    return status;
}

tansu_status key_sorter_finish(key_sorter *s, tansu_error *error) {
    s->finished = true;
    if (s->external)
        return external_sort_finish(s->external, error);
    return merge_sort(s->entries, s->count, sizeof *s->entries, compare_entries, s->how.deadline,
                      error);
}

/* drop_records -- frees the memory of the records: all have been taken. */
static void drop_records(key_sorter *s) {
    s->spilled = key_sorter_spilled(s);
    external_sort_free(s->external);
    s->external = NULL;
    free_heap(s);
    s->next = 0;
}

tansu_status key_sorter_next(key_sorter *s, sort_record *record, tansu_error *error) {
    tansu_status status = s->finished ? TANSU_OK : key_sorter_finish(s, error);
    if (status != TANSU_OK)
        return status;
    if (s->next == s->keep || (!s->external && s->next == s->count))
        status = TANSU_DONE;
    else if (s->external)
        status = external_sort_next(s->external, record, error);
    else
        *record = record_of(&s->entries[s->next]);
    if (status == TANSU_DONE)
        drop_records(s);
    s->next += status == TANSU_OK;
    return status;
}

uint64_t key_sorter_spilled(const key_sorter *s) {
    return s->external ? external_sort_spilled(s->external) : s->spilled;
}
