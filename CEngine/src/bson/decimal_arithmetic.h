/*
 * bson/decimal_arithmetic.h -- sums and products of decimals, with the special values of IEEE 754.
 *
 * A result is the exact one, rounded half to even to 34 digits.
 */
#ifndef TANSU_BSON_DECIMAL_ARITHMETIC_H
#define TANSU_BSON_DECIMAL_ARITHMETIC_H

#include "bson/decimal.h"

/* decimal_add, decimal_multiply -- what is too large for the format is infinity. */
void decimal_add(const decimal *a, const decimal *b, decimal *result);
void decimal_multiply(const decimal *a, const decimal *b, decimal *result);

/* decimal_from_double -- a double with 15 digits, as in MongoDB, when these say exactly which
 * double it is; otherwise its exact value, rounded likewise and without zeros at the end of a
 * fraction. */
void decimal_from_double(double value, decimal *result);

#endif
