/*
 * query/exec/subquery.h -- running the subqueries of a query before the query itself.
 */
#ifndef TANSU_QUERY_EXEC_SUBQUERY_H
#define TANSU_QUERY_EXEC_SUBQUERY_H

#include "query/parse/query_compile.h"
#include "store/read_context.h"

/*
 * query_expand -- turns conditions on what the references of the collection (NULL: none) lead to
 * into subqueries; those of the subqueries' own collections, too. Errors: those of compiling.
 *
 * query_resolve -- does that and runs all subqueries, the innermost first, in the snapshot of the
 * read context, and compiles the query with their values. To be called before the query is run; no
 * effect without either, and the second time. `snapshot` has the collections. `explained`: keeps
 * the plans of the subqueries for explain. Errors: those of a run, TOO_LARGE (values over the
 * memory limit of groups, with the subquery as context).
 */
tansu_status query_expand(query *q, const snapshot *snapshot, const collection_state *collection,
                          const struct interrupt *stop, tansu_error *error);
tansu_status query_resolve(query *q, const snapshot *snapshot, const read_context *rctx,
                           const collection_state *collection, bool explained, tansu_error *error);

#endif
