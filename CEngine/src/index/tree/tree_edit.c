/*
 * index/tree/tree_edit.c -- editing a tree's inner blocks, from the leaf up.
 */
#include "index/tree/tree_edit.h"

#include "index/tree/tree_gather.h"
#include "index/tree/tree_split.h"
#include "util/error.h"

/* edit_to -- the edit for the next level: one block instead of `removed`, from child `first` on. */
static void edit_to(tree_edit *edit, uint32_t first, uint32_t removed, tree_block *block,
                    uint64_t count) {
    *edit = (tree_edit){.first = first, .removed = removed, .added = block == NULL ? 0 : 1};
    edit->child[0] = block;
    edit->count[0] = count;
}

/* edit_simple -- a block that neither splits nor merges: as it is, as a copy, or rebuilt when the
 * separator does not fit. `slot` is the block's own in its parent, which says that it has `count`
 * entries; of the root nobody asks how many it has now. */
static tansu_status edit_simple(tree_change *change, tree_block *block, tree_inner *inner,
                                uint32_t slot, uint64_t count, tansu_error *error) {
    tree_edit *edit = &change->edit;
    tree_store *store = change->writer->store;
    for (uint32_t i = 0; i < edit->removed; i++)
        count -= inner->count[edit->first + i];
    for (uint32_t i = 0; i < edit->added; i++)
        count += edit->count[i];

    bool added = edit->added == 2;
    if (block->epoch == change->writer->epoch &&
        (!added || page_has_capacity(&inner->keys, edit->separator, edit->separator_size))) {
        change->in_place[change->in_place_count].inner = inner;
        change->in_place[change->in_place_count++].edit = *edit;
        edit_to(edit, slot, 1, block, count);
        return TANSU_OK;
    }

    uint64_t bytes = (uint64_t)page_front(&inner->keys) + inner->keys.heap;
    if (added)
        bytes += sizeof(tree_slot) + page_entry_size(edit->separator_size);
    tree_content *content;
    if ((!added || page_fits_prefix(&inner->keys, edit->separator, edit->separator_size)) &&
        (bytes + offsetof(tree_inner, keys) <= BLOCK_BYTES || inner->keys.dead == 0)) {
        content = content_inner(store, bytes);
        if (content == NULL)
            return error_memory(error);
        tree_inner *copy = inner_of(content);
        uint32_t children = inner_children(inner);
        content->level = inner->base.level;
        page_copy(&copy->keys, copy->keys.capacity, &inner->keys);
        memcpy(copy->child, inner->child, children * sizeof(copy->child[0]));
        memcpy(copy->count, inner->count, children * sizeof(copy->count[0]));
        edit_apply(copy, edit);
    } else {
        gathered all;
        all.children = 0;
        gather(&all, inner, NULL);
        gather_edit(&all, edit, 0);
        content = gathered_inner(store, &all, 0, all.children, inner->base.level);
        if (content == NULL)
            return error_memory(error);
    }
    tree_block *result = change_block(change, block, content);
    if (result == NULL)
        return error_memory(error);
    edit_to(edit, slot, 1, result, count);
    return TANSU_OK;
}

/* edit_merge -- an inner block with few children joins a neighbour that has space; *merged false
 * when there is none. */
static tansu_status edit_merge(tree_change *change, uint32_t step, bool *merged,
                               tansu_error *error) {
    tree_way *way = change->way;
    tree_store *store = change->writer->store;
    const tree_inner *parent = as_inner(way->step[step - 1].content);
    const tree_inner *inner = as_inner(way->step[step].content);
    uint32_t slot = way->step[step - 1].slot;
    *merged = false;
    if (inner_children(parent) < 2)
        return TANSU_OK;
    uint32_t left_slot = slot > 0 ? slot - 1 : slot;
    uint32_t other_slot = slot > 0 ? slot - 1 : slot + 1;
    const tree_content *other;
    tansu_status status = child_content(store, parent, other_slot, &other, error);
    if (status != TANSU_OK)
        return status;
    const tree_inner *sibling = as_inner(other);
    if (inner_children(inner) + inner_children(sibling) > INNER_MAX * 3 / 4 ||
        page_live(&inner->keys) + page_live(&sibling->keys) > INNER_LARGE / 2)
        return TANSU_OK;

    gathered all;
    all.children = 0;
    tree_ref between = page_ref(&parent->keys, left_slot);
    gather(&all, slot > 0 ? sibling : inner, NULL);
    uint32_t base = slot > 0 ? all.children : 0;
    gather(&all, slot > 0 ? inner : sibling, &between);
    gather_edit(&all, &change->edit, base);
    tree_content *content = gathered_inner(store, &all, 0, all.children, inner->base.level);
    tree_block *result =
        content == NULL ? NULL : change_block(change, way->step[step].block, content);
    if (result == NULL)
        return error_memory(error);
    change_drop(change, parent->child[other_slot]);
    edit_to(&change->edit, left_slot, 2, result, gathered_count(&all, 0, all.children));
    *merged = true;
    return TANSU_OK;
}

/* edit_level -- takes the edit to one inner block and makes the one for its parent. */
static tansu_status edit_level(tree_change *change, uint32_t step, tansu_error *error) {
    tree_block *block = change->way->step[step].block;
    tree_inner *inner = inner_of(change->way->step[step].content);
    tree_edit *edit = &change->edit;
    uint32_t slot = step == 0 ? 0 : change->way->step[step - 1].slot;
    uint32_t children = inner_children(inner) + edit->added - edit->removed;

    if (children == 0) {
        change_drop(change, block);
        edit_to(edit, slot, 1, NULL, 0);
        return TANSU_OK;
    }
    if (edit->added == 2) {
        uint64_t bytes = (uint64_t)page_live(&inner->keys) + edit->separator_size;
        if (children > INNER_MAX || (bytes > INNER_LARGE && children >= 4))
            return inner_split(change, block, inner, slot, error);
    }
    if (edit->added < edit->removed) {
        if (step == 0 && children == 1) { /* the root's only child replaces it */
            uint32_t rest = edit->first == 0 ? 1 : 0;
            change_drop(change, block);
            if (edit->added == 0)
                edit_to(edit, 0, 1, inner->child[rest], inner->count[rest]);
            return TANSU_OK;
        }
        if (step > 0 && children < INNER_MAX / 4) {
            bool merged;
            tansu_status status = edit_merge(change, step, &merged, error);
            if (status != TANSU_OK || merged)
                return status;
        }
    }
    uint64_t count = step == 0 ? 0 : as_inner(change->way->step[step - 1].content)->count[slot];
    return edit_simple(change, block, inner, slot, count, error);
}

/* edit_up -- and a new root when the old one was split. */
tansu_status edit_up(tree_change *change, tree_block **root, tansu_error *error) {
    tree_way *way = change->way;
    for (uint32_t step = way->height - 1; step-- > 0;) {
        tansu_status status = edit_level(change, step, error);
        if (status != TANSU_OK)
            return status;
    }
    tree_edit *edit = &change->edit;
    if (edit->added < 2) {
        *root = edit->added == 0 ? NULL : edit->child[0];
        return TANSU_OK;
    }
    if (way->height == TREE_MAX_HEIGHT)
        return error_set(error, TANSU_E_TOO_LARGE, NULL, "The index has too many levels");
    tree_ref separator = {edit->separator, NULL, edit->separator_size, 0};
    uint64_t bytes = sizeof(tree_page) + sizeof(tree_slot) + page_entry_size(edit->separator_size);
    tree_content *content = content_inner(change->writer->store, bytes);
    if (content == NULL)
        return error_memory(error);
    tree_inner *inner = inner_of(content);
    content->level = way->step[0].content->level + 1;
    /* The lone separator as prefix would make each insertion of another one rebuild the page. */
    page_fill(&inner->keys, inner->keys.capacity, (uint8_t)content->level, &separator, 1, 0);
    memcpy(inner->child, edit->child, sizeof(edit->child));
    memcpy(inner->count, edit->count, sizeof(edit->count));
    *root = change_block(change, NULL, content);
    return *root == NULL ? error_memory(error) : TANSU_OK;
}
