/*
 * index/text_check.h -- comparing an index of words with its documents: both are shown entry by
 * entry, as the documents have them, in no common order.
 */
#ifndef TANSU_INDEX_TEXT_CHECK_H
#define TANSU_INDEX_TEXT_CHECK_H

#include "index/definition.h"
#include "index/text_chunk.h"

/* What has been seen of one index. */
typedef struct text_check {
    text_form form;
    uint64_t documents, length;             /* by the lengths of documents */
    uint64_t total_documents, total_length; /* as the index says */
    tansu_buffer entry, bytes, padded;
    uint32_t *counts;
} text_check;

/* Is shown an entry without the length of a term's document, which chunks do not keep. */
typedef void (*text_check_visitor)(void *context, const uint8_t *entry, size_t size);

void text_check_begin(text_check *check, const index_definition *definition);
void text_check_end(text_check *check);

/* text_check_document -- shows an entry that text_entries_make() made. False when memory is
 * exhausted. */
bool text_check_document(text_check *check, const uint8_t *entry, size_t size,
                         text_check_visitor visit, void *context);

/* text_check_entry -- shows what an entry of the tree has. Returns what is wrong with it, or NULL;
 * text_check_memory: nothing is known, for memory is exhausted. */
extern const char text_check_memory[];
const char *text_check_entry(text_check *check, const uint8_t *entry, size_t size,
                             text_check_visitor visit, void *context);

/* text_check_totals -- whether the totals are those of all entries. */
bool text_check_totals(const text_check *check);

#endif
