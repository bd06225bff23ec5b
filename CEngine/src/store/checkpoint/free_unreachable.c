/*
 * store/checkpoint/free_unreachable.c -- frees stored index blocks that nothing refers to.
 *
 * A block that a snapshot still needs stays in the block store when a checkpoint writes its
 * successor, and is removed by a checkpoint after the snapshot's end. When the process ends before
 * that, no root leads to the block any more. That is found out by comparing the blocks that the
 * stored trees name with those that are there.
 *
 * It takes as long as the indexes are large, so the first checkpoint does it and not opening: until
 * then the block store is as it was found.
 */
#include "store/checkpoint/checkpoint_internal.h"

#include "store/database_internal.h"

#include <stdlib.h>

/* Of so many entries one block is expected at least: a leaf has room for several times as many of
 * usual keys. More blocks are looked into after a clean end, too. */
#define ENTRIES_OF_BLOCK 32u

/* Blocks too many that are not worth the work. */
#define FEW_BLOCKS 64u

/* is_suspicious -- whether there may be many more records than the stored trees need. */
static bool is_suspicious(const database *db, const stored_trees *trees) {
    return block_store_records(db->bs) >
           trees->entries / ENTRIES_OF_BLOCK + trees->other_records + FEW_BLOCKS;
}

/* reachable -- the numbers of the blocks of all stored trees. */
static tansu_status reachable(const database *db, const stored_trees *trees,
                              block_numbers *numbers) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < trees->count; i++) {
        tree t;
        status = tree_open(db->trees, trees->list[i].block, trees->list[i].entries, &t, NULL);
        if (status != TANSU_OK)
            return status;
        status = tree_numbers(db->trees, &t, numbers, NULL);
        tree_release(db->trees, &t);
    }
    return status;
}

/* compare_numbers -- for qsort(). */
static int compare_numbers(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* sort_numbers -- also none. */
static void sort_numbers(block_numbers *numbers) {
    if (numbers->count > 1)
        qsort(numbers->list, numbers->count, sizeof *numbers->list, compare_numbers);
}

/* keep_unreachable -- takes the numbers of one sorted list out of another. */
static void keep_unreachable(block_numbers *stored, const block_numbers *used) {
    size_t kept = 0, u = 0;
    for (size_t i = 0; i < stored->count; i++) {
        while (u < used->count && used->list[u] < stored->list[i])
            u++;
        if (u == used->count || used->list[u] != stored->list[i])
            stored->list[kept++] = stored->list[i];
    }
    stored->count = kept;
}

/* free_others -- what is stored and in none of the trees is free. Whether there is any. */
static bool free_others(database *db, const stored_trees *trees) {
    block_numbers used = {0}, stored = {0};
    if (reachable(db, trees, &used) == TANSU_OK &&
        block_store_records(db->bs) > used.count + trees->other_records + FEW_BLOCKS &&
        block_store_numbers(db->bs, BLOCK_STORE_BLOCK, &stored, NULL) == TANSU_OK) {
        sort_numbers(&used);
        sort_numbers(&stored);
        keep_unreachable(&stored, &used);
        tree_store_return_free(db->trees, stored.list, stored.count);
    }
    bool any = stored.count != 0;
    free(used.list);
    free(stored.list);
    return any;
}

bool checkpoint_free_unreachable(database *db) {
    stored_trees trees = {0};
    tansu_buffer meta = TANSU_BUFFER_INIT;
    bool any = false;
    if (block_store_get(db->bs, BLOCK_STORE_META, 0, &meta, NULL) == TANSU_OK &&
        meta_trees(db->bs, meta.data, meta.size, &trees) == TANSU_OK &&
        (db->index_was_open || is_suspicious(db, &trees)))
        any = free_others(db, &trees);
    tansu_buffer_free(&meta);
    free(trees.list);
    return any;
}
