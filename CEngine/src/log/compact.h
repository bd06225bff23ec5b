/*
 * log/compact.h -- writing a run of segments anew without the records that nobody needs. Part log.
 *
 * The new segment covers the same commits; frames and records keep their order and their sequence
 * numbers. Copying goes on beside readers and writers; only log_compact_install() needs the writer's
 * turn. One compaction at a time.
 */
#ifndef TANSU_LOG_COMPACT_H
#define TANSU_LOG_COMPACT_H

#include "log/log.h"

typedef struct log_compaction log_compaction;

/* Says whether a record is kept; it goes to the place `to` then. An error ends the compaction. */
typedef tansu_status (*log_judge)(void *context, const record_header *record, log_place from,
                                  log_place to, bool *keep, tansu_error *error);

/* log_seal -- begins a new head, so that the one before can be compacted. The writer's turn is held and
 * no frame is being built. Errors: FULL, IO, MEMORY. */
tansu_status log_seal(log *l, tansu_error *error);

/* log_compact_begin -- for `count` segments in force that follow each other, none of them the head.
 * The last covers at least one commit. Errors: FULL, IO, MEMORY, TOO_LARGE. */
tansu_status log_compact_begin(log *l, const uint32_t *numbers, uint32_t count,
                               log_compaction **result, tansu_error *error);

/* log_compact_step -- copies on for about `bytes` of the old segments; *done adds what it read. TANSU_DONE
 * at the end. Errors: CORRUPT (a bad frame), FULL, IO, MEMORY, and the judge's. */
tansu_status log_compact_step(log_compaction *c, uint64_t bytes, log_judge judge, void *context,
                              uint64_t *done, tansu_error *error);

/* log_compact_finish -- brings the new segment to the disk under its name, and maps it. Errors: FULL, IO,
 * MEMORY. */
tansu_status log_compact_finish(log_compaction *c, tansu_error *error);

/* log_compact_install -- puts the new segment in force, in the writer's turn. The old ones are for
 * `retired`, which has room for them, to unmap; their files go at the log_discard() that follows a
 * checkpoint. Ends the compaction. Errors: MEMORY (nothing has happened then). */
tansu_status log_compact_install(log_compaction *c, retire_list *retired, tansu_error *error);

/* log_compact_cancel -- removes what was written and frees everything; fine on NULL. */
void log_compact_cancel(log_compaction *c);

/* log_compact_number -- of the new segment. */
uint32_t log_compact_number(const log_compaction *c);

/* log_compact_size -- bytes that were written so far. */
uint64_t log_compact_size(const log_compaction *c);

#endif
