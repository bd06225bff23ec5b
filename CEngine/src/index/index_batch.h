/*
 * index/index_batch.h -- changes of one index that are gathered and made together, in the order of
 * the index: neighbours go into the same leaf.
 */
#ifndef TANSU_INDEX_INDEX_BATCH_H
#define TANSU_INDEX_INDEX_BATCH_H

#include "index/definition.h"
#include "index/tree/tree.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct batch_item batch_item;

/* Zeroed, it is empty. */
typedef struct index_batch {
    tansu_buffer bytes;
    batch_item *items;
    size_t count;
    size_t capacity;
} index_batch;

/* index_batch_add -- gathers one entry, which is to be inserted or (`removes`) to be removed. No
 * entry is added twice. False when memory is exhausted. */
bool index_batch_add(index_batch *batch, const uint8_t *entry, uint32_t size, bool removes);

/* index_batch_memory -- bytes that the entries take. */
size_t index_batch_memory(const index_batch *batch);

/* index_batch_apply -- changes the tree of an index (NULL: that of `_id`), and empties the batch unless
 * that fails, which leaves part of it done. Errors: those of tree_insert(). */
tansu_status index_batch_apply(index_batch *batch, const index_definition *definition,
                               tree_writer *writer, tree *t, tansu_error *error);

/* index_batch_free -- frees the memory, and leaves it empty. */
void index_batch_free(index_batch *batch);

/* ---- Sorting the entries of a batch ---- */

/* One entry of a batch, whose bytes are elsewhere. */
typedef struct batch_item {
    uint64_t head;   /* eight bytes of the entry, big-endian; batch_sort() changes it */
    uint32_t offset; /* of the entry, in the bytes */
    uint32_t size : 31;
    uint32_t removes : 1;
} batch_item;

/* batch_item_before -- memcmp order, the shorter first, by heads of the same bytes and then by all;
 * `a_bytes` and `b_bytes` have the entries. */
static inline bool batch_item_before(const uint8_t *a_bytes, const batch_item *a,
                                     const uint8_t *b_bytes, const batch_item *b) {
    if (a->head != b->head)
        return a->head < b->head;
    uint32_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(a_bytes + a->offset, b_bytes + b->offset, common);
    return order != 0 ? order < 0 : a->size < b->size;
}

/* batch_heads -- sets each head to the eight bytes after the first `common`, missing ones zero; no
 * entry is shorter than `common`. Returns the bits that are not the same in all. */
uint64_t batch_heads(const uint8_t *bytes, batch_item *items, size_t count, size_t common);

/* Asked while many entries are sorted, with how many were worked on: false ends the sort. */
typedef struct sort_check {
    bool (*goes_on)(void *context, size_t count);
    void *context;
} sort_check;

/* batch_sort -- sorts entries in memcmp order, the shorter first. `check` may be NULL; a sort that
 * it ends leaves them in no order. False when memory is exhausted: then they are as they were. */
bool batch_sort(const uint8_t *bytes, batch_item *items, size_t count, const sort_check *check);

#endif
