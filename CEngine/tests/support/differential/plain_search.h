/*
 * support/differential/plain_search.h -- what a search for words finds and what it scores, by a look
 * at every document.
 */
#ifndef SUPPORT_PLAIN_SEARCH_H
#define SUPPORT_PLAIN_SEARCH_H

#include "query/text/text_search.h"

typedef struct plain_document {
    uint64_t rid;
    tansu_buffer bytes;
    text_document words;
} plain_document;

/* The documents of a collection that have a term. */
typedef struct plain_collection {
    plain_document *items;
    uint32_t count;
    double length; /* mean */
} plain_collection;

/* plain_read -- reads a collection, as an index of words does. */
void plain_read(plain_collection *p, const index_definition *definition, const read_context *rctx,
                const collection_state *state);
void plain_free(plain_collection *p);

/* plain_search -- the matches, in the order of their record ids; as many as there are documents have
 * room. */
uint32_t plain_search(const plain_collection *p, const text_query *q, text_hit *hits);

#endif
