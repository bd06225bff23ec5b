/*
 * query/pipeline/window_sum.c -- sums of numbers that can be removed again.
 *
 * Sums of doubles have 106 bits, so that removing a value hardly ever costs a bit of what is left.
 */
#include "query/pipeline/window_sum.h"

#include "bson/decimal_arithmetic.h"

#include <math.h>

bool window_sum_special(window_sum *s, const doc_value *value, int64_t step) {
    decimal d;
    bool negative;
    if (number_is_nan(value)) {
        s->nan += step;
        return true;
    }
    if (value->type == DOC_DOUBLE) {
        negative = doc_double(value) < 0;
        if (!isinf(doc_double(value)))
            return false;
    } else if (value->type == DOC_DECIMAL128) {
        decimal_read(&d, value->data);
        negative = d.negative;
        if (d.kind != DECIMAL_INFINITE)
            return false;
    } else {
        return false;
    }
    *(negative ? &s->minus_infinity : &s->plus_infinity) += step;
    return true;
}

/* add_negated -- adds the negative of a finite number. */
static void add_negated(window_sum *s, const doc_value *value) {
    decimal d;
    number n;
    switch (value->type) {
    case DOC_INT32: number_int64(-(int64_t)doc_int32(value), &n); break;
    case DOC_INT64:
        if (doc_int64(value) == INT64_MIN) {
            number_int64(1, &n);
            const doc_value one = number_value(&n);
            numeric_sum_add(&s->sum, &one);
            number_int64(INT64_MAX, &n);
        } else {
            number_int64(-doc_int64(value), &n);
        }
        break;
    case DOC_DOUBLE: number_double(-doc_double(value), &n); break;
    default:
        decimal_read(&d, value->data);
        d.negative = !d.negative;
        number_decimal(&d, &n);
        break;
    }
    const doc_value negated = number_value(&n);
    numeric_sum_add(&s->sum, &negated);
}

void window_sum_update(window_function *f, window_sum *s, const doc_value *value, bool remove) {
    enum numeric_width width;
    int64_t step = remove ? -1 : 1;
    if (!number_width(value, &width))
        return;
    s->count += step;
    s->doubles += width == WIDTH_DOUBLE ? step : 0;
    s->decimals += width == WIDTH_DECIMAL ? step : 0;
    if (window_sum_special(s, value, step))
        return;
    f->drifts = f->drifts || width == WIDTH_DOUBLE;
    if (!remove) {
        numeric_sum_add(&s->sum, value);
        return;
    }
    add_negated(s, value);
    if (width == WIDTH_DOUBLE && doc_double(value) != 0 &&
        !(fabs(doc_double(value)) <= 0x1p40 * fabs(s->sum.high)))
        f->inexact = true;
}

bool window_sum_special_total(const window_sum *s, number *result) {
    double value = INFINITY;
    if (s->nan == 0 && s->plus_infinity == 0 && s->minus_infinity == 0)
        return false;
    if (s->nan != 0 || (s->plus_infinity != 0 && s->minus_infinity != 0))
        value = NAN;
    else if (s->minus_infinity != 0)
        value = -INFINITY;
    if (s->decimals == 0) {
        number_double(value, result);
        return true;
    }
    const decimal d = {.kind = isnan(value) ? DECIMAL_NAN : DECIMAL_INFINITE,
                       .negative = value < 0};
    number_decimal(&d, result);
    return true;
}

void window_sum_total(const window_sum *s, number *result) {
    int64_t whole;
    if (window_sum_special_total(s, result))
        return;
    numeric_sum_total(&s->sum, result);
    const doc_value total = number_value(result);
    if (total.type == DOC_DECIMAL128 && s->decimals != 0)
        return;
    if (total.type == DOC_DOUBLE && s->doubles != 0)
        return;
    if (s->doubles == 0 && s->decimals == 0 && doc_as_int64(&total, &whole)) {
        if (whole >= INT32_MIN && whole <= INT32_MAX)
            number_int32((int32_t)whole, result);
        else
            number_int64(whole, result);
        return;
    }
    number_double(number_to_double(&total), result);
}

bool window_sum_mean(const window_sum *s, number *result) {
    decimal total, count;
    if (s->count <= 0)
        return false;
    window_sum_total(s, result);
    const doc_value sum = number_value(result);
    if (sum.type != DOC_DECIMAL128) {
        number_double(number_to_double(&sum) / (double)s->count, result);
        return true;
    }
    decimal_read(&total, sum.data);
    if (total.kind == DECIMAL_FINITE) {
        decimal_from_int64(s->count, &count);
        decimal_quotient(&total, &count, &total);
        number_decimal(&total, result);
    }
    return true;
}
