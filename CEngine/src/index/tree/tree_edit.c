/*
 * index/tree/tree_edit.c -- editing a tree's blocks, from the leaf up.
 */
#include "index/tree/tree_edit.h"
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
        status = child_content(writer->store, inner, slot, &content, error);
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

/* edit_begin -- a change replaces at most two blocks a level. */
tansu_status edit_begin(tree_change *change, tree_writer *writer, tree_way *way,
                        tansu_error *error) {
    change->writer = writer;
    change->way = way;
    change->made_count = change->swapped_count = change->replaced_count = 0;
    change->in_place_count = change->separator_turn = 0;
    change->separators[0] = change->separators[1] = (tansu_buffer)TANSU_BUFFER_INIT;
    return retire_reserve(writer->retired, EDIT_BLOCKS) ? TANSU_OK : error_memory(error);
}

/* edit_block -- a block of the writer's own keeps its handle, so that its parent need not
 * change. */
tree_block *edit_block(tree_change *change, tree_block *block, tree_content *content) {
    if (block != NULL && block->epoch == change->writer->epoch) {
        change->swapped[change->swapped_count].block = block;
        change->swapped[change->swapped_count++].content = content;
        return block;
    }
    tree_block *made = block_new(change->writer->store, change->writer->epoch, content, 0);
    if (made == NULL) {
        content_free(change->writer->store, content);
        return NULL;
    }
    change->made[change->made_count++] = made;
    if (block != NULL)
        edit_drop(change, block);
    return made;
}

/* edit_drop -- ended by edit_finish(). */
void edit_drop(tree_change *change, tree_block *block) {
    change->replaced[change->replaced_count++] = block;
}

/* set_separator -- copies `size` bytes of a string: what it lies in may be freed before it is
 * used. */
static bool set_separator(tree_change *change, const tree_ref *ref, uint32_t size) {
    tansu_buffer *buffer = &change->separators[change->separator_turn ^= 1];
    if (!buffer_reserve(buffer, (size_t)size + 1))
        return false;
    ref_copy(buffer->data, ref, 0, size);
    change->edit.separator = buffer->data;
    change->edit.separator_size = size;
    return true;
}

/* edit_separator -- one byte more than what both share. */
bool edit_separator(tree_change *change, const tree_ref *left, const tree_ref *right) {
    return set_separator(change, right, ref_common(left, right) + 1);
}

/* edit_apply -- edits an inner block that has capacity for the separator. */
static void edit_apply(tree_inner *inner, const tree_edit *edit) {
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

/* Children and separators of up to two inner blocks, with an edit applied, before they are dealt
 * out to new blocks. */
typedef struct gathered {
    uint32_t children;
    tree_block *child[2 * INNER_MAX + 2];
    uint64_t count[2 * INNER_MAX + 2];
    tree_ref separator[2 * INNER_MAX + 2]; /* i lies between children i and i + 1 */
} gathered;

/* gather -- appends an inner block's children; `before` is the separator in front of them. */
static void gather(gathered *all, const tree_inner *inner, const tree_ref *before) {
    uint32_t children = inner_children(inner);
    if (all->children > 0)
        all->separator[all->children - 1] = *before;
    memcpy(all->child + all->children, inner->child, children * sizeof(inner->child[0]));
    memcpy(all->count + all->children, inner->count, children * sizeof(inner->count[0]));
    page_refs(&inner->keys, 0, children - 1, all->separator + all->children);
    all->children += children;
}

/* gather_edit -- edit_apply() on what was gathered; the block's children begin at `base`. */
static void gather_edit(gathered *all, const tree_edit *edit, uint32_t base) {
    uint32_t first = base + edit->first;
    uint32_t after = all->children - first - edit->removed;
    tree_ref *separators = all->separator;
    memmove(all->child + first + edit->added, all->child + first + edit->removed,
            after * sizeof(all->child[0]));
    memmove(all->count + first + edit->added, all->count + first + edit->removed,
            after * sizeof(all->count[0]));
    if (edit->added == 2) {
        memmove(separators + first + 1, separators + first,
                (all->children - 1 - first) * sizeof(*separators));
        separators[first] = (tree_ref){edit->separator, NULL, edit->separator_size, 0};
    } else if (edit->added < edit->removed) {
        uint32_t gone = edit->added == 1 || first == 0 ? first : first - 1;
        if (gone + 2 < all->children)
            memmove(separators + gone, separators + gone + 1,
                    (all->children - 2 - gone) * sizeof(*separators));
    }
    for (uint32_t i = 0; i < edit->added; i++) {
        all->child[first + i] = edit->child[i];
        all->count[first + i] = edit->count[i];
    }
    all->children += edit->added - edit->removed;
}

/* gathered_inner -- a new inner block of some of the children; NULL: memory. */
static tree_content *gathered_inner(tree_store *store, const gathered *all, uint32_t first,
                                    uint32_t children, uint32_t level) {
    uint32_t prefix;
    uint64_t bytes = page_measure(all->separator + first, children - 1, &prefix);
    tree_content *content = content_inner(store, bytes + bytes / 8 + 64);
    if (content == NULL)
        return NULL;
    tree_inner *inner = inner_of(content);
    content->level = level;
    page_fill(&inner->keys, inner->keys.capacity, (uint8_t)level, all->separator + first,
              children - 1, prefix);
    memcpy(inner->child, all->child + first, children * sizeof(inner->child[0]));
    memcpy(inner->count, all->count + first, children * sizeof(inner->count[0]));
    return content;
}

/* gathered_count -- entries under some of the children. */
static uint64_t gathered_count(const gathered *all, uint32_t first, uint32_t children) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < children; i++)
        count += all->count[first + i];
    return count;
}

/* edit_to -- the edit for the next level: one block instead of `removed`, from child `first` on. */
static void edit_to(tree_edit *edit, uint32_t first, uint32_t removed, tree_block *block,
                    uint64_t count) {
    *edit = (tree_edit){.first = first, .removed = removed, .added = block == NULL ? 0 : 1};
    edit->child[0] = block;
    edit->count[0] = count;
}

/* edit_simple -- a block that neither splits nor merges: as it is, as a copy, or rebuilt when the
 * separator does not fit. `slot` is the block's own in its parent. */
static tansu_status edit_simple(tree_change *change, tree_block *block, tree_inner *inner,
                                uint32_t slot, tansu_error *error) {
    tree_edit *edit = &change->edit;
    tree_store *store = change->writer->store;
    uint64_t count = content_count(&inner->base);
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
    tree_block *result = edit_block(change, block, content);
    if (result == NULL)
        return error_memory(error);
    edit_to(edit, slot, 1, result, count);
    return TANSU_OK;
}

/* edit_split -- a full inner block becomes two. When the last child was split (keys are inserted in
 * rising order) the left one stays full. */
static tansu_status edit_split(tree_change *change, tree_block *block, tree_inner *inner,
                               uint32_t slot, tansu_error *error) {
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
    tree_block *right = content == NULL ? NULL : edit_block(change, NULL, content);
    tree_block *left = NULL;
    if (right != NULL && at_end && change->edit.child[0] == inner->child[change->edit.first] &&
        change->edit.count[0] == inner->count[change->edit.first]) {
        left = block;
    } else if (right != NULL) {
        content = gathered_inner(store, &all, 0, left_children, level);
        left = content == NULL ? NULL : edit_block(change, block, content);
    }
    if (left == NULL)
        return error_memory(error);
    const tree_ref *between = &all.separator[left_children - 1];
    if (!set_separator(change, between, ref_size(between)))
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
        content == NULL ? NULL : edit_block(change, way->step[step].block, content);
    if (result == NULL)
        return error_memory(error);
    edit_drop(change, parent->child[other_slot]);
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
        edit_drop(change, block);
        edit_to(edit, slot, 1, NULL, 0);
        return TANSU_OK;
    }
    if (edit->added == 2) {
        uint64_t bytes = (uint64_t)page_live(&inner->keys) + edit->separator_size;
        if (children > INNER_MAX || (bytes > INNER_LARGE && children >= 4))
            return edit_split(change, block, inner, slot, error);
    }
    if (edit->added < edit->removed) {
        if (step == 0 && children == 1) { /* the root's only child replaces it */
            uint32_t rest = edit->first == 0 ? 1 : 0;
            edit_drop(change, block);
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
    return edit_simple(change, block, inner, slot, error);
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
    *root = edit_block(change, NULL, content);
    return *root == NULL ? error_memory(error) : TANSU_OK;
}

/* edit_undo -- frees what was made; the tree has not been touched. */
void edit_undo(tree_change *change) {
    tree_store *store = change->writer->store;
    for (uint32_t i = 0; i < change->made_count; i++)
        block_forget(store, change->made[i]);
    for (uint32_t i = 0; i < change->swapped_count; i++)
        content_free(store, change->swapped[i].content);
    tansu_buffer_free(&change->separators[0]);
    tansu_buffer_free(&change->separators[1]);
}

/* edit_finish -- edits first: separators may lie in contents that are freed after them. */
void edit_finish(tree_change *change) {
    tree_writer *writer = change->writer;
    for (uint32_t i = 0; i < change->in_place_count; i++)
        edit_apply(change->in_place[i].inner, &change->in_place[i].edit);
    for (uint32_t i = 0; i < change->swapped_count; i++) {
        tree_block *block = change->swapped[i].block;
        block_swap(writer->store, block, change->swapped[i].content);
    }
    for (uint32_t i = 0; i < change->replaced_count; i++) {
        tree_block *block = change->replaced[i];
        if (block->epoch == writer->epoch)
            block_free(writer->store, block);
        else
            retire_add_born(writer->retired, block_retired, writer->store, block,
                            block->epoch); /* has space */
    }
    tansu_buffer_free(&change->separators[0]);
    tansu_buffer_free(&change->separators[1]);
}
