/*
 * query/pipeline/document_sorter.h -- documents in the order of their keys, for $sort, $sample and
 * $sortByCount: a key_sorter of a stage.
 */
#ifndef TANSU_QUERY_PIPELINE_DOCUMENT_SORTER_H
#define TANSU_QUERY_PIPELINE_DOCUMENT_SORTER_H

#include "query/pipeline/pipeline_internal.h"

typedef struct document_sorter document_sorter;

/* document_sorter_new -- `keep` documents are wanted, UINT64_MAX: all. NULL when memory is
 * exhausted. */
document_sorter *document_sorter_new(stage *s, uint64_t keep, size_t memory);
void document_sorter_free(document_sorter *d);

/* document_sorter_add -- documents with equal keys stay in the order in which they are added.
 * Errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status document_sorter_add(document_sorter *d, const tansu_buffer *key, const doc_value *doc);

/* document_sorter_next -- the next one in order, which lives until the next call; the first call
 * sorts. TANSU_DONE at the end. Errors: as above. */
tansu_status document_sorter_next(document_sorter *d, doc_value *doc);

#endif
