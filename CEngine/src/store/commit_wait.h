/*
 * store/commit_wait.h -- waiting until a newer snapshot becomes visible. Change feeds wait here.
 *
 * A waiter counts itself in `commit_waiters` before it examines the visible snapshot; a commit
 * makes its snapshot visible before it examines the count. Both hold the snapshot mutex in between,
 * so one of them sees the other, and a commit without waiters costs one load.
 */
#ifndef TANSU_STORE_COMMIT_WAIT_H
#define TANSU_STORE_COMMIT_WAIT_H

#include "store/database.h"
#include "util/clock.h"

/* commit_wait -- waits until the visible snapshot is newer than `sequence`. DONE at `until`
 * (CLOCK_NEVER: no limit). `check` is called with `context` before each wait; an error from it ends
 * the wait. */
tansu_status commit_wait(database *db, uint64_t sequence, clock_time until,
                         tansu_status (*check)(void *context, tansu_error *error), void *context,
                         tansu_error *error);

/* commit_is_newer -- whether the visible snapshot is newer than `sequence`. */
bool commit_is_newer(database *db, uint64_t sequence);

/* commit_wait_wake -- has every waiter call its `check` again. */
void commit_wait_wake(database *db);

/* commit_wait_notify -- a snapshot has become visible. */
void commit_wait_notify(database *db);

#endif
