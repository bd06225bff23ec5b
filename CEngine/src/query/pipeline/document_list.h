/*
 * query/pipeline/document_list.h -- documents that a stage keeps, to read them once or several
 * times: in memory or, beyond a limit, in a temporary file.
 */
#ifndef TANSU_QUERY_PIPELINE_DOCUMENT_LIST_H
#define TANSU_QUERY_PIPELINE_DOCUMENT_LIST_H

#include "query/exec/spill_file.h"
#include "query/pipeline/pipeline_internal.h"

/* Zeroed, and then document_list_init(), it is empty. */
typedef struct document_list {
    stage *s;
    size_t memory; /* limit, before documents are in the file */
    uint64_t count;
    tansu_buffer bytes; /* documents one after the other; with a file, those that follow it */
    spill_file file;
    bool spilled;
} document_list;

/* Where one reads. Zeroed, it is before the first document. */
typedef struct document_reader {
    uint64_t at;         /* bytes before the next document */
    tansu_buffer window; /* of the file */
    uint64_t window_at;
} document_reader;

/* document_list_init -- for a stage, whose memory limit and errors are used. */
void document_list_init(document_list *list, stage *s, size_t memory);
void document_list_free(document_list *list);

/* document_list_clear -- removes all documents. */
tansu_status document_list_clear(document_list *list);

/* document_list_add -- copies a document to the end. Errors: MEMORY, TOO_LARGE (over the limit, and
 * $allowDiskUse is false), IO, FULL. */
tansu_status document_list_add(document_list *list, const doc_value *doc);

/* document_list_next -- the next document, which lives until the next call with this reader.
 * TANSU_DONE at the end. Errors: MEMORY, IO. */
tansu_status document_list_next(const document_list *list, document_reader *reader, doc_value *doc);
void document_reader_free(document_reader *reader);

#endif
