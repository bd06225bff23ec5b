/*
 * bson/decimal_text.h -- decimal128 values as text, by the BSON specification of decimal128.
 *
 * Text that is read is a number of any length, with or without an exponent, or one of "Infinity",
 * "Inf" and "NaN" in any case; each may have a sign. The value must be kept exactly: no digit but a
 * zero is dropped, and only a zero may have its exponent moved into the format's range.
 *
 * An engine with libbson (WITH_LIBBSON_1_0) lets it write. It does not let it read, because libbson
 * 1.23 misreads some texts:
 *
 * - it takes white space between "E" and the exponent ("1E 5");
 * - it wraps exponents that an int does not hold ("1E99999999999999999999");
 * - of more than 34 digits it looks at the wrong ones to see which are zeros, when there are zeros
 *   in front or a point behind the 34th: it refuses exact values and rounds others;
 * - it refuses some values with a point and zeros that the least exponent makes it drop.
 */
#ifndef TANSU_BSON_DECIMAL_TEXT_H
#define TANSU_BSON_DECIMAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the longest text and its NUL: a sign, "0.00000" and 34 digits. */
#define DECIMAL_TEXT_SIZE 43

/* The longest text that is read, in bytes. */
#define DECIMAL_TEXT_MOST 8192

/* decimal_text_write -- writes the 16 bytes of a BSON decimal128 as NUL-terminated text. A
 * coefficient that is too large for the format is written as the zero that it is. */
void decimal_text_write(const uint8_t *bytes, char *text);

/* decimal_text_read -- reads text, which needs no NUL after it, into the 16 bytes of a BSON
 * decimal128. False, with undefined bytes, for text that is no number, too long, or not exactly a
 * decimal128. */
bool decimal_text_read(const char *text, size_t size, uint8_t *bytes);

/* decimal_text_read_cut -- the same for a text of any length, of which the digits behind the 34th are
 * dropped: the value is rounded towards 0. */
bool decimal_text_read_cut(const char *text, size_t size, uint8_t *bytes);

/* decimal_format -- as decimal_text_write(), by the engine's own code in every build. */
void decimal_format(const uint8_t *bytes, char *text);

#endif
