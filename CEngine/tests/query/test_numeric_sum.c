/*
 * test_numeric_sum.c -- sums, means, standard deviations and percentiles have the types and values
 * that MongoDB gives them.
 */
#include "query/util/numeric_sum.h"

#include "support/check.h"

#include <math.h>
#include <string.h>

/* add_whole, add_double -- a number, to a sum. */
static void add_whole(numeric_sum *s, int64_t value, bool wide) {
    number n;
    if (wide)
        number_int64(value, &n);
    else
        number_int32((int32_t)value, &n);
    doc_value v = number_value(&n);
    numeric_sum_add(s, &v);
}
static void add_double(numeric_sum *s, double value) {
    number n;
    number_double(value, &n);
    doc_value v = number_value(&n);
    numeric_sum_add(s, &v);
}

/* total_double -- the total, which is a double. */
static double total_double(const numeric_sum *s) {
    number n;
    numeric_sum_total(s, &n);
    CHECK_INT(DOC_DOUBLE, n.type);
    doc_value v = number_value(&n);
    return number_to_double(&v);
}

static void whole_sums_have_the_narrowest_type(void) {
    numeric_sum s = {0};
    number n;
    numeric_sum_total(&s, &n);
    CHECK_INT(DOC_INT32, n.type);
    add_whole(&s, INT32_MAX, false);
    numeric_sum_total(&s, &n);
    CHECK_INT(DOC_INT32, n.type);
    add_whole(&s, 1, false);
    numeric_sum_total(&s, &n);
    doc_value v = number_value(&n);
    CHECK_INT(DOC_INT64, v.type);
    CHECK_INT((int64_t)INT32_MAX + 1, doc_int64(&v));
    add_whole(&s, -1, true);
    numeric_sum_total(&s, &n);
    CHECK_INT(DOC_INT64, n.type);
}

static void whole_sums_are_exact_until_they_exceed_64_bits(void) {
    numeric_sum s = {0};
    number n;
    add_whole(&s, INT64_MAX, true);
    add_whole(&s, 5, true);
    CHECK(total_double(&s) == 9223372036854775808.0);
    add_whole(&s, -6, true);
    numeric_sum_total(&s, &n);
    doc_value v = number_value(&n);
    CHECK_INT(DOC_INT64, v.type);
    CHECK_INT(INT64_MAX - 1, doc_int64(&v));
}

static void double_sums_keep_what_is_small(void) {
    numeric_sum s = {0};
    add_double(&s, 1e16);
    add_double(&s, 1);
    add_double(&s, 1);
    add_double(&s, -1e16);
    CHECK(total_double(&s) == 2);
}

static void infinities_and_nan_are_the_sum(void) {
    numeric_sum s = {0};
    add_double(&s, INFINITY);
    add_double(&s, 1);
    CHECK(isinf(total_double(&s)));
    add_double(&s, -INFINITY);
    CHECK(isnan(total_double(&s)));
    s = (numeric_sum){0};
    add_double(&s, 1e308);
    add_double(&s, 1e308);
    CHECK(isinf(total_double(&s)));
}

static void a_decimal_makes_the_sum_one(void) {
    numeric_sum s = {0};
    decimal d = {.coefficient = u128_of(25), .exponent = -1};
    number n;
    number_decimal(&d, &n);
    doc_value v = number_value(&n);
    numeric_sum_add(&s, &v);
    add_double(&s, 0.5);
    add_whole(&s, 2, false);
    numeric_sum_total(&s, &n);
    v = number_value(&n);
    CHECK_INT(DOC_DECIMAL128, v.type);
    CHECK(number_to_double(&v) == 5);
    CHECK(numeric_sum_mean(&s, &n));
    v = number_value(&n);
    CHECK_INT(DOC_DECIMAL128, v.type);
    CHECK(fabs(number_to_double(&v) - 5.0 / 3) < 1e-15);
}

static void other_values_are_ignored(void) {
    numeric_sum s = {0};
    deviation d = {0};
    number n;
    double result;
    doc_value null = {NULL, 0, DOC_NULL};
    numeric_sum_add(&s, &null);
    deviation_add(&d, &null);
    CHECK(!numeric_sum_mean(&s, &n));
    CHECK(!deviation_result(&d, false, &result));
}

static void deviations_are_of_populations_and_samples(void) {
    deviation d = {0};
    double result = 0;
    for (int32_t i = 1; i <= 3; i++) {
        number n;
        number_int32(10 * i, &n);
        doc_value v = number_value(&n);
        deviation_add(&d, &v);
        CHECK(deviation_result(&d, false, &result));
        CHECK_INT(i > 1, deviation_result(&d, true, &result));
    }
    CHECK(result == 10);
    CHECK(deviation_result(&d, false, &result) && fabs(result - sqrt(200.0 / 3)) < 1e-14);
}

static void percentiles_are_numbers_of_the_list(void) {
    tansu_error error;
    double numbers[] = {3, -INFINITY, 1, 2};
    CHECK_OK(percentile_sort(numbers, 4, NULL, &error), &error);
    CHECK(isinf(numbers[0]) && numbers[1] == 1 && numbers[3] == 3);
    CHECK_INT(0, percentile_position(4, 0));
    CHECK_INT(0, percentile_position(4, 0.25));
    CHECK_INT(1, percentile_position(4, 0.26));
    CHECK_INT(1, percentile_position(4, 0.5));
    CHECK_INT(3, percentile_position(4, 1));
    CHECK_INT(0, percentile_position(1, 0.99));
}

int main(void) {
    RUN(whole_sums_have_the_narrowest_type);
    RUN(whole_sums_are_exact_until_they_exceed_64_bits);
    RUN(double_sums_keep_what_is_small);
    RUN(infinities_and_nan_are_the_sum);
    RUN(a_decimal_makes_the_sum_one);
    RUN(other_values_are_ignored);
    RUN(deviations_are_of_populations_and_samples);
    RUN(percentiles_are_numbers_of_the_list);
    return check_finish();
}
