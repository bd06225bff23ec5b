/*
 * bson/number_arithmetic.h -- sums and products of numbers of all four types, for $inc and
 * $mul.
 *
 * int32 with int32 gives an int32, or an int64 when that is too small; int32 or int64 with int64 an
 * int64; with a double a double; with a decimal128 a decimal128. Whole numbers never wrap. A double
 * result is rounded by IEEE 754, but an int64 that is not exact as a double is an error. A
 * decimal128 result is the exact one, rounded half to even to 34 digits; a double operand counts
 * with 15 digits if these say which double it is (0.1 as 0.100000000000000), and otherwise with its
 * exact value, rounded likewise. What is too large for a double or a decimal128 is infinity.
 */
#ifndef TANSU_BSON_NUMBER_ARITHMETIC_H
#define TANSU_BSON_NUMBER_ARITHMETIC_H

#include "bson/document.h"

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

/* number_value -- the number as a value, which points into it. */
static inline doc_value number_value(const number *n) {
    return (doc_value){.data = n->bytes, .size = n->size, .type = n->type};
}

#endif
