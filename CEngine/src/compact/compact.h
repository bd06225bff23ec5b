/*
 * compact/compact.h -- compaction: rewriting segments of the log to reclaim the space of dead
 * records.
 *
 * Adjacent sealed segments become one compacted segment (log/rewrite.h) with the records that are
 * live as of a commit that is on the disk. Then, with the write lock held, the locations of the
 * moved records are updated, a commit records that the new segment is active, and a checkpoint
 * lists it; only then are the old files removed. Readers of older snapshots keep reading those old
 * segments that have commits which they see, which stay mapped until those readers end.
 */
#ifndef TANSU_COMPACT_COMPACT_H
#define TANSU_COMPACT_COMPACT_H

#include "store/key_file.h"
#include "store/write_txn/write_txn.h"
#include "util/table.h"

/* What a compaction has done. */
typedef struct compact_result {
    uint64_t before; /* bytes of the log's and the block store's files */
    uint64_t after;
    uint64_t segments; /* rewritten */
    uint64_t records;  /* left out */
} compact_result;

/* compact_all -- tansu_compact(): all segments that are worth rewriting, the head included, and the
 * block store. */
tansu_status compact_all(database *db, tansu_progress progress, void *context,
                         compact_result *result, tansu_error *error);

/* compact_rekey -- tansu_rekey_everything(): a new data key, with which all is encrypted anew. */
tansu_status compact_rekey(database *db, const user_key *key, tansu_progress progress,
                           void *context, tansu_error *error);

/* compact_enable -- the database compacts in the background, as its options say. To be called after
 * opening. */
void compact_enable(database *db);

/* compact_dead -- bytes of records in the log that no snapshot needs any more. */
uint64_t compact_dead(database *db);

/* ---- Within the part ---- */

/* compact_log_due -- whether segments are to be compacted in the background. */
bool compact_log_due(database *db);

/* compact_is_behind -- whether by far more is dead than the background leaves. */
bool compact_is_behind(database *db);

/* A run of adjacent segments that become one. */
typedef struct compact_run {
    uint32_t *numbers; /* freed with compact_plan_free() */
    uint32_t count;
    uint64_t bytes; /* used by them */
    uint64_t left;  /* what will be left of them, about */
    bool compress;  /* into a compressed segment */
} compact_run;

typedef struct compact_plan {
    compact_run *runs;
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes;
    bool head;     /* the last run ends with the head, which must be sealed first */
    bool head_due; /* the head is worth rewriting in the background, in the plan or not */
} compact_plan;

/* compact_plan_make -- which runs are worth rewriting when segments with `percent` of dead bytes
 * are; 0: all of them. `with_head`: also the head; the write lock is held then. `limit`: the approximate size of
 * each new segment; a single segment that needs more is included all the same. Errors: MEMORY. */
tansu_status compact_plan_make(database *db, uint32_t percent, bool with_head, uint64_t limit,
                               compact_plan *plan, tansu_error *error);
void compact_plan_free(compact_plan *plan);

/* compact_keeps_setting -- whether a record of a collection that is there as of the snapshot stays:
 * those that create and drop an index, and set an option, do only as far as they are needed to have
 * the collection as it is. `settled` holds what is known of the run so far, empty at first; its
 * items are freed with free(). `from_start`: the run begins with the log. */
bool compact_keeps_setting(table *settled, const collection_state *state,
                           const record_header *record, bool from_start);

/* Called between slices of the copying with the bytes read since the last call; an error ends
 * it. */
typedef tansu_status (*compact_pause)(void *context, uint64_t bytes, tansu_error *error);

/* compact_segments -- one run, from beginning to end. The maintenance lock is held. */
tansu_status compact_segments(database *db, const compact_run *run, compact_pause pause,
                              void *context, compact_result *result, tansu_error *error);

#endif
