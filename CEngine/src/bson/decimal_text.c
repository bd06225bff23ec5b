/*
 * bson/decimal_text.c -- decimal128 values to text and back.
 */
#include "bson/decimal_text.h"

#include "bson/decimal.h"

#include <stdio.h>
#include <string.h>

#ifdef WITH_LIBBSON_1_0
#include "util/bytes.h"
#include <bson/bson.h>

_Static_assert(DECIMAL_TEXT_SIZE >= BSON_DECIMAL128_STRING, "libbson writes longer texts");
#endif

/* ---- Writing ---- */

/* put_digits -- appends decimal digits and returns the new end. */
static char *put_digits(char *to, const uint8_t *digits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        *to++ = (char)('0' + digits[i]);
    return to;
}

/* put_scientific -- "d.dddE+x", with the power of the first digit. */
static void put_scientific(char *to, const uint8_t *digits, uint32_t count, int32_t power) {
    to = put_digits(to, digits, 1);
    if (count > 1)
        *to++ = '.';
    to = put_digits(to, digits + 1, count - 1);
    snprintf(to, sizeof "E-6176", "E%+d", (int)power);
}

/* put_plain -- the digits, of which `places` are behind the point. */
static void put_plain(char *to, const uint8_t *digits, uint32_t count, uint32_t places) {
    uint32_t whole = count > places ? count - places : 0;
    if (whole == 0)
        *to++ = '0';
    to = put_digits(to, digits, whole);
    if (places > 0)
        *to++ = '.';
    for (uint32_t zeros = places > count ? places - count : 0; zeros > 0; zeros--)
        *to++ = '0';
    *put_digits(to, digits + whole, count - whole) = '\0';
}

/* A positive exponent is written, because zeros instead of it would be digits of the value. */
void decimal_format(const uint8_t *bytes, char *text) {
    decimal value;
    uint8_t digits[40] = {0};
    decimal_read(&value, bytes);
    if (value.negative && value.kind != DECIMAL_NAN)
        *text++ = '-';
    if (value.kind != DECIMAL_FINITE) {
        strcpy(text, value.kind == DECIMAL_NAN ? "NaN" : "Infinity");
        return;
    }
    uint32_t count =
        u128_is_zero(value.coefficient) ? 1 : decimal_digits(value.coefficient, digits);
    int32_t power = (int32_t)count - 1 + value.exponent;
    if (power < -6 || value.exponent > 0)
        put_scientific(text, digits, count, power);
    else
        put_plain(text, digits, count, (uint32_t)-value.exponent);
}

/* ---- Reading ---- */

/* What is read, and how far that is. */
typedef struct scanner {
    const char *at, *end;
    bool cut; /* digits that do not fit are dropped */
} scanner;

/* take -- whether one of two characters is next, which is then passed. */
static bool take(scanner *s, char one, char other) {
    if (s->at == s->end || (*s->at != one && *s->at != other))
        return false;
    s->at++;
    return true;
}

/* take_digit -- the next digit, which is passed; -1 when there is none. */
static int take_digit(scanner *s) {
    return s->at < s->end && *s->at >= '0' && *s->at <= '9' ? *s->at++ - '0' : -1;
}

/* is_rest -- whether the rest is a word, given in small letters. */
static bool is_rest(const scanner *s, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(s->end - s->at) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = s->at[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != word[i])
            return false;
    }
    return true;
}

/* take_coefficient -- digits and a point. Digits behind the 34th count into *exponent, and may be
 * zeros only unless they are cut. */
static bool take_coefficient(scanner *s, u128 *coefficient, int64_t *exponent) {
    int kept = 0, digit;
    bool any = false, point = false, exact = true;
    *coefficient = u128_of(0);
    *exponent = 0;
    for (;;) {
        if (!point && take(s, '.', '.')) {
            point = true;
            continue;
        }
        if ((digit = take_digit(s)) < 0)
            return any && (exact || s->cut);
        any = true;
        *exponent -= point;
        if (kept == DECIMAL_MAX_DIGITS) {
            exact = exact && digit == 0;
            ++*exponent;
        } else if (kept > 0 || digit != 0) {
            *coefficient = u128_append(*coefficient, (uint32_t)digit);
            kept++;
        }
    }
}

/* take_exponent -- adds the number behind an "E" to *exponent; false for one that an int32 does not
 * hold. */
static bool take_exponent(scanner *s, int64_t *exponent) {
    bool negative = take(s, '-', '-');
    int64_t number = 0;
    int digit;
    if (!negative)
        (void)take(s, '+', '+');
    const char *start = s->at;
    while ((digit = take_digit(s)) >= 0) {
        number = number * 10 + digit;
        if (number > (int64_t)INT32_MAX + negative)
            return false;
    }
    *exponent += negative ? -number : number;
    return s->at != start;
}

/* fit -- brings an exponent into the format's range where that leaves the value as it is. */
static bool fit(u128 *coefficient, int64_t *exponent) {
    if (u128_is_zero(*coefficient)) {
        *exponent = *exponent < DECIMAL_MIN_EXPONENT   ? DECIMAL_MIN_EXPONENT
                    : *exponent > DECIMAL_MAX_EXPONENT ? DECIMAL_MAX_EXPONENT
                                                       : *exponent;
        return true;
    }
    /* A tenth of 10^34: what is as large has 34 digits. */
    const u128 full = u128_multiply(u128_of(1000000000000000u), 1000000000000000000u);
    for (; *exponent > DECIMAL_MAX_EXPONENT; --*exponent) {
        if (!u128_less(*coefficient, full))
            return false;
        *coefficient = u128_multiply(*coefficient, 10);
    }
    for (; *exponent < DECIMAL_MIN_EXPONENT; ++*exponent) {
        uint32_t digit;
        *coefficient = u128_drop(*coefficient, &digit);
        if (digit != 0)
            return false;
    }
    return true;
}

/* parse_number -- a number without its sign. */
static bool parse_number(scanner *s, decimal *value) {
    int64_t exponent;
    if (!take_coefficient(s, &value->coefficient, &exponent))
        return false;
    if (take(s, 'e', 'E') && !take_exponent(s, &exponent))
        return false;
    if (s->at != s->end || !fit(&value->coefficient, &exponent))
        return false;
    value->exponent = (int32_t)exponent;
    return true;
}

/* read_text -- reads a text of any length. */
static bool read_text(scanner s, uint8_t *bytes) {
    decimal value = {.kind = DECIMAL_FINITE};
    value.negative = take(&s, '-', '-');
    if (!value.negative)
        (void)take(&s, '+', '+');
    if (is_rest(&s, "inf") || is_rest(&s, "infinity"))
        value.kind = DECIMAL_INFINITE;
    else if (is_rest(&s, "nan"))
        value.kind = DECIMAL_NAN;
    else if (!parse_number(&s, &value))
        return false;
    decimal_write(&value, bytes);
    return true;
}

bool decimal_text_read(const char *text, size_t size, uint8_t *bytes) {
    return size <= DECIMAL_TEXT_MOST && read_text((scanner){text, text + size, false}, bytes);
}

bool decimal_text_read_cut(const char *text, size_t size, uint8_t *bytes) {
    return read_text((scanner){text, text + size, true}, bytes);
}

/* ---- What this build uses ---- */

#ifdef WITH_LIBBSON_1_0

/* libbson writes a coefficient that is too large for the format with its digits, and may be unable
 * to read those: it gets the zero that decimal_read() makes of it. */
void decimal_text_write(const uint8_t *bytes, char *text) {
    uint8_t canonical[16];
    decimal value;
    decimal_read(&value, bytes);
    decimal_write(&value, canonical);
    const bson_decimal128_t number = {.low = load_u64(canonical), .high = load_u64(canonical + 8)};
    bson_decimal128_to_string(&number, text);
}

#else

void decimal_text_write(const uint8_t *bytes, char *text) {
    decimal_format(bytes, text);
}

#endif
