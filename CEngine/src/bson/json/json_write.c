/*
 * bson/json/json_write.c -- BSON to extended JSON text.
 *
 * Relaxed text has numbers as numbers and times of the years 1970 to 9999 as RFC 3339; canonical
 * text names the type of every value that plain JSON cannot express.
 */
#include "bson/decimal_text.h"
#include "bson/json/json.h"
#include "bson/json/json_internal.h"
#include "bson/value_internal.h"
#include "util/buffer.h"
#include "util/error.h"

#include <math.h>

/* What is deeper than this is empty. The engine's own documents, such as those of explain, may have
 * a valid one in their depths. */
#define MOST_LEVELS (3 * TANSU_MAX_DEPTH)

static bool put_value(tansu_buffer *text, const doc_value *value, bool canonical, uint32_t depth);
static bool put_document(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical,
                         uint32_t depth);

/* put -- appends a text. */
static bool put(tansu_buffer *text, const char *string) {
    return buffer_append(text, string, strlen(string));
}

/* put_escape -- appends a byte that must be escaped in a string. */
static bool put_escape(tansu_buffer *text, uint8_t byte) {
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    switch (byte) {
    case '"':
    case '\\': escape[1] = (char)byte; return buffer_append(text, escape, 2);
    case '\b': return put(text, "\\b");
    case '\f': return put(text, "\\f");
    case '\n': return put(text, "\\n");
    case '\r': return put(text, "\\r");
    case '\t': return put(text, "\\t");
    default: return buffer_append(text, escape, sizeof escape);
    }
}

bool json_write_string(tansu_buffer *text, const char *string, size_t size) {
    const uint8_t *from = (const uint8_t *)string, *end = from + size;
    if (!buffer_append_byte(text, '"'))
        return false;
    for (const uint8_t *p = from; p < end; p++) {
        if (*p >= 0x20 && *p != '"' && *p != '\\')
            continue;
        if (!buffer_append(text, from, (size_t)(p - from)) || !put_escape(text, *p))
            return false;
        from = p + 1;
    }
    return buffer_append(text, from, (size_t)(end - from)) && buffer_append_byte(text, '"');
}

bool json_write_integer(tansu_buffer *text, int64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0)
        digits[--at] = '-';
    return buffer_append(text, digits + at, sizeof digits - at);
}

/* put_integer -- a number, with its type in canonical text. */
static bool put_integer(tansu_buffer *text, int64_t number, const char *head, bool canonical) {
    if (!canonical)
        return json_write_integer(text, number);
    return put(text, head) && json_write_integer(text, number) && put(text, "\"}");
}

/* put_double -- numbers that are not finite have no relaxed form. */
static bool put_double(tansu_buffer *text, double number, bool canonical) {
    char digits[JSON_DOUBLE_SIZE];
    if (isnan(number))
        return put(text, "{\"$numberDouble\": \"NaN\"}");
    if (isinf(number))
        return put(text, number > 0 ? "{\"$numberDouble\": \"Infinity\"}"
                                    : "{\"$numberDouble\": \"-Infinity\"}");
    size_t size = json_format_double(digits, number);
    if (!canonical)
        return buffer_append(text, digits, size);
    return put(text, "{\"$numberDouble\": \"") && buffer_append(text, digits, size) &&
           put(text, "\"}");
}

/* put_decimal -- a decimal128. */
static bool put_decimal(tansu_buffer *text, const uint8_t *bytes) {
    char digits[DECIMAL_TEXT_SIZE];
    decimal_text_write(bytes, digits);
    return put(text, "{\"$numberDecimal\": \"") && put(text, digits) && put(text, "\"}");
}

/* put_date -- a time. */
static bool put_date(tansu_buffer *text, int64_t milliseconds, bool canonical) {
    char date[JSON_DATE_SIZE];
    size_t size = canonical ? 0 : json_format_date(date, milliseconds);
    if (size == 0)
        return put(text, "{\"$date\": {\"$numberLong\": \"") &&
               json_write_integer(text, milliseconds) && put(text, "\"}}");
    return put(text, "{\"$date\": \"") && buffer_append(text, date, size) && put(text, "\"}");
}

/* put_hex -- bytes as hexadecimal digits. */
static bool put_hex(tansu_buffer *text, const uint8_t *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        if (!buffer_append_byte(text, (uint8_t)digits[bytes[i] >> 4]) ||
            !buffer_append_byte(text, (uint8_t)digits[bytes[i] & 15]))
            return false;
    }
    return true;
}

/* put_base64 -- bytes as base64 with padding. */
static bool put_base64(tansu_buffer *text, const uint8_t *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!buffer_reserve(text, (size + 2) / 3 * 4))
        return false;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        uint8_t *to = text->data + text->size;
        to[0] = (uint8_t)digits[bits >> 18];
        to[1] = (uint8_t)digits[bits >> 12 & 63];
        to[2] = left > 1 ? (uint8_t)digits[bits >> 6 & 63] : '=';
        to[3] = left > 2 ? (uint8_t)digits[bits & 63] : '=';
        text->size += 4;
    }
    return true;
}

/* put_binary -- a binary. */
static bool put_binary(tansu_buffer *text, const doc_value *value) {
    uint8_t subtype = value->data[4];
    /* Subtype 2 repeats its length. */
    uint32_t head = subtype == 2 && value->size >= 9 ? 9 : 5;
    return put(text, "{\"$binary\": {\"base64\": \"") &&
           put_base64(text, value->data + head, value->size - head) &&
           put(text, "\", \"subType\": \"") && put_hex(text, &subtype, 1) && put(text, "\"}}");
}

/* put_text -- the text that begins at `offset` in a value. */
static bool put_text(tansu_buffer *text, const doc_value *value, size_t offset) {
    span string = text_span(value, offset);
    return json_write_string(text, (const char *)string.data, string.size);
}

/* put_oid -- an ObjectID. */
static bool put_oid(tansu_buffer *text, const uint8_t *bytes) {
    return put(text, "{\"$oid\": \"") && put_hex(text, bytes, 12) && put(text, "\"}");
}

/* put_regex -- a regular expression. */
static bool put_regex(tansu_buffer *text, const doc_value *value) {
    const char *pattern = (const char *)value->data;
    const char *options = pattern + strlen(pattern) + 1;
    size_t size = strlen(options);
    if (!put(text, "{\"$regularExpression\": {\"pattern\": ") ||
        !json_write_string(text, pattern, strlen(pattern)) || !put(text, ", \"options\": "))
        return false;
    tansu_buffer sorted = TANSU_BUFFER_INIT;
    bool done = buffer_append(&sorted, options, size + 1);
    if (done) {
        json_sort_options((char *)sorted.data, size);
        done = json_write_string(text, (const char *)sorted.data, size) && put(text, "}}");
    }
    tansu_buffer_free(&sorted);
    return done;
}

/* put_timestamp -- a timestamp. */
static bool put_timestamp(tansu_buffer *text, const uint8_t *bytes) {
    return put(text, "{\"$timestamp\": {\"t\": ") &&
           json_write_integer(text, load_u32(bytes + 4)) && put(text, ", \"i\": ") &&
           json_write_integer(text, load_u32(bytes)) && put(text, "}}");
}

/* put_pointer -- a dbPointer. */
static bool put_pointer(tansu_buffer *text, const doc_value *value) {
    return put(text, "{\"$dbPointer\": {\"$ref\": ") && put_text(text, value, 0) &&
           put(text, ", \"$id\": ") && put_oid(text, dbpointer_id(value).data) && put(text, "}}");
}

/* put_scoped -- a code with scope. */
static bool put_scoped(tansu_buffer *text, const doc_value *value, bool canonical, uint32_t depth) {
    doc_value scope = code_scope(value);
    return put(text, "{\"$code\": ") && put_text(text, value, 4) && put(text, ", \"$scope\": ") &&
           put_document(text, scope.data, scope.size, canonical, depth) && put(text, "}");
}

/* put_array -- the elements of an array, whatever their keys are. */
static bool put_array(tansu_buffer *text, const doc_value *value, bool canonical, uint32_t depth) {
    doc_iter iter;
    bool valid = depth < MOST_LEVELS && doc_iter_value(&iter, value);
    if (!buffer_append_byte(text, '['))
        return false;
    for (bool first = true; valid && doc_iter_next(&iter); first = false) {
        if ((!first && !put(text, ", ")) || !put_value(text, &iter.value, canonical, depth + 1))
            return false;
    }
    return buffer_append_byte(text, ']');
}

/* escape_dollar -- replaces the `$` at a position of the text by its escape. */
static bool escape_dollar(tansu_buffer *text, size_t at) {
    static const char escape[] = "\\u0024";
    size_t more = sizeof escape - 2;
    if (!buffer_reserve(text, more))
        return false;
    memmove(text->data + at + 1 + more, text->data + at + 1, text->size - at - 1);
    memcpy(text->data + at, escape, more + 1);
    text->size += more;
    return true;
}

/* put_key -- a key. One that would make its document represent a type is written with the escape of
 * `$`, by which the parser knows it as a key. */
static bool put_key(tansu_buffer *text, const doc_iter *iter, bool first) {
    size_t at = text->size;
    return json_write_string(text, iter->key, iter->key_size) &&
           (!first || iter->key[0] != '$' || !json_is_wrapper(iter->key, iter->key_size, false) ||
            escape_dollar(text, at + 1));
}

/* put_members -- the members of a document at a depth. */
static bool put_members(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical,
                        uint32_t depth) {
    doc_iter iter;
    bool valid = depth < MOST_LEVELS && doc_iter_init(&iter, doc, size);
    for (bool first = true; valid && doc_iter_next(&iter); first = false) {
        if ((!first && !put(text, ", ")) || !put_key(text, &iter, first) || !put(text, ": ") ||
            !put_value(text, &iter.value, canonical, depth + 1))
            return false;
    }
    return true;
}

/* put_document -- a document at a depth. */
static bool put_document(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical,
                         uint32_t depth) {
    return buffer_append_byte(text, '{') && put_members(text, doc, size, canonical, depth) &&
           buffer_append_byte(text, '}');
}

/* put_value -- a value at a depth. */
static bool put_value(tansu_buffer *text, const doc_value *value, bool canonical, uint32_t depth) {
    switch (value->type) {
    case DOC_DOUBLE: return put_double(text, doc_double(value), canonical);
    case DOC_STRING: return put_text(text, value, 0);
    case DOC_DOCUMENT: return put_document(text, value->data, value->size, canonical, depth);
    case DOC_ARRAY: return put_array(text, value, canonical, depth);
    case DOC_BINARY: return put_binary(text, value);
    case DOC_UNDEFINED: return put(text, "{\"$undefined\": true}");
    case DOC_OID: return put_oid(text, value->data);
    case DOC_BOOL: return put(text, doc_bool(value) ? "true" : "false");
    case DOC_DATE: return put_date(text, doc_int64(value), canonical);
    case DOC_REGEX: return put_regex(text, value);
    case DOC_DBPOINTER: return put_pointer(text, value);
    case DOC_CODE: return put(text, "{\"$code\": ") && put_text(text, value, 0) && put(text, "}");
    case DOC_SYMBOL:
        return put(text, "{\"$symbol\": ") && put_text(text, value, 0) && put(text, "}");
    case DOC_CODE_SCOPE: return put_scoped(text, value, canonical, depth);
    case DOC_INT32: return put_integer(text, doc_int32(value), "{\"$numberInt\": \"", canonical);
    case DOC_INT64: return put_integer(text, doc_int64(value), "{\"$numberLong\": \"", canonical);
    case DOC_TIMESTAMP: return put_timestamp(text, value->data);
    case DOC_DECIMAL128: return put_decimal(text, value->data);
    case DOC_MIN_KEY: return put(text, "{\"$minKey\": 1}");
    case DOC_MAX_KEY: return put(text, "{\"$maxKey\": 1}");
    default: return put(text, "null");
    }
}

bool json_write_value(tansu_buffer *text, const doc_value *value, bool canonical) {
    return put_value(text, value, canonical, 0);
}

bool json_write_members(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical) {
    return put_members(text, doc, size, canonical, 0);
}

bool json_write_document(tansu_buffer *text, const uint8_t *doc, size_t size, bool canonical) {
    return put_document(text, doc, size, canonical, 0);
}

bool json_write_stored(tansu_buffer *text, const uint8_t *doc, size_t size) {
    size_t at = text->size + 2;
    if (!json_write_document(text, doc, size, true))
        return false;
    return at >= text->size || text->data[at] != '$' || escape_dollar(text, at);
}

/* ---- The public functions that convert between BSON and JSON ---- */

tansu_status tansu_json_to_bson(const char *json, size_t length, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL || (json == NULL && length != 0))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"json\" or \"result\" is NULL; pass a text and a buffer");
    if (length == SIZE_MAX)
        length = strlen(json);
    return json_parse(json != NULL ? json : "", length, TANSU_MAX_DOCUMENT_SIZE, TANSU_MAX_DEPTH,
                      result, error);
}

tansu_status tansu_bson_to_json(tansu_document bson, int canonical, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"result\" is NULL; pass a buffer");
    result->size = 0;
    if (bson.data == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"document\" is NULL; pass a document");
    tansu_status status = doc_check(bson.data, bson.size, DOC_CHECK_OWN, error);
    if (status != TANSU_OK)
        return status;
    if (!json_write_document(result, bson.data, bson.size, canonical != 0) ||
        !buffer_append_byte(result, '\0')) {
        result->size = 0;
        return error_memory(error);
    }
    result->size--;
    return TANSU_OK;
}
