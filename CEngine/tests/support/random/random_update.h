/*
 * support/random/random_update.h -- random calls that change a small collection, such that
 * update_model.h knows what they come to. Most are valid, some are not.
 */
#ifndef SUPPORT_RANDOM_UPDATE_H
#define SUPPORT_RANDOM_UPDATE_H

#include "support/random/random.h"

#include <bson/bson.h>

/* `_id`s of random documents and queries are below this. */
#define RANDOM_UPDATE_IDS 18

/* random_update_document -- a new document with this `_id`: "a" to "e" hold anything ("d" mostly
 * an array, "e" a number), "n" any number, "s" a text, "u" something that is often unique, "k" a
 * document with a "u". */
bson_t *random_update_document(random_source *r, int32_t id);

/* random_update_call -- {"mode": "update" | "before" | "after" | "remove", "query", "update",
 * "hints"}, or {"mode": "insert", "update"}. With `timed`, $currentDate may be among the
 * operators. */
bson_t *random_update_call(random_source *r, bool timed);

/* random_update_query -- a query of such documents. */
bson_t *random_update_query(random_source *r);

/* random_update_index -- the keys and options of an index on such documents; NULL after the
 * last. */
const char *random_update_index(unsigned number, const char **options);

/* random_update_unique -- the same of a unique index. */
const char *random_update_unique(unsigned number, const char **options);

/* ---- The parts of a call (random_update_operator.c) ---- */

/* random_update_scalar / random_update_value -- append a scalar; or also documents and arrays. */
void random_update_scalar(random_source *r, bson_t *doc, const char *key);
void random_update_value(random_source *r, bson_t *doc, const char *key, unsigned depth);

/* random_update_list -- appends an array of values. */
void random_update_list(random_source *r, bson_t *doc, const char *key);

/* random_update_text -- one of few texts that letter case and digits distinguish. */
const char *random_update_text(random_source *r);

/* random_update_condition -- appends a condition on one value: operators, or a value. */
void random_update_condition(random_source *r, bson_t *doc, const char *key);

/* random_update_filter -- the same for $pull and array filters, where it may also be a nested
 * document, which is compared as a whole. */
void random_update_filter(random_source *r, bson_t *doc, const char *key);

/* random_update_path -- a path without `$`. */
const char *random_update_path(random_source *r, char text[80]);

/* random_update_operators -- one to three operators, each on one or two paths. `place` is NULL, or
 * where one operator has to be, such as "a.$". */
bson_t *random_update_operators(random_source *r, const char *place, bool timed);

#endif
