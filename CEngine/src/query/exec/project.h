/*
 * query/exec/project.h -- applying $fields to a document.
 */
#ifndef TANSU_QUERY_EXEC_PROJECT_H
#define TANSU_QUERY_EXEC_PROJECT_H

#include "bson/writer.h"
#include "query/exec/rid_list.h"
#include "query/parse/parsed_query.h"
#include "query/parse/projection.h"

/* project -- replaces `out` by `document` as q->hints.fields projects it. For "path.$" it evaluates
 * on `stored`, the document before joins, which element matched. Errors: MEMORY, and those of
 * matching. */
tansu_status project(const query *q, match_context *context, const tansu_document *stored,
                     const tansu_document *document, tansu_buffer *out, tansu_error *error);

/* ---- Projecting index entries instead of documents ---- */

/* covering_has_values -- whether the values can be restored from an entry (index/type_tag.h). */
bool covering_has_values(entry_bytes entry);

/* covering_project -- replaces `out` by the projected document of an entry. `values` is scratch.
 * Errors: MEMORY, CORRUPT. */
tansu_status covering_project(const access_path *a, const bool *covered, entry_bytes entry,
                              tansu_buffer *values, tansu_buffer *out, tansu_error *error);

/* ---- Slices ---- */

/*
 * Writes a part of an array.
 */

/* write_slice -- appends an element with some elements of its array, renumbered. */
void write_slice(writer *w, const array_slice *slice, const doc_iter *element);

#endif
