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
#include "query/parse/query_compile.h"
#include "store/references/reference_list.h"

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

/* ---- Paths through references ---- */

/*
 * Conditions on what the references of a collection lead to.
 *
 * Where "author" is a reference to "authors", {"author.name": "Lem"} is a condition on the authors:
 * it is replaced by {"author": {"$in": {"$from": "authors", "$query": {"name": "Lem"}}}}.
 */

/*
 * reference_paths_expand -- writes the selector, which has been compiled, with a subquery for each
 * condition on a path that goes on after a reference; nothing when there is none. Only the first
 * reference of a path is followed: the next belongs to the collection of the subquery.
 *
 * A condition that holds where there are no values ($ne, {"$exists": false}, null) holds unless one
 * of the documents that are referred to violates it, as it would if they were embedded.
 *
 * Errors: MEMORY, TOO_LARGE.
 */
tansu_status reference_paths_expand(const doc_value *selector, const reference_list *references,
                                    tansu_buffer *out, tansu_error *error);

#endif
