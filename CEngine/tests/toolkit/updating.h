/*
 * toolkit/updating.h -- updates of the collection "c" in few words: queries, operations, hints and answers
 * as JSON in which single quotes stand for double ones. NULL: none. One thread at a time.
 */
#ifndef TOOLKIT_UPDATING_H
#define TOOLKIT_UPDATING_H

#include "tansu.h"

/* update_in -- the answer of tansu_update() as relaxed JSON; or the name of the status and the error's
 * context, as "INVALID_QUERY $inc.a". Valid until the next call. */
const char *update_in(tansu_db *db, tansu_txn *txn, const char *query, const char *operations,
                      const char *hints);

/* update_and_find -- the same of tansu_find_and_modify(); "" when there is no document. */
const char *update_and_find(tansu_db *db, const char *query, const char *operations,
                            const char *hints, tansu_modify_mode mode);

#endif
