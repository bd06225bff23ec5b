/*
 * query/exec/external_sort.h -- an external merge sort of byte records.
 *
 * Records are sorted by key, in the order of memcmp(), and those with equal keys by their tie
 * breakers. When they exceed the memory limit, they are sorted and written to a temporary file as a
 * run. At the end all runs are merged, many at a time, in as many passes as needed. The files hold
 * at most twice the data that was added.
 */
#ifndef TANSU_QUERY_EXEC_EXTERNAL_SORT_H
#define TANSU_QUERY_EXEC_EXTERNAL_SORT_H

#include "query/exec/spill_file.h"
#include "query/util/deadline.h"

typedef struct sort_record {
    const uint8_t *key;
    size_t key_size;
    uint64_t tie_breaker;
    const uint8_t *payload;
    size_t payload_size;
} sort_record;

typedef struct external_sort_options {
    const read_context *rctx; /* for temporary files; outlives the sort */
    const deadline *deadline; /* outlives the sort */
    size_t memory;            /* limit, before it spills */
    bool may_spill;           /* false: exceeding the limit is an error, */
    spill_refusal refusal;    /* which this describes */
} external_sort_options;

typedef struct external_sort external_sort;

/* external_sort_new -- NULL when memory is exhausted. */
external_sort *external_sort_new(const external_sort_options *how);
void external_sort_free(external_sort *s);

/* external_sort_add -- adds a record and copies its bytes. Errors: MEMORY, TOO_LARGE, IO, FULL,
 * TIMEOUT, CANCELLED. */
tansu_status external_sort_add(external_sort *s, const sort_record *record, tansu_error *error);

/* external_sort_finish -- sorts what was added. Errors: as above. */
tansu_status external_sort_finish(external_sort *s, tansu_error *error);

/* external_sort_next -- the next record in order, valid until the next call. TANSU_DONE at the end,
 * when the memory of the records is freed. Errors: as above. */
tansu_status external_sort_next(external_sort *s, sort_record *record, tansu_error *error);

/* external_sort_spilled -- bytes written to temporary files so far. */
uint64_t external_sort_spilled(const external_sort *s);

#endif
