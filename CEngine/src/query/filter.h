/*
 * query/filter.h -- partial filters of indexes: selectors that decide which documents an index has,
 * and the proof that a query asks for none of the others. Part query; may call index and base.
 */
#ifndef TANSU_QUERY_FILTER_H
#define TANSU_QUERY_FILTER_H

#include "query/bounds.h"

/* What database_open() and index_definition_compile() want. A filter may hold comparisons, $in,
 * $exists and $begin, joined by $and, $or, $nor and $not: what a document alone decides, the same
 * for all time. */
extern const index_filter_calls query_filters;

/* filter_node -- what a compiled filter asks, normalised. */
const node *filter_node(const void *filter);

/* Steps that one planning takes to prove what queries and filters imply. Two conditions of n and m tests may
 * need n * m of them, and more when AND and OR lie inside each other. */
#define MAX_PROOFS 1000000

/* node_implies -- whether it is proven that every document which passes one condition passes the
 * other. False when there is no proof, no memory for it, or it would need more than MAX_PROOFS steps. */
bool node_implies(bounds_memory *memory, const node *one, const node *other);

/* test_finds_value -- whether every document that passes the test has a value at its path. */
bool test_finds_value(bounds_memory *memory, const test *t);

#endif
