/*
 * query/schema/schema.h -- schemas of documents: the common part of JSON Schema, as MongoDB's
 * `$jsonSchema`.
 */
#ifndef TANSU_QUERY_SCHEMA_SCHEMA_H
#define TANSU_QUERY_SCHEMA_SCHEMA_H

#include "bson/document.h"

/* A compiled schema. Immutable: any number of threads may use it. */
typedef struct schema schema;

/* schema_unwrap -- {"$jsonSchema": schema} becomes the schema; any other document stays. */
void schema_unwrap(doc_value *value);

/* schema_compile -- compiles a schema, a valid BSON document, which it copies. Errors:
 * INVALID_QUERY (the context is the keyword's path, such as "properties.age.minimum"), TOO_LARGE,
 * MEMORY. */
tansu_status schema_compile(const uint8_t *doc, size_t size, schema **result, tansu_error *error);

/* schema_free -- NULL is allowed. */
void schema_free(schema *s);

/* schema_check -- replaces `out` by {"violations": [{"path", "rule", "message"}, ...]}, at most
 * `limit` (0: all) in the order of the schema's keywords, and sets *count. `doc` is valid BSON.
 * Errors: INVALID_QUERY (a pattern exceeds the limits of one match), TOO_LARGE, MEMORY. */
tansu_status schema_check(const schema *s, const uint8_t *doc, size_t size, uint64_t limit,
                          tansu_buffer *out, uint64_t *count, tansu_error *error);

#endif
