/*
 * query/parse/subquery_spec.h -- a subquery as parsed: {"$from": collection, "$field": path,
 * "$query": selector} in place of the array of $in or $nin.
 *
 * Parsing a selector makes a list of its subqueries, whose values are not known yet.
 * query_resolve() (exec/subquery.h) runs them, and the selector is then parsed again with their
 * values.
 */
#ifndef TANSU_QUERY_PARSE_SUBQUERY_SPEC_H
#define TANSU_QUERY_PARSE_SUBQUERY_SPEC_H

#include "query/parse/parsed_query.h"

#define MAX_SUBQUERY_DEPTH 16 /* subqueries inside each other */
#define MAX_SUBQUERIES 100    /* of a whole query, at any depth */

typedef struct subquery {
    struct subquery *next;
    const char *context; /* path and operator, such as "author.$in" */
    const char *collection;
    const path *field; /* whose values are taken */
    query *inner;

    /* Set by query_resolve(). */
    doc_value *values; /* sorted, distinct; they live as long as the subquery */
    uint32_t count;
    arena memory;      /* of the values */
    tansu_buffer plan; /* for explain; empty: not asked for */
} subquery;

/* subquery_parse -- a subquery at `context`, to be run later. Errors: INVALID_QUERY, TOO_LARGE,
 * TIMEOUT, CANCELLED, MEMORY. */
tansu_status subquery_parse(query *q, const doc_value *operand, const char *context,
                            tansu_error *error);

#endif
