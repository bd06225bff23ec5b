/*
 * index/tree/tree_block.h -- blocks of a tree, their pages in memory and as stored, and what all
 * trees share. Private to index/tree.
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
#include "tansu.h"
#include "util/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Pages ---- */

/*
 * The packed block of sorted byte strings that leaves consist of and that
 * inner blocks keep their separators in. Private to index/tree.
 *
 * A page is one piece of memory (the block store has another form of it: see "Stored blocks"):
 *
 *   head | prefix, padded to 4 | slot 0 … slot count-1 | gap | heap
 *
 * The common prefix of all strings is stored once; the heap holds the rest of each (suffix), after
 * its length: one byte below 128, otherwise four bytes, big-endian, with the top bit set. A slot
 * has the suffix's first four bytes as a number, so that a binary search touches the heap on ties
 * only, and the suffix's offset, counted back from the page's end: a page's gap can be removed or
 * enlarged without touching a slot.
 */

typedef struct tree_slot {
    uint32_t head;   /* first four bytes of the suffix, big-endian, missing ones zero */
    uint32_t offset; /* of the length byte, counted back from the page's end */
} tree_slot;

typedef struct tree_page {
    uint8_t level; /* 0 is a leaf */
    uint8_t reserved[3];
    uint32_t count;       /* strings */
    uint32_t prefix_size; /* bytes that all strings begin with */
    uint32_t heap;        /* bytes of the heap */
    uint32_t dead;        /* of these, bytes that no slot refers to any more */
    uint32_t capacity;    /* bytes of the page, head and gap included */
    uint8_t bytes[];
} tree_page;

/* A string in two pieces, as it lies in a page. */
typedef struct tree_ref {
    const uint8_t *prefix;
    const uint8_t *suffix;
    uint32_t prefix_size;
    uint32_t suffix_size;
} tree_ref;

/* page_align -- rounds a prefix's size up to where the slots begin. */
static inline uint32_t page_align(uint32_t size) {
    return (size + 3) & ~(uint32_t)3;
}

/* page_slots -- the first slot. */
static inline tree_slot *page_slots(const tree_page *page) {
    return (tree_slot *)(void *)(page->bytes + page_align(page->prefix_size));
}

/* page_suffix -- where the suffix of a slot lies, and its size. */
static inline const uint8_t *page_suffix(const tree_page *page, uint32_t slot, uint32_t *size) {
    const uint8_t *at = (const uint8_t *)page + page->capacity - page_slots(page)[slot].offset;
    if (at[0] < 0x80) {
        *size = at[0];
        return at + 1;
    }
    *size = load_be32(at) & 0x7FFFFFFF;
    return at + 4;
}

/* page_put_size -- writes the length that precedes a suffix; where the suffix goes. */
static inline uint8_t *page_put_size(uint8_t *at, uint32_t size) {
    if (size < 0x80) {
        *at = (uint8_t)size;
        return at + 1;
    }
    store_be32(at, size | 0x80000000);
    return at + 4;
}

/* page_head -- the first four bytes of a suffix as a number, missing ones zero. */
static inline uint32_t page_head(const uint8_t *suffix, size_t size) {
    if (size >= 4)
        return load_be32(suffix);
    uint32_t head = 0;
    for (size_t i = 0; i < size; i++)
        head |= (uint32_t)suffix[i] << (24 - 8 * i);
    return head;
}

/* page_entry_size -- heap bytes of a suffix with its length. */
static inline uint32_t page_entry_size(uint32_t suffix_size) {
    return suffix_size + (suffix_size < 0x80 ? 1 : 4);
}

/* page_front -- bytes up to the end of the slots. */
static inline uint32_t page_front(const tree_page *page) {
    return (uint32_t)sizeof(tree_page) + page_align(page->prefix_size) +
           page->count * (uint32_t)sizeof(tree_slot);
}

/* page_live -- bytes that the page needs without gap and dead heap. */
static inline uint32_t page_live(const tree_page *page) {
    return page_front(page) + page->heap - page->dead;
}

/* page_ref -- a string of the page. */
static inline tree_ref page_ref(const tree_page *page, uint32_t slot) {
    tree_ref ref = {page->bytes, NULL, page->prefix_size, 0};
    ref.suffix = page_suffix(page, slot, &ref.suffix_size);
    return ref;
}

/* ref_size -- bytes of both pieces. */
static inline uint32_t ref_size(const tree_ref *ref) {
    return ref->prefix_size + ref->suffix_size;
}

/* page_search -- the first slot whose string is not less than the key; *exact: it is the key. */
uint32_t page_search(const tree_page *page, const uint8_t *key, size_t size, bool *exact);

/* page_compare -- the string in a slot against a key: <0, 0, >0. */
int page_compare(const tree_page *page, uint32_t slot, const uint8_t *key, size_t size);

/* page_begins_with -- whether the string in a slot begins with the bytes. */
bool page_begins_with(const tree_page *page, uint32_t slot, const uint8_t *bytes, size_t size);

/* page_fits_prefix -- the key begins with the page's prefix. */
static inline bool page_fits_prefix(const tree_page *page, const uint8_t *key, size_t size) {
    return size >= page->prefix_size && bytes_equal(page->bytes, key, page->prefix_size);
}

/* page_has_capacity -- the key can be inserted as the page is. */
static inline bool page_has_capacity(const tree_page *page, const uint8_t *key, size_t size) {
    return page_fits_prefix(page, key, size) &&
           page->capacity - page_front(page) - page->heap >=
               sizeof(tree_slot) + page_entry_size((uint32_t)size - page->prefix_size);
}

/* page_insert -- puts a key for which the capacity is reserved before a slot. */
void page_insert(tree_page *page, uint32_t slot, const uint8_t *key, size_t size);

/* page_remove -- takes a slot out. */
void page_remove(tree_page *page, uint32_t slot);

/* page_copy -- makes `to` the same page with another capacity, which must hold front and heap. */
void page_copy(tree_page *to, uint32_t capacity, const tree_page *from);

/* page_measure -- bytes that a page of these sorted strings takes; *prefix_size: what they
 * share. */
uint64_t page_measure(const tree_ref *refs, uint32_t count, uint32_t *prefix_size);

/* page_fill -- makes a page of sorted strings that page_measure() found to fit. */
void page_fill(tree_page *page, uint32_t capacity, uint8_t level, const tree_ref *refs,
               uint32_t count, uint32_t prefix_size);

/* page_refs -- stores `count` strings from `slot` on. */
void page_refs(const tree_page *page, uint32_t slot, uint32_t count, tree_ref *refs);

/* ref_common -- how many bytes two strings share at their beginning. */
uint32_t ref_common(const tree_ref *a, const tree_ref *b);

/* ref_less -- a is less than b. */
bool ref_less(const tree_ref *a, const tree_ref *b);

/* ref_copy -- writes `size` bytes of a string from `from` on. */
void ref_copy(uint8_t *to, const tree_ref *ref, uint32_t from, uint32_t size);

/* page_rid -- of the suffix (index/tree/rid_suffix.h) that a string ends with. */
uint64_t page_rid(const tree_page *page, uint32_t slot);

/* ---- Blocks ---- */

/* A leaf of long keys has capacity for four of them up to LEAF_LARGE. All blocks up to
 * TREE_BLOCK_BYTES take exactly this much, so that the allocator sees one size. */
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

/* ---- Stored blocks ---- */

/*
 * The stored form of a block: what a checkpoint writes and a load
 * reads. Private to index/tree.
 *
 *   form and level | tail | count | prefix | heap | prefix's bytes | strings | children
 *
 * Each string is written as what distinguishes it from the one before. All but the first two bytes
 * are varints (util/bytes.h) and bytes; there is no padding, no gap and no head.
 *
 *   form and level  STORED_DELTAS + the block's level
 *   tail            how many bytes at the end of each string, 0 to 5, are those of a rid suffix
 *                   (index/tree/rid_suffix.h) and written as a number; the rest is its value. With
 *                   less than five the prefix has the suffix's first bytes
 *   count           strings
 *   prefix          size of what all of them begin with; values are without it
 *   heap            bytes that the strings take in a page's heap
 *   strings         see below
 *   children        of an inner block, count + 1 times: the difference between its number and that
 *                   of the child before, folded, and how many entries are below it
 *
 * A string begins with a code. From 0x80 on, its value is that of the string before, and bits 0 to
 * 6 are the difference of the record ids less one, below STORED_NEAR; or STORED_NEAR - 1 + n, when
 * n bytes follow, 1 to 5, that are this difference; or STORED_OTHER_TAG, when the rid suffix
 * follows, as five bytes. Numbers of bytes are little-endian.
 *
 * Below 0x80, its value is that of the string before with some bytes replaced. Bits 3 and 4 are how
 * many bytes at the beginning are kept, and bits 0 to 2 how many are inserted after them; 3 or 7
 * says that as much less than the number follows, as a varint, in this order. As many bytes as are
 * inserted are left out, unless bit 5 is set: then their number follows. Then come the inserted
 * bytes. When the string has a tail, bit 6 says that its rid suffix follows: the folded difference
 * of the record ids, shifted left by one; if bit 0 is set, the type tag is another one, and follows
 * as a byte. Without bit 6 the record id is the next one. The type tag is otherwise that of the
 * string before. Before the first string are an empty value and the rid suffix 0.
 *
 * Blocks that META format 2 (store/checkpoint) has are pages as they are in memory, without their
 * gap ("Pages" above); the first byte is the level. An inner block's is followed by 8
 * bytes for each child's number, and then 8 for each one's number of entries. They can be read.
 */

#define STORED_DELTAS 0x80     /* in the first byte */
#define STORED_SAME_VALUE 0x80 /* in a string's code */
#define STORED_RID 0x40
#define STORED_OTHER_SIZE 0x20
#define STORED_KEPT_LONG 3 /* from here on sizes follow as a varint */
#define STORED_INSERTED_LONG 7
#define STORED_NEAR 120
#define STORED_OTHER_TAG (STORED_NEAR + RID_SUFFIX_SIZE)

/* stored_encode -- appends the stored form of a content, whose children are all stored; false when
 * memory is exhausted. */
bool stored_encode(tansu_buffer *record, const tree_content *content);

/* stored_decode -- a content from a record, of a block of that level (-1: any). Errors: MEMORY;
 * CORRUPT, with what is wrong in *fault and no other error. */
tansu_status stored_decode(tree_store *store, const uint8_t *record, size_t size, int level,
                           tree_content **content, const char **fault, tansu_error *error);

/* stored_drop -- frees a content that stored_decode() made and no handle has got. */
void stored_drop(tree_store *store, tree_content *content);

#endif
