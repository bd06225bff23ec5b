/*
 * store/background/compactor.c -- the thread that compacts in the background.
 */
#include "store/background/compactor.h"

#include "store/database_internal.h"
#include "util/clock.h"
#include "util/file_size_limit.h"

/* A log of fewer bytes is not compacted. */
#define LOG_LEAST ((uint64_t)1024 * 1024)

/* So many bytes of removed documents request a compaction. What replaces others is written, and
 * requests one as a segment is sealed. */
#define REMOVED_DUE ((uint64_t)16 * 1024 * 1024)

/* How long closing waits for a compaction. */
#define CLOSING_NS ((uint64_t)2000000000)

/* may_go_on -- whether the thread need not end its current work. The state mutex is held. */
static bool may_go_on(const database *db) {
    return !db->compactor_stop && db->maintenance_waiting == 0 &&
           (db->compactor_until == 0 || clock_now() < db->compactor_until);
}

/* work -- waits for requests until it is to stop. */
static void *work(void *context) {
    database *db = context;
    limit_leave_out();
    pthread_mutex_lock(&db->state_mutex);
    while (!db->compactor_stop) {
        if (!db->compaction_wanted) {
            if (db->compactor_until != 0)
                break;
            pthread_cond_wait(&db->compactor_wanted, &db->state_mutex);
            continue;
        }
        db->compaction_wanted = false;
        /* While a task that a user called is running, this waits for the next request. */
        if (db->maintenance != MAINTENANCE_NONE || !may_go_on(db))
            continue;
        db->maintenance = MAINTENANCE_BACKGROUND;
        pthread_mutex_unlock(&db->state_mutex);
        db->compactor_calls->run(db);
        pthread_mutex_lock(&db->state_mutex);
        db->maintenance = MAINTENANCE_NONE;
        __atomic_store_n(&db->catching_up, false, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&db->state_changed);
    }
    pthread_mutex_unlock(&db->state_mutex);
    return NULL;
}

void compactor_enable(database *db, const compactor_calls *calls) {
    db->compactor_calls = calls;
}

/* request -- wakes the thread, or starts it. The state mutex is held. */
static void request(database *db) {
    if (!db->compactor_running && !db->compactor_stop)
        db->compactor_running = pthread_create(&db->compactor, NULL, work, db) == 0;
    db->compaction_wanted = true;
    pthread_cond_signal(&db->compactor_wanted);
}

void compactor_request(database *db) {
    if (db->compactor_calls == NULL || log_measure(db->log).bytes < LOG_LEAST)
        return;
    pthread_mutex_lock(&db->state_mutex);
    request(db);
    pthread_mutex_unlock(&db->state_mutex);
}

void compactor_catch_up(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    request(db);
    __atomic_store_n(&db->catching_up, db->compactor_running, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->state_mutex);
}

void compactor_note_commit(database *db, uint64_t removed, bool sealed) {
    if (__atomic_add_fetch(&db->removed_bytes, removed, __ATOMIC_RELAXED) < REMOVED_DUE && !sealed)
        return;
    __atomic_store_n(&db->removed_bytes, 0, __ATOMIC_RELAXED);
    compactor_request(db);
}

void compactor_finish(database *db) {
    bool due = db->compactor_calls != NULL && db->compactor_calls->due(db);
    pthread_mutex_lock(&db->state_mutex);
    if (due) {
        db->compactor_until = clock_after(clock_now(), CLOSING_NS);
        request(db);
    } else {
        db->compactor_stop = true;
        pthread_cond_signal(&db->compactor_wanted);
    }
    pthread_mutex_unlock(&db->state_mutex);
    compactor_join(db);
}

void compactor_stop(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    db->compactor_stop = true;
    pthread_cond_signal(&db->compactor_wanted);
    pthread_mutex_unlock(&db->state_mutex);
}

void compactor_join(database *db) {
    if (!db->compactor_running)
        return;
    pthread_join(db->compactor, NULL);
    db->compactor_running = false;
}

bool compactor_wait(database *db, uint64_t nanoseconds) {
    clock_time until = clock_after(clock_now(), nanoseconds);
    bool late = false;
    pthread_mutex_lock(&db->state_mutex);
    while (may_go_on(db) && db->compactor_until == 0 && !db->catching_up && !late)
        late = clock_wait(&db->compactor_wanted, &db->state_mutex, until);
    bool go_on = may_go_on(db);
    pthread_mutex_unlock(&db->state_mutex);
    return go_on;
}
