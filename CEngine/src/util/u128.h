/*
 * util/u128.h -- unsigned integers of 128 bits, modulo 2^128: the compiler's where it has them, two
 * halves where it does not, as on systems of 32 bits.
 *
 * TANSU_U128_HALVES: the halves everywhere, for their test.
 */
#ifndef TANSU_UTIL_U128_H
#define TANSU_UTIL_U128_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(TANSU_U128_HALVES)

__extension__ typedef unsigned __int128 u128;

/* u128_join -- high * 2^64 + low. */
static inline u128 u128_join(uint64_t high, uint64_t low) {
    return (u128)high << 64 | low;
}
static inline uint64_t u128_low(u128 a) {
    return (uint64_t)a;
}
static inline uint64_t u128_high(u128 a) {
    return (uint64_t)(a >> 64);
}
static inline u128 u128_add(u128 a, u128 b) {
    return a + b;
}
static inline u128 u128_multiply(u128 a, uint64_t factor) {
    return a * factor;
}
/* u128_shift_left, u128_shift_right -- by fewer than 128 bits. */
static inline u128 u128_shift_left(u128 a, uint32_t bits) {
    return a << bits;
}
static inline u128 u128_shift_right(u128 a, uint32_t bits) {
    return a >> bits;
}
/* u128_less -- whether a < b. */
static inline bool u128_less(u128 a, u128 b) {
    return a < b;
}
static inline bool u128_equal(u128 a, u128 b) {
    return a == b;
}
/* u128_divide -- the quotient; *rest becomes the remainder. The divisor is not 0. */
static inline u128 u128_divide(u128 a, u128 divisor, u128 *rest) {
    *rest = a % divisor;
    return a / divisor;
}

#else

typedef struct u128 {
    uint64_t low, high;
} u128;

static inline u128 u128_join(uint64_t high, uint64_t low) {
    return (u128){low, high};
}
static inline uint64_t u128_low(u128 a) {
    return a.low;
}
static inline uint64_t u128_high(u128 a) {
    return a.high;
}
static inline u128 u128_add(u128 a, u128 b) {
    uint64_t low = a.low + b.low;
    return u128_join(a.high + b.high + (low < a.low), low);
}
static inline u128 u128_multiply(u128 a, uint64_t factor) {
    uint64_t a0 = a.low & UINT32_MAX, a1 = a.low >> 32;
    uint64_t f0 = factor & UINT32_MAX, f1 = factor >> 32;
    uint64_t middle = a1 * f0 + (a0 * f0 >> 32);
    uint64_t other = a0 * f1 + (middle & UINT32_MAX);
    return u128_join(a1 * f1 + (middle >> 32) + (other >> 32) + a.high * factor, a.low * factor);
}
static inline u128 u128_shift_left(u128 a, uint32_t bits) {
    if (bits >= 64)
        return u128_join(a.low << (bits - 64), 0);
    return bits == 0 ? a : u128_join(a.high << bits | a.low >> (64 - bits), a.low << bits);
}
static inline u128 u128_shift_right(u128 a, uint32_t bits) {
    if (bits >= 64)
        return u128_join(0, a.high >> (bits - 64));
    return bits == 0 ? a : u128_join(a.high >> bits, a.low >> bits | a.high << (64 - bits));
}
static inline bool u128_less(u128 a, u128 b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}
static inline bool u128_equal(u128 a, u128 b) {
    return a.high == b.high && a.low == b.low;
}

/* u128_divide_short -- u128_divide() by a divisor of 32 bits, 32 bits at a time. */
static inline u128 u128_divide_short(u128 a, uint32_t divisor, u128 *rest) {
    uint64_t parts[4] = {a.high >> 32, a.high & UINT32_MAX, a.low >> 32, a.low & UINT32_MAX};
    uint64_t left = 0;
    for (int i = 0; i < 4; i++) {
        left = left << 32 | parts[i];
        parts[i] = left / divisor;
        left %= divisor;
    }
    *rest = u128_join(0, left);
    return u128_join(parts[0] << 32 | parts[1], parts[2] << 32 | parts[3]);
}

/* u128_divide -- by one of more bits, bit by bit. */
static inline u128 u128_divide(u128 a, u128 divisor, u128 *rest) {
    if (divisor.high == 0 && divisor.low <= UINT32_MAX)
        return u128_divide_short(a, (uint32_t)divisor.low, rest);
    u128 quotient = {0, 0}, left = {0, 0};
    u128 minus = u128_add(u128_join(~divisor.high, ~divisor.low), u128_join(0, 1));
    for (uint32_t bit = 128; bit-- > 0;) {
        bool over = left.high >> 63;
        left = u128_shift_left(left, 1);
        left.low |= u128_shift_right(a, bit).low & 1;
        quotient = u128_shift_left(quotient, 1);
        if (over || !u128_less(left, divisor)) {
            left = u128_add(left, minus);
            quotient.low |= 1;
        }
    }
    *rest = left;
    return quotient;
}

#endif

/* u128_of -- a number of 64 bits. */
static inline u128 u128_of(uint64_t number) {
    return u128_join(0, number);
}

static inline bool u128_is_zero(u128 a) {
    return (u128_high(a) | u128_low(a)) == 0;
}

/* u128_append -- a * 10 + digit. */
static inline u128 u128_append(u128 a, uint32_t digit) {
    return u128_add(u128_multiply(a, 10), u128_of(digit));
}

/* u128_drop -- a / 10; *digit becomes the last decimal digit. */
static inline u128 u128_drop(u128 a, uint32_t *digit) {
    u128 rest;
    a = u128_divide(a, u128_of(10), &rest);
    *digit = (uint32_t)u128_low(rest);
    return a;
}

#endif
