/*
 * index/tree/tree.h -- ordered sets of byte strings: copy-on-write B+ trees of packed blocks.
 *
 * Every index, the `_id` index included, is one tree whose entries are value keys followed by a
 * record id (index/tree/rid_suffix.h). A tree value (root, count) is immutable for readers: a
 * writer copies the blocks on the path to what it changes, so that a reader keeps seeing the tree
 * of its snapshot without locks. Blocks that the writer itself created since its `epoch` began are
 * changed in place. Inner blocks count the entries under each child, so that the rank of a key (and
 * so the number of entries in a range) costs one descent.
 *
 * New blocks are in memory, blocks of a checkpoint in the block store; those are loaded on first
 * use and evicted under memory pressure.
 */
#ifndef TANSU_INDEX_TREE_TREE_H
#define TANSU_INDEX_TREE_TREE_H

#include "index/block_store/block_store.h"
#include "util/retire.h"

/* What all trees of one database share: the block store, the numbering of blocks, and how much
 * memory they take. Owned by the catalog. */
typedef struct tree_store tree_store;

tansu_status tree_store_new(tree_store **store, tansu_error *error);
void tree_store_free(tree_store *store);
/* tree_store_attach -- sets the block store (not owned; NULL for a memory store) and the next free
 * block number. The free numbers are forgotten: they were those of another one. */
void tree_store_attach(tree_store *store, block_store *bs, uint64_t next_block);
uint64_t tree_store_next_block(const tree_store *store);
/* tree_store_memory -- bytes of blocks in memory, and of what else counts. */
uint64_t tree_store_memory(const tree_store *store);
/* tree_store_count -- has other memory that is bounded together with the blocks count as such.
 * tree_store_counted -- how much of tree_store_memory() that is. */
void tree_store_count(tree_store *store, int64_t bytes);
uint64_t tree_store_counted(const tree_store *store);
/* tree_store_dirty -- how many of them the next checkpoint has to write. */
uint64_t tree_store_dirty(const tree_store *store);

/* What is called by the thread that loaded a block when all blocks take more than what
 * tree_store_relieve_at() said. It may call tree_evict(). */
typedef void (*tree_relief)(void *context);
void tree_store_set_relief(tree_store *store, tree_relief relief, void *context);
void tree_store_relieve_at(tree_store *store, uint64_t bytes);

typedef struct tree_block tree_block;

/* An ordered set. Zeroed, it is empty. Copying the struct shares the blocks. */
typedef struct tree {
    tree_block *root;
    uint64_t count;
} tree;

/* tree_open -- a tree whose root block was stored under `block` by a checkpoint; nothing is read
 * yet. block 0 is the empty tree. Errors: MEMORY. */
tansu_status tree_open(tree_store *store, uint64_t block, uint64_t count, tree *result,
                       tansu_error *error);

/* tree_root_block -- the root's block number after a checkpoint (0: empty). */
uint64_t tree_root_block(const tree *t);

/* A block takes up to this many bytes of memory, and is then split, unless its keys are long. */
#define TREE_BLOCK_BYTES 2048

/* tree_blocks -- how many blocks a tree has. Loads its inner blocks, which stay in memory. Errors:
 * MEMORY, IO, CORRUPT. */
tansu_status tree_blocks(tree_store *store, const tree *t, size_t *blocks, tansu_error *error);

/* tree_numbers -- appends the block numbers of a tree that is stored. Loads its inner blocks, which
 * stay in memory. Errors: MEMORY, IO, CORRUPT. */
tansu_status tree_numbers(tree_store *store, const tree *t, block_numbers *numbers,
                          tansu_error *error);

/* tree_retire_all -- puts all of a tree's blocks on a retire list (a dropped index): loaded ones
 * are freed with it, and all of its block numbers, loaded or not, are added to those that
 * tree_store_take_free() returns. Errors: MEMORY, IO, CORRUPT. */
tansu_status tree_retire_all(tree_store *store, const tree *t, retire_list *retired,
                             tansu_error *error);

/* tree_release -- frees the blocks in memory of a tree that no snapshot refers to (closing). */
void tree_release(tree_store *store, tree *t);

/* ---- Writing ---- */

/* Where a writer looked, inserted or removed last: the way to that leaf, which the same key,
 * neighbours and greater keys need not search for again. Zeroed, it is nowhere. Private to
 * index/tree. */
#define TREE_FINGER_HEIGHT 6
typedef struct tree_finger {
    tree_block *root; /* of the tree; NULL: nowhere */
    uint64_t epoch;   /* the writer's */
    uint64_t count;   /* entries of the tree */
    bool owned;       /* the leaf, and so all of the way, is of the writer's epoch */
    bool last;        /* the leaf is the tree's last */
    uint32_t height;
    struct {
        tree_block *block;
        struct tree_content *content;
        uint32_t slot;
    } step[TREE_FINGER_HEIGHT];
} tree_finger;

/* One writer's work between begin and commit. It holds the snapshot that it started from, as a
 * reader does. A tree that somebody else may examine (a cursor of a write transaction, a savepoint)
 * must not be changed in place: copy the tree value and continue with a greater epoch. */
typedef struct tree_writer {
    tree_store *store;
    uint64_t epoch;       /* greater than that of any writer before: marks blocks as this one's */
    retire_list *retired; /* receives the blocks that were replaced */
    uint64_t bytes;       /* of the blocks that it made and that are still in its trees */
    tree_finger finger;
} tree_writer;

/* tree_writer_begin -- the next writer, in the memory of the one before (zeroed at first). */
void tree_writer_begin(tree_writer *writer, tree_store *store, uint64_t epoch,
                       retire_list *retired);

/* tree_look_up -- tree_find_prefix() of a writer: inserting an entry with that prefix, or removing
 * the one found, then needs no second descent. Errors: IO, CORRUPT, MEMORY. */
tansu_status tree_look_up(tree_writer *writer, const tree *t, const uint8_t *prefix, size_t size,
                          bool *found, uint64_t *rid, tansu_error *error);

/* tree_insert -- adds an entry; *existed (may be NULL): it was there already. On an error the tree
 * is unchanged. Keys: 1 byte to 64 MiB. Errors: MEMORY, IO, CORRUPT, TOO_LARGE. */
tansu_status tree_insert(tree_writer *writer, tree *t, const uint8_t *key, size_t size,
                         bool *existed, tansu_error *error);

/* tree_remove -- removes an entry; *found (may be NULL) says whether it was there. Underfull blocks
 * are merged with a neighbour. Errors: as above. */
tansu_status tree_remove(tree_writer *writer, tree *t, const uint8_t *key, size_t size, bool *found,
                         tansu_error *error);

/* tree_build -- builds a tree from sorted, distinct entries given one at a time by `next` (which
 * returns false at the end), with blocks filled to nine tenths. Errors: as above, plus the *status
 * of the source. */
typedef bool (*tree_source)(void *context, const uint8_t **key, size_t *size);
tansu_status tree_build(tree_writer *writer, tree_source next, void *context, tree *result,
                        tansu_error *error);

/* tree_discard -- frees the blocks that this writer made and that hang from `t`, and nothing else:
 * for an aborted transaction, whose retired list is then forgotten. */
void tree_discard(tree_writer *writer, tree *t);

/* ---- Reading ---- */

/* tree_rank -- how many entries are less than the key. Errors: IO, CORRUPT, MEMORY. */
tansu_status tree_rank(tree_store *store, const tree *t, const uint8_t *key, size_t size,
                       uint64_t *rank, tansu_error *error);

/* Two keys; the range has the entries that are not less than the first and less than the second. */
typedef struct tree_range {
    const uint8_t *low;
    size_t low_size;
    const uint8_t *high;
    size_t high_size;
} tree_range;

/* tree_count -- how many entries a range has: the difference of two ranks, in about the time of one
 * when they are few. Errors: IO, CORRUPT, MEMORY. */
tansu_status tree_count(tree_store *store, const tree *t, const tree_range *range, uint64_t *count,
                        tansu_error *error);

/* Record ids of a range. */
typedef struct tree_few {
    uint64_t *rids;
    uint32_t capacity;
    uint32_t count;
    bool complete; /* they are all of the range, in its order */
} tree_few;

/* tree_count_few -- the same, and the record ids where there are at most few->capacity and one leaf
 * has them, as it has of most values of which few documents have the same. */
tansu_status tree_count_few(tree_store *store, const tree *t, const tree_range *range,
                            uint64_t *count, tree_few *few, tansu_error *error);

/* tree_find_prefix -- the record id of the first entry that begins with `prefix`; *found false when
 * there is none. The point look-up of unique keys: one descent, no allocation. */
tansu_status tree_find_prefix(tree_store *store, const tree *t, const uint8_t *prefix, size_t size,
                              bool *found, uint64_t *rid, tansu_error *error);

#define TREE_MAX_HEIGHT 24

/* A position between or on entries. The caller keeps the snapshot that holds the tree alive, and
 * calls tree_cursor_end() when the cursor is no longer used. Not to be copied. */
typedef struct tree_cursor {
    tree_store *store;
    tree t;
    uint32_t height; /* levels in use; 0: before seeking or past an end */
    struct tree_step {
        const struct tree_content *content;
        uint32_t slot;
    } path[TREE_MAX_HEIGHT]; /* [0] is the root, [height - 1] the leaf */
    tree_block *leaf;        /* which can't be evicted while the cursor is in it; or NULL */
} tree_cursor;

void tree_cursor_init(tree_cursor *cursor, tree_store *store, const tree *t);
/* tree_cursor_end -- the cursor is then nowhere, as before seeking. Fine on a zeroed one. */
void tree_cursor_end(tree_cursor *cursor);

/* tree_cursor_seek -- to the first entry that is not less than the key; *valid false past the
 * end. */
tansu_status tree_cursor_seek(tree_cursor *cursor, const uint8_t *key, size_t size, bool *valid,
                              tansu_error *error);
/* tree_cursor_seek_before -- to the last entry that is less than the key. */
tansu_status tree_cursor_seek_before(tree_cursor *cursor, const uint8_t *key, size_t size,
                                     bool *valid, tansu_error *error);
/* tree_cursor_seek_rank -- to the entry with that many before it. */
tansu_status tree_cursor_seek_rank(tree_cursor *cursor, uint64_t rank, bool *valid,
                                   tansu_error *error);
tansu_status tree_cursor_next(tree_cursor *cursor, bool *valid, tansu_error *error);
tansu_status tree_cursor_previous(tree_cursor *cursor, bool *valid, tansu_error *error);

/* tree_cursor_rid -- the record id of the entry that the cursor is on. */
uint64_t tree_cursor_rid(const tree_cursor *cursor);
/* tree_cursor_key -- the whole entry, its suffix included, into `key` (replacing it). False:
 * memory. */
bool tree_cursor_key(const tree_cursor *cursor, tansu_buffer *key);
/* tree_cursor_begins -- whether that entry begins with these bytes. */
bool tree_cursor_begins(const tree_cursor *cursor, const uint8_t *prefix, size_t size);

/*
 * tree_cursor_rids -- the fast path for a range: stores the record ids of up to `capacity` entries
 * from the cursor on that are less than the bound (`bound` NULL: to the end) and leaves the cursor
 * on the first one not returned. *count less than capacity: the range is complete. Compares with
 * the bound once a block, not once an entry.
 */
tansu_status tree_cursor_rids(tree_cursor *cursor, const uint8_t *bound, size_t bound_size,
                              uint64_t *rids, size_t capacity, size_t *count, tansu_error *error);

/* Where an entry lies among those that tree_cursor_entries() took, below its record id in one
 * number. */
#define TREE_POSITION_BITS 29
#define TREE_POSITION_MAX (((uint64_t)1 << TREE_POSITION_BITS) - 1)

/*
 * tree_cursor_entries -- the same, but with whole entries: each is appended to `bytes` after its
 * size (4 bytes), and items[] gets its record id shifted up by TREE_POSITION_BITS with the offset
 * in `bytes` of that size. Stops as well when `bytes` has grown to `most` (at most
 * TREE_POSITION_MAX) or more; *done: the range is done.
 */
tansu_status tree_cursor_entries(tree_cursor *cursor, const uint8_t *bound, size_t bound_size,
                                 uint64_t *items, size_t capacity, tansu_buffer *bytes, size_t most,
                                 size_t *count, bool *done, tansu_error *error);

/* ---- Checkpoint ---- */

/*
 * tree_checkpoint -- writes every block of `t` that the block store does not have yet (children
 * before parents; clean subtrees are not entered) within the caller's block store transaction, and
 * notes the numbers in the blocks, so that later snapshots that share them need not write them
 * again. Runs concurrently with a writer and readers; the caller holds the snapshot until it has
 * called one of the two below. Block numbers noted here count only after the block store's commit:
 * on failure call tree_checkpoint_failed(). *root_block: the root's number.
 */
tansu_status tree_checkpoint(tree_store *store, const tree *t, uint64_t *root_block,
                             uint64_t *written, tansu_error *error);
/* tree_checkpoint_failed -- the block store transaction was rolled back: everything that this
 * checkpoint wrote counts as unwritten again. tree_checkpoint_done -- it was committed. */
void tree_checkpoint_failed(tree_store *store);
void tree_checkpoint_done(tree_store *store);

/* tree_store_take_free -- the numbers of block store blocks that no snapshot refers to any more
 * (their in-memory blocks were retired and freed), to be removed from the block store by the next
 * checkpoint. The caller frees *numbers. After a failed checkpoint it returns them with
 * tree_store_return_free(). */
tansu_status tree_store_take_free(tree_store *store, uint64_t **numbers, size_t *count,
                                  tansu_error *error);
void tree_store_return_free(tree_store *store, const uint64_t *numbers, size_t count);

/* tree_evict -- evicts stored leaves that are not pinned until at most `limit` bytes are in memory,
 * beginning with the leaf that has entry number `from`; a leaf that was used since the last pass
 * only loses its mark. Evicted leaves are loaded again on use. Any thread; the caller holds the
 * snapshot. Returns where to continue next time, 0 at the tree's end. */
uint64_t tree_evict(tree_store *store, const tree *t, uint64_t from, uint64_t limit);

/* tree_store_freeze -- a checkpoint of the snapshot of that epoch begins; 0: it has ended. */
void tree_store_freeze(tree_store *store, uint64_t epoch);

/* tree_published -- `retired` has become what a commit replaced: its blocks are not to be written
 * any more. tree_trim_retired -- drops those of its blocks' contents that are stored from
 * memory. */
void tree_published(const retire_list *retired);
void tree_trim_retired(const retire_list *retired);

/* What a check of a whole tree shows. Both may be NULL. */
typedef struct tree_visitor {
    /* Each entry, in order; valid during the call. Another status than OK ends the scan. */
    tansu_status (*entry)(void *context, const uint8_t *key, size_t size, tansu_error *error);
    /* Each problem; the scan continues after the block at fault. NULL: the first one ends it. */
    void (*problem)(void *context, const tansu_error *problem);
    void *context;
} tree_visitor;

/* tree_visit -- goes through the whole tree and checks order, counts, prefixes, that no leaf is
 * empty, and that what the block store has of its blocks can be read. Leaves that are not in memory
 * are not kept there. Errors: CORRUPT (also when each problem was shown), IO, MEMORY, and the
 * visitor's. */
tansu_status tree_visit(tree_store *store, const tree *t, const tree_visitor *visitor,
                        tansu_error *error);

#endif
