/*
 * store/handle.h -- counting the handles of a database: transactions, cursors and feeds. A database
 * that is closed while handles are open lives until the last one ends.
 */
#ifndef TANSU_STORE_HANDLE_H
#define TANSU_STORE_HANDLE_H

#include "store/database.h"

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

#endif
