/*
 * bson/decimal_math.h -- roots, powers, logarithms and trigonometric functions of decimal128 values.
 *
 * The results are those of the decimal library that MongoDB uses. It computes most functions with
 * binary numbers of 113 bits and converts their results, so the last of 34 digits may differ from
 * the correctly rounded one.
 *
 * What has no value, such as the logarithm of a negative number, is NaN. A result may be one of the
 * operands.
 */
#ifndef TANSU_BSON_DECIMAL_MATH_H
#define TANSU_BSON_DECIMAL_MATH_H

#include "bson/decimal.h"

void decimal_sqrt(const decimal *a, decimal *result); /* correctly rounded */
void decimal_exp(const decimal *a, decimal *result);
void decimal_ln(const decimal *a, decimal *result);
void decimal_log10(const decimal *a, decimal *result);

/* decimal_power -- base^exponent, with as many digits as it can have. */
void decimal_power(const decimal *base, const decimal *exponent, decimal *result);

enum decimal_function {
    DECIMAL_SIN,
    DECIMAL_COS,
    DECIMAL_TAN,
    DECIMAL_ASIN,
    DECIMAL_ACOS,
    DECIMAL_ATAN,
    DECIMAL_SINH,
    DECIMAL_COSH,
    DECIMAL_TANH,
    DECIMAL_ASINH,
    DECIMAL_ACOSH,
    DECIMAL_ATANH
};

/* decimal_trigonometry -- a trigonometric or hyperbolic function, or the inverse of one. */
void decimal_trigonometry(enum decimal_function function, const decimal *a, decimal *result);

/* decimal_atan2 -- the angle of the point (x, y). */
void decimal_atan2(const decimal *y, const decimal *x, decimal *result);

#endif
