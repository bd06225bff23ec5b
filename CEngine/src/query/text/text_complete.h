/*
 * query/text/text_complete.h -- suggestions from the words of an index: how what was typed may go
 * on, and what may have been meant.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_COMPLETE_H
#define TANSU_QUERY_TEXT_TEXT_COMPLETE_H

#include "bson/writer.h"
#include "index/postings.h"
#include "query/util/deadline.h"
#include "store/collection.h"
#include "store/read_context.h"

#include <pthread.h>

/*
 * The most frequent words of beginnings that very many words have. Going through all of these takes
 * longer than a key stroke may; so the few most frequent ones of each are kept, for each index, and
 * found again when the index has grown or shrunk by a tenth, or after many commits. How many documents
 * have a word is never taken from here.
 */
typedef struct completion_cache {
    pthread_mutex_t mutex;
    struct completion_table *tables; /* a list */
} completion_cache;

void completion_cache_init(completion_cache *cache);
void completion_cache_free(completion_cache *cache);

/* What suggestions are made from. */
typedef struct suggesting {
    completion_cache *cache;
    const read_context *rctx;
    const collection_state *collection;
    const collection_index *index; /* of words, and current */
    const deadline *deadline;
    uint32_t limit;
} suggesting;

/* text_complete -- appends "completions": [{"text", "documents"}] for the last word of a text, and
 * "start", where in the text it begins. Errors: MEMORY, IO, CORRUPT, TIMEOUT, CANCELLED,
 * UNSUPPORTED. */
tansu_status text_complete(const suggesting *s, const uint8_t *text, size_t size, writer *w,
                           tansu_error *error);

/* text_suggest -- appends "text", with the best suggestion for each unknown word, and "words": [{"start",
 * "end", "suggestions": [{"text", "documents", "distance"}]}]. Errors: the same. */
tansu_status text_suggest(const suggesting *s, const uint8_t *text, size_t size, writer *w,
                          tansu_error *error);

#endif
