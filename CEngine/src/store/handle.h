/*
 * store/handle.h -- counting the handles of a database: transactions, cursors and feeds. A database
 * that is closed while handles are open lives until the last one ends.
 */
#ifndef TANSU_STORE_HANDLE_H
#define TANSU_STORE_HANDLE_H

#include "store/database.h"
#include "util/interrupt.h"

/* Guarded by the database's mutex. */
typedef struct open_handles {
    uint64_t count; /* open transactions, cursors and feeds */
    bool closing;   /* tansu_close() was called while some were open; stored atomically */
} open_handles;

/* handle_inherited -- whether this process is a fork of the one that opened the database. It has
 * none of the threads, and a lock that one of them held is never released, so nothing of the
 * database may be used, closed or freed in it. */
bool handle_inherited(const database *db);

/* handle_check_process -- for calls that use a handle which is counted. Errors: INVALID_STATE (in a
 * fork of the process that opened the database). */
tansu_status handle_check_process(const database *db, tansu_error *error);

/* handle_acquire -- counts a handle. Errors: CLOSED, INVALID_STATE as above. */
tansu_status handle_acquire(database *db, tansu_error *error);

/* handle_check_open -- for calls too short to count. Errors: CLOSED, INVALID_STATE as above. */
tansu_status handle_check_open(database *db, tansu_error *error);

/* handle_release -- ends a handle. The last one closes a database whose closing was deferred. */
void handle_release(database *db);

/* ---- Maintenance ---- */

/*
 * The lock of tasks that need the log's segments to stay: compaction, backup, verification. One
 * runs at a time. It is taken before the snapshot that is worked on is acquired.
 */

typedef enum maintenance_task {
    MAINTENANCE_NONE,
    MAINTENANCE_BACKGROUND,
    MAINTENANCE_CALLED
} maintenance_task;

/* Guarded by the database's mutex; changes signal `changed`. */
typedef struct maintenance {
    maintenance_task running;
    uint32_t waiting; /* tasks that background compaction yields to */
} maintenance;

/* maintenance_begin -- takes the lock for a task that a user has called. Compaction in the
 * background yields to it and resumes some time after maintenance_end(). Errors: BUSY (another such
 * task is running). */
tansu_status maintenance_begin(database *db, tansu_error *error);
void maintenance_end(database *db);

/* maintenance_wait -- waits for the compaction that the database is catching up with, two seconds
 * at most; `stop`, which may be NULL, cancels that. */
void maintenance_wait(database *db, const interrupt *stop);

#endif
