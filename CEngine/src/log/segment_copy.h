/*
 * log/segment_copy.h -- copying the log's bytes, segment by segment, for a backup.
 *
 * Committed bytes never change, so they are read concurrently with the writer and without a lock.
 * The caller ensures that no segment is removed meanwhile (store/maintenance.h).
 */
#ifndef TANSU_LOG_SEGMENT_COPY_H
#define TANSU_LOG_SEGMENT_COPY_H

#include "log/log.h"

/* Where the bytes go: for each segment begin, bytes (several times) and end. */
typedef struct log_copy_target {
    void *context;
    tansu_status (*begin)(void *context, const log_extent *segment, tansu_error *error);
    tansu_status (*bytes)(void *context, const uint8_t *bytes, size_t size, tansu_error *error);
    tansu_status (*end)(void *context, tansu_error *error);
} log_copy_target;

/* At most that many bytes are handed over at a time. */
#define LOG_COPY_STEP (1024u * 1024u)

/*
 * log_copy -- shows the target the segments that hold the commits up to `sequence`, which ended at
 * `position` (both a snapshot's), the last one cut after that commit. Every header and frame is
 * checked before it is handed over. Errors: CORRUPT (context: file, offset), IO, MEMORY and the
 * target's.
 */
tansu_status log_copy(log *l, uint64_t sequence, uint64_t position, const log_copy_target *target,
                      tansu_error *error);

#endif
