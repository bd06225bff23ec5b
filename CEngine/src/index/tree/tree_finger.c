/*
 * index/tree/tree_finger.c -- the way to where a writer changed an entry last.
 */
#include "index/tree/tree_finger.h"

/* finger_fits -- whether the finger is of this writer's work, in this tree as it is now. */
static inline bool finger_fits(const tree_writer *writer, const tree *t) {
    const tree_finger *finger = &writer->finger;
    return finger->root == t->root && finger->root != NULL && finger->count == t->count &&
           finger->epoch == writer->epoch;
}

/* finger_page -- the leaf, or NULL when it is not in memory as it was. */
static inline const tree_page *finger_page(const tree_finger *finger) {
    uint32_t leaf = finger->height - 1;
    return block_resident(finger->step[leaf].block) == finger->step[leaf].content
               ? &as_leaf(finger->step[leaf].content)->page
               : NULL;
}

bool tree_exceeds(const tree_writer *writer, const tree *t, const uint8_t *key, size_t size) {
    /* No checkpoint knows a block of a writer's own, so the leaf is not evicted meanwhile. */
    const tree_page *page =
        finger_fits(writer, t) && writer->finger.last ? finger_page(&writer->finger) : NULL;
    return page != NULL && page_compare(page, page->count - 1, key, size) < 0;
}

/* find_near -- whether the key is at the slot that was changed last, or belongs directly after it,
 * as it mostly does when changes come in the order of their keys: after a removal the next entry is
 * at that slot. */
static inline bool find_near(const tree_page *page, uint32_t at, const uint8_t *key, size_t size,
                             uint32_t *slot, bool *exact) {
    if (at + 1 >= page->count)
        return false;
    int order = page_compare(page, at, key, size);
    *exact = order == 0;
    *slot = order == 0 ? at : at + 1;
    return order == 0 || (order < 0 && page_compare(page, at + 1, key, size) > 0);
}

bool finger_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                 tree_way *way) {
    tree_finger *finger = &writer->finger;
    const tree_page *page = finger_fits(writer, t) ? finger_page(finger) : NULL;
    if (page == NULL)
        return false;
    uint32_t leaf = finger->height - 1, slot = page->count;
    way->exact = false;
    uint32_t near = 0;
    if (find_near(page, finger->step[leaf].slot, key, size, &near, &way->exact)) {
        slot = near;
    } else if (page_compare(page, slot - 1, key, size) >= 0) {
        if (page_compare(page, 0, key, size) > 0)
            return false;
        slot = page_search(page, key, size, &way->exact);
    } else if (!finger->last) {
        return false;
    }
    way->height = finger->height;
    for (uint32_t i = 0; i <= leaf; i++) {
        way->step[i].block = finger->step[i].block;
        way->step[i].content = finger->step[i].content;
        way->step[i].slot = finger->step[i].slot;
    }
    way->step[leaf].slot = finger->step[leaf].slot = slot;
    way->owned = true;
    atomic_fetch_add_explicit(&way->step[leaf].block->pins, 1, memory_order_relaxed);
    return true;
}

void finger_set(tree_writer *writer, const tree *t, const tree_way *way) {
    tree_finger *finger = &writer->finger;
    finger->root = NULL;
    if (way->height > TREE_FINGER_HEIGHT)
        return;
    bool last = true;
    for (uint32_t i = 0; i < way->height; i++) {
        finger->step[i].block = way->step[i].block;
        finger->step[i].content = way->step[i].content;
        finger->step[i].slot = way->step[i].slot;
        if (i + 1 < way->height)
            last = last && way->step[i].slot == as_inner(way->step[i].content)->keys.count;
    }
    finger->root = t->root;
    finger->epoch = writer->epoch;
    finger->count = t->count;
    finger->height = way->height;
    finger->last = last;
}
