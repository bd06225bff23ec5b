/*
 * index/tree/tree_insert.c -- adding an entry.
 */
#include "index/tree/tree_edit.h"
#include "index/tree/tree_finger.h"
#include "index/tree/tree_gather.h"
#include "index/tree/tree_split.h"
#include "util/error.h"

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
        bool large = leaf_too_large(page_live(page) + more, page->count + 1);
        if (large && slot == page->count)
            return leaf_appended(change, block, page, key, size, error);
        uint64_t bytes = (uint64_t)page_front(page) + page->heap + more;
        if (!large && (bytes + offsetof(tree_leaf, page) <= BLOCK_BYTES || page->dead == 0)) {
            tree_content *content = leaf_copied(change->writer->store, page, slot, key, size);
            tree_block *copy = content == NULL ? NULL : change_block(change, block, content);
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
    writer->bytes += block_memory(root);
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
    bool near = finger_find(writer, t, key, size, &way);
    tansu_status status = near ? TANSU_OK : way_find(writer, t, key, size, &way, error);
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
        if (near)
            writer->finger.count++;
        else
            finger_set(writer, t, &way);
        way_leave(&way);
        return TANSU_OK;
    }

    tree_change change;
    tree_block *root = t->root;
    finger_away(writer);
    status = change_begin(&change, writer, &way, error);
    if (status == TANSU_OK)
        status = insert_leaf(&change, key, size, error);
    if (status == TANSU_OK)
        status = edit_up(&change, &root, error);
    way_leave(&way);
    if (status != TANSU_OK) {
        change_undo(&change);
        return status;
    }
    change_finish(&change);
    *t = (tree){root, t->count + 1};
    finger_follow(&change, t);
    return TANSU_OK;
}
