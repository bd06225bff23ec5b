/*
 * query/match/string_search.h -- searching a text for many strings at once, in one pass.
 */
#ifndef TANSU_QUERY_MATCH_STRING_SEARCH_H
#define TANSU_QUERY_MATCH_STRING_SEARCH_H

#include "query/match/match_context.h"
#include "query/match/node.h"
#include "util/arena.h"

/* string_search_new -- for operands that strings_sort() has sorted: none begins with another one,
 * and none is empty if there are several. Takes 12 bytes for each of theirs. NULL when memory is
 * exhausted. */
const string_search *string_search_new(arena *memory, const doc_value *operands, uint32_t count);

/* string_search_finds -- whether a text contains one of them. */
bool string_search_finds(const string_search *search, match_context *c, const char *text,
                         size_t size);

#endif
