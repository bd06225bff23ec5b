/*
 * store/maintenance.h -- the lock of tasks that need the log's segments to stay: compaction,
 * backup, verification. One runs at a time.
 */
#ifndef TANSU_STORE_MAINTENANCE_H
#define TANSU_STORE_MAINTENANCE_H

#include "store/database.h"

/* maintenance_begin -- takes the lock for a task that a user has called. Compaction in the
 * background yields to it and resumes some time after maintenance_end(). Errors: BUSY (another such
 * task is running). */
tansu_status maintenance_begin(database *db, tansu_error *error);
void maintenance_end(database *db);

#endif
