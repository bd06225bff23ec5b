/*
 * query/pipeline/document_sorter.c -- documents in the order of their keys.
 */
#include "query/pipeline/document_sorter.h"

#include "query/util/merge_sort.h"
#include "util/array.h"

/* More documents than that are no matter for a heap. */
#define HEAP_MAX 10000

typedef struct sorted_entry {
    uint8_t *bytes; /* the key, and behind it the document */
    size_t key_size;
    size_t doc_size;
    size_t capacity;
    uint64_t number; /* of arrival */
} sorted_entry;

struct document_sorter {
    stage *s;
    uint64_t keep;
    size_t memory;
    size_t used;
    uint64_t number;       /* of the next document */
    sorted_entry *entries; /* a heap, the greatest first; sorted at the end */
    size_t count, capacity;
    size_t next;
    external_sort *external; /* NULL: the heap is used */
    bool finished;
};

document_sorter *document_sorter_new(stage *s, uint64_t keep, size_t memory) {
    document_sorter *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (document_sorter){.s = s, .keep = keep, .memory = memory};
    if (keep > HEAP_MAX)
        d->external = stage_sort(s, memory);
    if (keep > HEAP_MAX && !d->external) {
        free(d);
        return NULL;
    }
    return d;
}

/* free_entries -- empties the heap. */
static void free_entries(document_sorter *d) {
    for (size_t i = 0; i < d->count; i++)
        free(d->entries[i].bytes);
    free(d->entries);
    d->entries = NULL;
    d->count = d->capacity = 0;
}

void document_sorter_free(document_sorter *d) {
    if (!d)
        return;
    free_entries(d);
    if (d->external)
        d->s->p->spilled += external_sort_spilled(d->external);
    external_sort_free(d->external);
    free(d);
}

/* compare_bytes -- the order of two keys. */
static int compare_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    size_t size = a_size < b_size ? a_size : b_size;
    int order = size != 0 ? memcmp(a, b, size) : 0;
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* compare_entries -- by key, and equal keys by arrival. */
static int compare_entries(const void *left, const void *right) {
    const sorted_entry *a = left, *b = right;
    int order = compare_bytes(a->bytes, a->key_size, b->bytes, b->key_size);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* sift_down -- restores the heap below its first entry. */
static void sift_down(document_sorter *d) {
    sorted_entry moved = d->entries[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < d->count; at = child) {
        if (child + 1 < d->count && compare_entries(&d->entries[child], &d->entries[child + 1]) < 0)
            child++;
        if (compare_entries(&moved, &d->entries[child]) >= 0)
            break;
        d->entries[at] = d->entries[child];
    }
    d->entries[at] = moved;
}

/* sift_up -- restores the heap above its last entry. */
static void sift_up(document_sorter *d) {
    size_t at = d->count - 1;
    sorted_entry moved = d->entries[at];
    for (; at > 0 && compare_entries(&moved, &d->entries[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        d->entries[at] = d->entries[(at - 1) / 2];
    d->entries[at] = moved;
}

/* set_entry -- copies a key and a document. */
static tansu_status set_entry(document_sorter *d, sorted_entry *entry, const tansu_buffer *key,
                              const doc_value *doc) {
    size_t size = key->size + doc->size;
    if (size > entry->capacity) {
        uint8_t *bytes = realloc(entry->bytes, size);
        if (!bytes)
            return error_memory(d->s->p->error);
        d->used += size - entry->capacity;
        entry->bytes = bytes;
        entry->capacity = size;
    }
    if (key->size != 0)
        memcpy(entry->bytes, key->data, key->size);
    memcpy(entry->bytes + key->size, doc->data, doc->size);
    entry->key_size = key->size;
    entry->doc_size = doc->size;
    entry->number = d->number++;
    return TANSU_OK;
}

/* add_external -- adds a document to the external sort. */
static tansu_status add_external(document_sorter *d, const uint8_t *key, size_t key_size,
                                 uint64_t number, const uint8_t *doc, size_t size) {
    const sort_record r = {key, key_size, number, doc, size};
    return external_sort_add(d->external, &r, d->s->p->error);
}

/* leave_heap -- from now on all documents are kept; those that the heap has dropped are not among
 * the ones that are wanted. */
static tansu_status leave_heap(document_sorter *d) {
    tansu_status status = TANSU_OK;
    d->external = stage_sort(d->s, d->memory);
    if (!d->external)
        return error_memory(d->s->p->error);
    for (size_t i = 0; status == TANSU_OK && i < d->count; i++) {
        const sorted_entry *e = &d->entries[i];
        status =
            add_external(d, e->bytes, e->key_size, e->number, e->bytes + e->key_size, e->doc_size);
    }
    free_entries(d);
    return status;
}

/* add_to_heap -- keeps the least documents. */
static tansu_status add_to_heap(document_sorter *d, const tansu_buffer *key, const doc_value *doc) {
    if (d->count == d->keep) {
        const sorted_entry *worst = &d->entries[0];
        if (compare_bytes(key->data, key->size, worst->bytes, worst->key_size) >= 0)
            return TANSU_OK;
        tansu_status status = set_entry(d, &d->entries[0], key, doc);
        if (status == TANSU_OK)
            sift_down(d);
        return status;
    }
    if (!ARRAY_RESERVE(d->entries, d->count, d->capacity, 1))
        return error_memory(d->s->p->error);
    d->entries[d->count] = (sorted_entry){.bytes = NULL};
    tansu_status status = set_entry(d, &d->entries[d->count], key, doc);
    if (status == TANSU_OK) {
        d->count++;
        sift_up(d);
    }
    return status;
}

tansu_status document_sorter_add(document_sorter *d, const tansu_buffer *key,
                                 const doc_value *doc) {
    if (d->external)
        return add_external(d, key->data, key->size, d->number++, doc->data, doc->size);
    tansu_status status = d->keep != 0 ? add_to_heap(d, key, doc) : TANSU_OK;
    if (status == TANSU_OK && d->used + d->capacity * sizeof *d->entries > d->memory)
        status = leave_heap(d);
    return status;
}

/* finish -- sorts. */
static tansu_status finish(document_sorter *d) {
    d->finished = true;
    if (d->external)
        return external_sort_finish(d->external, d->s->p->error);
    return merge_sort(d->entries, d->count, sizeof *d->entries, compare_entries, &d->s->p->deadline,
                      d->s->p->error);
}

tansu_status document_sorter_next(document_sorter *d, doc_value *doc) {
    tansu_status status = d->finished ? TANSU_OK : finish(d);
    if (status != TANSU_OK)
        return status;
    if (d->external) {
        sort_record r;
        status = external_sort_next(d->external, &r, d->s->p->error);
        if (status == TANSU_OK)
            *doc = (doc_value){r.payload, (uint32_t)r.payload_size, DOC_DOCUMENT};
        return status;
    }
    if (d->next == d->count) {
        free_entries(d);
        d->next = 0;
        return TANSU_DONE;
    }
    const sorted_entry *e = &d->entries[d->next++];
    *doc = (doc_value){e->bytes + e->key_size, (uint32_t)e->doc_size, DOC_DOCUMENT};
    return TANSU_OK;
}
