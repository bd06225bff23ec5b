/*
 * store/checkpoint/checkpoint.c -- writing checkpoints.
 */
#include "store/checkpoint/checkpoint.h"

#include "bson/document.h"
#include "log/scan.h"
#include "store/checkpoint/checkpoint_internal.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/index_backlog/index_backlog.h"
#include "store/memory.h"
#include "store/readers/reader_registry.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <stdio.h>
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
    manifest m = db->manifest.known;
    m.index_open = true;
    m.index_damaged = false; /* that was before they were rebuilt */
    fs_cache_id(db->files.folder, m.boot);
    if (db->manifest.known.index_open && !db->manifest.known.index_damaged &&
        strcmp(db->manifest.known.boot, m.boot) == 0)
        return TANSU_OK;
    return manifest_replace(db, &m, error);
}

/* copy_dropped -- the dropped collections so far, for this checkpoint. */
static tansu_status copy_dropped(database *db, dropped_locations **list, size_t *count,
                                 tansu_error *error) {
    pthread_mutex_lock(&db->snapshots.mutex);
    *count = db->dropped.count;
    *list = malloc((*count + 1) * sizeof **list);
    if (*list != NULL && *count != 0)
        memcpy(*list, db->dropped.items, *count * sizeof **list);
    pthread_mutex_unlock(&db->snapshots.mutex);
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
        if (status == TANSU_OK && db->options.store == TANSU_STORE_PERSISTENT)
            status =
                log_sync(db->log, __atomic_load_n(&db->log->appended, __ATOMIC_ACQUIRE), error);
        if (status == TANSU_OK)
            status = block_store_commit(db->bs, error);
        else
            block_store_abort(db->bs);
    }
    if (status == TANSU_OK) {
        tree_checkpoint_done(db->trees);
        pthread_mutex_lock(&db->snapshots.mutex);
        db->dropped.count -= dropped_count;
        if (db->dropped.count != 0)
            memmove(db->dropped.items, db->dropped.items + dropped_count,
                    db->dropped.count * sizeof *db->dropped.items);
        pthread_mutex_unlock(&db->snapshots.mutex);
        db->catalog.epoch = v->epoch;
        __atomic_store_n(&db->checkpoints.sequence, v->sequence, __ATOMIC_RELAXED);
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

tansu_status checkpoint_note_end(database *db, uint64_t noted, tansu_error *error) {
    manifest m = db->manifest.known;
    uint64_t synced = __atomic_load_n(&db->log->synced, __ATOMIC_ACQUIRE);
    if (db->keys == NULL || synced <= noted)
        return TANSU_OK;
    m.end_sequence = synced;
    return manifest_replace(db, &m, error);
}

/* write_visible -- the visible snapshot, if the block store does not have it yet. */
static tansu_status write_visible(database *db, tansu_error *error) {
    tansu_status status = index_files_check(db, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    bool changed = v->sequence != db->checkpoints.sequence;
    if (!db->checkpoints.tried && (changed || db->checkpoints.index_was_open))
        changed |= checkpoint_free_unreachable(db);
    db->checkpoints.tried = true;
    /* Numbers assigned later than the snapshot's are skipped, which does no harm. */
    uint32_t next_collection = __atomic_load_n(&db->writer.next_collection, __ATOMIC_RELAXED);
    uint32_t next_index = __atomic_load_n(&db->writer.next_index, __ATOMIC_RELAXED);
    if (v->sequence < db->checkpoints.installed_sequence)
        status = error_set(error, TANSU_E_SYNC_FAILED, db->files.folder,
                           "An earlier sync failed; close the database and open it again");
    else if (changed && (status = snapshot_indexes_current(v, error)) == TANSU_OK) {
        limit_guard guard;
        limit_enter(&guard);
        tree_store_freeze(db->trees, v->epoch);
        status = write_locked(db, v, next_collection, next_index, error);
        tree_store_freeze(db->trees, 0);
        if (status == TANSU_OK)
            status = checkpoint_note_end(db, db->manifest.known.end_sequence, error);
        limit_leave(&guard);
    }
    if (status == TANSU_OK)
        log_remove_obsolete(db->log);
    snapshot_release(db, v);
    return status;
}

tansu_status checkpoint_write_locked(database *db, tansu_error *error) {
    if (db->options.store == TANSU_STORE_MEMORY) {
        log_remove_obsolete(db->log);
        return TANSU_OK;
    }
    memory_checkpoint_started(db);
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        status = write_visible(db, error);
    memory_checkpoint_ended(db, status == TANSU_OK);
    if (db->options.store == TANSU_STORE_PERSISTENT)
        readers_list(db->files.calls, db->files.folder, NULL,
                     NULL); /* removes entries that are left over */
    memory_relieve(db);
    return status;
}

tansu_status checkpoint_write(database *db, tansu_error *error) {
    if (db->options.read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->files.folder,
                         "The database is open read-only; open it for writing");
    if (db->options.store == TANSU_STORE_MEMORY)
        return TANSU_OK;
    pthread_mutex_lock(&db->checkpoints.mutex);
    tansu_status status = checkpoint_write_locked(db, error);
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return status;
}

bool checkpoint_wasteful(database *db) {
    pthread_mutex_lock(&db->checkpoints.mutex);
    bool wasteful = db->bs != NULL && !index_files_damaged(db) && block_store_wasteful(db->bs);
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return wasteful;
}

tansu_status checkpoint_shrink(database *db, bool always, const block_store_caller *caller,
                               tansu_error *error) {
    pthread_mutex_lock(&db->checkpoints.mutex);
    tansu_status status = index_files_check(db, error);
    if (status == TANSU_OK && db->bs != NULL && (always || block_store_wasteful(db->bs))) {
        limit_guard guard;
        limit_enter(&guard);
        status = block_store_shrink(db->bs, caller, error);
        limit_leave(&guard);
    }
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return status;
}

/* ---- Opening, replacing and closing the block store ---- */

/* block_store_flags_of -- how the database opens its block store. */
static unsigned block_store_flags_of(const database *db) {
    return (db->options.read_only ? BLOCK_STORE_READ_ONLY : 0) |
           (db->options.concurrent ? BLOCK_STORE_COPY : 0) |
           (db->options.store == TANSU_STORE_TEMPORARY ? BLOCK_STORE_TEMPORARY : 0);
}

tansu_status checkpoint_discard(database *db, tansu_error *error) {
    block_store_close(db->bs, NULL);
    db->bs = NULL;
    tree_store_attach(db->trees, NULL, 1);
    db->writer.next_collection = db->writer.next_index = 1;
    db->checkpoints.sequence = 0;
    segment_usage_decode(db->written, NULL, 0);
    stored_catalog_forget(db);
    if (db->options.read_only)
        return TANSU_OK;
    /* How far the log went must not be forgotten with them, or a log that lost its end would be
     * refused once and then taken for a shorter one. */
    manifest m = db->manifest.known;
    m.end_sequence = db->log->expected_end;
    if (m.end_sequence > db->manifest.known.end_sequence &&
        !(db->log->found.page_cache_holds && db->log->found.written >= m.end_sequence)) {
        tansu_status kept = manifest_replace(db, &m, error);
        if (kept != TANSU_OK)
            return kept;
    }
    char *path = fs_join(db->files.folder, BLOCK_STORE_NAME);
    tansu_status status = path == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK)
        status = block_store_delete(db->files.calls, path, error);
    if (status == TANSU_OK)
        status =
            block_store_open(db->files.calls, path, block_store_flags_of(db) | BLOCK_STORE_CREATE,
                             db->keys, &db->bs, error);
    free(path);
    if (status == TANSU_OK)
        tree_store_attach(db->trees, db->bs, 1);
    return status;
}

/* stopped -- whether the machine may have stopped while the index files were written. */
static bool stopped(const database *db) {
    const manifest *m = &db->manifest.known;
    char boot[64];
    if (!m->index_open)
        return false;
    fs_cache_id(db->files.folder, boot);
    return boot[0] == 0 || strcmp(boot, m->boot) != 0;
}

/* note_rebuilt -- why the index files are rebuilt, for tansu_stats(). */
static void note_rebuilt(database *db, tansu_status status, const tansu_error *found) {
    if (status == TANSU_E_NOT_FOUND && db->bs == NULL)
        snprintf(db->checkpoints.rebuilt, sizeof db->checkpoints.rebuilt, "they were missing");
    else if (status != TANSU_E_NOT_FOUND || db->manifest.known.index_open ||
             db->manifest.known.end_sequence != 0)
        snprintf(db->checkpoints.rebuilt, sizeof db->checkpoints.rebuilt, "%.250s",
                 found->message[0] != 0 ? found->message : "they were invalid");
}

/* remove_unfinished -- what a process that was killed while it shrank the block store has left. */
static void remove_unfinished(const database *db) {
    if (db->options.read_only || !db->manifest.known.index_open)
        return;
    char *path = fs_join(db->files.folder, BLOCK_STORE_NAME ".new");
    if (path != NULL)
        (void)block_store_delete(db->files.calls, path, NULL); /* shrinking removes it as well */
    free(path);
}

tansu_status checkpoint_load(database *db, snapshot **v, tansu_error *error) {
    *v = NULL;
    remove_unfinished(db);
    /* After a sync that failed, pages may count as written and be lost, as after power loss. Files
     * that were not written since they were closed are on the disk. */
    bool lost = stopped(db) || (db->manifest.known.index_open && db->log->found.failed);
    tansu_status status = TANSU_E_NOT_FOUND;
    if (db->manifest.known.index_damaged) {
        snprintf(db->checkpoints.rebuilt, sizeof db->checkpoints.rebuilt,
                 "they were found to be damaged");
    } else {
        tansu_error found = {.message = ""};
        char *path = fs_join(db->files.folder, BLOCK_STORE_NAME);
        if (path == NULL)
            return error_memory(error);
        status = block_store_open(db->files.calls, path,
                                  block_store_flags_of(db) | (lost ? BLOCK_STORE_POWER_LOST : 0),
                                  db->keys, &db->bs, &found);
        free(path);
        tansu_buffer meta = TANSU_BUFFER_INIT;
        if (status == TANSU_OK)
            status = block_store_get(db->bs, BLOCK_STORE_META, 0, &meta, &found);
        if (status == TANSU_OK)
            status = meta_read(db, meta.data, meta.size, v, &found);
        tansu_buffer_free(&meta);
        if (status == TANSU_OK)
            return TANSU_OK;
        if (status == TANSU_E_MEMORY)
            return error_memory(error);
        note_rebuilt(db, status, &found);
    }
    /* Whatever was wrong with it, a new one is built from the log. */
    return checkpoint_discard(db, error);
}

tansu_status checkpoint_close(database *db, tansu_error *error) {
    if (db->bs == NULL)
        return TANSU_OK;
    bool damaged = index_files_damaged(db);
    manifest m = db->manifest.known;
    m.end_sequence = db->snapshots.head->sequence;
    m.index_open = m.index_damaged = damaged;
    if (damaged)
        m.boot[0] = 0;
    bool same = !damaged && m.end_sequence == db->manifest.known.end_sequence &&
                !db->manifest.known.index_open;
    /* Before the block store is closed: while it is in session it knows by itself whether it is
     * whole. */
    tansu_status status = TANSU_OK;
    if (!db->options.read_only && !same)
        status = manifest_replace(db, &m, error);
    tansu_status closed = block_store_close(db->bs, status == TANSU_OK && !damaged ? error : NULL);
    db->bs = NULL;
    return status == TANSU_OK && !damaged ? closed : status;
}

/* ---- Frees stored index blocks that nothing refers to ---- */

/*
 * A block that a snapshot still needs stays in the block store when a checkpoint writes its
 * successor, and is removed by a checkpoint after the snapshot's end. When the process ends before
 * that, no root leads to the block any more. That is found out by comparing the blocks that the
 * stored trees name with those that are there.
 *
 * It takes as long as the indexes are large, so the first checkpoint does it and not opening: until
 * then the block store is as it was found.
 */

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
        (db->checkpoints.index_was_open || is_suspicious(db, &trees)))
        any = free_others(db, &trees);
    tansu_buffer_free(&meta);
    free(trees.list);
    return any;
}

/* ---- What the META record says of the log ---- */

/* append_extents -- each segment up to the snapshot, and how long its file is at least. */
static void append_extents(database *db, const log_extent *extents, uint32_t count, writer *meta) {
    size_t list = writer_open(meta, "extents", DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t room = log_capacity(db->log, extents[i].number);
        if (extents[i].end < room)
            room = extents[i].end;
        size_t one = writer_open_index(meta, i, DOC_DOCUMENT);
        writer_int64(meta, "segment", extents[i].number);
        writer_int64(meta, "end", (int64_t)room);
        writer_end(meta, one);
    }
    writer_end(meta, list);
}

void log_state_append(database *db, const snapshot *v, writer *meta) {
    log_extent *extents = NULL;
    uint32_t count = 0;
    uint64_t seen = __atomic_load_n(&db->log->appended, __ATOMIC_ACQUIRE);
    if (seen < v->sequence)
        seen = v->sequence;
    if (log_extents(db->log, v->sequence, v->position, &extents, &count, NULL) == TANSU_E_MEMORY) {
        meta->failed = true;
        return;
    }
    writer_int64(meta, "witnessed", (int64_t)seen);
    append_extents(db, extents, count, meta);
    free(extents);
}

/* number_of -- a whole number of a document; false without one. */
static bool number_of(const uint8_t *doc, size_t size, const char *key, int64_t *number) {
    doc_value value;
    return doc_find(doc, size, key, strlen(key), &value) && doc_as_int64(&value, number);
}

/* extent_matches -- whether a segment is there with as many bytes as a part of the META says. One
 * that is there and not active is handled by compaction. */
static bool extent_matches(database *db, const doc_value *part) {
    int64_t number, end;
    if (part->type != DOC_DOCUMENT || !number_of(part->data, part->size, "segment", &number) ||
        !number_of(part->data, part->size, "end", &end) || number <= 0 || number > UINT32_MAX)
        return false;
    uint64_t room = log_capacity(db->log, (uint32_t)number);
    return room != 0 ? room >= (uint64_t)end : log_has_segment(db->log, (uint32_t)number);
}

bool log_state_matches(database *db, const uint8_t *meta, size_t size) {
    doc_value list;
    int64_t seen;
    if (!number_of(meta, size, "witnessed", &seen) || !doc_find(meta, size, "extents", 7, &list) ||
        list.type != DOC_ARRAY)
        return false;
    db->log->expected_end = (uint64_t)seen;
    bool holds = true;
    doc_iter iter;
    for (doc_iter_value(&iter, &list); holds && doc_iter_next(&iter);)
        holds = extent_matches(db, &iter.value);
    return holds;
}
