/*
 * bson/wide_reduce.c -- what is left of a decimal when multiples of pi / 2 are taken off it: of one
 * of thousands of digits, too.
 */
#include "bson/wide.h"

#include <math.h>
#include <string.h>

/*
 * A fixed-point number: the highest two limbs are its whole part. A decimal of 34 + 6111 digits
 * needs 20414 bits before the point, and pi as many behind it, and 576 more for the result.
 */
#define LIMBS_MAX 680
#define CHUNK 1000000000u /* digits are taken in by nines */

typedef struct fixed {
    uint32_t limbs[LIMBS_MAX]; /* the lowest first */
    uint32_t count;
} fixed;

/* divide_limbs -- limbs by a small number, into `quotient`; those from `used` on are zero, and stay
 * so. */
static void divide_limbs(const uint32_t *limbs, uint32_t used, uint32_t divisor,
                         uint32_t *quotient) {
    uint64_t rest = 0;
    for (uint32_t i = used; i-- > 0;) {
        rest = rest << 32 | limbs[i];
        quotient[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

/* fixed_add -- adds `other`, or subtracts it. */
static void fixed_add(fixed *f, const fixed *other, bool subtract) {
    int64_t carry = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        carry += (int64_t)f->limbs[i] + (subtract ? -(int64_t)other->limbs[i] : other->limbs[i]);
        f->limbs[i] = (uint32_t)carry;
        carry = carry < 0 ? -1 : carry >> 32;
    }
}

/* fixed_compare -- the order of two. */
static int fixed_compare(const fixed *a, const fixed *b) {
    for (uint32_t i = a->count; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
    return 0;
}

/* add_arctangent -- adds factor * atan(1 / n) to a sum, or subtracts it. */
static void add_arctangent(fixed *sum, uint32_t factor, uint32_t n, bool subtract) {
    fixed power = {.count = sum->count}, term = {.count = sum->count};
    uint32_t used = sum->count - 1;
    power.limbs[used - 1] = factor;
    divide_limbs(power.limbs, used, n, power.limbs);
    for (uint32_t i = 1; used > 0; i += 2) {
        divide_limbs(power.limbs, used, i, term.limbs);
        fixed_add(sum, &term, subtract != (i % 4 == 3));
        divide_limbs(power.limbs, used, n * n, power.limbs);
        /* What has become zero is so in the next term, too. */
        while (used > 0 && power.limbs[used - 1] == 0)
            term.limbs[--used] = 0;
    }
}

/* multiply_add -- f * 10^9 + digits, where f is below 8. */
static void multiply_add(fixed *f, uint32_t digits) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (i == f->count - 2)
            carry += digits;
        carry += (uint64_t)f->limbs[i] * CHUNK;
        f->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* take_off -- subtracts the multiple of `two_pi` that leaves less than it. */
static void take_off(fixed *f, const fixed *two_pi) {
    double whole = ldexp(f->limbs[f->count - 1], 32) + f->limbs[f->count - 2];
    uint64_t times = (uint64_t)(whole / 6.283185307179586);
    uint64_t carry = 0;
    int64_t borrow = 0;
    times = times > 0 ? times - 1 : 0;
    for (uint32_t i = 0; i < f->count; i++) {
        carry += (uint64_t)two_pi->limbs[i] * times;
        borrow += (int64_t)f->limbs[i] - (int64_t)(uint32_t)carry;
        f->limbs[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
        carry >>= 32;
    }
    while (fixed_compare(f, two_pi) >= 0)
        fixed_add(f, two_pi, true);
}

/* reduce_huge -- the rest, below 2 pi, of the magnitude of a decimal that has no fraction. */
static void reduce_huge(const decimal *a, wide *result) {
    uint8_t digits[40 + 9];
    int32_t count = (int32_t)decimal_digits(a->coefficient, digits);
    uint32_t places = (uint32_t)(count + a->exponent);
    fixed two_pi = {.count = 2 + (uint32_t)(places * 3.3219281) / 32 + 18};
    fixed f = {.count = two_pi.count};
    add_arctangent(&two_pi, 32, 5, false);
    add_arctangent(&two_pi, 8, 239, true);
    for (uint32_t at = 0; at < places;) {
        /* The first chunk has the digits that do not fill one. */
        uint32_t size = (places - at) % 9 == 0 ? 9 : (places - at) % 9, chunk = 0;
        for (uint32_t i = 0; i < size; i++, at++)
            chunk = chunk * 10 + (at < (uint32_t)count ? digits[at] : 0);
        multiply_add(&f, chunk);
        take_off(&f, &two_pi);
    }
    /* The highest limbs, as a wide number. */
    wide part, sum = {.exponent = 0};
    for (uint32_t i = f.count; i-- > 0 && i + 18 > f.count;) {
        wide_from_int(f.limbs[i], &part);
        part.exponent -= wide_is_zero(&part) ? 0 : 32 * (int32_t)(f.count - 2 - i);
        wide_add(&sum, &part, &sum);
    }
    *result = sum;
}

uint32_t wide_reduce(const decimal *a, wide *result) {
    wide half_pi, rest, times;
    wide_from_decimal(a, &rest);
    if (rest.exponent > 64 && a->exponent >= 0) {
        reduce_huge(a, &rest);
        rest.negative = a->negative;
    }
    wide_pi(&half_pi);
    half_pi.exponent--;
    wide_divide(&rest, &half_pi, &times);
    uint32_t quadrant = wide_nearest(&times, &times);
    wide_multiply(&times, &half_pi, &times);
    wide_subtract(&rest, &times, result);
    return quadrant;
}
