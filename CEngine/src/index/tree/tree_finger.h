/*
 * index/tree/tree_finger.h -- the way to where a writer changed an entry last. Private to
 * index/tree.
 *
 * It leads through blocks of the writer's own, which change by its own insertions and removals
 * only. Each of these sets the finger anew or takes it away, so a finger whose writer, tree and
 * number of entries fit is right.
 */
#ifndef TANSU_INDEX_TREE_TREE_FINGER_H
#define TANSU_INDEX_TREE_TREE_FINGER_H

#include "index/tree/tree_change.h"

/* finger_find -- way_find() without a search, when the key is or belongs into the same leaf as what
 * was inserted or removed last; false: search. */
bool finger_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                 tree_way *way);

/* finger_set -- after an insertion or a removal in place, by that way; `t` counts it. */
void finger_set(tree_writer *writer, const tree *t, const tree_way *way);

/* finger_away -- before any other change of a tree. */
static inline void finger_away(tree_writer *writer) {
    writer->finger.root = NULL;
}

#endif
