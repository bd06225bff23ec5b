/*
 * store/handle.c -- counting the handles of a database.
 */
#include "store/handle.h"

#include "store/database_internal.h"
#include "store/index_files.h"
#include "util/error.h"

/* closed -- the error for a database that waits for its last handles to end. */
static tansu_status closed(tansu_error *error) {
    return error_set(error, TANSU_E_CLOSED, NULL, "The database is being closed; open it again");
}

bool handle_inherited(const database *db) {
    return fork_happened(db->opened_in);
}

tansu_status handle_check_process(const database *db, tansu_error *error) {
    if (!handle_inherited(db))
        return TANSU_OK;
    return error_set(error, TANSU_E_INVALID_STATE, db->folder,
                     "The database was opened before fork(); open it again in this process");
}

tansu_status handle_acquire(database *db, tansu_error *error) {
    tansu_status status = handle_check_process(db, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&db->state_mutex);
    bool closing = __atomic_load_n(&db->root->closing, __ATOMIC_RELAXED);
    if (!closing)
        db->handles++;
    pthread_mutex_unlock(&db->state_mutex);
    return closing ? closed(error) : TANSU_OK;
}

tansu_status handle_check_open(database *db, tansu_error *error) {
    tansu_status status = handle_check_process(db, error);
    if (status != TANSU_OK)
        return status;
    return __atomic_load_n(&db->root->closing, __ATOMIC_RELAXED) ? closed(error) : TANSU_OK;
}

void handle_release(database *db) {
    index_files_note_damage(db);
    pthread_mutex_lock(&db->state_mutex);
    bool last = --db->handles == 0 && db->closing;
    pthread_mutex_unlock(&db->state_mutex);
    if (last)
        (void)db->close(db, NULL);
}
