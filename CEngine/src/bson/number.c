/*
 * bson/number.c -- exact comparison and keys of int32, int64, double and decimal128.
 */
#include "bson/number.h"

#include "bson/decimal.h"

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
    return put_inexact(out, (double)cut, magnitude, 0);
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
        if (decimal.coefficient == 0) {
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
    u128 half = unit / 2;
    if (unit == 1)
        return false;
    return rest > half || (rest == half && kept % 2 == 1);
}

/* decimal_whole -- number_whole() of a decimal128. */
static bool decimal_whole(const uint8_t *bytes, enum fraction fraction, int64_t *result) {
    decimal d;
    decimal_read(&d, bytes);
    if (d.kind != DECIMAL_FINITE)
        return false;
    u128 unit = 1;
    for (int32_t i = d.exponent; i < 0; i++) {
        if (unit > d.coefficient) { /* less than a tenth */
            *result = 0;
            return true;
        }
        unit *= 10;
    }
    u128 whole = d.coefficient / unit;
    if (fraction == FRACTION_HALF_EVEN && round_up(whole, d.coefficient % unit, unit))
        whole++;
    for (int32_t i = d.exponent; i > 0 && whole != 0; i--) {
        if (whole > INT64_MAX)
            return false;
        whole *= 10;
    }
    if (whole > (u128)INT64_MAX + d.negative)
        return false;
    *result = d.negative ? (int64_t)(0 - (uint64_t)whole) : (int64_t)whole;
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
