/*
 * log/log_status.c -- the failed state of a log, the pages that could not be read, and its size.
 */
#include "log/log.h"

#include "log/segment_name.h"
#include "util/error.h"

#include <errno.h>

void log_fail(log *l, int number) {
    pthread_mutex_lock(&l->mutex);
    l->failed_errno = number;
    __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&l->mutex);
}

tansu_status log_read_error(const log *l, tansu_error *error) {
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
    for (uint32_t i = 0; i < l->active.count; i++)
        total.bytes += __atomic_load_n(&l->active.items[i]->allocated, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&l->mutex);
    return total;
}
