/*
 * index/tree/tree_finger.c -- the cached root-to-leaf path of the writer's last lookup or change.
 */
#include "index/tree/tree_change.h"

void tree_writer_begin(tree_writer *writer, tree_store *store, uint64_t epoch,
                       retire_list *retired) {
    finger_away(writer);
    writer->store = store;
    writer->epoch = epoch;
    writer->retired = retired;
    writer->bytes = 0;
}

/* finger_fits -- whether the finger is in this tree as it is now. */
static inline bool finger_fits(const tree_writer *writer, const tree *t) {
    const tree_finger *finger = &writer->finger;
    return finger->root == t->root && finger->root != NULL && finger->count == t->count &&
           finger->epoch == writer->epoch;
}

/* finger_leaf -- the leaf, or NULL when it is not in memory as it was. */
static inline const tree_page *finger_leaf(const tree_finger *finger) {
    uint32_t leaf = finger->height - 1;
    return block_resident(finger->step[leaf].block) == finger->step[leaf].content
               ? &as_leaf(finger->step[leaf].content)->page
               : NULL;
}

/* finger_pin -- finger_leaf(), pinned: from then on it is not evicted. Of the writer's own no
 * checkpoint knows, so that these are not evicted anyway. */
static inline const tree_page *finger_pin(const tree_finger *finger) {
    tree_block *block = finger->step[finger->height - 1].block;
    if (finger->owned) {
        const tree_page *page = finger_leaf(finger);
        if (page != NULL)
            atomic_fetch_add_explicit(&block->pins, 1, memory_order_relaxed);
        return page;
    }
    atomic_fetch_add_explicit(&block->pins, 1, memory_order_seq_cst);
    uintptr_t there = (uintptr_t)atomic_load_explicit(&block->content, memory_order_seq_cst);
    if (there == (uintptr_t)finger->step[finger->height - 1].content)
        return &as_leaf((const tree_content *)there)->page;
    block_unpin(block);
    return NULL;
}

bool tree_exceeds(const tree_writer *writer, const tree *t, const uint8_t *key, size_t size) {
    const tree_finger *finger = &writer->finger;
    if (!finger->last || !finger_fits(writer, t))
        return false;
    /* Only the writer's own stays without a pin. */
    const tree_page *page = finger->owned ? finger_leaf(finger) : finger_pin(finger);
    if (page == NULL)
        return false;
    bool exceeds = page_compare(page, page->count - 1, key, size) < 0;
    if (!finger->owned)
        block_unpin(finger->step[finger->height - 1].block);
    return exceeds;
}

/* find_near -- whether the key is at the slot that was looked for or changed last, or belongs
 * directly before or after it. It belongs there after a look-up that did not find it, and mostly
 * when changes come in the order of their keys: after a removal the next entry is at that slot. */
static inline bool find_near(const tree_page *page, uint32_t at, const uint8_t *key, size_t size,
                             uint32_t *slot, bool *exact) {
    if (at + 1 >= page->count)
        return false;
    int order = page_compare(page, at, key, size);
    *exact = order == 0;
    *slot = order < 0 ? at + 1 : at;
    if (order < 0)
        return page_compare(page, at + 1, key, size) > 0;
    return order == 0 || (at > 0 && page_compare(page, at - 1, key, size) < 0);
}

/* find_in_leaf -- the slot where the key is or belongs in the finger's leaf; false when it may
 * belong into another one. */
static inline bool find_in_leaf(const tree_finger *finger, const tree_page *page,
                                const uint8_t *key, size_t size, uint32_t *slot, bool *exact) {
    *exact = false;
    if (find_near(page, finger->step[finger->height - 1].slot, key, size, slot, exact))
        return true;
    *slot = page->count;
    if (page_compare(page, page->count - 1, key, size) < 0)
        return finger->last;
    if (page_compare(page, 0, key, size) > 0)
        return false;
    *slot = page_search(page, key, size, exact);
    return true;
}

bool finger_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                 tree_way *way) {
    tree_finger *finger = &writer->finger;
    const tree_page *page = finger_fits(writer, t) ? finger_pin(finger) : NULL;
    if (page == NULL)
        return false;
    uint32_t leaf = finger->height - 1, slot = 0;
    if (!find_in_leaf(finger, page, key, size, &slot, &way->exact)) {
        block_unpin(finger->step[leaf].block);
        return false;
    }
    way->height = finger->height;
    for (uint32_t i = 0; i <= leaf; i++) {
        way->step[i].block = finger->step[i].block;
        way->step[i].content = finger->step[i].content;
        way->step[i].slot = finger->step[i].slot;
    }
    way->step[leaf].slot = finger->step[leaf].slot = slot;
    way->owned = finger->owned;
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
    finger->owned = way->owned;
    finger->last = last;
}

void finger_follow(tree_change *change, const tree *t) {
    tree_way *way = change->way;
    uint32_t made = change->made_count;
    /* Splits make more blocks than they replace, merges and emptied blocks fewer. */
    if (change->swapped_count != 0 || change->replaced_count != made ||
        change->in_place_count != way->height - made)
        return;
    for (uint32_t i = 0; i < made; i++) {
        uint32_t step = way->height - 1 - i;
        way->step[step].block = change->made[i];
        way->step[step].content = block_resident(change->made[i]);
    }
    way->owned = true;
    finger_set(change->writer, t, way);
}

tansu_status tree_look_up(tree_writer *writer, const tree *t, const uint8_t *prefix, size_t size,
                          bool *found, uint64_t *rid, tansu_error *error) {
    *found = false;
    if (t->root == NULL || tree_exceeds(writer, t, prefix, size))
        return TANSU_OK;
    tree_way way;
    tansu_status status = way_find(writer, t, prefix, size, &way, error);
    if (status != TANSU_OK)
        return status;
    uint32_t leaf = way.height - 1, slot = way.step[leaf].slot;
    const tree_page *page = &as_leaf(way.step[leaf].content)->page;
    finger_set(writer, t, &way);
    /* After a leaf's last entry: what begins with the prefix would be in the next leaf. */
    bool elsewhere = slot == page->count && (writer->finger.root == NULL || !writer->finger.last);
    if (slot < page->count && page_begins_with(page, slot, prefix, size)) {
        *rid = page_rid(page, slot);
        *found = true;
    }
    way_leave(&way);
    return elsewhere ? tree_find_prefix(writer->store, t, prefix, size, found, rid, error)
                     : TANSU_OK;
}
