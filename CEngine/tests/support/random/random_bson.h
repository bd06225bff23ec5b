/*
 * support/random/random_bson.h -- random BSON, built with libbson so that the engine's own code is
 * no party to it: every kind of value, nested, with hostile numbers and texts.
 */
#ifndef SUPPORT_RANDOM_BSON_H
#define SUPPORT_RANDOM_BSON_H

#include "support/random/random.h"

#include <bson/bson.h>

/* random_append_number -- appends an int32, int64, double or decimal128. Many lie near the places
 * where the types differ (2^53, 2^63, halves, the greatest and least double), and the same value
 * comes in several types. */
void random_append_number(random_source *source, bson_t *doc, const char *key, int key_size);

/* random_append_value -- appends a value of any kind. Values come from small ranges, so that two of
 * them are often equal or nearly so. `depth` is how many levels it may have inside. */
void random_append_value(random_source *source, bson_t *doc, const char *key, int key_size,
                         int depth);

/* random_append_fields -- appends up to `most` fields with different names out of a small set ("a",
 * "b", …, also an empty one, "0" and names of several bytes a character). */
void random_append_fields(random_source *source, bson_t *doc, unsigned most, int depth);

/* random_document -- a new document of up to eight fields, without `_id`, that may be stored; the
 * caller ends it with bson_destroy(). */
bson_t *random_document(random_source *source);

/* random_text -- writes up to `most` characters (ASCII, several bytes a character, sometimes NUL)
 * and a terminator; returns the size without it. There must be space for 4 * most + 1. */
size_t random_text(random_source *source, char *text, size_t most);

#endif
