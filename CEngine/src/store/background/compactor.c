/*
 * store/background/compactor.c -- the thread that compacts in the background.
 */
#include "store/background/compactor.h"

#include "store/database_internal.h"
#include "util/clock.h"
#include "util/file_size_limit.h"

/* may_go_on -- whether the thread need not end its current work. The state mutex is held. */
static bool may_go_on(const database *db) {
    return !db->compactor_stop && db->maintenance_waiting == 0;
}

/* work -- waits for requests until it is to stop. */
static void *work(void *context) {
    database *db = context;
    limit_leave_out();
    pthread_mutex_lock(&db->state_mutex);
    while (!db->compactor_stop) {
        if (!db->compaction_wanted) {
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
        pthread_cond_broadcast(&db->state_changed);
    }
    pthread_mutex_unlock(&db->state_mutex);
    return NULL;
}

void compactor_enable(database *db, const compactor_calls *calls) {
    db->compactor_calls = calls;
}

void compactor_request_if_due(database *db) {
    if (db->compactor_calls == NULL || !db->compactor_calls->due(db))
        return;
    pthread_mutex_lock(&db->state_mutex);
    if (!db->compactor_running && !db->compactor_stop)
        db->compactor_running = pthread_create(&db->compactor, NULL, work, db) == 0;
    db->compaction_wanted = true;
    pthread_cond_signal(&db->compactor_wanted);
    pthread_mutex_unlock(&db->state_mutex);
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
    while (may_go_on(db) && !late)
        late = clock_wait(&db->compactor_wanted, &db->state_mutex, until);
    bool go_on = may_go_on(db);
    pthread_mutex_unlock(&db->state_mutex);
    return go_on;
}
