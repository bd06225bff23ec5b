/*
 * query/parse/hints.h -- the hints of a query: order, window, projection, index, output.
 */
#ifndef TANSU_QUERY_PARSE_HINTS_H
#define TANSU_QUERY_PARSE_HINTS_H

#include "query/parse/query_compile.h"
#include "query/util/key_set.h"
#include "store/read_context.h"

#define MAX_ORDER_PATHS 32

typedef struct order_path {
    const struct path *path;
    bool descending;
} order_path;

typedef struct projection projection;

enum index_choice { INDEX_ANY, INDEX_NONE, INDEX_NAMED };

typedef struct hints {
    order_path order[MAX_ORDER_PATHS];
    uint32_t order_count;
    uint32_t
        score_place; /* the score of $text comes before so many of these, plus one; 0: it is not
                             in $orderby */
    uint64_t skip;
    uint64_t max; /* UINT64_MAX: no limit */
    bool max_given;
    bool only_count;
    bool explain;
    bool no_disk;        /* $allowDiskUse is false: exceeding the memory limit is an error */
    uint64_t max_memory; /* bytes of a sort, and of groups; 0: the database's options */
    enum index_choice index_choice;
    const char *index_name;
    projection *fields;        /* NULL: whole documents */
    key_set *joins;            /* of join_spec; NULL: none */
    uint64_t max_milliseconds; /* 0: no limit */
} hints;

/* hints_parse -- sets q->hints from a validated document that outlives the query. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status hints_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_parse_deadline -- starts the clock of $maxTimeMS for the rest of compiling. hints_parse()
 * reports an invalid value later. */
void hints_parse_deadline(query *q, const uint8_t *doc, size_t size);

/* hints_parse_collation -- sets q->collation, which selector_parse() needs. Errors: INVALID_QUERY,
 * MEMORY. */
tansu_status hints_parse_collation(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_parse_let -- sets q->scope to the variables of $let, with their values. q->collation is
 * known. Errors: INVALID_QUERY, TOO_LARGE, MEMORY, TIMEOUT, CANCELLED. */
tansu_status hints_parse_let(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_sort_memory, hints_group_memory -- how much memory a sort, and groups, of a call may take
 * before they spill. */
static inline size_t hints_sort_memory(const hints *h, const read_context *rctx) {
    return h->max_memory != 0 ? (size_t)h->max_memory : rctx->sort_memory;
}
static inline size_t hints_group_memory(const hints *h, const read_context *rctx) {
    return h->max_memory != 0 ? (size_t)h->max_memory : rctx->group_memory;
}

#endif
