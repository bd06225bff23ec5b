/*
 * bson/decimal_arithmetic.h -- quotients, remainders and rounding of decimal128 values, and their
 * conversion to and from doubles, as in IEEE 754 and MongoDB.
 *
 * A result may be one of the operands.
 */
#ifndef TANSU_BSON_DECIMAL_ARITHMETIC_H
#define TANSU_BSON_DECIMAL_ARITHMETIC_H

#include "bson/decimal.h"

enum decimal_rounding { DECIMAL_HALF_EVEN, DECIMAL_TRUNCATE, DECIMAL_FLOOR, DECIMAL_CEILING };

/* decimal_quotient -- the quotient, rounded half to even; by zero infinity, or NaN. An exact one has
 * the exponent a->exponent - b->exponent if it can. */
void decimal_quotient(const decimal *a, const decimal *b, decimal *result);

/* decimal_remainder -- what is left of `a` when it is divided by `b`, with the sign of `a`: exact.
 * Of infinity or by zero it is NaN. */
void decimal_remainder(const decimal *a, const decimal *b, decimal *result);

/* decimal_subtract -- a - b. */
void decimal_subtract(const decimal *a, const decimal *b, decimal *result);

/* decimal_quantize -- the value with that exponent; NaN when this needs more than 34 digits, and
 * for infinity. */
void decimal_quantize(const decimal *a, int32_t exponent, enum decimal_rounding rounding,
                      decimal *result);

/* decimal_normalise -- the same value with as many digits as it can have; zero has the least
 * exponent. */
void decimal_normalise(const decimal *a, decimal *result);

/* decimal_nearest -- the decimal nearest to coefficient * 10^exponent, half to even; infinity beyond
 * the greatest. `more`: there are other digits behind those of the coefficient, which has more than
 * 34 then. */
void decimal_nearest(u128 coefficient, bool more, int32_t exponent, bool negative, decimal *result);

/* decimal_from_int64 -- a whole number. */
void decimal_from_int64(int64_t value, decimal *result);

/* decimal_from_double_15, decimal_from_double_34 -- a double, rounded half to even to 15 digits, all
 * of which it has then, or to 34 digits. */
void decimal_from_double_15(double value, decimal *result);
void decimal_from_double_34(double value, decimal *result);

/* decimal_to_double -- the nearest double. */
double decimal_to_double(const decimal *a);

#endif
