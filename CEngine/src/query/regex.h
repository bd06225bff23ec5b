/*
 * query/regex.h -- regular expressions: PCRE2 with bounds, so that no pattern keeps a query busy
 * without end. Part query; may call base.
 */
#ifndef TANSU_QUERY_REGEX_H
#define TANSU_QUERY_REGEX_H

#include "query/internal.h"

/* regex_compile -- `options`: letters of i (letter case), m (^ and $ at lines), s (a dot is any
 * character), x (space and comments in the pattern), u (UTF-8, as always). The query frees it.
 * Errors: INVALID_QUERY (context: place), MEMORY. */
tansu_status regex_compile(query *q, const char *pattern, size_t size, const char *options,
                           bool ignore_case, const char *place, const regex **result,
                           tansu_error *error);

/* regex_free_all -- frees a query's. */
void regex_free_all(regex *first);

/* regex_prefix -- the text that everything which matches begins with, into `out`; empty when there
 * is none. False when memory is exhausted. */
bool regex_prefix(const regex *r, tansu_buffer *out);

/* regex_matches -- whether some part of the text matches. Errors go to the context, INVALID_QUERY
 * with `place` when it needs more than the bounds allow. */
bool regex_matches(const regex *r, match_context *c, const char *text, size_t size,
                   const char *place);

/* regex_memory_free -- of a context; fine on NULL. */
void regex_memory_free(struct regex_memory *memory);

#endif
