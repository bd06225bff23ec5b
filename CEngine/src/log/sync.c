/*
 * log/sync.c -- group commit: one thread syncs for all that wait.
 */
#include "base/error.h"
#include "log/segment.h"

#include <errno.h>
#include <stdlib.h>

/* The files that one round has to sync: those with commits since the last round. */
typedef struct sync_round {
    segment *few[8]; /* enough for all but the largest transactions */
    segment **list;
    uint32_t count;
    uint32_t head;
    uint64_t target;
} sync_round;

/* round_begin -- notes what to sync; the mutex is held. False when memory is exhausted. */
static bool round_begin(log *l, sync_round *round) {
    uint32_t first = segment_index(l, l->sync_segment);
    if (first == UINT32_MAX)
        first = 0;
    segment *head = segment_head(l);
    round->target = __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE);
    round->count = l->force.count - first;
    round->head = head == NULL ? 0 : head->number;
    round->list = round->few;
    if (round->count > sizeof round->few / sizeof round->few[0]) {
        round->list = malloc(round->count * sizeof *round->list);
        if (round->list == NULL)
            return false;
    }
    for (uint32_t i = 0; i < round->count; i++)
        round->list[i] = l->force.items[first + i];
    return true;
}

/* round_run -- syncs the files; the errno of the first failure, or 0. The mutex is not held. */
static int round_run(log *l, const sync_round *round) {
    for (uint32_t i = 0; i < round->count; i++) {
        segment *s = round->list[i];
        if (segment_descriptor(l, s) < 0 || l->calls->sync(s->fd, s->base, s->mapped) != 0)
            return errno == 0 ? EIO : errno;
        if (!segment_whole(l, s)) /* what was written behind the end is nowhere */
            return EIO;
        if (i + 1 < round->count) /* the head goes on being written */
            segment_rest(l, s);
    }
    return 0;
}

tansu_status log_sync(log *l, uint64_t sequence, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    while (status == TANSU_OK && l->synced < sequence) {
        if (l->failed) {
            status = error_errno(error, l->folder, "sync", l->failed_errno);
        } else if (l->syncing) {
            pthread_cond_wait(&l->synced_changed, &l->mutex);
        } else if (l->folder == NULL) {
            __atomic_store_n(&l->synced, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE),
                             __ATOMIC_RELEASE);
        } else {
            sync_round round;
            if (!round_begin(l, &round)) {
                status = error_memory(error);
                break;
            }
            l->syncing = true;
            pthread_mutex_unlock(&l->mutex);
            int number = round_run(l, &round);
            pthread_mutex_lock(&l->mutex);
            if (round.list != round.few)
                free(round.list);
            l->syncing = false;
            if (number != 0) {
                /* The kernel may have marked the lost pages clean: a second try that succeeds
                 * would prove nothing. */
                l->failed_errno = number;
                __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
            } else {
                __atomic_store_n(&l->synced, round.target, __ATOMIC_RELEASE);
                l->sync_segment = round.head;
            }
            pthread_cond_broadcast(&l->synced_changed);
        }
    }
    pthread_mutex_unlock(&l->mutex);
    return status;
}

bool log_failed(log *l) {
    return __atomic_load_n(&l->failed, __ATOMIC_ACQUIRE);
}
