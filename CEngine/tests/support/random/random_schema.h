/*
 * support/random/random_schema.h -- random schemas, valid and not, and documents of the few names
 * and values that they speak of, so that many documents satisfy them and many do not.
 */
#ifndef SUPPORT_RANDOM_SCHEMA_H
#define SUPPORT_RANDOM_SCHEMA_H

#include "support/random/random.h"

#include <bson/bson.h>
#include <stddef.h>

/* random_schema -- a new schema whose meaning schema_model.h knows; the caller ends it with
 * bson_destroy(). */
bson_t *random_schema(random_source *r);

/* random_invalid_schema -- the same with one fault; `path` becomes the path of the keyword that is
 * invalid, such as "properties.a.minimum". */
bson_t *random_invalid_schema(random_source *r, char *path, size_t path_size);

/* random_schema_document -- a new document, with that `_id` or, seldom, without one. */
bson_t *random_schema_document(random_source *r, int id);

#endif
