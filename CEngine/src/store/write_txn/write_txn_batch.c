/*
 * store/write_txn/write_txn_batch.c -- index entries that wait to be inserted together.
 *
 * A large transaction puts entries into an index in the order of its documents, each into another
 * leaf: at every one the processor waits for a leaf that is in no cache, and recovery reads it from
 * the block store. So the entries of new documents wait here, up to BATCH_BYTES, and are inserted
 * in their order: neighbours go into the same leaf. Nobody sees that. They are inserted before
 * anything reads the index, removes from it, or changes the list of indexes, and before the commit
 * (write_txn_flush()); unique indexes and that of `_id`, which each save reads, do not wait.
 */
#include "store/write_txn/write_txn_internal.h"

#include "store/database_internal.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* Entries wait in transactions that have that many records already: smaller ones gain nothing. The
 * tests pass with 1 as well, where those of every transaction wait. */
#ifndef BATCH_FROM
#define BATCH_FROM 256u
#endif
/* They take at most so much memory, in all indexes of the collection together. */
#define BATCH_BYTES ((size_t)4 * 1024 * 1024)
/* That many neighbours are sorted by insertion before they are merged. */
#define SORT_FEW 16u

typedef struct batch_item {
    uint64_t head;   /* the entry's first eight bytes, big-endian, missing ones zero */
    uint32_t offset; /* of the entry, in the bytes */
    uint32_t size;
} batch_item;

struct index_batch {
    tansu_buffer bytes;
    batch_item *items;
    size_t count;
    size_t capacity;
};

static bool batch_add(index_batch *batch, const uint8_t *entry, uint32_t size) {
    uint8_t first[8] = {0};
    memcpy(first, entry, size < sizeof first ? size : sizeof first);
    if (!ARRAY_RESERVE(batch->items, batch->count, batch->capacity, 1))
        return false;
    batch_item item = {load_be64(first), (uint32_t)batch->bytes.size, size};
    if (!buffer_append(&batch->bytes, entry, size))
        return false;
    batch->items[batch->count++] = item;
    return true;
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

static tansu_status batch_insert(index_batch *batch, tree_writer *writer, tree *entries,
                                 tansu_error *error) {
    if (!batch_sort(batch))
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < batch->count; i++)
        status = tree_insert(writer, entries, batch->bytes.data + batch->items[i].offset,
                             batch->items[i].size, NULL, error);
    return status;
}

/* batches_for -- room for the entries of a collection's indexes, of which no other collection's
 * wait. */
static tansu_status batches_for(write_txn *wtxn, const collection_state *state,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (wtxn->batched != state->id)
        status = write_txn_flush(wtxn, error);
    if (status != TANSU_OK || wtxn->batch_count >= state->index_count)
        return status;
    index_batch *batches = realloc(wtxn->batches, state->index_count * sizeof *batches);
    if (batches == NULL)
        return error_memory(error);
    memset(batches + wtxn->batch_count, 0,
           (state->index_count - wtxn->batch_count) * sizeof *batches);
    wtxn->batches = batches;
    wtxn->batch_count = state->index_count;
    return TANSU_OK;
}

bool write_txn_batches(const write_txn *wtxn, const index_definition *definition) {
    return !definition->unique && (wtxn->replay || wtxn->records >= BATCH_FROM);
}

tansu_status write_txn_batch(write_txn *wtxn, collection_state *state, uint32_t i,
                             const index_entries *entries, tansu_error *error) {
    tansu_status status = batches_for(wtxn, state, error);
    if (status != TANSU_OK)
        return status;
    wtxn->batched = state->id;
    for (uint32_t k = 0; k < entries->count; k++) {
        const uint8_t *entry = entries->bytes.data + entries->list[k].offset;
        if (!batch_add(&wtxn->batches[i], entry, entries->list[k].size))
            return error_memory(error);
        wtxn->batched_bytes += entries->list[k].size + sizeof(batch_item);
    }
    return wtxn->batched_bytes < BATCH_BYTES ? TANSU_OK : write_txn_flush(wtxn, error);
}

tansu_status write_txn_flush(write_txn *wtxn, tansu_error *error) {
    if (wtxn->batched == 0)
        return TANSU_OK;
    collection_state *state = write_txn_collection_by_id(wtxn, wtxn->batched);
    tansu_status status = TANSU_OK;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
    for (uint32_t i = 0; i < wtxn->batch_count; i++) {
        index_batch *batch = &wtxn->batches[i];
        if (status == TANSU_OK && batch->count != 0 && state != NULL && i < state->index_count)
            status = batch_insert(batch, &wtxn->writer, &state->indexes[i].entries, error);
        batch->count = batch->bytes.size = 0;
    }
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

void write_txn_batches_free(write_txn *wtxn) {
    for (uint32_t i = 0; i < wtxn->batch_count; i++) {
        tansu_buffer_free(&wtxn->batches[i].bytes);
        free(wtxn->batches[i].items);
    }
    free(wtxn->batches);
    wtxn->batches = NULL;
    wtxn->batch_count = 0;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
}
