/*
 * api/json.h -- JSON text to BSON and back: extended JSON v2, read strictly. Part api; may call base.
 *
 * The reader is one pass of our own over the text that writes BSON as it goes. It takes RFC 8259 and
 * nothing else: one object, UTF-8, no key twice, nothing after the end. What stands for a BSON type,
 * such as {"$oid": "…"}, is told by its first key and must then be right in every member. `$regex`,
 * `$type` and the other names of the query language stand for themselves.
 */
#ifndef TANSU_API_JSON_H
#define TANSU_API_JSON_H

#include "base/doc.h"

/* json_read -- turns the text of one object into BSON, replacing what `result` holds. At most `limit`
 * bytes of BSON and `depth` documents and arrays inside each other. Errors: INVALID_JSON (offset is
 * the byte at fault, the message tells line and column), TOO_LARGE, MEMORY. */
tansu_status json_read(const char *text, size_t length, size_t limit, uint32_t depth,
                       tansu_buffer *result, tansu_error *error);

/* json_write_document, json_write_value -- append the text of a document or value that doc_check()
 * accepted; false when memory is exhausted. */
bool json_write_document(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical);
bool json_write_value(tansu_buffer *text, const doc_value *value, bool canonical);

/* json_write_members -- appends the members of a document as they stand between its braces. */
bool json_write_members(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical);

/* json_write_string -- appends a text in quotes. */
bool json_write_string(tansu_buffer *text, const char *string, size_t size);

/* json_write_integer -- appends a number. */
bool json_write_integer(tansu_buffer *text, int64_t number);

#endif
