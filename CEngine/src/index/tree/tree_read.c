/*
 * index/tree/tree_read.c -- cursors, ranks and look-ups.
 */
#include "index/tree/tree_block.h"
#include "index/tree/tree_change.h"
#include "util/buffer.h"
#include "util/error.h"

/* tree_cursor_init -- before seeking; the path is filled in by that. */
void tree_cursor_init(tree_cursor *cursor, tree_store *store, const tree *t) {
    cursor->store = store;
    cursor->t = *t;
    cursor->height = 0;
    cursor->leaf = NULL;
}

/* tree_cursor_end -- releases the leaf. */
void tree_cursor_end(tree_cursor *cursor) {
    if (cursor->leaf != NULL)
        block_unpin(cursor->leaf);
    cursor->leaf = NULL;
    cursor->height = 0;
}

/* enter -- one level down, into a content whose block has been pinned. */
static inline void enter(tree_cursor *cursor, tree_block *block, const tree_content *content,
                         uint32_t slot) {
    cursor->path[cursor->height++] = (struct tree_step){content, slot};
    if (content->level == 0)
        cursor->leaf = block;
}

/* page_at -- the leaf that the cursor is in. */
static inline const tree_page *page_at(const tree_cursor *cursor) {
    return &as_leaf(cursor->path[cursor->height - 1].content)->page;
}

/* slot_at -- the slot in that leaf. */
static inline uint32_t *slot_at(tree_cursor *cursor) {
    return &cursor->path[cursor->height - 1].slot;
}

/* go_down -- from the child that the lowest step of the path has chosen to the first (or last)
 * entry below it. */
static tansu_status go_down(tree_cursor *cursor, bool last, tansu_error *error) {
    for (;;) {
        struct tree_step *step = &cursor->path[cursor->height - 1];
        if (step->content->level == 0)
            return TANSU_OK;
        const tree_content *child;
        const tree_inner *inner = as_inner(step->content);
        tansu_status status = child_content(cursor->store, inner, step->slot, &child, error);
        if (status != TANSU_OK) {
            cursor->height = 0;
            return status;
        }
        uint32_t slot = 0;
        if (last)
            slot = child->level == 0 ? as_leaf(child)->page.count - 1 : as_inner(child)->keys.count;
        enter(cursor, inner->child[step->slot], child, slot);
    }
}

/* choose_next, choose_previous -- the lowest child of the path's inner blocks that has one after
 * (or before) it, and that one instead; false when there is none. */
static bool choose_next(tree_cursor *cursor) {
    for (cursor->height--; cursor->height > 0; cursor->height--) {
        struct tree_step *step = &cursor->path[cursor->height - 1];
        if (step->slot + 1 < inner_children(as_inner(step->content))) {
            step->slot++;
            return true;
        }
    }
    return false;
}
static bool choose_previous(tree_cursor *cursor) {
    for (cursor->height--; cursor->height > 0; cursor->height--) {
        struct tree_step *step = &cursor->path[cursor->height - 1];
        if (step->slot > 0) {
            step->slot--;
            return true;
        }
    }
    return false;
}

/* other_leaf -- to the first entry of the leaf after or (`back`) the last one of the leaf before;
 * *valid false at the end. Its entries must be others: in a stored tree that has a leaf in many
 * places a cursor would not arrive anywhere. */
static tansu_status other_leaf(tree_cursor *cursor, bool back, bool *valid, tansu_error *error) {
    tree_block *from = cursor->leaf;
    tree_ref left = page_ref(page_at(cursor), 0);
    tansu_status status = TANSU_OK;
    cursor->leaf = NULL;
    *valid = back ? choose_previous(cursor) : choose_next(cursor);
    if (*valid)
        status = go_down(cursor, back, error);
    if (*valid && status == TANSU_OK) {
        tree_ref first = page_ref(page_at(cursor), 0);
        if (!(back ? ref_less(&first, &left) : ref_less(&left, &first))) {
            status = block_damaged(cursor->store, atomic_load(&cursor->leaf->number),
                                   "its entries are out of order", error);
            tree_cursor_end(cursor);
        }
    }
    *valid = *valid && status == TANSU_OK;
    block_unpin(from);
    return status;
}

/* next_leaf -- to the first entry of the leaf after; *valid false after the last. */
static tansu_status next_leaf(tree_cursor *cursor, bool *valid, tansu_error *error) {
    return other_leaf(cursor, false, valid, error);
}

/* previous_leaf -- to the last entry of the leaf before. */
static tansu_status previous_leaf(tree_cursor *cursor, bool *valid, tansu_error *error) {
    return other_leaf(cursor, true, valid, error);
}

/* descend -- to where the key is or belongs in the leaf that covers it; the slot may be one
 * after the leaf's last. The tree is not empty. */
static tansu_status descend(tree_cursor *cursor, const uint8_t *key, size_t size,
                            tansu_error *error) {
    const tree_content *content;
    tree_block *block = cursor->t.root;
    tansu_status status = block_content(cursor->store, block, -1, cursor->t.count, &content, error);
    uint32_t height = 0;
    while (status == TANSU_OK && content->level > 0) {
        const tree_inner *inner = as_inner(content);
        uint32_t slot = inner_slot(inner, key, size);
        cursor->path[height++] = (struct tree_step){content, slot};
        block = inner->child[slot];
        status = search_child(cursor->store, inner, slot, &content, error);
    }
    if (status != TANSU_OK)
        return status;
    bool exact;
    uint32_t slot = page_search(&as_leaf(content)->page, key, size, &exact);
    cursor->height = height;
    enter(cursor, block, content, slot);
    return TANSU_OK;
}

/* tree_cursor_seek -- the entry may be the first of the next leaf. */
tansu_status tree_cursor_seek(tree_cursor *cursor, const uint8_t *key, size_t size, bool *valid,
                              tansu_error *error) {
    *valid = false;
    tree_cursor_end(cursor);
    if (cursor->t.root == NULL)
        return TANSU_OK;
    tansu_status status = descend(cursor, key, size, error);
    if (status != TANSU_OK)
        return status;
    if (*slot_at(cursor) == page_at(cursor)->count)
        return next_leaf(cursor, valid, error);
    *valid = true;
    return TANSU_OK;
}

/* tree_cursor_seek_before -- the entry may be the last of the leaf before. */
tansu_status tree_cursor_seek_before(tree_cursor *cursor, const uint8_t *key, size_t size,
                                     bool *valid, tansu_error *error) {
    *valid = false;
    tree_cursor_end(cursor);
    if (cursor->t.root == NULL)
        return TANSU_OK;
    tansu_status status = descend(cursor, key, size, error);
    if (status != TANSU_OK)
        return status;
    if (*slot_at(cursor) == 0)
        return previous_leaf(cursor, valid, error);
    *slot_at(cursor) -= 1;
    *valid = true;
    return TANSU_OK;
}

/* tree_cursor_seek_rank -- by the counts of the inner blocks. */
tansu_status tree_cursor_seek_rank(tree_cursor *cursor, uint64_t rank, bool *valid,
                                   tansu_error *error) {
    *valid = false;
    tree_cursor_end(cursor);
    if (cursor->t.root == NULL || rank >= cursor->t.count)
        return TANSU_OK;
    const tree_content *content;
    tree_block *block = cursor->t.root;
    uint32_t height = 0;
    tansu_status status = block_content(cursor->store, block, -1, cursor->t.count, &content, error);
    while (status == TANSU_OK && content->level > 0) {
        const tree_inner *inner = as_inner(content);
        uint32_t slot = 0;
        while (slot + 1 < inner_children(inner) && rank >= inner->count[slot])
            rank -= inner->count[slot++];
        cursor->path[height++] = (struct tree_step){content, slot};
        block = inner->child[slot];
        status = child_content(cursor->store, inner, slot, &content, error);
    }
    if (status != TANSU_OK)
        return status;
    cursor->height = height;
    enter(cursor, block, content, (uint32_t)rank);
    *valid = true;
    return TANSU_OK;
}

/* tree_cursor_next -- a cursor that is nowhere stays there. */
tansu_status tree_cursor_next(tree_cursor *cursor, bool *valid, tansu_error *error) {
    *valid = false;
    if (cursor->height == 0)
        return TANSU_OK;
    if (++*slot_at(cursor) == page_at(cursor)->count)
        return next_leaf(cursor, valid, error);
    *valid = true;
    return TANSU_OK;
}

/* tree_cursor_previous -- a cursor that is nowhere stays there. */
tansu_status tree_cursor_previous(tree_cursor *cursor, bool *valid, tansu_error *error) {
    *valid = false;
    if (cursor->height == 0)
        return TANSU_OK;
    if (*slot_at(cursor) == 0)
        return previous_leaf(cursor, valid, error);
    *slot_at(cursor) -= 1;
    *valid = true;
    return TANSU_OK;
}

/* tree_cursor_rid -- the cursor is on an entry. */
uint64_t tree_cursor_rid(const tree_cursor *cursor) {
    return page_rid(page_at(cursor), cursor->path[cursor->height - 1].slot);
}

/* tree_cursor_key -- prefix and suffix. */
bool tree_cursor_key(const tree_cursor *cursor, tansu_buffer *key) {
    tree_ref ref = page_ref(page_at(cursor), cursor->path[cursor->height - 1].slot);
    key->size = 0;
    if (!buffer_reserve(key, (size_t)ref_size(&ref) + 1))
        return false;
    ref_copy(key->data, &ref, 0, ref_size(&ref));
    key->size = ref_size(&ref);
    return true;
}

bool tree_cursor_begins(const tree_cursor *cursor, const uint8_t *prefix, size_t size) {
    tree_ref ref = page_ref(page_at(cursor), cursor->path[cursor->height - 1].slot);
    size_t first = size < ref.prefix_size ? size : ref.prefix_size;
    return size <= (size_t)ref.prefix_size + ref.suffix_size &&
           memcmp(ref.prefix, prefix, first) == 0 &&
           memcmp(ref.suffix, prefix + first, size - first) == 0;
}

/* take_rids -- of the slots from `slot` to `end` of one leaf. */
static void take_rids(const tree_page *page, uint32_t slot, uint32_t end, uint64_t *rids) {
    for (; slot < end; slot++)
        *rids++ = page_rid(page, slot);
}

/* tree_cursor_rids -- a leaf whose last entry is below the bound is taken whole. */
tansu_status tree_cursor_rids(tree_cursor *cursor, const uint8_t *bound, size_t bound_size,
                              uint64_t *rids, size_t capacity, size_t *count, tansu_error *error) {
    *count = 0;
    while (*count < capacity && cursor->height > 0) {
        const tree_page *page = page_at(cursor);
        uint32_t slot = *slot_at(cursor), end = page->count;
        if (bound != NULL && page_compare(page, end - 1, bound, bound_size) >= 0) {
            bool exact;
            end = page_search(page, bound, bound_size, &exact);
        }
        if (end <= slot)
            return TANSU_OK;
        uint32_t take = end - slot;
        if (take > capacity - *count)
            take = (uint32_t)(capacity - *count);
        take_rids(page, slot, slot + take, rids + *count);
        *count += take;
        *slot_at(cursor) = slot + take;
        if (slot + take < page->count)
            return TANSU_OK;
        bool valid;
        tansu_status status = next_leaf(cursor, &valid, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* take_entries -- of the slots from `slot` to `end` of one leaf, until there are bytes enough;
 * *taken of them. */
static tansu_status take_entries(const tree_page *page, uint32_t slot, uint32_t end,
                                 uint64_t *items, tansu_buffer *bytes, size_t most, uint32_t *taken,
                                 tansu_error *error) {
    for (*taken = 0; slot < end && bytes->size < most; slot++, ++*taken) {
        tree_ref ref = page_ref(page, slot);
        uint32_t size = ref_size(&ref);
        if (!buffer_reserve(bytes, (size_t)size + 4))
            return error_memory(error);
        *items++ = page_rid(page, slot) << TREE_POSITION_BITS | bytes->size;
        store_u32(bytes->data + bytes->size, size);
        ref_copy(bytes->data + bytes->size + 4, &ref, 0, size);
        bytes->size += (size_t)size + 4;
    }
    return TANSU_OK;
}

/* tree_cursor_entries -- leaf by leaf, as above. */
tansu_status tree_cursor_entries(tree_cursor *cursor, const uint8_t *bound, size_t bound_size,
                                 uint64_t *items, size_t capacity, tansu_buffer *bytes, size_t most,
                                 size_t *count, bool *done, tansu_error *error) {
    *count = 0;
    *done = false;
    while (*count < capacity && bytes->size < most && cursor->height > 0) {
        const tree_page *page = page_at(cursor);
        uint32_t slot = *slot_at(cursor), end = page->count, taken;
        if (bound != NULL && page_compare(page, end - 1, bound, bound_size) >= 0) {
            bool exact;
            end = page_search(page, bound, bound_size, &exact);
            *done = true;
        }
        if (end <= slot)
            return TANSU_OK;
        uint32_t last = end - slot > capacity - *count ? slot + (uint32_t)(capacity - *count) : end;
        tansu_status status =
            take_entries(page, slot, last, items + *count, bytes, most, &taken, error);
        if (status != TANSU_OK)
            return status;
        *count += taken;
        *slot_at(cursor) = slot + taken;
        *done = *done && slot + taken == end;
        if (slot + taken < page->count)
            return TANSU_OK;
        bool valid;
        status = next_leaf(cursor, &valid, error);
        if (status != TANSU_OK)
            return status;
    }
    *done = *done || cursor->height == 0;
    return TANSU_OK;
}

/* rank_below -- how many entries below a content are less than the key: the sum of the counts of
 * the children to the left of the path. Releases the content. */
static tansu_status rank_below(tree_store *store, tree_block *block, const tree_content *content,
                               const uint8_t *key, size_t size, uint64_t *rank,
                               tansu_error *error) {
    uint64_t before = 0;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && content->level > 0) {
        const tree_inner *inner = as_inner(content);
        uint32_t slot = inner_slot(inner, key, size);
        for (uint32_t i = 0; i < slot; i++)
            before += inner->count[i];
        block = inner->child[slot];
        status = search_child(store, inner, slot, &content, error);
    }
    if (status != TANSU_OK)
        return status;
    bool exact;
    *rank = before + page_search(&as_leaf(content)->page, key, size, &exact);
    block_unpin(block);
    return TANSU_OK;
}

tansu_status tree_rank(tree_store *store, const tree *t, const uint8_t *key, size_t size,
                       uint64_t *rank, tansu_error *error) {
    *rank = 0;
    if (t->root == NULL)
        return TANSU_OK;
    const tree_content *content;
    tansu_status status = block_content(store, t->root, -1, t->count, &content, error);
    return status == TANSU_OK ? rank_below(store, t->root, content, key, size, rank, error)
                              : status;
}

/* rank_in_child -- rank_below() for a child of an inner block. */
static tansu_status rank_in_child(tree_store *store, const tree_inner *inner, uint32_t slot,
                                  const uint8_t *key, size_t size, uint64_t *rank,
                                  tansu_error *error) {
    const tree_content *content;
    tansu_status status = search_child(store, inner, slot, &content, error);
    return status == TANSU_OK
               ? rank_below(store, inner->child[slot], content, key, size, rank, error)
               : status;
}

/* count_across -- the entries between two keys that belong to different children, the lower one to
 * that of `slot`. */
static tansu_status count_across(tree_store *store, const tree_inner *inner, uint32_t slot,
                                 const tree_range *range, uint64_t *count, tansu_error *error) {
    uint64_t sum = 0, below_low, below_high;
    uint32_t last = inner_slot(inner, range->high, range->high_size);
    tansu_status status =
        rank_in_child(store, inner, slot, range->low, range->low_size, &below_low, error);
    if (status == TANSU_OK)
        status =
            rank_in_child(store, inner, last, range->high, range->high_size, &below_high, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = slot; i < last; i++)
        sum += inner->count[i];
    *count = sum - below_low + below_high;
    return TANSU_OK;
}

/* tree_count_few -- the ways to both keys are one as far down as they are the same: for few
 * entries, up to the leaf. */
tansu_status tree_count_few(tree_store *store, const tree *t, const tree_range *range,
                            uint64_t *count, tree_few *few, tansu_error *error) {
    *count = 0;
    few->complete = false;
    if (t->root == NULL)
        return TANSU_OK;
    const tree_content *content;
    tree_block *block = t->root;
    tansu_status status = block_content(store, block, -1, t->count, &content, error);
    while (status == TANSU_OK && content->level > 0) {
        const tree_inner *inner = as_inner(content);
        uint32_t slot = inner_slot(inner, range->low, range->low_size);
        if (slot < inner->keys.count &&
            page_compare(&inner->keys, slot, range->high, range->high_size) <= 0)
            return count_across(store, inner, slot, range, count, error);
        block = inner->child[slot];
        status = search_child(store, inner, slot, &content, error);
    }
    if (status != TANSU_OK)
        return status;
    bool exact;
    const tree_page *page = &as_leaf(content)->page;
    uint32_t first = page_search(page, range->low, range->low_size, &exact);
    uint32_t last = page_search(page, range->high, range->high_size, &exact);
    *count = last > first ? last - first : 0;
    few->complete = *count <= few->capacity;
    few->count = few->complete ? (uint32_t)*count : 0;
    take_rids(page, first, first + few->count, few->rids);
    block_unpin(block);
    return TANSU_OK;
}

tansu_status tree_count(tree_store *store, const tree *t, const tree_range *range, uint64_t *count,
                        tansu_error *error) {
    tree_few none = {.capacity = 0};
    return tree_count_few(store, t, range, count, &none, error);
}

/* tree_find_prefix -- the entry is the first that is not less than the prefix. */
tansu_status tree_find_prefix(tree_store *store, const tree *t, const uint8_t *prefix, size_t size,
                              bool *found, uint64_t *rid, tansu_error *error) {
    *found = false;
    if (t->root == NULL)
        return TANSU_OK;
    tree_cursor cursor;
    tree_cursor_init(&cursor, store, t);
    bool valid;
    tansu_status status = tree_cursor_seek(&cursor, prefix, size, &valid, error);
    if (status == TANSU_OK && valid &&
        page_begins_with(page_at(&cursor), *slot_at(&cursor), prefix, size)) {
        *rid = tree_cursor_rid(&cursor);
        *found = true;
    }
    tree_cursor_end(&cursor);
    return status;
}

/* ---- New blocks made of the strings and children of others ---- */

/* refs_leaf -- exactly as much memory as it needs, or the usual size if that is more. */
tree_content *refs_leaf(tree_store *store, const tree_ref *refs, uint32_t count) {
    uint32_t prefix;
    uint64_t bytes = page_measure(refs, count, &prefix);
    tree_content *content = content_leaf(store, bytes);
    if (content != NULL)
        page_fill(leaf_page(content), leaf_page(content)->capacity, 0, refs, count, prefix);
    return content;
}

/* gather -- the separator in front of the first block is not used. */
void gather(gathered *all, const tree_inner *inner, const tree_ref *before) {
    uint32_t children = inner_children(inner);
    if (all->children > 0)
        all->separator[all->children - 1] = *before;
    memcpy(all->child + all->children, inner->child, children * sizeof(inner->child[0]));
    memcpy(all->count + all->children, inner->count, children * sizeof(inner->count[0]));
    page_refs(&inner->keys, 0, children - 1, all->separator + all->children);
    all->children += children;
}

/* gather_edit -- edit_apply() on what was gathered; the block's children begin at `base`. */
void gather_edit(gathered *all, const tree_edit *edit, uint32_t base) {
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
tree_content *gathered_inner(tree_store *store, const gathered *all, uint32_t first,
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
uint64_t gathered_count(const gathered *all, uint32_t first, uint32_t children) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < children; i++)
        count += all->count[first + i];
    return count;
}
