/*
 * query/sum.h -- exact sums of numbers of all four types, for $sum and $avg. Part query; may call
 * base.
 *
 * Nothing is rounded before the end, so that a sum does not depend on the order in which its
 * numbers come: whole numbers are kept in 128 bits, doubles and decimals as fixed-point numbers
 * that are wide enough for all of their ranges.
 */
#ifndef TANSU_QUERY_SUM_H
#define TANSU_QUERY_SUM_H

#include "base/decimal.h"
#include "base/doc.h"

__extension__ typedef __int128 i128;

#define SUM_PARTS 4

/* Zeroed, it is empty. */
typedef struct sum {
    i128 whole;              /* of the int32 and int64 */
    uint64_t count;          /* numbers added */
    double parts[SUM_PARTS]; /* of the doubles: their sum is exactly that of these */
    uint32_t part_count;
    struct binary_sum *binary;   /* the doubles that `parts` could not hold; NULL: none */
    struct decimal_sum *decimal; /* NULL: no finite decimal */
    int32_t quantum;             /* the least exponent of the decimals */
    bool has_double;
    bool has_decimal;
    bool nan;
    bool plus_infinity;
    bool minus_infinity;
} sum;

/* A number and the memory of its bytes: `value` points into it. */
typedef struct number_result {
    uint8_t bytes[16];
    doc_value value;
} number_result;

/* sum_add -- adds a number (other values are left alone). *memory grows by what was allocated.
 * False when memory is exhausted. */
bool sum_add(sum *s, const doc_value *number, size_t *memory);

/* sum_total -- the sum, rounded once: a decimal128 when a decimal was added, else a double when a
 * double was, else an int64, or a decimal128 when that is too small. Of no numbers: int64 0. False
 * when memory is exhausted. */
bool sum_total(const sum *s, number_result *result);

/* sum_mean -- the sum divided by the count: a decimal128 when a decimal was added, else a double.
 * Of no numbers: null. False when memory is exhausted. */
bool sum_mean(const sum *s, number_result *result);

void sum_free(sum *s);

#endif
