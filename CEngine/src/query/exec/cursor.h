/*
 * query/exec/cursor.h -- running a compiled query: cursors, counts, record ids, explain.
 */
#ifndef TANSU_QUERY_EXEC_CURSOR_H
#define TANSU_QUERY_EXEC_CURSOR_H

#include "query/parse/query_compile.h"
#include "store/read_context.h"

/* One run of a query. */
typedef struct query_run query_run;

/*
 * query_start -- plans and begins. `collection` NULL is an empty one. `q`, the snapshot of the read
 * context and `snapshot`, which has the collections that $do names (NULL: none), must outlive the
 * run. In a write transaction all results are determined here, so that the transaction may continue
 * to write.
 */
tansu_status query_start(const query *q, const snapshot *snapshot, const read_context *rctx,
                         const collection_state *collection, query_run **result,
                         tansu_error *error);

/* query_next -- the next result: a stored document in place, a projected one, or the one document
 * of $onlycount and $explain. It is valid until the next call. TANSU_DONE at the end. */
tansu_status query_next(query_run *run, tansu_document *document, tansu_error *error);

/* query_end -- frees the run. NULL is allowed. */
void query_end(query_run *run);

/* query_count -- the number of matches, limited by $skip and $max. Counts index entries where these
 * are exact. */
tansu_status query_count(const query *q, const read_context *rctx,
                         const collection_state *collection, int64_t *count, tansu_error *error);

/* query_rids -- the record ids of all matches in the order of the results, for removing and
 * updating. The caller frees *rids. */
tansu_status query_rids(const query *q, const read_context *rctx,
                        const collection_state *collection, uint64_t **rids, size_t *count,
                        tansu_error *error);

/* query_explain -- runs the query to its end and appends the plan document to `result`. */
tansu_status query_explain(const query *q, const read_context *rctx,
                           const collection_state *collection, tansu_buffer *result,
                           tansu_error *error);

#endif
