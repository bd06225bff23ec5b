/*
 * util/utf8.h -- checking UTF-8.
 */
#ifndef TANSU_UTIL_UTF8_H
#define TANSU_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* utf8_valid -- checks that the bytes are well-formed UTF-8 (RFC 3629; NUL is allowed). Returns the
 * offset of the first invalid byte, or `size`. */
size_t utf8_valid(const uint8_t *bytes, size_t size);

#endif
