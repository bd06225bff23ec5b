/*
 * query/match/range_set.h -- a union of ranges of values, searched in logarithmic time.
 */
#ifndef TANSU_QUERY_MATCH_RANGE_SET_H
#define TANSU_QUERY_MATCH_RANGE_SET_H

#include "query/match/node.h"
#include "util/arena.h"

/* Disjoint ranges in the order of values. */
typedef struct range_set range_set;

/* range_set_takes -- whether a test is a range of values of one kind. */
bool range_set_takes(const test *t);

/* range_set_new -- the union of ranges: the values that pass one of the tests. NULL when memory is
 * exhausted. */
const range_set *range_set_new(arena *memory, const test *const *tests, uint32_t count);

/* range_set_has -- whether a value, collated if the tests are, is in one of the ranges. */
bool range_set_has(const range_set *set, const doc_value *value);

#endif
