/*
 * bson/json/json_number.c -- numbers and times as text.
 */
#include "bson/json/json_internal.h"

#include "bson/calendar.h"

#include "util/buffer.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

/* Powers of ten that are exact doubles, as all integers up to 2^53 are: one division or product of
 * two such numbers is rounded correctly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_POWER 22
#define EXACT_WHOLE ((uint64_t)1 << 53)

/* is_digit -- a decimal digit, whatever the locale is. */
static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* skip_digits -- the first byte that is no digit. */
static inline const char *skip_digits(const char *p, const char *end) {
    while (p < end && is_digit(*p))
        p++;
    return p;
}

const char *json_scan_number(const char *text, const char *end, bool *integer) {
    const char *p = text;
    *integer = true;
    if (p < end && *p == '-')
        p++;
    if (p == end || !is_digit(*p))
        return NULL;
    p = *p == '0' ? p + 1 : skip_digits(p, end);
    if (p < end && *p == '.') {
        const char *digits = ++p;
        p = skip_digits(p, end);
        if (p == digits)
            return NULL;
        *integer = false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *digits = p;
        p = skip_digits(p, end);
        if (p == digits)
            return NULL;
        *integer = false;
    }
    return p;
}

bool json_parse_integer(const char *text, size_t size, int64_t *result) {
    bool negative = size > 0 && *text == '-';
    size_t i = negative ? 1 : 0;
    uint64_t number = 0;
    if (i == size || size - i > 19)
        return false;
    for (; i < size; i++) {
        if (!is_digit(text[i]))
            return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    if (number > (uint64_t)INT64_MAX + negative)
        return false;
    *result = (int64_t)(negative ? 0 - number : number);
    return true;
}

/* plain_strtod -- strtod() with a point, whatever the program's locale is. */
static double plain_strtod(const char *text) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return strtod(text, NULL);
    double number = strtod_l(text, NULL, plain);
    freelocale(plain);
    return number;
}

/* quick_double -- a number with few digits and a small exponent, by one exact operation; none where
 * that is rounded twice, as by the x87. */
static bool quick_double(const char *text, size_t size, double *result) {
    const char *p = text, *end = text + size;
    bool negative = *p == '-';
    uint64_t whole = 0;
    int exponent = 0, written = 0;
    p += negative;
    for (; p < end && is_digit(*p); p++) {
        if (whole > EXACT_WHOLE / 10)
            return false;
        whole = whole * 10 + (uint64_t)(*p - '0');
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++, exponent--) {
            if (whole > EXACT_WHOLE / 10)
                return false;
            whole = whole * 10 + (uint64_t)(*p - '0');
        }
    }
    if (p < end) {
        bool down = *++p == '-';
        p += *p == '-' || *p == '+';
        for (; p < end; p++) {
            if (written > 1000)
                return false;
            written = written * 10 + (*p - '0');
        }
        exponent += down ? -written : written;
    }
    if (whole > EXACT_WHOLE || exponent > EXACT_POWER || exponent < -EXACT_POWER)
        return false;
    if (FLT_EVAL_METHOD != 0 && exponent != 0)
        return false;
    double number = (double)whole;
    number = exponent < 0 ? number / powers[-exponent] : number * powers[exponent];
    *result = negative ? -number : number;
    return true;
}

json_double_result json_parse_double(const char *text, size_t size, double *result) {
    if (quick_double(text, size, result))
        return JSON_DOUBLE_OK;
    char few[128];
    char *copy = size < sizeof few ? few : malloc(size + 1);
    if (copy == NULL)
        return JSON_DOUBLE_MEMORY;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *result = plain_strtod(copy);
    if (copy != few)
        free(copy);
    return isinf(*result) ? JSON_DOUBLE_RANGE : JSON_DOUBLE_OK;
}

/* put_whole -- writes a number with at least `least` digits; returns the number of bytes. */
static size_t put_whole(char *text, uint64_t number, size_t least) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count < least)
        digits[count++] = '0';
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

/* quick_digits -- a magnitude that is a whole number below 2^53 over a power of ten: the first
 * power that reads back as the same double gives the fewest digits. Returns 0 if there is none. */
static size_t quick_digits(char *text, double number) {
    for (unsigned power = 0; power <= 17; power++) {
        double scaled = number * powers[power];
        if (scaled >= 9007199254740992.0)
            return 0;
        uint64_t whole = (uint64_t)(scaled + 0.5);
        if ((double)whole / powers[power] != number)
            continue;
        uint64_t unit = (uint64_t)powers[power];
        size_t size = put_whole(text, whole / unit, 1);
        text[size++] = '.';
        return size + put_whole(text + size, whole % unit, power == 0 ? 1 : power);
    }
    return 0;
}

/* round_digits -- the digits and the decimal exponent of a magnitude, rounded to `precision`
 * digits; returns the number of digits, without trailing zeros. */
static int round_digits(double number, int precision, char *digits, int *exponent) {
    char text[48];
    int count = 0;
    snprintf(text, sizeof text, "%.*e", precision - 1, number);
    const char *p = text;
    /* What is between the digits is the decimal point of the locale. */
    for (; *p != 'e' && *p != '\0'; p++) {
        if (is_digit(*p))
            digits[count++] = *p;
    }
    *exponent = *p == 'e' ? atoi(p + 1) : 0;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

/* shortest_digits -- the fewest digits that read back as the same double. */
static int shortest_digits(double number, char *digits, int *exponent) {
    /* Subnormal numbers have fewer digits than the 15 that all others preserve. */
    for (int precision = number < DBL_MIN ? 1 : 15;; precision++) {
        char text[48];
        int count = round_digits(number, precision, digits, exponent);
        snprintf(text, sizeof text, "%se%d", digits, *exponent - (count - 1));
        if (precision == 17 || plain_strtod(text) == number)
            return count;
    }
}

size_t json_format_double(char text[JSON_DOUBLE_SIZE], double number) {
    size_t size = 0;
    if (signbit(number)) {
        text[size++] = '-';
        number = -number;
    }
    if (number == 0 || (number >= 1e-5 && number < 1e15)) {
        size_t quick = quick_digits(text + size, number);
        if (quick > 0)
            return size + quick;
    }
    char digits[24];
    int exponent;
    int count = shortest_digits(number, digits, &exponent);
    if (exponent < -5 || exponent >= 17)
        return size + (size_t)snprintf(text + size, JSON_DOUBLE_SIZE - size, "%c.%sE%+d", digits[0],
                                       count > 1 ? digits + 1 : "0", exponent);
    if (exponent < 0) {
        text[size++] = '0';
        text[size++] = '.';
        for (int i = -1; i > exponent; i--)
            text[size++] = '0';
    }
    for (int i = 0; i < count || i <= exponent; i++) {
        text[size++] = i < count ? digits[i] : '0';
        if (i == exponent) {
            text[size++] = '.';
            if (i + 1 >= count)
                text[size++] = '0';
        }
    }
    return size;
}

/* ---- Times ---- */

/* take -- a number of exactly `digits` digits, then one of the bytes in `after` (NULL: none). */
static bool take(const char **p, const char *end, int digits, const char *after, int *number) {
    *number = 0;
    if (end - *p < digits)
        return false;
    for (int i = 0; i < digits; i++, ++*p) {
        if (!is_digit(**p))
            return false;
        *number = *number * 10 + (**p - '0');
    }
    if (after == NULL)
        return true;
    if (*p == end || **p == '\0' || strchr(after, **p) == NULL)
        return false;
    ++*p;
    return true;
}

/* take_zone -- Z, or hours and minutes with a sign; in minutes. */
static bool take_zone(const char *p, const char *end, int *minutes) {
    *minutes = 0;
    if (p == end)
        return false;
    char sign = *p++;
    if (sign == 'Z' || sign == 'z')
        return p == end;
    int hour, minute;
    if ((sign != '+' && sign != '-') || !take(&p, end, 2, NULL, &hour))
        return false;
    if (p < end && *p == ':')
        p++;
    if (!take(&p, end, 2, NULL, &minute) || p != end || hour > 23 || minute > 59)
        return false;
    *minutes = (hour * 60 + minute) * (sign == '-' ? -1 : 1);
    return true;
}

/* Digits after the milliseconds are dropped, since BSON times have none. */
bool json_parse_date(const char *text, size_t size, int64_t *milliseconds) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *p = text, *end = text + size;
    int year, month, day, hour, minute, second, zone, fraction = 0;
    if (!take(&p, end, 4, "-", &year) || !take(&p, end, 2, "-", &month) ||
        !take(&p, end, 2, "Tt", &day) || !take(&p, end, 2, ":", &hour) ||
        !take(&p, end, 2, ":", &minute) || !take(&p, end, 2, NULL, &second))
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 ||
        day > lengths[month - 1] + (month == 2 && leap))
        return false;
    if (p < end && *p == '.') {
        int digits = 0;
        for (p++; p < end && is_digit(*p) && digits < 9; p++, digits++)
            fraction = digits < 3 ? fraction * 10 + (*p - '0') : fraction;
        if (digits == 0)
            return false;
        for (; digits < 3; digits++)
            fraction *= 10;
    }
    if (!take_zone(p, end, &zone))
        return false;
    int64_t minutes = (calendar_days(year, month, day) * 24 + hour) * 60 + minute - zone;
    *milliseconds = (minutes * 60 + second) * 1000 + fraction;
    return true;
}

size_t json_format_date(char text[JSON_DATE_SIZE], int64_t milliseconds) {
    if (milliseconds < 0 || milliseconds >= INT64_C(253402300800000))
        return 0;
    int64_t seconds = milliseconds / 1000;
    calendar_date date = calendar_date_of(seconds / 86400);
    int rest = (int)(seconds % 86400);
    int size = snprintf(text, JSON_DATE_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", (int)date.year,
                        date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60);
    if (milliseconds % 1000 != 0)
        size += snprintf(text + size, JSON_DATE_SIZE - (size_t)size, ".%03d",
                         (int)(milliseconds % 1000));
    text[size++] = 'Z';
    return (size_t)size;
}
