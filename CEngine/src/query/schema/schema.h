/*
 * query/schema/schema.h -- schemas of documents: JSON Schema 2020-12 and the dialect of MongoDB's
 * `$jsonSchema` (docs/json-schema.md).
 */
#ifndef TANSU_QUERY_SCHEMA_SCHEMA_H
#define TANSU_QUERY_SCHEMA_SCHEMA_H

#include "bson/document.h"
#include "query/match/regex.h"

/* A compiled schema. Immutable: any number of threads may use it. */
typedef struct schema schema;

/* schema_unwrap -- {"$jsonSchema": schema} becomes the schema; any other document stays. */
void schema_unwrap(doc_value *value);

/* What a document is where a schema or a query may stand. */
typedef enum schema_or_query { IS_SCHEMA, IS_QUERY, IS_EITHER } schema_or_query;

/* schema_tell -- which of the two a document is. "$schema" makes it a schema. An operator makes it a
 * query: at the top ("$and"), or as the first key of a value ({"age": {"$gte": 0}}), where any key with
 * $ that is no keyword counts as one. Otherwise it is a schema if all of its keys are keywords and one
 * of them is a rule, and a query if none is a keyword. What is left may be meant as either: keywords
 * and other keys, or keywords without a rule, such as {"title": "x"}. {"$jsonSchema": schema} is a
 * schema. *keyword and *other are the first keys of the two kinds; NULL: none. */
schema_or_query schema_tell(const doc_value *document, const char **keyword, const char **other);

/* schema_compile -- compiles a schema, a valid BSON document, which it copies. Errors:
 * INVALID_QUERY (the context is the keyword's path, such as "properties.age.minimum"), TOO_LARGE,
 * MEMORY. */
tansu_status schema_compile(const uint8_t *doc, size_t size, schema **result, tansu_error *error);

/* schema_test_new -- the test of `$jsonSchema` in a query, which lives in the query's arena.
 * Without `$schema` the schema must be one of MongoDB's dialect. Errors: as schema_compile(), and
 * those of the deadline. */
tansu_status schema_test_new(arena *memory, regex **regexes, const doc_value *value,
                             const deadline *deadline, const struct document_test **result,
                             tansu_error *error);

/* schema_free -- NULL is allowed. */
void schema_free(schema *s);

/* schema_check -- replaces `out` by {"violations": [{"path", "rule", "message"}, ...]}, at most
 * `limit` (0: all) in the order of the schema's keywords, and sets *count. `doc` is valid BSON.
 * Errors: INVALID_QUERY (a pattern exceeds the limits of one match; references lead too deep or
 * need too many steps), TOO_LARGE, MEMORY. */
tansu_status schema_check(const schema *s, const uint8_t *doc, size_t size, uint64_t limit,
                          tansu_buffer *out, uint64_t *count, tansu_error *error);

/* schema_check_value -- the same of any value, such as an element of a document. */
tansu_status schema_check_value(const schema *s, const doc_value *value, uint64_t limit,
                                tansu_buffer *out, uint64_t *count, tansu_error *error);

#endif
