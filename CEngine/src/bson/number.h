/*
 * bson/number.h -- exact order of numbers across int32, int64, double and decimal128.
 */
#ifndef TANSU_BSON_NUMBER_H
#define TANSU_BSON_NUMBER_H

#include "bson/decimal.h"
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

/* ---- Sums and products of numbers of all four types, for $inc and $mul ---- */

/*
 * int32 with int32 gives an int32, or an int64 when that is too small; int32 or int64 with int64 an
 * int64; with a double a double; with a decimal128 a decimal128. Whole numbers never wrap. A double
 * result is rounded by IEEE 754, but an int64 that is not exact as a double is an error. A
 * decimal128 result is the exact one, rounded half to even to 34 digits; a double operand counts
 * with 15 digits if these say which double it is (0.1 as 0.100000000000000), and otherwise with its
 * exact value, rounded likewise. What is too large for a double or a decimal128 is infinity.
 */

/* A number of any type, with its bytes. */
typedef struct number {
    uint8_t bytes[16];
    uint8_t size;
    uint8_t type;
} number;

enum number_fault {
    NUMBER_OK,
    NUMBER_OVERFLOW, /* a result that is too large for an int64 */
    NUMBER_INEXACT   /* an int64 beyond 2^53 that is not exact as a double */
};

enum number_fault number_add(const doc_value *a, const doc_value *b, number *result);
enum number_fault number_multiply(const doc_value *a, const doc_value *b, number *result);

/* number_zero -- the zero of a type. */
void number_zero(uint8_t type, number *result);

/* number_int32, number_int64 -- whole numbers. */
void number_int32(int32_t value, number *result);
void number_int64(int64_t value, number *result);

/* number_double, number_decimal -- a double and a decimal128. */
void number_double(double value, number *result);
void number_decimal(const decimal *value, number *result);

/* number_value -- the number as a value, which points into it. */
static inline doc_value number_value(const number *n) {
    return (doc_value){.data = n->bytes, .size = n->size, .type = n->type};
}

#endif
