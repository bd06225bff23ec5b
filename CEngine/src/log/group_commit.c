/*
 * log/group_commit.c -- group commit: one thread syncs for all that wait.
 */
#include "log/segment.h"
#include "log/tail.h"
#include "util/error.h"

#include <errno.h>

#define ROUND_MOST 8

/* The files that one round has to sync: those with commits since the last round, or the first of
 * them. No memory is needed, for by now the commits can't be refused any more. */
typedef struct sync_round {
    segment *list[ROUND_MOST];
    uint32_t count;
    uint32_t last; /* the number of the segment that the next round begins with */
    uint64_t target;
} sync_round;

/* round_begin -- notes what to sync; the mutex is held. */
static void round_begin(log *l, sync_round *round) {
    uint32_t first = segment_index(l, l->sync_segment);
    if (first == UINT32_MAX)
        first = 0;
    round->target = __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE);
    round->count = l->active.count - first;
    if (round->count > ROUND_MOST) {
        round->count = ROUND_MOST;
        round->target = l->active.items[first + ROUND_MOST]->first - 1;
    }
    for (uint32_t i = 0; i < round->count; i++)
        round->list[i] = l->active.items[first + i];
    round->last = round->count == 0 ? 0 : round->list[round->count - 1]->number;
}

/* round_run -- syncs the files; the errno of the first failure, or 0. The mutex is not held. */
static int round_run(log *l, const sync_round *round) {
    for (uint32_t i = 0; i < round->count; i++) {
        segment *s = round->list[i];
        if (segment_descriptor(l, s) < 0 || l->calls->sync(s->fd, s->base, s->mapped) != 0)
            return errno == 0 ? EIO : errno;
        if (!segment_not_cut(l, s)) /* what was written after the end is nowhere */
            return EIO;
        if (i + 1 < round->count) /* the head stays written */
            segment_close_file(l, s);
    }
    return 0;
}

/* sync_error -- the error for commits whose sync has failed. Whatever the reason, it is not known
 * what was kept of them: so never a status that says that nothing was. */
static tansu_status sync_error(const log *l, tansu_error *error) {
    tansu_status status = error_errno(error, l->folder, "sync", l->failed_errno);
    if (status == TANSU_E_IO)
        return status;
    status = error_set(
        error, TANSU_E_SYNC_FAILED, l->folder,
        "The disk did not take what was committed, so it is not known whether the commit is "
        "kept; close the database and open it again");
    if (error != NULL)
        error->sys_errno = l->failed_errno;
    return status;
}

tansu_status log_sync(log *l, uint64_t sequence, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    while (status == TANSU_OK && l->synced < sequence) {
        if (l->failed) {
            status = sync_error(l, error);
        } else if (l->syncing) {
            pthread_cond_wait(&l->synced_changed, &l->mutex);
        } else if (l->folder == NULL) {
            __atomic_store_n(&l->synced, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE),
                             __ATOMIC_RELEASE);
        } else {
            sync_round round;
            round_begin(l, &round);
            l->syncing = true;
            /* after a crash during the sync it is not known whether it failed */
            tail_state_is(l, TAIL_SYNCING);
            pthread_mutex_unlock(&l->mutex);
            int number = round_run(l, &round);
            pthread_mutex_lock(&l->mutex);
            l->syncing = false;
            tail_state_is(l, number != 0 ? TAIL_FAILED : TAIL_IDLE);
            if (number != 0) {
                /* The kernel may have marked the lost pages clean: a second try that succeeds
                 * would prove nothing. */
                l->failed_errno = number;
                __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
            } else {
                __atomic_store_n(&l->synced, round.target, __ATOMIC_RELEASE);
                tail_synced(l, round.target);
                l->sync_segment = round.last;
            }
            pthread_cond_broadcast(&l->synced_changed);
            if (number != 0)
                tail_sync(l);
        }
    }
    pthread_mutex_unlock(&l->mutex);
    return status;
}
