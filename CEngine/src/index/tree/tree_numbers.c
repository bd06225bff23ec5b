/*
 * index/tree/tree_numbers.c -- all blocks of a tree, and the numbers of those that are stored.
 */
#include "index/tree/tree_block.h"
#include "util/array.h"
#include "util/error.h"

/* A way through all blocks of a tree. */
typedef struct tree_way_through {
    tree_store *store;
    tree_block_visitor visit;
    void *context;
    block_tally tally;
    const tree_page *before[TREE_MAX_HEIGHT]; /* the separators of each level's newest block */
} tree_way_through;

/* show -- one block. Errors: CORRUPT, and the visitor's. */
static tansu_status show(tree_way_through *w, tree_block *block, tansu_error *error) {
    if (!block_tally_add(&w->tally, w->store, block))
        return block_damaged(w->store, atomic_load(&block->number), "it is not the only one",
                             error);
    return w->visit(w->context, block, error);
}

/* rises -- whether a block's separators are greater than those of the blocks before on its level:
 * so none is entered twice, but for those without separators, which have one child. */
static bool rises(tree_way_through *w, const tree_inner *inner) {
    if (inner->keys.count == 0)
        return true;
    const tree_page **before = &w->before[inner->base.level];
    tree_ref first = page_ref(&inner->keys, 0);
    tree_ref last = *before == NULL ? first : page_ref(*before, 0);
    bool right = *before == NULL || ref_less(&last, &first);
    *before = &inner->keys;
    return right;
}

/* visit_below -- the blocks below a content. */
static tansu_status visit_below(tree_way_through *w, const tree_block *block,
                                const tree_content *content, tansu_error *error) {
    if (content->level == 0)
        return TANSU_OK;
    const tree_inner *inner = as_inner(content);
    if (!rises(w, inner))
        return block_damaged(w->store, atomic_load(&((tree_block *)block)->number),
                             "its keys are out of order", error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        const tree_content *child;
        status = show(w, inner->child[i], error);
        if (status != TANSU_OK || content->level == 1)
            continue;
        status = child_content(w->store, inner, i, &child, error);
        if (status == TANSU_OK)
            status = visit_below(w, inner->child[i], child, error);
    }
    return status;
}

tansu_status tree_each_block(tree_store *store, const tree *t, tree_block_visitor visit,
                             void *context, tansu_error *error) {
    if (t->root == NULL)
        return TANSU_OK;
    tree_way_through w = {.store = store, .visit = visit, .context = context};
    const tree_content *content;
    tansu_status status = block_content(store, t->root, -1, t->count, &content, error);
    if (status != TANSU_OK)
        return status;
    status = show(&w, t->root, error);
    if (status == TANSU_OK)
        status = visit_below(&w, t->root, content, error);
    block_unpin(t->root);
    return status;
}

/* add_number -- a tree_block_visitor. Nothing of a block that is not stored. */
static tansu_status add_number(void *context, tree_block *block, tansu_error *error) {
    block_numbers *numbers = context;
    uint64_t number = atomic_load(&block->number);
    if (number == 0 || (number & NUMBER_PENDING) != 0)
        return TANSU_OK;
    if (!ARRAY_RESERVE(numbers->list, numbers->count, numbers->capacity, 1))
        return error_memory(error);
    numbers->list[numbers->count++] = number;
    return TANSU_OK;
}

tansu_status tree_numbers(tree_store *store, const tree *t, block_numbers *numbers,
                          tansu_error *error) {
    return tree_each_block(store, t, add_number, numbers, error);
}
