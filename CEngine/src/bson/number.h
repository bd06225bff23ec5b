/*
 * bson/number.h -- exact order of numbers across int32, int64, double and decimal128.
 */
#ifndef TANSU_BSON_NUMBER_H
#define TANSU_BSON_NUMBER_H

#include "bson/document.h"

/* Classes of numbers in their order; each is also the first byte of its numbers' keys. */
enum number_class {
    NUMBER_NAN = 0x08,
    NUMBER_NEGATIVE_INFINITY = 0x10,
    NUMBER_NEGATIVE = 0x18,
    NUMBER_ZERO = 0x20,
    NUMBER_POSITIVE = 0x28,
    NUMBER_POSITIVE_INFINITY = 0x30
};

/* number_is_nan -- whether a value is a NaN, double or decimal128. */
bool number_is_nan(const doc_value *value);

/* What number_whole() makes of the fraction of a decimal128; that of a double is cut off. */
enum fraction { FRACTION_CUT, FRACTION_HALF_EVEN };

/* number_whole -- a number without its fraction; false for NaN, for what an int64 cannot hold, and
 * for values that are no number. */
bool number_whole(const doc_value *value, enum fraction fraction, int64_t *result);

/* The maximum size of a key. */
#define NUMBER_KEY_MAX 30

/* number_compare -- <0, 0 or >0 by exact mathematical value; NaN equals NaN and is below all. */
int number_compare(const doc_value *a, const doc_value *b);

/*
 * number_key -- writes the order-preserving key of a number and returns its size:
 *
 *     class      NaN, -inf, negative, zero, positive, +inf
 *     8 bytes    (negative and positive only) the magnitude, truncated to a double, big-endian
 *     1 byte     0: that is exact; 1: the magnitude is greater, and this follows:
 *     2 bytes    the decimal exponent of the first digit, with an offset of 0x8000, big-endian
 *     digits     of the magnitude, two in a byte, as 1 + their value; no trailing zeros
 *     1 byte     0
 *
 * In negative numbers all bits after the class are complemented.
 */
uint32_t number_key(uint8_t key[NUMBER_KEY_MAX], const doc_value *number);

#endif
