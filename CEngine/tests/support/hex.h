/*
 * support/hex.h -- bytes from hexadecimal digits, as test vectors have them.
 */
#ifndef SUPPORT_HEX_H
#define SUPPORT_HEX_H

#include <stddef.h>
#include <stdint.h>

/* bytes_from_hex -- the bytes of a text of hexadecimal digits; the caller frees them. Ends the
 * program when it is none. */
uint8_t *bytes_from_hex(const char *hex, size_t *size);

#endif
