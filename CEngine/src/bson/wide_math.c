/*
 * bson/wide_math.c -- exponential, logarithm and trigonometric functions of wide numbers, by Taylor
 * series after the argument has been made small.
 */
#include "bson/wide.h"

#include <math.h>

static const uint32_t pi_limbs[WIDE_LIMBS] = {0xCD3A431B, 0xEF9519B3, 0x8E3404DD, 0x514A0879,
                                              0x3B139B22, 0x020BBEA6, 0x8A67CC74, 0x29024E08,
                                              0x80DC1CD1, 0xC4C6628B, 0x2168C234, 0xC90FDAA2};
static const uint32_t ln2_limbs[WIDE_LIMBS] = {0x4AFA1B10, 0x559552FB, 0x6DEBAC98, 0xE7B87620,
                                               0x8BAAFA2B, 0x8A0D175B, 0x7298B62D, 0x40F34326,
                                               0x03F2F6AF, 0xC9E3B398, 0xD1CF79AB, 0xB17217F7};

void wide_pi(wide *result) {
    wide_set(pi_limbs, 2, result);
}

/* ln2_times -- a multiple of the logarithm of 2. */
static void ln2_times(int32_t factor, wide *result) {
    wide ln2;
    wide_set(ln2_limbs, 0, &ln2);
    wide_from_int(factor, result);
    wide_multiply(result, &ln2, result);
}

void wide_exp(const wide *a, wide *result) {
    /* e^a is 2^n * (e^(r / 256))^256, where |r| is at most ln(2) / 2. */
    enum { HALVINGS = 8, TERMS = 32 };
    wide one, r, sum;
    int32_t n = (int32_t)lrint(wide_to_double(a) * 1.4426950408889634);
    wide_from_int(1, &one);
    ln2_times(n, &r);
    wide_subtract(a, &r, &r);
    r.exponent -= HALVINGS;
    sum = one;
    for (uint32_t i = TERMS; i > 0; i--) {
        wide_multiply(&sum, &r, &sum);
        wide_divide_small(&sum, i, &sum);
        wide_add(&sum, &one, &sum);
    }
    for (int i = 0; i < HALVINGS; i++)
        wide_multiply(&sum, &sum, &sum);
    sum.exponent += n;
    *result = sum;
}

void wide_ln(const wide *a, wide *result) {
    /* a is m * 2^n, and m near 1, so that nothing cancels. */
    wide m = *a, guess, power, difference, sum;
    int32_t n = a->exponent;
    m.exponent = 0;
    double start = wide_to_double(&m);
    if (start < 0.70710678118654752) {
        m.exponent = 1;
        start *= 2;
        n--;
    }
    /* Halley's method, with three times as many digits each time. The name log is a type's where the
     * engine is one file. */
    wide_from_double((double)logl(start), &guess);
    for (int i = 0; i < 3; i++) {
        wide_exp(&guess, &power);
        wide_subtract(&m, &power, &difference);
        wide_add(&m, &power, &sum);
        wide_divide(&difference, &sum, &difference);
        if (!wide_is_zero(&difference))
            difference.exponent++;
        wide_add(&guess, &difference, &guess);
    }
    ln2_times(n, &sum);
    wide_add(&guess, &sum, result);
}

void wide_sin_cos(const wide *a, wide *sine, wide *cosine) {
    enum { TERMS = 80 };
    wide one, square, s, c, argument = *a;
    wide_from_int(1, &one);
    wide_multiply(a, a, &square);
    square.negative = true;
    s = c = one;
    for (uint32_t i = TERMS; i > 0; i -= 2) {
        wide_multiply(&s, &square, &s);
        wide_divide_small(&s, i * (i + 1), &s);
        wide_add(&s, &one, &s);
        wide_multiply(&c, &square, &c);
        wide_divide_small(&c, i * (i - 1), &c);
        wide_add(&c, &one, &c);
    }
    wide_multiply(&s, &argument, sine);
    *cosine = c;
}

/* odd_series -- the sum of a^i / i over odd i; with alternating signs if `square` is negative. */
static void odd_series(const wide *a, bool alternating, uint32_t terms, wide *result) {
    wide one, square, sum, reciprocal;
    wide_from_int(1, &one);
    wide_multiply(a, a, &square);
    square.negative = alternating;
    sum = (wide){.exponent = 0};
    for (uint32_t i = 2 * terms + 1;; i -= 2) {
        wide_divide_small(&one, i, &reciprocal);
        wide_multiply(&sum, &square, &sum);
        wide_add(&sum, &reciprocal, &sum);
        if (i == 1)
            break;
    }
    wide_multiply(&sum, a, result);
}

void wide_atan(const wide *a, wide *result) {
    enum { HALVINGS = 6 };
    wide one, x = *a, root, half_pi;
    wide_from_int(1, &one);
    wide_pi(&half_pi);
    half_pi.exponent--;
    x.negative = false;
    bool inverse = wide_compare(&x, &one) > 0;
    if (inverse)
        wide_divide(&one, &x, &x);
    if (wide_is_zero(&x)) {
        *result = x;
        return;
    }
    for (int i = 0; i < HALVINGS; i++) { /* tan(t / 2) is tan(t) / (1 + sqrt(1 + tan(t)^2)) */
        wide_multiply(&x, &x, &root);
        wide_add(&root, &one, &root);
        wide_sqrt(&root, &root);
        wide_add(&root, &one, &root);
        wide_divide(&x, &root, &x);
    }
    odd_series(&x, true, 32, &x);
    x.exponent += HALVINGS;
    if (inverse)
        wide_subtract(&half_pi, &x, &x);
    x.negative = a->negative;
    *result = x;
}

void wide_sinh(const wide *a, wide *result) {
    enum { TERMS = 84 };
    wide one, square, sum, inverse;
    wide_from_int(1, &one);
    if (a->exponent > 0) {
        wide_exp(a, &sum);
        wide_divide(&one, &sum, &inverse);
        wide_subtract(&sum, &inverse, result);
        result->exponent--;
        return;
    }
    wide_multiply(a, a, &square);
    sum = one;
    for (uint32_t i = TERMS; i > 0; i -= 2) {
        wide_multiply(&sum, &square, &sum);
        wide_divide_small(&sum, i * (i + 1), &sum);
        wide_add(&sum, &one, &sum);
    }
    wide_multiply(&sum, a, result);
}

void wide_atanh(const wide *a, wide *result) {
    wide one, above, below;
    if (a->exponent < -3) {
        odd_series(a, false, 50, result);
        return;
    }
    wide_from_int(1, &one);
    wide_add(&one, a, &above);
    wide_subtract(&one, a, &below);
    wide_divide(&above, &below, &above);
    wide_ln(&above, result);
    if (!wide_is_zero(result))
        result->exponent--;
}
