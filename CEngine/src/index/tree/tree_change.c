/*
 * index/tree/tree_change.c -- the way down to a leaf, and the blocks that a change makes and drops.
 */
#include "index/tree/tree_change.h"
#include "util/buffer.h"
#include "util/error.h"

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
