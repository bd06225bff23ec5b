/*
 * query/expression/number_text.h -- numbers as text in the forms of MongoDB's expressions, whatever
 * the locale is.
 */
#ifndef TANSU_QUERY_EXPRESSION_NUMBER_TEXT_H
#define TANSU_QUERY_EXPRESSION_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the text of a number, and a NUL. */
#define NUMBER_TEXT_SIZE 48

/* number_text_double -- writes the fewest digits that read back as the same double ("3", "0.1",
 * "1e+16", "NaN", "-Infinity"); returns the number of bytes. */
size_t number_text_double(double number, char text[NUMBER_TEXT_SIZE]);

/* number_text_short -- writes at most six digits ("3", "0.1", "1e+06", "nan", "-inf"); returns the
 * number of bytes. */
size_t number_text_short(double number, char text[NUMBER_TEXT_SIZE]);

/* number_text_integer -- writes a whole number; returns the number of bytes. */
size_t number_text_integer(int64_t number, char text[NUMBER_TEXT_SIZE]);

/* What the text of a number comes to. */
enum number_text {
    NUMBER_TEXT_OK,
    NUMBER_TEXT_NONE,  /* it is no number */
    NUMBER_TEXT_RANGE, /* it exceeds the type, or is too near to 0 for it */
    NUMBER_TEXT_MEMORY /* memory is exhausted */
};

/* number_text_read_integer -- decimal digits, with or without a sign. */
enum number_text number_text_read_integer(const char *text, size_t size, int64_t *number);

/* number_text_read_double -- a decimal number, "inf", "infinity" or "nan" in any case, or a
 * hexadecimal number; each may have a sign. */
enum number_text number_text_read_double(const char *text, size_t size, double *number);

/* number_text_read_decimal -- a decimal number, cut off to 34 digits, "inf", "infinity" or "nan" in
 * any case, into the bytes of a decimal128; each may have a sign. False for other text, and for a
 * number that exceeds the type or is too near to 0 for it. */
bool number_text_read_decimal(const char *text, size_t size, uint8_t bytes[16]);

/* decimal128_of_double -- the 15 digits of a double, as the bytes of a decimal128. */
void decimal128_of_double(double number, uint8_t bytes[16]);

/* decimal128_of_integer -- a whole number, as the bytes of a decimal128. */
void decimal128_of_integer(int64_t number, uint8_t bytes[16]);

/* decimal128_to_double -- the double that is nearest to the value of the bytes of a decimal128.
 * RANGE: it exceeds the doubles, or is too near to 0 to be a normal one. */
enum number_text decimal128_to_double(const uint8_t bytes[16], double *number);

#endif
