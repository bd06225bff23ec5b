/*
 * store/checkpoint/checkpoint.c -- writing checkpoints.
 */
#include "store/checkpoint/checkpoint.h"

#include "store/checkpoint/checkpoint_internal.h"
#include "store/database_internal.h"
#include "store/folder_check.h"
#include "store/index_files.h"
#include "store/index_tail/index_tail.h"
#include "store/memory.h"
#include "store/readers/reader_registry.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <stdlib.h>

/* remove_dead -- what no snapshot refers to any more, out of the block store. */
static tansu_status remove_dead(database *db, const uint64_t *blocks, size_t block_count,
                                const dropped_locations *dropped, size_t dropped_count,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < block_count; i++)
        status = block_store_remove(db->bs, BLOCK_STORE_BLOCK, blocks[i], error);
    for (size_t i = 0; status == TANSU_OK && i < dropped_count; i++)
        status = locations_remove_stored(db->bs, dropped[i].collection, dropped[i].count, error);
    return status;
}

/* mark_open -- says in the MANIFEST that the block store is being written: after power loss only
 * one that knows to be whole is used. */
static tansu_status mark_open(database *db, tansu_error *error) {
    manifest m = db->manifest;
    m.index_open = true;
    m.index_damaged = false; /* that was before they were rebuilt */
    fs_cache_id(db->folder, m.boot);
    if (db->manifest.index_open && !db->manifest.index_damaged &&
        strcmp(db->manifest.boot, m.boot) == 0)
        return TANSU_OK;
    return manifest_replace(db, &m, error);
}

/* copy_dropped -- the dropped collections so far, for this checkpoint. */
static tansu_status copy_dropped(database *db, dropped_locations **list, size_t *count,
                                 tansu_error *error) {
    pthread_mutex_lock(&db->snapshot_mutex);
    *count = db->dropped_count;
    *list = malloc((*count + 1) * sizeof **list);
    if (*list != NULL && *count != 0)
        memcpy(*list, db->dropped, *count * sizeof **list);
    pthread_mutex_unlock(&db->snapshot_mutex);
    return *list == NULL ? error_memory(error) : TANSU_OK;
}

/* write_locked -- checkpoint_write() with the checkpoint mutex held and a snapshot current. */
static tansu_status write_locked(database *db, const snapshot *v, uint32_t next_collection,
                                 uint32_t next_index, tansu_error *error) {
    uint64_t *blocks = NULL;
    size_t block_count = 0, dropped_count = 0;
    dropped_locations *dropped = NULL;
    tansu_status status = copy_dropped(db, &dropped, &dropped_count, error);
    if (status == TANSU_OK)
        status = tree_store_take_free(db->trees, &blocks, &block_count, error);
    if (status != TANSU_OK) {
        free(dropped);
        return status;
    }
    status = block_store_begin(db->bs, error);
    if (status == TANSU_OK) {
        status = mark_open(db, error); /* it knows by itself whether it is whole, from here on */
        if (status == TANSU_OK)
            status = meta_write(db, v, next_collection, next_index, error);
        if (status == TANSU_OK)
            status = remove_dead(db, blocks, block_count, dropped, dropped_count, error);
        /* Nothing may be in the block store that power loss could still take out of the log. */
        if (status == TANSU_OK && db->store == TANSU_STORE_PERSISTENT)
            status =
                log_sync(db->log, __atomic_load_n(&db->log->appended, __ATOMIC_ACQUIRE), error);
        if (status == TANSU_OK)
            status = block_store_commit(db->bs, error);
        else
            block_store_abort(db->bs);
    }
    if (status == TANSU_OK) {
        tree_checkpoint_done(db->trees);
        pthread_mutex_lock(&db->snapshot_mutex);
        db->dropped_count -= dropped_count;
        if (db->dropped_count != 0)
            memmove(db->dropped, db->dropped + dropped_count,
                    db->dropped_count * sizeof *db->dropped);
        pthread_mutex_unlock(&db->snapshot_mutex);
        db->catalog.epoch = v->epoch;
        __atomic_store_n(&db->checkpoint_sequence, v->sequence, __ATOMIC_RELAXED);
    } else {
        tree_checkpoint_failed(db->trees);
        const collection_state *state;
        catalog_cursor all = snapshot_from(v, NULL);
        while ((state = snapshot_next(&all)) != NULL)
            locations_checkpoint_failed(state->locations);
        tree_store_return_free(db->trees, blocks, block_count);
    }
    free(blocks);
    free(dropped);
    return status;
}

/* write_visible -- the visible snapshot, if the block store does not have it yet. */
static tansu_status write_visible(database *db, tansu_error *error) {
    tansu_status status = index_files_check(db, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    bool changed = v->sequence != db->checkpoint_sequence;
    if (!db->has_checkpointed && (changed || db->index_was_open))
        changed |= checkpoint_free_unreachable(db);
    db->has_checkpointed = true;
    /* Numbers assigned later than the snapshot's are skipped, which does no harm. */
    uint32_t next_collection = __atomic_load_n(&db->next_collection, __ATOMIC_RELAXED);
    uint32_t next_index = __atomic_load_n(&db->next_index, __ATOMIC_RELAXED);
    if (v->sequence < db->installed_sequence)
        status = error_set(error, TANSU_E_SYNC_FAILED, db->folder,
                           "An earlier sync failed; close the database and open it again");
    else if (changed && (status = snapshot_indexes_current(v, error)) == TANSU_OK) {
        limit_guard guard;
        limit_enter(&guard);
        tree_store_freeze(db->trees, v->epoch);
        status = write_locked(db, v, next_collection, next_index, error);
        tree_store_freeze(db->trees, 0);
        limit_leave(&guard);
    }
    if (status == TANSU_OK)
        log_remove_obsolete(db->log);
    snapshot_release(db, v);
    return status;
}

tansu_status checkpoint_write_locked(database *db, tansu_error *error) {
    if (db->store == TANSU_STORE_MEMORY) {
        log_remove_obsolete(db->log);
        return TANSU_OK;
    }
    memory_checkpoint_started(db);
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        status = write_visible(db, error);
    memory_checkpoint_ended(db, status == TANSU_OK);
    if (db->store == TANSU_STORE_PERSISTENT)
        readers_list(db->calls, db->folder, NULL, NULL); /* removes entries that are left over */
    memory_relieve(db);
    return status;
}

tansu_status checkpoint_write(database *db, tansu_error *error) {
    if (db->read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->folder,
                         "The database is open read-only; open it for writing");
    if (db->store == TANSU_STORE_MEMORY)
        return TANSU_OK;
    pthread_mutex_lock(&db->checkpoint_mutex);
    tansu_status status = checkpoint_write_locked(db, error);
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

bool checkpoint_wasteful(database *db) {
    pthread_mutex_lock(&db->checkpoint_mutex);
    bool wasteful = db->bs != NULL && !index_files_damaged(db) && block_store_wasteful(db->bs);
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return wasteful;
}

tansu_status checkpoint_shrink(database *db, const block_store_caller *caller, tansu_error *error) {
    pthread_mutex_lock(&db->checkpoint_mutex);
    tansu_status status = index_files_check(db, error);
    if (status == TANSU_OK && db->bs != NULL && block_store_wasteful(db->bs)) {
        limit_guard guard;
        limit_enter(&guard);
        status = block_store_shrink(db->bs, caller, error);
        limit_leave(&guard);
    }
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}
