/*
 * query/match/matcher_internal.h -- a compiled selector, as compiling makes it and matching reads
 * it.
 */
#ifndef TANSU_QUERY_MATCH_MATCHER_INTERNAL_H
#define TANSU_QUERY_MATCH_MATCHER_INTERNAL_H

#include "query/match/matcher.h"
#include "query/match/merged_test.h"

#define MAX_PENDING 64 /* fields of a conjunction that a bit mask tracks; more are searched for */

typedef struct match_test {
    merged_test is;
    struct match_test *next;
} match_test;

/* All tests whose paths begin with the same key. */
typedef struct match_field {
    const char *key;
    uint32_t key_size;
    bool passes_missing; /* the result for documents without the key */
    match_test *tests;
    match_test *last;
} match_field;

struct matcher {
    bool negated;
    match_test *wild; /* tests of wildcard paths */
    uint32_t field_count;
    uint32_t field_capacity;
    uint32_t required;   /* with more than MAX_PENDING fields: those that a document must have */
    match_field *fields; /* with more than MAX_PENDING: sorted by part_order() */
    const path *path;    /* that all tests are of, of a conjunction with one field; or NULL */
    matcher *children;
    matcher *next;
};

#endif
