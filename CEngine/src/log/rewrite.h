/*
 * log/rewrite.h -- rewriting a run of segments as one compacted segment, without the records that
 * are not needed.
 *
 * The new segment covers the same commits; frames and records keep their order and their sequence
 * numbers. Copying runs concurrently with readers and writers; only log_compact_install() needs the
 * write lock. One compaction runs at a time.
 */
#ifndef TANSU_LOG_REWRITE_H
#define TANSU_LOG_REWRITE_H

#include "log/compressed/codec.h"
#include "log/log.h"

typedef struct log_compaction log_compaction;

/* Decides whether a record is kept; `to` is its new location then. An error ends the
 * compaction. */
typedef tansu_status (*log_compaction_filter)(void *context, const record_header *record,
                                              log_location from, log_location to, bool *keep,
                                              tansu_error *error);

/* log_seal -- begins a new head, so that the one before can be compacted. The write lock is held
 * and no frame is being built. Errors: FULL, IO, MEMORY. */
tansu_status log_seal(log *l, tansu_error *error);

/* log_compact_begin -- for `count` active segments that follow each other, none of them the head.
 * The last covers at least one commit. What is left out was replaced by commits up to `synced`, which
 * are on the disk. Errors: FULL, IO, MEMORY, TOO_LARGE. */
tansu_status log_compact_begin(log *l, const uint32_t *numbers, uint32_t count, uint64_t synced,
                               log_compaction **result, tansu_error *error);

/* Whether the records of a collection are to be compressed. */
typedef bool (*log_compaction_compresses)(void *context, uint32_t collection);

/* log_compact_compress -- makes the new segment a compressed one; before the first step. Errors:
 * MEMORY. */
tansu_status log_compact_compress(log_compaction *c, enum codec codec,
                                  log_compaction_compresses compresses, void *context,
                                  tansu_error *error);

/* log_compact_step -- continues copying for about `bytes` of the old segments; *done adds what it
 * read. TANSU_DONE at the end. Errors: CORRUPT (a bad frame), FULL, IO, MEMORY, and the
 * filter's. */
tansu_status log_compact_step(log_compaction *c, uint64_t bytes, log_compaction_filter filter,
                              void *context, uint64_t *done, tansu_error *error);

/* log_compact_finish -- syncs the new segment, renames it to its name, and maps it. `reduced`: what
 * SEGMENT_REDUCED says. Errors: FULL, IO, MEMORY. */
tansu_status log_compact_finish(log_compaction *c, bool reduced, tansu_error *error);

/* log_compact_first -- the first commit that it covers. */
uint64_t log_compact_first(const log_compaction *c);

/* log_compact_install -- activates the new segment with commit `sequence`, with the write lock
 * held. The old ones go to `retired`, which has capacity for them, and are unmapped from there;
 * snapshots of epochs before `birth` do not need them. The log_remove_obsolete() that follows a
 * checkpoint removes their files. Ends the compaction. Errors: MEMORY (nothing has happened
 * then). */
tansu_status log_compact_install(log_compaction *c, uint64_t sequence, uint64_t birth,
                                 retire_list *retired, tansu_error *error);

/* log_compact_cancel -- removes what was written and frees everything; fine on NULL. */
void log_compact_cancel(log_compaction *c);

/* log_compact_number -- of the new segment. */
uint32_t log_compact_number(const log_compaction *c);

#endif
