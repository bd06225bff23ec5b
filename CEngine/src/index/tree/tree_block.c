/*
 * index/tree/tree_block.c -- handles and contents of tree blocks: creating, loading and freeing
 * them, and the block numbers that become free.
 */
#include "index/tree/tree_block.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* tree_store_memory -- handles and contents. */
uint64_t tree_store_memory(const tree_store *store) {
    return atomic_load_explicit(&store->memory, memory_order_relaxed);
}

/* tree_store_dirty -- contents that a transaction made and no checkpoint has written. */
uint64_t tree_store_dirty(const tree_store *store) {
    return atomic_load_explicit(&store->dirty, memory_order_relaxed);
}

/* account -- adds to (or takes from) the bytes that blocks take. */
static void account(tree_store *store, int64_t bytes) {
    atomic_fetch_add_explicit(&store->memory, (uint64_t)bytes, memory_order_relaxed);
}

/* With AddressSanitizer nothing is kept, so that it sees a content that is used after its end. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_SPARES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_SPARES 0
#endif
#endif
#ifndef KEEPS_SPARES
#define KEEPS_SPARES 1
#endif

/* spare_take -- a content of BLOCK_BYTES that was freed, or NULL. */
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

/* spare_keep -- keeps a freed content of BLOCK_BYTES; false when enough are kept. */
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
    if (bytes <= BLOCK_BYTES)
        bytes = BLOCK_BYTES;
    if (bytes > UINT32_MAX)
        return NULL;
    tree_content *content = bytes == BLOCK_BYTES ? spare_take(store) : NULL;
    if (content == NULL)
        content = malloc(bytes);
    if (content == NULL)
        return NULL;
    content->bytes = (uint32_t)bytes;
    account(store, (int64_t)bytes);
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

/* content_free -- fine on NULL. */
void content_free(tree_store *store, tree_content *content) {
    if (content == NULL)
        return;
    account(store, -(int64_t)content->bytes);
    if (!KEEPS_SPARES || content->bytes != BLOCK_BYTES || !spare_keep(store, content))
        free(content);
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

/* block_new -- not in any tree yet. Blocks of epoch 0 are loaded, or belong to an index that is
 * built online and that no checkpoint can write before it is attached: they are not counted as
 * dirty. */
tree_block *block_new(tree_store *store, uint64_t epoch, tree_content *content, uint64_t number) {
    tree_block *block = malloc(sizeof(*block));
    if (block == NULL)
        return NULL;
    uint32_t dirty = epoch != 0 && number == 0 ? content->bytes : 0;
    block->epoch = epoch;
    atomic_init(&block->content, content);
    atomic_init(&block->number, number);
    atomic_init(&block->pins, 0);
    atomic_init(&block->dirty, dirty);
    atomic_init(&block->inner, content != NULL && content->level > 0);
    atomic_init(&block->used, 1);
    atomic_fetch_add_explicit(&store->dirty, dirty, memory_order_relaxed);
    account(store, sizeof(*block));
    return block;
}

/* block_clean -- effective once: called by the checkpoint and by the commit that replaces the
 * block. */
void block_clean(tree_store *store, tree_block *block) {
    if (atomic_load_explicit(&block->dirty, memory_order_relaxed) == 0)
        return;
    uint32_t bytes = atomic_exchange_explicit(&block->dirty, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&store->dirty, bytes, memory_order_relaxed);
}

/* block_swap -- no other thread knows the block yet. */
void block_swap(tree_store *store, tree_block *block, tree_content *content) {
    if (atomic_load_explicit(&block->dirty, memory_order_relaxed) != 0) {
        block_clean(store, block);
        atomic_store_explicit(&block->dirty, content->bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&store->dirty, content->bytes, memory_order_relaxed);
    }
    content_free(store, atomic_exchange(&block->content, content));
}

/* block_forget -- memory only. */
void block_forget(tree_store *store, tree_block *block) {
    block_clean(store, block);
    content_free(store, block_resident(block));
    account(store, -(int64_t)sizeof(*block));
    free(block);
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

/* damaged -- a stored block that is invalid. */
static tansu_status damaged(tree_store *store, uint64_t number, const char *what,
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

/* parse_leaf -- a content from a leaf's record. */
static tansu_status parse_leaf(tree_store *store, uint64_t number, const uint8_t *record,
                               size_t size, tree_content **content, tansu_error *error) {
    const tree_page *page = (const tree_page *)(const void *)record;
    if (page->capacity != size)
        return damaged(store, number, "size", error);
    tree_content *made = content_leaf(store, size);
    if (made == NULL)
        return error_memory(error);
    memcpy(leaf_page(made), record, size);
    *content = made;
    return TANSU_OK;
}

/* parse_inner -- a content from an inner block's record: page, children's numbers, their counts. */
static tansu_status parse_inner(tree_store *store, uint64_t number, const uint8_t *record,
                                size_t size, tree_content **content, tansu_error *error) {
    const tree_page *page = (const tree_page *)(const void *)record;
    uint64_t children = (uint64_t)page->count + 1;
    if (children > INNER_MAX || size != page->capacity + 16 * children)
        return damaged(store, number, "number of children", error);
    tree_content *made = content_inner(store, page->capacity);
    if (made == NULL)
        return error_memory(error);
    made->level = page->level;
    tree_inner *inner = inner_of(made);
    memcpy(&inner->keys, record, page->capacity);
    const uint8_t *numbers = record + page->capacity, *counts = numbers + 8 * children;
    tansu_status status = TANSU_OK;
    uint32_t i;
    for (i = 0; i < children; i++) {
        uint64_t child = load_u64(numbers + 8 * i);
        inner->count[i] = load_u64(counts + 8 * i);
        if (child == 0 || (child & NUMBER_PENDING) != 0 || inner->count[i] == 0 ||
            inner->count[i] >> 48 != 0) {
            status = damaged(store, number, "child", error);
            break;
        }
        inner->child[i] = block_new(store, 0, NULL, child);
        if (inner->child[i] == NULL) {
            status = error_memory(error);
            break;
        }
    }
    if (status != TANSU_OK) {
        while (i > 0)
            block_forget(store, inner->child[--i]);
        content_free(store, made);
        return status;
    }
    *content = made;
    return TANSU_OK;
}

/* drop_loaded -- ends a content that another thread was quicker to load. */
static void drop_loaded(tree_store *store, tree_content *content) {
    if (content->level > 0) {
        tree_inner *inner = inner_of(content);
        for (uint32_t i = 0; i < inner_children(inner); i++)
            block_forget(store, inner->child[i]);
    }
    content_free(store, content);
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
        return damaged(store, number, "there is no block store", error);
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, number, &record, error);
    if (status == TANSU_E_NOT_FOUND)
        return damaged(store, number, "it is missing", error);
    if (status != TANSU_OK)
        return status;

    tree_content *made = NULL;
    const tree_page *page = (const tree_page *)(const void *)record.data;
    if (!page_valid(record.data, record.size))
        status = damaged(store, number, "layout", error);
    else if (level < 0 ? page->level >= TREE_MAX_HEIGHT : page->level != level)
        status = damaged(store, number, "level", error);
    else if (page->level == 0)
        status = parse_leaf(store, number, record.data, record.size, &made, error);
    else
        status = parse_inner(store, number, record.data, record.size, &made, error);
    tansu_buffer_free(&record);
    if (status != TANSU_OK)
        return status;
    if (content_count(made) != count) {
        drop_loaded(store, made);
        return damaged(store, number, "number of entries", error);
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
        if (!atomic_compare_exchange_strong(&block->content, &none, made))
            drop_loaded(store, made);
        else if (tree_store_memory(store) >
                 atomic_load_explicit(&store->relief_at, memory_order_relaxed))
            store->relief(store->relief_context);
    }
    atomic_store_explicit(&block->used, 1, memory_order_relaxed);
    *content = there;
    return TANSU_OK;
}
