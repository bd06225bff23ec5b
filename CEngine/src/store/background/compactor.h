/*
 * store/background/compactor.h -- the thread that compacts in the background. It is not the
 * worker's, whose syncs and checkpoints must not wait for a compaction.
 *
 * The compaction itself belongs to a higher part, which registers it with compactor_enable().
 */
#ifndef TANSU_STORE_BACKGROUND_COMPACTOR_H
#define TANSU_STORE_BACKGROUND_COMPACTOR_H

#include "store/database.h"

/* What the thread runs. */
typedef struct compactor_calls {
    bool (*due)(database *db); /* whether there is something to do */
    void (*run)(database *db); /* does it; calls compactor_wait() between its slices */
} compactor_calls;

/* compactor_enable -- compaction runs in the background from now on; called after opening, before
 * another thread knows the database. */
void compactor_enable(database *db, const compactor_calls *calls);

/* compactor_request_if_due -- wakes the thread when there is something to do; the first request
 * starts it. */
void compactor_request_if_due(database *db);

/* compactor_stop -- has the thread stop; compactor_join() waits for that. */
void compactor_stop(database *db);
void compactor_join(database *db);

/* compactor_wait -- waits that long, or until the thread is to stop or to yield: then false. */
bool compactor_wait(database *db, uint64_t nanoseconds);

#endif
