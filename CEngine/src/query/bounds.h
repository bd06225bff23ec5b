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
} bounds_memory;

/*
 * bounds_of_test -- the exact set of keys of the values that pass a test: a value passes if and
 * only if its key is in the list. *usable false when there is no such set: $exists (null and
 * missing have one key), and a negated test unless every document has one value at the path
 * (`single`), for a document of several values may pass it with one and fail it with another.
 * False: memory.
 */
bool bounds_of_test(bounds_memory *memory, const test *t, bool single, interval_list *result,
                    bool *usable);

/* bounds_intersect -- the keys that are in both. False: memory. */
bool bounds_intersect(bounds_memory *memory, const interval_list *a, const interval_list *b,
                      interval_list *result);

/* bounds_turn -- the same intervals over the keys of a descending path, in their order there.
 * False: memory. */
bool bounds_turn(bounds_memory *memory, const interval_list *list, interval_list *result);

/* bounds_compare -- memcmp order of two byte strings, the shorter first. */
int bounds_compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

#endif
