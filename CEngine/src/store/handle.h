/*
 * store/handle.h -- counting the handles of a database: transactions, cursors and feeds. A database
 * that is closed while handles are open lives until the last one ends.
 */
#ifndef TANSU_STORE_HANDLE_H
#define TANSU_STORE_HANDLE_H

#include "store/database.h"

/* handle_acquire -- counts a handle. Errors: CLOSED. */
tansu_status handle_acquire(database *db, tansu_error *error);

/* handle_check_open -- for calls too short to count. Errors: CLOSED. */
tansu_status handle_check_open(database *db, tansu_error *error);

/* handle_release -- ends a handle. The last one closes a database whose closing was deferred. */
void handle_release(database *db);

#endif
