/*
 * query/parse/condition.h -- a condition on one value, outside a query: the operand of $pull.
 */
#ifndef TANSU_QUERY_PARSE_CONDITION_H
#define TANSU_QUERY_PARSE_CONDITION_H

#include "query/match/matcher.h"

/* A compiled condition. Immutable: many threads may evaluate it. */
typedef struct condition condition;

/*
 * condition_compile -- compiles the operand: operators ({"$gt": 5}) test the value itself,
 * fields ({"name": "x", "age": {"$gt": 5}}) test a value that is a document, and nested
 * documents without operators are compared as a whole; anything else is compared with the value.
 * `context` is for errors. `collation` (NULL: by bytes) must outlive the condition. Errors:
 * INVALID_QUERY, TOO_LARGE, MEMORY.
 */
tansu_status condition_compile(const doc_value *operand, const char *context,
                               const collation *collation, condition **result, tansu_error *error);

/* condition_free -- NULL is allowed. */
void condition_free(condition *c);

/* condition_holds -- whether a value satisfies the condition: with operators as the value of a
 * field does (an array by itself or by an element), with fields if it is a document. */
bool condition_holds(const condition *c, match_context *context, const doc_value *value);

#endif
