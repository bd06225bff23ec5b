/*
 * query/pipeline/window_sum.h -- sums of numbers that can be removed again, for functions whose
 * windows move.
 */
#ifndef TANSU_QUERY_PIPELINE_WINDOW_SUM_H
#define TANSU_QUERY_PIPELINE_WINDOW_SUM_H

#include "query/pipeline/window_functions.h"

/* A sum of which numbers can be removed. */
typedef struct window_sum {
    numeric_sum sum;
    int64_t count;
    int64_t doubles, decimals; /* so many of the numbers are */
    int64_t nan, plus_infinity, minus_infinity;
} window_sum;

/* window_sum_special -- counts a number that is not finite, `step` times; false if it is finite. */
bool window_sum_special(window_sum *s, const doc_value *value, int64_t step);

/* window_sum_update -- adds a number, or removes one that was added; ignores other values. Where
 * that may cost bits of what is left, the function says so from then on. */
void window_sum_update(window_function *f, window_sum *s, const doc_value *value, bool remove);

/* window_sum_special_total -- the sum if it is not finite; false if it is. */
bool window_sum_special_total(const window_sum *s, number *result);

/* window_sum_total -- the sum, in the type of the numbers that are there; of whole ones in an int32
 * if that holds it. */
void window_sum_total(const window_sum *s, number *result);

/* window_sum_mean -- the sum divided by the count; false of no numbers. */
bool window_sum_mean(const window_sum *s, number *result);

#endif
