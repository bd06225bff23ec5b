/*
 * support/calls/call.h -- calls of tansu.h as text: in any collection, within a transaction or on
 * their own, with documents as (extended) JSON in which single quotes stand for double ones. What
 * failed is a status to be checked. One thread at a time, but for those that say so.
 */
#ifndef SUPPORT_CALL_H
#define SUPPORT_CALL_H

#include "support/calls/document_of.h"
#include "tansu.h"

#include <bson/bson.h>

/* What the last call that failed said. */
extern tansu_error call_error;

/* call_options -- defaults for tests: a persistent store at `path` (NULL: memory), commits that
 * survive a killed process (no test waits for the disk but those that ask), small segments, no
 * compaction by itself, which would be a commit that the test did not make. Any thread. */
tansu_options call_options(const char *path);

/* call_open -- opens with these options; ends the program when that fails. */
tansu_db *call_open(const char *path);
tansu_db *call_open_with(const tansu_options *options);

/* call_try_open -- the status of opening the database at a path, closed again at once. */
tansu_status call_try_open(const char *path);

/* call_close -- closes; a failed check when something was still open. */
void call_close(tansu_db *db);

/* call_begin -- a transaction; ends the program when that fails. */
tansu_txn *call_begin(tansu_db *db, tansu_txn_mode mode);

tansu_status call_save(tansu_db *db, tansu_txn *txn, const char *collection, tansu_save_mode mode,
                       const char *json);
tansu_status call_save_bson(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_save_mode mode, const bson_t *doc);
tansu_status call_remove(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                         int64_t *removed);
tansu_status call_remove_id(tansu_db *db, tansu_txn *txn, const char *collection, const char *id,
                            int *removed);
tansu_status call_index(tansu_db *db, tansu_txn *txn, const char *collection, const char *name,
                        const char *keys, const char *options);
/* check_definitions -- that each definition of an index gets its status, and if it is an error, with that
 * context (NULL: any), in an empty memory store. */
typedef struct definition_case {
    tansu_status status;
    const char *keys, *options, *context;
} definition_case;
void check_definitions(const definition_case *cases, size_t count);

tansu_status call_ensure(tansu_db *db, tansu_txn *txn, const char *collection, const char *options);

/* call_get -- the document as relaxed JSON, or the status' name. Valid until the next call but
 * seven. */
const char *call_get(tansu_db *db, tansu_txn *txn, const char *collection, const char *id);

/* call_find -- a query's documents as relaxed JSON with spaces between, or the status' name. */
const char *call_find(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                      const char *hints);

/* call_cursor -- an open cursor over a query; ends the program when that fails. */
tansu_cursor *call_cursor(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                          const char *hints);

/* call_next -- the next document as relaxed JSON, "" at the end, or the status' name. */
const char *call_next(tansu_cursor *cursor);

/* call_count -- the count, or minus the status. Any thread. */
int64_t call_count(tansu_db *db, tansu_txn *txn, const char *collection, const char *query);

/* call_collections / call_collection / call_referrers / call_indexes -- the answer of
 * tansu_collection_list(), tansu_collection_info(), tansu_collection_referrers() or
 * tansu_index_list() as relaxed JSON, or the status' name. */
const char *call_collections(tansu_db *db, tansu_txn *txn);
const char *call_collection(tansu_db *db, tansu_txn *txn, const char *name);
const char *call_referrers(tansu_db *db, tansu_txn *txn, const char *name);
const char *call_indexes(tansu_db *db, tansu_txn *txn, const char *collection);

/* call_statistic -- a whole number of tansu_stats(), by dotted path; -1 when it is not there. */
int64_t call_statistic(tansu_db *db, const char *path);

/* rekey_with -- tansu_rekey() with those members of a key. */
tansu_status rekey_with(tansu_db *db, const void *bytes, size_t size, tansu_key_kind kind,
                        uint32_t iterations, tansu_error *error);

#endif
