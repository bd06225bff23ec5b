/*
 * query/join.h -- $do: in results, documents of other collections in place of their ids. Part query;
 * may call catalog, index and base.
 *
 * A join comes behind the match, $orderby and the window, and before $fields: it changes what is
 * shown and nothing else.
 */
#ifndef TANSU_QUERY_JOIN_H
#define TANSU_QUERY_JOIN_H

#include "query/internal.h"
#include "query/writer.h"

/* join_parse -- adds {path: {"$join": "collection"}, ...} to what q->hints.joins asks for; `context`
 * names the place in errors. Errors: INVALID_QUERY, MEMORY. */
tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error);

/* join_apply -- replaces `out` by the document with its ids replaced. `version` has the other
 * collections, as of the view. Errors: TOO_LARGE (the result is over the bounds of a document), IO,
 * CORRUPT, MEMORY. */
tansu_status join_apply(const keyset *joins, const version *version, const view *v,
                        const tansu_document *document, tansu_buffer *out, tansu_error *error);

/* join_explain -- appends "joins": [{"path": ..., "collection": ...}, ...]; nothing without joins. */
void join_explain(const keyset *joins, writer *w);

#endif
