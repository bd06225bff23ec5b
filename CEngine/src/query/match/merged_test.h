/*
 * query/match/merged_test.h -- merging many tests of one path into one that searches.
 */
#ifndef TANSU_QUERY_MATCH_MERGED_TEST_H
#define TANSU_QUERY_MATCH_MERGED_TEST_H

#include "query/match/node.h"
#include "util/arena.h"

/* A test of a conjunction, or several that were merged. */
typedef struct merged_test {
    const test *test;
    bool inverted;   /* it must fail */
    uint32_t number; /* position in the query */
    const test *const
        *all; /* merged tests that must all hold, each by a value of its own; `test` has
                               the operands of all. NULL: `test` holds by itself */
    uint32_t all_count;
} merged_test;

/* merge_tests -- sorts the tests of one conjunction by the first part of their paths (part_order())
 * and merges tests of one path. *count: the number of tests, before and after. False when memory is
 * exhausted. */
bool merge_tests(arena *memory, merged_test *list, uint32_t *count);

/* merge_value_tests -- the same for a condition on a value itself: the equalities of an OR become
 * one test, and so do its ranges and the like. NULL when memory is exhausted. */
node *merge_value_tests(arena *memory, node *n);

/* part_order -- an order of keys: the shorter first. */
int part_order(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
