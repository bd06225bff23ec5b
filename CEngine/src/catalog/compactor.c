/*
 * catalog/compactor.c -- the thread that compacts in the background. It is not the worker's, whose
 * syncs and checkpoints must not wait for a compaction.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/size_limit.h"
#include "catalog/compact.h"

/* may_go_on -- whether nobody wants the thread to end what it is at. The state mutex is held. */
static bool may_go_on(const database *db) {
    return !db->compactor_stop && db->upkeep_waiting == 0;
}

/* work -- waits for orders until told to stop. */
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
        /* While a task that was asked for goes on this waits for the next order. */
        if (db->upkeep != UPKEEP_NONE || !may_go_on(db))
            continue;
        db->upkeep = UPKEEP_BACKGROUND;
        pthread_mutex_unlock(&db->state_mutex);
        compact_background(db);
        pthread_mutex_lock(&db->state_mutex);
        db->upkeep = UPKEEP_NONE;
        pthread_cond_broadcast(&db->state_changed);
    }
    pthread_mutex_unlock(&db->state_mutex);
    return NULL;
}

void compactor_order(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    if (!db->compactor_running && !db->compactor_stop)
        db->compactor_running = pthread_create(&db->compactor, NULL, work, db) == 0;
    db->compaction_wanted = true;
    pthread_cond_signal(&db->compactor_wanted);
    pthread_mutex_unlock(&db->state_mutex);
}

void compactor_halt(database *db) {
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

tansu_status upkeep_begin(database *db, tansu_error *error) {
    pthread_mutex_lock(&db->state_mutex);
    db->upkeep_waiting++;
    pthread_cond_signal(&db->compactor_wanted);
    /* It ends with its slice, unless it waits for the writer's turn, which must not be this thread's. */
    while (db->upkeep == UPKEEP_BACKGROUND &&
           !(db->writing && pthread_equal(db->writer_thread, pthread_self())))
        pthread_cond_wait(&db->state_changed, &db->state_mutex);
    db->upkeep_waiting--;
    bool free = db->upkeep == UPKEEP_NONE;
    if (free)
        db->upkeep = UPKEEP_ASKED;
    pthread_mutex_unlock(&db->state_mutex);
    return free ? TANSU_OK
                : error_set(error, TANSU_E_BUSY, db->folder,
                            "another compaction, backup or verification of the database is under "
                            "way: try again when it has ended");
}

void upkeep_end(database *db) {
    pthread_mutex_lock(&db->state_mutex);
    db->upkeep = UPKEEP_NONE;
    pthread_cond_broadcast(&db->state_changed);
    pthread_mutex_unlock(&db->state_mutex);
}
