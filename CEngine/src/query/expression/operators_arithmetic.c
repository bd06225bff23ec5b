/*
 * query/expression/operators_arithmetic.c -- sums, products, rounding, roots and logarithms.
 */
#include "query/expression/operators_number.h"

#include "bson/decimal_arithmetic.h"
#include "bson/decimal_math.h"

#include <math.h>

tansu_status result_decimal(evaluation *ev, const decimal *value, doc_value *result) {
    uint8_t bytes[16];
    decimal_write(value, bytes);
    return result_bytes(ev, DOC_DECIMAL128, bytes, sizeof bytes, result);
}

/* result_number -- a number that was computed. */
static tansu_status result_number(evaluation *ev, const number *value, doc_value *result) {
    return result_bytes(ev, value->type, value->bytes, value->size, result);
}

/* result_narrow -- an int32 if it fits and was computed of int32, else an int64. */
static tansu_status result_narrow(evaluation *ev, int64_t value, enum numeric_width width,
                                  doc_value *result) {
    return width == WIDTH_INT32 && value >= INT32_MIN && value <= INT32_MAX
               ? result_int32(ev, (int32_t)value, result)
               : result_int64(ev, value, result);
}

/* whole_number -- the value of an int32 or int64. */
static int64_t whole_number(const doc_value *value) {
    return value->type == DOC_INT32 ? doc_int32(value) : doc_int64(value);
}

tansu_status not_a_number(evaluation *ev, const expression *e, const doc_value *value) {
    return evaluation_error(ev, e, "Takes numbers, not a value of type %s", type_name(value));
}

tansu_status number_argument(evaluation *ev, const expression *e, uint32_t i, doc_value *value,
                             enum numeric_width *width, bool *null) {
    tansu_status status = argument(ev, e, i, value);
    *null = false;
    if (status != TANSU_OK || number_width(value, width))
        return status;
    *null = is_nullish(value);
    return *null ? TANSU_OK : not_a_number(ev, e, value);
}

/* ---- Sums ---- */

/* A sum of which the parts are added one by one, in the widest type so far. */
typedef struct running_sum {
    int64_t whole; /* also the milliseconds of a date */
    double real;
    decimal decimal;
    enum numeric_width width;
    bool date;
} running_sum;

/* as_milliseconds -- a number rounded to a whole one; false when it is too large. Doubles are
 * rounded half away from zero, decimals half to even. */
static bool as_milliseconds(const doc_value *value, int64_t *result) {
    if (value->type != DOC_DOUBLE)
        return number_whole(value, FRACTION_HALF_EVEN, result);
    double number = round(doc_double(value));
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
        return false;
    *result = (int64_t)number;
    return true;
}

/* sum_value -- the sum so far. */
static void sum_value(const running_sum *s, number *result) {
    switch (s->width) {
    case WIDTH_INT32:
        if (s->whole >= INT32_MIN && s->whole <= INT32_MAX) {
            number_int32((int32_t)s->whole, result);
            break;
        } /* fall through */
    case WIDTH_INT64: number_int64(s->whole, result); break;
    case WIDTH_DOUBLE: number_double(s->real, result); break;
    case WIDTH_DECIMAL: number_decimal(&s->decimal, result); break;
    }
}

/* sum_widen -- converts the sum so far to a wider type. */
static void sum_widen(running_sum *s, enum numeric_width width) {
    if (width == WIDTH_DOUBLE)
        s->real = (double)s->whole;
    else if (width == WIDTH_DECIMAL && s->width == WIDTH_DOUBLE)
        decimal_from_double_15(s->real, &s->decimal);
    else if (width == WIDTH_DECIMAL)
        decimal_from_int64(s->whole, &s->decimal);
    s->width = width;
}

/* sum_number -- adds a number. */
static void sum_number(running_sum *s, const doc_value *value, enum numeric_width width) {
    decimal other;
    if (width > s->width)
        sum_widen(s, width);
    switch (s->width) {
    case WIDTH_INT32:
    case WIDTH_INT64: {
        int64_t total;
        if (__builtin_add_overflow(s->whole, whole_number(value), &total)) {
            s->real = (double)s->whole + (double)whole_number(value);
            s->width = WIDTH_DOUBLE;
        } else {
            s->whole = total;
        }
        break;
    }
    case WIDTH_DOUBLE: s->real += number_to_double(value); break;
    case WIDTH_DECIMAL:
        number_to_decimal(value, &other);
        decimal_add(&s->decimal, &other, &s->decimal);
        break;
    }
}

/* sum_date -- makes the sum so far a number of milliseconds after a date. */
static bool sum_date(running_sum *s, const doc_value *value) {
    number before;
    sum_value(s, &before);
    doc_value number = number_value(&before);
    s->date = true;
    return as_milliseconds(&number, &s->whole) &&
           !__builtin_add_overflow(s->whole, doc_int64(value), &s->whole);
}

static tansu_status date_too_large(evaluation *ev, const expression *e) {
    return evaluation_error(ev, e, "Date is too large: its milliseconds exceed 64 bits");
}

static tansu_status add(evaluation *ev, const expression *e, doc_value *result) {
    running_sum s = {0};
    for (uint32_t i = 0; i < e->count; i++) {
        enum numeric_width width;
        int64_t milliseconds;
        doc_value value;
        bool fits = true;
        tansu_status status = argument(ev, e, i, &value);
        if (status != TANSU_OK)
            return status;
        if (number_width(&value, &width)) {
            if (!s.date)
                sum_number(&s, &value, width);
            else
                fits = as_milliseconds(&value, &milliseconds) &&
                       !__builtin_add_overflow(s.whole, milliseconds, &s.whole);
        } else if (is_nullish(&value)) {
            return result_null(result);
        } else if (value.type != DOC_DATE) {
            return evaluation_error(ev, e, "Takes numbers and one date, not a value of type %s",
                                    type_name(&value));
        } else if (s.date) {
            return evaluation_error(ev, e, "Takes one date only");
        } else {
            fits = sum_date(&s, &value);
        }
        if (!fits)
            return date_too_large(ev, e);
    }
    if (s.date)
        return result_date(ev, s.whole, result);
    number sum;
    sum_value(&s, &sum);
    return result_number(ev, &sum, result);
}

/* subtract_date -- from a date: a number of milliseconds, or another date. */
static tansu_status subtract_date(evaluation *ev, const expression *e, const doc_value *a,
                                  const doc_value *b, doc_value *result) {
    enum numeric_width width;
    int64_t difference;
    if (b->type == DOC_DATE) {
        if (__builtin_sub_overflow(doc_int64(a), doc_int64(b), &difference))
            return date_too_large(ev, e);
        return result_int64(ev, difference, result);
    }
    if (!number_width(b, &width))
        return evaluation_error(ev, e, "Cannot subtract a value of type %s from a date",
                                type_name(b));
    if (!as_milliseconds(b, &difference) ||
        __builtin_sub_overflow(doc_int64(a), difference, &difference))
        return date_too_large(ev, e);
    return result_date(ev, difference, result);
}

static tansu_status subtract(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width left, right;
    doc_value a, b;
    decimal x, y;
    tansu_status status = argument(ev, e, 0, &a);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &b);
    if (status != TANSU_OK)
        return status;
    if (!number_width(&a, &left) || !number_width(&b, &right)) {
        if (is_nullish(&a) || is_nullish(&b))
            return result_null(result);
        if (a.type == DOC_DATE)
            return subtract_date(ev, e, &a, &b, result);
        return evaluation_error(ev, e, "Cannot subtract a value of type %s from one of type %s",
                                type_name(&b), type_name(&a));
    }
    switch (left > right ? left : right) {
    case WIDTH_INT32:
        return result_narrow(ev, (int64_t)doc_int32(&a) - doc_int32(&b), WIDTH_INT32, result);
    case WIDTH_INT64: {
        int64_t difference;
        if (!__builtin_sub_overflow(whole_number(&a), whole_number(&b), &difference))
            return result_int64(ev, difference, result);
    } /* fall through */
    case WIDTH_DOUBLE:
        return result_double(ev, number_to_double(&a) - number_to_double(&b), result);
    case WIDTH_DECIMAL: break;
    }
    number_to_decimal(&a, &x);
    number_to_decimal(&b, &y);
    decimal_subtract(&x, &y, &x);
    return result_decimal(ev, &x, result);
}

/* ---- Products ---- */

static tansu_status multiply(evaluation *ev, const expression *e, doc_value *result) {
    int64_t whole = 1;
    double real = 1;
    decimal product, factor;
    enum numeric_width width = WIDTH_INT32, next = width;
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value value;
        bool null;
        tansu_status status = number_argument(ev, e, i, &value, &next, &null);
        if (status != TANSU_OK)
            return status;
        if (null)
            return result_null(result);
        if (next == WIDTH_DECIMAL && width < WIDTH_DECIMAL) {
            if (width == WIDTH_DOUBLE)
                decimal_from_double_15(real, &product);
            else
                decimal_from_int64(whole, &product);
        }
        if (next > width)
            width = next;
        if (width == WIDTH_DECIMAL) {
            number_to_decimal(&value, &factor);
            decimal_multiply(&product, &factor, &product);
            continue;
        }
        real *= number_to_double(&value);
        if (width < WIDTH_DOUBLE && __builtin_mul_overflow(whole, whole_number(&value), &whole))
            width = WIDTH_DOUBLE;
    }
    if (width == WIDTH_DECIMAL)
        return result_decimal(ev, &product, result);
    return width == WIDTH_DOUBLE ? result_double(ev, real, result)
                                 : result_narrow(ev, whole, width, result);
}

/* two_numbers -- the operands; *null is set when one is null and both are evaluated. */
static tansu_status two_numbers(evaluation *ev, const expression *e, doc_value *a, doc_value *b,
                                enum numeric_width *width, bool *null) {
    enum numeric_width left, right;
    tansu_status status = argument(ev, e, 0, a);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, b);
    *null = status == TANSU_OK && (is_nullish(a) || is_nullish(b));
    if (status != TANSU_OK || *null)
        return status;
    if (!number_width(a, &left) || !number_width(b, &right))
        return not_a_number(ev, e, number_width(a, &left) ? b : a);
    *width = left > right ? left : right;
    return TANSU_OK;
}

static tansu_status divide(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value a, b;
    decimal x, y;
    bool null;
    tansu_status status = two_numbers(ev, e, &a, &b, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (number_to_double(&b) == 0 && (b.type != DOC_DECIMAL128 || decimal_is_zero(b.data)))
        return evaluation_error(ev, e, "Cannot divide by zero");
    if (width < WIDTH_DECIMAL)
        return result_double(ev, number_to_double(&a) / number_to_double(&b), result);
    number_to_decimal(&a, &x);
    number_to_decimal(&b, &y);
    decimal_quotient(&x, &y, &x);
    return result_decimal(ev, &x, result);
}

static tansu_status mod(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value a, b;
    decimal x, y;
    bool null;
    tansu_status status = two_numbers(ev, e, &a, &b, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (number_to_double(&b) == 0 && (b.type != DOC_DECIMAL128 || decimal_is_zero(b.data)))
        return evaluation_error(ev, e, "Cannot divide by zero");
    if (width == WIDTH_DOUBLE)
        return result_double(ev, fmod(number_to_double(&a), number_to_double(&b)), result);
    if (width < WIDTH_DOUBLE) {
        /* INT64_MIN % -1 overflows. */
        int64_t divisor = whole_number(&b);
        return result_narrow(ev, divisor == -1 ? 0 : whole_number(&a) % divisor, width, result);
    }
    number_to_decimal(&a, &x);
    number_to_decimal(&b, &y);
    decimal_remainder(&x, &y, &x);
    return result_decimal(ev, &x, result);
}

/* ---- Rounding ---- */

static tansu_status absolute(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width == WIDTH_DOUBLE)
        return result_double(ev, fabs(doc_double(&value)), result);
    if (width == WIDTH_DECIMAL) {
        decimal_read(&d, value.data);
        d.negative = false;
        return result_decimal(ev, &d, result);
    }
    int64_t whole = whole_number(&value);
    if (whole == INT64_MIN)
        return evaluation_error(ev, e, "The least int64 has no absolute value of 64 bits");
    return result_narrow(ev, whole < 0 ? -whole : whole, width, result);
}

/* whole_above_or_below -- $ceil and $floor. */
static tansu_status whole_above_or_below(evaluation *ev, const expression *e, doc_value *result) {
    enum decimal_rounding rounding = (enum decimal_rounding)e->op->variant;
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    *result = value;
    if (width == WIDTH_DOUBLE)
        return result_double(
            ev, rounding == DECIMAL_CEILING ? ceil(doc_double(&value)) : floor(doc_double(&value)),
            result);
    if (width != WIDTH_DECIMAL)
        return TANSU_OK;
    decimal_read(&d, value.data);
    decimal_quantize(&d, 0, rounding, &d);
    return result_decimal(ev, &d, result);
}

/* round_decimal -- to so many places; a value that has no digits behind these is padded. */
static void round_decimal(decimal *d, int32_t places, enum decimal_rounding rounding) {
    decimal full;
    if (d->kind == DECIMAL_INFINITE)
        return;
    decimal_normalise(d, &full);
    if (d->kind == DECIMAL_FINITE && full.exponent > -places)
        *d = full;
    else
        decimal_quantize(d, -places, rounding, d);
}

/* round_whole -- an int32 or int64 to tens, hundreds, … */
static tansu_status round_whole(evaluation *ev, const expression *e, const doc_value *value,
                                int32_t places, doc_value *result) {
    uint8_t bytes[16];
    int64_t rounded;
    decimal d;
    decimal_from_int64(whole_number(value), &d);
    decimal_quantize(&d, -places, (enum decimal_rounding)e->op->variant, &d);
    decimal_write(&d, bytes);
    doc_value number = {bytes, sizeof bytes, DOC_DECIMAL128};
    if (!number_whole(&number, FRACTION_CUT, &rounded))
        return evaluation_error(ev, e, "Rounded number exceeds 64 bits");
    return result_narrow(ev, rounded, value->type == DOC_INT32 ? WIDTH_INT32 : WIDTH_INT64, result);
}

/* round_or_cut -- $round and $trunc. */
static tansu_status round_or_cut(evaluation *ev, const expression *e, doc_value *result) {
    enum decimal_rounding rounding = (enum decimal_rounding)e->op->variant;
    enum numeric_width width;
    doc_value value, precision;
    int64_t places = 0;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (e->count > 1) {
        status = argument(ev, e, 1, &precision);
        if (status != TANSU_OK)
            return status;
        if (is_nullish(&precision))
            return result_null(result);
        doc_value whole = {NULL, 0, DOC_INT64};
        uint8_t bytes[8];
        whole.data = bytes;
        whole.size = sizeof bytes;
        enum numeric_width ignored;
        if (!number_width(&precision, &ignored) || !number_whole(&precision, FRACTION_CUT, &places))
            return evaluation_error(ev, e, "Number of places must be a whole number");
        store_u64(bytes, (uint64_t)places);
        if (number_compare(&whole, &precision) != 0 || places < -20 || places > 100)
            return evaluation_error(ev, e,
                                    "Number of places must be a whole number from -20 to 100");
    }
    *result = value;
    switch (width) {
    case WIDTH_INT32:
    case WIDTH_INT64:
        return places >= 0 ? TANSU_OK : round_whole(ev, e, &value, (int32_t)places, result);
    case WIDTH_DOUBLE:
        if (isinf(doc_double(&value)))
            return TANSU_OK;
        decimal_from_double_34(doc_double(&value), &d);
        round_decimal(&d, (int32_t)places, rounding);
        return result_double(ev, decimal_to_double(&d), result);
    case WIDTH_DECIMAL: break;
    }
    decimal_read(&d, value.data);
    round_decimal(&d, (int32_t)places, rounding);
    return result_decimal(ev, &d, result);
}

/* ---- Powers, roots and logarithms ---- */

/* above_zero -- of a decimal that is no NaN. */
static bool above_zero(const decimal *d) {
    return d->kind != DECIMAL_NAN && !d->negative &&
           (d->kind == DECIMAL_INFINITE || !u128_is_zero(d->coefficient));
}

static tansu_status exponential(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width != WIDTH_DECIMAL)
        return result_double(ev, exp(number_to_double(&value)), result);
    decimal_read(&d, value.data);
    status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_exp(&d, &d);
    return result_decimal(ev, &d, result);
}

static tansu_status square_root(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width == WIDTH_DECIMAL)
        decimal_read(&d, value.data);
    if (width == WIDTH_DECIMAL
            ? d.negative && (d.kind == DECIMAL_INFINITE || !decimal_is_zero(value.data))
            : number_to_double(&value) < 0)
        return evaluation_error(ev, e, "Takes numbers from 0, not negative ones");
    if (width != WIDTH_DECIMAL)
        return result_double(ev, sqrt(number_to_double(&value)), result);
    status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_sqrt(&d, &d);
    return result_decimal(ev, &d, result);
}

/* natural_log -- log(), a name that is a type's where the engine is one file. */
static double natural_log(double number) {
    return (double)logl(number);
}

enum logarithm { LOGARITHM_NATURAL, LOGARITHM_10 };

/* logarithm -- $ln and $log10. */
static tansu_status logarithm(evaluation *ev, const expression *e, doc_value *result) {
    bool natural = e->op->variant == LOGARITHM_NATURAL;
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width == WIDTH_DECIMAL) {
        decimal_read(&d, value.data);
        if (above_zero(&d)) {
            status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
            if (status != TANSU_OK)
                return status;
            if (natural)
                decimal_ln(&d, &d);
            else
                decimal_log10(&d, &d);
            return result_decimal(ev, &d, result);
        }
    }
    double number = number_to_double(&value);
    if (number <= 0)
        return evaluation_error(ev, e, "Takes numbers above 0");
    return result_double(ev, natural ? natural_log(number) : log10(number), result);
}

/* log_base -- $log: [number, base]. */
static tansu_status log_base(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value value, base;
    decimal x, y, one;
    bool null;
    tansu_status status = two_numbers(ev, e, &value, &base, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width == WIDTH_DECIMAL) {
        number_to_decimal(&value, &x);
        number_to_decimal(&base, &y);
        decimal_from_int64(1, &one);
        decimal_subtract(&y, &one, &one);
        if (above_zero(&x) && above_zero(&y) &&
            (one.kind != DECIMAL_FINITE || !u128_is_zero(one.coefficient))) {
            status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
            if (status != TANSU_OK)
                return status;
            decimal_ln(&x, &x);
            decimal_ln(&y, &y);
            decimal_quotient(&x, &y, &x);
            return result_decimal(ev, &x, result);
        }
    }
    double number = number_to_double(&value), of = number_to_double(&base);
    if (number <= 0)
        return evaluation_error(ev, e, "Takes numbers above 0");
    if (of <= 0 || of == 1)
        return evaluation_error(ev, e, "Base must be above 0 and not 1");
    return result_double(ev, natural_log(number) / natural_log(of), result);
}

/* power_whole -- of whole numbers, if the result is an int64; otherwise it is a double. */
static tansu_status power_whole(evaluation *ev, int64_t base, int64_t exponent,
                                enum numeric_width width, doc_value *result) {
    int64_t power = 1;
    if (base == 0 || base == 1 || base == -1) {
        if (exponent != 0)
            power = base == -1 && exponent % 2 == 0 ? 1 : base;
        return result_narrow(ev, power, width, result);
    }
    bool fits = exponent >= 0 && exponent <= 63;
    for (int64_t i = 0; fits && i < exponent; i++)
        fits = !__builtin_mul_overflow(power, base, &power);
    return fits ? result_narrow(ev, power, width, result)
                : result_double(ev, pow((double)base, (double)exponent), result);
}

static tansu_status power(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value a, b;
    decimal x, y;
    bool null;
    tansu_status status = two_numbers(ev, e, &a, &b, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    double base = number_to_double(&a), exponent = number_to_double(&b);
    if (width == WIDTH_DECIMAL) {
        number_to_decimal(&a, &x);
        number_to_decimal(&b, &y);
    }
    if (width == WIDTH_DECIMAL
            ? x.kind == DECIMAL_FINITE && u128_is_zero(x.coefficient) && y.negative
            : base == 0 && exponent < 0)
        return evaluation_error(ev, e, "Cannot raise 0 to a negative power");
    if (width == WIDTH_DOUBLE)
        return result_double(ev, pow(base, exponent), result);
    if (width < WIDTH_DOUBLE)
        return power_whole(ev, whole_number(&a), whole_number(&b), width, result);
    status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_power(&x, &y, &x);
    return result_decimal(ev, &x, result);
}

/* compile_sigmoid -- the operand itself; an array is no list of operands. */
static tansu_status compile_sigmoid(expression_compiler *c, const doc_value *operand,
                                    expression *e) {
    tansu_status status = compile_args(c, e, 1);
    return status == TANSU_OK ? expression_compile(c, operand, &e->args[0]) : status;
}

/* sigmoid -- 1 / (1 + e^-x). */
static tansu_status sigmoid(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width width;
    doc_value value;
    decimal d, one;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width != WIDTH_DECIMAL)
        return result_double(ev, 1 / (1 + exp(-number_to_double(&value))), result);
    decimal_read(&d, value.data);
    d.negative = !d.negative;
    decimal_from_int64(1, &one);
    status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_exp(&d, &d);
    decimal_add(&one, &d, &d);
    decimal_quotient(&one, &d, &d);
    return result_decimal(ev, &d, result);
}

const operator_info operators_arithmetic[] = {
    {.name = "$add", .evaluate = add, .max = ANY_COUNT},
    {.name = "$subtract", .evaluate = subtract, .min = 2, .max = 2},
    {.name = "$multiply", .evaluate = multiply, .max = ANY_COUNT},
    {.name = "$divide", .evaluate = divide, .min = 2, .max = 2},
    {.name = "$mod", .evaluate = mod, .min = 2, .max = 2},
    {.name = "$abs", .evaluate = absolute, .min = 1, .max = 1},
    {.name = "$ceil",
     .evaluate = whole_above_or_below,
     .min = 1,
     .max = 1,
     .variant = DECIMAL_CEILING},
    {.name = "$floor",
     .evaluate = whole_above_or_below,
     .min = 1,
     .max = 1,
     .variant = DECIMAL_FLOOR},
    {.name = "$round", .evaluate = round_or_cut, .min = 1, .max = 2, .variant = DECIMAL_HALF_EVEN},
    {.name = "$trunc", .evaluate = round_or_cut, .min = 1, .max = 2, .variant = DECIMAL_TRUNCATE},
    {.name = "$exp", .evaluate = exponential, .min = 1, .max = 1},
    {.name = "$ln", .evaluate = logarithm, .min = 1, .max = 1, .variant = LOGARITHM_NATURAL},
    {.name = "$log10", .evaluate = logarithm, .min = 1, .max = 1, .variant = LOGARITHM_10},
    {.name = "$log", .evaluate = log_base, .min = 2, .max = 2},
    {.name = "$pow", .evaluate = power, .min = 2, .max = 2},
    {.name = "$sqrt", .evaluate = square_root, .min = 1, .max = 1},
    {.name = "$sigmoid", .evaluate = sigmoid, .compile = compile_sigmoid},
    {.name = NULL},
};
