/*
 * store/checkpoint/checkpoint_load.c -- opening, replacing and closing the block store.
 */
#include "store/checkpoint/checkpoint.h"

#include "store/checkpoint/checkpoint_internal.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/index_files.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* block_store_flags_of -- how the database opens its block store. */
static unsigned block_store_flags_of(const database *db) {
    return (db->read_only ? BLOCK_STORE_READ_ONLY : 0) | (db->concurrent ? BLOCK_STORE_COPY : 0) |
           (db->store == TANSU_STORE_TEMPORARY ? BLOCK_STORE_TEMPORARY : 0);
}

tansu_status checkpoint_discard(database *db, tansu_error *error) {
    block_store_close(db->bs, NULL);
    db->bs = NULL;
    tree_store_attach(db->trees, NULL, 1);
    db->next_collection = db->next_index = 1;
    db->checkpoint_sequence = 0;
    segment_usage_decode(db->written, NULL, 0);
    stored_catalog_forget(db);
    if (db->read_only)
        return TANSU_OK;
    /* How far the log went must not be forgotten with them, or a log that lost its end would be
     * refused once and then taken for a shorter one. */
    manifest m = db->manifest;
    m.end_sequence = db->log->expected_end;
    if (m.end_sequence > db->manifest.end_sequence &&
        !(db->log->found.page_cache_holds && db->log->found.written >= m.end_sequence)) {
        tansu_status kept = manifest_replace(db, &m, error);
        if (kept != TANSU_OK)
            return kept;
    }
    char *path = fs_join(db->folder, BLOCK_STORE_NAME);
    tansu_status status = path == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK)
        status = block_store_delete(db->calls, path, error);
    if (status == TANSU_OK)
        status = block_store_open(db->calls, path, block_store_flags_of(db) | BLOCK_STORE_CREATE,
                                  &db->bs, error);
    free(path);
    if (status == TANSU_OK)
        tree_store_attach(db->trees, db->bs, 1);
    return status;
}

/* stopped -- whether the machine may have stopped while the index files were written. */
static bool stopped(const database *db) {
    const manifest *m = &db->manifest;
    char boot[64];
    if (!m->index_open)
        return false;
    fs_cache_id(db->folder, boot);
    return boot[0] == 0 || strcmp(boot, m->boot) != 0;
}

/* note_rebuilt -- why the index files are rebuilt, for tansu_stats(). */
static void note_rebuilt(database *db, tansu_status status, const tansu_error *found) {
    if (status == TANSU_E_NOT_FOUND && db->bs == NULL)
        snprintf(db->rebuilt, sizeof db->rebuilt, "they were missing");
    else if (status != TANSU_E_NOT_FOUND || db->manifest.index_open ||
             db->manifest.end_sequence != 0)
        snprintf(db->rebuilt, sizeof db->rebuilt, "%.250s",
                 found->message[0] != 0 ? found->message : "they were invalid");
}

/* remove_unfinished -- what a process that was killed while it shrank the block store has left. */
static void remove_unfinished(const database *db) {
    if (db->read_only || !db->manifest.index_open)
        return;
    char *path = fs_join(db->folder, BLOCK_STORE_NAME ".new");
    if (path != NULL)
        (void)block_store_delete(db->calls, path, NULL); /* shrinking removes it as well */
    free(path);
}

tansu_status checkpoint_load(database *db, snapshot **v, tansu_error *error) {
    *v = NULL;
    remove_unfinished(db);
    /* After a sync that failed, pages may count as written and be lost, as after power loss. Files
     * that were not written since they were closed are on the disk. */
    bool lost = stopped(db) || (db->manifest.index_open && db->log->found.failed);
    tansu_status status = TANSU_E_NOT_FOUND;
    if (db->manifest.index_damaged) {
        snprintf(db->rebuilt, sizeof db->rebuilt, "they were found to be damaged");
    } else {
        tansu_error found = {.message = ""};
        char *path = fs_join(db->folder, BLOCK_STORE_NAME);
        if (path == NULL)
            return error_memory(error);
        status = block_store_open(db->calls, path,
                                  block_store_flags_of(db) | (lost ? BLOCK_STORE_POWER_LOST : 0),
                                  &db->bs, &found);
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
    manifest m = db->manifest;
    m.end_sequence = db->head->sequence;
    m.index_open = m.index_damaged = damaged;
    if (damaged)
        m.boot[0] = 0;
    bool same = !damaged && m.end_sequence == db->manifest.end_sequence && !db->manifest.index_open;
    /* Before the block store is closed: while it is in session it knows by itself whether it is
     * whole. */
    tansu_status status = TANSU_OK;
    if (!db->read_only && !same)
        status = manifest_replace(db, &m, error);
    tansu_status closed = block_store_close(db->bs, status == TANSU_OK && !damaged ? error : NULL);
    db->bs = NULL;
    return status == TANSU_OK && !damaged ? closed : status;
}
