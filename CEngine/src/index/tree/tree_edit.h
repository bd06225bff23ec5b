/*
 * index/tree/tree_edit.h -- carrying a change from a leaf to the root: each inner block on the way
 * is edited, split or merged. Private to index/tree.
 */
#ifndef TANSU_INDEX_TREE_TREE_EDIT_H
#define TANSU_INDEX_TREE_TREE_EDIT_H

#include "index/tree/tree_change.h"

/* edit_up -- carries the edit from the leaf's parent to the root; *root is the tree's new root. */
tansu_status edit_up(tree_change *change, tree_block **root, tansu_error *error);

#endif
