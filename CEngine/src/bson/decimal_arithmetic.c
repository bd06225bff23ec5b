/*
 * bson/decimal_arithmetic.c -- exact sums and products of decimals, digit by digit: slow, but
 * simple, and an update does it once for each document.
 */
#include "bson/decimal_arithmetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If the exponents differ by more, the smaller operand of a sum only affects the rounding. */
#define MAX_SHIFT 70

/* Enough for a sum's 34 + MAX_SHIFT digits and a carry, and for a product's 68. */
#define MAX_DIGITS 112

/* A whole number in decimal digits, the highest first, times 10^exponent. */
typedef struct digits {
    uint8_t list[MAX_DIGITS];
    uint32_t count;
    int32_t exponent;
    bool negative;
} digits;

/* clamp -- an exponent within the format, for a zero. */
static int32_t clamp(int32_t exponent) {
    return exponent < DECIMAL_MIN_EXPONENT   ? DECIMAL_MIN_EXPONENT
           : exponent > DECIMAL_MAX_EXPONENT ? DECIMAL_MAX_EXPONENT
                                             : exponent;
}

/* strip_front -- removes leading zeros. */
static void strip_front(digits *d) {
    uint32_t zeros = 0;
    while (zeros < d->count && d->list[zeros] == 0)
        zeros++;
    d->count -= zeros;
    memmove(d->list, d->list + zeros, d->count);
}

/* round_digits -- removes the last digits, rounding half to even. */
static void round_digits(digits *d, uint32_t drop) {
    d->exponent += (int32_t)drop;
    if (drop > d->count) {
        d->count = 0; /* less than a tenth of a unit */
        return;
    }
    uint32_t kept = d->count - drop;
    uint8_t first = d->list[kept];
    bool rest = false;
    for (uint32_t i = kept + 1; i < d->count; i++)
        rest = rest || d->list[i] != 0;
    bool odd = kept > 0 && d->list[kept - 1] % 2 == 1;
    d->count = kept;
    if (first < 5 || (first == 5 && !rest && !odd))
        return;
    uint32_t i = kept;
    while (i > 0 && d->list[i - 1] == 9)
        d->list[--i] = 0;
    if (i > 0) {
        d->list[i - 1]++;
    } else {
        memmove(d->list + 1, d->list, d->count);
        d->list[0] = 1;
        d->count++;
    }
}

/* pack -- the nearest decimal; beyond the greatest, infinity. */
static void pack(digits *d, decimal *result) {
    *result = (decimal){.kind = DECIMAL_FINITE, .negative = d->negative};
    strip_front(d);
    if (d->count == 0) {
        result->exponent = clamp(d->exponent);
        return;
    }
    int64_t drop = (int64_t)d->count - DECIMAL_MAX_DIGITS;
    if (drop < (int64_t)DECIMAL_MIN_EXPONENT - d->exponent)
        drop = (int64_t)DECIMAL_MIN_EXPONENT - d->exponent;
    if (drop > 0)
        round_digits(d, (uint32_t)drop);
    if (d->count > DECIMAL_MAX_DIGITS) {
        d->count--; /* rounding up gave 10^34 */
        d->exponent++;
    }
    while (d->count > 0 && d->exponent > DECIMAL_MAX_EXPONENT && d->count < DECIMAL_MAX_DIGITS) {
        d->list[d->count++] = 0;
        d->exponent--;
    }
    if (d->count > 0 && d->exponent > DECIMAL_MAX_EXPONENT) {
        result->kind = DECIMAL_INFINITE;
        return;
    }
    for (uint32_t i = 0; i < d->count; i++)
        result->coefficient = result->coefficient * 10 + d->list[i];
    result->exponent = clamp(d->exponent);
}

/* unpack -- a finite decimal's digits. */
static void unpack(const decimal *value, digits *d) {
    d->count = decimal_digits(value->coefficient, d->list);
    d->exponent = value->exponent;
    d->negative = value->negative;
}

/* digits_compare -- compares magnitudes with equal exponents and no leading zeros. */
static int digits_compare(const digits *a, const digits *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return memcmp(a->list, b->list, a->count);
}

/* digits_extend -- adds leading zeros up to a count. */
static void digits_extend(digits *d, uint32_t count) {
    memmove(d->list + (count - d->count), d->list, d->count);
    memset(d->list, 0, count - d->count);
    d->count = count;
}

/* add_digits -- a sum of finite decimals. */
static void add_digits(const decimal *a, const decimal *b, decimal *result) {
    digits high, low;
    unpack(a->exponent >= b->exponent ? a : b, &high);
    unpack(a->exponent >= b->exponent ? b : a, &low);
    int32_t shift = high.exponent - low.exponent;
    if (shift > MAX_SHIFT && high.count > 0) {
        low.exponent = high.exponent - MAX_SHIFT;
        low.list[0] = 1;
        low.count = low.count > 0 ? 1 : 0;
        shift = MAX_SHIFT;
    }
    if (high.count > 0) {
        memset(high.list + high.count, 0, (size_t)shift);
        high.count += (uint32_t)shift;
    }
    high.exponent = low.exponent;
    digits *more = digits_compare(&high, &low) >= 0 ? &high : &low;
    digits *less = more == &high ? &low : &high;
    digits_extend(more, more->count + 1);
    digits_extend(less, more->count);
    bool add = more->negative == less->negative;
    int carry = 0;
    for (uint32_t i = more->count; i-- > 0;) {
        int digit = more->list[i] + (add ? less->list[i] : -less->list[i]) + carry;
        carry = digit < 0 ? -1 : digit > 9;
        more->list[i] = (uint8_t)(digit - 10 * carry);
    }
    pack(more, result);
    if (result->kind == DECIMAL_FINITE && result->coefficient == 0 && !add)
        result->negative = false;
}

/* multiply_digits -- a product of finite decimals. */
static void multiply_digits(const decimal *a, const decimal *b, decimal *result) {
    digits x, y;
    digits product = {.exponent = a->exponent + b->exponent,
                      .negative = a->negative != b->negative};
    uint32_t sums[MAX_DIGITS] = {0};
    unpack(a, &x);
    unpack(b, &y);
    product.count = x.count + y.count;
    for (uint32_t i = 0; i < x.count; i++) {
        for (uint32_t k = 0; k < y.count; k++)
            sums[i + k + 1] += (uint32_t)x.list[i] * y.list[k];
    }
    uint32_t carry = 0;
    for (uint32_t i = product.count; i-- > 0;) {
        carry += sums[i];
        product.list[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    pack(&product, result);
}

void decimal_add(const decimal *a, const decimal *b, decimal *result) {
    *result = (decimal){.kind = DECIMAL_NAN};
    if (a->kind == DECIMAL_NAN || b->kind == DECIMAL_NAN)
        return;
    if (a->kind == DECIMAL_FINITE && b->kind == DECIMAL_FINITE)
        add_digits(a, b, result);
    else if (a->kind != b->kind || a->negative == b->negative)
        *result = a->kind == DECIMAL_INFINITE ? *a : *b;
}

void decimal_multiply(const decimal *a, const decimal *b, decimal *result) {
    *result = (decimal){.kind = DECIMAL_NAN};
    if (a->kind == DECIMAL_NAN || b->kind == DECIMAL_NAN)
        return;
    if (a->kind == DECIMAL_FINITE && b->kind == DECIMAL_FINITE) {
        multiply_digits(a, b, result);
        return;
    }
    bool zero = (a->kind == DECIMAL_FINITE && a->coefficient == 0) ||
                (b->kind == DECIMAL_FINITE && b->coefficient == 0);
    if (!zero)
        *result = (decimal){.kind = DECIMAL_INFINITE, .negative = a->negative != b->negative};
}

/* read_text -- a coefficient and an exponent as the C library writes them with so many digits. The
 * decimal point depends on the locale. */
static void read_text(const char *text, int32_t digits, decimal *result) {
    int32_t exponent = 0;
    result->coefficient = 0;
    const char *p = text;
    for (; *p != 'e' && *p != '\0'; p++) {
        if (*p >= '0' && *p <= '9')
            result->coefficient = result->coefficient * 10 + (u128)(*p - '0');
    }
    bool below = *p == 'e' && p[1] == '-';
    for (; *p != '\0'; p++) {
        if (*p >= '0' && *p <= '9')
            exponent = exponent * 10 + (*p - '0');
    }
    result->exponent = (below ? -exponent : exponent) - (digits - 1);
}

/* A double has so many decimal digits that are surely those which it was written with. */
#define SURE_DIGITS 15

void decimal_from_double(double value, decimal *result) {
    *result = (decimal){.kind = DECIMAL_FINITE, .negative = signbit(value) != 0};
    if (isnan(value) || isinf(value)) {
        result->kind = isnan(value) ? DECIMAL_NAN : DECIMAL_INFINITE;
        return;
    }
    if (value == 0)
        return;
    char text[64];
    snprintf(text, sizeof text, "%.*e", SURE_DIGITS - 1, fabs(value));
    if (strtod(text, NULL) == fabs(value)) {
        read_text(text, SURE_DIGITS, result);
        return;
    }
    snprintf(text, sizeof text, "%.*e", DECIMAL_MAX_DIGITS - 1, fabs(value));
    read_text(text, DECIMAL_MAX_DIGITS, result);
    while (result->exponent < 0 && result->coefficient % 10 == 0) {
        result->coefficient /= 10;
        result->exponent++;
    }
}
