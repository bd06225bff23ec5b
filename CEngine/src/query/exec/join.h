/*
 * query/exec/join.h -- $do: replaces ids in results by documents of other collections, and slices
 * arrays.
 *
 * A join is applied after the match, $orderby and the window, and before $fields, so it changes the
 * contents of the results only.
 */
#ifndef TANSU_QUERY_EXEC_JOIN_H
#define TANSU_QUERY_EXEC_JOIN_H

#include "bson/writer.h"
#include "query/parse/join_spec.h"
#include "query/util/deadline.h"
#include "store/read_context.h"

/* join_apply -- replaces `out` by the document with its ids replaced. `snapshot` has the other
 * collections. Errors: TOO_LARGE (the result exceeds the limits of a document), IO, CORRUPT,
 * MEMORY, and those of deadline_check(). */
tansu_status join_apply(const key_set *joins, const snapshot *snapshot, const read_context *rctx,
                        const deadline *deadline, const tansu_document *document, tansu_buffer *out,
                        tansu_error *error);

/* join_explain -- appends "joins": [{"path": ..., "collection": ...} or {"path": ..., "skip": ...,
 * "count": ...}, ...]; nothing without $do. */
void join_explain(const key_set *joins, writer *w);

#endif
