/*
 * support/workload/rewrite_workload.h -- a set of documents in the collection "c" that is saved
 * over and over, so that segments of the log fill with dead records. All documents have one
 * number, so that a mixture of rounds is detected.
 */
#ifndef SUPPORT_REWRITE_WORKLOAD_H
#define SUPPORT_REWRITE_WORKLOAD_H

#include "tansu.h"

#include <stdbool.h>

#define REWRITE_DOCUMENTS 300 /* documents, of 2 KiB each */

/* churn -- saves all of them this many times; {_id, n, pad} with this n (0 or more) at the end. */
void rewrite_all(tansu_db *db, int rounds, int n);

/* rewrite_check -- whether exactly these documents are there, with this n: checked. `txn` may be
 * NULL. */
bool rewrite_check(tansu_db *db, tansu_txn *txn, int n);

/* rewrite_check_closed -- the same of a closed database, which must open and pass verify. */
bool rewrite_check_closed(const char *path, int n);

#endif
