/*
 * query/exec/project.h -- applying $fields to a document.
 */
#ifndef TANSU_QUERY_EXEC_PROJECT_H
#define TANSU_QUERY_EXEC_PROJECT_H

#include "query/parse/parsed_query.h"

/* project -- replaces `out` by `document` as q->hints.fields projects it. For "path.$" it evaluates
 * on `stored`, the document before joins, which element matched. Errors: MEMORY, and those of
 * matching. */
tansu_status project(const query *q, match_context *context, const tansu_document *stored,
                     const tansu_document *document, tansu_buffer *out, tansu_error *error);

#endif
