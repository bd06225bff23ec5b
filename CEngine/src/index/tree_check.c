/*
 * index/tree_check.c -- walks a whole tree and checks what all else relies on (see tree.h).
 */
#include "base/error.h"
#include "index/tree_block.h"

#include <inttypes.h>
#include <stdio.h>

/* wrong -- a check that failed in some block. */
static tansu_status wrong(tansu_error *error, const tree_block *block, const char *what) {
    char context[64];
    snprintf(context, sizeof(context), "index block %" PRIu64,
             (uint64_t)atomic_load(&((tree_block *)block)->number) & ~NUMBER_PENDING);
    return error_set(error, TANSU_E_CORRUPT, context, "An index is damaged: %s.", what);
}

/* ref_less -- a is less than b. */
static bool ref_less(const tree_ref *a, const tree_ref *b) {
    uint32_t common = ref_common(a, b);
    if (common == ref_size(a) || common == ref_size(b))
        return ref_size(a) < ref_size(b);
    uint8_t x, y;
    ref_copy(&x, a, common, 1);
    ref_copy(&y, b, common, 1);
    return x < y;
}

/* check_page -- rising strings, all within the bounds that the blocks above set. */
static tansu_status check_page(const tree_block *block, const tree_page *page, const tree_ref *low,
                               const tree_ref *high, tansu_error *error) {
    for (uint32_t i = 0; i < page->count; i++) {
        tree_ref ref = page_ref(page, i);
        if (i > 0) {
            tree_ref before = page_ref(page, i - 1);
            if (!ref_less(&before, &ref))
                return wrong(error, block, "two entries are out of order");
        }
        if ((low != NULL && ref_less(&ref, low)) || (high != NULL && !ref_less(&ref, high)))
            return wrong(error, block, "an entry lies in the wrong block");
    }
    return TANSU_OK;
}

/* check_block -- one block and all below it. */
static tansu_status check_block(tree_store *store, tree_block *block, int level, uint64_t count,
                                const tree_ref *low, const tree_ref *high, tansu_error *error) {
    const tree_content *content;
    tansu_status status = block_content(store, block, level, count, &content, error);
    if (status != TANSU_OK)
        return status;
    if (level >= 0 && content->level != (uint32_t)level)
        return wrong(error, block, "a block has the wrong level");
    if (content_count(content) != count || count == 0)
        return wrong(error, block, "the number of entries is not what the block above says");
    if (content->level == 0)
        return check_page(block, &as_leaf(content)->page, low, high, error);

    const tree_inner *inner = as_inner(content);
    status = check_page(block, &inner->keys, low, high, error);
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        tree_ref left, right;
        if (i > 0)
            left = page_ref(&inner->keys, i - 1);
        if (i < inner->keys.count)
            right = page_ref(&inner->keys, i);
        status = check_block(store, inner->child[i], (int)content->level - 1, inner->count[i],
                             i > 0 ? &left : low, i < inner->keys.count ? &right : high, error);
    }
    return status;
}

/* tree_check -- an empty tree has no root. */
tansu_status tree_check(tree_store *store, const tree *t, tansu_error *error) {
    if (t->root == NULL)
        return t->count == 0 ? TANSU_OK
                             : error_set(error, TANSU_E_CORRUPT, "index",
                                         "An index is damaged: it has entries and no blocks.");
    return check_block(store, t->root, -1, t->count, NULL, NULL, error);
}
