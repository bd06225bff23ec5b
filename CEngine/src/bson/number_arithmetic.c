/*
 * bson/number_arithmetic.c -- exact sums and products of numbers of any two types.
 */
#include "bson/number_arithmetic.h"

#include "bson/decimal_arithmetic.h"

void number_int32(int32_t value, number *result) {
    *result = (number){.type = DOC_INT32, .size = 4};
    store_u32(result->bytes, (uint32_t)value);
}

void number_int64(int64_t value, number *result) {
    *result = (number){.type = DOC_INT64, .size = 8};
    store_u64(result->bytes, (uint64_t)value);
}

/* set_double -- a double. */
static void set_double(double value, number *result) {
    *result = (number){.type = DOC_DOUBLE, .size = 8};
    memcpy(result->bytes, &value, 8);
}

/* set_decimal -- a decimal128. */
static void set_decimal(const decimal *value, number *result) {
    *result = (number){.type = DOC_DECIMAL128, .size = 16};
    decimal_write(value, result->bytes);
}

void number_zero(uint8_t type, number *result) {
    switch (type) {
    case DOC_INT32: number_int32(0, result); break;
    case DOC_INT64: number_int64(0, result); break;
    case DOC_DOUBLE: set_double(0, result); break;
    default: set_decimal(&(decimal){.kind = DECIMAL_FINITE}, result); break;
    }
}

/* ---- Sums and products ---- */

/* whole -- the value of an int32 or int64. */
static int64_t whole(const doc_value *value) {
    return value->type == DOC_INT32 ? doc_int32(value) : doc_int64(value);
}

/* as_decimal -- any number as a decimal. */
static void as_decimal(const doc_value *value, decimal *result) {
    if (value->type == DOC_DECIMAL128) {
        decimal_read(result, value->data);
    } else if (value->type == DOC_DOUBLE) {
        decimal_from_double(doc_double(value), result);
    } else {
        int64_t number = whole(value);
        *result = (decimal){.kind = DECIMAL_FINITE, .negative = number < 0};
        result->coefficient = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    }
}

/* combine_decimals -- a sum or product with a decimal128. */
static void combine_decimals(const doc_value *left, const doc_value *right, bool add,
                             number *result) {
    decimal a, b, c;
    as_decimal(left, &a);
    as_decimal(right, &b);
    if (add)
        decimal_add(&a, &b, &c);
    else
        decimal_multiply(&a, &b, &c);
    set_decimal(&c, result);
}

/* as_double -- a number as a double; false when that is not exact. */
static bool as_double(const doc_value *value, double *result) {
    if (value->type == DOC_DOUBLE) {
        *result = doc_double(value);
        return true;
    }
    int64_t number = whole(value);
    *result = (double)number;
    return *result < 9223372036854775808.0 && (int64_t)*result == number;
}

/* combine -- a sum or product. */
static enum number_fault combine(const doc_value *a, const doc_value *b, bool add, number *result) {
    if (a->type == DOC_DECIMAL128 || b->type == DOC_DECIMAL128) {
        combine_decimals(a, b, add, result);
        return NUMBER_OK;
    }
    if (a->type == DOC_DOUBLE || b->type == DOC_DOUBLE) {
        double x, y;
        if (!as_double(a, &x) || !as_double(b, &y))
            return NUMBER_INEXACT;
        set_double(add ? x + y : x * y, result);
        return NUMBER_OK;
    }
    int64_t z;
    if (add ? __builtin_add_overflow(whole(a), whole(b), &z)
            : __builtin_mul_overflow(whole(a), whole(b), &z))
        return NUMBER_OVERFLOW;
    if (a->type == DOC_INT32 && b->type == DOC_INT32 && z >= INT32_MIN && z <= INT32_MAX)
        number_int32((int32_t)z, result);
    else
        number_int64(z, result);
    return NUMBER_OK;
}

enum number_fault number_add(const doc_value *a, const doc_value *b, number *result) {
    return combine(a, b, true, result);
}

enum number_fault number_multiply(const doc_value *a, const doc_value *b, number *result) {
    return combine(a, b, false, result);
}
