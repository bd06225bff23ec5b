/*
 * query/util/numeric_sum.c -- sums of numbers as two doubles and a decimal.
 */
#include "query/util/numeric_sum.h"

#include "bson/decimal_arithmetic.h"
#include "query/util/merge_sort.h"

#include <math.h>

bool number_width(const doc_value *value, enum numeric_width *width) {
    switch (value->type) {
    case DOC_INT32: *width = WIDTH_INT32; return true;
    case DOC_INT64: *width = WIDTH_INT64; return true;
    case DOC_DOUBLE: *width = WIDTH_DOUBLE; return true;
    case DOC_DECIMAL128: *width = WIDTH_DECIMAL; return true;
    default: return false;
    }
}

double number_to_double(const doc_value *value) {
    decimal d;
    switch (value->type) {
    case DOC_INT32: return doc_int32(value);
    case DOC_INT64: return (double)doc_int64(value);
    case DOC_DOUBLE: return doc_double(value);
    default: decimal_read(&d, value->data); return decimal_to_double(&d);
    }
}

void number_to_decimal(const doc_value *value, decimal *result) {
    switch (value->type) {
    case DOC_INT32: decimal_from_int64(doc_int32(value), result); break;
    case DOC_INT64: decimal_from_int64(doc_int64(value), result); break;
    case DOC_DOUBLE: decimal_from_double_15(doc_double(value), result); break;
    default: decimal_read(result, value->data); break;
    }
}

/* ---- Sums ---- */

/* add_double -- adds with the error of the addition (Knuth), and moves what it can of that into the
 * high part (Dekker). */
static void add_double(numeric_sum *s, double number) {
    s->special += number;
    double sum = s->high + number;
    double part = sum - s->high;
    double error = (s->high - (sum - part)) + (number - part);
    double low = s->low + error;
    s->high = sum + low;
    s->low = low - (s->high - sum);
}

/* add_int64 -- adds in two doubles, which hold it exactly. */
static void add_int64(numeric_sum *s, int64_t number) {
    int64_t high = number / ((int64_t)1 << 32) * ((int64_t)1 << 32);
    add_double(s, (double)(number - high));
    add_double(s, (double)high);
}

void numeric_sum_add(numeric_sum *s, const doc_value *value) {
    enum numeric_width width;
    decimal number;
    if (!number_width(value, &width))
        return;
    if (width > s->width)
        s->width = width;
    s->count++;
    switch (width) {
    case WIDTH_INT32: add_double(s, doc_int32(value)); break;
    case WIDTH_INT64: add_int64(s, doc_int64(value)); break;
    case WIDTH_DOUBLE: add_double(s, doc_double(value)); break;
    case WIDTH_DECIMAL:
        decimal_read(&number, value->data);
        decimal_add(&s->decimal, &number, &s->decimal);
        break;
    }
}

/* finite_parts -- whether the two parts are the sum; otherwise s->special is. */
static bool finite_parts(const numeric_sum *s) {
    return isfinite(s->high) && isfinite(s->low);
}

/* double_total -- of all but decimals. */
static double double_total(const numeric_sum *s) {
    return finite_parts(s) ? s->high : s->special;
}

/* decimal_total -- of all. */
static void decimal_total(const numeric_sum *s, decimal *result) {
    decimal high, low;
    decimal_from_double_34(double_total(s), &high);
    decimal_from_double_34(finite_parts(s) ? s->low : 0, &low);
    decimal_add(&high, &low, &high);
    decimal_add(&s->decimal, &high, result);
}

/* int64_total -- of whole numbers; false when it is too large. */
static bool int64_total(const numeric_sum *s, int64_t *result) {
    const double bound = 9223372036854775808.0;
    if (s->high == bound && s->low < 0 && s->low >= -bound) {
        *result = INT64_MAX + ((int64_t)s->low + 1);
        return true;
    }
    return s->high >= -bound && s->high < bound &&
           !__builtin_add_overflow((int64_t)s->high, (int64_t)s->low, result);
}

void numeric_sum_total(const numeric_sum *s, number *result) {
    int64_t whole;
    decimal total;
    if (s->width == WIDTH_DECIMAL) {
        decimal_total(s, &total);
        number_decimal(&total, result);
    } else if (s->width == WIDTH_DOUBLE || !int64_total(s, &whole)) {
        number_double(double_total(s), result);
    } else if (s->width == WIDTH_INT32 && whole >= INT32_MIN && whole <= INT32_MAX) {
        number_int32((int32_t)whole, result);
    } else {
        number_int64(whole, result);
    }
}

bool numeric_sum_mean(const numeric_sum *s, number *result) {
    decimal total, count;
    if (s->count == 0)
        return false;
    if (s->width == WIDTH_DECIMAL) {
        decimal_total(s, &total);
        decimal_from_int64((int64_t)s->count, &count);
        decimal_quotient(&total, &count, &total);
        number_decimal(&total, result);
    } else {
        number_double(double_total(s) / (double)s->count, result);
    }
    return true;
}

/* ---- Standard deviations ---- */

void deviation_add(deviation *d, const doc_value *value) {
    enum numeric_width width;
    if (!number_width(value, &width))
        return;
    double number = number_to_double(value);
    double delta = number - d->mean;
    d->count++;
    if (delta != 0) {
        d->mean += delta / (double)d->count;
        d->squares += delta * (number - d->mean);
    }
}

bool deviation_result(const deviation *d, bool sample, double *result) {
    uint64_t least = sample ? 2 : 1;
    if (d->count < least)
        return false;
    *result = sqrt(d->squares / (double)(sample ? d->count - 1 : d->count));
    return true;
}

/* ---- Percentiles ---- */

size_t percentile_position(size_t count, double p) {
    double position = ceil((double)count * p) - 1;
    if (p >= 1 || position >= (double)(count - 1))
        return count - 1;
    return position > 0 ? (size_t)position : 0;
}

/* compare_doubles -- for merge_sort(). */
static int compare_doubles(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

tansu_status percentile_sort(double *numbers, size_t count, const deadline *deadline,
                             tansu_error *error) {
    return merge_sort(numbers, count, sizeof *numbers, compare_doubles, deadline, error);
}
