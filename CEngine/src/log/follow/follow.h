/*
 * log/follow/follow.h -- the log in a process that reads while another one appends
 * (docs/readers.md).
 *
 * The writer sets the mark `written` in the file TAIL after each commit, and a clean end clears it,
 * when the MANIFEST says where the log ends. So the reader knows up to which commit the log is
 * whole, and examines no byte after it: what follows may be truncated at any time.
 */
#ifndef TANSU_LOG_FOLLOW_FOLLOW_H
#define TANSU_LOG_FOLLOW_FOLLOW_H

#include "log/log.h"
#include "log/tail.h"

/* log_follow_begin -- maps the file TAIL, if it is there. */
void log_follow_begin(log *l);

/* log_follow_unchanged -- whether the marks are those that log_follow_seen() was last called with:
 * two loads, and no system call. */
static inline bool log_follow_unchanged(const log *l) {
    const tail_file *tail = __atomic_load_n(&l->watched, __ATOMIC_ACQUIRE);
    return tail != NULL &&
           __atomic_load_n(&tail->written, __ATOMIC_ACQUIRE) ==
               __atomic_load_n(&l->seen.written, __ATOMIC_RELAXED) &&
           __atomic_load_n(&tail->sessions, __ATOMIC_RELAXED) ==
               __atomic_load_n(&l->seen.sessions, __ATOMIC_RELAXED);
}

/* log_follow_look -- reads the marks: *to is the last commit of the log, 0 when it is not known.
 * False when what was read of the log is not valid any more, because a writer had to rewrite its
 * end. One thread at a time, here and below. */
bool log_follow_look(log *l, log_seen *seen, uint64_t *to);

/* log_follow_intact -- whether what has been read of the log's end is of one log: no writer has
 * rewritten it since log_open(), or since a log_follow_look() that found so. */
bool log_follow_intact(const log *l);

/* log_follow_seen -- everything up to what log_follow_look() returned has been read. */
void log_follow_seen(log *l, const log_seen *seen);

/* log_follow -- calls the visitor for the frames after the last one up to commit `to`, which the
 * log contains; maps the segments that they are in. *reached: false when one of them is not there
 * any more, or a writer rewrote the log's end meanwhile. Snapshots that are held are not affected.
 * Errors: CORRUPT, IO, MEMORY, and the visitor's; then the log is fit for closing only. */
tansu_status log_follow(log *l, uint64_t to, log_visitor visitor, void *context, bool *reached,
                        tansu_error *error);

/* log_follow_compacted -- maps a compacted segment, so that log_activate() finds it. Errors:
 * CORRUPT, IO, MEMORY. */
tansu_status log_follow_compacted(log *l, uint32_t number, tansu_error *error);

/* log_follow_retire -- moves the mappings that snapshots up to the present one may use, and later
 * ones do not, to a list. Errors: MEMORY. */
tansu_status log_follow_retire(log *l, retire_list *retired, tansu_error *error);

/* log_follow_keep -- takes back what the last call moved, when the list was dropped instead. */
void log_follow_keep(log *l);

/* What the marks say of removed segments; all zero when there are none. */
typedef struct log_removals {
    uint64_t bytes;    /* of the files that were removed */
    uint64_t sessions; /* a writer that begins may have removed some before it counts */
    uint64_t limit;    /* max_pinned_bytes of the last writer; 0: none */
    uint64_t grows_to; /* the size that its last segment may get; 0: not known */
} log_removals;

log_removals log_follow_removals(const log *l);

/* log_follow_measure -- bytes that the files may have that are mapped, the last one when it is
 * full, and bytes of those among them that have no name any more, and so take up disk space for
 * this reader alone. With NULL for `removed` no file is looked for. By the thread that follows the
 * log. */
void log_follow_measure(log *l, uint64_t *mapped, uint64_t *removed);

#endif
