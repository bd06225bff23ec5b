/*
 * index/tree/tree_block.h -- blocks of a tree and what all trees share. Private to index/tree.
 *
 * A parent points at handles (tree_block), not at contents: old and new snapshots of a parent share
 * the handles of the children that did not change, so that a child that is loaded, stored or
 * evicted is so for all of them. A handle's content is immutable once a snapshot with it was
 * published; it is loaded and evicted as a whole, by compare-and-swap.
 *
 * Only leaves are evicted. A reader of a leaf's content pins its handle. An eviction first marks
 * the content (CONTENT_LEAVING), and then removes it only if nobody has the handle pinned. A reader
 * pins first and then checks: so either the eviction sees the pin, or the reader sees the mark and
 * clears it, and then the eviction fails. Content that nobody has pinned is freed at once, whatever
 * snapshots are held.
 */
#ifndef TANSU_INDEX_TREE_TREE_BLOCK_H
#define TANSU_INDEX_TREE_TREE_BLOCK_H

#include "index/tree/tree.h"
#include "index/tree/tree_page.h"

#include <pthread.h>
#include <stdatomic.h>

/* A block takes up to this many bytes of memory, and is then split, unless its keys are long: a
 * leaf has capacity for four of them up to LEAF_LARGE. All blocks up to it take exactly this much,
 * so that the allocator sees one size. */
#define BLOCK_BYTES 2048
#define LEAF_LARGE (64 * 1024)
/* Children of an inner block; their separators may take this much before it is split. */
#define INNER_MAX 64
#define INNER_LARGE (16 * 1024)
#define KEY_MAX (64u * 1024 * 1024)

/* What a handle's content begins with. */
typedef struct tree_content {
    uint32_t level;     /* 0: a leaf */
    uint32_t bytes;     /* allocated */
    tree_block *handle; /* memory for a handle, of the block that had this content before; or
                           NULL */
} tree_content;

typedef struct tree_leaf {
    tree_content base;
    tree_page page;
} tree_leaf;

/* Child i holds the keys that are not less than separator i - 1 and less than separator i. */
typedef struct tree_inner {
    tree_content base;
    tree_block *child[INNER_MAX];
    uint64_t count[INNER_MAX]; /* entries under each child */
    tree_page keys;            /* separators, one less than there are children */
} tree_inner;

struct tree_block {
    uint64_t epoch;                  /* of the writer that made it; 0: it was stored before */
    _Atomic(tree_content *) content; /* NULL: not in memory */
    atomic_uint_fast64_t number;     /* in the block store; 0: not there */
    atomic_uint pins;                /* who examines the content of a leaf now */
    atomic_uint dirty;               /* counted so among the store's dirty bytes */
    atomic_uchar inner;              /* known to be an inner block: never evicted, never pinned */
    atomic_uchar used;               /* examined since the last eviction passed by */
};

/* Set in the pointer to a content that is being evicted. */
#define CONTENT_LEAVING ((uintptr_t)1)

/* Set in a block's number while the checkpoint that wrote it is not committed. */
#define NUMBER_PENDING ((uint64_t)1 << 63)

/* Contents of the usual size that were freed and wait to be used again, with their handles: each
 * commit takes a few and frees as many, and the allocator is slow at this size. */
#define SPARE_CONTENTS 16

struct tree_store {
    _Atomic(tree_content *) spare[SPARE_CONTENTS];
    _Atomic(block_store *) bs;
    atomic_uint_fast64_t next_block;
    atomic_uint_fast64_t memory;
    atomic_uint_fast64_t counted;   /* of it, what is no block */
    atomic_uint_fast64_t dirty;     /* bytes of contents that the next checkpoint has to write */
    atomic_uint_fast64_t frozen;    /* epoch that a checkpoint is writing; 0: none is in progress */
    atomic_uint_fast64_t relief_at; /* a load that takes `memory` past this calls `relief` */
    tree_relief relief;
    void *relief_context;
    pthread_mutex_t mutex; /* guards the following */
    uint64_t *free_numbers;
    size_t free_count, free_capacity;
    tree_block **pending; /* written by the checkpoint that is running; its own thread's only */
    size_t pending_count, pending_capacity;
};

/* as_leaf, as_inner -- a content as what its level says that it is; leaf_page, inner_of: to be
 * changed. */
static inline const tree_leaf *as_leaf(const tree_content *content) {
    return (const tree_leaf *)content;
}
static inline const tree_inner *as_inner(const tree_content *content) {
    return (const tree_inner *)content;
}
static inline tree_page *leaf_page(tree_content *content) {
    return &((tree_leaf *)content)->page;
}
static inline tree_inner *inner_of(tree_content *content) {
    return (tree_inner *)content;
}

/* inner_children -- one more than separators. */
static inline uint32_t inner_children(const tree_inner *inner) {
    return inner->keys.count + 1;
}

/* inner_slot -- which child holds a key. */
static inline uint32_t inner_slot(const tree_inner *inner, const uint8_t *key, size_t size) {
    bool exact;
    uint32_t slot = page_search(&inner->keys, key, size, &exact);
    return slot + exact;
}

/* content_count -- entries under a content. */
uint64_t content_count(const tree_content *content);

/* content_leaf, content_inner -- allocate for a page of at least that many bytes (the capacity
 * is set in the page); NULL when memory is exhausted. A content is counted with its block. */
tree_content *content_leaf(tree_store *store, uint64_t page_bytes);
tree_content *content_inner(tree_store *store, uint64_t page_bytes);
void content_free(tree_store *store, tree_content *content);

/* spares_free -- frees what content_free() has kept: the store is freed. */
void spares_free(tree_store *store);

/* block_new -- a handle with a content; NULL when memory is exhausted (the content is not
 * freed). */
tree_block *block_new(tree_store *store, uint64_t epoch, tree_content *content, uint64_t number);

/* block_uncounted -- the same for a change that may be undone. block_undo() ends it, or
 * blocks_count() counts all that the change made: additions to what all threads share are dear. */
tree_block *block_uncounted(uint64_t epoch, tree_content *content);
void block_undo(tree_store *store, tree_block *block);

/* blocks_count -- adds to the bytes of blocks in memory, and of those that are dirty. */
void blocks_count(tree_store *store, int64_t memory, int64_t dirty);

/* block_free -- a handle and its content, as when no snapshot refers to a block any more: its
 * number becomes free. block_forget: the same, but the number stays in use. */
void block_free(tree_store *store, tree_block *block);
void block_forget(tree_store *store, tree_block *block);

/* block_retired -- block_free() for retire lists. */
void block_retired(void *store, void *block);

/* block_dirty -- the bytes that a block counts as dirty with. block_take_dirty -- the same once:
 * then it is clean, and the caller counts it so. */
static inline uint32_t block_dirty(const tree_block *block) {
    return atomic_load_explicit(&((tree_block *)block)->dirty, memory_order_relaxed);
}
uint32_t block_take_dirty(tree_block *block);

/* block_clean -- counts a block among the dirty ones no more: it is stored, or no later snapshot
 * has it. */
void block_clean(tree_store *store, tree_block *block);

/* block_swap -- replaces the content of one of the writer's own blocks and frees the old one. */
void block_swap(tree_store *store, tree_block *block, tree_content *content);

/* block_evict -- frees the content of a stored leaf that is not pinned; false when it stays. */
bool block_evict(tree_store *store, tree_block *block);

/* block_resident -- the content in memory, or NULL; for whoever knows that it can't go away. */
static inline tree_content *block_resident(const tree_block *block) {
    uintptr_t content =
        (uintptr_t)atomic_load_explicit(&((tree_block *)block)->content, memory_order_acquire);
    return (tree_content *)(content & ~CONTENT_LEAVING);
}

/* block_memory -- what a block that is in memory takes, with its handle. */
static inline uint64_t block_memory(const tree_block *block) {
    return sizeof *block + block_resident(block)->bytes;
}

/* block_load -- block_content() for one that is not in memory or is being evicted; a leaf is
 * pinned. */
tansu_status block_load(tree_store *store, tree_block *block, int level, uint64_t count,
                        const tree_content **content, tansu_error *error);

/* block_damaged -- the error for a stored block that is invalid, or has another place in the tree
 * than it can have: CORRUPT. `what` says why. */
tansu_status block_damaged(tree_store *store, uint64_t number, const char *what,
                           tansu_error *error);

/* The stored blocks that a way through a whole tree has shown. Zeroed: none. */
typedef struct block_tally {
    uint64_t seen, most;
} block_tally;

/* block_tally_add -- counts a block; false when a tree cannot have so many: the block store has
 * fewer records, so that some are in the tree several times. */
bool block_tally_add(block_tally *tally, tree_store *store, const tree_block *block);

/* block_unpin -- releases a content that block_content() returned; fine for inner blocks. */
static inline void block_unpin(tree_block *block) {
    if (!atomic_load_explicit(&block->inner, memory_order_relaxed))
        atomic_fetch_sub_explicit(&block->pins, 1, memory_order_release);
}

/* block_content -- the content of a block that its parent says is of that level (-1: the root, any)
 * and has that many entries; loaded if need be. Call block_unpin() when it is no longer examined;
 * contents of inner blocks stay as long as the snapshot does, with or without. */
static inline tansu_status block_content(tree_store *store, tree_block *block, int level,
                                         uint64_t count, const tree_content **content,
                                         tansu_error *error) {
    if (!atomic_load_explicit(&block->inner, memory_order_acquire))
        atomic_fetch_add_explicit(&block->pins, 1, memory_order_seq_cst);
    uintptr_t there = (uintptr_t)atomic_load_explicit(&block->content, memory_order_seq_cst);
    if (there == 0 || (there & CONTENT_LEAVING) != 0)
        return block_load(store, block, level, count, content, error);
    *content = (const tree_content *)there;
    if (atomic_load_explicit(&block->used, memory_order_relaxed) == 0)
        atomic_store_explicit(&block->used, 1, memory_order_relaxed);
    return TANSU_OK;
}

/* child_content -- the content of an inner block's child; block_unpin() applies. */
static inline tansu_status child_content(tree_store *store, const tree_inner *inner, uint32_t slot,
                                         const tree_content **content, tansu_error *error) {
    return block_content(store, inner->child[slot], (int)inner->base.level - 1, inner->count[slot],
                         content, error);
}

/* Called for one block. */
typedef tansu_status (*tree_block_visitor)(void *context, tree_block *block, tansu_error *error);

/* tree_each_block -- shows all blocks of a tree, the root first. Inner ones are loaded, and stay in
 * memory; leaves are not: their parents have their handles. Errors: MEMORY, IO, CORRUPT, and the
 * visitor's. */
tansu_status tree_each_block(tree_store *store, const tree *t, tree_block_visitor visit,
                             void *context, tansu_error *error);

/* The slots of a full leaf of usual keys, with what stands before them. */
#define LEAF_FRONT 896

/* search_child -- child_content() for a search: all of the slots of a leaf are asked for at once,
 * for a binary search that waits for one cache line after the other takes several times as long. */
static inline tansu_status search_child(tree_store *store, const tree_inner *inner, uint32_t slot,
                                        const tree_content **content, tansu_error *error) {
    tansu_status status = child_content(store, inner, slot, content, error);
    if (status == TANSU_OK && inner->base.level == 1)
        for (uint32_t at = 0; at < LEAF_FRONT; at += 64)
            __builtin_prefetch((const uint8_t *)*content + at);
    return status;
}

#endif
