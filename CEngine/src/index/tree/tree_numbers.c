/*
 * index/tree/tree_numbers.c -- all blocks of a tree, and the numbers of those that are stored.
 */
#include "index/tree/tree_block.h"
#include "util/array.h"
#include "util/error.h"

/* visit_below -- the blocks below a content. */
static tansu_status visit_below(tree_store *store, const tree_content *content,
                                tree_block_visitor visit, void *context, tansu_error *error) {
    if (content->level == 0)
        return TANSU_OK;
    const tree_inner *inner = as_inner(content);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        const tree_content *child;
        status = visit(context, inner->child[i], error);
        if (status != TANSU_OK || content->level == 1)
            continue;
        status = child_content(store, inner, i, &child, error);
        if (status == TANSU_OK)
            status = visit_below(store, child, visit, context, error);
    }
    return status;
}

tansu_status tree_each_block(tree_store *store, const tree *t, tree_block_visitor visit,
                             void *context, tansu_error *error) {
    if (t->root == NULL)
        return TANSU_OK;
    const tree_content *content;
    tansu_status status = block_content(store, t->root, -1, t->count, &content, error);
    if (status != TANSU_OK)
        return status;
    status = visit(context, t->root, error);
    if (status == TANSU_OK)
        status = visit_below(store, content, visit, context, error);
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
