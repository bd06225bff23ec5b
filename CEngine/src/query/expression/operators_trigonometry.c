/*
 * query/expression/operators_trigonometry.c -- trigonometric and hyperbolic functions, their
 * inverses, and degrees and radians.
 */
#include "query/expression/operators_number.h"

#include "bson/decimal_math.h"
#include "bson/decimal_text.h"

#include <math.h>

/* An angle of thousands of digits takes this many steps. */
#define HUGE_ANGLE_STEPS 65536

/* A function of doubles, and the same of decimals. */
typedef struct number_function {
    double (*of_double)(double);
    double least, greatest; /* of what it takes */
    bool infinite;          /* it takes infinity if that is within the bounds */
} number_function;

/* In the order of enum decimal_function. */
static const number_function functions[] = {
    {sin, -INFINITY, INFINITY, false},
    {cos, -INFINITY, INFINITY, false},
    {tan, -INFINITY, INFINITY, false},
    {asin, -1, 1, true},
    {acos, -1, 1, true},
    {atan, -INFINITY, INFINITY, true},
    {sinh, -INFINITY, INFINITY, true},
    {cosh, -INFINITY, INFINITY, true},
    {tanh, -INFINITY, INFINITY, true},
    {asinh, -INFINITY, INFINITY, true},
    {acosh, 1, INFINITY, true},
    {atanh, -1, 1, true},
};

/* is_infinite -- of a number; a large decimal is not, though no double holds it. */
static bool is_infinite(const doc_value *value) {
    decimal d;
    if (value->type != DOC_DECIMAL128)
        return isinf(number_to_double(value));
    decimal_read(&d, value->data);
    return d.kind == DECIMAL_INFINITE;
}

/* in_bounds -- whether a number is one that the function takes; NaN is. A decimal is compared
 * exactly. */
static bool in_bounds(const doc_value *value, const number_function *f) {
    uint8_t bytes[8];
    doc_value bound = {bytes, sizeof bytes, DOC_DOUBLE};
    double number = number_to_double(value);
    if (isnan(number))
        return true;
    if (!f->infinite)
        return !is_infinite(value);
    memcpy(bytes, &f->least, sizeof f->least);
    if (number_compare(value, &bound) < 0)
        return false;
    memcpy(bytes, &f->greatest, sizeof f->greatest);
    return number_compare(value, &bound) <= 0;
}

static tansu_status trigonometry(evaluation *ev, const expression *e, doc_value *result) {
    const number_function *f = &functions[e->op->variant];
    enum numeric_width width;
    doc_value value;
    decimal d;
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (!in_bounds(&value, f))
        return f->infinite ? evaluation_error(ev, e, "Takes numbers from %d%s", (int)f->least,
                                              f->greatest > 1 ? "" : " to 1")
                           : evaluation_error(ev, e, "Takes finite numbers");
    if (width != WIDTH_DECIMAL)
        return result_double(ev, f->of_double(number_to_double(&value)), result);
    decimal_read(&d, value.data);
    status = evaluation_step(ev, d.exponent > 34 ? HUGE_ANGLE_STEPS : DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_trigonometry((enum decimal_function)e->op->variant, &d, &d);
    return result_decimal(ev, &d, result);
}

/* arctangent2 -- the angle of the point (x, y), given as [y, x]. */
static tansu_status arctangent2(evaluation *ev, const expression *e, doc_value *result) {
    enum numeric_width y_width, x_width;
    doc_value y, x;
    decimal a, b;
    tansu_status status = argument(ev, e, 0, &y);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &x);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&y) || is_nullish(&x))
        return result_null(result);
    if (!number_width(&y, &y_width))
        return not_a_number(ev, e, &y);
    if (!number_width(&x, &x_width))
        return not_a_number(ev, e, &x);
    if (y_width != WIDTH_DECIMAL && x_width != WIDTH_DECIMAL)
        return result_double(ev, atan2(number_to_double(&y), number_to_double(&x)), result);
    number_to_decimal(&y, &a);
    number_to_decimal(&x, &b);
    status = evaluation_step(ev, DECIMAL_FUNCTION_STEPS);
    if (status != TANSU_OK)
        return status;
    decimal_atan2(&a, &b, &a);
    return result_decimal(ev, &a, result);
}

enum angle_unit { TO_RADIANS, TO_DEGREES };

/* convert_angle -- $degreesToRadians and $radiansToDegrees. */
static tansu_status convert_angle(evaluation *ev, const expression *e, doc_value *result) {
    static const char radian[] = "0.01745329251994329576923690768488613";
    static const char degrees[] = "57.29577951308232087679815481410517";
    const double pi = 3.14159265358979323846;
    bool to_radians = e->op->variant == TO_RADIANS;
    enum numeric_width width;
    doc_value value;
    decimal d, factor;
    uint8_t bytes[16];
    bool null;
    tansu_status status = number_argument(ev, e, 0, &value, &width, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    if (width != WIDTH_DECIMAL)
        return result_double(ev, number_to_double(&value) * (to_radians ? pi / 180 : 180 / pi),
                             result);
    const char *text = to_radians ? radian : degrees;
    decimal_text_read(text, strlen(text), bytes);
    decimal_read(&factor, bytes);
    decimal_read(&d, value.data);
    decimal_multiply(&d, &factor, &d);
    return result_decimal(ev, &d, result);
}

const operator_info operators_trigonometry[] = {
    {.name = "$sin", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_SIN},
    {.name = "$cos", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_COS},
    {.name = "$tan", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_TAN},
    {.name = "$asin", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ASIN},
    {.name = "$acos", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ACOS},
    {.name = "$atan", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ATAN},
    {.name = "$sinh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_SINH},
    {.name = "$cosh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_COSH},
    {.name = "$tanh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_TANH},
    {.name = "$asinh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ASINH},
    {.name = "$acosh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ACOSH},
    {.name = "$atanh", .evaluate = trigonometry, .min = 1, .max = 1, .variant = DECIMAL_ATANH},
    {.name = "$atan2", .evaluate = arctangent2, .min = 2, .max = 2},
    {.name = "$degreesToRadians",
     .evaluate = convert_angle,
     .min = 1,
     .max = 1,
     .variant = TO_RADIANS},
    {.name = "$radiansToDegrees",
     .evaluate = convert_angle,
     .min = 1,
     .max = 1,
     .variant = TO_DEGREES},
    {.name = NULL},
};
