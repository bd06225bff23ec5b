/*
 * catalog/compact.h -- giving the room of dead records back: which segments of the log are written
 * anew, what is kept of them, and how the places follow. Part catalog.
 *
 * Adjacent sealed segments become one compacted segment (log/compact.h) with those records that
 * still count as of a commit that is on the disk. Then, in the writer's turn, the places of what was
 * moved are stored, a commit records that the new segment is in force, and a checkpoint lists it;
 * only then are the old files removed. Readers of older versions go on in the old segments, which
 * stay mapped until those readers end.
 */
#ifndef TANSU_CATALOG_COMPACT_H
#define TANSU_CATALOG_COMPACT_H

#include "catalog/change.h"

/* What a compaction has done. */
typedef struct compact_figures {
    uint64_t before; /* bytes of the log's and the cabinet's files */
    uint64_t after;
    uint64_t segments; /* written anew */
    uint64_t records;  /* left out */
} compact_figures;

/* compact_all -- tansu_compact(): all segments that are worth it, the head included, and the cabinet. */
tansu_status compact_all(database *db, tansu_task_progress progress, void *context,
                         compact_figures *figures, tansu_error *error);

/* compact_background -- what the options ask for, at their share of the time; ends early when the
 * database is being closed. Upkeep is this thread's. */
void compact_background(database *db);

/* compact_due -- whether there is something to do in the background. */
bool compact_due(database *db);

/* compact_dead -- bytes of records in the log that no version needs any more. */
uint64_t compact_dead(database *db);

/* compact_replay -- a RECORD_COMPACTION of the log's tail: brings the segment into force and the places
 * to it. Errors: CORRUPT, IO, MEMORY. */
tansu_status compact_replay(change *c, const record_header *record, log_place place,
                            tansu_error *error);

/* compact_mark -- says in the MANIFEST that compaction is at work, or was: the log may hold compacted
 * segments, and their numbers have gaps. Errors: FULL, IO. */
tansu_status compact_mark(database *db, tansu_error *error);

/* ---- Within the part ---- */

/* A run of adjacent segments that become one. */
typedef struct compact_run {
    uint32_t *numbers; /* freed with compact_plan_free() */
    uint32_t count;
    uint64_t bytes; /* used by them */
    uint64_t left;  /* what will be left of them, about */
} compact_run;

typedef struct compact_plan {
    compact_run *runs;
    uint32_t count;
    uint64_t bytes;
    bool head; /* the last run ends with the head, which must be sealed first */
} compact_plan;

/* compact_plan_make -- which runs are worth it when segments with `percent` of dead bytes are.
 * `with_head`: also the head; the writer's turn is held then. `room`: about what the new segments may
 * take each; one that alone takes more is there all the same. Errors: MEMORY. */
tansu_status compact_plan_make(database *db, uint32_t percent, bool with_head, uint64_t room,
                               compact_plan *plan, tansu_error *error);
void compact_plan_free(compact_plan *plan);

/* Called between slices of the copying with the bytes read since the last call; an error ends it. */
typedef tansu_status (*compact_pause)(void *context, uint64_t bytes, tansu_error *error);

/* compact_segments -- one run, from beginning to end. Upkeep is this thread's. */
tansu_status compact_segments(database *db, const compact_run *run, compact_pause pause,
                              void *context, compact_figures *figures, tansu_error *error);

/* ---- The thread (catalog/compactor.c) ---- */

/* compactor_order -- has it look for something to do; starts it with the first order. */
void compactor_order(database *db);

/* compactor_halt -- tells it to stop; compactor_join waits for that. */
void compactor_halt(database *db);
void compactor_join(database *db);

/* compactor_wait -- waits so long, or until it is told to stop or to give way: then false. */
bool compactor_wait(database *db, uint64_t nanoseconds);

/* upkeep_begin -- has the log's segments stay for a task that was asked for: compaction in the background
 * gives way to it, and goes on some time after upkeep_end(). Errors: BUSY (another such task is at it). */
tansu_status upkeep_begin(database *db, tansu_error *error);
void upkeep_end(database *db);

#endif
