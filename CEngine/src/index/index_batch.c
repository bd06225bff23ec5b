/*
 * index/index_batch.c -- sorting and making the changes of a batch.
 */
#include "index/index_batch.h"

#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* That many neighbours are sorted by insertion before they are merged. */
#define SORT_FEW 16u

struct batch_item {
    uint64_t head;   /* the entry's first eight bytes, big-endian, missing ones zero */
    uint32_t offset; /* of the entry, in the bytes */
    uint32_t size : 31;
    uint32_t removes : 1;
};

bool index_batch_add(index_batch *batch, const uint8_t *entry, uint32_t size, bool removes) {
    uint8_t first[8] = {0};
    memcpy(first, entry, size < sizeof first ? size : sizeof first);
    if (!ARRAY_RESERVE(batch->items, batch->count, batch->capacity, 1))
        return false;
    batch_item item = {.head = load_be64(first),
                       .offset = (uint32_t)batch->bytes.size,
                       .size = size & INT32_MAX,
                       .removes = removes};
    if (!buffer_append(&batch->bytes, entry, size))
        return false;
    batch->items[batch->count++] = item;
    return true;
}

size_t index_batch_memory(const index_batch *batch) {
    return batch->bytes.size + batch->count * sizeof *batch->items;
}

/* item_before -- memcmp order, the shorter first. */
static inline bool item_before(const uint8_t *bytes, const batch_item *a, const batch_item *b) {
    if (a->head != b->head)
        return a->head < b->head;
    uint32_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(bytes + a->offset, bytes + b->offset, common);
    return order != 0 ? order < 0 : a->size < b->size;
}

/* sort_few -- sorts a few items in place. */
static void sort_few(const uint8_t *bytes, batch_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        batch_item moved = items[i];
        size_t at = i;
        for (; at > 0 && item_before(bytes, &moved, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}

/* merge -- merges two sorted neighbours, the left one of `width` items, which go to `spare`. */
static void merge(const uint8_t *bytes, batch_item *items, size_t width, size_t count,
                  batch_item *spare) {
    if (!item_before(bytes, &items[width], &items[width - 1]))
        return;
    size_t left = 0, right = width, to = 0;
    memcpy(spare, items, width * sizeof *items);
    while (left < width && right < count) {
        if (item_before(bytes, &items[right], &spare[left]))
            items[to++] = items[right++];
        else
            items[to++] = spare[left++];
    }
    memcpy(items + to, spare + left, (width - left) * sizeof *items);
}

/* batch_sort -- false when memory is exhausted. */
static bool batch_sort(index_batch *batch) {
    const uint8_t *bytes = batch->bytes.data;
    size_t count = batch->count;
    for (size_t from = 0; from < count; from += SORT_FEW)
        sort_few(bytes, batch->items + from, count - from < SORT_FEW ? count - from : SORT_FEW);
    if (count <= SORT_FEW)
        return true;
    batch_item *spare = malloc(count * sizeof *spare);
    if (spare == NULL)
        return false;
    for (size_t width = SORT_FEW; width < count; width *= 2)
        for (size_t from = 0; from + width < count; from += 2 * width)
            merge(bytes, batch->items + from, width,
                  count - from < 2 * width ? count - from : 2 * width, spare);
    free(spare);
    return true;
}

tansu_status index_batch_apply(index_batch *batch, tree_writer *writer, tree *t,
                               tansu_error *error) {
    if (!batch_sort(batch))
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < batch->count; i++) {
        const batch_item *item = &batch->items[i];
        const uint8_t *entry = batch->bytes.data + item->offset;
        status = item->removes ? tree_remove(writer, t, entry, item->size, NULL, error)
                               : tree_insert(writer, t, entry, item->size, NULL, error);
    }
    if (status == TANSU_OK)
        batch->count = batch->bytes.size = 0;
    return status;
}

void index_batch_free(index_batch *batch) {
    tansu_buffer_free(&batch->bytes);
    free(batch->items);
    *batch = (index_batch){.items = NULL};
}
