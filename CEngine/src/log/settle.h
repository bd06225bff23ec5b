/*
 * log/settle.h -- making the log's tail durable at opening, when a writer before may have failed to. Private to
 * the log part.
 *
 * After an fdatasync that failed, the kernel counts pages as written that are not on the disk: another
 * fdatasync succeeds and proves nothing. So the tail is written once more before anything else rests on it.
 */
#ifndef TANSU_LOG_SETTLE_H
#define TANSU_LOG_SETTLE_H

#include "log/segment.h"

/*
 * log_settle -- writes all bytes behind commit `sure` (on the disk already) once more and forces them to the
 * disk: into a new file of the segment where a sync has failed, else in place. The frame of commit `due` lies
 * at `offset` of segment `number`, from where on the log was walked. Errors: IO, FULL, MEMORY.
 */
tansu_status log_settle(log *l, uint64_t sure, uint32_t number, uint64_t offset, uint64_t due,
                        tansu_error *error);

#endif
