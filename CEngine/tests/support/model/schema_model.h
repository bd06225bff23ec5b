/*
 * support/model/schema_model.h -- the schema language a second time, as plainly as possible: with
 * libbson, interpreting the schema as it stands. Written from tansu.h and Schemas.md and not from
 * the engine; tests hold the two against each other.
 */
#ifndef SUPPORT_SCHEMA_MODEL_H
#define SUPPORT_SCHEMA_MODEL_H

#include "support/text.h"

#include <bson/bson.h>

/* schema_model_check -- appends a line "path: rule" for each violation of a document, in the order
 * that tansu.h defines; none when it is valid. The schema must be valid, its numbers as for
 * model_compare(), and its patterns either a set "[...]+" or characters, which "^" may precede and
 * "$" follow. */
void schema_model_check(const bson_t *schema, const bson_t *doc, text *found);

#endif
