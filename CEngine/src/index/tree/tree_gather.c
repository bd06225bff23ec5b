/*
 * index/tree/tree_gather.c -- new blocks made of the strings and children of others.
 */
#include "index/tree/tree_gather.h"

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
