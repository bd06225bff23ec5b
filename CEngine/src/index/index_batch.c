/*
 * index/index_batch.c -- making the changes of a batch.
 */
#include "index/index_batch.h"

#include "index/batch_sort.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

bool index_batch_add(index_batch *batch, const uint8_t *entry, uint32_t size, bool removes) {
    if (!ARRAY_RESERVE(batch->items, batch->count, batch->capacity, 1))
        return false;
    batch_item item = {
        .offset = (uint32_t)batch->bytes.size, .size = size & INT32_MAX, .removes = removes};
    if (!buffer_append(&batch->bytes, entry, size))
        return false;
    batch->items[batch->count++] = item;
    return true;
}

size_t index_batch_memory(const index_batch *batch) {
    return batch->bytes.size + batch->count * sizeof *batch->items;
}

tansu_status index_batch_apply(index_batch *batch, tree_writer *writer, tree *t,
                               tansu_error *error) {
    if (!batch_sort(batch->bytes.data, batch->items, batch->count))
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
