/*
 * store/recovery/recovery.h -- recovery: the state of a database at opening is the last checkpoint
 * and the log after it.
 */
#ifndef TANSU_STORE_RECOVERY_RECOVERY_H
#define TANSU_STORE_RECOVERY_RECOVERY_H

#include "store/write_txn/write_txn.h"

/* recovery_run -- loads the checkpoint and replays the log after it; without a checkpoint that can
 * be used, rebuilds the indexes from the whole log. Errors: CORRUPT, IO, FULL, MEMORY,
 * UNSUPPORTED. */
tansu_status recovery_run(database *db, const tansu_options *options, tansu_error *error);

/* recovery_start_empty -- the snapshot before any commit. Errors: MEMORY. */
tansu_status recovery_start_empty(database *db, tansu_error *error);

/* recovery_follow -- of a database that another process writes: applies the commits after the head
 * snapshot up to `to`, which the log contains, and publishes the result as the next snapshot.
 * *reached: false when the log does not have all of them any more. After that, and after an error,
 * the database stays as it was and can't be continued. Errors: CORRUPT, IO, MEMORY, UNSUPPORTED. */
tansu_status recovery_follow(database *db, uint64_t to, bool *reached, tansu_error *error);

/* ---- Within the recovery ---- */

/* recovery_replay -- applies the log after the head snapshot. Compacted segments whose installation
 * is replayed become active. `exact`: location tables hold exactly what has been replayed, because
 * no block store was loaded. *reached: as in log_replay(). */
tansu_status recovery_replay(database *db, tansu_progress progress, void *progress_context,
                             bool exact, bool *reached, tansu_error *error);

/* recovery_compaction -- replays a RECORD_COMPACTION: brings the segment into force and relocates
 * the records that it holds. Errors: CORRUPT, IO, MEMORY. */
tansu_status recovery_compaction(write_txn *wtxn, const record_header *record,
                                 log_location location, tansu_error *error);

#endif
