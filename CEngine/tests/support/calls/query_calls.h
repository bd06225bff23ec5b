/*
 * support/calls/query_calls.h -- queries as text: documents, queries, hints and answers as
 * (extended) JSON, read and written by libbson, so that the engine's own JSON code takes no part.
 */
#ifndef SUPPORT_QUERY_CALLS_H
#define SUPPORT_QUERY_CALLS_H

#include "support/calls/document_of.h"
#include "tansu.h"

#include <bson/bson.h>

/* memory_db_open -- an empty memory store. Ends the program when that fails, as everything here
 * does. */
tansu_db *memory_db_open(void);

/* memory_db_with -- a memory store with these documents in the collection "c"; NULL ends the
 * list. */
tansu_db *memory_db_with(const char *const *documents);

/* memory_db_close -- closes it; a failed check when something was still open. */
void memory_db_close(tansu_db *db);

/* bson_from_text -- BSON from JSON; single quotes stand for double ones, $REGEX and $TYPE for the
 * operators $regex and $type. NULL text: NULL. */
bson_t *bson_from_text(const char *json);

/* save_text -- saves a JSON document in the collection "c". */
void save_text(tansu_db *db, const char *json);
void save_bson(tansu_db *db, const bson_t *doc);

/* create_index -- creates an index of the collection "c". `options` may be NULL. */
void create_index(tansu_db *db, const char *name, const char *keys, const char *options);

/* find_ids -- the `_id`s of an answer in order, as relaxed JSON with spaces between; or the name of
 * the status and the error's context, as "INVALID_QUERY age.$gt". Valid until the next call. */
const char *find_ids(tansu_db *db, const char *query, const char *hints);

/* find_documents -- whole documents likewise, as relaxed JSON. */
const char *find_documents(tansu_db *db, const char *query, const char *hints);

/* count_matches -- the count, or -1 after an error. */
int64_t count_matches(tansu_db *db, const char *query, const char *hints);

/* plan_field -- one field of the plan, by dotted path, as relaxed JSON; "" when it is not there.
 * Valid until the next call. */
const char *plan_field(tansu_db *db, const char *query, const char *hints, const char *path);

#endif
