/*
 * index/tree/tree_insert.c -- adding an entry.
 */
#include "index/tree/tree_edit.h"
#include "util/error.h"

#include <stdlib.h>

/* References that a usual leaf's entries need; more of them are allocated. */
#define USUAL_REFS 320

/* refs_leaf -- exactly as much memory as it needs, or the usual size if that is more. */
tree_content *refs_leaf(tree_store *store, const tree_ref *refs, uint32_t count) {
    uint32_t prefix;
    uint64_t bytes = page_measure(refs, count, &prefix);
    tree_content *content = content_leaf(store, bytes);
    if (content != NULL)
        page_fill(leaf_page(content), leaf_page(content)->capacity, 0, refs, count, prefix);
    return content;
}

/* too_large -- a leaf of that many bytes is to be split. */
static bool too_large(uint64_t page_bytes, uint32_t count) {
    uint64_t bytes = page_bytes + offsetof(tree_leaf, page);
    return (bytes > BLOCK_BYTES && count > 4) || (bytes > LEAF_LARGE && count > 1);
}

/* leaf_copied -- the leaf's copy with the key, when it fits in as the page is; NULL: memory. */
static tree_content *leaf_copied(tree_store *store, const tree_page *page, uint32_t slot,
                                 const uint8_t *key, size_t size) {
    uint64_t bytes = (uint64_t)page_front(page) + page->heap + sizeof(tree_slot) +
                     page_entry_size((uint32_t)size - page->prefix_size);
    tree_content *content = content_leaf(store, bytes);
    if (content != NULL) {
        page_copy(leaf_page(content), leaf_page(content)->capacity, page);
        page_insert(leaf_page(content), slot, key, size);
    }
    return content;
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

/* leaf_appended -- the key goes after a full leaf's last one: that leaf stays as it is, the key
 * gets a new one. With keys in rising order all leaves are full, and no bytes are copied. */
static tansu_status leaf_appended(tree_change *change, tree_block *block, const tree_page *page,
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
    tree_block *right = edit_block(change, NULL, content);
    if (right == NULL || !edit_separator(change, &last, &ref))
        return error_memory(error);
    change->edit.added = 2;
    change->edit.child[0] = block;
    change->edit.child[1] = right;
    change->edit.count[0] = page->count;
    change->edit.count[1] = 1;
    return TANSU_OK;
}

/* leaf_rebuilt -- the leaf with the key rebuilt, as one or, when it is too large, as two. */
static tansu_status leaf_rebuilt(tree_change *change, tree_block *block, const tree_page *page,
                                 uint32_t slot, const uint8_t *key, size_t size,
                                 tansu_error *error) {
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
    if (too_large(page_measure(refs, count, &prefix), count))
        left_count = split_point(refs, count);
    tree_content *content = refs_leaf(store, refs, left_count);
    tree_block *left = content == NULL ? NULL : edit_block(change, block, content);
    bool made = left != NULL;
    tree_edit *edit = &change->edit;
    edit->added = 1;
    edit->child[0] = left;
    edit->count[0] = left_count;
    if (made && left_count < count) {
        content = refs_leaf(store, refs + left_count, count - left_count);
        edit->added = 2;
        edit->child[1] = content == NULL ? NULL : edit_block(change, NULL, content);
        edit->count[1] = count - left_count;
        made = edit->child[1] != NULL &&
               edit_separator(change, &refs[left_count - 1], &refs[left_count]);
    }
    if (refs != usual)
        free(refs);
    return made ? TANSU_OK : error_memory(error);
}

/* insert_leaf -- chooses how the leaf takes the key. */
static tansu_status insert_leaf(tree_change *change, const uint8_t *key, size_t size,
                                tansu_error *error) {
    tree_way *way = change->way;
    uint32_t step = way->height - 1, slot = way->step[step].slot;
    tree_block *block = way->step[step].block;
    const tree_page *page = &as_leaf(way->step[step].content)->page;
    change->edit = (tree_edit){.removed = 1};
    change->edit.first = step == 0 ? 0 : way->step[step - 1].slot;

    if (page_fits_prefix(page, key, size)) {
        uint64_t more = sizeof(tree_slot) + page_entry_size((uint32_t)size - page->prefix_size);
        bool large = too_large(page_live(page) + more, page->count + 1);
        if (large && slot == page->count)
            return leaf_appended(change, block, page, key, size, error);
        uint64_t bytes = (uint64_t)page_front(page) + page->heap + more;
        if (!large && (bytes + offsetof(tree_leaf, page) <= BLOCK_BYTES || page->dead == 0)) {
            tree_content *content = leaf_copied(change->writer->store, page, slot, key, size);
            tree_block *copy = content == NULL ? NULL : edit_block(change, block, content);
            if (copy == NULL)
                return error_memory(error);
            change->edit.added = 1;
            change->edit.child[0] = copy;
            change->edit.count[0] = page->count + 1;
            return TANSU_OK;
        }
    }
    return leaf_rebuilt(change, block, page, slot, key, size, error);
}

/* insert_first -- the first entry of an empty tree. */
static tansu_status insert_first(tree_writer *writer, tree *t, const uint8_t *key, size_t size,
                                 tansu_error *error) {
    tree_ref ref = {key, NULL, (uint32_t)size, 0};
    tree_content *content = refs_leaf(writer->store, &ref, 1);
    tree_block *root = content == NULL ? NULL : block_new(writer->store, writer->epoch, content, 0);
    if (root == NULL) {
        content_free(writer->store, content);
        return error_memory(error);
    }
    *t = (tree){root, 1};
    return TANSU_OK;
}

/* tree_insert -- in place when the writer's own leaf has space, else by editing the whole path. */
tansu_status tree_insert(tree_writer *writer, tree *t, const uint8_t *key, size_t size,
                         bool *existed, tansu_error *error) {
    if (existed != NULL)
        *existed = false;
    if (size == 0 || size > KEY_MAX)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "An index entry has %zu bytes; use 1 to %u", size, KEY_MAX);
    if (t->root == NULL)
        return insert_first(writer, t, key, size, error);
    tree_way way;
    tansu_status status = way_find(writer, t, key, size, &way, error);
    if (status != TANSU_OK)
        return status;
    if (way.exact) {
        way_leave(&way);
        if (existed != NULL)
            *existed = true;
        return TANSU_OK;
    }
    uint32_t last = way.height - 1;
    if (way.owned && page_has_capacity(leaf_page(way.step[last].content), key, size)) {
        page_insert(leaf_page(way.step[last].content), way.step[last].slot, key, size);
        for (uint32_t i = 0; i < last; i++)
            inner_of(way.step[i].content)->count[way.step[i].slot]++;
        t->count++;
        way_leave(&way);
        return TANSU_OK;
    }

    tree_change change;
    tree_block *root = t->root;
    status = edit_begin(&change, writer, &way, error);
    if (status == TANSU_OK)
        status = insert_leaf(&change, key, size, error);
    if (status == TANSU_OK)
        status = edit_up(&change, &root, error);
    way_leave(&way);
    if (status != TANSU_OK) {
        edit_undo(&change);
        return status;
    }
    edit_finish(&change);
    *t = (tree){root, t->count + 1};
    return TANSU_OK;
}
