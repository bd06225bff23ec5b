/*
 * bson/decimal_arithmetic.h -- sums and products of decimals, with the special values of IEEE 754.
 *
 * A result is the exact one, rounded half to even to 34 digits.
 */
#ifndef TANSU_BSON_DECIMAL_ARITHMETIC_H
#define TANSU_BSON_DECIMAL_ARITHMETIC_H

#include "bson/decimal.h"

/* decimal_add, decimal_multiply -- false when finite operands have a result that is too large for
 * the format. */
bool decimal_add(const decimal *a, const decimal *b, decimal *result);
bool decimal_multiply(const decimal *a, const decimal *b, decimal *result);

/* decimal_from_double -- the exact value of a double, rounded likewise. Whole numbers have exponent
 * 0 where possible. */
void decimal_from_double(double value, decimal *result);

#endif
