/*
 * catalog/doubt.c -- what becomes of index files that were found to be wrong: they are only read until the
 * database is closed, and the next opening makes them anew.
 *
 * Anything else could do harm: a checkpoint would make the damage last, and a compaction would drop
 * what wrong places do not lead to.
 */
#include "base/error.h"
#include "catalog/manifest.h"

/* mark -- has the MANIFEST tell it, so that it is known after a crash as well. Should that fail, closing
 * tries once more, and otherwise the damage is met again. */
static void mark(database *db) {
    manifest m = db->manifest;
    if (m.index_damaged || db->read_only || db->store != TANSU_STORE_PERSISTENT)
        return;
    m.index_open = m.index_damaged = true;
    m.boot[0] = 0;
    if (manifest_write(db->calls, db->folder, &m, NULL) == TANSU_OK)
        db->manifest = m;
}

void checkpoint_doubt(database *db) {
    __atomic_store_n(&db->index_damaged, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&db->checkpoint_mutex);
    mark(db);
    pthread_mutex_unlock(&db->checkpoint_mutex);
}

bool checkpoint_doubted(const database *db) {
    return __atomic_load_n(&db->index_damaged, __ATOMIC_RELAXED) ||
           (db->cab != NULL && cabinet_doubted(db->cab));
}

void checkpoint_pass_doubt(database *db) {
    if (db->cab == NULL || !cabinet_doubted(db->cab) ||
        __atomic_load_n(&db->index_damaged, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&db->checkpoint_mutex) != 0)
        return;
    __atomic_store_n(&db->index_damaged, true, __ATOMIC_RELAXED);
    mark(db);
    pthread_mutex_unlock(&db->checkpoint_mutex);
}

tansu_status checkpoint_check_doubt(const database *db, tansu_error *error) {
    return checkpoint_doubted(db)
               ? error_set(error, TANSU_E_CORRUPT, db->folder,
                           "the index files are damaged and nothing more is written to them: close "
                           "the database and open it again, and they are made anew")
               : TANSU_OK;
}
