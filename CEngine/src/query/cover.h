/*
 * query/cover.h -- projected documents from an index alone. Part query; may call index.
 */
#ifndef TANSU_QUERY_COVER_H
#define TANSU_QUERY_COVER_H

#include "query/docnos.h"

/* cover_find -- whether the query's $fields shows nothing but paths of the index: *shown tells which,
 * NULL when not. Errors: MEMORY, IO, CORRUPT. */
tansu_status cover_find(planner *p, const access *a, const bool **shown);

/* cover_tells -- whether an entry gives back its values (index/form.h). */
bool cover_tells(entry_bytes entry);

/* cover_write -- replaces `out` by the document that the projection leaves of the one that an entry is
 * of; `values` is scratch. Errors: MEMORY, CORRUPT. */
tansu_status cover_write(const access *a, const bool *shown, entry_bytes entry,
                         tansu_buffer *values, tansu_buffer *out, tansu_error *error);

#endif
