/*
 * support/calls/update_calls.h -- updates of the collection "c" as text: queries,
 * operations, hints and answers as JSON in which single quotes stand for double ones. NULL: none.
 * One thread at a time.
 */
#ifndef SUPPORT_UPDATE_CALLS_H
#define SUPPORT_UPDATE_CALLS_H

#include "tansu.h"

/* update_text -- the answer of tansu_update() as relaxed JSON; or the name of the status and the
 * error's context, as "INVALID_QUERY $inc.a". Valid until the next call. */
const char *update_text(tansu_db *db, tansu_txn *txn, const char *query, const char *operations,
                        const char *hints);

/* find_and_modify_text -- the same of tansu_find_and_modify(); "" when there is no document. */
const char *find_and_modify_text(tansu_db *db, const char *query, const char *operations,
                                 const char *hints, tansu_modify_mode mode);

#endif
