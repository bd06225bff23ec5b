/*
 * query/sort.h -- ordering matches in memory (rule 8 of docs/query-language.md). Part query; may
 * call base.
 */
#ifndef TANSU_QUERY_SORT_H
#define TANSU_QUERY_SORT_H

#include "query/internal.h"
#include "query/interrupt.h"

/* Keys and places of one sort take this much memory at most; above it there is TOO_LARGE. (While the
 * places are being sorted they are there twice.) */
#define SORT_MEMORY ((size_t)100 * 1024 * 1024)

/* A document of the answer. */
typedef struct hit {
    uint64_t docno;
    doc_ref ref;
} hit;

typedef struct sorter sorter;

/* sorter_new -- `by`: how strings compare (NULL: by bytes); `keep`: how many of the first are wanted
 * (UINT64_MAX: all). NULL: memory. */
sorter *sorter_new(const order_path *order, uint32_t order_count, const collation *by,
                   uint64_t keep);
void sorter_free(sorter *s);

/* sorter_add -- errors: MEMORY, TOO_LARGE. */
tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error);

/* sorter_finish -- the wanted hits in order, to be freed by the caller. Equal ones stand in docno
 * order. Errors: MEMORY, TIMEOUT, CANCELLED. */
tansu_status sorter_finish(sorter *s, const watch *w, hit **hits, size_t *count,
                           tansu_error *error);

/*
 * sort_key -- appends what a document is sorted by: for each path its least value, or the greatest
 * when the path is descending, as a key. `forms` is memory for the forms of strings, which is used
 * again and again. False when memory is exhausted.
 */
bool sort_key(const order_path *order, uint32_t order_count, const collation *by,
              tansu_buffer forms[2], const uint8_t *doc, size_t size, tansu_buffer *key);

#endif
