/*
 * bson/decimal.h -- IEEE 754 decimal128 values: their bytes, and comparing them with doubles.
 */
#ifndef TANSU_BSON_DECIMAL_H
#define TANSU_BSON_DECIMAL_H

#include "util/u128.h"

#include <stdbool.h>
#include <stdint.h>

#define DECIMAL_MAX_DIGITS 34
#define DECIMAL_MIN_EXPONENT (-6176)
#define DECIMAL_MAX_EXPONENT 6111

enum decimal_kind { DECIMAL_FINITE, DECIMAL_INFINITE, DECIMAL_NAN };

/* A finite value is coefficient * 10^exponent; the coefficient is below 10^34. */
typedef struct decimal {
    u128 coefficient;
    int32_t exponent;
    enum decimal_kind kind;
    bool negative;
} decimal;

/* decimal_read -- decodes the 16 bytes of a BSON decimal128. Coefficients that are too large for
 * the format are zero, as IEEE 754 requires. */
void decimal_read(decimal *decimal, const uint8_t *bytes);

/* decimal_write -- encodes it as the 16 bytes of a BSON decimal128. A finite one must be within the
 * format. */
void decimal_write(const decimal *decimal, uint8_t *bytes);

/* decimal_bound -- 10^34, one more than the greatest coefficient. */
static inline u128 decimal_bound(void) {
    return u128_multiply(u128_of(10000000000000000u), 1000000000000000000u);
}

/* decimal_digits -- writes the decimal digits (0 to 9) of a non-zero number, most significant
 * first, and returns their number. `digits` needs a capacity of 40. */
uint32_t decimal_digits(u128 number, uint8_t *digits);

/* decimal_cut -- the greatest double that is not above the magnitude of a finite, non-zero decimal
 * (0 below the least double, DBL_MAX above the greatest); true when it is exactly the magnitude. */
bool decimal_cut(const decimal *decimal, double *cut);

/* decimal_as_int64 -- the value of the 16 bytes of a decimal128 if it is a whole int64. */
bool decimal_as_int64(const uint8_t *bytes, int64_t *result);

/* decimal_is_zero -- whether the 16 bytes of a decimal128 are a zero (of any sign and exponent). */
bool decimal_is_zero(const uint8_t *bytes);

/* ---- Sums and products of decimals, with the special values of IEEE 754 ---- */

/*
 * A result is the exact one, rounded half to even to 34 digits.
 */

/* decimal_add, decimal_multiply -- what is too large for the format is infinity. The result may be
 * one of the operands. */
void decimal_add(const decimal *a, const decimal *b, decimal *result);
void decimal_multiply(const decimal *a, const decimal *b, decimal *result);

/* decimal_from_double -- a double with 15 digits, as in MongoDB, when these say exactly which
 * double it is; otherwise its exact value, rounded likewise and without zeros at the end of a
 * fraction. */
void decimal_from_double(double value, decimal *result);

#endif
