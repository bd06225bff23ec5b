/*
 * query/expression/number_text.c -- numbers as text.
 */
#include "query/expression/number_text.h"

#include "bson/decimal.h"
#include "bson/decimal_text.h"
#include "bson/json/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- Writing ---- */

/* The digits of a number, and the power of ten of the first one. */
typedef struct digits {
    char text[32];
    int count; /* without zeros at the end, but at least 1 */
    int power;
} digits;

/* digits_of_text -- the digits of a positive number's text, whatever its point is. */
static void digits_of_text(const char *text, digits *d) {
    bool point = false;
    *d = (digits){.power = -1};
    for (; *text && *text != 'e' && *text != 'E'; text++) {
        if (!is_digit(*text)) {
            point = true;
            continue;
        }
        if (d->count == 0 && *text == '0') {
            d->power -= point;
            continue;
        }
        if (d->count < (int)sizeof d->text - 1)
            d->text[d->count++] = *text;
        d->power += !point;
    }
    if (*text && d->count > 0) {
        bool negative = text[1] == '-';
        int power = 0;
        for (text += 2; is_digit(*text); text++)
            power = power * 10 + (*text - '0');
        d->power += negative ? -power : power;
    }
    while (d->count > 1 && d->text[d->count - 1] == '0')
        d->count--;
    if (d->count == 0)
        *d = (digits){.text = "0", .count = 1};
}

/* put_digits -- writes a number, with an exponent unless its power is from -4 to below `high`. */
static size_t put_digits(const digits *d, int high, char *text) {
    char *to = text;
    if (d->power < -4 || d->power >= high) {
        *to++ = d->text[0];
        if (d->count > 1) {
            *to++ = '.';
            memcpy(to, d->text + 1, (size_t)d->count - 1);
            to += d->count - 1;
        }
        int power = d->power < 0 ? -d->power : d->power;
        to += snprintf(to, sizeof "e+999", "e%c%02d", d->power < 0 ? '-' : '+', power % 1000);
        return (size_t)(to - text);
    }
    for (int i = d->power < 0 ? d->power : 0; i < d->count || i <= d->power; i++) {
        *to++ = i >= 0 && i < d->count ? d->text[i] : '0';
        if (i == d->power && i + 1 < d->count)
            *to++ = '.';
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* put_double -- writes a double with the digits that `precision` asks for; 0: the fewest. */
static size_t put_double(double number, int precision, const char *infinity, const char *nan,
                         char *text) {
    digits d;
    char plain[JSON_DOUBLE_SIZE + 8];
    size_t sign = signbit(number) && !isnan(number);
    if (sign)
        *text = '-';
    if (isnan(number) || isinf(number)) {
        strcpy(text + sign, isnan(number) ? nan : infinity);
        return strlen(text);
    }
    if (precision == 0)
        plain[json_format_double(plain, fabs(number))] = '\0';
    else
        snprintf(plain, sizeof plain, "%.*e", precision - 1, fabs(number));
    digits_of_text(plain, &d);
    return sign + put_digits(&d, precision == 0 ? 16 : precision, text + sign);
}

size_t number_text_double(double number, char text[NUMBER_TEXT_SIZE]) {
    return put_double(number, 0, "Infinity", "NaN", text);
}

size_t number_text_short(double number, char text[NUMBER_TEXT_SIZE]) {
    return put_double(number, 6, "inf", "nan", text);
}

size_t number_text_integer(int64_t number, char text[NUMBER_TEXT_SIZE]) {
    return (size_t)snprintf(text, NUMBER_TEXT_SIZE, "%lld", (long long)number);
}

/* ---- Reading ---- */

/* take_sign -- passes a sign; true when it is a minus. */
static bool take_sign(const char **at, const char *end) {
    bool negative = *at < end && **at == '-';
    *at += *at < end && (**at == '-' || **at == '+');
    return negative;
}

/* is_word -- whether a text is a word, given in small letters. */
static bool is_word(const char *at, const char *end, const char *word) {
    for (; at < end && *word; at++, word++) {
        if ((*at >= 'A' && *at <= 'Z' ? *at + ('a' - 'A') : *at) != *word)
            return false;
    }
    return at == end && !*word;
}

enum number_text number_text_read_integer(const char *text, size_t size, int64_t *number) {
    const char *at = text, *end = text + size;
    uint64_t value = 0;
    bool negative = take_sign(&at, end), large = false;
    if (at == end)
        return NUMBER_TEXT_NONE;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return NUMBER_TEXT_NONE;
        large = large || value > (UINT64_MAX - 9) / 10;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (large || value > (uint64_t)INT64_MAX + negative)
        return NUMBER_TEXT_RANGE;
    *number = (int64_t)(negative ? 0 - value : value);
    return NUMBER_TEXT_OK;
}

/* More than the exponent of any number. */
#define EXPONENT_LIMIT 1000000000

/* scan_exponent -- the number behind an "e" or a "p"; NULL when there is none. */
static const char *scan_exponent(const char *at, const char *end, int64_t *exponent) {
    bool negative = take_sign(&at, end);
    if (at == end || !is_digit(*at))
        return NULL;
    for (*exponent = 0; at < end && is_digit(*at); at++) {
        if (*exponent < EXPONENT_LIMIT)
            *exponent = *exponent * 10 + (*at - '0');
    }
    *exponent = negative ? -*exponent : *exponent;
    return at;
}

/* scan_decimal -- whether a text without its sign is a decimal number; *nonzero: a digit is not 0. */
static bool scan_decimal(const char *at, const char *end, bool *nonzero) {
    bool point = false, any = false;
    int64_t exponent;
    *nonzero = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        point = point || *at == '.';
        any = any || *at != '.';
        *nonzero = *nonzero || (*at != '.' && *at != '0');
    }
    if (any && at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at + 1, end, &exponent);
    return any && at == end;
}

/* hexadecimal -- the value of a digit, or -1. */
static int hexadecimal(char c) {
    char small = (char)(c | 0x20);
    return is_digit(c) ? c - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* read_hexadecimal -- the digits behind "0x", with a point and an exponent of 2. */
static enum number_text read_hexadecimal(const char *at, const char *end, double *number) {
    uint64_t value = 0;
    int64_t exponent = 0, written = 0;
    bool point = false, any = false;
    for (; at < end && (hexadecimal(*at) >= 0 || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        if (value >> 60 == 0) {
            value = value << 4 | (uint64_t)hexadecimal(*at);
            exponent -= point ? 4 : 0;
        } else { /* what cannot change the rounding but by being there */
            value |= hexadecimal(*at) != 0;
            exponent += point ? 0 : 4;
        }
    }
    if (any && at < end && (*at == 'p' || *at == 'P'))
        at = scan_exponent(at + 1, end, &written);
    if (!any || at != end)
        return NUMBER_TEXT_NONE;
    exponent += written;
    *number = ldexp((double)value, exponent > 5000    ? 5000
                                   : exponent < -5000 ? -5000
                                                      : (int)exponent);
    return isinf(*number) || (*number == 0 && value != 0) ? NUMBER_TEXT_RANGE : NUMBER_TEXT_OK;
}

enum number_text number_text_read_double(const char *text, size_t size, double *number) {
    const char *at = text, *end = text + size;
    bool negative = take_sign(&at, end);
    enum number_text result = NUMBER_TEXT_OK;
    bool nonzero;
    if (is_word(at, end, "inf") || is_word(at, end, "infinity")) {
        *number = HUGE_VAL;
    } else if (is_word(at, end, "nan")) {
        *number = NAN;
    } else if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
        result = read_hexadecimal(at + 2, end, number);
    } else if (!scan_decimal(at, end, &nonzero)) {
        return NUMBER_TEXT_NONE;
    } else {
        switch (json_parse_double(at, (size_t)(end - at), number)) {
        case JSON_DOUBLE_MEMORY: return NUMBER_TEXT_MEMORY;
        case JSON_DOUBLE_RANGE: return NUMBER_TEXT_RANGE;
        case JSON_DOUBLE_OK: break;
        }
        if (nonzero && *number < DBL_MIN)
            result = NUMBER_TEXT_RANGE;
    }
    if (result == NUMBER_TEXT_OK && negative)
        *number = -*number;
    return result;
}

bool number_text_read_decimal(const char *text, size_t size, uint8_t bytes[16]) {
    const char *at = text, *end = text + size;
    (void)take_sign(&at, end);
    /* A NaN has no sign. */
    return is_word(at, end, "nan") ? decimal_text_read_cut("nan", 3, bytes)
                                   : decimal_text_read_cut(text, size, bytes);
}

/* ---- Decimals and other numbers ---- */

void decimal128_of_double(double number, uint8_t bytes[16]) {
    char plain[64], text[80] = "-";
    size_t size = signbit(number) && !isnan(number);
    if (number == 0 || isnan(number) || isinf(number)) {
        strcpy(text + size, isnan(number) ? "nan" : number == 0 ? "0" : "inf");
        number_text_read_decimal(text, strlen(text), bytes);
        return;
    }
    /* Without the point, which is of the locale: 15 digits, and the exponent of the last one. */
    snprintf(plain, sizeof plain, "%.14e", fabs(number));
    digits d;
    digits_of_text(plain, &d);
    for (int i = 0; i < 15; i++)
        text[size++] = i < d.count ? d.text[i] : '0';
    size += (size_t)snprintf(text + size, sizeof text - size, "e%d", d.power - 14);
    number_text_read_decimal(text, size, bytes);
}

void decimal128_of_integer(int64_t number, uint8_t bytes[16]) {
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    decimal value = {
        .coefficient = u128_of(magnitude), .kind = DECIMAL_FINITE, .negative = number < 0};
    decimal_write(&value, bytes);
}

enum number_text decimal128_to_double(const uint8_t bytes[16], double *number) {
    char text[DECIMAL_TEXT_SIZE];
    decimal_text_write(bytes, text);
    return number_text_read_double(text, strlen(text), number);
}
