/*
 * bson/wide.h -- binary floating-point numbers of 384 bits, and functions of them: what decimal128
 * functions are computed with.
 *
 * Results are not rounded correctly, but have an error of a few of the last bits; that of functions
 * is below 2^-330 of the result.
 */
#ifndef TANSU_BSON_WIDE_H
#define TANSU_BSON_WIDE_H

#include "bson/decimal.h"

#define WIDE_LIMBS 12
#define WIDE_BITS (32 * WIDE_LIMBS)

/* limbs / 2^384 * 2^exponent; the highest bit is set, unless it is zero: then all limbs are. A
 * result may be one of the operands. */
typedef struct wide {
    uint32_t limbs[WIDE_LIMBS]; /* the lowest first */
    int32_t exponent;
    bool negative;
} wide;

static inline bool wide_is_zero(const wide *a) {
    return a->limbs[WIDE_LIMBS - 1] == 0;
}

void wide_from_int(int64_t value, wide *result);
void wide_from_double(double value, wide *result); /* a finite one */
void wide_from_decimal(const decimal *value, wide *result);
double wide_to_double(const wide *a);

/* wide_to_decimal -- the nearest decimal, half to even. What is within 2^-190 of the unit of the
 * last digit from an exact result or a tie counts as that. An exact result has an exponent as near
 * to `exponent` as it can. */
void wide_to_decimal(const wide *a, int32_t exponent, decimal *result);

/* wide_round, wide_cut -- rounded half to even to so many bits, and without its other bits. */
void wide_round(const wide *a, uint32_t bits, wide *result);
void wide_cut(const wide *a, uint32_t bits, wide *result);

/* wide_compare -- of the magnitudes. */
int wide_compare(const wide *a, const wide *b);

void wide_add(const wide *a, const wide *b, wide *result);
void wide_subtract(const wide *a, const wide *b, wide *result);
void wide_multiply(const wide *a, const wide *b, wide *result);
void wide_divide(const wide *a, const wide *b, wide *result); /* not by zero */
void wide_divide_small(const wide *a, uint32_t divisor, wide *result);
void wide_sqrt(const wide *a, wide *result); /* not of a negative number */

/* wide_power10 -- 10^n. */
void wide_power10(uint32_t n, wide *result);

/* wide_nearest -- the nearest whole number to one below 2^128; its last two bits, in two's
 * complement, are returned. */
uint32_t wide_nearest(const wide *a, wide *result);

/* wide_set -- a constant from its limbs. */
void wide_set(const uint32_t limbs[WIDE_LIMBS], int32_t exponent, wide *result);

/* ---- wide_math.c ---- */

void wide_pi(wide *result);
void wide_exp(const wide *a, wide *result); /* of less than 2^20 */
void wide_ln(const wide *a, wide *result);  /* of a positive number */

/* wide_sin_cos -- of up to pi / 4. */
void wide_sin_cos(const wide *a, wide *sine, wide *cosine);
void wide_atan(const wide *a, wide *result);
void wide_sinh(const wide *a, wide *result);  /* of less than 2^20 */
void wide_atanh(const wide *a, wide *result); /* of less than 1 */

/* wide_reduce -- the difference of a finite decimal from the nearest multiple of pi / 2, and which
 * one that is, modulo 4. */
uint32_t wide_reduce(const decimal *a, wide *result);

#endif
