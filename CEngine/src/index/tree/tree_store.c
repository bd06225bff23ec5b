/*
 * index/tree/tree_store.c -- what all trees of a database share; opening, discarding and releasing
 * whole trees.
 */
#include "index/tree/tree_block.h"
#include "index/tree/tree_change.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* tree_store_new -- without a block store. */
tansu_status tree_store_new(tree_store **result, tansu_error *error) {
    tree_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return error_memory(error);
    int failed = pthread_mutex_init(&store->mutex, NULL);
    if (failed != 0) {
        free(store);
        return error_errno(error, NULL, "create a mutex", failed);
    }
    atomic_init(&store->bs, NULL);
    atomic_init(&store->next_block, 1);
    atomic_init(&store->memory, 0);
    atomic_init(&store->counted, 0);
    atomic_init(&store->dirty, 0);
    atomic_init(&store->frozen, 0);
    atomic_init(&store->relief_at, UINT64_MAX);
    *result = store;
    return TANSU_OK;
}

/* tree_store_free -- trees must have been released before. Fine on NULL. */
void tree_store_free(tree_store *store) {
    if (store == NULL)
        return;
    pthread_mutex_destroy(&store->mutex);
    spares_free(store);
    free(store->free_numbers);
    free(store->pending);
    free(store);
}

/* tree_store_attach -- number 0 means "not stored", so numbering starts at 1. */
void tree_store_attach(tree_store *store, block_store *bs, uint64_t next_block) {
    pthread_mutex_lock(&store->mutex);
    store->free_count = 0; /* numbers of another block store mean other blocks in this one */
    pthread_mutex_unlock(&store->mutex);
    atomic_store(&store->next_block, next_block == 0 ? 1 : next_block);
    atomic_store_explicit(&store->bs, bs, memory_order_release);
}

/* tree_store_next_block -- for the checkpoint to write down. */
uint64_t tree_store_next_block(const tree_store *store) {
    return atomic_load(&store->next_block);
}

/* tree_store_set_relief -- before other threads use the store. */
void tree_store_set_relief(tree_store *store, tree_relief relief, void *context) {
    store->relief = relief;
    store->relief_context = context;
}

/* tree_store_relieve_at -- any thread. */
void tree_store_relieve_at(tree_store *store, uint64_t bytes) {
    atomic_store_explicit(&store->relief_at, bytes, memory_order_relaxed);
}

/* tree_published -- blocks that the last commit replaced need no writing, whoever still sees them,
 * but for those that a checkpoint in progress writes all the same: they stay in memory until it has
 * ended. */
void tree_published(const retire_list *retired) {
    int64_t bytes = 0;
    tree_store *store = NULL; /* all blocks of a database are of one */
    for (size_t i = 0; i < retired->count; i++) {
        const retire_item *item = &retired->items[i];
        if (item->free != block_retired)
            continue;
        store = item->context;
        if (item->birth > atomic_load(&store->frozen))
            bytes += block_take_dirty(item->object);
    }
    if (store != NULL)
        blocks_count(store, 0, -bytes);
}

/* tree_store_freeze -- an epoch that was published, or 0. */
void tree_store_freeze(tree_store *store, uint64_t epoch) {
    atomic_store(&store->frozen, epoch);
}

/* tree_trim_retired -- what is stored can be loaded again by the snapshots that still see it. */
void tree_trim_retired(const retire_list *retired) {
    for (size_t i = 0; i < retired->count; i++)
        if (retired->items[i].free == block_retired)
            block_evict(retired->items[i].context, retired->items[i].object);
}

/* tree_open -- a handle without content. */
tansu_status tree_open(tree_store *store, uint64_t block, uint64_t count, tree *result,
                       tansu_error *error) {
    *result = (tree){NULL, 0};
    if (block == 0 && count == 0)
        return TANSU_OK;
    if (block == 0 || count == 0 || (block & NUMBER_PENDING) != 0)
        return error_set(error, TANSU_E_CORRUPT, "index", "The stored root of an index is corrupt");
    tree_block *root = block_new(store, 0, NULL, block);
    if (root == NULL)
        return error_memory(error);
    *result = (tree){root, count};
    return TANSU_OK;
}

/* tree_root_block -- 0 for an empty tree and for one that was never stored. */
uint64_t tree_root_block(const tree *t) {
    return t->root == NULL ? 0 : atomic_load(&t->root->number) & ~NUMBER_PENDING;
}

/* count_block -- a tree_block_visitor. */
static tansu_status count_block(void *context, tree_block *block, tansu_error *error) {
    (void)block;
    (void)error;
    ++*(size_t *)context;
    return TANSU_OK;
}

tansu_status tree_blocks(tree_store *store, const tree *t, size_t *blocks, tansu_error *error) {
    *blocks = 0;
    return tree_each_block(store, t, count_block, blocks, error);
}

/* retire_blocks -- a block and all below, every inner one being in memory. */
static void retire_blocks(tree_store *store, tree_block *block, retire_list *retired) {
    if (atomic_load_explicit(&block->inner, memory_order_acquire)) {
        const tree_inner *inner = as_inner(block_resident(block));
        for (uint32_t i = 0; i < inner_children(inner); i++)
            retire_blocks(store, inner->child[i], retired);
    }
    /* the capacity is reserved */
    retire_add_born(retired, block_retired, store, block, block->epoch);
}

/* tree_retire_all -- inner blocks are loaded first, for only they know the numbers below. */
tansu_status tree_retire_all(tree_store *store, const tree *t, retire_list *retired,
                             tansu_error *error) {
    if (t->root == NULL)
        return TANSU_OK;
    size_t blocks;
    tansu_status status = tree_blocks(store, t, &blocks, error);
    if (status != TANSU_OK)
        return status;
    if (!retire_reserve(retired, blocks))
        return error_memory(error);
    retire_blocks(store, t->root, retired);
    return TANSU_OK;
}

/* release_block -- a block and all below that is in memory. */
static void release_block(tree_store *store, tree_block *block) {
    tree_content *content = block_resident(block);
    if (content != NULL && content->level > 0) {
        tree_inner *inner = inner_of(content);
        for (uint32_t i = 0; i < inner_children(inner); i++)
            release_block(store, inner->child[i]);
    }
    block_forget(store, block);
}

/* tree_release -- memory only; what is stored stays so. */
void tree_release(tree_store *store, tree *t) {
    if (t->root != NULL)
        release_block(store, t->root);
    *t = (tree){NULL, 0};
}

/* discard_block -- a block of the writer's and those of its blocks below; others are shared. */
static void discard_block(tree_writer *writer, tree_block *block) {
    if (block->epoch < writer->epoch)
        return;
    tree_content *content = block_resident(block);
    if (content != NULL && content->level > 0) {
        tree_inner *inner = inner_of(content);
        for (uint32_t i = 0; i < inner_children(inner); i++)
            discard_block(writer, inner->child[i]);
    }
    writer->bytes -= block_memory(block);
    block_free(writer->store, block);
}

/* tree_discard -- a block that the writer made hangs from blocks that it made, too. */
void tree_discard(tree_writer *writer, tree *t) {
    finger_away(writer);
    if (t->root != NULL)
        discard_block(writer, t->root);
    *t = (tree){NULL, 0};
}

/* ---- Loading blocks from the block store ---- */

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

/* ---- All blocks of a tree, and the numbers of those that are stored ---- */

/* A way through all blocks of a tree. */
typedef struct tree_way_through {
    tree_store *store;
    tree_block_visitor visit;
    void *context;
    block_tally tally;
    const tree_page *before[TREE_MAX_HEIGHT]; /* the separators of each level's newest block */
} tree_way_through;

/* show -- one block. Errors: CORRUPT, and the visitor's. */
static tansu_status show(tree_way_through *w, tree_block *block, tansu_error *error) {
    if (!block_tally_add(&w->tally, w->store, block))
        return block_damaged(w->store, atomic_load(&block->number), "it is not the only one",
                             error);
    return w->visit(w->context, block, error);
}

/* rises -- whether a block's separators are greater than those of the blocks before on its level:
 * so none is entered twice, but for those without separators, which have one child. */
static bool rises(tree_way_through *w, const tree_inner *inner) {
    if (inner->keys.count == 0)
        return true;
    const tree_page **before = &w->before[inner->base.level];
    tree_ref first = page_ref(&inner->keys, 0);
    tree_ref last = *before == NULL ? first : page_ref(*before, 0);
    bool right = *before == NULL || ref_less(&last, &first);
    *before = &inner->keys;
    return right;
}

/* visit_below -- the blocks below a content. */
static tansu_status visit_below(tree_way_through *w, const tree_block *block,
                                const tree_content *content, tansu_error *error) {
    if (content->level == 0)
        return TANSU_OK;
    const tree_inner *inner = as_inner(content);
    if (!rises(w, inner))
        return block_damaged(w->store, atomic_load(&((tree_block *)block)->number),
                             "its keys are out of order", error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        const tree_content *child;
        status = show(w, inner->child[i], error);
        if (status != TANSU_OK || content->level == 1)
            continue;
        status = child_content(w->store, inner, i, &child, error);
        if (status == TANSU_OK)
            status = visit_below(w, inner->child[i], child, error);
    }
    return status;
}

tansu_status tree_each_block(tree_store *store, const tree *t, tree_block_visitor visit,
                             void *context, tansu_error *error) {
    if (t->root == NULL)
        return TANSU_OK;
    tree_way_through w = {.store = store, .visit = visit, .context = context};
    const tree_content *content;
    tansu_status status = block_content(store, t->root, -1, t->count, &content, error);
    if (status != TANSU_OK)
        return status;
    status = show(&w, t->root, error);
    if (status == TANSU_OK)
        status = visit_below(&w, t->root, content, error);
    block_unpin(t->root);
    return status;
}

/* add_number -- a tree_block_visitor. Nothing of a block that is not stored. */
static tansu_status add_number(void *context, tree_block *block, tansu_error *error) {
    block_numbers *numbers = context;
    uint64_t number = atomic_load(&block->number);
    if (number == 0 || (number & NUMBER_PENDING) != 0)
        return TANSU_OK;
    if (!ARRAY_RESERVE(numbers->list, numbers->count, numbers->capacity, 1))
        return error_memory(error);
    numbers->list[numbers->count++] = number;
    return TANSU_OK;
}

tansu_status tree_numbers(tree_store *store, const tree *t, block_numbers *numbers,
                          tansu_error *error) {
    return tree_each_block(store, t, add_number, numbers, error);
}

/* ---- Writing blocks to the block store and evicting them from memory ---- */

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
