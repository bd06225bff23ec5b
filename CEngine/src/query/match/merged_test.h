/*
 * query/match/merged_test.h -- merging many tests of one path into one that searches.
 */
#ifndef TANSU_QUERY_MATCH_MERGED_TEST_H
#define TANSU_QUERY_MATCH_MERGED_TEST_H

#include "query/match/match_context.h"
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

/* ---- A union of ranges of values, searched in logarithmic time ---- */

/* Disjoint ranges in the order of values. */
typedef struct range_set range_set;

/* range_set_takes -- whether a test is a range of values of one kind. */
bool range_set_takes(const test *t);

/* range_set_new -- the union of ranges: the values that pass one of the tests. NULL when memory is
 * exhausted. */
const range_set *range_set_new(arena *memory, const test *const *tests, uint32_t count);

/* range_set_has -- whether a value, collated if the tests are, is in one of the ranges. */
bool range_set_has(const range_set *set, const doc_value *value);

/* ---- Searching a text for many strings at once, in one pass ---- */

/* string_search_new -- for operands that strings_sort() has sorted: none begins with another one,
 * and none is empty if there are several. Takes 12 bytes for each of theirs. NULL when memory is
 * exhausted. */
const string_search *string_search_new(arena *memory, const doc_value *operands, uint32_t count);

/* string_search_finds -- whether a text contains one of them. */
bool string_search_finds(const string_search *search, match_context *c, const char *text,
                         size_t size);

#endif
