/*
 * support/workload/log_workload.h -- a log by itself, with commits whose bytes follow from their
 * numbers, so that a replay can check them. Over the file calls of file_faults.h.
 */
#ifndef SUPPORT_LOG_WORKLOAD_H
#define SUPPORT_LOG_WORKLOAD_H

#include "log/log.h"
#include "tansu.h"

#define MIB ((uint64_t)1 << 20)

/* What the last call that failed said. */
extern tansu_error log_workload_error;

/* What a replay saw. */
typedef struct log_workload_seen {
    uint64_t frames;
    uint64_t records;
    uint64_t last;
    bool wrong;
} log_workload_seen;

/* log_workload_open -- opens a log in a folder (NULL: in memory), with segments of one MiB. */
tansu_status log_workload_open(const char *folder, bool read_only, log **l);

/* log_workload_start -- an empty log; no file call fails. Ends the program when that fails. */
log *log_workload_start(const char *folder);

/* log_workload_record -- a record of `size` bytes of payload in the frame being built. */
tansu_status log_workload_record(log *l, uint64_t sequence, uint32_t number, uint32_t size);

/* log_workload_commit -- a commit of this many records of that size each. */
void log_workload_commit(log *l, uint64_t sequence, uint32_t records, uint32_t size);

/* log_workload_visit -- a log_visitor; `context` is a log_workload_seen. Checks that the frame
 * holds what log_workload_commit() wrote. */
tansu_status log_workload_visit(void *context, const frame_header *frame, log_location location,
                                tansu_error *error);

/* log_workload_replay -- opens the log, replays it, checks the commits, and leaves it open.
 * `sure` is the commit that must be there. */
tansu_status log_workload_replay(const char *folder, bool read_only, uint64_t sure,
                                 log_workload_seen *s, log **l);

/* log_workload_count -- how many commits a log holds, opened read-only; or minus the status. */
int64_t log_workload_count(const char *folder, uint64_t sure);

/* log_workload_kill -- ends a log as a killed process does: nothing is trimmed. */
void log_workload_kill(log *l);

/* log_workload_zero_after_head -- whether everything after the newest frame is zero. */
bool log_workload_zero_after_head(const log *l);

#endif
