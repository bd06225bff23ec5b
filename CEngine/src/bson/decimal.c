/*
 * bson/decimal.c -- decimal128 values and their exact relation to doubles.
 */
#include "bson/decimal.h"

#include "util/bytes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The binary integer encoding. */
void decimal_read(decimal *decimal, const uint8_t *bytes) {
    uint64_t low = load_u64(bytes);
    uint64_t high = load_u64(bytes + 8);
    decimal->negative = high >> 63;
    decimal->kind = DECIMAL_FINITE;
    decimal->coefficient = u128_of(0);
    decimal->exponent = 0;
    if ((high >> 61 & 3) == 3) {
        /* Infinity, NaN, or a coefficient of 114 bits, which is always too large. */
        uint32_t combination = high >> 58 & 0x1F;
        if (combination == 0x1E)
            decimal->kind = DECIMAL_INFINITE;
        else if (combination == 0x1F)
            decimal->kind = DECIMAL_NAN;
        else
            decimal->exponent = (int32_t)(high >> 47 & 0x3FFF) + DECIMAL_MIN_EXPONENT;
        return;
    }
    /* Coefficients that are too large are zeros with an exponent. */
    u128 coefficient = u128_join(high & 0x1FFFFFFFFFFFFu, low);
    decimal->exponent = (int32_t)(high >> 49 & 0x3FFF) + DECIMAL_MIN_EXPONENT;
    if (u128_less(coefficient, decimal_bound()))
        decimal->coefficient = coefficient;
}

void decimal_write(const decimal *decimal, uint8_t *bytes) {
    uint64_t low = 0;
    uint64_t high = decimal->negative ? (uint64_t)1 << 63 : 0;
    if (decimal->kind == DECIMAL_NAN) {
        high = (uint64_t)0x1F << 58;
    } else if (decimal->kind == DECIMAL_INFINITE) {
        high |= (uint64_t)0x1E << 58;
    } else {
        high |= (uint64_t)(decimal->exponent - DECIMAL_MIN_EXPONENT) << 49;
        high |= u128_high(decimal->coefficient);
        low = u128_low(decimal->coefficient);
    }
    store_u64(bytes, low);
    store_u64(bytes + 8, high);
}

uint32_t decimal_digits(u128 number, uint8_t *digits) {
    uint8_t reversed[40];
    uint32_t count = 0, digit;
    while (u128_high(number) != 0) {
        number = u128_drop(number, &digit);
        reversed[count++] = (uint8_t)digit;
    }
    for (uint64_t rest = u128_low(number); rest != 0; rest /= 10)
        reversed[count++] = (uint8_t)(rest % 10);
    for (uint32_t i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    return count;
}

/* drop_zero -- drops the last digit if it is a zero, and returns whether it was. */
static bool drop_zero(u128 *number) {
    uint32_t digit;
    u128 rest = u128_drop(*number, &digit);
    if (digit == 0)
        *number = rest;
    return digit == 0;
}

/* strip_zeros -- moves trailing zeros of the coefficient to the exponent: 2.50 becomes 25 *
 * 10^-1. */
static void strip_zeros(decimal *decimal) {
    u128 coefficient = decimal->coefficient;
    while (u128_high(coefficient) != 0 && drop_zero(&coefficient))
        decimal->exponent++;
    if (u128_high(coefficient) == 0) {
        uint64_t small = u128_low(coefficient);
        while (small % 10 == 0) {
            small /= 10;
            decimal->exponent++;
        }
        coefficient = u128_of(small);
    }
    decimal->coefficient = coefficient;
}

/* A whole number of up to 2560 bits; the comparison below needs no more than 2300. */
#define BIG_LIMBS 80
typedef struct big {
    uint32_t limbs[BIG_LIMBS]; /* the lowest first */
    uint32_t count;
} big;

/* big_set -- sets a big number to a coefficient. */
static void big_set(big *big, u128 number) {
    big->count = 0;
    for (; !u128_is_zero(number); number = u128_shift_right(number, 32))
        big->limbs[big->count++] = (uint32_t)u128_low(number);
}

/* big_multiply -- multiplies by a small factor. */
static void big_multiply(big *big, uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limbs[i] * factor;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && big->count < BIG_LIMBS)
        big->limbs[big->count++] = (uint32_t)carry;
}

/* big_multiply_power5 -- multiplies by 5^power. */
static void big_multiply_power5(big *big, uint32_t power) {
    for (; power >= 13; power -= 13)
        big_multiply(big, 1220703125); /* 5^13, the last below 2^32 */
    uint32_t factor = 1;
    for (; power > 0; power--)
        factor *= 5;
    big_multiply(big, factor);
}

/* big_shift -- multiplies by 2^bits. */
static void big_shift(big *big, uint32_t bits) {
    uint32_t whole = bits / 32;
    big_multiply(big, (uint32_t)1 << bits % 32);
    if (whole == 0 || big->count + whole > BIG_LIMBS)
        return;
    memmove(big->limbs + whole, big->limbs, big->count * sizeof *big->limbs);
    memset(big->limbs, 0, whole * sizeof *big->limbs);
    big->count += whole;
}

/* big_compare -- the order of two. */
static int big_compare(const big *a, const big *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = a->count; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
    return 0;
}

/* compare_double_decimal -- the exact order of a positive finite double and the magnitude of a
 * decimal: both sides are multiplied by the powers of 2 and 5 that make them whole. The decimal
 * must be within 10^-359 and 10^310. */
static int compare_double_decimal(double number, const decimal *decimal) {
    int shift;
    double fraction = frexp(number, &shift);
    uint64_t mantissa = (uint64_t)ldexp(fraction, DBL_MANT_DIG);
    shift -= DBL_MANT_DIG;
    shift -= decimal->exponent; /* the factors 2 of 10^exponent, moved to the double */
    big left;
    big right;
    big_set(&left, u128_of(mantissa));
    big_set(&right, decimal->coefficient);
    if (decimal->exponent < 0)
        big_multiply_power5(&left, (uint32_t)-decimal->exponent);
    else
        big_multiply_power5(&right, (uint32_t)decimal->exponent);
    if (shift >= 0)
        big_shift(&left, (uint32_t)shift);
    else
        big_shift(&right, (uint32_t)-shift);
    return big_compare(&left, &right);
}

/* nearest_double -- approximately the double nearest to the magnitude. The text has no decimal
 * point, so the locale does not matter. */
static double nearest_double(const decimal *decimal) {
    uint8_t digits[40];
    char text[48];
    uint32_t count = decimal_digits(decimal->coefficient, digits);
    char *out = text;
    for (uint32_t i = 0; i < count; i++)
        *out++ = (char)('0' + digits[i]);
    *out++ = 'e';
    int32_t exponent = decimal->exponent;
    if (exponent < 0) {
        *out++ = '-';
        exponent = -exponent;
    }
    *out++ = (char)('0' + exponent / 1000);
    *out++ = (char)('0' + exponent / 100 % 10);
    *out++ = (char)('0' + exponent / 10 % 10);
    *out++ = (char)('0' + exponent % 10);
    *out = '\0';
    return strtod(text, NULL);
}

/* cut_integer -- decimal_cut() of a whole number below 2^128. */
static bool cut_integer(u128 number, double *cut) {
    uint64_t high = u128_high(number);
    int width = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(u128_low(number));
    uint32_t spare = width > DBL_MANT_DIG ? (uint32_t)(width - DBL_MANT_DIG) : 0;
    u128 kept = u128_shift_right(number, spare);
    *cut = ldexp((double)u128_low(kept), (int)spare);
    return u128_equal(u128_shift_left(kept, spare), number);
}

/* cut_short_fraction -- decimal_cut() of coefficient / 10^places where both are exact doubles: then
 * one division rounds correctly, and 128 bits suffice to find out in which direction. */
static bool cut_short_fraction(uint64_t coefficient, uint32_t places, double *cut) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double nearest = (double)coefficient / powers[places];
    int shift;
    uint64_t mantissa = (uint64_t)ldexp(frexp(nearest, &shift), DBL_MANT_DIG);
    shift = DBL_MANT_DIG - shift; /* nearest is mantissa / 2^shift */
    u128 product = u128_multiply(u128_of(mantissa), (uint64_t)powers[places < 19 ? places : 19]);
    for (uint32_t i = 19; i < places; i++)
        product = u128_multiply(product, 10);
    u128 whole = u128_shift_left(u128_of(coefficient), (uint32_t)shift);
    if (u128_less(whole, product))
        nearest = nextafter(nearest, 0);
    *cut = nearest;
    return u128_equal(product, whole);
}

bool decimal_cut(const decimal *given, double *cut) {
    static const uint64_t powers[] = {
        1,        10,        100,        1000,        10000,        100000,       1000000,
        10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000};
    decimal decimal = *given;
    strip_zeros(&decimal);
    bool small = u128_is_zero(u128_shift_right(decimal.coefficient, DBL_MANT_DIG));
    if (decimal.exponent == 0)
        return cut_integer(decimal.coefficient, cut);
    if (decimal.exponent > 0 && decimal.exponent <= 12 && small)
        return cut_integer(u128_multiply(decimal.coefficient, powers[decimal.exponent]), cut);
    if (decimal.exponent < 0 && decimal.exponent >= -22 && small && FLT_EVAL_METHOD == 0)
        return cut_short_fraction(u128_low(decimal.coefficient), (uint32_t)-decimal.exponent, cut);

    uint8_t digits[40];
    int32_t first = decimal.exponent + (int32_t)decimal_digits(decimal.coefficient, digits) - 1;
    if (first < -324 || first > 308) {
        *cut = first < 0 ? 0 : DBL_MAX;
        return false;
    }
    double number = nearest_double(&decimal);
    if (number > DBL_MAX)
        number = DBL_MAX;
    int order = number == 0 ? -1 : compare_double_decimal(number, &decimal);
    /* A correctly rounded number is at most one step too high, and never too low. */
    while (order > 0) {
        number = nextafter(number, 0);
        order = number == 0 ? -1 : compare_double_decimal(number, &decimal);
    }
    while (order < 0 && number < DBL_MAX) {
        double next = nextafter(number, DBL_MAX);
        int next_order = compare_double_decimal(next, &decimal);
        if (next_order > 0)
            break;
        number = next;
        order = next_order;
    }
    *cut = number;
    return order == 0;
}

bool decimal_as_int64(const uint8_t *bytes, int64_t *result) {
    decimal decimal;
    decimal_read(&decimal, bytes);
    if (decimal.kind != DECIMAL_FINITE)
        return false;
    if (u128_is_zero(decimal.coefficient)) {
        *result = 0;
        return true;
    }
    strip_zeros(&decimal);
    if (decimal.exponent < 0 || decimal.exponent > 18 || u128_high(decimal.coefficient) != 0)
        return false;
    u128 magnitude = decimal.coefficient;
    for (int32_t i = 0; i < decimal.exponent; i++)
        magnitude = u128_multiply(magnitude, 10);
    if (u128_less(u128_of((uint64_t)INT64_MAX + decimal.negative), magnitude))
        return false;
    uint64_t low = u128_low(magnitude);
    *result = (int64_t)(decimal.negative ? 0 - low : low);
    return true;
}

bool decimal_is_zero(const uint8_t *bytes) {
    decimal decimal;
    decimal_read(&decimal, bytes);
    return decimal.kind == DECIMAL_FINITE && u128_is_zero(decimal.coefficient);
}

/* ---- Decimal arithmetic ---- */

/*
 * Exact sums and products of decimals, digit by digit: slow, but
 * simple, and an update does it once for each document.
 */

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
        result->coefficient = u128_append(result->coefficient, d->list[i]);
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
    if (result->kind == DECIMAL_FINITE && u128_is_zero(result->coefficient) && !add)
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
    decimal sum = {.kind = DECIMAL_NAN};
    if (a->kind == DECIMAL_FINITE && b->kind == DECIMAL_FINITE)
        add_digits(a, b, &sum);
    else if (a->kind != DECIMAL_NAN && b->kind != DECIMAL_NAN &&
             (a->kind != b->kind || a->negative == b->negative))
        sum = a->kind == DECIMAL_INFINITE ? *a : *b;
    *result = sum;
}

void decimal_multiply(const decimal *a, const decimal *b, decimal *result) {
    decimal product = {.kind = DECIMAL_NAN};
    bool zero = (a->kind == DECIMAL_FINITE && u128_is_zero(a->coefficient)) ||
                (b->kind == DECIMAL_FINITE && u128_is_zero(b->coefficient));
    if (a->kind == DECIMAL_FINITE && b->kind == DECIMAL_FINITE)
        multiply_digits(a, b, &product);
    else if (a->kind != DECIMAL_NAN && b->kind != DECIMAL_NAN && !zero)
        product = (decimal){.kind = DECIMAL_INFINITE, .negative = a->negative != b->negative};
    *result = product;
}

/* read_text -- a coefficient and an exponent as the C library writes them with so many digits. The
 * decimal point depends on the locale. */
static void read_text(const char *text, int32_t digits, decimal *result) {
    int32_t exponent = 0;
    result->coefficient = u128_of(0);
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
    while (result->exponent < 0 && drop_zero(&result->coefficient))
        result->exponent++;
}
