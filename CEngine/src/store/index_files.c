/*
 * store/index_files.c -- index files that were found to be damaged.
 *
 * Nothing writes to them any more: a checkpoint would make the damage permanent, and a compaction
 * would drop the records that damaged location tables do not refer to.
 */
#include "store/index_files.h"

#include "store/database_internal.h"
#include "util/error.h"

/* mark -- records it in the MANIFEST, so that it is known after a crash as well. Should that fail,
 * closing tries again, and otherwise the damage is detected again. */
static void mark(database *db) {
    manifest m = db->manifest;
    if (m.index_damaged || db->read_only || db->store != TANSU_STORE_PERSISTENT)
        return;
    m.index_open = m.index_damaged = true;
    m.boot[0] = 0;
    (void)manifest_replace(db, &m, NULL);
}

void index_files_mark_damaged(database *db) {
    __atomic_store_n(&db->index_damaged, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&db->checkpoint_mutex);
    mark(db);
    pthread_mutex_unlock(&db->checkpoint_mutex);
}

bool index_files_damaged(const database *db) {
    return __atomic_load_n(&db->index_damaged, __ATOMIC_RELAXED) ||
           (db->bs != NULL && block_store_is_damaged(db->bs));
}

void index_files_note_damage(database *db) {
    if (db->bs == NULL || !block_store_is_damaged(db->bs) ||
        __atomic_load_n(&db->index_damaged, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&db->checkpoint_mutex) != 0)
        return;
    __atomic_store_n(&db->index_damaged, true, __ATOMIC_RELAXED);
    mark(db);
    pthread_mutex_unlock(&db->checkpoint_mutex);
}

tansu_status index_files_check(const database *db, tansu_error *error) {
    return index_files_damaged(db)
               ? error_set(error, TANSU_E_CORRUPT, db->folder,
                           "The index files are corrupt and nothing more is written to them; close "
                           "the database and open it again to have them rebuilt")
               : TANSU_OK;
}
