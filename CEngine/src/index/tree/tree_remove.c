/*
 * index/tree/tree_remove.c -- removing an entry.
 */
#include "index/tree/tree_edit.h"
#include "index/tree/tree_finger.h"
#include "index/tree/tree_gather.h"
#include "util/error.h"

/* Leaves with less than this, after an entry was removed, are joined with a neighbour; both
 * together may have up to LEAF_JOINED, so that the next insertions do not split them again. */
#define LEAF_SPARSE (BLOCK_BYTES / 4)
#define LEAF_JOINED (BLOCK_BYTES * 3 / 4)

/* join -- joins the leaf at the path's end, without its entry, with its neighbour `sibling`;
 * *joined NULL when they do not fit in one. */
static tansu_status join(tree_change *change, const tree_page *sibling, tree_content **joined,
                         uint32_t *count, tansu_error *error) {
    const tree_way *way = change->way;
    uint32_t step = way->height - 1;
    const tree_page *page = &as_leaf(way->step[step].content)->page;
    uint32_t slot = way->step[step - 1].slot, taken = way->step[step].slot;
    *joined = NULL;
    if ((uint64_t)page_live(page) + page_live(sibling) > LEAF_JOINED)
        return TANSU_OK;

    /* Either page has less than LEAF_JOINED bytes, and an entry takes at least nine of them. */
    tree_ref refs[LEAF_JOINED / 9];
    uint32_t base = slot > 0 ? sibling->count : 0;
    *count = page->count - 1 + sibling->count;
    page_refs(page, 0, taken, refs + base);
    page_refs(page, taken + 1, page->count - taken - 1, refs + base + taken);
    page_refs(sibling, 0, sibling->count, slot > 0 ? refs : refs + page->count - 1);
    uint32_t prefix;
    if (page_measure(refs, *count, &prefix) > LEAF_JOINED)
        return TANSU_OK;
    *joined = refs_leaf(change->writer->store, refs, *count);
    return *joined != NULL ? TANSU_OK : error_memory(error);
}

/* leaf_merged -- joins the leaf, without its entry, and a neighbour when they fit in one. */
static tansu_status leaf_merged(tree_change *change, bool *merged, tansu_error *error) {
    tree_way *way = change->way;
    tree_store *store = change->writer->store;
    uint32_t step = way->height - 1;
    const tree_inner *parent = as_inner(way->step[step - 1].content);
    uint32_t slot = way->step[step - 1].slot, count;
    *merged = false;
    if (inner_children(parent) < 2)
        return TANSU_OK;
    uint32_t other_slot = slot > 0 ? slot - 1 : slot + 1;
    const tree_content *other;
    tansu_status status = child_content(store, parent, other_slot, &other, error);
    if (status != TANSU_OK)
        return status;
    tree_content *content;
    status = join(change, &as_leaf(other)->page, &content, &count, error);
    block_unpin(parent->child[other_slot]);
    if (status != TANSU_OK || content == NULL)
        return status;
    tree_block *result = change_block(change, way->step[step].block, content);
    if (result == NULL)
        return error_memory(error);
    change_drop(change, parent->child[other_slot]);
    change->edit = (tree_edit){.first = slot > 0 ? slot - 1 : slot, .removed = 2, .added = 1};
    change->edit.child[0] = result;
    change->edit.count[0] = count;
    *merged = true;
    return TANSU_OK;
}

/* remove_leaf -- an emptied leaf goes, a sparse one joins a neighbour, any other is copied. */
static tansu_status remove_leaf(tree_change *change, tansu_error *error) {
    tree_way *way = change->way;
    uint32_t step = way->height - 1;
    tree_block *block = way->step[step].block;
    const tree_page *page = &as_leaf(way->step[step].content)->page;
    change->edit = (tree_edit){.removed = 1};
    change->edit.first = step == 0 ? 0 : way->step[step - 1].slot;
    if (page->count == 1) {
        change_drop(change, block);
        return TANSU_OK;
    }
    if (step > 0 && page_live(page) < LEAF_SPARSE) {
        bool merged;
        tansu_status status = leaf_merged(change, &merged, error);
        if (status != TANSU_OK || merged)
            return status;
    }
    tree_content *content =
        content_leaf(change->writer->store, (uint64_t)page_front(page) + page->heap);
    if (content == NULL)
        return error_memory(error);
    page_copy(leaf_page(content), leaf_page(content)->capacity, page);
    page_remove(leaf_page(content), way->step[step].slot);
    tree_block *copy = change_block(change, block, content);
    if (copy == NULL)
        return error_memory(error);
    change->edit.added = 1;
    change->edit.child[0] = copy;
    change->edit.count[0] = page->count - 1;
    return TANSU_OK;
}

/* tree_remove -- as it is in the writer's own leaf while that stays well filled. */
tansu_status tree_remove(tree_writer *writer, tree *t, const uint8_t *key, size_t size, bool *found,
                         tansu_error *error) {
    if (found != NULL)
        *found = false;
    if (t->root == NULL || size == 0)
        return TANSU_OK;
    tree_way way;
    bool near = finger_find(writer, t, key, size, &way);
    tansu_status status = near ? TANSU_OK : way_find(writer, t, key, size, &way, error);
    if (status == TANSU_OK && !way.exact)
        way_leave(&way);
    if (status != TANSU_OK || !way.exact)
        return status;
    uint32_t last = way.height - 1;
    tree_page *page = leaf_page(way.step[last].content);
    if (way.owned && page->count > 1 && (last == 0 || page_live(page) >= LEAF_SPARSE)) {
        page_remove(page, way.step[last].slot);
        for (uint32_t i = 0; i < last; i++)
            inner_of(way.step[i].content)->count[way.step[i].slot]--;
        t->count--;
        if (near)
            writer->finger.count--;
        else
            finger_set(writer, t, &way);
        way_leave(&way);
    } else {
        finger_away(writer);
        tree_change change;
        tree_block *root = t->root;
        status = change_begin(&change, writer, &way, error);
        if (status == TANSU_OK)
            status = remove_leaf(&change, error);
        if (status == TANSU_OK)
            status = edit_up(&change, &root, error);
        way_leave(&way);
        if (status != TANSU_OK) {
            change_undo(&change);
            return status;
        }
        change_finish(&change);
        *t = (tree){root, t->count - 1};
        finger_follow(&change, t);
    }
    if (found != NULL)
        *found = true;
    return TANSU_OK;
}
