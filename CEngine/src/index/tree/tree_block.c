/*
 * index/tree/tree_block.c -- handles and contents of tree blocks: creating, evicting and
 * freeing them, and the block numbers that become free.
 */
#include "index/tree/tree_block.h"
#include "util/array.h"
#include "util/error.h"
#include "util/heap.h"

#include <stdlib.h>

void tree_store_count(tree_store *store, int64_t bytes) {
    blocks_count(store, bytes, 0);
    atomic_fetch_add_explicit(&store->counted, (uint64_t)bytes, memory_order_relaxed);
}

uint64_t tree_store_counted(const tree_store *store) {
    return atomic_load_explicit(&((tree_store *)store)->counted, memory_order_relaxed);
}

/* tree_store_memory -- handles and contents. */
uint64_t tree_store_memory(const tree_store *store) {
    return atomic_load_explicit(&store->memory, memory_order_relaxed);
}

/* tree_store_dirty -- contents that a transaction made and no checkpoint has written. */
uint64_t tree_store_dirty(const tree_store *store) {
    return atomic_load_explicit(&store->dirty, memory_order_relaxed);
}

void blocks_count(tree_store *store, int64_t memory, int64_t dirty) {
    if (memory != 0)
        atomic_fetch_add_explicit(&store->memory, (uint64_t)memory, memory_order_relaxed);
    if (dirty != 0)
        atomic_fetch_add_explicit(&store->dirty, (uint64_t)dirty, memory_order_relaxed);
}

/* spare_take -- a content of TREE_BLOCK_BYTES that was freed, or NULL. */
static tree_content *spare_take(tree_store *store) {
    for (uint32_t i = 0; i < SPARE_CONTENTS; i++) {
        if (atomic_load_explicit(&store->spare[i], memory_order_relaxed) == NULL)
            continue;
        tree_content *content =
            atomic_exchange_explicit(&store->spare[i], NULL, memory_order_acquire);
        if (content != NULL)
            return content;
    }
    return NULL;
}

/* spare_keep -- keeps a freed content of TREE_BLOCK_BYTES; false when enough are kept. */
static bool spare_keep(tree_store *store, tree_content *content) {
    for (uint32_t i = 0; i < SPARE_CONTENTS; i++) {
        tree_content *none = NULL;
        if (atomic_load_explicit(&store->spare[i], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&store->spare[i], &none, content,
                                                    memory_order_release, memory_order_relaxed))
            return true;
    }
    return false;
}

/* content_new -- memory for a content whose page begins at `page_at`. */
static tree_content *content_new(tree_store *store, size_t page_at, uint64_t page_bytes) {
    uint64_t bytes = page_at + page_bytes;
    if (bytes <= TREE_BLOCK_BYTES)
        bytes = TREE_BLOCK_BYTES;
    if (bytes > UINT32_MAX)
        return NULL;
    tree_content *content = bytes == TREE_BLOCK_BYTES ? spare_take(store) : NULL;
    if (content != NULL)
        return content;
    content = malloc(bytes);
    if (content == NULL)
        return NULL;
    content->bytes = (uint32_t)bytes;
    content->handle = NULL;
    return content;
}

/* content_leaf -- page_fill(), page_copy() or a load makes the page. */
tree_content *content_leaf(tree_store *store, uint64_t page_bytes) {
    tree_content *content = content_new(store, offsetof(tree_leaf, page), page_bytes);
    if (content != NULL) {
        content->level = 0;
        leaf_page(content)->capacity = content->bytes - (uint32_t)offsetof(tree_leaf, page);
    }
    return content;
}

/* content_inner -- the caller sets the level. */
tree_content *content_inner(tree_store *store, uint64_t page_bytes) {
    tree_content *content = content_new(store, offsetof(tree_inner, keys), page_bytes);
    if (content != NULL)
        inner_of(content)->keys.capacity = content->bytes - (uint32_t)offsetof(tree_inner, keys);
    return content;
}

/* content_discard -- frees the memory; fine on NULL. */
static void content_discard(tree_content *content) {
    if (content != NULL)
        free(content->handle);
    free(content);
}

/* content_free -- fine on NULL. */
void content_free(tree_store *store, tree_content *content) {
    if (!HEAP_KEEPS || content == NULL || content->bytes != TREE_BLOCK_BYTES ||
        !spare_keep(store, content))
        content_discard(content);
}

void spares_free(tree_store *store) {
    for (uint32_t i = 0; i < SPARE_CONTENTS; i++)
        content_discard(atomic_load_explicit(&store->spare[i], memory_order_acquire));
}

/* content_count -- a leaf's entries, or the sum over an inner block's children. */
uint64_t content_count(const tree_content *content) {
    if (content->level == 0)
        return as_leaf(content)->page.count;
    const tree_inner *inner = as_inner(content);
    uint64_t count = 0;
    for (uint32_t i = 0; i < inner_children(inner); i++)
        count += inner->count[i];
    return count;
}

/* handle_new -- a handle that is not counted yet. Blocks of epoch 0 are loaded, or belong to an
 * index that is built online and that no checkpoint can write before it is attached: they are not
 * counted as dirty. */
static tree_block *handle_new(uint64_t epoch, tree_content *content, uint64_t number) {
    tree_block *block = content == NULL ? NULL : content->handle;
    if (block != NULL)
        content->handle = NULL;
    else
        block = malloc(sizeof(*block));
    if (block == NULL)
        return NULL;
    block->epoch = epoch;
    atomic_init(&block->content, content);
    atomic_init(&block->number, number);
    atomic_init(&block->pins, 0);
    atomic_init(&block->dirty, epoch != 0 && number == 0 ? content->bytes : 0);
    atomic_init(&block->inner, content != NULL && content->level > 0);
    atomic_init(&block->used, 1);
    return block;
}

/* block_new -- not in any tree yet. */
tree_block *block_new(tree_store *store, uint64_t epoch, tree_content *content, uint64_t number) {
    tree_block *block = handle_new(epoch, content, number);
    if (block != NULL)
        blocks_count(store, (int64_t)sizeof(*block) + (content == NULL ? 0 : content->bytes),
                     block_dirty(block));
    return block;
}

tree_block *block_uncounted(uint64_t epoch, tree_content *content) {
    return handle_new(epoch, content, 0);
}

/* block_undo -- keeps the handle's memory with the content's. */
void block_undo(tree_store *store, tree_block *block) {
    tree_content *content = block_resident(block);
    if (content != NULL && content->handle == NULL)
        content->handle = block;
    else
        free(block);
    content_free(store, content);
}

uint32_t block_take_dirty(tree_block *block) {
    return block_dirty(block) == 0
               ? 0
               : atomic_exchange_explicit(&block->dirty, 0, memory_order_relaxed);
}

/* block_clean -- effective once: called by the checkpoint and by the commit that replaces the
 * block. */
void block_clean(tree_store *store, tree_block *block) {
    blocks_count(store, 0, -(int64_t)block_take_dirty(block));
}

/* block_swap -- no other thread knows the block yet. */
void block_swap(tree_store *store, tree_block *block, tree_content *content) {
    tree_content *before = block_resident(block);
    int64_t more = (int64_t)content->bytes - before->bytes;
    bool dirty = block_dirty(block) != 0;
    if (dirty)
        atomic_store_explicit(&block->dirty, content->bytes, memory_order_relaxed);
    blocks_count(store, more, dirty ? more : 0);
    atomic_store_explicit(&block->content, content, memory_order_release);
    content_free(store, before);
}

/* block_forget -- memory only. */
void block_forget(tree_store *store, tree_block *block) {
    tree_content *content = block_resident(block);
    int64_t memory = (int64_t)sizeof(*block) + (content == NULL ? 0 : content->bytes);
    blocks_count(store, -memory, -(int64_t)block_take_dirty(block));
    block_undo(store, block);
}

/* block_evict -- a reader's pin and the mark exclude each other, so no reader keeps the content. */
bool block_evict(tree_store *store, tree_block *block) {
    uint64_t number = atomic_load_explicit(&block->number, memory_order_acquire);
    tree_content *content = atomic_load_explicit(&block->content, memory_order_relaxed);
    if (content == NULL || ((uintptr_t)content & CONTENT_LEAVING) != 0 || number == 0 ||
        (number & NUMBER_PENDING) != 0 ||
        atomic_load_explicit(&block->inner, memory_order_acquire) ||
        atomic_load_explicit(&block->pins, memory_order_relaxed) != 0)
        return false;
    tree_content *leaving = (tree_content *)((uintptr_t)content | CONTENT_LEAVING);
    if (!atomic_compare_exchange_strong(&block->content, &content, leaving))
        return false;
    bool unseen = atomic_load(&block->pins) == 0;
    /* A reader may have cleared the mark meanwhile. */
    if (!atomic_compare_exchange_strong(&block->content, &leaving, unseen ? NULL : content) ||
        !unseen)
        return false;
    blocks_count(store, -(int64_t)content->bytes, 0);
    content_free(store, content);
    return true;
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

/* tree_store_return_free -- without memory the numbers are lost, see block_free(). */
void tree_store_return_free(tree_store *store, const uint64_t *numbers, size_t count) {
    if (count == 0)
        return;
    pthread_mutex_lock(&store->mutex);
    if (ARRAY_RESERVE(store->free_numbers, store->free_count, store->free_capacity, count)) {
        memcpy(store->free_numbers + store->free_count, numbers, count * sizeof(*numbers));
        store->free_count += count;
    }
    pthread_mutex_unlock(&store->mutex);
}

/* block_free -- when memory for the list of free numbers is exhausted the block store keeps a
 * record that nothing refers to, until it is rebuilt: lost space, but no wrong answer. */
void block_free(tree_store *store, tree_block *block) {
    uint64_t number = atomic_load_explicit(&block->number, memory_order_acquire);
    if (number != 0 && (number & NUMBER_PENDING) == 0)
        tree_store_return_free(store, &number, 1);
    block_forget(store, block);
}

/* block_retired -- runs when no snapshot is left that could see the block. */
void block_retired(void *store, void *block) {
    block_free(store, block);
}
