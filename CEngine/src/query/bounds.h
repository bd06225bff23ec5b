/*
 * query/bounds.h -- which index keys the values that pass a test have. Part query; may call base.
 */
#ifndef TANSU_QUERY_BOUNDS_H
#define TANSU_QUERY_BOUNDS_H

#include "query/internal.h"

/* One end of an interval, for people: `op` applied to `value`, or nothing (op NULL). */
typedef struct edge {
    const char *op;
    const doc_value *value;
} edge;

/* The keys from `low` on that are less than `high`, as value_key() writes them ascending. */
typedef struct interval {
    const uint8_t *low;  /* size 0: from the start */
    const uint8_t *high; /* NULL: to the end */
    size_t low_size;
    size_t high_size;
    bool point; /* the keys of one value, with low being that key */
    edge low_edge;
    edge high_edge;
} interval;

/* Ascending, none touching another. */
typedef struct interval_list {
    interval *items;
    uint32_t count;
} interval_list;

/* Where the bytes of intervals live, and room to make them. */
typedef struct bounds_memory {
    arena *arena;
    tansu_buffer scratch;
    uint32_t proofs; /* steps that were taken to prove things: see filter.h */
} bounds_memory;

#define MAX_RANGES 20000 /* of one index; a test of more values says nothing to planning */

/*
 * bounds_of_test -- keys of the values that pass a test. Exact (*exact): a value passes if and only if
 * its key is in the list. Otherwise the list has the key of some value of every document that passes,
 * and of others: $exists false (null and missing have one key), a regular expression with a known
 * beginning. *usable false when there is no such set: $exists true, tests that speak of whole
 * arrays, of other paths than one, or of values in ways that have no order; and a negated test unless
 * every document has one value at the path (`single`), for a document of several values may pass it
 * with one and fail it with another. Keys are those of the operands: of an index that has strings in
 * another form, only when the operands have that form. False: memory.
 */
bool bounds_of_test(bounds_memory *memory, const test *t, bool single, interval_list *result,
                    bool *usable, bool *exact);

/* bounds_unite -- the keys that are in any of the lists, of which `items` holds the intervals in any
 * order. False: memory. */
bool bounds_unite(bounds_memory *memory, const interval *items, size_t count,
                  interval_list *result);

/* bounds_within -- whether all keys of `a` are in `b`. */
bool bounds_within(const interval_list *a, const interval_list *b);

/* bounds_hold_nothing -- whether the list has the key of null and missing, or that of a path which
 * yields nothing. */
bool bounds_hold_nothing(const interval_list *list);

/* bounds_intersect -- the keys that are in both. False: memory. */
bool bounds_intersect(bounds_memory *memory, const interval_list *a, const interval_list *b,
                      interval_list *result);

/* bounds_turn -- the same intervals over the keys of a descending path, in their order there.
 * False: memory. */
bool bounds_turn(bounds_memory *memory, const interval_list *list, interval_list *result);

/* bounds_compare -- memcmp order of two byte strings, the shorter first. */
int bounds_compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

#endif
