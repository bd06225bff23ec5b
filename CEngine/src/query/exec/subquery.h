/*
 * query/exec/subquery.h -- running the subqueries of a query before the query itself.
 */
#ifndef TANSU_QUERY_EXEC_SUBQUERY_H
#define TANSU_QUERY_EXEC_SUBQUERY_H

#include "query/parse/query_compile.h"
#include "store/read_context.h"

/*
 * query_resolve -- runs all subqueries, the innermost first, in the snapshot of the read context,
 * and compiles the query with their values. To be called before the query is run; no effect without
 * subqueries, and the second time. `snapshot` has their collections. `explained`: keeps their plans
 * for explain. Errors: those of a run, TOO_LARGE (values over the memory limit of groups, with the
 * subquery as context).
 */
tansu_status query_resolve(query *q, const snapshot *snapshot, const read_context *rctx,
                           bool explained, tansu_error *error);

#endif
