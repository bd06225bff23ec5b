/*
 * bson/document.h -- reading raw BSON in place: values, iteration, validation.
 *
 * All functions are bounded by the given size and never read outside it, whatever the bytes
 * contain. Only bytes that doc_check() accepted are certain to be iterated to their end.
 */
#ifndef TANSU_BSON_DOCUMENT_H
#define TANSU_BSON_DOCUMENT_H

#include "tansu.h"
#include "util/bytes.h"
#include <stdbool.h>

/* The type bytes of BSON (https://bsonspec.org/spec.html), and 0 for a missing value. */
enum {
    DOC_MISSING = 0x00,
    DOC_DOUBLE = 0x01,
    DOC_STRING = 0x02,
    DOC_DOCUMENT = 0x03,
    DOC_ARRAY = 0x04,
    DOC_BINARY = 0x05,
    DOC_UNDEFINED = 0x06,
    DOC_OID = 0x07,
    DOC_BOOL = 0x08,
    DOC_DATE = 0x09,
    DOC_NULL = 0x0A,
    DOC_REGEX = 0x0B,
    DOC_DBPOINTER = 0x0C,
    DOC_CODE = 0x0D,
    DOC_SYMBOL = 0x0E,
    DOC_CODE_SCOPE = 0x0F,
    DOC_INT32 = 0x10,
    DOC_TIMESTAMP = 0x11,
    DOC_INT64 = 0x12,
    DOC_DECIMAL128 = 0x13,
    DOC_MAX_KEY = 0x7F,
    DOC_MIN_KEY = 0xFF
};

/* Subtypes of a binary. */
enum { DOC_SUBTYPE_GENERIC = 0x00, DOC_SUBTYPE_UUID = 0x04 };

/* One value: its type byte and its encoded bytes (what follows the key in BSON), in place. A
 * string's bytes begin with its length, a document's with its size, and so on. */
typedef struct doc_value {
    const uint8_t *data;
    uint32_t size;
    uint8_t type;
} doc_value;

/* An iterator over the elements of a document or an array. */
typedef struct doc_iter {
    const uint8_t *next; /* the next element's type byte */
    const uint8_t *end;  /* the terminating zero byte */
    const char *key;     /* NUL-terminated, in place */
    uint32_t key_size;   /* without the NUL */
    doc_value value;
    bool malformed; /* the iteration ended at invalid bytes */
} doc_iter;

/* How the size of a value follows from its type: the low five bits are a fixed number of bytes.
 * DOC_SIZE_PREFIXED: the value begins with an int32 to be added. DOC_SIZE_ODD: neither applies
 * (regex, and bytes that are not types). */
enum { DOC_SIZE_FIXED = 0x1F, DOC_SIZE_PREFIXED = 0x40, DOC_SIZE_ODD = 0x80 };
extern const uint8_t doc_value_sizes[256];

/* doc_odd_value_size -- the size of a value of such a type; false when it is invalid. */
bool doc_odd_value_size(uint8_t type, const uint8_t *data, const uint8_t *end, uint32_t *size);

/* doc_key_end -- the first zero byte from `p` on; `end` is a zero byte, so there is one. */
static inline const uint8_t *doc_key_end(const uint8_t *p, const uint8_t *end) {
    while (end - p >= 8) {
        uint64_t word = load_u64(p);
        uint64_t zero = (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
        if (zero != 0)
            return p + (__builtin_ctzll(zero) >> 3);
        p += 8;
    }
    while (*p != 0)
        p++;
    return p;
}

/* doc_iter_init -- starts an iteration; false (and an empty iteration) if the size is invalid. */
static inline bool doc_iter_init(doc_iter *iter, const uint8_t *doc, size_t size) {
    iter->malformed = true;
    iter->next = iter->end = NULL;
    if (size < 5)
        return false;
    uint32_t own = load_u32(doc);
    /* BSON's sizes are signed; the bound also prevents overflow of sums of sizes below. */
    if (own < 5 || own > size || own > INT32_MAX || doc[own - 1] != 0)
        return false;
    iter->next = doc + 4;
    iter->end = doc + own - 1;
    iter->malformed = false;
    return true;
}

/* doc_value_size -- the size of the value at `data`, before the zero byte at `end`; false when it
 * is invalid, or extends beyond that. */
static inline bool doc_value_size(uint8_t type, const uint8_t *data, const uint8_t *end,
                                  uint32_t *size) {
    size_t left = (size_t)(end - data);
    uint8_t rule = doc_value_sizes[type];
    uint32_t result = rule & DOC_SIZE_FIXED;
    if (rule & DOC_SIZE_PREFIXED) {
        /* A value that begins with its length has at least five bytes: a string's terminator, an
         * empty document, a binary's subtype. */
        if (left < 5)
            return false;
        uint32_t own = load_u32(data);
        if (own > left)
            return false;
        result += own;
        if (result < 5)
            return false;
    } else if (rule & DOC_SIZE_ODD) {
        /* A variable of its own: the result, whose address nobody takes, stays in a register. */
        uint32_t odd;
        if (!doc_odd_value_size(type, data, end, &odd))
            return false;
        result = odd;
    }
    if (result > left)
        return false;
    *size = result;
    return true;
}

/* doc_iter_next -- moves to the next element; false at the end or at invalid bytes
 * (iter->malformed). */
static inline bool doc_iter_next(doc_iter *iter) {
    const uint8_t *p = iter->next;
    const uint8_t *end = iter->end;
    if (p >= end)
        return false;
    uint8_t type = *p++;
    const uint8_t *data = doc_key_end(p, end);
    iter->key = (const char *)p;
    iter->key_size = (uint32_t)(data - p);
    /* A key that ends with the terminator of the document has no value. */
    if (data >= end)
        goto malformed;
    data++;
    uint32_t size;
    if (!doc_value_size(type, data, end, &size))
        goto malformed;
    iter->value.data = data;
    iter->value.size = size;
    iter->value.type = type;
    iter->next = data + size;
    return true;
malformed:
    iter->malformed = true;
    iter->next = end;
    return false;
}

/* doc_iter_value -- starts an iteration over a value of type document or array. */
static inline bool doc_iter_value(doc_iter *iter, const doc_value *value) {
    return doc_iter_init(iter, value->data, value->size);
}

/* doc_find -- the value of a top-level key; false (type DOC_MISSING) if there is none. */
bool doc_find(const uint8_t *doc, size_t size, const char *key, size_t key_size, doc_value *value);

/* doc_has_before -- whether an element before the one of an iteration over the document has its
 * key. */
bool doc_has_before(const uint8_t *doc, size_t size, const doc_iter *at);

/* doc_find_id -- the same of the `_id`. */
bool doc_find_id(const uint8_t *doc, size_t size, doc_value *value);

/* Accessors of single values. The caller has checked the type. */
static inline int32_t doc_int32(const doc_value *value) {
    return (int32_t)load_u32(value->data);
}
/* doc_int64 -- int64, date and timestamp. */
static inline int64_t doc_int64(const doc_value *value) {
    return (int64_t)load_u64(value->data);
}
static inline double doc_double(const doc_value *value) {
    double number;
    memcpy(&number, value->data, 8);
    return number;
}
static inline bool doc_bool(const doc_value *value) {
    return value->data[0] != 0;
}
/* doc_string -- the UTF-8 bytes of a string, symbol or code, which may contain NULs; *size excludes
 * the terminator. */
static inline const char *doc_string(const doc_value *value, size_t *size) {
    *size = value->size - 5;
    return (const char *)value->data + 4;
}
/* doc_is_number -- int32, int64, double or decimal128. */
static inline bool doc_is_number(const doc_value *value) {
    return value->type == DOC_INT32 || value->type == DOC_DOUBLE || value->type == DOC_INT64 ||
           value->type == DOC_DECIMAL128;
}
/* doc_as_int64 -- the value of any number that is a whole int64; false otherwise. */
bool doc_as_int64(const doc_value *value, int64_t *result);
/* doc_as_bool -- a bool, or a number (0 is false, NaN is true); returns false when it is
 * neither. */
bool doc_as_bool(const doc_value *value, bool *result);

/* What doc_check() accepts. */
typedef enum doc_check_mode {
    DOC_CHECK_BSON, /* any valid BSON document: queries, hints, options */
    DOC_CHECK_OWN,  /* what the library itself has made of such documents: of any size, with any
                       number of keys, and with levels around them */
    DOC_CHECK_STORE /* documents to store: no duplicate keys, an `_id` of an allowed kind, in which
                        no keys begin with `$` (except $ref, $id, $db of a DBRef, a document that
                        begins with $ref) */
} doc_check_mode;

/*
 * doc_check -- validates a document: size field, bounds of every value, terminators, UTF-8 of keys
 * and strings, known types, bool bytes, array structure, depth up to TANSU_MAX_DEPTH, total size up
 * to TANSU_MAX_DOCUMENT_SIZE, and what the mode changes. `size` must be the document's exact size.
 * Fast: one pass, no allocation for documents of up to 64 keys a level. Agrees with libbson's
 * bson_validate() on structure and UTF-8 (a differential test compares the two).
 * Errors: INVALID_BSON, INVALID_DOCUMENT, INVALID_ID, TOO_LARGE (error->offset is the byte,
 * error->context the dotted path), MEMORY.
 */
tansu_status doc_check(const uint8_t *doc, size_t size, doc_check_mode mode, tansu_error *error);

/* doc_check_id -- whether a value may be an `_id`: anything but array, regex, undefined and
 * missing. Errors: INVALID_ID. */
tansu_status doc_check_id(const doc_value *id, tansu_error *error);

/* doc_array_size -- the number of elements; false when the value is not an array. */
bool doc_array_size(const doc_value *value, uint32_t *count);

#endif
