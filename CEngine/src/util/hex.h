/*
 * util/hex.h -- bytes as hexadecimal digits in lower case, in files of text.
 */
#ifndef TANSU_UTIL_HEX_H
#define TANSU_UTIL_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* hex_write -- writes 2 * size digits and a NUL. */
static inline void hex_write(const uint8_t *bytes, size_t size, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    *text = 0;
}

/* hex_value -- the value of a digit, or -1. */
static inline int hex_value(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* hex_read -- the bytes that a text of 2 * size digits stands for; false when it is something
 * else. */
static inline bool hex_read(const char *text, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        int high = hex_value(text[2 * i]), low = high < 0 ? -1 : hex_value(text[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return text[2 * size] == 0;
}

#endif
