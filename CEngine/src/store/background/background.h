/*
 * store/background/background.h -- the threads of a database: one syncs the log at intervals and
 * writes checkpoints, one compacts, and one removes expired documents. Each starts when it is first
 * needed.
 */
#ifndef TANSU_STORE_BACKGROUND_BACKGROUND_H
#define TANSU_STORE_BACKGROUND_BACKGROUND_H

#include "store/database.h"

/* worker_stop -- ends the thread, which the first request of worker_note_commit() starts. */
void worker_stop(database *db);

/* worker_note_commit -- called by the writer after each commit of that many log bytes
 * and records. `sync_later`: the commit must be on the disk within the sync interval. */
void worker_note_commit(database *db, uint64_t bytes, uint64_t records, bool sync_later);

/* worker_note_replayed -- called at opening for each commit after the checkpoint: the first commit
 * requests a checkpoint if those are many. */
void worker_note_replayed(database *db, uint64_t bytes, uint64_t records);

/* ---- The thread that compacts in the background ---- */

/*
 * It is not the worker's, whose syncs and checkpoints must not wait for a compaction.
 *
 * The compaction itself belongs to a higher part, which registers it with compactor_enable().
 */

/* What the thread runs. */
typedef struct compactor_calls {
    bool (*due)(database *db); /* whether there is something to do */
    void (*run)(database *db); /* does it; calls compactor_wait() between its slices */
} compactor_calls;

/* compactor_enable -- compaction runs in the background from now on; called after opening, before
 * another thread knows the database. */
void compactor_enable(database *db, const compactor_calls *calls);

/* compactor_request -- has the thread look for something to do; the first request starts it. A log
 * too small to be compacted starts none. */
void compactor_request(database *db);

/* compactor_catch_up -- requests a compaction that the next writer waits for (maintenance_wait()):
 * processes that were killed have left more dead bytes than the thread might ever compact between
 * two openings. */
void compactor_catch_up(database *db);

/* compactor_note_commit -- called after a commit that took `removed` bytes of live documents away,
 * or began a segment (`sealed`): requests a compaction when that is due. */
void compactor_note_commit(database *db, uint64_t removed, bool sealed);

/* compactor_finish -- at closing: has the thread do what is due, without rests, for two seconds at
 * most. compactor_stop -- has it stop; compactor_join() waits for that. */
void compactor_finish(database *db);
void compactor_stop(database *db);
void compactor_join(database *db);

/* compactor_wait -- waits that long, or until the thread is to stop or to yield: then false. At
 * closing it does not wait. */
bool compactor_wait(database *db, uint64_t nanoseconds);

/* ---- The thread that removes expired documents ---- */

/*
 * It waits for the write lock, as syncs, checkpoints and compactions must not.
 *
 * The pass itself belongs to a higher part, which registers it with expirer_enable().
 */

/* expirer_enable -- `run` is called by the thread at each request, and some time after it last
 * returned whether there is an index by which documents expire; between its steps it calls
 * expirer_wait(). Called after opening, before another thread knows the database. */
void expirer_enable(database *db, bool (*run)(database *db));

/* expirer_request -- has the thread make a pass now; the first request starts it. */
void expirer_request(database *db);

/* expirer_stop -- ends the thread. */
void expirer_stop(database *db);

/* expirer_wait -- waits that long, or until the thread is to stop: then false. */
bool expirer_wait(database *db, uint64_t nanoseconds);

#endif
