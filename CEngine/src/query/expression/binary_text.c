/*
 * query/expression/binary_text.c -- bytes as text.
 */
#include "query/expression/binary_text.h"

#include "bson/object_id.h"

#include <string.h>

/* ---- Base64 ---- */

/* letters_of -- the 64 digits. */
static const char *letters_of(bool url) {
    return url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
               : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

size_t base64_write(const uint8_t *bytes, size_t size, bool url, char *text) {
    const char *letters = letters_of(url);
    char *to = text;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        *to++ = letters[group >> 18];
        *to++ = letters[group >> 12 & 63];
        if (left > 1 || !url)
            *to++ = left > 1 ? letters[group >> 6 & 63] : '=';
        if (left > 2 || !url)
            *to++ = left > 2 ? letters[group & 63] : '=';
    }
    return (size_t)(to - text);
}

/* digit_of -- the value of a digit, or -1. */
static int digit_of(char c, bool url) {
    const char *found = c ? strchr(letters_of(url), c) : NULL;
    return found ? (int)(found - letters_of(url)) : -1;
}

bool base64_read(const char *text, size_t size, bool url, uint8_t *bytes, size_t *count) {
    size_t digits = size;
    while (digits > 0 && size - digits < 2 && text[digits - 1] == '=')
        digits--;
    if (digits % 4 == 1 || (digits != size && size % 4 != 0) || (!url && size % 4 != 0))
        return false;
    uint32_t group = 0;
    *count = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = digit_of(text[i], url);
        if (digit < 0)
            return false;
        group = group << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            bytes[(*count)++] = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    return true;
}

/* ---- Hexadecimal ---- */

void hex_digits_write(const uint8_t *bytes, size_t size, char *text) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < size; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
}

bool hex_digits_read(const char *text, size_t size, uint8_t *bytes) {
    for (size_t i = 0; i + 1 < size; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return false;
        *bytes++ = (uint8_t)(high << 4 | low);
    }
    return size % 2 == 0;
}

/* is_dash -- whether a UUID has a dash there. */
static bool is_dash(size_t at) {
    return at == 8 || at == 13 || at == 18 || at == 23;
}

void uuid_write(const uint8_t bytes[UUID_SIZE], char text[UUID_TEXT_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    size_t nibble = 0;
    for (size_t i = 0; i < UUID_TEXT_SIZE; i++) {
        if (is_dash(i)) {
            text[i] = '-';
            continue;
        }
        text[i] = digits[bytes[nibble / 2] >> (nibble % 2 == 0 ? 4 : 0) & 15];
        nibble++;
    }
}

bool uuid_read(const char *text, size_t size, uint8_t bytes[UUID_SIZE]) {
    char digits[2 * UUID_SIZE];
    size_t count = 0;
    if (size != UUID_TEXT_SIZE)
        return false;
    for (size_t i = 0; i < UUID_TEXT_SIZE; i++) {
        if (!is_dash(i))
            digits[count++] = text[i];
        else if (text[i] != '-')
            return false;
    }
    return hex_digits_read(digits, count, bytes);
}
