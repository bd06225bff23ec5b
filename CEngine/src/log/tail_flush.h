/*
 * log/tail_flush.h -- making the end of the log durable at opening, when an earlier writer may have
 * failed to. Private to the log.
 *
 * After an fdatasync that failed, the kernel counts pages as written that are not on the disk:
 * another fdatasync succeeds and proves nothing. So the end of the log is written again before
 * anything depends on it.
 */
#ifndef TANSU_LOG_TAIL_FLUSH_H
#define TANSU_LOG_TAIL_FLUSH_H

#include "log/segment.h"

/*
 * tail_flush -- writes all bytes after commit `sure` (which is on the disk) again and syncs them:
 * into a new file of the segment where a sync has failed, else in place. The frame of commit `due`
 * lies at `offset` of segment `number`, where replay began. Errors: IO, FULL, MEMORY.
 */
tansu_status tail_flush(log *l, uint64_t sure, uint32_t number, uint64_t offset, uint64_t due,
                        tansu_error *error);

#endif
