/*
 * toolkit/ask.h -- questions to a database in few words: documents, queries, hints and answers as
 * (extended) JSON, read and written by libbson so that the engine's own code is no party to it.
 */
#ifndef TOOLKIT_ASK_H
#define TOOLKIT_ASK_H

#include "tansu.h"

#include <bson/bson.h>

/* ask_open -- an empty memory store. Ends the program when that fails, as everything here does. */
tansu_db *ask_open(void);

/* ask_close -- closes it; a failed check when something was still open. */
void ask_close(tansu_db *db);

/* ask_bson -- BSON from JSON; single quotes stand for double ones, $REGEX and $TYPE for the
 * operators $regex and $type. NULL text: NULL. */
bson_t *ask_bson(const char *json);

/* ask_save -- saves a JSON document in the collection "c". */
void ask_save(tansu_db *db, const char *json);
void ask_save_bson(tansu_db *db, const bson_t *doc);

/* ask_index -- creates an index of the collection "c". `options` may be NULL. */
void ask_index(tansu_db *db, const char *name, const char *keys, const char *options);

/* ask_ids -- the `_id`s of an answer in order, as relaxed JSON with spaces between; or the name of
 * the status and the error's context, as "INVALID_QUERY age.$gt". Valid until the next call. */
const char *ask_ids(tansu_db *db, const char *query, const char *hints);

/* ask_documents -- whole documents likewise, as relaxed JSON. */
const char *ask_documents(tansu_db *db, const char *query, const char *hints);

/* ask_count -- the count, or -1 after an error. */
int64_t ask_count(tansu_db *db, const char *query, const char *hints);

/* ask_plan -- one field of the plan, by dotted path, as relaxed JSON; "" when it is not there.
 * Valid until the next call. */
const char *ask_plan(tansu_db *db, const char *query, const char *hints, const char *path);

#endif
