/*
 * bson/object_id.h -- ObjectIDs as hexadecimal digits.
 */
#ifndef TANSU_BSON_OBJECT_ID_H
#define TANSU_BSON_OBJECT_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_ID_SIZE 12

/* hex_digit -- the value of a digit of either case, or -1. */
static inline int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* object_id_read -- the bytes that 24 digits stand for; false when the text is something else. */
static inline bool object_id_read(const char *text, size_t size, uint8_t bytes[OBJECT_ID_SIZE]) {
    if (size != (size_t)2 * OBJECT_ID_SIZE)
        return false;
    for (size_t i = 0; i < OBJECT_ID_SIZE; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

#endif
