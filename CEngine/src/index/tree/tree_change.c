/*
 * index/tree/tree_change.c -- the way down to a leaf, and the blocks that a change makes and drops.
 */
#include "index/tree/tree_change.h"

#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* way_find -- records every block on the path. */
tansu_status way_find(tree_writer *writer, const tree *t, const uint8_t *key, size_t size,
                      tree_way *way, tansu_error *error) {
    const tree_content *content;
    tree_block *block = t->root;
    tansu_status status = block_content(writer->store, block, -1, t->count, &content, error);
    way->height = 0;
    while (status == TANSU_OK) {
        way->step[way->height].block = block;
        way->step[way->height].content = (tree_content *)content;
        if (content->level == 0)
            break;
        const tree_inner *inner = as_inner(content);
        uint32_t slot = inner_slot(inner, key, size);
        way->step[way->height++].slot = slot;
        block = inner->child[slot];
        status = search_child(writer->store, inner, slot, &content, error);
    }
    if (status != TANSU_OK)
        return status;
    way->step[way->height++].slot = page_search(&as_leaf(content)->page, key, size, &way->exact);
    way->owned = block->epoch == writer->epoch;
    return TANSU_OK;
}

/* way_leave -- of the blocks on the path only the leaf is pinned. */
void way_leave(const tree_way *way) {
    block_unpin(way->step[way->height - 1].block);
}

/* change_begin -- a change replaces at most two blocks a level. No more is reserved: with what the
 * list of a small transaction has space for, a commit allocates it once. */
tansu_status change_begin(tree_change *change, tree_writer *writer, tree_way *way,
                          tansu_error *error) {
    change->writer = writer;
    change->way = way;
    change->made_count = change->swapped_count = change->replaced_count = 0;
    change->in_place_count = change->separator_turn = 0;
    change->separators[0] = change->separators[1] = (tansu_buffer)TANSU_BUFFER_INIT;
    return retire_reserve(writer->retired, 2 * way->height + 2) ? TANSU_OK : error_memory(error);
}

/* change_block -- a block of the writer's own keeps its handle, so that its parent need not
 * change. */
tree_block *change_block(tree_change *change, tree_block *block, tree_content *content) {
    if (block != NULL && block->epoch == change->writer->epoch) {
        change->swapped[change->swapped_count].block = block;
        change->swapped[change->swapped_count++].content = content;
        return block;
    }
    tree_block *made = block_uncounted(change->writer->epoch, content);
    if (made == NULL) {
        content_free(change->writer->store, content);
        return NULL;
    }
    change->made[change->made_count++] = made;
    if (block != NULL)
        change_drop(change, block);
    return made;
}

/* change_drop -- ended by change_finish(). */
void change_drop(tree_change *change, tree_block *block) {
    change->replaced[change->replaced_count++] = block;
}

/* change_set_separator -- copies `size` bytes of a string: what it lies in may be freed before it
 * is used. */
bool change_set_separator(tree_change *change, const tree_ref *ref, uint32_t size) {
    tansu_buffer *buffer = &change->separators[change->separator_turn ^= 1];
    if (!buffer_reserve(buffer, (size_t)size + 1))
        return false;
    ref_copy(buffer->data, ref, 0, size);
    change->edit.separator = buffer->data;
    change->edit.separator_size = size;
    return true;
}

/* change_separator -- one byte more than what both share. */
bool change_separator(tree_change *change, const tree_ref *left, const tree_ref *right) {
    return change_set_separator(change, right, ref_common(left, right) + 1);
}

/* edit_apply -- edits an inner block that has capacity for the separator. */
void edit_apply(tree_inner *inner, const tree_edit *edit) {
    uint32_t children = inner_children(inner), first = edit->first;
    uint32_t after = children - first - edit->removed; /* children after those replaced */
    if (edit->added != edit->removed) {
        memmove(inner->child + first + edit->added, inner->child + first + edit->removed,
                after * sizeof(inner->child[0]));
        memmove(inner->count + first + edit->added, inner->count + first + edit->removed,
                after * sizeof(inner->count[0]));
        if (edit->added == 2)
            page_insert(&inner->keys, first, edit->separator, edit->separator_size);
        else if (edit->added == 1 || first == 0)
            page_remove(&inner->keys, first);
        else
            page_remove(&inner->keys, first - 1);
    }
    for (uint32_t i = 0; i < edit->added; i++) {
        inner->child[first + i] = edit->child[i];
        inner->count[first + i] = edit->count[i];
    }
}

/* change_undo -- frees what was made; the tree has not been touched. */
void change_undo(tree_change *change) {
    tree_store *store = change->writer->store;
    for (uint32_t i = 0; i < change->made_count; i++)
        block_undo(store, change->made[i]);
    for (uint32_t i = 0; i < change->swapped_count; i++)
        content_free(store, change->swapped[i].content);
    tansu_buffer_free(&change->separators[0]);
    tansu_buffer_free(&change->separators[1]);
}

/* change_finish -- edits first: separators may lie in contents that are freed after them. */
void change_finish(tree_change *change) {
    tree_writer *writer = change->writer;
    int64_t memory = 0, dirty = 0;
    for (uint32_t i = 0; i < change->in_place_count; i++)
        edit_apply(change->in_place[i].inner, &change->in_place[i].edit);
    for (uint32_t i = 0; i < change->made_count; i++) {
        memory += (int64_t)block_memory(change->made[i]);
        dirty += block_dirty(change->made[i]);
    }
    blocks_count(writer->store, memory, dirty);
    writer->bytes += (uint64_t)memory;
    for (uint32_t i = 0; i < change->swapped_count; i++) {
        tree_block *block = change->swapped[i].block;
        writer->bytes += change->swapped[i].content->bytes;
        writer->bytes -= block_resident(block)->bytes;
        block_swap(writer->store, block, change->swapped[i].content);
    }
    for (uint32_t i = 0; i < change->replaced_count; i++) {
        tree_block *block = change->replaced[i];
        if (block->epoch == writer->epoch) {
            writer->bytes -= block_memory(block);
            block_free(writer->store, block);
        } else {
            retire_add_born(writer->retired, block_retired, writer->store, block,
                            block->epoch); /* has space */
        }
    }
    tansu_buffer_free(&change->separators[0]);
    tansu_buffer_free(&change->separators[1]);
}

/* ---- Editing a tree's inner blocks, from the leaf up ---- */

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
        (bytes + offsetof(tree_inner, keys) <= TREE_BLOCK_BYTES || inner->keys.dead == 0)) {
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

/* ---- Leaves and inner blocks that have become too large ---- */

/* References that a usual leaf's entries need; more of them are allocated. */
#define USUAL_REFS 320

/* leaf_too_large -- the header of the leaf counts, too. */
bool leaf_too_large(uint64_t page_bytes, uint32_t count) {
    uint64_t bytes = page_bytes + offsetof(tree_leaf, page);
    return (bytes > TREE_BLOCK_BYTES && count > 4) || (bytes > LEAF_LARGE && count > 1);
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

/* ---- Adding an entry ---- */

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
        if (!large && (bytes + offsetof(tree_leaf, page) <= TREE_BLOCK_BYTES || page->dead == 0)) {
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

/* ---- Removing an entry ---- */

/* Leaves with less than this, after an entry was removed, are joined with a neighbour; both
 * together may have up to LEAF_JOINED, so that the next insertions do not split them again. */
#define LEAF_SPARSE (TREE_BLOCK_BYTES / 4)
#define LEAF_JOINED (TREE_BLOCK_BYTES * 3 / 4)

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
