/*
 * query/text/text_search.h -- finding and ranking documents by an index of words.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_SEARCH_H
#define TANSU_QUERY_TEXT_TEXT_SEARCH_H

#include "index/postings.h"
#include "query/text/text_query.h"
#include "query/util/deadline.h"
#include "store/read_context.h"

typedef struct text_search text_search;

/* A document that matches. */
typedef struct text_hit {
    uint64_t rid;
    double score;
} text_hit;

/* text_search_new -- of an index that is current. Keeps the arguments by reference. Errors: MEMORY,
 * IO, CORRUPT, TIMEOUT, CANCELLED, TOO_LARGE (a prefix or fuzzy word with more documents than the
 * memory allows). */
tansu_status text_search_new(const text_query *query, const read_context *rctx,
                             const collection_state *collection, const tree *entries,
                             const deadline *deadline, text_search **result, tansu_error *error);
void text_search_free(text_search *s);

/* text_search_next -- the next match in the order of record ids; TANSU_DONE at the end. `scored`:
 * with its score. Where text_query_needs_document(), documents are read. Errors: those of
 * text_search_new(), and of reading documents. */
tansu_status text_search_next(text_search *s, bool scored, text_hit *hit, tansu_error *error);

/* text_search_bound -- a number of documents that no search finds more than. Cheap. */
uint64_t text_search_bound(const text_search *s);

/* Whether a match is to be among the results: TANSU_OK with *accepted. */
typedef tansu_status (*text_filter)(void *context, uint64_t rid, bool *accepted,
                                    tansu_error *error);

/* text_search_top -- the matches of the highest scores, at most `most`, in descending order, those of
 * equal scores by record id. Only documents whose score suffices are shown to `filter` (may be
 * NULL). *hits: `most` of them have room. Errors: those of text_search_next(), and the filter's. */
tansu_status text_search_top(text_search *s, uint32_t most, text_filter filter, void *context,
                             text_hit *hits, uint32_t *count, tansu_error *error);

#endif
