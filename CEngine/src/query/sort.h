/*
 * query/sort.h -- ordering matches (rule 8 of docs/query-language.md). Part query; may call base.
 *
 * With few results wanted, only those are kept; otherwise, and when those are too large, all matches are sorted
 * by run_sort.h, in memory or with temporary files.
 */
#ifndef TANSU_QUERY_SORT_H
#define TANSU_QUERY_SORT_H

#include "query/internal.h"
#include "query/run_sort.h"

/* A document of the answer. */
typedef struct hit {
    uint64_t docno;
    doc_ref ref;
} hit;

typedef struct sorter sorter;

/* What a sorter needs to know; what it points to outlives the sorter. */
typedef struct sorter_how {
    const order_path *order;
    uint32_t order_count;
    const collation *collation; /* how strings compare; NULL: by bytes */
    uint64_t keep;              /* so many of the first are wanted; UINT64_MAX: all */
    const view *view;           /* where temporary files go */
    const watch *watch;         /* what stops it */
    bool may_spill;             /* false: what does not fit into memory is an error */
} sorter_how;

/* sorter_new -- NULL when memory is exhausted. */
sorter *sorter_new(const sorter_how *how);
void sorter_free(sorter *s);

/* sorter_add -- errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error);

/* sorter_finish -- sorts. Errors: as above. */
tansu_status sorter_finish(sorter *s, tansu_error *error);

/* sorter_next -- the next of the wanted hits in order; equal ones stand in docno order. TANSU_DONE at the end.
 * Errors: as above. */
tansu_status sorter_next(sorter *s, hit *h, tansu_error *error);

/* sorter_spilled -- bytes that were written to temporary files. */
uint64_t sorter_spilled(const sorter *s);

/*
 * sort_key -- appends what a document is sorted by: for each path its least value, or the greatest
 * when the path is descending, as a key. `forms` is memory for the forms of strings, which is used
 * again and again. False when memory is exhausted.
 */
bool sort_key(const order_path *order, uint32_t order_count, const collation *by,
              tansu_buffer forms[2], const uint8_t *doc, size_t size, tansu_buffer *key);

#endif
