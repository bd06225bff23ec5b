/*
 * store/write_lock.c -- the lock that admits one write transaction at a time.
 */
#include "store/write_lock.h"

#include "store/database_internal.h"
#include "store/handle.h"
#include "store/memory.h"
#include "util/clock.h"
#include "util/error.h"

/* How long a caller is not asked. */
#define ASK_MS 100u

/* held_by_this_thread -- the error for a thread that waits for itself. */
static tansu_status held_by_this_thread(tansu_error *error) {
    return error_set(
        error, TANSU_E_BUSY, NULL,
        "This thread's own write transaction is open; pass it to the call, or end it first");
}

tansu_status write_lock_check(database *db, tansu_error *error) {
    if (db->options.read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->files.folder,
                         "The database is open read-only or is on a read-only file system; open it "
                         "for writing elsewhere");
    pthread_mutex_lock(&db->mutex);
    bool own = db->writer.locked && pthread_equal(db->writer.thread, pthread_self());
    pthread_mutex_unlock(&db->mutex);
    return own ? held_by_this_thread(error) : TANSU_OK;
}

/* wait_for_release -- waits until the lock may be free; with a caller a tenth of a second at most,
 * and then asks it. */
static tansu_status wait_for_release(database *db, const write_lock_caller *caller,
                                     clock_time until, tansu_error *error) {
    clock_time pause = caller == NULL ? until : clock_in(ASK_MS);
    bool timed_out = clock_wait(&db->changed, &db->mutex, pause < until ? pause : until);
    if (!timed_out || !db->writer.locked)
        return TANSU_OK;
    if (until <= pause || clock_now() >= until)
        return error_set(error, TANSU_E_BUSY, NULL,
                         "Another transaction has held the write lock for %u ms; try again",
                         db->options.busy_timeout_ms);
    pthread_mutex_unlock(&db->mutex);
    tansu_status status = caller->ask(caller->context, error);
    pthread_mutex_lock(&db->mutex);
    return status;
}

/* acquire -- write_lock_acquire() with a caller, or with `stop`. */
static tansu_status acquire(database *db, const interrupt *stop, const write_lock_caller *caller,
                            tansu_error *error) {
    if (db->options.read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->files.folder,
                         "The database is open read-only or is on a read-only file system; open it "
                         "for writing elsewhere");
    tansu_status status = TANSU_OK;
    clock_time until = 0;
    memory_wait(db, stop);
    if (__builtin_expect(__atomic_load_n(&db->compactor.catching_up, __ATOMIC_RELAXED), 0))
        maintenance_wait(db, stop);
    pthread_mutex_lock(&db->mutex);
    if (db->writer.locked)
        until = clock_in(db->options.busy_timeout_ms);
    while (db->writer.locked && status == TANSU_OK) {
        if (pthread_equal(db->writer.thread, pthread_self()))
            status = held_by_this_thread(error);
        else if (interrupt_asked(stop))
            status = error_set(error, TANSU_E_CANCELLED, "txn",
                               "The transaction was cancelled while it waited for the write lock");
        else
            status = wait_for_release(db, caller, until, error);
    }
    /* Asked last: the writer that was waited for may be the one whose sync failed. */
    if (status == TANSU_OK && log_failed(db->log))
        status = error_set(error, TANSU_E_SYNC_FAILED, db->files.folder,
                           "An earlier write or sync failed, so nothing more is written; close the "
                           "database and open it again");
    if (status == TANSU_OK) {
        db->writer.locked = true;
        db->writer.thread = pthread_self();
    }
    pthread_mutex_unlock(&db->mutex);
    return status;
}

tansu_status write_lock_acquire(database *db, const interrupt *stop, tansu_error *error) {
    return acquire(db, stop, NULL, error);
}

tansu_status write_lock_acquire_asking(database *db, const write_lock_caller *caller,
                                       tansu_error *error) {
    return acquire(db, NULL, caller, error);
}

void write_lock_wake_waiters(database *db) {
    pthread_mutex_lock(&db->mutex);
    pthread_cond_broadcast(&db->changed);
    pthread_mutex_unlock(&db->mutex);
}

void write_lock_release(database *db) {
    pthread_mutex_lock(&db->mutex);
    db->writer.locked = false;
    pthread_cond_broadcast(&db->changed);
    pthread_mutex_unlock(&db->mutex);
}

/* ---- Waiting until a newer snapshot becomes visible ---- */

bool commit_is_newer(database *db, uint64_t sequence) {
    pthread_mutex_lock(&db->snapshots.mutex);
    bool newer = db->snapshots.visible->sequence > sequence;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return newer;
}

tansu_status commit_wait(database *db, uint64_t sequence, clock_time until,
                         tansu_status (*check)(void *context, tansu_error *error), void *context,
                         tansu_error *error) {
    tansu_status status;
    bool late = false;
    pthread_mutex_lock(&db->commits.mutex);
    __atomic_add_fetch(&db->commits.count, 1, __ATOMIC_RELAXED);
    while ((status = check(context, error)) == TANSU_OK && !commit_is_newer(db, sequence)) {
        if (late) {
            status = TANSU_DONE;
            break;
        }
        if (until == CLOCK_NEVER)
            pthread_cond_wait(&db->commits.visible, &db->commits.mutex);
        else
            late = clock_wait(&db->commits.visible, &db->commits.mutex, until);
    }
    __atomic_sub_fetch(&db->commits.count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->commits.mutex);
    return status;
}

void commit_wait_wake(database *db) {
    pthread_mutex_lock(&db->commits.mutex);
    pthread_cond_broadcast(&db->commits.visible);
    pthread_mutex_unlock(&db->commits.mutex);
}

void commit_wait_notify(database *db) {
    if (__atomic_load_n(&db->commits.count, __ATOMIC_RELAXED) != 0)
        commit_wait_wake(db);
}
