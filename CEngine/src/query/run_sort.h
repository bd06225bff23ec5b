/*
 * query/run_sort.h -- sorting records of bytes of which there may be more than memory holds: an external merge
 * sort. Part query.
 *
 * Records come out by key, as memcmp() orders it, and those with one key by their ties. What is over the memory
 * is sorted and written to a temporary file as a run; at the end all runs are merged, many at a time, in as many
 * passes as that takes. So the files hold at most twice what was added.
 */
#ifndef TANSU_QUERY_RUN_SORT_H
#define TANSU_QUERY_RUN_SORT_H

#include "query/interrupt.h"
#include "query/spill.h"

typedef struct run_record {
    const uint8_t *key;
    size_t key_size;
    uint64_t tie;
    const uint8_t *payload;
    size_t payload_size;
} run_record;

/* What a sort needs to know. */
typedef struct run_sort_how {
    const view *view;    /* where temporary files go; outlives the sort */
    const watch *watch;  /* what stops it; outlives the sort */
    size_t memory;       /* that it may take before it spills */
    bool may_spill;      /* false: beyond the memory there is TOO_LARGE */
    const char *context; /* of that error, and its message, which says what to do: */
    const char *message;
} run_sort_how;

typedef struct run_sort run_sort;

/* run_sort_new -- NULL when memory is exhausted. */
run_sort *run_sort_new(const run_sort_how *how);
void run_sort_free(run_sort *s);

/* run_sort_add -- the bytes are copied. Errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status run_sort_add(run_sort *s, const run_record *record, tansu_error *error);

/* run_sort_finish -- sorts; after it nothing is added. Errors: as above. */
tansu_status run_sort_finish(run_sort *s, tansu_error *error);

/* run_sort_next -- the next record in order, valid until the next call. TANSU_DONE at the end. Errors: IO, FULL,
 * MEMORY, TIMEOUT, CANCELLED. */
tansu_status run_sort_next(run_sort *s, run_record *record, tansu_error *error);

/* run_sort_count -- records added. run_sort_spilled -- bytes that were written to temporary files so far. */
uint64_t run_sort_count(const run_sort *s);
uint64_t run_sort_spilled(const run_sort *s);

#endif
