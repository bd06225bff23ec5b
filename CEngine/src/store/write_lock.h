/*
 * store/write_lock.h -- the lock that admits one write transaction at a time.
 */
#ifndef TANSU_STORE_WRITE_LOCK_H
#define TANSU_STORE_WRITE_LOCK_H

#include "store/database.h"
#include "util/clock.h"
#include "util/interrupt.h"

#include <pthread.h>

struct shape_table;
struct write_txn;

/* The write lock, and what belongs to the transaction that holds it. */
typedef struct database_writer {
    bool locked;                /* guarded by the database's mutex */
    pthread_t thread;           /* valid while `locked`: detects a thread that waits for itself */
    struct write_txn *spare;    /* of the last transaction, with its memory, for the next */
    struct shape_table *shapes; /* of the collections' documents; NULL before the first */
    uint64_t next_epoch;
    uint32_t next_collection;
    uint32_t next_index;
} database_writer;

/* write_lock_acquire -- waits for the lock, at most as long as options.busy_timeout_ms; `stop`,
 * which may be NULL, cancels the wait. Errors: BUSY, READ_ONLY, SYNC_FAILED, CANCELLED. */
tansu_status write_lock_acquire(database *db, const interrupt *stop, tansu_error *error);

/* A caller that can be asked whether to go on waiting: its error ends the wait. */
typedef struct write_lock_caller {
    tansu_status (*ask)(void *context, tansu_error *error);
    void *context;
} write_lock_caller;

/* write_lock_acquire_asking -- the same, and asks the caller ten times a second while it waits. No
 * lock of the database is held then. */
tansu_status write_lock_acquire_asking(database *db, const write_lock_caller *caller,
                                       tansu_error *error);

/* write_lock_wake_waiters -- has the waiters check whether they were cancelled. */
void write_lock_wake_waiters(database *db);

void write_lock_release(database *db);

/* write_lock_check -- the errors of write_lock_acquire() that no wait resolves: READ_ONLY, and BUSY
 * when this thread itself holds the lock. */
tansu_status write_lock_check(database *db, tansu_error *error);

/* ---- Waiting until a newer snapshot becomes visible ---- */

/*
 * Change feeds wait here.
 *
 * A waiter counts itself before it examines the visible snapshot; a commit makes its snapshot
 * visible before it examines the count. Both hold the mutex of the snapshots in between, so one of
 * them sees the other, and a commit without waiters costs one load.
 */
typedef struct commit_waiters {
    pthread_mutex_t mutex;
    pthread_cond_t visible;
    uint32_t count; /* changed with the mutex held, read atomically by every commit */
} commit_waiters;

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
