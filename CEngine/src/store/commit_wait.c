/*
 * store/commit_wait.c -- waiting until a newer snapshot becomes visible.
 */
#include "store/commit_wait.h"

#include "store/database_internal.h"

bool commit_is_newer(database *db, uint64_t sequence) {
    pthread_mutex_lock(&db->snapshot_mutex);
    bool newer = db->visible->sequence > sequence;
    pthread_mutex_unlock(&db->snapshot_mutex);
    return newer;
}

tansu_status commit_wait(database *db, uint64_t sequence, clock_time until,
                         tansu_status (*check)(void *context, tansu_error *error), void *context,
                         tansu_error *error) {
    tansu_status status;
    bool late = false;
    pthread_mutex_lock(&db->commit_mutex);
    __atomic_add_fetch(&db->commit_waiters, 1, __ATOMIC_RELAXED);
    while ((status = check(context, error)) == TANSU_OK && !commit_is_newer(db, sequence)) {
        if (late) {
            status = TANSU_DONE;
            break;
        }
        if (until == CLOCK_NEVER)
            pthread_cond_wait(&db->commit_visible, &db->commit_mutex);
        else
            late = clock_wait(&db->commit_visible, &db->commit_mutex, until);
    }
    __atomic_sub_fetch(&db->commit_waiters, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->commit_mutex);
    return status;
}

void commit_wait_wake(database *db) {
    pthread_mutex_lock(&db->commit_mutex);
    pthread_cond_broadcast(&db->commit_visible);
    pthread_mutex_unlock(&db->commit_mutex);
}

void commit_wait_notify(database *db) {
    if (__atomic_load_n(&db->commit_waiters, __ATOMIC_RELAXED) != 0)
        commit_wait_wake(db);
}
