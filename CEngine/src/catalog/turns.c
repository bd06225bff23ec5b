/*
 * catalog/turns.c -- counting handles and taking turns at writing.
 */
#include "catalog/database.h"

#include "base/clock.h"
#include "base/error.h"
#include "catalog/memory.h"

/* closed -- the error for a database that waits for its last handles to end. */
static tansu_status closed(tansu_error *error) {
    return error_set(error, TANSU_E_CLOSED, NULL, "the database is being closed");
}

tansu_status database_enter(database *db, tansu_error *error) {
    pthread_mutex_lock(&db->state_mutex);
    bool closing = db->closing;
    if (!closing)
        db->handles++;
    pthread_mutex_unlock(&db->state_mutex);
    return closing ? closed(error) : TANSU_OK;
}

tansu_status database_check_open(database *db, tansu_error *error) {
    return __atomic_load_n(&db->closing, __ATOMIC_RELAXED) ? closed(error) : TANSU_OK;
}

void database_leave(database *db) {
    checkpoint_pass_doubt(db);
    pthread_mutex_lock(&db->state_mutex);
    bool last = --db->handles == 0 && db->closing;
    pthread_mutex_unlock(&db->state_mutex);
    if (last)
        database_close(db, NULL);
}

/* own_turn -- the error for a thread that waits for itself. */
static tansu_status own_turn(tansu_error *error) {
    return error_set(error, TANSU_E_BUSY, NULL,
                     "this thread's own write transaction is open: pass it to the call, or end it "
                     "first");
}

tansu_status database_check_turn(database *db, tansu_error *error) {
    if (db->read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->folder,
                         "the database is open read-only, or lies on a read-only file system");
    pthread_mutex_lock(&db->state_mutex);
    bool own = db->writing && pthread_equal(db->writer_thread, pthread_self());
    pthread_mutex_unlock(&db->state_mutex);
    return own ? own_turn(error) : TANSU_OK;
}

tansu_status database_begin_writing(database *db, const interrupt *stop, tansu_error *error) {
    if (db->read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->folder,
                         "the database is open read-only, or lies on a read-only file system");
    tansu_status status = TANSU_OK;
    clock_time until = 0;
    memory_wait(db, stop);
    pthread_mutex_lock(&db->state_mutex);
    if (db->writing)
        until = clock_in(db->busy_timeout_ms);
    while (db->writing && status == TANSU_OK) {
        if (pthread_equal(db->writer_thread, pthread_self()))
            status = own_turn(error);
        else if (interrupt_asked(stop))
            status = error_set(error, TANSU_E_CANCELLED, "txn",
                               "the transaction was cancelled while it waited for its turn");
        else if (clock_wait(&db->state_changed, &db->state_mutex, until) && db->writing)
            status = error_set(error, TANSU_E_BUSY, NULL,
                               "another transaction has been writing for %u ms: try again",
                               db->busy_timeout_ms);
    }
    /* Asked last: the writer that was waited for may be the one whose sync failed. */
    if (status == TANSU_OK && log_failed(db->log))
        status = error_set(
            error, TANSU_E_FAILED, db->folder,
            "an earlier write or sync failed, so nothing more is written: close and open again");
    if (status == TANSU_OK) {
        db->writing = true;
        db->writer_thread = pthread_self();
    }
    pthread_mutex_unlock(&db->state_mutex);
    return status;
}

void database_look_again(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    pthread_cond_broadcast(&db->state_changed);
    pthread_mutex_unlock(&db->state_mutex);
}

void database_end_writing(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    db->writing = false;
    pthread_cond_broadcast(&db->state_changed);
    pthread_mutex_unlock(&db->state_mutex);
}
