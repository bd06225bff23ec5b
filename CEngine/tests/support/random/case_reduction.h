/*
 * support/random/case_reduction.h -- reduces a failing case: removes whole BSON documents, then
 * fields and elements of them, as long as the case still fails. Independent of the engine.
 *
 * A case is a list of parts: for example documents, then index definitions, hints and the query.
 * The parts are reduced in that order, repeatedly, until nothing more can be removed or the steps
 * are used up.
 */
#ifndef SUPPORT_CASE_REDUCTION_H
#define SUPPORT_CASE_REDUCTION_H

#include <bson/bson.h>
#include <stdbool.h>
#include <stddef.h>

/* One part of a case. */
typedef struct reduction_part {
    const char *role; /* printed before it, and for the callback to know it by; not copied */
    bson_t *value;    /* belongs to the case */
    bool whole;       /* may go as a whole, as a document may; else it only gets fewer fields */
} reduction_part;

typedef struct reduction_case {
    reduction_part *parts;
    size_t count;
} reduction_case;

/* Whether a case still fails, tried from scratch each time. Must say false of a case that makes no
 * sense (a document without `_id`, a query that is refused), for such ones are tried too. */
typedef bool (*reduction_fails)(const reduction_case *smaller, void *context);

/* reduction_add -- appends a part with a copy of the value; `c` starts as {NULL, 0}. */
void reduction_add(reduction_case *c, const char *role, const bson_t *value, bool whole);

/* shrink -- reduces the case in place with at most `steps` calls of `fails`; the number of calls
 * made. The case must fail at first; one that does not is left as it is. */
size_t reduce_case(reduction_case *c, reduction_fails fails, void *context, size_t steps);

/* reduction_print -- a line of canonical extended JSON for each part, as notes of the check. */
void reduction_print(const reduction_case *c);

/* reduction_free -- frees the parts. */
void reduction_free(reduction_case *c);

#endif
