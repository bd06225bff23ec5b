/*
 * support/text.h -- a text that grows, such as the JSON of a random document.
 */
#ifndef SUPPORT_TEXT_H
#define SUPPORT_TEXT_H

#include <stddef.h>

/* Zero-initialised, it is empty; `bytes` end with a NUL. */
typedef struct text {
    char bytes[16384];
    size_t size;
} text;

/* put -- appends as printf() does; the test fails when the text is full. */
void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
