/*
 * bson/decimal_math.c -- functions of decimal128 values, by those of wide numbers.
 */
#include "bson/decimal_math.h"

#include "bson/decimal_arithmetic.h"
#include "bson/wide.h"

#define BINARY_BITS 113       /* of the binary numbers that results are rounded to */
#define BINARY_DIGITS 4464    /* beyond 10^4464, and below 10^-4464, a binary number is scaled */
#define EXPONENT_LIMIT 15000  /* e^15000 is too large for a decimal, e^-15000 too small */
#define BINARY_EXPONENT 11000 /* beyond e^11000, and below e^-11000, a power is scaled */

static const decimal nan_result = {.kind = DECIMAL_NAN};
static const decimal infinite_result = {.kind = DECIMAL_INFINITE};
static const decimal zero_result = {.kind = DECIMAL_FINITE};

/* is_zero -- of a finite decimal. */
static bool is_zero(const decimal *a) {
    return a->kind == DECIMAL_FINITE && u128_is_zero(a->coefficient);
}

/* compare_to -- a finite decimal with a whole number. */
static int compare_to(const decimal *a, int64_t number) {
    decimal other, difference;
    decimal_from_int64(number, &other);
    decimal_subtract(a, &other, &difference);
    return is_zero(&difference) ? 0 : difference.negative ? -1 : 1;
}

/* to_binary -- a finite decimal as a binary number. */
static void to_binary(const decimal *a, wide *result) {
    wide_from_decimal(a, result);
    wide_round(result, BINARY_BITS, result);
}

/* from_binary -- a result as a binary number, and that as a decimal. */
static void from_binary(const wide *a, decimal *result) {
    wide rounded;
    wide_round(a, BINARY_BITS, &rounded);
    wide_to_decimal(&rounded, 0, result);
}

void decimal_sqrt(const decimal *a, decimal *result) {
    int32_t half = a->exponent >= 0 ? a->exponent / 2 : -((1 - a->exponent) / 2);
    wide root;
    *result = *a;
    if (a->kind == DECIMAL_FINITE && is_zero(a)) {
        result->exponent = half;
    } else if (a->negative || a->kind != DECIMAL_FINITE) {
        if (a->kind != DECIMAL_INFINITE || a->negative)
            *result = nan_result;
    } else {
        wide_from_decimal(a, &root);
        wide_sqrt(&root, &root);
        wide_to_decimal(&root, half, result);
    }
}

/* ---- Exponential function and logarithms ---- */

void decimal_exp(const decimal *a, decimal *result) {
    wide all, high, low, power, shift;
    decimal factor;
    if (a->kind == DECIMAL_NAN) {
        *result = nan_result;
        return;
    }
    if (a->kind == DECIMAL_INFINITE || compare_to(a, EXPONENT_LIMIT) > 0 ||
        compare_to(a, -EXPONENT_LIMIT) < 0) {
        bool large = !a->negative, finite = a->kind == DECIMAL_FINITE;
        *result = large ? infinite_result : zero_result;
        if (!large && finite)
            result->exponent = DECIMAL_MIN_EXPONENT;
        return;
    }
    wide_from_decimal(a, &all);
    wide_cut(&all, BINARY_BITS, &high);
    wide_subtract(&all, &high, &low);
    wide_round(&low, BINARY_BITS, &low);
    int32_t beyond = compare_to(a, BINARY_EXPONENT) > 0    ? BINARY_EXPONENT
                     : compare_to(a, -BINARY_EXPONENT) < 0 ? -BINARY_EXPONENT
                                                           : 0;
    wide_from_int(beyond, &shift);
    wide_subtract(&high, &shift, &high);
    wide_exp(&high, &power);
    wide_round(&power, BINARY_BITS, &power);
    wide_multiply(&power, &low, &low);
    wide_add(&power, &low, &power);
    from_binary(&power, result);
    if (beyond == 0)
        return;
    wide_exp(&shift, &power);
    wide_to_decimal(&power, 0, &factor);
    decimal_multiply(result, &factor, result);
}

/* binary_ln -- the logarithm of a positive finite decimal within the range of binary numbers. */
static void binary_ln(const decimal *a, wide *result) {
    wide x, one, error, difference;
    decimal one_less;
    to_binary(a, &x);
    wide_ln(&x, result);
    wide_round(result, BINARY_BITS, result);
    wide_from_int(1, &one);
    wide_subtract(&x, &one, &error);
    if (wide_is_zero(&error) || error.exponent < 0) {
        /* Near 1 the error of the conversion counts. */
        decimal_from_int64(1, &one_less);
        decimal_subtract(a, &one_less, &one_less);
        to_binary(&one_less, &difference);
        wide_round(&error, BINARY_BITS, &error);
        wide_subtract(&error, &difference, &error);
        wide_divide(&error, &x, &error);
        wide_round(&error, BINARY_BITS, &error);
        wide_subtract(result, &error, result);
        wide_round(result, BINARY_BITS, result);
    }
}

/* log_of -- the natural logarithm of a decimal, or that to base 10. */
static void log_of(const decimal *a, bool natural, decimal *result) {
    decimal number = *a;
    wide value, ln10, scaled;
    if (a->kind == DECIMAL_NAN || (a->negative && !is_zero(a))) {
        *result = nan_result;
        return;
    }
    if (a->kind == DECIMAL_INFINITE || is_zero(a)) {
        bool zero = is_zero(a);
        *result = infinite_result;
        result->negative = zero;
        return;
    }
    uint8_t digits[40];
    int32_t first = a->exponent + (int32_t)decimal_digits(a->coefficient, digits) - 1;
    int32_t beyond = first >= BINARY_DIGITS   ? BINARY_DIGITS
                     : first < -BINARY_DIGITS ? -BINARY_DIGITS
                                              : 0;
    number.exponent -= beyond;
    binary_ln(&number, &value);
    wide_from_int(10, &ln10);
    wide_ln(&ln10, &ln10);
    wide_from_int(beyond, &scaled);
    if (natural) {
        wide_multiply(&scaled, &ln10, &scaled);
    } else {
        wide reciprocal;
        wide_from_int(1, &reciprocal);
        wide_divide(&reciprocal, &ln10, &reciprocal);
        wide_round(&reciprocal, BINARY_BITS, &reciprocal);
        wide_multiply(&value, &reciprocal, &value);
        wide_round(&value, BINARY_BITS, &value);
    }
    wide_round(&scaled, BINARY_BITS, &scaled);
    wide_add(&value, &scaled, &value);
    from_binary(&value, result);
}

void decimal_ln(const decimal *a, decimal *result) {
    log_of(a, true, result);
}

void decimal_log10(const decimal *a, decimal *result) {
    log_of(a, false, result);
}

/* ---- Powers ---- */

/* whole_exponent -- whether a finite decimal is a whole number, and whether that is odd. */
static bool whole_exponent(const decimal *a, bool *odd) {
    u128 coefficient = a->coefficient;
    uint32_t digit = 0;
    for (int32_t i = a->exponent; i < 0 && !u128_is_zero(coefficient); i++) {
        coefficient = u128_drop(coefficient, &digit);
        if (digit != 0)
            return false;
    }
    *odd = a->exponent <= 0 && (u128_low(coefficient) & 1) != 0;
    return true;
}

/* power_of_base -- that of 10 or 2. */
static void power_of_base(uint32_t base, const decimal *exponent, decimal *result) {
    wide power, logarithm;
    bool odd;
    int64_t n = 0;
    uint8_t bytes[16];
    if (exponent->kind == DECIMAL_NAN) {
        *result = nan_result;
        return;
    }
    if (exponent->kind == DECIMAL_INFINITE || compare_to(exponent, 2 * EXPONENT_LIMIT) > 0 ||
        compare_to(exponent, -2 * EXPONENT_LIMIT) < 0) {
        *result = exponent->negative ? zero_result : infinite_result;
        return;
    }
    decimal_write(exponent, bytes);
    if (whole_exponent(exponent, &odd) && decimal_as_int64(bytes, &n)) {
        if (base == 10) {
            decimal_nearest(u128_of(1), false, (int32_t)n, false, result);
            return;
        }
        wide_from_int(1, &power);
        power.exponent += (int32_t)n;
    } else {
        wide_from_decimal(exponent, &power);
        wide_from_int(base, &logarithm);
        wide_ln(&logarithm, &logarithm);
        wide_multiply(&power, &logarithm, &power);
        wide_exp(&power, &power);
    }
    from_binary(&power, result);
}

/* general_power -- of a finite base that is not zero, of which the sign is ignored. */
static void general_power(const decimal *base, const decimal *exponent, decimal *result) {
    decimal magnitude = *base, log, product, rest_of_product;
    wide exact, high, power, rest;
    magnitude.negative = false;
    /* The logarithm to 28 places, or to 34 digits near 1; the product with 34 digits; its power;
     * and that times 1 + what the product lacks. */
    wide_from_decimal(&magnitude, &exact);
    wide_ln(&exact, &exact);
    wide_to_decimal(&exact, 0, &log);
    if (exact.exponent > -28)
        decimal_quantize(&log, log.exponent > -28 ? log.exponent : -28, DECIMAL_TRUNCATE, &log);
    decimal_multiply(exponent, &log, &product);
    decimal_exp(&product, result);
    if (result->kind != DECIMAL_FINITE || is_zero(result))
        return;
    wide_from_decimal(exponent, &high);
    wide_multiply(&exact, &high, &rest);
    wide_from_decimal(&product, &high);
    wide_subtract(&rest, &high, &rest);
    wide_to_decimal(&rest, 0, &rest_of_product);
    wide_from_decimal(&rest_of_product, &rest);
    wide_from_decimal(result, &power);
    wide_multiply(&power, &rest, &rest);
    wide_add(&power, &rest, &power);
    wide_to_decimal(&power, DECIMAL_MIN_EXPONENT, result);
}

/* special_power -- powers that need no logarithm; false for others. */
static bool special_power(const decimal *base, const decimal *exponent, bool whole, bool odd,
                          decimal *result) {
    decimal one, magnitude = *base;
    magnitude.negative = false;
    decimal_from_int64(1, &one);
    if (is_zero(exponent) || (base->kind == DECIMAL_FINITE && compare_to(base, 1) == 0)) {
        *result = one;
    } else if (base->kind == DECIMAL_NAN || exponent->kind == DECIMAL_NAN) {
        *result = nan_result;
    } else if (exponent->kind == DECIMAL_INFINITE) {
        int order = base->kind == DECIMAL_INFINITE ? 1 : compare_to(&magnitude, 1);
        *result = order == 0                          ? one
                  : (order < 0) == exponent->negative ? infinite_result
                                                      : zero_result;
    } else if (base->kind == DECIMAL_INFINITE || is_zero(base)) {
        bool negative = odd && base->negative;
        *result =
            (base->kind == DECIMAL_INFINITE) == exponent->negative ? zero_result : infinite_result;
        result->negative = negative;
    } else if (base->negative && !whole) {
        *result = nan_result;
    } else {
        return false;
    }
    return true;
}

void decimal_power(const decimal *base, const decimal *exponent, decimal *result) {
    decimal zero = {.exponent = DECIMAL_MIN_EXPONENT}, power;
    bool odd = false, whole = exponent->kind == DECIMAL_FINITE && whole_exponent(exponent, &odd);
    if (base->kind == DECIMAL_FINITE && compare_to(base, 10) == 0) {
        power_of_base(10, exponent, &power);
    } else if (base->kind == DECIMAL_FINITE && compare_to(base, 2) == 0) {
        power_of_base(2, exponent, &power);
    } else if (!special_power(base, exponent, whole, odd, &power)) {
        general_power(base, exponent, &power);
        power.negative = odd && base->negative;
    }
    /* As many digits as it can have, and no negative zero. */
    decimal_add(&power, &zero, result);
}

/* ---- Trigonometry ---- */

/* multiple_of_pi -- pi * factor / 4. */
static void multiple_of_pi(int64_t factor, bool negative, wide *result) {
    wide times;
    wide_pi(result);
    wide_from_int(factor, &times);
    wide_multiply(result, &times, result);
    if (!wide_is_zero(result))
        result->exponent -= 2;
    result->negative = negative;
}

/* angle_function -- sine, cosine or tangent of a finite decimal. */
static void angle_function(enum decimal_function function, const decimal *a, wide *result) {
    wide rest, sine, cosine;
    uint32_t quadrant = wide_reduce(a, &rest);
    wide_sin_cos(&rest, &sine, &cosine);
    if (quadrant & 1) { /* sin(x + pi / 2) is cos(x), cos(x + pi / 2) is -sin(x) */
        wide swap = sine;
        sine = cosine;
        cosine = swap;
        cosine.negative = !cosine.negative;
    }
    if (quadrant & 2) {
        sine.negative = !sine.negative;
        cosine.negative = !cosine.negative;
    }
    if (function == DECIMAL_TAN)
        wide_divide(&sine, &cosine, result);
    else
        *result = function == DECIMAL_SIN ? sine : cosine;
}

/* inverse_sine -- of a number of at most 1, or the inverse cosine. */
static void inverse_sine(const wide *x, bool sine, wide *result) {
    wide one, above, below;
    wide_from_int(1, &one);
    wide_add(&one, x, &above);
    wide_subtract(&one, x, &below);
    if (wide_is_zero(&above) || wide_is_zero(&below)) {
        bool negative = wide_is_zero(&above);
        multiple_of_pi(sine ? 2 : negative ? 4 : 0, sine && negative, result);
        return;
    }
    if (sine) { /* the angle of the point (sqrt(1 - x^2), x) */
        wide_multiply(&above, &below, &below);
        wide_sqrt(&below, &below);
        wide_divide(x, &below, &below);
    } else { /* twice the angle of the point (sqrt(1 + x), sqrt(1 - x)) */
        wide_divide(&below, &above, &below);
        wide_sqrt(&below, &below);
    }
    wide_atan(&below, result);
    if (!sine)
        result->exponent++;
}

/* inverse_hyperbolic -- asinh, or acosh of a number from 1. */
static void inverse_hyperbolic(const wide *x, bool sine, wide *result) {
    wide one, magnitude = *x, root, sum;
    wide_from_int(1, &one);
    magnitude.negative = false;
    if (sine) {
        wide_multiply(&magnitude, &magnitude, &root);
        wide_add(&root, &one, &root);
    } else {
        wide_add(&magnitude, &one, &root);
        wide_subtract(&magnitude, &one, &sum);
        wide_multiply(&root, &sum, &root);
    }
    wide_sqrt(&root, &root);
    if (sine && magnitude.exponent < 0) { /* asinh(x) is 2 atanh(x / (1 + sqrt(1 + x^2))) */
        wide_add(&root, &one, &root);
        wide_divide(&magnitude, &root, &root);
        wide_atanh(&root, result);
        result->exponent += wide_is_zero(result) ? 0 : 1;
    } else {
        wide_add(&magnitude, &root, &sum);
        wide_ln(&sum, result);
    }
    result->negative = sine && x->negative && !wide_is_zero(result);
}

/* hyperbolic_function -- sinh, cosh or tanh of at most EXPONENT_LIMIT. */
static void hyperbolic_function(enum decimal_function function, const wide *x, wide *result) {
    wide one, sine, cosine, inverse;
    wide_from_int(1, &one);
    wide_sinh(x, &sine);
    wide_exp(x, &cosine);
    wide_divide(&one, &cosine, &inverse);
    wide_add(&cosine, &inverse, &cosine);
    cosine.exponent--;
    if (function == DECIMAL_TANH)
        wide_divide(&sine, &cosine, result);
    else
        *result = function == DECIMAL_SINH ? sine : cosine;
}

/* trigonometry_of_infinity -- as the limit, or NaN where there is none. */
static void trigonometry_of_infinity(enum decimal_function function, bool negative,
                                     decimal *result) {
    wide angle;
    *result = nan_result;
    if (function == DECIMAL_ATAN) {
        multiple_of_pi(2, negative, &angle);
        from_binary(&angle, result);
    } else if (function == DECIMAL_TANH) {
        decimal_from_int64(negative ? -1 : 1, result);
    } else if (function == DECIMAL_SINH || function == DECIMAL_ASINH) {
        *result = infinite_result;
        result->negative = negative;
    } else if (function == DECIMAL_COSH || (function == DECIMAL_ACOSH && !negative)) {
        *result = infinite_result;
    }
}

/* has_value -- whether a finite decimal is in the domain of the function; if not, the result is set.
 */
static bool has_value(enum decimal_function function, const decimal *a, decimal *result) {
    bool bounded =
        function == DECIMAL_ASIN || function == DECIMAL_ACOS || function == DECIMAL_ATANH;
    int below = compare_to(a, -1), above = compare_to(a, 1);
    bool hyperbolic =
        function == DECIMAL_SINH || function == DECIMAL_COSH || function == DECIMAL_TANH;
    if ((bounded && (below < 0 || above > 0)) || (function == DECIMAL_ACOSH && above < 0)) {
        *result = nan_result;
    } else if (function == DECIMAL_ATANH && (below == 0 || above == 0)) {
        *result = infinite_result;
        result->negative = below == 0;
    } else if (hyperbolic &&
               (compare_to(a, EXPONENT_LIMIT) > 0 || compare_to(a, -EXPONENT_LIMIT) < 0)) {
        trigonometry_of_infinity(function, a->negative, result);
    } else {
        return true;
    }
    return false;
}

/* is_itself -- whether the argument is so small that it is the result, too, in 34 digits. */
static bool is_itself(enum decimal_function function, const decimal *a) {
    uint8_t digits[40];
    bool even = function == DECIMAL_COS || function == DECIMAL_COSH;
    bool inverse = function == DECIMAL_ACOS || function == DECIMAL_ACOSH;
    return !even && !inverse && a->exponent + (int32_t)decimal_digits(a->coefficient, digits) < -17;
}

void decimal_trigonometry(enum decimal_function function, const decimal *a, decimal *result) {
    bool one_at_zero = function == DECIMAL_COS || function == DECIMAL_COSH;
    wide x, value;
    if (a->kind == DECIMAL_NAN) {
        *result = nan_result;
        return;
    }
    if (a->kind == DECIMAL_INFINITE) {
        trigonometry_of_infinity(function, a->negative, result);
        return;
    }
    if (is_zero(a) && !one_at_zero && function != DECIMAL_ACOS && function != DECIMAL_ACOSH) {
        *result = *a;
        return;
    }
    decimal argument = *a;
    if (!has_value(function, &argument, result))
        return;
    if (is_itself(function, &argument)) {
        decimal_normalise(&argument, result);
        return;
    }
    wide_from_decimal(&argument, &x);
    switch (function) {
    case DECIMAL_SIN:
    case DECIMAL_COS:
    case DECIMAL_TAN: angle_function(function, &argument, &value); break;
    case DECIMAL_ASIN: inverse_sine(&x, true, &value); break;
    case DECIMAL_ACOS: inverse_sine(&x, false, &value); break;
    case DECIMAL_ATAN: wide_atan(&x, &value); break;
    case DECIMAL_SINH:
    case DECIMAL_COSH:
    case DECIMAL_TANH: hyperbolic_function(function, &x, &value); break;
    case DECIMAL_ASINH: inverse_hyperbolic(&x, true, &value); break;
    case DECIMAL_ACOSH: inverse_hyperbolic(&x, false, &value); break;
    case DECIMAL_ATANH: wide_atanh(&x, &value); break;
    }
    from_binary(&value, result);
}

void decimal_atan2(const decimal *y, const decimal *x, decimal *result) {
    wide angle, other;
    bool negative = y->negative;
    if (y->kind == DECIMAL_NAN || x->kind == DECIMAL_NAN) {
        *result = nan_result;
        return;
    }
    if (y->kind == DECIMAL_INFINITE && x->kind == DECIMAL_INFINITE) {
        multiple_of_pi(x->negative ? 3 : 1, negative, &angle);
    } else if (y->kind == DECIMAL_INFINITE || (is_zero(x) && !is_zero(y))) {
        multiple_of_pi(2, negative, &angle);
    } else if (x->kind == DECIMAL_INFINITE || is_zero(y)) {
        if (!x->negative) {
            *result = zero_result;
            result->negative = negative;
            return;
        }
        multiple_of_pi(4, negative, &angle);
    } else {
        wide_from_decimal(y, &angle);
        wide_from_decimal(x, &other);
        wide_divide(&angle, &other, &angle);
        wide_atan(&angle, &angle);
        if (x->negative) {
            multiple_of_pi(4, negative, &other);
            wide_add(&angle, &other, &angle);
        }
    }
    from_binary(&angle, result);
}
