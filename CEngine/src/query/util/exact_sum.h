/*
 * query/util/exact_sum.h -- exact sums of numbers of all four types, for $sum and $avg.
 *
 * Only the result is rounded, so a sum does not depend on the order of its numbers. Whole numbers
 * are summed in 128 bits, doubles and decimals as fixed-point numbers that are wide enough for
 * their ranges.
 */
#ifndef TANSU_QUERY_UTIL_EXACT_SUM_H
#define TANSU_QUERY_UTIL_EXACT_SUM_H

#include "bson/decimal.h"
#include "bson/document.h"

#define SUM_PARTS 4

/* Zero-initialised, it is empty. */
typedef struct sum {
    u128 whole;              /* of the int32 and int64, in two's complement */
    uint64_t count;          /* numbers added */
    double parts[SUM_PARTS]; /* their sum is exactly the sum of the doubles */
    uint32_t part_count;
    struct binary_sum *binary;   /* the doubles that exceeded `parts`; NULL: none */
    struct decimal_sum *decimal; /* NULL: no finite decimal */
    int32_t quantum;             /* the least exponent of the decimals */
    bool has_double;
    bool has_decimal;
    bool nan;
    bool plus_infinity;
    bool minus_infinity;
} sum;

/* A number; `value` points to its bytes. */
typedef struct number_result {
    uint8_t bytes[16];
    doc_value value;
} number_result;

/* sum_add -- adds a number and ignores other values. *memory grows by the bytes allocated. False
 * when memory is exhausted. */
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
