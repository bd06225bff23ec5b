/*
 * index/tree/tree_finger.h -- cached root-to-leaf path of the writer's last lookup or change (a
 * *finger*). Private to index/tree.
 *
 * Blocks of the writer's own change by its own insertions and removals only, and other blocks do
 * not change. Each insertion and removal sets the finger anew or takes it away, so a finger whose
 * tree, epoch and number of entries fit is valid. A leaf that is not the writer's own may be evicted
 * meanwhile, and loaded again: with the same entries, which stay in their slots. A finger ends with
 * its transaction.
 */
#ifndef TANSU_INDEX_TREE_TREE_FINGER_H
#define TANSU_INDEX_TREE_TREE_FINGER_H

#include "index/tree/tree_change.h"

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

#endif
