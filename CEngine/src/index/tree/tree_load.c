/*
 * index/tree/tree_load.c -- loading blocks from the block store.
 */
#include "index/tree/tree_stored.h"
#include "util/buffer.h"
#include "util/error.h"

#include <inttypes.h>
#include <stdio.h>

/* block_damaged -- marks the block store, too. */
tansu_status block_damaged(tree_store *store, uint64_t number, const char *what,
                           tansu_error *error) {
    block_store *bs = atomic_load_explicit(&store->bs, memory_order_acquire);
    char context[64];
    if (bs != NULL)
        block_store_mark_damaged(bs);
    snprintf(context, sizeof(context), "index block %" PRIu64, number);
    return error_set(error, TANSU_E_CORRUPT, context,
                     "The stored index block is corrupt (%s); close the database and open it again "
                     "to have the index files rebuilt",
                     what);
}

/* block_tally_add -- the number of records is asked for again when the one that is known is not
 * enough: a checkpoint may have stored blocks meanwhile. */
bool block_tally_add(block_tally *tally, tree_store *store, const tree_block *block) {
    uint64_t number = atomic_load(&((tree_block *)block)->number);
    block_store *bs = atomic_load_explicit(&store->bs, memory_order_acquire);
    if (bs == NULL || number == 0 || (number & NUMBER_PENDING) != 0 || ++tally->seen <= tally->most)
        return true;
    tally->most = block_store_records(bs);
    return tally->seen <= tally->most;
}

/* stay -- the content of a pinned block that is in memory, an eviction in progress being called
 * off; NULL when there is none. */
static tree_content *stay(tree_block *block) {
    for (;;) {
        tree_content *there = atomic_load(&block->content);
        if (((uintptr_t)there & CONTENT_LEAVING) == 0)
            return there;
        tree_content *plain = (tree_content *)((uintptr_t)there & ~CONTENT_LEAVING);
        if (atomic_compare_exchange_strong(&block->content, &there, plain))
            return plain;
    }
}

/* load_record -- a content made from the block's record. */
static tansu_status load_record(tree_store *store, tree_block *block, int level, uint64_t count,
                                tree_content **content, tansu_error *error) {
    uint64_t number = atomic_load_explicit(&block->number, memory_order_acquire) & ~NUMBER_PENDING;
    block_store *bs = atomic_load_explicit(&store->bs, memory_order_acquire);
    if (bs == NULL || number == 0)
        return block_damaged(store, number, "there is no block store", error);
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, number, &record, error);
    if (status == TANSU_E_NOT_FOUND)
        return block_damaged(store, number, "it is missing", error);
    if (status != TANSU_OK)
        return status;

    tree_content *made = NULL;
    const char *fault;
    status = stored_decode(store, record.data, record.size, level, &made, &fault, error);
    tansu_buffer_free(&record);
    if (status == TANSU_E_CORRUPT)
        return block_damaged(store, number, fault, error);
    if (status != TANSU_OK)
        return status;
    if (content_count(made) != count) {
        stored_drop(store, made);
        return block_damaged(store, number, "number of entries", error);
    }
    *content = made;
    return TANSU_OK;
}

/* block_load -- reads the record without a lock; the first of several threads publishes. */
tansu_status block_load(tree_store *store, tree_block *block, int level, uint64_t count,
                        const tree_content **content, tansu_error *error) {
    tree_content *there;
    while ((there = stay(block)) == NULL) {
        tree_content *made = NULL;
        tansu_status status = load_record(store, block, level, count, &made, error);
        if (status != TANSU_OK) {
            block_unpin(block);
            return status;
        }
        if (made->level > 0)
            atomic_store_explicit(&block->inner, 1, memory_order_release);
        tree_content *none = NULL;
        const uint32_t bytes = made->bytes;
        blocks_count(store, bytes, 0);
        if (!atomic_compare_exchange_strong(&block->content, &none, made)) {
            blocks_count(store, -(int64_t)bytes, 0);
            stored_drop(store, made);
        } else if (tree_store_memory(store) >
                   atomic_load_explicit(&store->relief_at, memory_order_relaxed))
            store->relief(store->relief_context);
    }
    atomic_store_explicit(&block->used, 1, memory_order_relaxed);
    *content = there;
    return TANSU_OK;
}
