/*
 * query/parse/query_compile.h -- from a selector and hints, both BSON, to a compiled query.
 */
#ifndef TANSU_QUERY_PARSE_QUERY_COMPILE_H
#define TANSU_QUERY_PARSE_QUERY_COMPILE_H

#include "bson/document.h"
#include "query/match/match_context.h"
#include "query/match/node.h"

/* A validated and compiled query. Immutable: it may be run many times and by many threads; with
 * subqueries only once query_resolve() has been called, and for its snapshot. */
typedef struct query query;

/* The memory limit of a compiled query. */
#define QUERY_MEMORY ((size_t)256 * 1024 * 1024)

/*
 * query_compile -- validates and compiles. NULL bytes are an empty document. `stop` (NULL: none)
 * and $maxTimeMS end it. Errors: INVALID_BSON, INVALID_QUERY (context: dotted path and operator,
 * such as "age.$gt" or "hints.$orderby"), TOO_LARGE (over QUERY_MEMORY), TIMEOUT, CANCELLED,
 * MEMORY.
 */
tansu_status query_compile(const uint8_t *selector, size_t selector_size, const uint8_t *hints,
                           size_t hints_size, const struct interrupt *stop, query **result,
                           tansu_error *error);

/* query_compile_alone -- the same without hints for a query that is evaluated where no collection
 * can be read: subqueries are INVALID_QUERY. */
tansu_status query_compile_alone(const uint8_t *selector, size_t size, query **result,
                                 tansu_error *error);

/* query_compile_alone_in -- the same where $expr sees the variables that are in the scope of a
 * compiler, which outlives the query. Its evaluation is the one of the match context. `takes_text`:
 * $text is allowed, and no test of a document, for the query that reads the collection has it. */
struct expression_compiler;
tansu_status query_compile_alone_in(struct expression_compiler *scope, const uint8_t *selector,
                                    size_t size, bool takes_text, query **result,
                                    tansu_error *error);

/* query_compile_in -- query_compile() with the variables of a compiler, which outlives the
 * query. Their values are known. */
tansu_status query_compile_in(struct expression_compiler *scope, const uint8_t *selector,
                              size_t selector_size, const uint8_t *hints, size_t hints_size,
                              const struct interrupt *stop, query **result, tansu_error *error);

/* query_compile_filter -- the same for an array filter: a nested document without operators is
 * compared as a whole. */
tansu_status query_compile_filter(const uint8_t *selector, size_t selector_size,
                                  const uint8_t *hints, size_t hints_size, query **result,
                                  tansu_error *error);

/* query_selector -- the selector that it was compiled from. Where query_resolve() turned conditions
 * on what references lead to into subqueries, it has these. It lives as long as the query. */
doc_value query_selector(const query *q);

/* query_free -- NULL is allowed. */
void query_free(query *q);

/* query_matches -- whether a document matches the selector; context->status says whether the result
 * is valid. Not of what query_compile() returns: runs make matchers of their own. */
bool query_matches(const query *q, match_context *context, const uint8_t *doc, size_t size);

/* ---- Implied tests ---- */

/*
 * What a condition on elements says of the document's paths, for the
 * planner.
 */

/*
 * implied_tests_add -- sets *planned to a tree that selects the same documents as q->root: next to
 * each $elemMatch and $allMatch are tests that every document passes which satisfies it. Where
 * {"lines": {"$elemMatch": {"product": 7, "count": {"$gt": 2}}}} holds, so do {"lines.product": 7}
 * and {"lines.count": {"$gt": 2}}, which have index bounds. The matcher needs none of them.
 *
 * It is q->root itself where there is nothing to add. Errors: MEMORY.
 */
tansu_status implied_tests_add(query *q, node **planned, tansu_error *error);

#endif
