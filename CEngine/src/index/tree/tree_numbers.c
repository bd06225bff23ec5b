/*
 * index/tree/tree_numbers.c -- the numbers of all stored blocks of a tree.
 */
#include "index/tree/tree_block.h"
#include "util/array.h"
#include "util/error.h"

/* add_number -- nothing of a block that is not stored. */
static tansu_status add_number(block_numbers *numbers, const tree_block *block,
                               tansu_error *error) {
    uint64_t number = atomic_load(&((tree_block *)block)->number);
    if (number == 0 || (number & NUMBER_PENDING) != 0)
        return TANSU_OK;
    if (!ARRAY_RESERVE(numbers->list, numbers->count, numbers->capacity, 1))
        return error_memory(error);
    numbers->list[numbers->count++] = number;
    return TANSU_OK;
}

/* add_children -- those of a content. Leaves are not loaded: their parents have their numbers. */
static tansu_status add_children(tree_store *store, const tree_content *content,
                                 block_numbers *numbers, tansu_error *error) {
    const tree_inner *inner = as_inner(content);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        const tree_content *child;
        status = add_number(numbers, inner->child[i], error);
        if (status != TANSU_OK || content->level == 1)
            continue;
        status = child_content(store, inner, i, &child, error);
        if (status == TANSU_OK)
            status = add_children(store, child, numbers, error);
    }
    return status;
}

tansu_status tree_numbers(tree_store *store, const tree *t, block_numbers *numbers,
                          tansu_error *error) {
    if (t->root == NULL)
        return TANSU_OK;
    const tree_content *content;
    tansu_status status = add_number(numbers, t->root, error);
    if (status == TANSU_OK)
        status = block_content(store, t->root, -1, t->count, &content, error);
    if (status != TANSU_OK)
        return status;
    if (content->level > 0)
        status = add_children(store, content, numbers, error);
    block_unpin(t->root);
    return status;
}
