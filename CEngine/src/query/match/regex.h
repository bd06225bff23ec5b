/*
 * query/match/regex.h -- regular expressions, with limits on steps, depth and memory.
 */
#ifndef TANSU_QUERY_MATCH_REGEX_H
#define TANSU_QUERY_MATCH_REGEX_H

#include "query/match/match_context.h"
#include "query/match/node.h"
#include "query/match/regex_code.h"
#include "util/arena.h"

/* What a pattern is compiled with. */
typedef struct regex_source {
    const char *pattern; /* outlives the regex */
    size_t size;
    const char *options; /* letters of i (ignore case), m (^ and $ match at lines), s (a dot matches
                            newlines), x (extended syntax), u (UTF-8, always on) */
    bool ignore_case;
    const char *error_context;
} regex_source;

/* regex_compile -- compiles a pattern and adds it to a list, for regex_free_all(). The struct lives
 * in the arena, and the compiled code is charged to it. Errors: INVALID_QUERY, MEMORY, UNSUPPORTED
 * (there is nothing that compiles them), and those of the deadline. */
tansu_status regex_compile(arena *memory, regex **list, const regex_source *source,
                           const deadline *deadline, const regex **result, tansu_error *error);

/* regex_free_all -- frees the compiled code of a list. */
void regex_free_all(regex *first);

/* regex_prefix -- replaces `out` by the prefix of all matching strings; empty when there is none.
 * False when memory is exhausted. */
bool regex_prefix(const regex *r, tansu_buffer *out);

/* regex_matches -- whether a part of the text matches. Errors go to the match context:
 * INVALID_QUERY, with `error_context`, when it exceeds the limits. */
bool regex_matches(const regex *r, match_context *c, const char *text, size_t size,
                   const char *error_context);

/* regex_groups -- the number of groups that capture; false when what runs expressions does not tell
 * where they match, so that regex_find() cannot be called. */
bool regex_groups(const regex *r, uint32_t *count);

/* regex_find -- as regex_matches(), from the byte `from` on (what is before it can be looked behind
 * at); fills in where the match and its groups are: 1 span more than groups. */
bool regex_find(const regex *r, match_context *c, const char *text, size_t size, size_t from,
                regex_span *spans, const char *error_context);

/* regex_memory_free -- frees the memory of a match context. NULL is allowed. */
void regex_memory_free(struct regex_memory *memory);

#endif
