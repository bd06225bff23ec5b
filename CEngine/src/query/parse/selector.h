/*
 * query/parse/selector.h -- from a selector, or a condition inside one, to nodes.
 */
#ifndef TANSU_QUERY_PARSE_SELECTOR_H
#define TANSU_QUERY_PARSE_SELECTOR_H

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

#endif
