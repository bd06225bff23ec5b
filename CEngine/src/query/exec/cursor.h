/*
 * query/exec/cursor.h -- running a compiled query: cursors, counts, record ids, explain.
 */
#ifndef TANSU_QUERY_EXEC_CURSOR_H
#define TANSU_QUERY_EXEC_CURSOR_H

#include "query/exec/external_sort.h"
#include "query/exec/sort.h"
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

/* query_end_timeout -- ends the timeout ($maxTimeMS) of the steps to come. */
void query_end_timeout(query_run *run);

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

/* ---- Hit list ---- */

/*
 * The results of a query in a write transaction, which are found at once:
 * a list in memory or, when it exceeds the memory of a sort, in a temporary file.
 */

/* Zero-initialised but for `spill`, it is empty. */
typedef struct hit_list {
    external_sort_options spill; /* of the temporary file; its memory is that of the list */
    hit *items;
    size_t count;
    size_t capacity;
    uint64_t next;
    external_sort *external; /* NULL: all are in `items` */
} hit_list;

void hit_list_free(hit_list *list);

/* hit_list_add -- appends one. Errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status hit_list_add(hit_list *list, const hit *h, tansu_error *error);

/* hit_list_finish -- after the last one. Errors: as above. */
tansu_status hit_list_finish(hit_list *list, tansu_error *error);

/* hit_list_next -- the next in the order in which they were added. TANSU_DONE at the end. Errors:
 * as above. */
tansu_status hit_list_next(hit_list *list, hit *h, tansu_error *error);

/* hit_list_spilled -- bytes written to temporary files. */
static inline uint64_t hit_list_spilled(const hit_list *list) {
    return list->external ? external_sort_spilled(list->external) : 0;
}

#endif
