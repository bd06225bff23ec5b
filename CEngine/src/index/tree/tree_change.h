/*
 * index/tree/tree_change.h -- what inserting and removing share: the descent, and the blocks that
 * a change makes and drops. Private to index/tree.
 *
 * A change has two phases. The first goes up from the leaf, allocates every new block, and may
 * fail: change_undo() then leaves the tree as it was. The second, change_finish(), links the new
 * blocks and cannot fail.
 */
#ifndef TANSU_INDEX_TREE_TREE_CHANGE_H
#define TANSU_INDEX_TREE_TREE_CHANGE_H

#include "index/tree/tree_block.h"

/* The path from the root to a leaf. */
typedef struct tree_way {
    uint32_t height;
    struct {
        tree_block *block;
        tree_content *content;
        uint32_t slot; /* the child that was taken; in the leaf, where the key is or belongs */
    } step[TREE_MAX_HEIGHT];
    bool exact; /* the key is there */
    bool owned; /* the leaf, and so all of the path, is of the writer's epoch */
} tree_way;

/* What happens to a block's children: those from `first` on, `removed` of them (1 or 2), are
 * replaced by `added` ones. Possible: 1 by 1, 1 by 2 (split), 2 by 1 (merged), 1 by 0 (emptied). */
typedef struct tree_edit {
    uint32_t first;
    uint32_t removed;
    uint32_t added;
    tree_block *child[2];
    uint64_t count[2];
    const uint8_t *separator; /* between the two */
    uint32_t separator_size;
} tree_edit;

#define EDIT_BLOCKS (2 * TREE_MAX_HEIGHT + 2)

/* One edit in progress. */
typedef struct tree_change {
    tree_writer *writer;
    tree_way *way;
    tree_edit edit; /* for the next level up */
    /* Handles made: ended by undo. */
    tree_block *made[EDIT_BLOCKS];
    uint32_t made_count;
    /* The writer's own blocks that get another content. */
    struct {
        tree_block *block;
        tree_content *content;
    } swapped[EDIT_BLOCKS];
    uint32_t swapped_count;
    /* Blocks that are in no tree afterwards. */
    tree_block *replaced[EDIT_BLOCKS];
    uint32_t replaced_count;
    /* The writer's own inner blocks that are edited as they are. */
    struct {
        tree_inner *inner;
        tree_edit edit;
    } in_place[TREE_MAX_HEIGHT];
    uint32_t in_place_count;
    tansu_buffer separators[2]; /* bytes of the edit's separator, used alternately */
    uint32_t separator_turn;
} tree_change;

/* way_find -- descends to where the key is or belongs. Call way_leave() when the leaf is no longer
 * examined, and before it may be freed. */
tansu_status way_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                      tree_way *way, tansu_error *error);
void way_leave(const tree_way *way);

/* change_begin -- also makes space on the retire list. */
tansu_status change_begin(tree_change *change, tree_writer *writer, tree_way *way,
                          tansu_error *error);

/* change_block -- the handle that holds `content` instead of what `block` holds now (a new one,
 * or the block itself when it is the writer's own). `block` NULL: a new one. NULL: memory is
 * exhausted, and the content is freed. */
tree_block *change_block(tree_change *change, tree_block *block, tree_content *content);

/* change_drop -- notes a block that is in no tree afterwards. */
void change_drop(tree_change *change, tree_block *block);

/* change_set_separator -- sets the edit's separator to the first `size` bytes of a string, which
 * are copied; false when memory is exhausted. */
bool change_set_separator(tree_change *change, const tree_ref *ref, uint32_t size);

/* change_separator -- sets the edit's separator to the shortest string that is greater than `left`
 * and not greater than `right`; false when memory is exhausted. */
bool change_separator(tree_change *change, const tree_ref *left, const tree_ref *right);

/* edit_apply -- edits an inner block that has capacity for the separator. */
void edit_apply(tree_inner *inner, const tree_edit *edit);

/* change_undo -- frees what was made. change_finish -- links it, and retires what it replaces. */
void change_undo(tree_change *change);
void change_finish(tree_change *change);

/* ---- Tree edit ---- */

/*
 * Carrying a change from a leaf to the root: each inner block on the way
 * is edited, split or merged. Private to index/tree.
 */

/* edit_up -- carries the edit from the leaf's parent to the root; *root is the tree's new root. */
tansu_status edit_up(tree_change *change, tree_block **root, tansu_error *error);

/* ---- Splitting a block in two ---- */

/*
 * Each sets the change's edit: what the parent then has instead of the block. Private to
 * index/tree.
 */

/* leaf_too_large -- whether a leaf with a page of that many bytes is to be split. */
bool leaf_too_large(uint64_t page_bytes, uint32_t count);

/* leaf_appended -- the key goes after a full leaf's last one: that leaf stays as it is, the key
 * gets a new one. With keys in rising order all leaves are full, and no bytes are copied. */
tansu_status leaf_appended(tree_change *change, tree_block *block, const tree_page *page,
                           const uint8_t *key, size_t size, tansu_error *error);

/* leaf_rebuilt -- the leaf with the key at `slot` rebuilt, as one or, when it is too large, as
 * two. */
tansu_status leaf_rebuilt(tree_change *change, tree_block *block, const tree_page *page,
                          uint32_t slot, const uint8_t *key, size_t size, tansu_error *error);

/* inner_split -- a full inner block becomes two. `slot` is the block's own in its parent. When the
 * last child was split (keys are inserted in rising order) the left one stays full. */
tansu_status inner_split(tree_change *change, tree_block *block, tree_inner *inner, uint32_t slot,
                         tansu_error *error);

/* ---- Cached root-to-leaf path of the writer's last lookup or change (a *finger*) ---- */

/*
 * Private to index/tree.
 *
 * Blocks of the writer's own change by its own insertions and removals only, and other blocks do
 * not change. Each insertion and removal sets the finger anew or takes it away, so a finger whose
 * tree, epoch and number of entries fit is valid. A leaf that is not the writer's own may be
 * evicted meanwhile, and loaded again: with the same entries, which stay in their slots. A finger
 * ends with its transaction.
 */

/* tree_exceeds -- whether the key is greater than every entry, as far as this is known without a
 * search: ids that ascend, such as most that are inserted, are in no index. */
bool tree_exceeds(const tree_writer *writer, const tree *t, const uint8_t *key, size_t size);

/* finger_find -- way_find() without a search, when the key is or belongs into the same leaf as what
 * was looked up, inserted or removed last; false: search. */
bool finger_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                 tree_way *way);

/* finger_set -- after a look-up, or an insertion or a removal in place, by that way; `t` counts
 * it. */
void finger_set(tree_writer *writer, const tree *t, const tree_way *way);

/* finger_follow -- after a change that may have replaced the blocks on its way; `t` is the tree
 * with it. The finger is on the way's new blocks, or nowhere if there are more or fewer than
 * before. */
void finger_follow(tree_change *change, const tree *t);

/* finger_away -- before any other change of a tree. */
static inline void finger_away(tree_writer *writer) {
    writer->finger.root = NULL;
}

/* ---- Gathering ---- */

/*
 * New blocks made of the strings and children of others: a leaf of
 * strings, inner blocks of children that were gathered from one or two of them. Private to
 * index/tree.
 */

/* refs_leaf -- a new leaf of these strings, with the usual space; NULL: memory. */
tree_content *refs_leaf(tree_store *store, const tree_ref *refs, uint32_t count);

/* Children and separators of up to two inner blocks, with an edit applied, before they are dealt
 * out to new blocks. */
typedef struct gathered {
    uint32_t children;
    tree_block *child[2 * INNER_MAX + 2];
    uint64_t count[2 * INNER_MAX + 2];
    tree_ref separator[2 * INNER_MAX + 2]; /* i lies between children i and i + 1 */
} gathered;

/* gather -- appends an inner block's children; `before` is the separator in front of them. */
void gather(gathered *all, const tree_inner *inner, const tree_ref *before);

/* gather_edit -- edit_apply() on what was gathered; the block's children begin at `base`. */
void gather_edit(gathered *all, const tree_edit *edit, uint32_t base);

/* gathered_inner -- a new inner block of some of the children; NULL: memory. */
tree_content *gathered_inner(tree_store *store, const gathered *all, uint32_t first,
                             uint32_t children, uint32_t level);

/* gathered_count -- entries under some of the children. */
uint64_t gathered_count(const gathered *all, uint32_t first, uint32_t children);

#endif
