/*
 * query/parse/selector.h -- from a selector, or a condition inside one, to nodes.
 */
#ifndef TANSU_QUERY_PARSE_SELECTOR_H
#define TANSU_QUERY_PARSE_SELECTOR_H

#include "query/match/matcher.h"
#include "query/parse/parsed_query.h"

/* selector_parse -- sets q->root from a validated document that outlives the query. Errors:
 * INVALID_QUERY, TIMEOUT, CANCELLED, MEMORY. */
tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* subcondition_parse -- parses a condition on elements or keys that stands outside the selector.
 * `context` is for errors. Errors: as above. */
tansu_status subcondition_parse(query *q, const doc_value *operand, const char *context,
                                subcondition **result, tansu_error *error);

/* condition_is_on_value -- whether a condition on elements consists of operators on the value
 * itself, not of fields. For $and, $or, $nor and $not the first branch decides. */
bool condition_is_on_value(const doc_value *condition);

/* normalise -- brings a tree into the form that matcher and planner expect (node.h), in place. */
node *normalise(node *n);

/* ---- A condition on one value, outside a query: the operand of $pull ---- */

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
