/*
 * query/match/string_operands.h -- searching among many string operands in logarithmic time.
 */
#ifndef TANSU_QUERY_MATCH_STRING_OPERANDS_H
#define TANSU_QUERY_MATCH_STRING_OPERANDS_H

#include "query/match/node.h"
#include "util/arena.h"

/* strings_sort -- sorts the operands of BEGIN, END and TOKEN and removes redundant ones:
 * duplicates, and prefixes (suffixes) that another operand implies. */
void strings_sort(test *t);

/* strings_prepare -- makes what a search for many operands of CONTAINS needs; they are sorted.
 * False when memory is exhausted. */
bool strings_prepare(arena *memory, test *t);

/* strings_match_prefix, strings_match_suffix -- whether a text begins, or ends, with an operand. */
bool strings_match_prefix(const test *t, const char *text, size_t size);
bool strings_match_suffix(const test *t, const char *text, size_t size);

/* strings_find -- the position of a text among the operands; UINT32_MAX if absent. */
uint32_t strings_find(const test *t, const char *text, size_t size);

/* next_token -- the next token of a text from *at on, which is moved past it; false at the end.
 * Tokens are separated by white space and commas. */
bool next_token(const char *text, size_t size, size_t *at, const char **token, size_t *token_size);

#endif
