/*
 * store/background/worker.h -- the thread that syncs the log at intervals and writes checkpoints.
 */
#ifndef TANSU_STORE_BACKGROUND_WORKER_H
#define TANSU_STORE_BACKGROUND_WORKER_H

#include "store/database.h"

/* worker_stop -- ends the thread, which the first request of worker_note_commit() starts. */
void worker_stop(database *db);

/* worker_note_commit -- called by the writer after each commit of that many log bytes
 * and records. `sync_later`: the commit must be on the disk within the sync interval. */
void worker_note_commit(database *db, uint64_t bytes, uint64_t records, bool sync_later);

/* worker_note_replayed -- called at opening for each commit after the checkpoint: the first commit
 * requests a checkpoint if those are many. */
void worker_note_replayed(database *db, uint64_t bytes, uint64_t records);

#endif
