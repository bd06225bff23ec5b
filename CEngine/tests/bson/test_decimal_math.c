/*
 * test_decimal_math.c -- functions of decimal128 values have 34 right digits, and exact operations
 * the digits and exponents that IEEE 754 asks for.
 */
#include "bson/decimal_arithmetic.h"
#include "bson/decimal_math.h"
#include "bson/decimal_text.h"
#include "support/check.h"

#include <string.h>

/* of -- a decimal from its text. */
static decimal of(const char *text) {
    uint8_t bytes[16];
    decimal result;
    REQUIRE(decimal_text_read(text, strlen(text), bytes));
    decimal_read(&result, bytes);
    return result;
}

/* is -- whether a decimal is written like this. */
static void is(const char *expected, const decimal *value) {
    char text[DECIMAL_TEXT_SIZE];
    uint8_t bytes[16];
    decimal_write(value, bytes);
    decimal_format(bytes, text);
    CHECK_TEXT(expected, text);
}

/* is_about -- whether a decimal is a value, but for two units of the 34th digit: results are rounded
 * by way of binary numbers. */
static void is_about(const char *expected, const decimal *value) {
    decimal wanted = of(expected), full, difference, limit = {.coefficient = u128_of(2)};
    decimal_normalise(&wanted, &full);
    limit.exponent = full.exponent;
    decimal_subtract(value, &wanted, &difference);
    difference.negative = false;
    decimal_subtract(&difference, &limit, &difference);
    bool close = difference.kind == DECIMAL_FINITE &&
                 (difference.negative || u128_is_zero(difference.coefficient));
    if (!CHECK(close))
        is(expected, value);
}

/* The expected values are those of mpmath. */
static void functions_have_34_digits(void) {
    static const struct {
        void (*function)(const decimal *, decimal *);
        const char *argument, *expected;
    } cases[] = {
        {decimal_exp, "1", "2.718281828459045235360287471352662"},
        {decimal_exp, "-1", "0.3678794411714423215955237701614609"},
        {decimal_exp, "0.5", "1.648721270700128146848650787814164"},
        {decimal_exp, "14000", "1.326620321137711275937776890335631E+6080"},
        {decimal_exp, "-14000", "7.537951771629720907593006284141136E-6081"},
        {decimal_exp, "1E-20", "1.000000000000000000010000000000000"},
        {decimal_ln, "2", "0.6931471805599453094172321214581766"},
        {decimal_ln, "10", "2.302585092994045684017991454684364"},
        {decimal_ln, "0.999999999999999999999999999999",
         "-1.000000000000000000000000000000500E-30"},
        {decimal_ln, "1E+6144", "14147.08281135541668260653949758073"},
        {decimal_ln, "1E-6176", "-14220.76553433122614449511522413063"},
        {decimal_log10, "2", "0.3010299956639811952137388947244930"},
        {decimal_log10, "1E-6176", "-6176.000000000000000000000000000000"},
        {decimal_sqrt, "2", "1.414213562373095048801688724209698"},
        {decimal_sqrt, "1E-6175", "3.162277660168379331998893544432719E-3088"},
        {decimal_sqrt, "9.999999999999999999999999999999999E+6144",
         "3.162277660168379331998893544432718E+3072"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal value = of(cases[i].argument);
        cases[i].function(&value, &value);
        is_about(cases[i].expected, &value);
    }
}

static void angles_have_34_digits(void) {
    static const struct {
        enum decimal_function function;
        const char *argument, *expected;
    } cases[] = {
        {DECIMAL_SIN, "0.5", "0.4794255386042030002732879352155714"},
        {DECIMAL_SIN, "-3", "-0.1411200080598672221007448028081103"},
        {DECIMAL_SIN, "100", "-0.5063656411097587936565576104597854"},
        {DECIMAL_SIN, "1E+6100", "0.5355519175804702475472175446857799"},
        {DECIMAL_SIN, "-7.25E+33", "-0.7059944428953145674966160964635858"},
        {DECIMAL_SIN, "1234567890.12345", "0.9590947333347355858277008872587352"},
        {DECIMAL_SIN, "1E-30", "1.000000000000000000000000000000000E-30"},
        {DECIMAL_COS, "0.5", "0.8775825618903727161162815826038297"},
        {DECIMAL_COS, "22", "-0.9999608263946371264541747392126938"},
        {DECIMAL_COS, "1E+6100", "0.8445023052519638936502456792371185"},
        {DECIMAL_COS, "1.570796326794896619231321691639751",
         "4.420985846996875529104874722961539E-34"},
        {DECIMAL_TAN, "0.5", "0.5463024898437905132551794657802854"},
        {DECIMAL_TAN, "-1.5", "-14.10141994717171938764608365198776"},
        {DECIMAL_TAN, "1E+40", "0.6930699220580957430291222179954436"},
        {DECIMAL_ASIN, "0.5", "0.5235987755982988730771072305465838"},
        {DECIMAL_ASIN, "-1", "-1.570796326794896619231321691639751"},
        {DECIMAL_ASIN, "1E-10", "1.000000000000000000001666666666667E-10"},
        {DECIMAL_ASIN, "0.9999999999999999999999999999999999",
         "1.570796326794896605089186067908801"},
        {DECIMAL_ACOS, "0.5", "1.047197551196597746154214461093168"},
        {DECIMAL_ACOS, "-1", "3.141592653589793238462643383279503"},
        {DECIMAL_ACOS, "0.9999999999999999999999999999999999",
         "1.414213562373095048801688724209698E-17"},
        {DECIMAL_ATAN, "0.5", "0.4636476090008061162142562314612144"},
        {DECIMAL_ATAN, "-1E+20", "-1.570796326794896619221321691639751"},
        {DECIMAL_ATAN, "1E-12", "9.999999999999999999999996666666667E-13"},
        {DECIMAL_SINH, "0.5", "0.5210953054937473616224256264114916"},
        {DECIMAL_SINH, "-20", "-242582597.7048951379539766040514914"},
        {DECIMAL_SINH, "1E-9", "1.000000000000000000166666666666667E-9"},
        {DECIMAL_SINH, "10000", "4.403409112831460793630748003822281E+4342"},
        {DECIMAL_COSH, "0.5", "1.127625965206380785226225161402672"},
        {DECIMAL_COSH, "-20", "242582597.7048951400151302264900492"},
        {DECIMAL_TANH, "0.5", "0.4621171572600097585023184836436725"},
        {DECIMAL_TANH, "-3", "-0.9950547536867304513318801852554885"},
        {DECIMAL_TANH, "1E-8", "9.999999999999999666666666666666680E-9"},
        {DECIMAL_ASINH, "0.5", "0.4812118250596034474977589134243684"},
        {DECIMAL_ASINH, "-1E+3000", "-6908.448426162696997363391596174551"},
        {DECIMAL_ASINH, "1E-9", "9.999999999999999998333333333333333E-10"},
        {DECIMAL_ACOSH, "1.5", "0.9624236501192068949955178268487368"},
        {DECIMAL_ACOSH, "1.000000000000000000000000000000001",
         "4.472135954999579392818347337462552E-17"},
        {DECIMAL_ACOSH, "1E+6000", "13816.20370514483404941736596022764"},
        {DECIMAL_ATANH, "0.5", "0.5493061443340548456976226184612629"},
        {DECIMAL_ATANH, "-0.999", "-3.800201167250200031775967267809004"},
        {DECIMAL_ATANH, "1E-9", "1.000000000000000000333333333333333E-9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal value = of(cases[i].argument);
        decimal_trigonometry(cases[i].function, &value, &value);
        is_about(cases[i].expected, &value);
    }
}

/* Two operands and the result. */
typedef struct binary_case {
    const char *a, *b, *expected;
} binary_case;

static void powers_have_34_digits(void) {
    static const binary_case cases[] = {
        {"1.5", "2", "2.250000000000000000000000000000000"},
        {"3", "0.5", "1.732050807568877293527446341505872"},
        {"-2.5", "3", "-15.62500000000000000000000000000000"},
        {"2", "0.5", "1.414213562373095048801688724209698"},
        {"10", "-1.5", "0.03162277660168379331998893544432719"},
        {"1.0000000001", "1E+10", "2.718281828323131143949794001297229"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal a = of(cases[i].a), b = of(cases[i].b);
        decimal_power(&a, &b, &a);
        is_about(cases[i].expected, &a);
    }
}

static void angles_of_points_are_in_their_quadrant(void) {
    static const binary_case cases[] = {
        {"1", "1", "0.7853981633974483096156608458198757"},
        {"1", "-1", "2.356194490192344928846982537459627"},
        {"-2", "-3", "-2.553590050042225687217032302654417"},
        {"1", "1E+3000", "1.000000000000000000000000000000000E-3000"},
        {"-1", "0.5", "-1.107148717794090503017065460178537"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal a = of(cases[i].a), b = of(cases[i].b);
        decimal_atan2(&a, &b, &a);
        is_about(cases[i].expected, &a);
    }
}

/* As MongoDB 8.2 computes them. */
static void results_are_rounded_as_in_mongodb(void) {
    decimal value = of("-0.4999999999999999999999999999999999");
    decimal_exp(&value, &value);
    is("0.6065306597126334236037995349911806", &value);
    value = of("1E-6143");
    decimal_exp(&value, &value);
    is("1", &value);
    value = of("1E-6176");
    decimal_log10(&value, &value);
    is("-6176", &value);
    value = of("1.000000000000000000000000000000000E+6144");
    decimal_sqrt(&value, &value);
    is("1.00000000000000000E+3072", &value);
    decimal base = of("2"), exponent = of("3");
    decimal_power(&base, &exponent, &value);
    is("8.000000000000000000000000000000000", &value);
    base = of("9.999999999999999999999999999999999E+6144");
    exponent = of("1");
    decimal_power(&base, &exponent, &value);
    is("Infinity", &value);
}

static void special_values_follow_ieee_754(void) {
    static const struct {
        void (*function)(const decimal *, decimal *);
        const char *argument, *expected;
    } cases[] = {{decimal_exp, "Infinity", "Infinity"},
                 {decimal_exp, "-Infinity", "0"},
                 {decimal_exp, "20000", "Infinity"},
                 {decimal_exp, "-20000", "0E-6176"},
                 {decimal_exp, "NaN", "NaN"},
                 {decimal_ln, "0", "-Infinity"},
                 {decimal_ln, "-1", "NaN"},
                 {decimal_ln, "Infinity", "Infinity"},
                 {decimal_ln, "1.0", "0"},
                 {decimal_log10, "NaN", "NaN"},
                 {decimal_sqrt, "-1", "NaN"},
                 {decimal_sqrt, "-0E-3", "-0.00"},
                 {decimal_sqrt, "Infinity", "Infinity"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal value = of(cases[i].argument);
        cases[i].function(&value, &value);
        is(cases[i].expected, &value);
    }
    static const binary_case powers[] = {{"-Infinity", "3", "-Infinity"},
                                         {"-Infinity", "-1", "0E-6176"},
                                         {"-8", "0.5", "NaN"},
                                         {"NaN", "0", "1.000000000000000000000000000000000"},
                                         {"0.5", "Infinity", "0E-6176"},
                                         {"10", "7000", "Infinity"}};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        decimal a = of(powers[i].a), b = of(powers[i].b);
        decimal_power(&a, &b, &a);
        is(powers[i].expected, &a);
    }
    decimal value = of("Infinity");
    decimal_trigonometry(DECIMAL_COS, &value, &value);
    is("NaN", &value);
    value = of("-1");
    decimal_trigonometry(DECIMAL_ATANH, &value, &value);
    is("-Infinity", &value);
    value = of("-0.00");
    decimal_trigonometry(DECIMAL_SIN, &value, &value);
    is("-0.00", &value);
}

static void quotients_are_rounded_once(void) {
    static const binary_case cases[] = {
        {"10", "4", "2.5"},
        {"10.0", "2", "5.0"},
        {"1", "3", "0.3333333333333333333333333333333333"},
        {"2", "3", "0.6666666666666666666666666666666667"},
        {"9.999999999999999999999999999999999E+6144", "1E-10", "Infinity"},
        {"1E-6176", "2", "0E-6176"},
        {"3E-6176", "2", "2E-6176"},
        {"-1", "0", "-Infinity"},
        {"0", "0", "NaN"},
        {"5", "-Infinity", "-0E-6176"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal a = of(cases[i].a), b = of(cases[i].b);
        decimal_quotient(&a, &b, &a);
        is(cases[i].expected, &a);
    }
}

static void remainders_are_exact(void) {
    static const binary_case cases[] = {{"10", "3", "1"},        {"-10", "3", "-1"},
                                        {"10.5", "3", "1.5"},    {"1E+6144", "7", "1"},
                                        {"-1E+6144", "2", "-0"}, {"1E-6176", "1E+6144", "1E-6176"},
                                        {"5", "Infinity", "5"},  {"Infinity", "5", "NaN"},
                                        {"5", "0", "NaN"},       {"0.3", "0.1", "0.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal a = of(cases[i].a), b = of(cases[i].b);
        decimal_remainder(&a, &b, &a);
        is(cases[i].expected, &a);
    }
}

static void rounding_keeps_to_the_exponent(void) {
    static const struct {
        const char *value;
        int32_t exponent;
        enum decimal_rounding rounding;
        const char *expected;
    } cases[] = {{"2.5", 0, DECIMAL_HALF_EVEN, "2"},     {"3.5", 0, DECIMAL_HALF_EVEN, "4"},
                 {"-2.51", 0, DECIMAL_HALF_EVEN, "-3"},  {"-2.5", 0, DECIMAL_FLOOR, "-3"},
                 {"-2.5", 0, DECIMAL_CEILING, "-2"},     {"2.9", 0, DECIMAL_TRUNCATE, "2"},
                 {"25", 1, DECIMAL_HALF_EVEN, "2E+1"},   {"1.1", -3, DECIMAL_HALF_EVEN, "1.100"},
                 {"1E+34", 0, DECIMAL_HALF_EVEN, "NaN"}, {"1E-6176", 0, DECIMAL_CEILING, "1"},
                 {"-Infinity", 0, DECIMAL_FLOOR, "NaN"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decimal value = of(cases[i].value);
        decimal_quantize(&value, cases[i].exponent, cases[i].rounding, &value);
        is(cases[i].expected, &value);
    }
}

static void doubles_become_decimals_and_back(void) {
    decimal value;
    decimal_from_double_15(1.5, &value);
    is("1.50000000000000", &value);
    decimal_from_double_15(0.1, &value);
    is("0.100000000000000", &value);
    decimal_from_double_15(0.9999999999999994, &value);
    is("0.999999999999999", &value);
    decimal_from_double_15(0, &value);
    is("0", &value);
    decimal_from_double_34(0.1, &value);
    is("0.1000000000000000055511151231257827", &value);
    decimal_from_double_34(1.5, &value);
    is("1.5", &value);
    value = of("0.1");
    CHECK(decimal_to_double(&value) == (double)0.1);
    value = of("-1E+400");
    CHECK(decimal_to_double(&value) < -1e308);
    value = of("5E-324");
    CHECK(decimal_to_double(&value) == (double)5e-324);
    value = of("-0");
    CHECK(1 / decimal_to_double(&value) < 0);
}

int main(void) {
    RUN(functions_have_34_digits);
    RUN(angles_have_34_digits);
    RUN(powers_have_34_digits);
    RUN(angles_of_points_are_in_their_quadrant);
    RUN(results_are_rounded_as_in_mongodb);
    RUN(special_values_follow_ieee_754);
    RUN(quotients_are_rounded_once);
    RUN(remainders_are_exact);
    RUN(rounding_keeps_to_the_exponent);
    RUN(doubles_become_decimals_and_back);
    return check_finish();
}
