/*
 * query/plan/partial_filter.h -- partial filters: selectors that decide which documents an index
 * contains, and the proof that a query selects no others.
 */
#ifndef TANSU_QUERY_PLAN_PARTIAL_FILTER_H
#define TANSU_QUERY_PLAN_PARTIAL_FILTER_H

#include "index/definition.h"
#include "query/plan/bounds.h"

/* partial_filter_compile, partial_filter_matches, partial_filter_free -- the hooks of partial filters
 * (query_hooks). A filter may have comparisons, $in, $exists and $begin, combined by $and, $or, $nor
 * and $not: conditions that depend on the document alone and never change. */
tansu_status partial_filter_compile(const uint8_t *selector, size_t size, void **filter,
                                    tansu_error *error);
bool partial_filter_matches(const void *filter, const uint8_t *doc, size_t size);
void partial_filter_free(void *filter);

/* filter_node -- the normalised tree of a compiled filter. */
const node *filter_node(const void *filter);

/* Limit of steps for the proofs of one planning. Conditions of n and m tests may need n * m of
 * them, and more when AND and OR are nested. */
#define MAX_PROOFS 1000000

/* node_implies -- whether every document that passes one condition provably passes the other. False
 * when there is no proof, no memory for it, or it would exceed MAX_PROOFS. */
bool node_implies(bounds_memory *memory, const node *one, const node *other);

/* test_finds_value -- whether every document that passes the test has a value at its path. */
bool test_finds_value(bounds_memory *memory, const test *t);

#endif
