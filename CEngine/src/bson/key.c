/*
 * bson/key.c -- keys: BSON values as byte strings in the same order.
 *
 * A key is the byte of the kind and a self-delimiting body:
 *
 *     number              as in bson/number.h
 *     string, code        the bytes, 00 as 00 FF; then 00 01
 *     document            for each element: kind, key and 00, body; then 00
 *     array               for each element: kind, body; then 00
 *     binary              length (4, big-endian), subtype, bytes
 *     ObjectId, bool      as they are
 *     date, timestamp     8, big-endian (the sign bit of a date inverted)
 *     regex               pattern and 00, options and 00
 *     dbPointer           collection as a string, id
 *     code with scope     code as a string, scope as a document
 *     the others          nothing
 */
#include "bson/key_decode.h"
#include "bson/number.h"
#include "bson/value.h"
#include "bson/value_internal.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <math.h>

static bool put_body(tansu_buffer *key, const doc_value *value, enum value_kind kind,
                     uint32_t depth);

/* put_escaped -- appends bytes with each 00 as 00 FF. */
static bool put_escaped(tansu_buffer *key, const uint8_t *bytes, size_t size) {
    for (;;) {
        const uint8_t *zero = size != 0 ? memchr(bytes, 0, size) : NULL;
        size_t plain = zero != NULL ? (size_t)(zero - bytes) + 1 : size;
        if (!buffer_append(key, bytes, plain))
            return false;
        if (zero == NULL)
            return true;
        if (!buffer_append_byte(key, 0xFF))
            return false;
        bytes += plain;
        size -= plain;
    }
}

/* put_text -- appends a text's body. */
static bool put_text(tansu_buffer *key, span text) {
    static const uint8_t end[2] = {0x00, 0x01};
    return put_escaped(key, text.data, text.size) && buffer_append(key, end, sizeof end);
}

/* put_document -- appends a document's body. */
static bool put_document(tansu_buffer *key, const doc_value *document, uint32_t depth) {
    doc_iter iter;
    if (depth < TANSU_MAX_DEPTH && doc_iter_value(&iter, document)) {
        while (doc_iter_next(&iter)) {
            enum value_kind kind = value_kind_of(iter.value.type);
            if (!buffer_append_byte(key, (uint8_t)kind) ||
                !buffer_append(key, iter.key, (size_t)iter.key_size + 1) ||
                !put_body(key, &iter.value, kind, depth + 1))
                return false;
        }
    }
    return buffer_append_byte(key, 0);
}

/* put_array -- appends an array's body. */
static bool put_array(tansu_buffer *key, const doc_value *array, uint32_t depth) {
    doc_iter iter;
    if (depth < TANSU_MAX_DEPTH && doc_iter_value(&iter, array)) {
        while (doc_iter_next(&iter)) {
            enum value_kind kind = value_kind_of(iter.value.type);
            if (!buffer_append_byte(key, (uint8_t)kind) ||
                !put_body(key, &iter.value, kind, depth + 1))
                return false;
        }
    }
    return buffer_append_byte(key, 0);
}

/* put_u64 -- appends eight bytes, big-endian. */
static bool put_u64(tansu_buffer *key, uint64_t number) {
    uint8_t bytes[8];
    store_be64(bytes, number);
    return buffer_append(key, bytes, sizeof bytes);
}

/* put_number -- appends a number's body. */
static bool put_number(tansu_buffer *key, const doc_value *number) {
    if (key->capacity - key->size < NUMBER_KEY_MAX && !buffer_reserve(key, NUMBER_KEY_MAX))
        return false;
    key->size += number_key(key->data + key->size, number);
    return true;
}

/* put_body -- appends what follows the byte of the kind. */
static bool put_body(tansu_buffer *key, const doc_value *value, enum value_kind kind,
                     uint32_t depth) {
    switch (kind) {
    case KIND_NUMBER: return put_number(key, value);
    case KIND_STRING:
    case KIND_CODE: return put_text(key, text_span(value, 0));
    case KIND_DOCUMENT: return put_document(key, value, depth);
    case KIND_ARRAY: return put_array(key, value, depth);
    case KIND_BINARY: {
        uint8_t length[4];
        store_be32(length, value->size - 5);
        return buffer_append(key, length, 4) &&
               buffer_append(key, value->data + 4, value->size - 4);
    }
    case KIND_OID: return buffer_append(key, value->data, 12);
    case KIND_BOOL: return buffer_append_byte(key, doc_bool(value));
    case KIND_DATE: return put_u64(key, (uint64_t)doc_int64(value) ^ (uint64_t)1 << 63);
    case KIND_TIMESTAMP: return put_u64(key, load_u64(value->data));
    case KIND_REGEX: return buffer_append(key, value->data, value->size);
    case KIND_DBPOINTER: {
        span id = dbpointer_id(value);
        return put_text(key, text_span(value, 0)) && buffer_append(key, id.data, id.size);
    }
    case KIND_CODE_SCOPE: {
        doc_value scope = code_scope(value);
        return put_text(key, text_span(value, 4)) && put_document(key, &scope, depth);
    }
    case KIND_NOTHING:
    case KIND_MIN_KEY:
    case KIND_NULL:
    case KIND_MAX_KEY: break;
    }
    return true;
}

bool value_key(tansu_buffer *key, const doc_value *value, bool descending) {
    size_t start = key->size;
    enum value_kind kind = value_kind_of(value->type);
    if (!buffer_append_byte(key, (uint8_t)kind) || !put_body(key, value, kind, 0)) {
        key->size = start;
        return false;
    }
    if (descending) {
        for (size_t i = start; i < key->size; i++)
            key->data[i] = (uint8_t)~key->data[i];
    }
    return true;
}

bool value_key_prefix_string(tansu_buffer *key, const char *prefix, size_t size) {
    size_t start = key->size;
    if (buffer_append_byte(key, KIND_STRING) && put_escaped(key, (const uint8_t *)prefix, size))
        return true;
    key->size = start;
    return false;
}

/* ---- Decodes keys ---- */

/*
 * bson/key.c and bson/number.h define their format.
 */

/* Reads the bytes of a key as if it were ascending. */
typedef struct reader {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t mask; /* 0xFF: descending, so all bits are complemented */
} reader;

/* next -- the next byte, or -1 at the end. */
static inline int next(reader *r) {
    return r->at < r->end ? (uint8_t)(*r->at++ ^ r->mask) : -1;
}

/* skip -- skips bytes; false when there are fewer. */
static inline bool skip(reader *r, size_t count) {
    if ((size_t)(r->end - r->at) < count)
        return false;
    r->at += count;
    return true;
}

/* next_u64 -- the next eight bytes, big-endian; the caller has checked the size. */
static uint64_t next_u64(reader *r) {
    uint64_t number = load_be64(r->at) ^ (r->mask ? UINT64_MAX : 0);
    r->at += 8;
    return number;
}

/* find_zero -- the next byte that is 0; NULL when there is none. */
static const uint8_t *find_zero(const reader *r) {
    return memchr(r->at, r->mask, (size_t)(r->end - r->at));
}

/* ---- Sizes ---- */

static bool skip_body(reader *r, int kind, uint32_t depth);

/* skip_cstring -- skips to after the next 0. */
static bool skip_cstring(reader *r) {
    const uint8_t *zero = find_zero(r);
    if (zero == NULL)
        return false;
    r->at = zero + 1;
    return true;
}

/* skip_text -- skips to after 00 01; 00 FF is an escaped 0. */
static bool skip_text(reader *r) {
    int end;
    do {
        if (!skip_cstring(r))
            return false;
        end = next(r);
    } while (end == 0xFF);
    return end == 0x01;
}

/* skip_number -- skips the class and what follows it (bson/number.h), which is complemented in
 * negative numbers. */
static bool skip_number(reader *r) {
    int class = next(r);
    if (class != NUMBER_NEGATIVE && class != NUMBER_POSITIVE)
        return class >= 0;
    reader body = *r;
    if (class == NUMBER_NEGATIVE)
        body.mask ^= 0xFF;
    if (!skip(&body, 8))
        return false;
    int inexact = next(&body);
    bool valid = inexact == 0 || (inexact == 1 && skip(&body, 2) && skip_cstring(&body));
    r->at = body.at;
    return valid;
}

/* skip_elements -- skips the elements of a document (with keys) or an array and the 0 after the
 * last. */
static bool skip_elements(reader *r, bool keys, uint32_t depth) {
    int kind;
    while ((kind = next(r)) > 0) {
        if (depth == TANSU_MAX_DEPTH || (keys && !skip_cstring(r)) ||
            !skip_body(r, kind, depth + 1))
            return false;
    }
    return kind == 0;
}

/* skip_body -- skips what follows the byte of the kind. */
static bool skip_body(reader *r, int kind, uint32_t depth) {
    switch (kind) {
    case KIND_NUMBER: return skip_number(r);
    case KIND_STRING:
    case KIND_CODE: return skip_text(r);
    case KIND_DOCUMENT: return skip_elements(r, true, depth);
    case KIND_ARRAY: return skip_elements(r, false, depth);
    case KIND_BINARY: {
        if (r->end - r->at < 4)
            return false;
        uint32_t length = load_be32(r->at) ^ (r->mask ? UINT32_MAX : 0);
        return skip(r, (size_t)length + 5);
    }
    case KIND_OID: return skip(r, 12);
    case KIND_BOOL: return skip(r, 1);
    case KIND_DATE:
    case KIND_TIMESTAMP: return skip(r, 8);
    case KIND_REGEX: return skip_cstring(r) && skip_cstring(r);
    case KIND_DBPOINTER: return skip_text(r) && skip(r, 12);
    case KIND_CODE_SCOPE: return skip_text(r) && skip_elements(r, true, depth);
    case KIND_NOTHING:
    case KIND_MIN_KEY:
    case KIND_NULL:
    case KIND_MAX_KEY: return true;
    default: return false;
    }
}

size_t value_key_size(const uint8_t *key, size_t size, bool descending) {
    reader r = {key, key + size, descending ? 0xFF : 0};
    int kind = next(&r);
    return skip_body(&r, kind, 0) ? (size_t)(r.at - key) : 0;
}

/* ---- Values ---- */

/* decode_u64 -- appends eight bytes, little-endian. */
static bool decode_u64(tansu_buffer *bytes, uint64_t number) {
    uint8_t stored[8];
    store_u64(stored, number);
    return buffer_append(bytes, stored, sizeof stored);
}

/* read_digits -- the whole number of the digits after a truncated double. */
static bool read_digits(reader *r, uint64_t *magnitude) {
    int high = next(r), low = next(r), pair;
    int left = high * 256 + low - 0x8000 + 1; /* digits before the decimal point */
    *magnitude = 0;
    if (high < 0 || low < 0 || left < 1 || left > 19)
        return false;
    while ((pair = next(r)) > 0 && left > 0) {
        /* The second digit of the last pair may be after the decimal point. */
        *magnitude = left == 1 ? *magnitude * 10 + (uint64_t)(pair - 1) / 10
                               : *magnitude * 100 + (uint64_t)(pair - 1);
        left -= 2;
    }
    for (; left > 0; left--)
        *magnitude *= 10;
    return pair == 0;
}

/* put_whole -- appends an int32 or int64. */
static bool put_whole(tansu_buffer *bytes, uint64_t magnitude, bool negative, uint8_t type) {
    int64_t number = (int64_t)(negative ? 0 - magnitude : magnitude);
    if (type == DOC_INT64)
        return decode_u64(bytes, (uint64_t)number);
    uint8_t stored[4];
    store_u32(stored, (uint32_t)number);
    return buffer_append(bytes, stored, sizeof stored);
}

/* put_double -- appends a double. */
static bool put_double(tansu_buffer *bytes, double number) {
    uint64_t bits;
    memcpy(&bits, &number, 8);
    return decode_u64(bytes, bits);
}

/* decode_number -- appends a number of a type. */
static bool decode_number(reader *r, uint8_t type, tansu_buffer *bytes) {
    int class = next(r);
    bool negative = class == NUMBER_NEGATIVE, whole = type != DOC_DOUBLE;
    if (class == NUMBER_ZERO)
        return whole ? put_whole(bytes, 0, false, type) : put_double(bytes, 0);
    if (class == NUMBER_NEGATIVE_INFINITY || class == NUMBER_POSITIVE_INFINITY)
        return !whole &&
               put_double(bytes, class == NUMBER_POSITIVE_INFINITY ? INFINITY : -INFINITY);
    if ((!negative && class != NUMBER_POSITIVE) || r->end - r->at < 9)
        return false;
    if (negative)
        r->mask ^= 0xFF;
    uint64_t bits = next_u64(r), magnitude;
    double cut;
    memcpy(&cut, &bits, 8);
    bool exact = next(r) == 0;
    if (!whole)
        return exact && put_double(bytes, negative ? -cut : cut);
    if (exact) {
        if (!(cut >= 0 && cut <= 9223372036854775808.0))
            return false;
        magnitude = (uint64_t)cut;
    } else if (!read_digits(r, &magnitude)) {
        return false;
    }
    return put_whole(bytes, magnitude, negative, type);
}

/* put_plain -- appends bytes of the key. */
static bool put_plain(reader *r, size_t count, tansu_buffer *bytes) {
    size_t start = bytes->size;
    if ((size_t)(r->end - r->at) < count || !buffer_append(bytes, r->at, count))
        return false;
    for (size_t i = 0; r->mask && i < count; i++)
        bytes->data[start + i] ^= 0xFF;
    r->at += count;
    return true;
}

/* put_string -- appends a string: its size, its bytes with each 00 FF as 00, and a 0. */
static bool put_string(reader *r, tansu_buffer *bytes) {
    size_t start = bytes->size;
    int end;
    if (!buffer_append(bytes, "\0\0\0\0", 4))
        return false;
    do {
        const uint8_t *zero = find_zero(r);
        if (zero == NULL || !put_plain(r, (size_t)(zero + 1 - r->at), bytes))
            return false;
        end = next(r);
    } while (end == 0xFF);
    store_u32(bytes->data + start, (uint32_t)(bytes->size - start - 4));
    return end == 0x01;
}

/* put_binary -- appends a binary: its size as little-endian, subtype and bytes. */
static bool put_binary(reader *r, tansu_buffer *bytes) {
    if (r->end - r->at < 4)
        return false;
    uint8_t stored[4];
    uint32_t length = load_be32(r->at) ^ (r->mask ? UINT32_MAX : 0);
    r->at += 4;
    store_u32(stored, length);
    return buffer_append(bytes, stored, 4) && put_plain(r, (size_t)length + 1, bytes);
}

/* put_value -- appends a value of a kind. */
static bool put_value(reader *r, int kind, uint8_t number, uint8_t *type, tansu_buffer *bytes) {
    switch (kind) {
    case KIND_MIN_KEY: *type = DOC_MIN_KEY; return true;
    case KIND_NULL: *type = DOC_NULL; return true;
    case KIND_MAX_KEY: *type = DOC_MAX_KEY; return true;
    case KIND_NUMBER: *type = number; return decode_number(r, number, bytes);
    case KIND_STRING: *type = DOC_STRING; return put_string(r, bytes);
    case KIND_BINARY: *type = DOC_BINARY; return put_binary(r, bytes);
    case KIND_OID: *type = DOC_OID; return put_plain(r, 12, bytes);
    case KIND_BOOL: *type = DOC_BOOL; return put_plain(r, 1, bytes);
    case KIND_DATE:
        *type = DOC_DATE;
        return r->end - r->at >= 8 && decode_u64(bytes, next_u64(r) ^ (uint64_t)1 << 63);
    case KIND_TIMESTAMP:
        *type = DOC_TIMESTAMP;
        return r->end - r->at >= 8 && decode_u64(bytes, next_u64(r));
    default: return false;
    }
}

size_t value_key_decode(const uint8_t *key, size_t size, bool descending, uint8_t number,
                        uint8_t *type, tansu_buffer *bytes) {
    reader r = {key, key + size, descending ? 0xFF : 0};
    int kind = next(&r);
    return put_value(&r, kind, number, type, bytes) ? (size_t)(r.at - key) : 0;
}
