/*
 * index/tree/tree_split.c -- leaves and inner blocks that have become too large.
 */
#include "index/tree/tree_split.h"

#include "index/tree/tree_gather.h"
#include "util/error.h"

#include <stdlib.h>

/* References that a usual leaf's entries need; more of them are allocated. */
#define USUAL_REFS 320

/* leaf_too_large -- the header of the leaf counts, too. */
bool leaf_too_large(uint64_t page_bytes, uint32_t count) {
    uint64_t bytes = page_bytes + offsetof(tree_leaf, page);
    return (bytes > BLOCK_BYTES && count > 4) || (bytes > LEAF_LARGE && count > 1);
}

/* split_point -- how many of the entries go to the left: half of the bytes, and at least one to
 * each side. */
static uint32_t split_point(const tree_ref *refs, uint32_t count) {
    uint64_t all = 0, left = 0;
    for (uint32_t i = 0; i < count; i++)
        all += ref_size(&refs[i]) + sizeof(tree_slot);
    uint32_t point = 0;
    while (point < count - 1 && (point == 0 || left + ref_size(&refs[point]) <= all / 2)) {
        left += ref_size(&refs[point]) + sizeof(tree_slot);
        point++;
    }
    return point;
}

/* leaf_appended -- the old leaf keeps its handle. */
tansu_status leaf_appended(tree_change *change, tree_block *block, const tree_page *page,
                           const uint8_t *key, size_t size, tansu_error *error) {
    tree_store *store = change->writer->store;
    tree_ref last = page_ref(page, page->count - 1);
    tree_ref ref = {key, NULL, (uint32_t)size, 0};
    /* Those that follow will share what this one shares with the one before. */
    uint32_t prefix = ref_common(&last, &ref);
    tree_content *content = content_leaf(store, sizeof(tree_page) + page_align(prefix) +
                                                    sizeof(tree_slot) + 4 + size - prefix);
    if (content == NULL)
        return error_memory(error);
    page_fill(leaf_page(content), leaf_page(content)->capacity, 0, &ref, 1, prefix);
    tree_block *right = change_block(change, NULL, content);
    if (right == NULL || !change_separator(change, &last, &ref))
        return error_memory(error);
    change->edit.added = 2;
    change->edit.child[0] = block;
    change->edit.child[1] = right;
    change->edit.count[0] = page->count;
    change->edit.count[1] = 1;
    return TANSU_OK;
}

/* leaf_rebuilt -- from references to all its strings. */
tansu_status leaf_rebuilt(tree_change *change, tree_block *block, const tree_page *page,
                          uint32_t slot, const uint8_t *key, size_t size, tansu_error *error) {
    tree_store *store = change->writer->store;
    uint32_t count = page->count + 1;
    tree_ref usual[USUAL_REFS];
    tree_ref *refs = count <= USUAL_REFS ? usual : malloc(count * sizeof(*refs));
    if (refs == NULL)
        return error_memory(error);
    page_refs(page, 0, slot, refs);
    refs[slot] = (tree_ref){key, NULL, (uint32_t)size, 0};
    page_refs(page, slot, page->count - slot, refs + slot + 1);

    uint32_t prefix, left_count = count;
    if (leaf_too_large(page_measure(refs, count, &prefix), count))
        left_count = split_point(refs, count);
    tree_content *content = refs_leaf(store, refs, left_count);
    tree_block *left = content == NULL ? NULL : change_block(change, block, content);
    bool made = left != NULL;
    tree_edit *edit = &change->edit;
    edit->added = 1;
    edit->child[0] = left;
    edit->count[0] = left_count;
    if (made && left_count < count) {
        content = refs_leaf(store, refs + left_count, count - left_count);
        edit->added = 2;
        edit->child[1] = content == NULL ? NULL : change_block(change, NULL, content);
        edit->count[1] = count - left_count;
        made = edit->child[1] != NULL &&
               change_separator(change, &refs[left_count - 1], &refs[left_count]);
    }
    if (refs != usual)
        free(refs);
    return made ? TANSU_OK : error_memory(error);
}

/* inner_split -- the left block keeps its handle when nothing in it changes. */
tansu_status inner_split(tree_change *change, tree_block *block, tree_inner *inner, uint32_t slot,
                         tansu_error *error) {
    tree_store *store = change->writer->store;
    uint32_t level = inner->base.level;
    gathered all;
    all.children = 0;
    gather(&all, inner, NULL);
    gather_edit(&all, &change->edit, 0);
    uint32_t left_children = all.children / 2;
    bool at_end = change->edit.first + 2 == all.children;
    if (at_end)
        left_children = all.children - 1;
    uint32_t right_children = all.children - left_children;

    tree_content *content = gathered_inner(store, &all, left_children, right_children, level);
    tree_block *right = content == NULL ? NULL : change_block(change, NULL, content);
    tree_block *left = NULL;
    if (right != NULL && at_end && change->edit.child[0] == inner->child[change->edit.first] &&
        change->edit.count[0] == inner->count[change->edit.first]) {
        left = block;
    } else if (right != NULL) {
        content = gathered_inner(store, &all, 0, left_children, level);
        left = content == NULL ? NULL : change_block(change, block, content);
    }
    if (left == NULL)
        return error_memory(error);
    const tree_ref *between = &all.separator[left_children - 1];
    if (!change_set_separator(change, between, ref_size(between)))
        return error_memory(error);
    tree_edit *edit = &change->edit;
    edit->first = slot;
    edit->removed = 1;
    edit->added = 2;
    edit->child[0] = left;
    edit->child[1] = right;
    edit->count[0] = gathered_count(&all, 0, left_children);
    edit->count[1] = gathered_count(&all, left_children, right_children);
    return TANSU_OK;
}
