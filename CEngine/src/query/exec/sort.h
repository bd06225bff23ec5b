/*
 * query/exec/sort.h -- sorting matches by $orderby (rule 8 of docs/query-language.md).
 */
#ifndef TANSU_QUERY_EXEC_SORT_H
#define TANSU_QUERY_EXEC_SORT_H

#include "query/exec/key_sorter.h"
#include "query/match/collation.h"
#include "query/parse/hints.h"

/* A document of the result. */
typedef struct hit {
    uint64_t rid;
    doc_ref ref;
} hit;

typedef struct sorter sorter;

/* What they point to outlives the sorter. */
typedef struct sorter_options {
    const order_path *order;
    uint32_t order_count;
    const collation *collation; /* of strings; NULL: by bytes */
    uint64_t keep;              /* results needed; UINT64_MAX: all */
    const read_context *rctx;   /* for temporary files */
    const deadline *deadline;
    size_t memory;  /* limit, before it spills */
    bool may_spill; /* false: exceeding the memory limit is an error */
} sorter_options;

/* sorter_new -- NULL when memory is exhausted. */
sorter *sorter_new(const sorter_options *options);
void sorter_free(sorter *s);

/* sorter_add -- errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error);

/* sorter_finish -- sorts. Errors: as above. */
tansu_status sorter_finish(sorter *s, tansu_error *error);

/* sorter_next -- the next hit in order; equal ones are in record id order. TANSU_DONE at the end.
 * Errors: as above. */
tansu_status sorter_next(sorter *s, hit *h, tansu_error *error);

/* sorter_spilled -- bytes written to temporary files. */
uint64_t sorter_spilled(const sorter *s);

/*
 * sort_key -- appends the sort key of a document: for each path the key of its smallest value, or
 * of the greatest when the path is descending. `scratch` is reused memory. False when memory is
 * exhausted.
 */
bool sort_key(const order_path *order, uint32_t order_count, const collation *collation,
              tansu_buffer scratch[2], const uint8_t *doc, size_t size, tansu_buffer *key);

#endif
