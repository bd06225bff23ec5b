/*
 * query/query.h -- the query part: compiling queries and running them.
 *
 * The stages are folders. Each may use those before it:
 *
 *   util       deadline, cancellable sort, sets of keys
 *   text       searches for words: reading them, testing documents, highlights
 *   match      the tree of a selector (node.h); evaluating it on documents and values
 *   expression expressions of the aggregation language: compiling them, computing values
 *   schema     schemas of documents: compiling them, checking documents
 *   parse      selector and hints, as BSON, to a compiled query; everything unknown is an error
 *   plan       index bounds, access paths, candidate plans, costs
 *   exec       table scan, index scan, k-way merge, residual filter, sort, projection, joins,
 *              subqueries, explain
 *   aggregate  groups, accumulators, distinct values
 *   pipeline   the stages of pipelines, over the results of queries
 *   update     update operators, and updates by a pipeline
 *
 * Parsing comes after matching, because a parsed condition on elements holds its compiled matcher.
 */
#ifndef TANSU_QUERY_QUERY_H
#define TANSU_QUERY_QUERY_H

#include "bson/writer.h"
#include "query/exec/cursor.h"
#include "query/exec/subquery.h"
#include "query/parse/query_compile.h"

/* ---- Which collections a query reads ---- */

/* query_collections -- appends an element "collections", an array of names, each once: `own` first,
 * then those of joins and of subqueries at any depth. To be called after query_expand(). Errors:
 * MEMORY. */
tansu_status query_collections(const query *q, const char *own, writer *w, tansu_error *error);

#endif
