/*
 * bson/json/json.h -- JSON text to BSON and back: strict extended JSON v2.
 *
 * The parser reads the text once and writes BSON as it goes. It accepts only RFC 8259: one object,
 * UTF-8, no duplicate keys, nothing after the end. The first key of an object decides whether it
 * represents a BSON type, such as {"$oid": "…"}; then all members must be valid. `$regex`, `$type`
 * and the other names of the query language are ordinary keys, and so is a first key that is written
 * with an escape, {"\u0024oid": "…"}: the writer does so with a document that has such a key.
 */
#ifndef TANSU_BSON_JSON_JSON_H
#define TANSU_BSON_JSON_JSON_H

#include "bson/document.h"

/* json_parse -- replaces `result` by the BSON of a text with one object, at most `limit` bytes and
 * `depth` levels of documents and arrays. Errors: INVALID_JSON (the offset is the invalid byte, the
 * message has line and column), TOO_LARGE, MEMORY. */
tansu_status json_parse(const char *text, size_t length, size_t limit, uint32_t depth,
                        tansu_buffer *result, tansu_error *error);

/* json_parse_stored -- the same for a document to store, which may have the forms of extended JSON
 * v1 as well: {"$date": n}, {"$binary": "…", "$type": "00"}, {"$regex": "…", "$options": "…"}; in a
 * query `$regex` is an operator. */
tansu_status json_parse_stored(const char *text, size_t length, tansu_buffer *result,
                               tansu_error *error);

/* json_write_document, json_write_value -- append the text of a document or value; false when
 * memory is exhausted. The bytes may be anything, within their size: what is malformed, or nested
 * far deeper than doc_check() allows, is left out. */
bool json_write_document(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical);
bool json_write_value(tansu_buffer *text, const doc_value *value, bool canonical);

/* json_write_stored -- appends the canonical text of a document of which no other reader takes the
 * first key for a name of its own: a `$` at its beginning is escaped. */
bool json_write_stored(tansu_buffer *text, const uint8_t *doc, size_t size);

/* json_write_members -- appends the members of a document, without the braces. */
bool json_write_members(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical);

/* json_write_string -- appends a text in quotes. */
bool json_write_string(tansu_buffer *text, const char *string, size_t size);

/* json_write_integer -- appends a number. */
bool json_write_integer(tansu_buffer *text, int64_t number);

/* ---- Doubles ---- */

typedef enum json_double_result {
    JSON_DOUBLE_OK,
    JSON_DOUBLE_RANGE,
    JSON_DOUBLE_MEMORY
} json_double_result;

/* json_parse_double -- reads a number of JSON (RFC 8259), which may also begin with zeros or begin or
 * end with its point, rounded correctly whatever the locale is. RANGE: it is greater than every
 * double. */
json_double_result json_parse_double(const char *text, size_t size, double *result);

/* json_format_double -- writes the shortest digits that read back as the same finite double, always
 * with a point or an exponent; returns the number of bytes. */
#define JSON_DOUBLE_SIZE 40
size_t json_format_double(char text[JSON_DOUBLE_SIZE], double number);

#endif
