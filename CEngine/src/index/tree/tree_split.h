/*
 * index/tree/tree_split.h -- splitting a block in two. Each sets the change's edit: what the parent
 * then has instead of the block. Private to index/tree.
 */
#ifndef TANSU_INDEX_TREE_TREE_SPLIT_H
#define TANSU_INDEX_TREE_TREE_SPLIT_H

#include "index/tree/tree_change.h"

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

#endif
