/*
 * query/util/numeric_sum.h -- sums, means and standard deviations with the result types and the
 * rounding of MongoDB, for $sum, $avg and $stdDevPop; and percentiles.
 *
 * They need no memory, and have 106 bits, decimals 34 digits: so they depend on the order of the
 * numbers only when these are of very different sizes.
 */
#ifndef TANSU_QUERY_UTIL_NUMERIC_SUM_H
#define TANSU_QUERY_UTIL_NUMERIC_SUM_H

#include "bson/number.h"
#include "query/util/deadline.h"

/* Numeric types, from the narrowest to the widest. */
enum numeric_width { WIDTH_INT32, WIDTH_INT64, WIDTH_DOUBLE, WIDTH_DECIMAL };

/* A sum. Zero-initialised, it is empty. */
typedef struct numeric_sum {
    double high, low;         /* together the sum of all but decimals, with 106 bits */
    double special;           /* the same with 53 bits: the result if it is infinite or NaN */
    decimal decimal;          /* the sum of the decimals */
    uint64_t count;           /* numbers added */
    enum numeric_width width; /* the widest */
} numeric_sum;

/* number_width -- the width of a value's type; false for values that are no number. */
bool number_width(const doc_value *value, enum numeric_width *width);

/* number_to_double -- any number as the nearest double. */
double number_to_double(const doc_value *value);

/* number_to_decimal -- any number as a decimal; a double with 15 digits. */
void number_to_decimal(const doc_value *value, decimal *result);

/* numeric_sum_add -- adds a number, and ignores other values. */
void numeric_sum_add(numeric_sum *s, const doc_value *value);

/* numeric_sum_total -- the sum: a decimal128 when a decimal was added, else a double when a double
 * was or when an int64 does not hold it, else an int64 when one was added or an int32 does not hold
 * it. Of no numbers: int32 0. */
void numeric_sum_total(const numeric_sum *s, number *result);

/* numeric_sum_mean -- the sum divided by the count: a decimal128 when a decimal was added, else a
 * double. False of no numbers. */
bool numeric_sum_mean(const numeric_sum *s, number *result);

/* The spread of numbers, as doubles (Welford). Zero-initialised, it is empty. */
typedef struct deviation {
    uint64_t count;
    double mean;
    double squares; /* the sum of the squares of the differences from the mean */
} deviation;

/* deviation_add -- adds a number, and ignores other values. */
void deviation_add(deviation *d, const doc_value *value);

/* deviation_result -- the standard deviation of the numbers (as a population), or that which they
 * estimate as a sample; false of too few. */
bool deviation_result(const deviation *d, bool sample, double *result);

/* percentile_position -- which of `count` sorted numbers is the percentile p, from 0 to 1. */
size_t percentile_position(size_t count, double p);

/* percentile_sort -- sorts doubles, none of which is NaN. Errors: those of merge_sort(). */
tansu_status percentile_sort(double *numbers, size_t count, const deadline *deadline,
                             tansu_error *error);

#endif
