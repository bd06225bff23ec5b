/*
 * index/batch_sort.h -- sorting the entries of a batch. Private to index_batch.c.
 */
#ifndef TANSU_INDEX_BATCH_SORT_H
#define TANSU_INDEX_BATCH_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One entry of a batch, whose bytes are elsewhere. */
typedef struct batch_item {
    uint64_t head;   /* for batch_sort(): eight bytes of the entry, big-endian */
    uint32_t offset; /* of the entry, in the bytes */
    uint32_t size : 31;
    uint32_t removes : 1;
} batch_item;

/* batch_sort -- sorts entries in memcmp order, the shorter first. False when memory is exhausted:
 * then they are as they were. */
bool batch_sort(const uint8_t *bytes, batch_item *items, size_t count);

#endif
