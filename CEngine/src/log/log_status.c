/*
 * log/log_status.c -- the failed state of a log, the pages that could not be read, and its size.
 */
#include "log/log.h"

#include "log/segment.h"
#include "log/segment_name.h"
#include "util/error.h"

#include <errno.h>

void log_fail(log *l, int number) {
    pthread_mutex_lock(&l->mutex);
    l->failed_errno = number;
    __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&l->mutex);
}

/* block_error -- the error for the newest block that could not be read. */
static tansu_status block_error(const log *l, tansu_error *error) {
    if (__atomic_load_n(&l->blocks.fault_status, __ATOMIC_RELAXED) == TANSU_E_MEMORY)
        return error_memory(error);
    uint64_t at = __atomic_load_n(&l->blocks.fault_at, __ATOMIC_RELAXED);
    char name[32];
    segment_name((uint32_t)(at >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)at,
                    "A block of the compressed segment \"%s\" is corrupt at offset %u; restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    name, (uint32_t)at);
}

tansu_status log_read_error(const log *l, tansu_error *error) {
    if (guard_faults(&l->tally) == 0 && __atomic_load_n(&l->blocks.faults, __ATOMIC_ACQUIRE) != 0)
        return block_error(l, error);
    uint64_t last = __atomic_load_n(&l->tally.last, __ATOMIC_RELAXED);
    char name[32];
    segment_name((uint32_t)(last >> 32), name);
    tansu_status status = error_at(
        error, TANSU_E_IO, name, (int64_t)(uint32_t)last,
        "The system could not read or write the page of \"%s\" at offset %u; check the disk, "
        "open the database again, and restore a backup or salvage what is readable if that fails",
        name, (uint32_t)last);
    if (error != NULL)
        error->sys_errno = EIO;
    return status;
}

bool log_failed(log *l) {
    return __atomic_load_n(&l->failed, __ATOMIC_ACQUIRE);
}

bool log_head_removed(log *l) {
    pthread_mutex_lock(&l->mutex);
    const segment *head = segment_head(l);
    bool removed = head != NULL && head->fd >= 0 && fs_unlinked(head->fd);
    pthread_mutex_unlock(&l->mutex);
    return removed;
}

void log_abandon(log *l) {
    __atomic_store_n(&l->abandoned, true, __ATOMIC_RELAXED);
}

bool log_cannot_be_written(log *l) {
    if (l->read_only || l->folder == NULL)
        return false;
    return log_failed(l) ||
           log_sync(l, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE), NULL) != TANSU_OK;
}

tansu_status log_dropped_error(uint32_t number, uint64_t offset, tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(error, TANSU_E_IO, name, (int64_t)offset,
                    "The system could not write \"%s\" and has dropped what was at offset %llu; "
                    "check the disk, close the database and open it again",
                    name, (unsigned long long)offset);
}

log_statistics log_measure(log *l) {
    pthread_mutex_lock(&l->mutex);
    log_statistics total = {.segments = l->active.count};
    for (uint32_t i = 0; i < l->active.count; i++) {
        const segment *s = l->active.items[i];
        uint64_t size = __atomic_load_n(&s->allocated, __ATOMIC_RELAXED);
        total.bytes += size;
        total.compressed += s->compressed != NULL ? size : 0;
        total.images += s->compressed != NULL ? s->used : 0;
    }
    pthread_mutex_unlock(&l->mutex);
    return total;
}

uint64_t log_pinned(log *l, uint64_t sequence) {
    uint64_t bytes = sequence == UINT64_MAX ? __atomic_load_n(&l->retired, __ATOMIC_RELAXED) : 0;
    pthread_mutex_lock(&l->mutex);
    for (uint32_t i = 0; i < l->replaced.count; i++) {
        const segment *s = l->replaced.items[i];
        if (sequence == UINT64_MAX || (s->needed_from <= sequence && sequence < s->needed_before))
            bytes += s->allocated;
    }
    pthread_mutex_unlock(&l->mutex);
    return bytes;
}
