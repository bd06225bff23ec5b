/*
 * index/tree/tree_check.c -- checks the invariants of a whole tree and shows its entries.
 */
#include "index/tree/tree_block.h"
#include "util/buffer.h"
#include "util/error.h"

#include <inttypes.h>
#include <stdio.h>

/* A scan that is running. */
typedef struct tree_checker {
    tree_store *store;
    block_store *bs;
    const tree_visitor *visitor;
    bool damaged;
    block_tally tally;
    tansu_buffer key; /* the current entry */
    tansu_error *error;
} tree_checker;

/* What a block's parent says of it. */
typedef struct expectation {
    int level; /* -1: any */
    uint64_t count;
    const tree_ref *low, *high; /* NULL: no bound */
} expectation;

/* stored_number -- the number of a block that is certainly in the block store; 0 when it is not. */
static uint64_t stored_number(const tree_block *block) {
    uint64_t number = atomic_load(&((tree_block *)block)->number);
    return (number & NUMBER_PENDING) != 0 ? 0 : number;
}

/* problem -- notes what is in the error, which is CORRUPT: OK when the scan is to continue. */
static tansu_status problem(tree_checker *w, const tansu_error *found) {
    w->damaged = true;
    if (w->error != NULL)
        *w->error = *found;
    if (w->visitor == NULL || w->visitor->problem == NULL)
        return TANSU_E_CORRUPT;
    w->visitor->problem(w->visitor->context, found);
    return TANSU_OK;
}

/* wrong -- a check that failed in some block. */
static tansu_status wrong(tree_checker *w, const tree_block *block, const char *what) {
    char context[64];
    tansu_error found;
    snprintf(context, sizeof(context), "index block %" PRIu64,
             (uint64_t)atomic_load(&((tree_block *)block)->number) & ~NUMBER_PENDING);
    error_set(
        &found, TANSU_E_CORRUPT, context,
        "An index is corrupt because %s; close the database and open it again to have it rebuilt",
        what);
    return problem(w, &found);
}

/* page_fault -- what is wrong with a page; NULL: rising strings, all within the bounds that the
 * blocks above set. */
static const char *page_fault(const tree_page *page, const expectation *expected) {
    for (uint32_t i = 0; i < page->count; i++) {
        tree_ref ref = page_ref(page, i);
        if (i > 0) {
            tree_ref before = page_ref(page, i - 1);
            if (!ref_less(&before, &ref))
                return "two entries are out of order";
        }
        if ((expected->low != NULL && ref_less(&ref, expected->low)) ||
            (expected->high != NULL && !ref_less(&ref, expected->high)))
            return "an entry lies in the wrong block";
    }
    return NULL;
}

/* show_page -- the entries of a leaf that was found to be right. */
static tansu_status show_page(tree_checker *w, const tree_page *page) {
    if (w->visitor == NULL || w->visitor->entry == NULL)
        return TANSU_OK;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < page->count; i++) {
        tree_ref ref = page_ref(page, i);
        uint32_t size = ref_size(&ref);
        w->key.size = 0;
        if (!buffer_reserve(&w->key, (size_t)size + 1))
            return error_memory(w->error);
        ref_copy(w->key.data, &ref, 0, size);
        w->key.size = size;
        status = w->visitor->entry(w->visitor->context, w->key.data, size, w->error);
    }
    return status;
}

/* check_stored -- reads a block's record from the block store; *content: what was made of it, NULL
 * when it cannot be loaded, which was noted. The CRC is the block store's. */
static tansu_status check_stored(tree_checker *w, const tree_block *block, uint64_t number,
                                 const expectation *expected, tree_content **content) {
    tansu_error found;
    tansu_buffer record = TANSU_BUFFER_INIT;
    const char *fault = NULL;
    *content = NULL;
    tansu_status status = block_store_get(w->bs, BLOCK_STORE_BLOCK, number, &record, &found);
    if (status == TANSU_E_NOT_FOUND)
        return wrong(w, block, "a stored block is missing");
    if (status == TANSU_OK)
        status = stored_decode(w->store, record.data, record.size, expected->level, content, &fault,
                               &found);
    tansu_buffer_free(&record);
    if (status == TANSU_E_CORRUPT && fault != NULL)
        return wrong(w, block, fault);
    if (status == TANSU_E_CORRUPT)
        return problem(w, &found);
    if (status != TANSU_OK) {
        if (w->error != NULL)
            *w->error = found;
        return status;
    }
    if ((*content)->level != 0 || content_count(*content) == expected->count)
        return TANSU_OK;
    stored_drop(w->store, *content);
    *content = NULL;
    return wrong(w, block, "the number of entries of a stored block is not the one in its parent");
}

static tansu_status check_block(tree_checker *w, tree_block *block, const expectation *expected);

/* check_inner -- separators, then children: not those of a block that is in the wrong place, which
 * may be one that was entered before. */
static tansu_status check_inner(tree_checker *w, const tree_block *block, const tree_inner *inner,
                                const expectation *expected) {
    const char *fault = page_fault(&inner->keys, expected);
    if (fault != NULL)
        return wrong(w, block, fault);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < inner_children(inner); i++) {
        tree_ref left, right;
        expectation child = {.level = (int)inner->base.level - 1,
                             .count = inner->count[i],
                             .low = expected->low,
                             .high = expected->high};
        if (i > 0) {
            left = page_ref(&inner->keys, i - 1);
            child.low = &left;
        }
        if (i < inner->keys.count) {
            right = page_ref(&inner->keys, i);
            child.high = &right;
        }
        status = check_block(w, inner->child[i], &child);
    }
    return status;
}

/* check_leaf -- a leaf, in memory or just read. */
static tansu_status check_leaf(tree_checker *w, const tree_block *block, const tree_page *page,
                               const expectation *expected) {
    const char *fault = page_fault(page, expected);
    return fault == NULL ? show_page(w, page) : wrong(w, block, fault);
}

/* check_content -- a block that is in memory. */
static tansu_status check_content(tree_checker *w, const tree_block *block,
                                  const tree_content *content, const expectation *expected) {
    if (expected->level >= 0 && content->level != (uint32_t)expected->level)
        return wrong(w, block, "a block has the wrong level");
    if (content_count(content) != expected->count || expected->count == 0)
        return wrong(w, block, "the number of entries is not the one in its parent");
    return content->level > 0 ? check_inner(w, block, as_inner(content), expected)
                              : check_leaf(w, block, &as_leaf(content)->page, expected);
}

/* check_loaded -- a block whose content is in memory or loaded into it. */
static tansu_status check_loaded(tree_checker *w, tree_block *block, const expectation *expected) {
    const tree_content *content;
    tansu_error found;
    tansu_status status =
        block_content(w->store, block, expected->level, expected->count, &content, &found);
    if (status == TANSU_OK) {
        status = check_content(w, block, content, expected);
        block_unpin(block);
        return status;
    }
    if (status == TANSU_E_CORRUPT)
        return problem(w, &found);
    if (w->error != NULL)
        *w->error = found;
    return status;
}

/* check_block -- one block and all below it. A stored block is read from the block store even when
 * it is in memory. */
static tansu_status check_block(tree_checker *w, tree_block *block, const expectation *expected) {
    bool in_memory = block_resident(block) != NULL;
    uint64_t number = w->bs == NULL ? 0 : stored_number(block);
    if (number == 0)
        return check_loaded(w, block, expected);
    if (!block_tally_add(&w->tally, w->store, block)) {
        (void)wrong(w, block, "some block is in it several times");
        return TANSU_E_CORRUPT;
    }
    tree_content *stored;
    tansu_status status = check_stored(w, block, number, expected, &stored);
    if (status != TANSU_OK)
        return status;
    if (stored != NULL && !in_memory && w->visitor != NULL && stored->level == 0 &&
        content_count(stored) != 0)
        status = check_leaf(w, block, leaf_page(stored), expected);
    else if (stored != NULL || in_memory)
        status = check_loaded(w, block, expected);
    if (stored != NULL)
        stored_drop(w->store, stored);
    return status;
}

/* tree_visit -- an empty tree has no root. */
tansu_status tree_visit(tree_store *store, const tree *t, const tree_visitor *visitor,
                        tansu_error *error) {
    tree_checker w = {
        .store = store, .bs = atomic_load(&store->bs), .visitor = visitor, .error = error};
    tansu_status status = TANSU_OK;
    if (t->root != NULL) {
        status = check_block(&w, t->root, &(expectation){.level = -1, .count = t->count});
    } else if (t->count != 0) {
        tansu_error found;
        error_set(&found, TANSU_E_CORRUPT, "index",
                  "An index is corrupt because it has entries and no blocks; close the database "
                  "and open it again to have it rebuilt");
        status = problem(&w, &found);
    }
    tansu_buffer_free(&w.key);
    return status == TANSU_OK && w.damaged ? TANSU_E_CORRUPT : status;
}
