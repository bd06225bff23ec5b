/*
 * query/expression/binary_text.h -- bytes as text: base64 (RFC 4648), hexadecimal digits, UUIDs.
 */
#ifndef TANSU_QUERY_EXPRESSION_BINARY_TEXT_H
#define TANSU_QUERY_EXPRESSION_BINARY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* base64_write -- writes bytes in base64 with padding or, with `url`, in base64url without. Returns
 * the number of bytes, at most (size + 2) / 3 * 4. */
size_t base64_write(const uint8_t *bytes, size_t size, bool url, char *text);

/* base64_read -- the bytes of a text in base64 with padding or, with `url`, in base64url with or
 * without; at most size / 4 * 3 + 2. False when it is something else. */
bool base64_read(const char *text, size_t size, bool url, uint8_t *bytes, size_t *count);

/* hex_digits_write -- writes bytes as 2 * size hexadecimal digits in upper case. */
void hex_digits_write(const uint8_t *bytes, size_t size, char *text);

/* hex_digits_read -- the size / 2 bytes of hexadecimal digits of either case; false when the text is
 * something else. */
bool hex_digits_read(const char *text, size_t size, uint8_t *bytes);

#define UUID_SIZE 16
#define UUID_TEXT_SIZE 36

/* uuid_write -- writes "12345678-1234-1234-1234-123456789012", in lower case. */
void uuid_write(const uint8_t bytes[UUID_SIZE], char text[UUID_TEXT_SIZE]);

/* uuid_read -- the bytes of such a text, of either case; false when it is something else. */
bool uuid_read(const char *text, size_t size, uint8_t bytes[UUID_SIZE]);

#endif
