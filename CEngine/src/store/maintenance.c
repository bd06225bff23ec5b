/*
 * store/maintenance.c -- the lock of tasks that need the log's segments to stay.
 */
#include "store/maintenance.h"

#include "store/database_internal.h"
#include "util/error.h"

tansu_status maintenance_begin(database *db, tansu_error *error) {
    pthread_mutex_lock(&db->state_mutex);
    db->maintenance_waiting++;
    pthread_cond_signal(&db->compactor_wanted);
    /* Background compaction ends with its slice, unless it waits for the write lock, which this
     * thread must not hold then. */
    while (db->maintenance == MAINTENANCE_BACKGROUND &&
           !(db->write_locked && pthread_equal(db->writer_thread, pthread_self())))
        pthread_cond_wait(&db->state_changed, &db->state_mutex);
    db->maintenance_waiting--;
    bool free = db->maintenance == MAINTENANCE_NONE;
    if (free)
        db->maintenance = MAINTENANCE_CALLED;
    pthread_mutex_unlock(&db->state_mutex);
    return free ? TANSU_OK
                : error_set(error, TANSU_E_BUSY, db->folder,
                            "Another compaction, backup or verification of the database is "
                            "running; try again when it has ended");
}

void maintenance_end(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    db->maintenance = MAINTENANCE_NONE;
    pthread_cond_broadcast(&db->state_changed);
    pthread_mutex_unlock(&db->state_mutex);
}
