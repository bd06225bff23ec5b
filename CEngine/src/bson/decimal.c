/*
 * bson/decimal.c -- decimal128 values and their exact relation to doubles.
 */
#include "bson/decimal.h"

#include "util/bytes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The binary integer encoding. */
void decimal_read(decimal *decimal, const uint8_t *bytes) {
    uint64_t low = load_u64(bytes);
    uint64_t high = load_u64(bytes + 8);
    decimal->negative = high >> 63;
    decimal->kind = DECIMAL_FINITE;
    decimal->coefficient = 0;
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
    /* 10^34, one more than the greatest coefficient. Values above are zeros with an exponent. */
    const u128 bound = (u128)10000000000000000u * 1000000000000000000u;
    u128 coefficient = (u128)(high & 0x1FFFFFFFFFFFFu) << 64 | low;
    decimal->exponent = (int32_t)(high >> 49 & 0x3FFF) + DECIMAL_MIN_EXPONENT;
    if (coefficient < bound)
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
        high |= (uint64_t)(decimal->coefficient >> 64);
        low = (uint64_t)decimal->coefficient;
    }
    store_u64(bytes, low);
    store_u64(bytes + 8, high);
}

uint32_t decimal_digits(u128 number, uint8_t *digits) {
    uint8_t reversed[40];
    uint32_t count = 0;
    while (number >> 64 != 0) {
        reversed[count++] = (uint8_t)(number % 10);
        number /= 10;
    }
    for (uint64_t rest = (uint64_t)number; rest != 0; rest /= 10)
        reversed[count++] = (uint8_t)(rest % 10);
    for (uint32_t i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    return count;
}

/* strip_zeros -- moves trailing zeros of the coefficient to the exponent: 2.50 becomes 25 *
 * 10^-1. */
static void strip_zeros(decimal *decimal) {
    u128 coefficient = decimal->coefficient;
    while (coefficient >> 64 != 0 && coefficient % 10 == 0) {
        coefficient /= 10;
        decimal->exponent++;
    }
    if (coefficient >> 64 == 0) {
        uint64_t small = (uint64_t)coefficient;
        while (small % 10 == 0) {
            small /= 10;
            decimal->exponent++;
        }
        coefficient = small;
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
    for (; number != 0; number >>= 32)
        big->limbs[big->count++] = (uint32_t)number;
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
    big_set(&left, mantissa);
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
    uint64_t high = (uint64_t)(number >> 64);
    int width = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)number);
    int spare = width > DBL_MANT_DIG ? width - DBL_MANT_DIG : 0;
    *cut = ldexp((double)(uint64_t)(number >> spare), spare);
    return number >> spare << spare == number;
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
    u128 product = (u128)mantissa * (uint64_t)powers[places < 19 ? places : 19];
    for (uint32_t i = 19; i < places; i++)
        product *= 10;
    u128 whole = (u128)coefficient << shift;
    if (product > whole)
        nearest = nextafter(nearest, 0);
    *cut = nearest;
    return product == whole;
}

bool decimal_cut(const decimal *given, double *cut) {
    static const uint64_t powers[] = {
        1,        10,        100,        1000,        10000,        100000,       1000000,
        10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000};
    decimal decimal = *given;
    strip_zeros(&decimal);
    bool small = decimal.coefficient >> DBL_MANT_DIG == 0;
    if (decimal.exponent == 0)
        return cut_integer(decimal.coefficient, cut);
    if (decimal.exponent > 0 && decimal.exponent <= 12 && small)
        return cut_integer(decimal.coefficient * powers[decimal.exponent], cut);
    if (decimal.exponent < 0 && decimal.exponent >= -22 && small && FLT_EVAL_METHOD == 0)
        return cut_short_fraction((uint64_t)decimal.coefficient, (uint32_t)-decimal.exponent, cut);

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
    if (decimal.coefficient == 0) {
        *result = 0;
        return true;
    }
    strip_zeros(&decimal);
    if (decimal.exponent < 0 || decimal.exponent > 18 || decimal.coefficient >> 63 > 1)
        return false;
    u128 magnitude = decimal.coefficient;
    for (int32_t i = 0; i < decimal.exponent; i++)
        magnitude *= 10;
    if (magnitude > (u128)INT64_MAX + decimal.negative)
        return false;
    *result = (int64_t)(decimal.negative ? 0 - (uint64_t)magnitude : (uint64_t)magnitude);
    return true;
}

bool decimal_is_zero(const uint8_t *bytes) {
    decimal decimal;
    decimal_read(&decimal, bytes);
    return decimal.kind == DECIMAL_FINITE && decimal.coefficient == 0;
}
