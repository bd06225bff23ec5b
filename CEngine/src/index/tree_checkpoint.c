/*
 * index/tree_checkpoint.c -- blocks on their way to the cabinet, out of memory, and out of the
 * cabinet (see tree.h).
 */
#include "base/buffer.h"
#include "base/error.h"
#include "index/tree_block.h"

#include <stdlib.h>

/* put_page -- appends a page without its gap. */
static bool put_page(tansu_buffer *record, const tree_page *page) {
    uint32_t front = page_front(page), size = front + page->heap;
    if (!buffer_append(record, page, front) ||
        !buffer_append(record, (const uint8_t *)page + page->capacity - page->heap, page->heap))
        return false;
    store_u32(record->data + offsetof(tree_page, capacity), size);
    return true;
}

/* put_children -- appends the numbers and counts of an inner block's children, all stored
 * before. */
static bool put_children(tansu_buffer *record, const tree_inner *inner) {
    uint32_t children = inner_children(inner);
    for (uint32_t i = 0; i < children; i++) {
        uint64_t number = atomic_load(&inner->child[i]->number) & ~NUMBER_PENDING;
        if (!buffer_append(record, &number, sizeof(number)))
            return false;
    }
    return buffer_append(record, inner->count, children * sizeof(inner->count[0]));
}

/* One checkpoint's work on one tree. */
typedef struct writing {
    tree_store *store;
    cabinet *cab;
    uint64_t written;
    tansu_buffer record;
    tansu_error *error;
} writing;

/* note_pending -- makes room for one more block that counts only after the commit. */
static bool note_pending(tree_store *store) {
    if (store->pending_count < store->pending_capacity)
        return true;
    size_t capacity = store->pending_capacity == 0 ? 256 : store->pending_capacity * 2;
    tree_block **pending = realloc(store->pending, capacity * sizeof(*pending));
    if (pending == NULL)
        return false;
    store->pending = pending;
    store->pending_capacity = capacity;
    return true;
}

/* write_block -- a block that has no number yet, after those below it. */
static tansu_status write_block(writing *w, tree_block *block) {
    if (atomic_load(&block->number) != 0)
        return TANSU_OK;
    /* What was never stored is never evicted. */
    const tree_content *content = atomic_load_explicit(&block->content, memory_order_acquire);
    const tree_inner *inner = as_inner(content);
    if (content->level > 0) {
        for (uint32_t i = 0; i < inner_children(inner); i++) {
            tansu_status status = write_block(w, inner->child[i]);
            if (status != TANSU_OK)
                return status;
        }
    }
    w->record.size = 0;
    bool filled = content->level == 0
                      ? put_page(&w->record, &as_leaf(content)->page)
                      : put_page(&w->record, &inner->keys) && put_children(&w->record, inner);
    if (!filled || !note_pending(w->store))
        return error_memory(w->error);
    uint64_t number = atomic_fetch_add(&w->store->next_block, 1);
    tansu_status status =
        cabinet_put(w->cab, CABINET_BLOCK, number, w->record.data, w->record.size, w->error);
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
    writing w = {.store = store, .cab = atomic_load(&store->cab), .error = error};
    if (w.cab == NULL)
        return error_set(error, TANSU_E_MISUSE, NULL, "A memory store has no checkpoint.");
    tansu_status status = t->root == NULL ? TANSU_OK : write_block(&w, t->root);
    tansu_buffer_free(&w.record);
    *root_block = status == TANSU_OK ? tree_root_block(t) : 0;
    if (written != NULL)
        *written = w.written;
    return status;
}

/* settle -- ends a checkpoint: its blocks' numbers are valid, or they have none. */
static void settle(tree_store *store, bool committed) {
    for (size_t i = 0; i < store->pending_count; i++) {
        atomic_uint_fast64_t *number = &store->pending[i]->number;
        atomic_store(number, committed ? atomic_load(number) & ~NUMBER_PENDING : 0);
    }
    store->pending_count = 0;
}

/* tree_checkpoint_failed -- numbers that were given out are not given out again. */
void tree_checkpoint_failed(tree_store *store) {
    settle(store, false);
}

/* tree_checkpoint_done -- from now on the blocks may be evicted. */
void tree_checkpoint_done(tree_store *store) {
    settle(store, true);
}

/* tree_store_take_free -- the list itself changes hands. */
tansu_status tree_store_take_free(tree_store *store, uint64_t **numbers, size_t *count,
                                  tansu_error *error) {
    (void)error;
    pthread_mutex_lock(&store->mutex);
    *numbers = store->free_numbers;
    *count = store->free_count;
    store->free_numbers = NULL;
    store->free_count = store->free_capacity = 0;
    pthread_mutex_unlock(&store->mutex);
    return TANSU_OK;
}

/* tree_store_give_free -- without memory the numbers are lost, see block_free(). */
void tree_store_give_free(tree_store *store, const uint64_t *numbers, size_t count) {
    if (count == 0)
        return;
    pthread_mutex_lock(&store->mutex);
    bool room = true;
    if (store->free_capacity - store->free_count < count) {
        size_t capacity = store->free_capacity * 2 + count + 64;
        uint64_t *more = realloc(store->free_numbers, capacity * sizeof(*more));
        room = more != NULL;
        if (room) {
            store->free_numbers = more;
            store->free_capacity = capacity;
        }
    }
    if (room) {
        memcpy(store->free_numbers + store->free_count, numbers, count * sizeof(*numbers));
        store->free_count += count;
    }
    pthread_mutex_unlock(&store->mutex);
}

/* content_retired -- frees an evicted content, which is accounted for no more. */
static void content_retired(void *store, void *content) {
    (void)store;
    free(content);
}

/* evict_leaf -- drops a stored leaf's content unless it was used since the last time. */
static tansu_status evict_leaf(tree_store *store, tree_block *block, retire_list *retired,
                               tansu_error *error) {
    uint64_t number = atomic_load(&block->number);
    tree_content *content = atomic_load_explicit(&block->content, memory_order_acquire);
    if (content == NULL || number == 0 || (number & NUMBER_PENDING) != 0)
        return TANSU_OK;
    if (atomic_exchange_explicit(&block->used, 0, memory_order_relaxed) != 0)
        return TANSU_OK;
    if (!retire_reserve(retired, 1))
        return error_memory(error);
    if (atomic_compare_exchange_strong(&block->content, &content, NULL)) {
        atomic_fetch_sub_explicit(&store->memory, content->bytes, memory_order_relaxed);
        retire_add(retired, content_retired, NULL, content); /* has room */
    }
    return TANSU_OK;
}

/* evict_below -- goes through the leaves in memory until enough is free. */
static tansu_status evict_below(tree_store *store, tree_block *block, uint64_t limit,
                                retire_list *retired, tansu_error *error) {
    const tree_content *content = atomic_load_explicit(&block->content, memory_order_acquire);
    if (content == NULL)
        return TANSU_OK;
    if (content->level == 0)
        return evict_leaf(store, block, retired, error);
    const tree_inner *inner = as_inner(content);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0;
         status == TANSU_OK && i < inner_children(inner) && tree_store_memory(store) > limit; i++)
        status = evict_below(store, inner->child[i], limit, retired, error);
    return status;
}

/* tree_evict -- twice around at most, like a clock's hand: the first time only unused leaves go,
 * the second time those that were not used since the first. */
tansu_status tree_evict(tree_store *store, const tree *t, uint64_t limit, retire_list *retired,
                        tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (int round = 0; round < 2 && status == TANSU_OK && t->root != NULL; round++)
        if (tree_store_memory(store) > limit)
            status = evict_below(store, t->root, limit, retired, error);
    return status;
}
