/*
 * bson/number.c -- exact comparison and keys of int32, int64, double and decimal128.
 */
#include "bson/number.h"

#include <math.h>

/* put_exact -- writes the bits of the double, and 0: it is exact. */
static inline uint8_t *put_exact(uint8_t *out, double magnitude) {
    uint64_t bits;
    memcpy(&bits, &magnitude, 8);
    store_be64(out, bits);
    out[8] = 0;
    return out + 9;
}

/* put_inexact -- writes the truncated double, 1, and the digits of coefficient * 10^exponent. */
static uint8_t *put_inexact(uint8_t *out, double cut, u128 coefficient, int32_t exponent) {
    out = put_exact(out, cut);
    out[-1] = 1;
    uint8_t digits[DECIMAL_MAX_DIGITS + 6];
    uint32_t count = decimal_digits(coefficient, digits);
    uint32_t first = (uint32_t)(exponent + (int32_t)count - 1 + 0x8000);
    *out++ = (uint8_t)(first >> 8);
    *out++ = (uint8_t)first;
    while (count > 0 && digits[count - 1] == 0)
        count--;
    digits[count] = 0; /* the second of the last pair, when the count is odd */
    for (uint32_t i = 0; i < count; i += 2)
        *out++ = (uint8_t)(1 + digits[i] * 10 + digits[i + 1]);
    *out++ = 0;
    return out;
}

/* put_integer -- writes the magnitude of an int64; not zero. */
static uint8_t *put_integer(uint8_t *out, uint64_t magnitude) {
    int spare = 11 - __builtin_clzll(magnitude); /* bits beyond a double's 53 */
    uint64_t cut = spare > 0 ? magnitude >> spare << spare : magnitude;
    if (cut == magnitude)
        return put_exact(out, (double)magnitude);
    return put_inexact(out, (double)cut, u128_of(magnitude), 0);
}

uint32_t number_key(uint8_t key[NUMBER_KEY_MAX], const doc_value *number) {
    uint8_t *out = key + 1;
    bool negative = false;
    switch (number->type) {
    case DOC_DOUBLE: {
        double value = doc_double(number);
        if (isnan(value)) {
            key[0] = NUMBER_NAN;
            return 1;
        }
        if (value == 0) {
            key[0] = NUMBER_ZERO;
            return 1;
        }
        negative = value < 0;
        if (isinf(value)) {
            key[0] = negative ? NUMBER_NEGATIVE_INFINITY : NUMBER_POSITIVE_INFINITY;
            return 1;
        }
        out = put_exact(out, negative ? -value : value);
        break;
    }
    case DOC_INT32: {
        double value = doc_int32(number);
        if (value == 0) {
            key[0] = NUMBER_ZERO;
            return 1;
        }
        negative = value < 0;
        out = put_exact(out, negative ? -value : value);
        break;
    }
    case DOC_INT64: {
        int64_t value = doc_int64(number);
        if (value == 0) {
            key[0] = NUMBER_ZERO;
            return 1;
        }
        negative = value < 0;
        out = put_integer(out, negative ? 0 - (uint64_t)value : (uint64_t)value);
        break;
    }
    default: {
        decimal decimal;
        decimal_read(&decimal, number->data);
        negative = decimal.negative;
        if (decimal.kind != DECIMAL_FINITE) {
            key[0] = decimal.kind == DECIMAL_NAN ? NUMBER_NAN
                     : negative                  ? NUMBER_NEGATIVE_INFINITY
                                                 : NUMBER_POSITIVE_INFINITY;
            return 1;
        }
        if (u128_is_zero(decimal.coefficient)) {
            key[0] = NUMBER_ZERO;
            return 1;
        }
        double cut;
        if (decimal_cut(&decimal, &cut))
            out = put_exact(out, cut);
        else
            out = put_inexact(out, cut, decimal.coefficient, decimal.exponent);
        break;
    }
    }
    uint32_t size = (uint32_t)(out - key);
    key[0] = negative ? NUMBER_NEGATIVE : NUMBER_POSITIVE;
    if (negative) {
        for (uint32_t i = 1; i < size; i++)
            key[i] = (uint8_t)~key[i];
    }
    return size;
}

/* compare_int64 -- the order of two whole numbers. */
static inline int compare_int64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* compare_double -- the order of two doubles, NaN below all. */
static inline int compare_double(double a, double b) {
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    return (int)isnan(b) - (int)isnan(a);
}

/* compare_int64_double -- the exact order of a whole number and a double. */
static int compare_int64_double(int64_t a, double b) {
    if (isnan(b))
        return 1;
    if (b >= 9223372036854775808.0)
        return -1;
    if (b < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)b; /* toward zero */
    if (a != whole)
        return a < whole ? -1 : 1;
    double rest = b - (double)whole; /* exact; from 2^53 on it is zero */
    return rest > 0 ? -1 : rest < 0;
}

/* is_integer -- whether the value is an int32 or int64, and its value. */
static inline bool is_integer(const doc_value *value, int64_t *result) {
    if (value->type == DOC_INT32) {
        *result = doc_int32(value);
        return true;
    }
    if (value->type == DOC_INT64) {
        *result = doc_int64(value);
        return true;
    }
    return false;
}

int number_compare(const doc_value *a, const doc_value *b) {
    int64_t a_whole;
    int64_t b_whole;
    if (is_integer(a, &a_whole)) {
        if (is_integer(b, &b_whole))
            return compare_int64(a_whole, b_whole);
        if (b->type == DOC_DOUBLE)
            return compare_int64_double(a_whole, doc_double(b));
    } else if (a->type == DOC_DOUBLE) {
        if (b->type == DOC_DOUBLE)
            return compare_double(doc_double(a), doc_double(b));
        if (is_integer(b, &b_whole))
            return -compare_int64_double(b_whole, doc_double(a));
    }
    /* One is a decimal. No key is a prefix of another, so the sizes never decide. */
    uint8_t a_key[NUMBER_KEY_MAX];
    uint8_t b_key[NUMBER_KEY_MAX];
    uint32_t a_size = number_key(a_key, a);
    uint32_t b_size = number_key(b_key, b);
    return memcmp(a_key, b_key, a_size < b_size ? a_size : b_size);
}

bool number_is_nan(const doc_value *value) {
    decimal decimal;
    if (value->type == DOC_DOUBLE)
        return isnan(doc_double(value));
    if (value->type != DOC_DECIMAL128)
        return false;
    decimal_read(&decimal, value->data);
    return decimal.kind == DECIMAL_NAN;
}

/* round_up -- whether a coefficient whose last digits were cut off is rounded up, half to even. */
static bool round_up(u128 kept, u128 rest, u128 unit) {
    u128 half = u128_shift_right(unit, 1);
    if (u128_equal(unit, u128_of(1)))
        return false;
    return u128_less(half, rest) || (u128_equal(rest, half) && (u128_low(kept) & 1));
}

/* decimal_whole -- number_whole() of a decimal128. */
static bool decimal_whole(const uint8_t *bytes, enum fraction fraction, int64_t *result) {
    decimal d;
    decimal_read(&d, bytes);
    if (d.kind != DECIMAL_FINITE)
        return false;
    u128 unit = u128_of(1), rest;
    for (int32_t i = d.exponent; i < 0; i++) {
        if (u128_less(d.coefficient, unit)) { /* less than a tenth */
            *result = 0;
            return true;
        }
        unit = u128_multiply(unit, 10);
    }
    u128 whole = u128_divide(d.coefficient, unit, &rest);
    if (fraction == FRACTION_HALF_EVEN && round_up(whole, rest, unit))
        whole = u128_add(whole, u128_of(1));
    for (int32_t i = d.exponent; i > 0 && !u128_is_zero(whole); i--) {
        if (u128_less(u128_of(INT64_MAX), whole))
            return false;
        whole = u128_multiply(whole, 10);
    }
    if (u128_less(u128_of((uint64_t)INT64_MAX + d.negative), whole))
        return false;
    uint64_t low = u128_low(whole);
    *result = (int64_t)(d.negative ? 0 - low : low);
    return true;
}

bool number_whole(const doc_value *value, enum fraction fraction, int64_t *result) {
    if (value->type == DOC_DECIMAL128)
        return decimal_whole(value->data, fraction, result);
    if (value->type != DOC_DOUBLE)
        return is_integer(value, result);
    double number = doc_double(value);
    /* Both bounds are exact doubles; NaN fails the comparison. */
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
        return false;
    *result = (int64_t)number;
    return true;
}

/* ---- Exact sums and products of numbers of any two types ---- */

void number_int32(int32_t value, number *result) {
    *result = (number){.type = DOC_INT32, .size = 4};
    store_u32(result->bytes, (uint32_t)value);
}

void number_int64(int64_t value, number *result) {
    *result = (number){.type = DOC_INT64, .size = 8};
    store_u64(result->bytes, (uint64_t)value);
}

void number_double(double value, number *result) {
    *result = (number){.type = DOC_DOUBLE, .size = 8};
    memcpy(result->bytes, &value, 8);
}

void number_decimal(const decimal *value, number *result) {
    *result = (number){.type = DOC_DECIMAL128, .size = 16};
    decimal_write(value, result->bytes);
}

void number_zero(uint8_t type, number *result) {
    switch (type) {
    case DOC_INT32: number_int32(0, result); break;
    case DOC_INT64: number_int64(0, result); break;
    case DOC_DOUBLE: number_double(0, result); break;
    default: number_decimal(&(decimal){.kind = DECIMAL_FINITE}, result); break;
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
        result->coefficient = u128_of(number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
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
    number_decimal(&c, result);
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
        number_double(add ? x + y : x * y, result);
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
