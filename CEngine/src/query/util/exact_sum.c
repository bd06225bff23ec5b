/*
 * query/util/exact_sum.c -- exact sums in fixed-point numbers.
 */
#include "query/util/exact_sum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- Doubles: a multiple of 2^-1074, in digits of 32 bits that may be out of range until they are
 * normalised ---- */

#define BINARY_LIMBS 70
#define BINARY_LEAST (-1074)
#define MAX_ADDED (1u << 30) /* additions before digits must be normalised */

typedef struct binary_sum {
    int64_t limbs[BINARY_LIMBS]; /* least significant first */
    uint32_t added;
} binary_sum;

/* binary_carry -- normalises all digits except the highest. */
static void binary_carry(binary_sum *b) {
    for (uint32_t i = 0; i + 1 < BINARY_LIMBS; i++) {
        int64_t digit = b->limbs[i] & 0xFFFFFFFF;
        b->limbs[i + 1] += (b->limbs[i] - digit) / ((int64_t)1 << 32);
        b->limbs[i] = digit;
    }
    b->added = 0;
}

/* binary_put -- adds or subtracts magnitude * 2^exponent; the exponent is at least BINARY_LEAST. */
static void binary_put(binary_sum *b, uint64_t magnitude, int exponent, bool negative) {
    uint32_t shift = (uint32_t)(exponent - BINARY_LEAST);
    u128 wide = u128_shift_left(u128_of(magnitude), shift % 32);
    for (uint32_t i = shift / 32; !u128_is_zero(wide); i++, wide = u128_shift_right(wide, 32)) {
        int64_t digit = (uint32_t)u128_low(wide);
        b->limbs[i] += negative ? -digit : digit;
    }
    if (++b->added == MAX_ADDED)
        binary_carry(b);
}

/* binary_put_double -- adds a finite double. */
static void binary_put_double(binary_sum *b, double number) {
    int exponent;
    double fraction = frexp(fabs(number), &exponent);
    uint64_t mantissa = (uint64_t)ldexp(fraction, DBL_MANT_DIG);
    exponent -= DBL_MANT_DIG;
    /* The bits of a subnormal below the least exponent are zero. */
    while (exponent < BINARY_LEAST && mantissa != 0) {
        mantissa >>= 1;
        exponent++;
    }
    if (mantissa != 0)
        binary_put(b, mantissa, exponent, signbit(number));
}

/* whole_sign -- replaces a negative number in two's complement by its magnitude; true if it was
 * negative. */
static bool whole_sign(u128 *number) {
    bool negative = u128_high(*number) >> 63;
    if (negative)
        *number = u128_add(u128_join(~u128_high(*number), ~u128_low(*number)), u128_of(1));
    return negative;
}

/* binary_put_whole -- adds a whole number in two's complement. */
static void binary_put_whole(binary_sum *b, u128 number) {
    bool negative = whole_sign(&number);
    binary_put(b, u128_low(number), 0, negative);
    binary_put(b, u128_high(number), 64, negative);
}

/* binary_sign -- normalises, and replaces a negative number by its magnitude; true if it was
 * negative. */
static bool binary_sign(binary_sum *b) {
    binary_carry(b);
    bool negative = b->limbs[BINARY_LIMBS - 1] < 0;
    for (uint32_t i = 0; negative && i < BINARY_LIMBS; i++)
        b->limbs[i] = -b->limbs[i];
    if (negative)
        binary_carry(b);
    return negative;
}

/* binary_bit -- a bit of a normalised magnitude. */
static uint64_t binary_bit(const binary_sum *b, uint32_t bit) {
    return (uint64_t)b->limbs[bit / 32] >> bit % 32 & 1;
}

/* binary_divide -- divides a normalised magnitude and returns the remainder. */
static uint64_t binary_divide(binary_sum *b, uint64_t divisor) {
    u128 rest = u128_of(0);
    for (uint32_t i = BINARY_LIMBS; i-- > 0;) {
        rest = u128_add(u128_shift_left(rest, 32), u128_of((uint64_t)b->limbs[i]));
        b->limbs[i] = (int64_t)u128_low(u128_divide(rest, u128_of(divisor), &rest));
    }
    return u128_low(rest);
}

/* binary_round -- rounds a normalised magnitude plus rest / divisor of its last digit to mantissa *
 * 2^exponent: the nearest with 53 bits, ties to even. */
static uint64_t binary_round(const binary_sum *b, uint64_t rest, uint64_t divisor, int *exponent) {
    uint32_t top = BINARY_LIMBS * 32;
    while (top > 0 && !binary_bit(b, top - 1))
        top--;
    uint32_t low = top > DBL_MANT_DIG ? top - DBL_MANT_DIG : 0;
    uint64_t mantissa = 0;
    for (uint32_t i = top; i > low; i--)
        mantissa = mantissa << 1 | binary_bit(b, i - 1);
    *exponent = (int)low + BINARY_LEAST;
    bool half = low == 0 ? rest >= divisor - rest : binary_bit(b, low - 1);
    bool above = low == 0 ? rest > divisor - rest : rest != 0;
    for (uint32_t i = 0; half && !above && i + 1 < low; i++)
        above = binary_bit(b, i);
    return mantissa + (half && (above || (mantissa & 1)));
}

/* ---- Decimals: a multiple of 10^-6186, in digits of 10^9 likewise ---- */

#define DECIMAL_LIMBS 1380
#define DECIMAL_LEAST (-6186) /* so that 10^-1074 begins a digit */
#define BILLION 1000000000
#define DECIMAL_MIN_EXPONENT (-6176)
#define DECIMAL_MAX_EXPONENT 6111

typedef struct decimal_sum {
    int64_t limbs[DECIMAL_LIMBS]; /* least significant first */
    uint32_t added;
} decimal_sum;

/* decimal_carry -- normalises all digits except the highest. */
static void decimal_carry(decimal_sum *d) {
    for (uint32_t i = 0; i + 1 < DECIMAL_LIMBS; i++) {
        int64_t digit = d->limbs[i] % BILLION;
        if (digit < 0)
            digit += BILLION;
        d->limbs[i + 1] += (d->limbs[i] - digit) / BILLION;
        d->limbs[i] = digit;
    }
    d->added = 0;
}

/* decimal_put -- adds or subtracts magnitude * 10^exponent. */
static void decimal_put(decimal_sum *d, u128 magnitude, int32_t exponent, bool negative) {
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    uint32_t shift = (uint32_t)(exponent - DECIMAL_LEAST);
    for (uint32_t i = shift / 9; !u128_is_zero(magnitude); i++) {
        u128 rest;
        magnitude = u128_divide(magnitude, u128_of(BILLION), &rest);
        int64_t piece = (int64_t)u128_low(rest) * powers[shift % 9];
        d->limbs[i] += negative ? -(piece % BILLION) : piece % BILLION;
        d->limbs[i + 1] += negative ? -(piece / BILLION) : piece / BILLION;
    }
    if (++d->added == MAX_ADDED)
        decimal_carry(d);
}

/* A whole number in digits of 10^9, wide enough for any binary sum times 5^1074. */
typedef struct billions {
    uint64_t limbs[180];
    uint32_t count;
} billions;

/* billions_multiply_add -- multiplies by a factor below 2^33 and adds. */
static void billions_multiply_add(billions *b, uint64_t factor, uint64_t carry) {
    for (uint32_t i = 0; i < b->count; i++) {
        carry += b->limbs[i] * factor;
        b->limbs[i] = carry % BILLION;
        carry /= BILLION;
    }
    for (; carry != 0; carry /= BILLION)
        b->limbs[b->count++] = carry % BILLION;
}

/* decimal_put_binary -- adds a binary sum, exactly: n * 2^-1074 is n * 5^1074 * 10^-1074. */
static void decimal_put_binary(decimal_sum *d, binary_sum *binary) {
    bool negative = binary_sign(binary);
    billions b = {.count = 0};
    for (uint32_t i = BINARY_LIMBS; i-- > 0;)
        billions_multiply_add(&b, (uint64_t)1 << 32, (uint64_t)binary->limbs[i]);
    for (int32_t left = -BINARY_LEAST; left > 0; left -= 13) {
        uint64_t factor = 1;
        for (int32_t i = 0; i < 13 && i < left; i++)
            factor *= 5;
        billions_multiply_add(&b, factor, 0);
    }
    uint32_t first = (BINARY_LEAST - DECIMAL_LEAST) / 9;
    for (uint32_t i = 0; i < b.count; i++)
        d->limbs[first + i] += negative ? -(int64_t)b.limbs[i] : (int64_t)b.limbs[i];
}

/* decimal_sign -- normalises, and replaces a negative number by its magnitude; true if it was
 * negative. */
static bool decimal_sign(decimal_sum *d) {
    decimal_carry(d);
    bool negative = d->limbs[DECIMAL_LIMBS - 1] < 0;
    for (uint32_t i = 0; negative && i < DECIMAL_LIMBS; i++)
        d->limbs[i] = -d->limbs[i];
    if (negative)
        decimal_carry(d);
    return negative;
}

/* decimal_divide -- divides a normalised magnitude; true when there is a remainder. */
static bool decimal_divide(decimal_sum *d, uint64_t divisor) {
    u128 rest = u128_of(0);
    for (uint32_t i = DECIMAL_LIMBS; i-- > 0;) {
        rest = u128_add(u128_multiply(rest, BILLION), u128_of((uint64_t)d->limbs[i]));
        d->limbs[i] = (int64_t)u128_low(u128_divide(rest, u128_of(divisor), &rest));
    }
    return !u128_is_zero(rest);
}

/* decimal_digit -- a decimal digit of a normalised magnitude. */
static uint32_t decimal_digit(const decimal_sum *d, uint32_t position) {
    uint64_t limb = (uint64_t)d->limbs[position / 9];
    for (uint32_t i = position % 9; i > 0; i--)
        limb /= 10;
    return limb % 10;
}

/* decimal_store -- writes a decimal128 of coefficient and exponent. */
static void decimal_store(uint8_t bytes[16], u128 coefficient, int32_t exponent, bool negative) {
    uint64_t high = u128_high(coefficient) | (uint64_t)(exponent - DECIMAL_MIN_EXPONENT) << 49;
    store_u64(bytes, u128_low(coefficient));
    store_u64(bytes + 8, high | (uint64_t)negative << 63);
}

/* decimal_special -- writes an infinity or a NaN. */
static void decimal_special(uint8_t bytes[16], bool nan, bool negative) {
    store_u64(bytes, 0);
    store_u64(bytes + 8,
              (nan ? 0x7C00000000000000u : 0x7800000000000000u) | (uint64_t)negative << 63);
}

/* decimal_round -- the decimal128 nearest to a normalised magnitude, ties to even, with the
 * exponent `quantum` where possible. `more`: there are non-zero digits below the last one. */
static void decimal_round(const decimal_sum *d, bool more, int32_t quantum, bool negative,
                          uint8_t bytes[16]) {
    uint32_t top = DECIMAL_LIMBS * 9, low = 0;
    while (top > 0 && decimal_digit(d, top - 1) == 0)
        top--;
    while (!more && low < top && decimal_digit(d, low) == 0)
        low++;
    if (quantum > DECIMAL_MAX_EXPONENT)
        quantum = DECIMAL_MAX_EXPONENT;
    uint32_t wanted = (uint32_t)(quantum - DECIMAL_LEAST);
    if (low > wanted || low == top)
        low = wanted;
    if (top > low + DECIMAL_MAX_DIGITS)
        low = top - DECIMAL_MAX_DIGITS;
    if (low < DECIMAL_MIN_EXPONENT - DECIMAL_LEAST)
        low = DECIMAL_MIN_EXPONENT - DECIMAL_LEAST;
    u128 coefficient = u128_of(0);
    for (uint32_t i = top; i > low; i--)
        coefficient = u128_append(coefficient, decimal_digit(d, i - 1));
    uint32_t next = decimal_digit(d, low - 1);
    bool above = more;
    for (uint32_t i = 0; next == 5 && !above && i + 1 < low; i++)
        above = decimal_digit(d, i) != 0;
    if (next > 5 || (next == 5 && (above || (u128_low(coefficient) & 1))))
        coefficient = u128_add(coefficient, u128_of(1));
    if (u128_equal(coefficient, decimal_bound())) {
        coefficient = u128_drop(coefficient, &next);
        low++;
    }
    int32_t exponent = (int32_t)low + DECIMAL_LEAST;
    for (; exponent > DECIMAL_MAX_EXPONENT; exponent--) {
        u128 longer = u128_multiply(coefficient, 10);
        if (!u128_less(longer, decimal_bound()))
            break;
        coefficient = longer;
    }
    if (exponent > DECIMAL_MAX_EXPONENT)
        decimal_special(bytes, false, negative);
    else
        decimal_store(bytes, coefficient, exponent, negative);
}

/* ---- Adding ---- */

/* note_special -- records NaN and infinities; true if the number is one. */
static bool note_special(sum *s, bool nan, bool infinite, bool negative) {
    s->nan = s->nan || nan;
    s->plus_infinity = s->plus_infinity || (infinite && !negative);
    s->minus_infinity = s->minus_infinity || (infinite && negative);
    return nan || infinite;
}

/* widen -- moves the parts, and another number, to the fixed-point sum. */
static bool widen(sum *s, double number, size_t *memory) {
    if (!s->binary) {
        s->binary = calloc(1, sizeof *s->binary);
        if (!s->binary)
            return false;
        *memory += sizeof *s->binary;
    }
    for (uint32_t i = 0; i < s->part_count; i++)
        binary_put_double(s->binary, s->parts[i]);
    s->part_count = 0;
    binary_put_double(s->binary, number);
    return true;
}

/* add_double -- keeps parts that do not overlap (Shewchuk), with two exact additions for each part.
 * Most sums need no more than these. */
static bool add_double(sum *s, double number, size_t *memory) {
    double parts[SUM_PARTS + 1], rest = number;
    uint32_t count = 0;
    if (note_special(s, isnan(number), isinf(number), signbit(number)))
        return true;
    if (s->binary || FLT_EVAL_METHOD != 0)
        return widen(s, number, memory);
    for (uint32_t i = 0; i < s->part_count; i++) {
        double part = s->parts[i];
        if (fabs(rest) < fabs(part)) {
            double other = rest;
            rest = part;
            part = other;
        }
        double high = rest + part;
        double low = part - (high - rest);
        if (low != 0)
            parts[count++] = low;
        rest = high;
    }
    parts[count++] = rest;
    if (count > SUM_PARTS || !isfinite(rest))
        return widen(s, number, memory);
    s->part_count = count;
    for (uint32_t i = 0; i < count; i++)
        s->parts[i] = parts[i];
    return true;
}

/* add_decimal -- adds to the fixed-point sum. */
static bool add_decimal(sum *s, const uint8_t *bytes, size_t *memory) {
    decimal number;
    decimal_read(&number, bytes);
    if (note_special(s, number.kind == DECIMAL_NAN, number.kind == DECIMAL_INFINITE,
                     number.negative))
        return true;
    if (!s->decimal) {
        s->decimal = calloc(1, sizeof *s->decimal);
        if (!s->decimal)
            return false;
        *memory += sizeof *s->decimal;
        s->quantum = number.exponent;
    }
    if (number.exponent < s->quantum)
        s->quantum = number.exponent;
    decimal_put(s->decimal, number.coefficient, number.exponent, number.negative);
    return true;
}

/* add_whole -- adds to the whole numbers. */
static void add_whole(sum *s, int64_t number) {
    s->whole = u128_add(s->whole, u128_join(number < 0 ? UINT64_MAX : 0, (uint64_t)number));
}

bool sum_add(sum *s, const doc_value *number, size_t *memory) {
    switch (number->type) {
    case DOC_INT32: add_whole(s, doc_int32(number)); break;
    case DOC_INT64: add_whole(s, doc_int64(number)); break;
    case DOC_DOUBLE:
        s->has_double = true;
        if (!add_double(s, doc_double(number), memory))
            return false;
        break;
    case DOC_DECIMAL128:
        s->has_decimal = true;
        if (!add_decimal(s, number->data, memory))
            return false;
        break;
    default: return true;
    }
    s->count++;
    return true;
}

void sum_free(sum *s) {
    free(s->binary);
    free(s->decimal);
    s->binary = NULL;
    s->decimal = NULL;
}

/* ---- Results ---- */

/* result_set -- points the value to the bytes. */
static bool result_set(number_result *result, uint8_t type, uint32_t size) {
    result->value = (doc_value){result->bytes, size, type};
    return true;
}

/* result_double -- a double. */
static bool result_double(number_result *result, double number) {
    memcpy(result->bytes, &number, 8);
    return result_set(result, DOC_DOUBLE, 8);
}

/* binary_of -- all doubles of a sum. */
static void binary_of(const sum *s, binary_sum *b) {
    if (s->binary)
        *b = *s->binary;
    else
        memset(b, 0, sizeof *b);
    for (uint32_t i = 0; i < s->part_count; i++)
        binary_put_double(b, s->parts[i]);
}

/* special_result -- the result if a NaN or an infinity was added; false if none was. */
static bool special_result(const sum *s, number_result *result) {
    bool nan = s->nan || (s->plus_infinity && s->minus_infinity);
    if (!nan && !s->plus_infinity && !s->minus_infinity)
        return false;
    if (!s->has_decimal)
        return result_double(result, nan ? NAN : s->minus_infinity ? -INFINITY : INFINITY);
    decimal_special(result->bytes, nan, !nan && s->minus_infinity);
    return result_set(result, DOC_DECIMAL128, 16);
}

/* decimal_result -- the sum over `divisor` as a decimal128. */
static bool decimal_result(const sum *s, uint64_t divisor, number_result *result) {
    decimal_sum *all = calloc(1, sizeof *all);
    if (!all)
        return false;
    if (s->decimal)
        *all = *s->decimal;
    if (s->has_double) {
        binary_sum doubles;
        binary_of(s, &doubles);
        decimal_put_binary(all, &doubles);
    }
    u128 magnitude = s->whole;
    bool below = whole_sign(&magnitude);
    decimal_put(all, magnitude, 0, below);
    bool negative = decimal_sign(all);
    bool more = decimal_divide(all, divisor);
    bool whole = !u128_is_zero(s->whole) || s->has_double || !s->decimal;
    int32_t quantum = s->decimal ? s->quantum : 0;
    decimal_round(all, more, whole && quantum > 0 ? 0 : quantum, negative, result->bytes);
    free(all);
    return result_set(result, DOC_DECIMAL128, 16);
}

/* binary_result -- the sum over `divisor` as a double. */
static bool binary_result(const sum *s, uint64_t divisor, number_result *result) {
    binary_sum all;
    int exponent;
    binary_of(s, &all);
    binary_put_whole(&all, s->whole);
    bool negative = binary_sign(&all);
    uint64_t rest = binary_divide(&all, divisor);
    uint64_t mantissa = binary_round(&all, rest, divisor, &exponent);
    double number = ldexp((double)mantissa, exponent);
    return result_double(result, negative ? -number : number);
}

bool sum_total(const sum *s, number_result *result) {
    if (special_result(s, result))
        return true;
    if (s->has_decimal)
        return decimal_result(s, 1, result);
    if (s->has_double)
        return binary_result(s, 1, result);
    uint64_t low = u128_low(s->whole);
    if (u128_high(s->whole) != (low >> 63 ? UINT64_MAX : 0))
        return decimal_result(s, 1, result);
    store_u64(result->bytes, low);
    return result_set(result, DOC_INT64, 8);
}

bool sum_mean(const sum *s, number_result *result) {
    if (s->count == 0)
        return result_set(result, DOC_NULL, 0);
    if (special_result(s, result))
        return true;
    return s->has_decimal ? decimal_result(s, s->count, result)
                          : binary_result(s, s->count, result);
}
