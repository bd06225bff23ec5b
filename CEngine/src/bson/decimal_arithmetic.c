/*
 * bson/decimal_arithmetic.c -- arithmetic of decimal128 values on their coefficients.
 */
#include "bson/decimal_arithmetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const decimal nan_decimal = {.kind = DECIMAL_NAN};

/* is_zero -- of a finite decimal. */
static bool is_zero(const decimal *a) {
    return a->kind == DECIMAL_FINITE && u128_is_zero(a->coefficient);
}

/* power10 -- 10^n, below 2^128. */
static u128 power10(uint32_t n) {
    u128 power = u128_of(1);
    for (uint32_t i = 0; i < n; i++)
        power = u128_multiply(power, 10);
    return power;
}

/* count_digits -- of a coefficient; none of zero. */
static int32_t count_digits(u128 coefficient) {
    int32_t count = 0;
    u128 power = u128_of(1);
    while (count < 38 && !u128_less(coefficient, power)) {
        power = u128_multiply(power, 10);
        count++;
    }
    return count;
}

/* drop_digits -- removes the last digits of a coefficient. */
static u128 drop_digits(u128 coefficient, int32_t drop, bool more, bool negative,
                        enum decimal_rounding rounding) {
    if (drop > 38) {
        more = more || !u128_is_zero(coefficient);
        coefficient = u128_of(0);
        drop = 1;
    }
    u128 rest, unit = power10((uint32_t)drop), half = u128_shift_right(unit, 1);
    u128 kept = u128_divide(coefficient, unit, &rest);
    bool up = false;
    switch (rounding) {
    case DECIMAL_HALF_EVEN:
        up = u128_less(half, rest) ||
             (u128_equal(half, rest) && (more || (u128_low(kept) & 1) != 0));
        break;
    case DECIMAL_TRUNCATE: break;
    case DECIMAL_FLOOR: up = negative && (more || !u128_is_zero(rest)); break;
    case DECIMAL_CEILING: up = !negative && (more || !u128_is_zero(rest)); break;
    }
    return up ? u128_add(kept, u128_of(1)) : kept;
}

void decimal_nearest(u128 coefficient, bool more, int32_t exponent, bool negative,
                     decimal *result) {
    *result = (decimal){.kind = DECIMAL_FINITE, .negative = negative};
    int32_t drop = count_digits(coefficient) - DECIMAL_MAX_DIGITS;
    if (drop < DECIMAL_MIN_EXPONENT - exponent)
        drop = DECIMAL_MIN_EXPONENT - exponent;
    if (drop > 0) {
        coefficient = drop_digits(coefficient, drop, more, negative, DECIMAL_HALF_EVEN);
        exponent += drop;
    }
    if (u128_equal(coefficient, decimal_bound())) {
        coefficient = power10(DECIMAL_MAX_DIGITS - 1);
        exponent++;
    }
    while (exponent > DECIMAL_MAX_EXPONENT && !u128_is_zero(coefficient) &&
           u128_less(coefficient, power10(DECIMAL_MAX_DIGITS - 1))) {
        coefficient = u128_multiply(coefficient, 10);
        exponent--;
    }
    if (exponent > DECIMAL_MAX_EXPONENT && !u128_is_zero(coefficient)) {
        result->kind = DECIMAL_INFINITE;
        return;
    }
    result->coefficient = coefficient;
    result->exponent = exponent > DECIMAL_MAX_EXPONENT ? DECIMAL_MAX_EXPONENT : exponent;
}

void decimal_quotient(const decimal *a, const decimal *b, decimal *result) {
    bool negative = a->negative != b->negative;
    if (a->kind == DECIMAL_NAN || b->kind == DECIMAL_NAN ||
        (a->kind == DECIMAL_INFINITE && b->kind == DECIMAL_INFINITE) ||
        (is_zero(a) && is_zero(b))) {
        *result = nan_decimal;
        return;
    }
    if (a->kind == DECIMAL_INFINITE || is_zero(b)) {
        *result = (decimal){.kind = DECIMAL_INFINITE, .negative = negative};
        return;
    }
    if (b->kind == DECIMAL_INFINITE) {
        decimal_nearest(u128_of(0), false, DECIMAL_MIN_EXPONENT, negative, result);
        return;
    }
    /* 36 digits, and whether there are more, are enough to round once. */
    int32_t exponent = a->exponent - b->exponent;
    u128 rest, digit, quotient = u128_divide(a->coefficient, b->coefficient, &rest);
    u128 enough = power10(35);
    while (!u128_is_zero(rest) && u128_less(quotient, enough)) {
        digit = u128_divide(u128_multiply(rest, 10), b->coefficient, &rest);
        quotient = u128_append(quotient, (uint32_t)u128_low(digit));
        exponent--;
    }
    decimal_nearest(quotient, !u128_is_zero(rest), exponent, negative, result);
}

void decimal_remainder(const decimal *a, const decimal *b, decimal *result) {
    if (a->kind != DECIMAL_FINITE || b->kind == DECIMAL_NAN || is_zero(b)) {
        *result = nan_decimal;
        return;
    }
    if (b->kind == DECIMAL_INFINITE) {
        *result = *a;
        return;
    }
    int32_t shift = a->exponent - b->exponent, exponent = a->exponent;
    u128 rest, divisor = b->coefficient;
    if (shift >= 0) {
        u128_divide(a->coefficient, divisor, &rest);
        for (; shift >= 4; shift -= 4) /* a remainder is below 10^34, and 10^38 below 2^128 */
            u128_divide(u128_multiply(rest, 10000), divisor, &rest);
        u128_divide(u128_multiply(rest, u128_low(power10((uint32_t)shift))), divisor, &rest);
        exponent = b->exponent;
    } else {
        for (; shift < 0 && !u128_less(a->coefficient, divisor); shift++)
            divisor = u128_multiply(divisor, 10);
        rest = a->coefficient;
        if (shift == 0)
            u128_divide(a->coefficient, divisor, &rest);
    }
    *result = *a;
    result->coefficient = rest;
    result->exponent = exponent;
}

void decimal_subtract(const decimal *a, const decimal *b, decimal *result) {
    decimal other = *b;
    other.negative = !other.negative;
    decimal_add(a, &other, result);
}

void decimal_quantize(const decimal *a, int32_t exponent, enum decimal_rounding rounding,
                      decimal *result) {
    decimal rounded = *a;
    if (a->kind != DECIMAL_FINITE || exponent < DECIMAL_MIN_EXPONENT ||
        exponent > DECIMAL_MAX_EXPONENT) {
        *result = nan_decimal;
        return;
    }
    rounded.exponent = exponent;
    if (exponent > a->exponent)
        rounded.coefficient =
            drop_digits(a->coefficient, exponent - a->exponent, false, a->negative, rounding);
    for (int32_t i = a->exponent; i > exponent && !u128_is_zero(rounded.coefficient); i--) {
        rounded.coefficient = u128_multiply(rounded.coefficient, 10);
        if (!u128_less(rounded.coefficient, decimal_bound())) {
            rounded = nan_decimal;
            break;
        }
    }
    *result = rounded;
}

void decimal_normalise(const decimal *a, decimal *result) {
    *result = *a;
    if (a->kind != DECIMAL_FINITE)
        return;
    if (is_zero(a))
        result->exponent = DECIMAL_MIN_EXPONENT;
    while (result->exponent > DECIMAL_MIN_EXPONENT &&
           u128_less(result->coefficient, power10(DECIMAL_MAX_DIGITS - 1))) {
        result->coefficient = u128_multiply(result->coefficient, 10);
        result->exponent--;
    }
}

void decimal_from_int64(int64_t value, decimal *result) {
    *result = (decimal){.kind = DECIMAL_FINITE, .negative = value < 0};
    result->coefficient = u128_of(value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* not_finite -- the decimal of a double that is zero, infinite or NaN; false for others. */
static bool not_finite(double value, decimal *result) {
    *result = (decimal){.kind = DECIMAL_FINITE, .negative = signbit(value) != 0};
    if (isnan(value) || isinf(value))
        result->kind = isnan(value) ? DECIMAL_NAN : DECIMAL_INFINITE;
    return value == 0 || result->kind != DECIMAL_FINITE;
}

void decimal_from_double_34(double value, decimal *result) {
    char text[64];
    int32_t exponent = 0;
    if (not_finite(value, result))
        return;
    /* The decimal point depends on the locale. */
    snprintf(text, sizeof text, "%.*e", DECIMAL_MAX_DIGITS - 1, fabs(value));
    const char *p = text;
    for (; *p != 'e' && *p != '\0'; p++) {
        if (*p >= '0' && *p <= '9')
            result->coefficient = u128_append(result->coefficient, (uint32_t)(*p - '0'));
    }
    bool below = *p == 'e' && p[1] == '-';
    for (; *p != '\0'; p++) {
        if (*p >= '0' && *p <= '9')
            exponent = exponent * 10 + (*p - '0');
    }
    result->exponent = (below ? -exponent : exponent) - (DECIMAL_MAX_DIGITS - 1);
    uint32_t digit = 0;
    while (result->exponent < 0) {
        u128 shorter = u128_drop(result->coefficient, &digit);
        if (digit != 0)
            break;
        result->coefficient = shorter;
        result->exponent++;
    }
}

void decimal_from_double_15(double value, decimal *result) {
    decimal exact, all;
    if (not_finite(value, result))
        return;
    decimal_from_double_34(value, &exact);
    decimal_normalise(&exact, &all);
    decimal_quantize(&all, all.exponent + DECIMAL_MAX_DIGITS - 15, DECIMAL_HALF_EVEN, result);
    if (!u128_less(result->coefficient, power10(15)))
        decimal_quantize(&all, all.exponent + DECIMAL_MAX_DIGITS - 14, DECIMAL_HALF_EVEN, result);
}

double decimal_to_double(const decimal *a) {
    uint8_t digits[40];
    char text[64];
    double value = 0;
    if (a->kind == DECIMAL_NAN)
        return NAN;
    if (a->kind == DECIMAL_INFINITE)
        value = INFINITY;
    else if (!is_zero(a)) {
        /* Without a decimal point, so the locale does not matter. */
        uint32_t count = decimal_digits(a->coefficient, digits);
        for (uint32_t i = 0; i < count; i++)
            text[i] = (char)('0' + digits[i]);
        snprintf(text + count, sizeof text - count, "e%d", (int)a->exponent);
        value = strtod(text, NULL);
    }
    return a->negative ? -value : value;
}
