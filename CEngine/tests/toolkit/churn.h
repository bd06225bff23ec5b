/*
 * toolkit/churn.h -- a set of documents in the collection "c" that is saved over and over, so that segments of the log fill with
 * dead records, and that can be told to be whole: all documents then have one number.
 */
#ifndef TOOLKIT_CHURN_H
#define TOOLKIT_CHURN_H

#include "tansu.h"

#include <stdbool.h>

#define CHURN_LIVE 300 /* documents, of 2 KiB each */

/* churn -- saves all of them so many times; {_id, n, pad} with this n (0 or more) at the end. */
void churn(tansu_db *db, int rounds, int n);

/* churn_holds -- whether exactly these documents are there, with this n: checked. `txn` may be NULL. */
bool churn_holds(tansu_db *db, tansu_txn *txn, int n);

/* churn_holds_at -- the same of a closed database, which must open and pass verify. */
bool churn_holds_at(const char *path, int n);

#endif
