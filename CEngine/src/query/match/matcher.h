/*
 * query/match/matcher.h -- evaluating a selector on a stored document, in place.
 */
#ifndef TANSU_QUERY_MATCH_MATCHER_H
#define TANSU_QUERY_MATCH_MATCHER_H

#include "query/match/match_context.h"
#include "query/match/node.h"
#include "util/arena.h"

typedef struct matcher matcher;

/* matcher_compile -- compiles a normalised tree. The matcher lives in the arena. NULL when memory
 * is exhausted. */
matcher *matcher_compile(arena *memory, const node *root);

/* matcher_run -- whether a document matches; c->status says whether the result is valid. Allocates
 * nothing but the memory of the context. `c` may be NULL for selectors that cannot fail:
 * comparisons without a collation, $in, $exists and $begin. */
bool matcher_run(const matcher *m, match_context *c, const uint8_t *doc, size_t size);

#endif
