/*
 * query/plan/bounds.h -- index bounds: the keys of the values that pass a test.
 */
#ifndef TANSU_QUERY_PLAN_BOUNDS_H
#define TANSU_QUERY_PLAN_BOUNDS_H

#include "query/match/node.h"
#include "util/arena.h"
#include "util/buffer.h"

/* A bound for explain: `op` applied to `value`; `op` NULL: unbounded. */
typedef struct bound {
    const char *op;
    const doc_value *value;
} bound;

/* The keys from `low`, inclusive, to `high`, exclusive, as value_key() writes them ascending. */
typedef struct interval {
    const uint8_t *low;  /* size 0: unbounded */
    const uint8_t *high; /* NULL: unbounded */
    size_t low_size;
    size_t high_size;
    bool point; /* the keys that begin with `low`, the key of one value */
    bound lower;
    bound upper;
} interval;

/* Ascending and disjoint. */
typedef struct interval_list {
    interval *items;
    uint32_t count;
} interval_list;

/* The memory of intervals. */
typedef struct bounds_memory {
    arena *arena;
    tansu_buffer scratch;
    uint32_t proofs; /* steps taken by node_implies() (partial_filter.h) */
} bounds_memory;

#define MAX_RANGES 20000 /* of one index; tests of more values have no bounds */

/*
 * bounds_of_test -- the keys of the values that pass a test. Exact (*exact): a value passes if and
 * only if its key is in the list. Otherwise the list has the key of at least one value of every
 * document that passes, and those of others: $exists false (null and missing have the same key), a
 * regular expression with a known prefix. *usable is false when there are no bounds: $exists true,
 * tests of whole arrays, of wildcard paths, or unrelated to the order of values; and a negated test
 * unless every document has one value at the path (`single`), since a document with several values
 * may pass it with one and fail with another. Keys are made of the operands; the index must have
 * its strings collated like them. Returns false when memory is exhausted, as all functions below.
 */
bool bounds_of_test(bounds_memory *memory, const test *t, bool single, interval_list *result,
                    bool *usable, bool *exact);

/* bounds_unite -- the union of intervals that are in any order. */
bool bounds_unite(bounds_memory *memory, const interval *items, size_t count,
                  interval_list *result);

/* bounds_within -- whether all keys of `a` are in `b`. May be false although they are, where two
 * intervals of `b` meet. */
bool bounds_within(const interval_list *a, const interval_list *b);

/* bounds_include_missing -- whether the list has the key of null and missing, or that of a path
 * through an empty array. */
bool bounds_include_missing(const interval_list *list);

/* bounds_are_scalar -- whether the list has no keys of documents and arrays. */
bool bounds_are_scalar(const interval_list *list);

/* bounds_intersect -- the keys that are in both lists. */
bool bounds_intersect(bounds_memory *memory, const interval_list *a, const interval_list *b,
                      interval_list *result);

/* bounds_invert -- the same intervals for the keys of a descending path, in their order there. */
bool bounds_invert(bounds_memory *memory, const interval_list *list, interval_list *result);

/* bounds_compare -- memcmp order of two byte strings, the shorter first. */
int bounds_compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

#endif
