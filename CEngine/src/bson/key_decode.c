/*
 * bson/key_decode.c -- decodes keys. bson/key.c and bson/number.h define their format.
 */
#include "bson/key_decode.h"

#include "bson/number.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <math.h>

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

/* put_u64 -- appends eight bytes, little-endian. */
static bool put_u64(tansu_buffer *bytes, uint64_t number) {
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
        return put_u64(bytes, (uint64_t)number);
    uint8_t stored[4];
    store_u32(stored, (uint32_t)number);
    return buffer_append(bytes, stored, sizeof stored);
}

/* put_double -- appends a double. */
static bool put_double(tansu_buffer *bytes, double number) {
    uint64_t bits;
    memcpy(&bits, &number, 8);
    return put_u64(bytes, bits);
}

/* put_number -- appends a number of a type. */
static bool put_number(reader *r, uint8_t type, tansu_buffer *bytes) {
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
    case KIND_NUMBER: *type = number; return put_number(r, number, bytes);
    case KIND_STRING: *type = DOC_STRING; return put_string(r, bytes);
    case KIND_BINARY: *type = DOC_BINARY; return put_binary(r, bytes);
    case KIND_OID: *type = DOC_OID; return put_plain(r, 12, bytes);
    case KIND_BOOL: *type = DOC_BOOL; return put_plain(r, 1, bytes);
    case KIND_DATE:
        *type = DOC_DATE;
        return r->end - r->at >= 8 && put_u64(bytes, next_u64(r) ^ (uint64_t)1 << 63);
    case KIND_TIMESTAMP:
        *type = DOC_TIMESTAMP;
        return r->end - r->at >= 8 && put_u64(bytes, next_u64(r));
    default: return false;
    }
}

size_t value_key_decode(const uint8_t *key, size_t size, bool descending, uint8_t number,
                        uint8_t *type, tansu_buffer *bytes) {
    reader r = {key, key + size, descending ? 0xFF : 0};
    int kind = next(&r);
    return put_value(&r, kind, number, type, bytes) ? (size_t)(r.at - key) : 0;
}
