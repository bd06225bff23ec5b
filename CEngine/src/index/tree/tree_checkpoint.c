/*
 * index/tree/tree_checkpoint.c -- writing blocks to the block store and evicting them from memory.
 */
#include "index/tree/tree_stored.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* One checkpoint's work on one tree. */
typedef struct writing {
    tree_store *store;
    block_store *bs;
    uint64_t written;
    tansu_buffer record;
    tansu_error *error;
} writing;

/* Space for that many blocks is kept from one checkpoint to the next. */
#define PENDING_KEPT 8192

/* write_block -- a block that has no number yet, after those below it. */
static tansu_status write_block(writing *w, tree_block *block) {
    if (atomic_load(&block->number) != 0)
        return TANSU_OK;
    const tree_content *content = block_resident(block); /* what was never stored is not evicted */
    if (content->level > 0) {
        const tree_inner *inner = as_inner(content);
        for (uint32_t i = 0; i < inner_children(inner); i++) {
            tansu_status status = write_block(w, inner->child[i]);
            if (status != TANSU_OK)
                return status;
        }
    }
    w->record.size = 0;
    if (!stored_encode(&w->record, content) ||
        !ARRAY_RESERVE(w->store->pending, w->store->pending_count, w->store->pending_capacity, 1))
        return error_memory(w->error);
    uint64_t number = atomic_fetch_add(&w->store->next_block, 1);
    tansu_status status =
        block_store_put(w->bs, BLOCK_STORE_BLOCK, number, w->record.data, w->record.size, w->error);
    if (status != TANSU_OK)
        return status;
    w->store->pending[w->store->pending_count++] = block;
    atomic_store(&block->number, number | NUMBER_PENDING);
    w->written++;
    return TANSU_OK;
}

/* tree_checkpoint -- a block with a number has been stored with all that is below it. */
tansu_status tree_checkpoint(tree_store *store, const tree *t, uint64_t *root_block,
                             uint64_t *written, tansu_error *error) {
    writing w = {.store = store, .bs = atomic_load(&store->bs), .error = error};
    if (w.bs == NULL)
        return error_set(error, TANSU_E_INVALID_STATE, NULL, "A memory store has no checkpoint");
    tansu_status status = t->root == NULL ? TANSU_OK : write_block(&w, t->root);
    tansu_buffer_free(&w.record);
    *root_block = status == TANSU_OK ? tree_root_block(t) : 0;
    if (written != NULL)
        *written = w.written;
    return status;
}

/* end_checkpoint -- ends a checkpoint: its blocks' numbers are valid, or they have none. */
static void end_checkpoint(tree_store *store, bool committed) {
    for (size_t i = 0; i < store->pending_count; i++) {
        atomic_uint_fast64_t *number = &store->pending[i]->number;
        if (committed)
            block_clean(store, store->pending[i]);
        atomic_store(number, committed ? atomic_load(number) & ~NUMBER_PENDING : 0);
    }
    store->pending_count = 0;
    if (store->pending_capacity > PENDING_KEPT) {
        free(store->pending);
        store->pending = NULL;
        store->pending_capacity = 0;
    }
}

/* tree_checkpoint_failed -- numbers that were assigned are not assigned again. */
void tree_checkpoint_failed(tree_store *store) {
    end_checkpoint(store, false);
}

/* tree_checkpoint_done -- from now on the leaves may be evicted. */
void tree_checkpoint_done(tree_store *store) {
    end_checkpoint(store, true);
}

/* One round of evictions in one tree. */
typedef struct eviction {
    tree_store *store;
    uint64_t limit;
    uint64_t from; /* leaves that end before this entry are passed over */
    uint64_t at;   /* the entry that the round has reached */
} eviction;

/* evict_below -- goes through the leaves in memory until enough is free; a leaf that was used since
 * the last round gets another one. */
static void evict_below(eviction *e, tree_block *block, uint64_t count) {
    const tree_content *content = block_resident(block);
    if (e->at + count <= e->from || content == NULL) {
        e->at += count;
        return;
    }
    if (!atomic_load_explicit(&block->inner, memory_order_acquire)) {
        if (atomic_exchange_explicit(&block->used, 0, memory_order_relaxed) == 0)
            block_evict(e->store, block);
        e->at += count;
        return;
    }
    const tree_inner *inner = as_inner(content);
    for (uint32_t i = 0; i < inner_children(inner) && tree_store_memory(e->store) > e->limit; i++)
        evict_below(e, inner->child[i], inner->count[i]);
}

/* tree_evict -- like a clock's hand. */
uint64_t tree_evict(tree_store *store, const tree *t, uint64_t from, uint64_t limit) {
    eviction e = {.store = store, .limit = limit, .from = from};
    if (t->root != NULL && tree_store_memory(store) > limit)
        evict_below(&e, t->root, t->count);
    return e.at < t->count ? e.at : 0;
}
