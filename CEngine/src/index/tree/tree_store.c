/*
 * index/tree/tree_store.c -- what all trees of a database share; opening, discarding and releasing
 * whole trees.
 */
#include "index/tree/tree_finger.h"
#include "util/error.h"

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
    size_t blocks = 0;
    tansu_status status = tree_each_block(store, t, count_block, &blocks, error);
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
