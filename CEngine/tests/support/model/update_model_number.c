/*
 * support/model/update_model_number.c -- numbers in decimal digits, as on paper: exact whatever
 * their types, and rounded once, at the end, when they are to be decimals. See
 * update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/update_model_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 16000 /* a sum of the greatest and the least decimal has less */
#define DECIMAL_DIGITS 34
#define DECIMAL_LEAST (-6176)
#define DECIMAL_MOST 6111

/* digits[0] is the last one; the value is ±digits * 10^exponent. */
typedef struct big {
    enum { FINITE, INFINITE, NOT_A_NUMBER } kind;
    bool negative;
    char digits[DIGITS];
    int count;
    int exponent;
} big;

static bool is_zero(const big *x) {
    for (int i = 0; i < x->count; i++) {
        if (x->digits[i] != 0)
            return false;
    }
    return true;
}

/* trim -- without zeros in front. */
static void trim(big *x) {
    while (x->count > 1 && x->digits[x->count - 1] == 0)
        x->count--;
}

/* read_text -- a number as printf and libbson write it. */
static void read_text(const char *text, big *x) {
    char front_first[DIGITS];
    int count = 0;
    bool fraction = false;
    x->negative = *text == '-';
    text += *text == '-' || *text == '+';
    x->kind = *text == 'I' || *text == 'i'   ? INFINITE
              : *text == 'N' || *text == 'n' ? NOT_A_NUMBER
                                             : FINITE;
    x->count = 1;
    x->digits[0] = 0;
    x->exponent = 0;
    if (x->kind != FINITE)
        return;
    for (; *text != '\0' && *text != 'E' && *text != 'e'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        REQUIRE(count < DIGITS);
        front_first[count++] = (char)(*text - '0');
        x->exponent -= fraction;
    }
    if (*text != '\0')
        x->exponent += atoi(text + 1);
    x->count = count;
    for (int i = 0; i < count; i++)
        x->digits[i] = front_first[count - 1 - i];
    trim(x);
}

/* is_too_long -- whether the coefficient has more digits than it may: there are bits for that.
 * Such a decimal is a zero, but libbson writes the digits. */
static bool is_too_long(const bson_decimal128_t *decimal) {
    const uint64_t high = 0x1ED09BEAD87C0, low = 0x378D8E6400000000; /* 10^34 */
    uint64_t own = decimal->high & 0x1FFFFFFFFFFFF;
    return (decimal->high >> 61 & 3) != 3 && (own > high || (own == high && decimal->low >= low));
}

/* read_number -- of any type. A double has the digits after the point that it needs. */
static void read_number(const bson_iter_t *iter, big *x) {
    char text[1500];
    if (BSON_ITER_HOLDS_DECIMAL128(iter)) {
        bson_decimal128_t decimal;
        bson_iter_decimal128(iter, &decimal);
        if (is_too_long(&decimal))
            snprintf(text, sizeof text, "%s0E%d", decimal.high >> 63 != 0 ? "-" : "",
                     (int)(decimal.high >> 49 & 0x3FFF) + DECIMAL_LEAST);
        else
            bson_decimal128_to_string(&decimal, text);
    } else if (BSON_ITER_HOLDS_DOUBLE(iter)) {
        snprintf(text, sizeof text, "%.1074f", bson_iter_double(iter));
        char *point = strchr(text, '.');
        for (char *last = text + strlen(text) - 1; point != NULL && last >= point; last--) {
            if (*last != '0' && *last != '.')
                break;
            *last = '\0';
        }
    } else {
        snprintf(text, sizeof text, "%lld", (long long)bson_iter_as_int64(iter));
    }
    read_text(text, x);
}

/* put_zeros -- the same value with a smaller exponent. */
static void put_zeros(big *x, int exponent) {
    int more = x->exponent - exponent;
    if (more <= 0)
        return;
    REQUIRE(x->count + more <= DIGITS);
    memmove(x->digits + more, x->digits, (size_t)x->count);
    memset(x->digits, 0, (size_t)more);
    x->count += more;
    x->exponent = exponent;
    trim(x);
}

/* digit -- the one before 10^at, zero outside. */
static int digit(const big *x, int at) {
    return at < x->count ? x->digits[at] : 0;
}

/* compare_sizes -- of two with one exponent, without their signs. */
static int compare_sizes(const big *a, const big *b) {
    for (int i = a->count > b->count ? a->count : b->count; i-- > 0;) {
        if (digit(a, i) != digit(b, i))
            return digit(a, i) < digit(b, i) ? -1 : 1;
    }
    return 0;
}

/* add_up -- a + b, both finite. */
static void add_up(big *a, big *b, big *sum) {
    int exponent = a->exponent < b->exponent ? a->exponent : b->exponent;
    put_zeros(a, exponent);
    put_zeros(b, exponent);
    bool same = a->negative == b->negative;
    const big *more = same || compare_sizes(a, b) >= 0 ? a : b, *less = more == a ? b : a;
    int carry = 0;
    sum->kind = FINITE;
    sum->exponent = exponent;
    sum->count = (a->count > b->count ? a->count : b->count) + 1;
    REQUIRE(sum->count <= DIGITS);
    for (int i = 0; i < sum->count; i++) {
        int d = digit(more, i) + (same ? digit(less, i) : -digit(less, i)) + carry;
        carry = d < 0 ? -1 : d / 10;
        sum->digits[i] = (char)(d < 0 ? d + 10 : d % 10);
    }
    trim(sum);
    sum->negative = is_zero(sum) ? a->negative && b->negative : more->negative;
}

/* multiply -- a * b, both finite. */
static void multiply(const big *a, const big *b, big *product) {
    product->kind = FINITE;
    product->negative = a->negative != b->negative;
    product->exponent = a->exponent + b->exponent;
    product->count = a->count + b->count;
    REQUIRE(product->count <= DIGITS);
    memset(product->digits, 0, (size_t)product->count);
    for (int i = 0; i < a->count; i++) {
        int carry = 0;
        for (int k = 0; k < b->count || carry != 0; k++) {
            int d = product->digits[i + k] + a->digits[i] * digit(b, k) + carry;
            product->digits[i + k] = (char)(d % 10);
            carry = d / 10;
        }
    }
    trim(product);
}

/* drop_digits -- rounds this many digits away, halves to even. */
static void drop_digits(big *x, int drop) {
    bool half = drop <= x->count && x->digits[drop - 1] >= 5, above = false;
    if (half) {
        above = x->digits[drop - 1] > 5;
        for (int i = 0; i < drop - 1; i++)
            above = above || x->digits[i] != 0;
    }
    int left = x->count > drop ? x->count - drop : 0;
    memmove(x->digits, x->digits + drop, (size_t)left);
    x->exponent += drop;
    x->count = left;
    if (left == 0)
        x->digits[x->count++] = 0;
    if (half && (above || x->digits[0] % 2 == 1)) {
        int i = 0;
        while (i < x->count && x->digits[i] == 9)
            x->digits[i++] = 0;
        if (i == x->count)
            x->digits[x->count++] = 0;
        x->digits[i]++;
    }
}

/* write_decimal -- as a decimal128; what is too great for one is infinite. */
static void write_decimal(big *x, bson_t *result) {
    bson_decimal128_t decimal;
    char text[80], *end = text;
    if (x->kind == FINITE) {
        int drop = x->count - DECIMAL_DIGITS;
        if (x->exponent + drop < DECIMAL_LEAST || drop < 0)
            drop = x->exponent < DECIMAL_LEAST ? DECIMAL_LEAST - x->exponent : 0;
        if (drop > 0)
            drop_digits(x, drop);
        if (x->count > DECIMAL_DIGITS) /* 99…9 was rounded up */
            drop_digits(x, 1);
        if (is_zero(x) && x->exponent > DECIMAL_MOST)
            x->exponent = DECIMAL_MOST;
        if (x->exponent > DECIMAL_MOST && x->exponent - DECIMAL_MOST + x->count <= DECIMAL_DIGITS)
            put_zeros(x, DECIMAL_MOST);
        if (x->exponent > DECIMAL_MOST)
            x->kind = INFINITE;
    }
    if (x->kind == FINITE) {
        if (x->negative)
            *end++ = '-';
        for (int i = x->count; i-- > 0;)
            *end++ = (char)('0' + x->digits[i]);
        snprintf(end, 16, "E%d", x->exponent);
    } else {
        snprintf(text, sizeof text, "%s",
                 x->kind == NOT_A_NUMBER ? "NaN"
                 : x->negative           ? "-Infinity"
                                         : "Infinity");
    }
    REQUIRE(bson_decimal128_from_string(text, &decimal));
    bson_append_decimal128(result, "v", 1, &decimal);
}

/* as_decimal -- a number as a decimal128 holds it: a double has 15 digits if these are enough, and
 * otherwise it is rounded to as many as there are. */
static void as_decimal(const bson_iter_t *iter, big *x) {
    char text[64];
    if (BSON_ITER_HOLDS_DOUBLE(iter) && bson_iter_double(iter) != 0) {
        snprintf(text, sizeof text, "%.14e", bson_iter_double(iter));
        if (strtod(text, NULL) == bson_iter_double(iter)) {
            read_text(text, x);
            return;
        }
    }
    read_number(iter, x);
    if (x->kind == FINITE && x->count > DECIMAL_DIGITS)
        drop_digits(x, x->count - DECIMAL_DIGITS);
    while (x->count > 1 && x->digits[0] == 0 && x->exponent < 0 && BSON_ITER_HOLDS_DOUBLE(iter)) {
        memmove(x->digits, x->digits + 1, (size_t)--x->count);
        x->exponent++;
    }
}

/* calculate_decimals -- with at least one decimal128. */
static void calculate_decimals(const bson_iter_t *a, const bson_iter_t *b, bool add,
                               bson_t *result) {
    static big x, y, z;
    as_decimal(a, &x);
    as_decimal(b, &y);
    if (x.kind == FINITE && y.kind == FINITE) {
        if (add)
            add_up(&x, &y, &z);
        else
            multiply(&x, &y, &z);
        write_decimal(&z, result);
        return;
    }
    z.kind = INFINITE;
    z.negative = add ? (x.kind == INFINITE ? x.negative : y.negative) : x.negative != y.negative;
    bool opposed = x.kind == INFINITE && y.kind == INFINITE && x.negative != y.negative;
    bool nothing = (x.kind == FINITE && is_zero(&x)) || (y.kind == FINITE && is_zero(&y));
    if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER || (add ? opposed : nothing))
        z.kind = NOT_A_NUMBER;
    write_decimal(&z, result);
}

/* is_whole_in_double -- whether a number loses nothing as a double. */
static bool is_whole_in_double(const bson_iter_t *iter) {
    if (BSON_ITER_HOLDS_DOUBLE(iter))
        return true;
    int64_t whole = bson_iter_as_int64(iter);
    double real = (double)whole;
    return real < 0x1p63 && (int64_t)real == whole;
}

bool model_number_calculate(const bson_iter_t *a, const bson_iter_t *b, bool add, bson_t *result) {
    if (BSON_ITER_HOLDS_DECIMAL128(a) || BSON_ITER_HOLDS_DECIMAL128(b)) {
        calculate_decimals(a, b, add, result);
        return true;
    }
    if (BSON_ITER_HOLDS_DOUBLE(a) || BSON_ITER_HOLDS_DOUBLE(b)) {
        if (!is_whole_in_double(a) || !is_whole_in_double(b))
            return false;
        double x = BSON_ITER_HOLDS_DOUBLE(a) ? bson_iter_double(a) : (double)bson_iter_as_int64(a);
        double y = BSON_ITER_HOLDS_DOUBLE(b) ? bson_iter_double(b) : (double)bson_iter_as_int64(b);
        bson_append_double(result, "v", 1, add ? x + y : x * y);
        return true;
    }
    int64_t x = bson_iter_as_int64(a), y = bson_iter_as_int64(b), z;
    if (add ? __builtin_add_overflow(x, y, &z) : __builtin_mul_overflow(x, y, &z))
        return false;
    if (BSON_ITER_HOLDS_INT32(a) && BSON_ITER_HOLDS_INT32(b) && z >= INT32_MIN && z <= INT32_MAX)
        bson_append_int32(result, "v", 1, (int32_t)z);
    else
        bson_append_int64(result, "v", 1, z);
    return true;
}

double model_number_double(const bson_iter_t *iter) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (!BSON_ITER_HOLDS_DECIMAL128(iter))
        return bson_iter_as_double(iter);
    bson_iter_decimal128(iter, &decimal);
    bson_decimal128_to_string(&decimal, text);
    return strtod(text, NULL);
}

int model_number_compare(const bson_iter_t *a, const bson_iter_t *b) {
    static big x, y;
    read_number(a, &x);
    read_number(b, &y);
    if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER)
        return (y.kind == NOT_A_NUMBER) - (x.kind == NOT_A_NUMBER);
    int x_sign = x.kind == FINITE && is_zero(&x) ? 0 : x.negative ? -1 : 1;
    int y_sign = y.kind == FINITE && is_zero(&y) ? 0 : y.negative ? -1 : 1;
    if (x_sign != y_sign || x_sign == 0)
        return (x_sign > y_sign) - (x_sign < y_sign);
    int order;
    if (x.kind == INFINITE || y.kind == INFINITE) {
        order = (x.kind == INFINITE) - (y.kind == INFINITE);
    } else if (x.count + x.exponent != y.count + y.exponent) {
        order = x.count + x.exponent < y.count + y.exponent ? -1 : 1;
    } else {
        int exponent = x.exponent < y.exponent ? x.exponent : y.exponent;
        put_zeros(&x, exponent);
        put_zeros(&y, exponent);
        order = compare_sizes(&x, &y);
    }
    return x_sign * order;
}
