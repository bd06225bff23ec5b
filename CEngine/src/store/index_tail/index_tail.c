/*
 * store/index_tail/index_tail.c -- bringing indexes up to date with the log after the checkpoint.
 */
#include "store/index_tail/index_tail.h"

#include "store/database_internal.h"
#include "store/index_tail/tail_changes.h"
#include "util/error.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Of each index. */
typedef struct tail_index {
    pthread_mutex_t mutex; /* held by the thread that brings it up to date, or counts in it */
    bool counted;          /* a count was answered before it was brought up to date */
} tail_index;

typedef struct index_tail {
    database *db;
    uint64_t epoch;
    struct index_tail *next; /* of the database's list */
    pthread_mutex_t mutex;   /* held while the changes are sorted */
    tail_changes changes;
    atomic_uint waiting; /* indexes that are not current; the last one frees the changes */
    uint32_t index_count;
    atomic_bool *current; /* which are; that of `_id` first */
    tail_index indexes[];
} index_tail;

tansu_status index_tail_attach(database *db, collection_state *state, tail_changes *changes,
                               uint64_t epoch, tansu_error *error) {
    uint32_t count = state->index_count + 1;
    index_tail *tail = calloc(1, sizeof *tail + count * sizeof tail->indexes[0]);
    atomic_bool *current = calloc(count, sizeof *current);
    if (tail == NULL || current == NULL) {
        free(tail);
        free(current);
        return error_memory(error);
    }
    *tail = (index_tail){
        .db = db, .epoch = epoch, .changes = *changes, .index_count = count, .current = current};
    *changes = (tail_changes){.items = NULL};
    atomic_init(&tail->waiting, count);
    pthread_mutex_init(&tail->mutex, NULL);
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_init(&tail->indexes[i].mutex, NULL);
        atomic_init(&current[i], false);
    }
    tail->next = db->tails;
    db->tails = tail;
    state->tail = tail;
    state->current = current;
    return TANSU_OK;
}

void index_tails_free(database *db) {
    while (db->tails != NULL) {
        index_tail *tail = db->tails;
        db->tails = tail->next;
        for (uint32_t i = 0; i < tail->index_count; i++)
            pthread_mutex_destroy(&tail->indexes[i].mutex);
        pthread_mutex_destroy(&tail->mutex);
        tail_changes_free(&tail->changes);
        free(tail->current);
        free(tail);
    }
}

/* sort_changes -- sorts them, once for all indexes. */
static void sort_changes(index_tail *tail) {
    pthread_mutex_lock(&tail->mutex);
    tail_changes_sort(&tail->changes);
    pthread_mutex_unlock(&tail->mutex);
}

/* bring_up -- makes the changes in one index of a published state; its mutex is held. The blocks
 * that are replaced are the checkpoint's, which no snapshot refers to, and can be freed at once. */
static tansu_status bring_up(index_tail *tail, collection_state *state, uint32_t number,
                             tansu_error *error) {
    database *db = tail->db;
    retire_list retired = {.items = NULL};
    tree_writer writer = {.store = db->trees, .epoch = tail->epoch, .retired = &retired};
    tree *published = number == 0 ? &state->ids : &state->indexes[number - 1].entries;
    tree entries = *published;
    bool multikey = number != 0 && state->indexes[number - 1].multikey;
    sort_changes(tail);
    uint64_t faults = log_faults(db->log);
    tansu_status status = tail_changes_apply(&tail->changes, db->log, &writer, state, number,
                                             &entries, &multikey, error);
    status = log_check(db->log, faults, status, error);
    if (status != TANSU_OK) {
        tree_discard(&writer, &entries);
        retire_forget(&retired);
        if (status == TANSU_E_CORRUPT && db->bs != NULL)
            block_store_mark_damaged(db->bs); /* the next opening reads all of the log */
        return status;
    }
    tree_published(&retired);
    retire_run(&retired);
    *published = entries;
    if (number != 0)
        state->indexes[number - 1].multikey = multikey;
    return TANSU_OK;
}

tansu_status index_tail_apply(const collection_state *state, uint32_t number, tansu_error *error) {
    index_tail *tail = state->tail;
    if (!index_waits(state, number))
        return TANSU_OK;
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&tail->indexes[number].mutex);
    if (index_waits(state, number)) {
        /* Nobody reads these members of the published state before they are current. */
        status = bring_up(tail, (collection_state *)state, number, error);
        if (status == TANSU_OK) {
            atomic_store_explicit(&tail->current[number], true, memory_order_release);
            if (atomic_fetch_sub(&tail->waiting, 1) == 1)
                tail_changes_free(&tail->changes);
        }
    }
    pthread_mutex_unlock(&tail->indexes[number].mutex);
    return status;
}

/* count_waiting -- index_tail_count() for an index that is not current, which stays so
 * meanwhile. */
static tansu_status count_waiting(index_tail *tail, const collection_state *state, uint32_t number,
                                  const tail_counting *counting, uint64_t *count, bool *counted) {
    tansu_error ignored;
    int64_t more = 0;
    sort_changes(tail);
    uint64_t faults = log_faults(tail->db->log);
    tansu_status status = counting->stored(counting->context, counted, count, &ignored);
    if (status == TANSU_OK && *counted)
        status = tail_changes_count(&tail->changes, tail->db->log, state, number, counting, &more,
                                    counted, &ignored);
    *count += (uint64_t)more;
    return log_check(tail->db->log, faults, status, &ignored);
}

bool index_tail_count(const collection_state *state, uint32_t number, const tail_counting *counting,
                      uint64_t *count) {
    index_tail *tail = state->tail;
    bool counted = false;
    pthread_mutex_lock(&tail->indexes[number].mutex);
    if (index_waits(state, number) && !tail->indexes[number].counted) {
        tail->indexes[number].counted = true;
        if (count_waiting(tail, state, number, counting, count, &counted) != TANSU_OK)
            counted = false;
    }
    pthread_mutex_unlock(&tail->indexes[number].mutex);
    return counted;
}

tansu_status indexes_current(const collection_state *state, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i <= state->index_count; i++)
        status = index_current(state, i, error);
    return status;
}

tansu_status snapshot_indexes_current(const snapshot *v, tansu_error *error) {
    tansu_status status = TANSU_OK;
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL)
        status = indexes_current(state, error);
    return status;
}
