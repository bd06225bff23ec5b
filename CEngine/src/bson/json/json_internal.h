/*
 * bson/json/json_internal.h -- what the files of this folder share.
 */
#ifndef TANSU_BSON_JSON_JSON_INTERNAL_H
#define TANSU_BSON_JSON_JSON_INTERNAL_H

#include "bson/json/json.h"

/* json_scan_number -- the end of the number (RFC 8259) that begins at `text`, or NULL when there is
 * none; *integer: it has neither fraction nor exponent. */
const char *json_scan_number(const char *text, const char *end, bool *integer);

/* json_parse_integer -- reads an optional sign and digits; false when they are not an int64. */
bool json_parse_integer(const char *text, size_t size, int64_t *result);

/* json_parse_date -- reads an RFC 3339 time as milliseconds since 1970; false when it is
 * invalid. */
bool json_parse_date(const char *text, size_t size, int64_t *milliseconds);

/* json_format_date -- writes a time of the years 1970 to 9999; returns the number of bytes, 0 for
 * other years. */
#define JSON_DATE_SIZE 32
size_t json_format_date(char text[JSON_DATE_SIZE], int64_t milliseconds);

/* json_sort_options -- sorts the letters of regex options, as BSON requires. */
void json_sort_options(char *options, size_t size);

/* json_is_wrapper -- whether an object with this first key represents a BSON type; `v1`: or may do
 * so in extended JSON v1. */
bool json_is_wrapper(const char *key, size_t size, bool v1);

/* json_unwrap -- makes the value that such an object (already BSON) represents: replaces `value` by
 * its bytes and sets *type, which is DOC_DOCUMENT when the object is one by itself. `braces`: the
 * first member was an object in the text; `v1`: the forms of extended JSON v1 count. Returns NULL,
 * or the advice for an error message; *memory: memory was exhausted. */
const char *json_unwrap(const uint8_t *doc, size_t size, bool braces, bool v1, tansu_buffer *value,
                        uint8_t *type, bool *memory);

#endif
