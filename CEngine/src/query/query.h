/*
 * query/query.h -- from a query and hints to documents: parsed query → normalised tree → plan →
 * cursor. Part query; may call catalog (views and versions), index (trees), base.
 *
 * The stages, a folder file or two each: parse (selector and hints to trees, every unknown thing an
 * error), normalise, match (raw BSON in place), bounds and plan (which ranges of which index, by cost
 * counted in the index itself), execute (scan, docno lists, ordered index walks), sort, project,
 * explain.
 */
#ifndef TANSU_QUERY_QUERY_H
#define TANSU_QUERY_QUERY_H

#include "catalog/view.h"

/* A query and its hints, checked and compiled. Immutable; may be run many times and by many threads. */
typedef struct query query;

/* What a compiled query takes at most, and what planning one run of it takes. */
#define QUERY_MEMORY ((size_t)256 * 1024 * 1024)
#define PLAN_MEMORY ((size_t)64 * 1024 * 1024)

/*
 * query_compile -- checks and compiles. NULL bytes mean empty; `stop` (NULL: nothing) and $maxTimeMS end
 * it. Errors: INVALID_BSON, INVALID_QUERY (context: dotted path and operator, such as "age.$gt" or
 * "hints.$orderby"), UNSUPPORTED for operators of docs/query-language.md that this version does not have
 * yet, TOO_LARGE (over QUERY_MEMORY), TIMEOUT, CANCELLED, MEMORY.
 */
tansu_status query_compile(const uint8_t *selector, size_t selector_size, const uint8_t *hints,
                           size_t hints_size, const struct interrupt *stop, query **result,
                           tansu_error *error);
void query_free(query *q);

/* One run of a query. */
typedef struct query_run query_run;

/*
 * query_start -- plans and begins. `collection` NULL is an empty one. `q` and the view's version must
 * outlive the run, and so must `version`, which has the collections that $do names (NULL: none). In a view with pending changes the whole answer is fixed here, so that the
 * transaction may go on writing.
 */
tansu_status query_start(const query *q, const version *version, const view *v,
                         const collection_state *collection, query_run **result,
                         tansu_error *error);

/* query_next -- the next result: a stored document in place, or a projected one, or the one document
 * of $onlycount / $explain, valid until the next call. TANSU_DONE at the end. */
tansu_status query_next(query_run *run, tansu_document *document, tansu_error *error);
void query_end(query_run *run);

/* query_count -- how many documents match ($skip and $max apply). Counts in the index alone where
 * that can't differ. */
tansu_status query_count(const query *q, const view *v, const collection_state *collection,
                         int64_t *count, tansu_error *error);

/* query_docnos -- the docnos of all matches in the answer's order ($orderby, $skip, $max apply), for
 * remove and update; the caller frees *docnos. */
tansu_status query_docnos(const query *q, const view *v, const collection_state *collection,
                          uint64_t **docnos, size_t *count, tansu_error *error);

/* query_explain -- runs the query to its end and appends the plan document to `result`. */
tansu_status query_explain(const query *q, const view *v, const collection_state *collection,
                           tansu_buffer *result, tansu_error *error);

#endif
