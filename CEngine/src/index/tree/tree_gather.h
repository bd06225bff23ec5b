/*
 * index/tree/tree_gather.h -- new blocks made of the strings and children of others: a leaf of
 * strings, inner blocks of children that were gathered from one or two of them. Private to
 * index/tree.
 */
#ifndef TANSU_INDEX_TREE_TREE_GATHER_H
#define TANSU_INDEX_TREE_TREE_GATHER_H

#include "index/tree/tree_change.h"

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
