/*
 * store/maintenance.h -- the lock of tasks that need the log's segments to stay: compaction,
 * backup, verification. One runs at a time.
 */
#ifndef TANSU_STORE_MAINTENANCE_H
#define TANSU_STORE_MAINTENANCE_H

#include "store/database.h"
#include "util/interrupt.h"

/* maintenance_begin -- takes the lock for a task that a user has called. Compaction in the
 * background yields to it and resumes some time after maintenance_end(). Errors: BUSY (another such
 * task is running). */
tansu_status maintenance_begin(database *db, tansu_error *error);
void maintenance_end(database *db);

/* maintenance_wait -- waits for the compaction that the database is catching up with, two seconds
 * at most; `stop`, which may be NULL, cancels that. */
void maintenance_wait(database *db, const interrupt *stop);

#endif
