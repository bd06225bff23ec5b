/*
 * store/checkpoint/free_unreachable.c -- frees stored index blocks that nothing refers to.
 *
 * A block that a snapshot still needs stays in the block store when a checkpoint writes its
 * successor, and is removed by a checkpoint after the snapshot's end. When the process ends before
 * that, no root leads to the block any more. At opening that is found out by comparing the blocks
 * that the trees name with those that are there.
 */
#include "store/checkpoint/checkpoint.h"

#include "store/database_internal.h"

#include <stdlib.h>

/* Of so many entries one block is expected at least: a leaf has room for several times as many of
 * usual keys. More blocks are looked into after a clean end, too. */
#define ENTRIES_OF_BLOCK 32u

/* Blocks too many that are not worth the work. */
#define FEW_BLOCKS 64u

/* is_suspicious -- whether there may be many more records than the snapshot needs. */
static bool is_suspicious(const database *db, const snapshot *v, uint64_t others) {
    uint64_t entries = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        const collection_state *state = v->collections[i];
        entries += state->ids.count;
        for (uint32_t k = 0; k < state->index_count; k++)
            entries += state->indexes[k].entries.count;
    }
    return block_store_records(db->bs) > entries / ENTRIES_OF_BLOCK + others + FEW_BLOCKS;
}

/* other_records -- at most so many records are no blocks. */
static uint64_t other_records(const snapshot *v) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < v->count; i++)
        count += (v->collections[i]->next_rid + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
    return count;
}

/* reachable -- the numbers of the blocks of all trees. */
static tansu_status reachable(const database *db, const snapshot *v, block_numbers *numbers) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < v->count; i++) {
        const collection_state *state = v->collections[i];
        status = tree_numbers(db->trees, &state->ids, numbers, NULL);
        for (uint32_t k = 0; status == TANSU_OK && k < state->index_count; k++)
            status = tree_numbers(db->trees, &state->indexes[k].entries, numbers, NULL);
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

void checkpoint_free_unreachable(database *db, const snapshot *v) {
    uint64_t others = other_records(v);
    if (db->read_only || (!db->manifest.index_open && !is_suspicious(db, v, others)))
        return;
    block_numbers used = {0}, stored = {0};
    if (reachable(db, v, &used) == TANSU_OK &&
        block_store_records(db->bs) > used.count + others + FEW_BLOCKS &&
        block_store_numbers(db->bs, BLOCK_STORE_BLOCK, &stored, NULL) == TANSU_OK) {
        sort_numbers(&used);
        sort_numbers(&stored);
        keep_unreachable(&stored, &used);
        tree_store_return_free(db->trees, stored.list, stored.count);
    }
    free(used.list);
    free(stored.list);
}
