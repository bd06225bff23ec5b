/*
 * support/text.c -- a text that grows.
 */
#include "support/text.h"
#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>

void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, arguments);
    va_end(arguments);
    REQUIRE(size >= 0 && t->size + (size_t)size < sizeof t->bytes);
    t->size += (size_t)size;
}
