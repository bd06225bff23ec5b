/*
 * test_value_text.c -- numbers and binaries as text, in the forms of MongoDB's expressions
 * (query/expression/number_text.h, binary_text.h).
 */
#include "bson/decimal_text.h"
#include "query/expression/binary_text.h"
#include "query/expression/number_text.h"
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <string.h>

/* ---- Writing numbers ---- */

static void doubles_are_written(void) {
    static const struct {
        double number;
        const char *fewest, *six;
    } samples[] = {{0, "0", "0"},
                   {-0.0, "-0", "-0"},
                   {3, "3", "3"},
                   {-3.14, "-3.14", "-3.14"},
                   {0.1, "0.1", "0.1"},
                   {0.005, "0.005", "0.005"},
                   {0.0001, "0.0001", "0.0001"},
                   {0.00009, "9e-05", "9e-05"},
                   {123456.789, "123456.789", "123457"},
                   {999999.5, "999999.5", "1e+06"},
                   {1000000, "1000000", "1e+06"},
                   {1250000, "1250000", "1.25e+06"},
                   {9999999999999998, "9999999999999998", "1e+16"},
                   {1e16, "1e+16", "1e+16"},
                   {123456789012345680.0, "1.2345678901234568e+17", "1.23457e+17"},
                   {1.0000000000000002, "1.0000000000000002", "1"},
                   {5e-324, "5e-324", "4.94066e-324"},
                   {1.7976931348623157e308, "1.7976931348623157e+308", "1.79769e+308"},
                   {HUGE_VAL, "Infinity", "inf"},
                   {-HUGE_VAL, "-Infinity", "-inf"},
                   {NAN, "NaN", "nan"}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char text[NUMBER_TEXT_SIZE];
        CHECK_INT(strlen(samples[i].fewest), number_text_double(samples[i].number, text));
        CHECK_TEXT(samples[i].fewest, text);
        CHECK_INT(strlen(samples[i].six), number_text_short(samples[i].number, text));
        CHECK_TEXT(samples[i].six, text);
    }
}

static void integers_are_written(void) {
    char text[NUMBER_TEXT_SIZE];
    CHECK_INT(20, number_text_integer(INT64_MIN, text));
    CHECK_TEXT("-9223372036854775808", text);
    CHECK_INT(1, number_text_integer(0, text));
    CHECK_TEXT("0", text);
}

/* The decimal point is no part of the locale. */
static void locales_change_nothing(void) {
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE.utf8")) {
        check_skip("the locale de_DE.UTF-8 is not installed");
        return;
    }
    doubles_are_written();
    double number;
    CHECK_INT(NUMBER_TEXT_OK, number_text_read_double("1.5", 3, &number));
    CHECK(number == 1.5);
    setlocale(LC_NUMERIC, "C");
}

/* ---- Reading numbers ---- */

static void integers_are_read(void) {
    static const struct {
        const char *text;
        enum number_text result;
        int64_t number;
    } samples[] = {{"42", NUMBER_TEXT_OK, 42},
                   {"+0042", NUMBER_TEXT_OK, 42},
                   {"-0", NUMBER_TEXT_OK, 0},
                   {"9223372036854775807", NUMBER_TEXT_OK, INT64_MAX},
                   {"-9223372036854775808", NUMBER_TEXT_OK, INT64_MIN},
                   {"9223372036854775808", NUMBER_TEXT_RANGE, 0},
                   {"-9223372036854775809", NUMBER_TEXT_RANGE, 0},
                   {"99999999999999999999999999", NUMBER_TEXT_RANGE, 0},
                   {"", NUMBER_TEXT_NONE, 0},
                   {"+", NUMBER_TEXT_NONE, 0},
                   {" 1", NUMBER_TEXT_NONE, 0},
                   {"1 ", NUMBER_TEXT_NONE, 0},
                   {"1.0", NUMBER_TEXT_NONE, 0},
                   {"1e2", NUMBER_TEXT_NONE, 0}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        int64_t number = 0;
        CHECK_INT(samples[i].result,
                  number_text_read_integer(samples[i].text, strlen(samples[i].text), &number));
        CHECK_INT(samples[i].number, number);
    }
    int64_t number;
    CHECK_INT(NUMBER_TEXT_NONE, number_text_read_integer("1\0", 2, &number));
}

static void doubles_are_read(void) {
    static const struct {
        const char *text;
        enum number_text result;
        double number;
    } samples[] = {{"42", NUMBER_TEXT_OK, 42},
                   {"+007.50", NUMBER_TEXT_OK, 7.5},
                   {".5", NUMBER_TEXT_OK, 0.5},
                   {"-5.", NUMBER_TEXT_OK, -5},
                   {"1.5e+3", NUMBER_TEXT_OK, 1500},
                   {"1E-400000000000000000000000", NUMBER_TEXT_RANGE, 0},
                   {"0e400", NUMBER_TEXT_OK, 0},
                   {"1e400", NUMBER_TEXT_RANGE, 0},
                   {"1e-400", NUMBER_TEXT_RANGE, 0},
                   {"-Infinity", NUMBER_TEXT_OK, -HUGE_VAL},
                   {"inf", NUMBER_TEXT_OK, HUGE_VAL},
                   {"+0x1p1", NUMBER_TEXT_OK, 2},
                   {"-0xff", NUMBER_TEXT_OK, -255},
                   {"0X.8p-1", NUMBER_TEXT_OK, 0.25},
                   {"0x1p", NUMBER_TEXT_NONE, 0},
                   {"0x", NUMBER_TEXT_NONE, 0},
                   {"0x1p2000", NUMBER_TEXT_RANGE, 0},
                   {"0x1p-2000", NUMBER_TEXT_RANGE, 0},
                   {"0x10000000000000000000000000000000000p-136", NUMBER_TEXT_OK, 1},
                   {"", NUMBER_TEXT_NONE, 0},
                   {".", NUMBER_TEXT_NONE, 0},
                   {"-", NUMBER_TEXT_NONE, 0},
                   {"1.5e", NUMBER_TEXT_NONE, 0},
                   {"1.2.3", NUMBER_TEXT_NONE, 0},
                   {" 1", NUMBER_TEXT_NONE, 0},
                   {"infinit", NUMBER_TEXT_NONE, 0}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        double number = 0;
        enum number_text result =
            number_text_read_double(samples[i].text, strlen(samples[i].text), &number);
        CHECK_INT(samples[i].result, result);
        if (!CHECK(result != NUMBER_TEXT_OK || number == samples[i].number))
            check_note("%s", samples[i].text);
    }
    double number = 0;
    CHECK_INT(NUMBER_TEXT_OK, number_text_read_double("-nan", 4, &number));
    CHECK(isnan(number));
}

static void decimals_are_read(void) {
    static const struct {
        const char *text, *decimal; /* NULL: no number, or out of range */
    } samples[] = {
        {"1.50", "1.50"},
        {"+5.", "5"},
        {"-NaN", "NaN"},
        {"-INFINITY", "-Infinity"},
        {"-0E-1", "-0.0"},
        {"1.00000000000000000000000000000000099999", "1.000000000000000000000000000000000"},
        {"-99999999999999999999999999999999999", "-9.999999999999999999999999999999999E+34"},
        {"1E+6144", "1.000000000000000000000000000000000E+6144"},
        {"1E+6145", NULL},
        {"1E-6176", "1E-6176"},
        {"1E-6177", NULL},
        {"", NULL},
        {"1E", NULL},
        {" 1", NULL},
        {"0x1", NULL}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint8_t bytes[16];
        char text[DECIMAL_TEXT_SIZE];
        bool read = number_text_read_decimal(samples[i].text, strlen(samples[i].text), bytes);
        CHECK_INT(samples[i].decimal != NULL, read);
        if (!read || !samples[i].decimal)
            continue;
        decimal_text_write(bytes, text);
        CHECK_TEXT(samples[i].decimal, text);
    }
}

static void decimals_and_doubles(void) {
    static const struct {
        double number;
        const char *decimal;
    } samples[] = {{2.5, "2.50000000000000"},
                   {-0.0, "-0"},
                   {9999999999999998, "1.00000000000000E+16"},
                   {1.234567890123455, "1.23456789012345"},
                   {-5e-324, "-4.94065645841247E-324"},
                   {HUGE_VAL, "Infinity"},
                   {NAN, "NaN"}};
    uint8_t bytes[16];
    char text[DECIMAL_TEXT_SIZE];
    double number;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        decimal128_of_double(samples[i].number, bytes);
        decimal_text_write(bytes, text);
        CHECK_TEXT(samples[i].decimal, text);
    }
    decimal128_of_integer(INT64_MIN, bytes);
    decimal_text_write(bytes, text);
    CHECK_TEXT("-9223372036854775808", text);
    CHECK_INT(NUMBER_TEXT_OK, decimal128_to_double(bytes, &number));
    CHECK(number == -9223372036854775808.0);
    REQUIRE(number_text_read_decimal("1E+400", 6, bytes));
    CHECK_INT(NUMBER_TEXT_RANGE, decimal128_to_double(bytes, &number));
    REQUIRE(number_text_read_decimal("1E-400", 6, bytes));
    CHECK_INT(NUMBER_TEXT_RANGE, decimal128_to_double(bytes, &number));
}

/* ---- Binaries ---- */

static void base64(void) {
    static const struct {
        const char *plain, *padded, *url;
    } samples[] = {{"", "", ""},
                   {"f", "Zg==", "Zg"},
                   {"fo", "Zm8=", "Zm8"},
                   {"foo", "Zm9v", "Zm9v"},
                   {"foob", "Zm9vYg==", "Zm9vYg"},
                   {">>>>", "Pj4+Pg==", "Pj4-Pg"},
                   {"???", "Pz8/", "Pz8_"}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char text[16];
        uint8_t bytes[16];
        size_t size = strlen(samples[i].plain), count;
        text[base64_write((const uint8_t *)samples[i].plain, size, false, text)] = '\0';
        CHECK_TEXT(samples[i].padded, text);
        REQUIRE(base64_read(text, strlen(text), false, bytes, &count));
        CHECK_BYTES(samples[i].plain, size, bytes, count);
        text[base64_write((const uint8_t *)samples[i].plain, size, true, text)] = '\0';
        CHECK_TEXT(samples[i].url, text);
        REQUIRE(base64_read(text, strlen(text), true, bytes, &count));
        CHECK_BYTES(samples[i].plain, size, bytes, count);
    }
}

static void texts_that_are_no_base64(void) {
    static const char *const samples[] = {
        "Z", "Zg", "Zg=", "Zg===", "Zg==Zg==", "Z-8=", "Zm8!", "=", "===="};
    uint8_t bytes[16];
    size_t count;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (!CHECK(!base64_read(samples[i], strlen(samples[i]), false, bytes, &count)))
            check_note("%s", samples[i]);
    }
    CHECK(!base64_read("Zm8+", 4, true, bytes, &count));
    CHECK(!base64_read("Z", 1, true, bytes, &count));
    CHECK(base64_read("Zg==", 4, true, bytes, &count));
}

static void hexadecimal_digits(void) {
    uint8_t bytes[4];
    char text[8];
    CHECK(hex_digits_read("00fFa9", 6, bytes));
    CHECK_BYTES("\0\xFF\xA9", 3, bytes, 3);
    hex_digits_write(bytes, 3, text);
    CHECK_BYTES("00FFA9", 6, text, 6);
    CHECK(!hex_digits_read("abc", 3, bytes));
    CHECK(!hex_digits_read("0g", 2, bytes));
    CHECK(hex_digits_read("", 0, bytes));
}

static void uuids(void) {
    static const char own[] = "550e8400-e29b-41d4-a716-446655440000";
    uint8_t bytes[UUID_SIZE];
    char text[UUID_TEXT_SIZE];
    REQUIRE(uuid_read("550E8400-E29B-41D4-A716-446655440000", UUID_TEXT_SIZE, bytes));
    uuid_write(bytes, text);
    CHECK_BYTES(own, UUID_TEXT_SIZE, text, UUID_TEXT_SIZE);
    CHECK(!uuid_read(own, UUID_TEXT_SIZE - 1, bytes));
    CHECK(!uuid_read("550e8400-e29b-41d4-a716+446655440000", UUID_TEXT_SIZE, bytes));
    CHECK(!uuid_read("550e8400-e29b-41d4-a716-44665544000-", UUID_TEXT_SIZE, bytes));
    CHECK(!uuid_read("550e8400e29b-41d4-a716-4466554400000", UUID_TEXT_SIZE, bytes));
}

int main(void) {
    RUN(doubles_are_written);
    RUN(integers_are_written);
    RUN(locales_change_nothing);
    RUN(integers_are_read);
    RUN(doubles_are_read);
    RUN(decimals_are_read);
    RUN(decimals_and_doubles);
    RUN(base64);
    RUN(texts_that_are_no_base64);
    RUN(hexadecimal_digits);
    RUN(uuids);
    return check_finish();
}
