/*
 * store/handle.c -- counting the handles of a database.
 */
#include "store/handle.h"

#include "store/database_internal.h"
#include "store/files.h"
#include "util/clock.h"
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
    return error_set(error, TANSU_E_INVALID_STATE, db->files.folder,
                     "The database was opened before fork(); open it again in this process");
}

tansu_status handle_acquire(database *db, tansu_error *error) {
    tansu_status status = handle_check_process(db, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&db->mutex);
    bool closing = __atomic_load_n(&db->root->handles.closing, __ATOMIC_RELAXED);
    if (!closing)
        db->handles.count++;
    pthread_mutex_unlock(&db->mutex);
    return closing ? closed(error) : TANSU_OK;
}

tansu_status handle_check_open(database *db, tansu_error *error) {
    tansu_status status = handle_check_process(db, error);
    if (status != TANSU_OK)
        return status;
    return __atomic_load_n(&db->root->handles.closing, __ATOMIC_RELAXED) ? closed(error) : TANSU_OK;
}

void handle_release(database *db) {
    index_files_note_damage(db);
    pthread_mutex_lock(&db->mutex);
    bool last = --db->handles.count == 0 && db->handles.closing;
    pthread_mutex_unlock(&db->mutex);
    if (last)
        (void)db->close(db, NULL);
}

/* ---- The lock of tasks that need the log's segments to stay ---- */

/* How long a writer waits for a compaction. */
#define WAIT_NS ((uint64_t)2000000000)
/* How long it sleeps before it checks whether it was cancelled. */
#define POLL_MS 100

tansu_status maintenance_begin(database *db, tansu_error *error) {
    pthread_mutex_lock(&db->mutex);
    db->maintenance.waiting++;
    pthread_cond_signal(&db->compactor.wanted);
    /* Background compaction ends with its slice, unless it waits for the write lock, which this
     * thread must not hold then. */
    while (db->maintenance.running == MAINTENANCE_BACKGROUND &&
           !(db->writer.locked && pthread_equal(db->writer.thread, pthread_self())))
        pthread_cond_wait(&db->changed, &db->mutex);
    db->maintenance.waiting--;
    bool free = db->maintenance.running == MAINTENANCE_NONE;
    if (free)
        db->maintenance.running = MAINTENANCE_CALLED;
    pthread_mutex_unlock(&db->mutex);
    return free ? TANSU_OK
                : error_set(error, TANSU_E_BUSY, db->files.folder,
                            "Another compaction, backup or verification of the database is "
                            "running; try again when it has ended");
}

void maintenance_wait(database *db, const interrupt *stop) {
    clock_time since = clock_now(), until = clock_after(since, WAIT_NS);
    pthread_mutex_lock(&db->mutex);
    if (!pthread_equal(db->compactor.thread, pthread_self())) {
        while (db->compactor.catching_up && !interrupt_asked(stop) && clock_now() < until)
            (void)clock_wait(&db->changed, &db->mutex, clock_in(POLL_MS));
        /* The next writer waits no longer than this one. */
        __atomic_store_n(&db->compactor.catching_up, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&db->mutex);
    __atomic_add_fetch(&db->eviction.write_stalls, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&db->eviction.write_stall_us, (clock_now() - since) / 1000,
                       __ATOMIC_RELAXED);
}

void maintenance_end(database *db) {
    pthread_mutex_lock(&db->mutex);
    db->maintenance.running = MAINTENANCE_NONE;
    pthread_cond_broadcast(&db->changed);
    pthread_mutex_unlock(&db->mutex);
}
