/*
 * index/tree/tree_finger.h -- the way to where a writer looked for or changed an entry last.
 * Private to index/tree.
 *
 * Blocks of the writer's own change by its own insertions and removals only, and other blocks do
 * not change. Each insertion and removal sets the finger anew or takes it away, so a finger whose
 * writer, tree and number of entries fit is right. A leaf that is not the writer's own may be
 * evicted meanwhile, and loaded again: with the same entries, which stay in their slots.
 *
 * After the commit nothing changes the writer's own blocks, so its finger is of use to the next
 * writer: commits of single documents whose ids ascend need no search. It ends with that one, which
 * holds the snapshot with the finger's root: so no other root can be in its memory. After an abort
 * there is no finger (tree_discard()).
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
