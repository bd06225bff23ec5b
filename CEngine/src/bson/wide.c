/*
 * bson/wide.c -- arithmetic of wide numbers, and their conversion.
 */
#include "bson/wide.h"

#include "bson/decimal_arithmetic.h"

#include <math.h>
#include <string.h>

#define TOP (WIDE_LIMBS - 1)

/* shift_left -- limbs by fewer than 32 bits. */
static void shift_left(uint32_t *limbs, uint32_t count, uint32_t bits) {
    for (uint32_t i = count; bits != 0 && i-- > 0;)
        limbs[i] = limbs[i] << bits | (i > 0 ? limbs[i - 1] >> (32 - bits) : 0);
}

/* shift_right -- limbs by any number of bits. */
static void shift_right(uint32_t *limbs, uint32_t count, uint32_t bits) {
    uint32_t whole = bits / 32;
    bits %= 32;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = i + whole < count ? limbs[i + whole] : 0;
        uint32_t high = i + whole + 1 < count ? limbs[i + whole + 1] : 0;
        limbs[i] = bits == 0 ? low : low >> bits | high << (32 - bits);
    }
}

/* normalise -- shifts so that the highest bit is set. */
static void normalise(wide *a) {
    uint32_t zeros = 0;
    while (zeros < WIDE_LIMBS && a->limbs[TOP - zeros] == 0)
        zeros++;
    if (zeros == WIDE_LIMBS) {
        *a = (wide){.exponent = 0};
        return;
    }
    memmove(a->limbs + zeros, a->limbs, (WIDE_LIMBS - zeros) * sizeof *a->limbs);
    memset(a->limbs, 0, zeros * sizeof *a->limbs);
    uint32_t bits = (uint32_t)__builtin_clz(a->limbs[TOP]);
    shift_left(a->limbs, WIDE_LIMBS, bits);
    a->exponent -= (int32_t)(32 * zeros + bits);
}

/* from_u128 -- a whole number. */
static void from_u128(u128 value, wide *result) {
    *result = (wide){.exponent = 128};
    for (uint32_t i = 0; i < 4; i++) {
        result->limbs[TOP - 3 + i] = (uint32_t)u128_low(value);
        value = u128_shift_right(value, 32);
    }
    normalise(result);
}

void wide_from_int(int64_t value, wide *result) {
    from_u128(u128_of(value < 0 ? 0 - (uint64_t)value : (uint64_t)value), result);
    result->negative = value < 0;
}

void wide_from_double(double value, wide *result) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    from_u128(u128_of((uint64_t)ldexp(fraction, 53)), result);
    result->exponent += exponent - 53;
    result->negative = value < 0;
}

double wide_to_double(const wide *a) {
    uint64_t top = (uint64_t)a->limbs[TOP] << 32 | a->limbs[TOP - 1];
    double value = ldexp((double)top, a->exponent < -2000 ? -2064 : a->exponent - 64);
    return a->negative ? -value : value;
}

void wide_set(const uint32_t limbs[WIDE_LIMBS], int32_t exponent, wide *result) {
    *result = (wide){.exponent = exponent};
    memcpy(result->limbs, limbs, sizeof result->limbs);
}

/* ---- Arithmetic ---- */

int wide_compare(const wide *a, const wide *b) {
    if (wide_is_zero(a) || wide_is_zero(b))
        return (int)wide_is_zero(b) - (int)wide_is_zero(a);
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -1 : 1;
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
    return 0;
}

/* add_magnitudes -- |a| + |b|, or |a| - |b| when that is not negative. */
static void add_magnitudes(const wide *a, const wide *b, bool subtract, wide *result) {
    wide sum = *a, other = *b;
    int32_t distance = a->exponent - b->exponent;
    shift_right(other.limbs, WIDE_LIMBS, distance > WIDE_BITS ? WIDE_BITS : (uint32_t)distance);
    int64_t carry = 0;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        carry += (int64_t)sum.limbs[i] + (subtract ? -(int64_t)other.limbs[i] : other.limbs[i]);
        sum.limbs[i] = (uint32_t)carry;
        carry = carry < 0 ? -1 : carry >> 32;
    }
    if (carry > 0) {
        shift_right(sum.limbs, WIDE_LIMBS, 1);
        sum.limbs[TOP] |= 0x80000000u;
        sum.exponent++;
    } else {
        normalise(&sum);
    }
    *result = sum;
}

/* add_signed -- a + b, where b has the sign given. */
static void add_signed(const wide *a, const wide *b, bool negative, wide *result) {
    bool a_negative = a->negative, subtract = a_negative != negative;
    bool swap = wide_compare(a, b) < 0;
    if (wide_is_zero(b)) {
        *result = *a;
        return;
    }
    if (wide_is_zero(a)) {
        *result = *b;
        result->negative = negative;
        return;
    }
    add_magnitudes(swap ? b : a, swap ? a : b, subtract, result);
    result->negative = !wide_is_zero(result) && (swap ? negative : a_negative);
}

void wide_add(const wide *a, const wide *b, wide *result) {
    add_signed(a, b, b->negative, result);
}

void wide_subtract(const wide *a, const wide *b, wide *result) {
    add_signed(a, b, !b->negative, result);
}

void wide_multiply(const wide *a, const wide *b, wide *result) {
    uint32_t product[2 * WIDE_LIMBS] = {0};
    wide out = {.exponent = a->exponent + b->exponent, .negative = a->negative != b->negative};
    if (wide_is_zero(a) || wide_is_zero(b)) {
        *result = (wide){.exponent = 0};
        return;
    }
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        uint64_t carry = 0;
        for (uint32_t k = 0; k < WIDE_LIMBS; k++) {
            carry += (uint64_t)a->limbs[i] * b->limbs[k] + product[i + k];
            product[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + WIDE_LIMBS] = (uint32_t)carry;
    }
    if (product[2 * WIDE_LIMBS - 1] >> 31 == 0) {
        shift_left(product, 2 * WIDE_LIMBS, 1);
        out.exponent--;
    }
    memcpy(out.limbs, product + WIDE_LIMBS, sizeof out.limbs);
    *result = out;
}

/* divide_step -- one digit of a quotient: rest[0…12] becomes the remainder by the divisor. */
static uint32_t divide_step(uint32_t *rest, const uint32_t *divisor) {
    uint64_t top = (uint64_t)rest[WIDE_LIMBS] << 32 | rest[TOP];
    uint64_t digit = top / divisor[TOP], left = top % divisor[TOP];
    while (digit >> 32 != 0 || digit * divisor[TOP - 1] > (left << 32 | rest[TOP - 1])) {
        digit--;
        left += divisor[TOP];
        if (left >> 32 != 0)
            break;
    }
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (uint32_t i = 0; i <= WIDE_LIMBS; i++) {
        carry += i < WIDE_LIMBS ? digit * divisor[i] : 0;
        borrow += (int64_t)rest[i] - (int64_t)(uint32_t)carry;
        rest[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
        carry >>= 32;
    }
    if (borrow < 0) { /* one too many */
        digit--;
        carry = 0;
        for (uint32_t i = 0; i <= WIDE_LIMBS; i++) {
            carry += (uint64_t)rest[i] + (i < WIDE_LIMBS ? divisor[i] : 0);
            rest[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return (uint32_t)digit;
}

void wide_divide(const wide *a, const wide *b, wide *result) {
    uint32_t rest[2 * WIDE_LIMBS + 1] = {0}, quotient[WIDE_LIMBS + 1];
    wide out = {.exponent = a->exponent - b->exponent, .negative = a->negative != b->negative};
    if (wide_is_zero(a)) {
        *result = (wide){.exponent = 0};
        return;
    }
    memcpy(rest + WIDE_LIMBS, a->limbs, sizeof a->limbs);
    for (uint32_t i = WIDE_LIMBS + 1; i-- > 0;)
        quotient[i] = divide_step(rest + i, b->limbs);
    if (quotient[WIDE_LIMBS] != 0) {
        shift_right(quotient, WIDE_LIMBS + 1, 1);
        out.exponent++;
    }
    memcpy(out.limbs, quotient, sizeof out.limbs);
    *result = out;
}

void wide_divide_small(const wide *a, uint32_t divisor, wide *result) {
    wide out = *a;
    uint64_t rest = 0;
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        rest = rest << 32 | out.limbs[i];
        out.limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    normalise(&out);
    *result = out;
}

void wide_sqrt(const wide *a, wide *result) {
    wide root, x = *a, quotient;
    if (wide_is_zero(a)) {
        *result = *a;
        return;
    }
    /* The exponent is halved, and the root of what is from 1/4 to 1 begins as a double. */
    int32_t half = (a->exponent + (a->exponent & 1)) / 2;
    x.exponent -= 2 * half;
    wide_from_double(sqrt(wide_to_double(&x)), &root);
    for (int i = 0; i < 4; i++) {
        wide_divide(&x, &root, &quotient);
        wide_add(&root, &quotient, &root);
        root.exponent--;
    }
    root.exponent += half;
    *result = root;
}

void wide_power10(uint32_t n, wide *result) {
    wide power, square;
    wide_from_int(1, &power);
    wide_from_int(10, &square);
    for (; n != 0; n >>= 1) {
        if (n & 1)
            wide_multiply(&power, &square, &power);
        wide_multiply(&square, &square, &square);
    }
    *result = power;
}

/* ---- Rounding ---- */

void wide_cut(const wide *a, uint32_t bits, wide *result) {
    uint32_t drop = WIDE_BITS - bits;
    *result = *a;
    for (uint32_t i = 0; i < drop / 32; i++)
        result->limbs[i] = 0;
    result->limbs[drop / 32] = result->limbs[drop / 32] >> drop % 32 << drop % 32;
}

void wide_round(const wide *a, uint32_t bits, wide *result) {
    uint32_t drop = WIDE_BITS - bits, half_at = (drop - 1) / 32, half_bit = (drop - 1) % 32;
    bool half = a->limbs[half_at] >> half_bit & 1;
    bool odd = a->limbs[drop / 32] >> drop % 32 & 1;
    bool more = (a->limbs[half_at] & (((uint32_t)1 << half_bit) - 1)) != 0;
    for (uint32_t i = 0; i < half_at; i++)
        more = more || a->limbs[i] != 0;
    wide_cut(a, bits, result);
    if (!half || (!more && !odd))
        return;
    uint64_t carry = (uint64_t)1 << drop % 32;
    for (uint32_t i = drop / 32; i < WIDE_LIMBS; i++) {
        carry += result->limbs[i];
        result->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        result->limbs[TOP] = 0x80000000u;
        result->exponent++;
    }
}

/* split -- the whole part of a magnitude below 2^128, and the bits of its fraction. */
static u128 split(const wide *a, uint32_t fraction[WIDE_LIMBS]) {
    uint32_t limbs[WIDE_LIMBS + 4] = {0};
    u128 whole = u128_of(0);
    memcpy(limbs + 4, a->limbs, sizeof a->limbs);
    /* The point is behind the highest four limbs. */
    int32_t shift = 128 - a->exponent;
    shift_right(limbs, WIDE_LIMBS + 4, shift > 1000 ? 1000 : (uint32_t)shift);
    for (uint32_t i = 4; i-- > 0;)
        whole = u128_add(u128_shift_left(whole, 32), u128_of(limbs[WIDE_LIMBS + i]));
    memcpy(fraction, limbs, WIDE_LIMBS * sizeof *fraction);
    return whole;
}

uint32_t wide_nearest(const wide *a, wide *result) {
    uint32_t fraction[WIDE_LIMBS];
    u128 whole = split(a, fraction);
    bool negative = a->negative;
    if (fraction[TOP] >> 31)
        whole = u128_add(whole, u128_of(1));
    from_u128(whole, result);
    result->negative = negative && !u128_is_zero(whole);
    uint32_t low = (uint32_t)u128_low(whole) & 3;
    return negative ? (4 - low) & 3 : low;
}

/* ---- Decimals ---- */

void wide_from_decimal(const decimal *value, wide *result) {
    wide power;
    from_u128(value->coefficient, result);
    wide_power10((uint32_t)(value->exponent < 0 ? -value->exponent : value->exponent), &power);
    if (value->exponent < 0)
        wide_divide(result, &power, result);
    else
        wide_multiply(result, &power, result);
    result->negative = value->negative && !wide_is_zero(result);
}

/* scale -- a * 10^shift. */
static void scale(const wide *a, int32_t shift, wide *result) {
    wide power;
    wide_power10((uint32_t)(shift < 0 ? -shift : shift), &power);
    if (shift < 0)
        wide_divide(a, &power, result);
    else
        wide_multiply(a, &power, result);
}

/* fraction_is -- whether the first 192 bits of a fraction are `first` and then `rest`. */
static bool fraction_is(const uint32_t fraction[WIDE_LIMBS], uint32_t first, uint32_t rest) {
    bool is = fraction[TOP] == first;
    for (uint32_t i = 1; i < 6; i++)
        is = is && fraction[TOP - i] == rest;
    return is;
}

void wide_to_decimal(const wide *a, int32_t exponent, decimal *result) {
    uint32_t fraction[WIDE_LIMBS];
    wide scaled;
    u128 least = u128_of(1000000000000000u);
    least = u128_multiply(u128_multiply(least, 1000000000000000u), 1000); /* 10^33 */
    if (wide_is_zero(a)) {
        decimal_nearest(u128_of(0), false, exponent, false, result);
        return;
    }
    /* So that there are 34 digits before the point, or all that the format has. */
    int32_t shift =
        DECIMAL_MAX_DIGITS - 1 - (int32_t)floor((a->exponent - 1) * 0.30102999566398120);
    u128 whole;
    for (;; shift++) {
        if (shift > -DECIMAL_MIN_EXPONENT)
            shift = -DECIMAL_MIN_EXPONENT;
        scale(a, shift, &scaled);
        whole = split(&scaled, fraction);
        if (!u128_less(whole, least) || shift == -DECIMAL_MIN_EXPONENT)
            break;
    }
    if (!u128_less(whole, decimal_bound())) {
        scale(a, --shift, &scaled);
        whole = split(&scaled, fraction);
    }
    bool above = fraction_is(fraction, UINT32_MAX, UINT32_MAX);
    bool exact = above || fraction_is(fraction, 0, 0);
    if (above)
        whole = u128_add(whole, u128_of(1));
    if (!exact) {
        bool tie =
            fraction_is(fraction, 0x80000000u, 0) || fraction_is(fraction, 0x7FFFFFFFu, UINT32_MAX);
        whole = u128_append(whole, tie ? 5 : fraction[TOP] >> 31 ? 6 : 1);
        decimal_nearest(whole, !tie, -shift - 1, a->negative, result);
        return;
    }
    for (uint32_t digit; - shift < exponent && !u128_is_zero(whole); shift--) {
        u128 shorter = u128_drop(whole, &digit);
        if (digit != 0)
            break;
        whole = shorter;
    }
    decimal_nearest(whole, false, -shift, a->negative, result);
}
