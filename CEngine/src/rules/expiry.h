/*
 * rules/expiry.h -- removing expired documents: those whose date, or the earliest of an array of
 * dates, in an index with the option expireAfterSeconds is that many seconds ago.
 *
 * The wall clock decides. Entries of the index up to a date are all that is looked at, and those of
 * one batch after the other are removed with their documents, each batch in a commit of its own:
 * writers wait for one batch at most. What references make of a removal is as with others
 * (rules/rules.h); a document whose removal they deny stays.
 */
#ifndef TANSU_RULES_EXPIRY_H
#define TANSU_RULES_EXPIRY_H

#include "store/database.h"

/* What a pass has done. */
typedef struct expiry_result {
    uint64_t removed; /* documents that expired; not what delete rules removed with them */
    uint64_t batches; /* commits */
    uint64_t denied;  /* removals of one document that were denied */
} expiry_result;

/* expiry_run -- one pass. After an error *result says what was removed before it. Errors: those of
 * the write lock, of a removal that are not one document's, and of a commit. */
tansu_status expiry_run(database *db, expiry_result *result, tansu_error *error);

/* expiry_enable -- the database makes passes in the background, unless it is read-only: after
 * opening, when such an index was created, and from then on at intervals. To be called after
 * opening. */
void expiry_enable(database *db);

#endif
