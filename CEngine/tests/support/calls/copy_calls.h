/*
 * support/calls/copy_calls.h -- a database in each of the ways in which it is copied.
 */
#ifndef SUPPORT_COPY_CALLS_H
#define SUPPORT_COPY_CALLS_H

#include "tansu.h"

/* How many ways there are. */
#define COPIES 5

/* copies_open -- closes a database, which is at "folder/name", and opens its copies: the files as a
 * killed process leaves them, a clone, a load of its dump, a restored backup, and what repair makes,
 * which must have no problem. The caller closes them. */
void copies_open(tansu_db *db, const char *folder, const char *name, tansu_db *copies[COPIES]);

#endif
