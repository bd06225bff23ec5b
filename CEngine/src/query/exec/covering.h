/*
 * query/exec/covering.h -- projecting index entries instead of documents.
 */
#ifndef TANSU_QUERY_EXEC_COVERING_H
#define TANSU_QUERY_EXEC_COVERING_H

#include "query/exec/rid_list.h"

/* covering_has_values -- whether the values can be restored from an entry (index/type_tag.h). */
bool covering_has_values(entry_bytes entry);

/* covering_project -- replaces `out` by the projected document of an entry. `values` is scratch.
 * Errors: MEMORY, CORRUPT. */
tansu_status covering_project(const access_path *a, const bool *covered, entry_bytes entry,
                              tansu_buffer *values, tansu_buffer *out, tansu_error *error);

#endif
