/*
 * bson/document.c -- reading raw BSON in place: what is not inline in the header.
 */
#include "bson/document.h"

#include "bson/decimal.h"

/* By type byte. Bytes that are not types are odd: doc_odd_value_size() rejects them. */
#define ODD DOC_SIZE_ODD
#define ODD4 ODD, ODD, ODD, ODD
#define ODD12 ODD4, ODD4, ODD4
#define ODD32 ODD12, ODD12, ODD4, ODD4
#define ODD95 ODD32, ODD32, ODD12, ODD12, ODD4, ODD, ODD, ODD
#define ODD127 ODD95, ODD32
const uint8_t doc_value_sizes[256] = {
    /* 00 none */ ODD,
    /* 01 double */ 8,
    /* 02 string */ DOC_SIZE_PREFIXED | 4,
    /* 03 document */ DOC_SIZE_PREFIXED,
    /* 04 array */ DOC_SIZE_PREFIXED,
    /* 05 binary */ DOC_SIZE_PREFIXED | 5,
    /* 06 undefined */ 0,
    /* 07 oid */ 12,
    /* 08 bool */ 1,
    /* 09 date */ 8,
    /* 0A null */ 0,
    /* 0B regex */ ODD,
    /* 0C dbPointer */ DOC_SIZE_PREFIXED | 16,
    /* 0D code */ DOC_SIZE_PREFIXED | 4,
    /* 0E symbol */ DOC_SIZE_PREFIXED | 4,
    /* 0F code with scope */ DOC_SIZE_PREFIXED,
    /* 10 int32 */ 4,
    /* 11 timestamp */ 8,
    /* 12 int64 */ 8,
    /* 13 decimal128 */ 16,
    /* 14 to 1F */ ODD12,
    /* 20 to 7E */ ODD95,
    /* 7F maxKey */ 0,
    /* 80 to FE */ ODD127,
    /* FF minKey */ 0};

/* The size of a regex, two NUL-terminated texts; other odd types are invalid. */
bool doc_odd_value_size(uint8_t type, const uint8_t *data, const uint8_t *end, uint32_t *size) {
    if (type != DOC_REGEX)
        return false;
    const uint8_t *pattern_end = doc_key_end(data, end);
    if (pattern_end >= end)
        return false;
    const uint8_t *options_end = doc_key_end(pattern_end + 1, end);
    if (options_end >= end)
        return false;
    *size = (uint32_t)(options_end + 1 - data);
    return true;
}

/* find -- doc_find(), inlined with keys whose size the compiler knows. */
static inline bool find(const uint8_t *doc, size_t size, const char *key, size_t key_size,
                        doc_value *value) {
    doc_iter iter;
    if (doc_iter_init(&iter, doc, size)) {
        while (doc_iter_next(&iter)) {
            if (iter.key_size == key_size && memcmp(iter.key, key, key_size) == 0) {
                *value = iter.value;
                return true;
            }
        }
    }
    *value = (doc_value){NULL, 0, DOC_MISSING};
    return false;
}

bool doc_find(const uint8_t *doc, size_t size, const char *key, size_t key_size, doc_value *value) {
    return find(doc, size, key, key_size, value);
}

bool doc_has_before(const uint8_t *doc, size_t size, const doc_iter *at) {
    doc_value first;
    return find(doc, size, at->key, at->key_size, &first) && first.data != at->value.data;
}

bool doc_find_id(const uint8_t *doc, size_t size, doc_value *value) {
    return find(doc, size, "_id", 3, value);
}

bool doc_as_int64(const doc_value *value, int64_t *result) {
    switch (value->type) {
    case DOC_INT32: *result = doc_int32(value); return true;
    case DOC_INT64: *result = doc_int64(value); return true;
    case DOC_DOUBLE: {
        double number = doc_double(value);
        /* Both bounds are exact doubles; NaN fails the comparison. */
        if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
            return false;
        int64_t whole = (int64_t)number;
        if ((double)whole != number)
            return false;
        *result = whole;
        return true;
    }
    case DOC_DECIMAL128: return decimal_as_int64(value->data, result);
    default: return false;
    }
}

bool doc_as_bool(const doc_value *value, bool *result) {
    switch (value->type) {
    case DOC_BOOL: *result = doc_bool(value); return true;
    case DOC_INT32: *result = doc_int32(value) != 0; return true;
    case DOC_INT64: *result = doc_int64(value) != 0; return true;
    case DOC_DOUBLE: *result = doc_double(value) != 0; return true;
    case DOC_DECIMAL128: *result = !decimal_is_zero(value->data); return true;
    default: return false;
    }
}

bool doc_array_size(const doc_value *value, uint32_t *count) {
    doc_iter iter;
    *count = 0;
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter))
        ++*count;
    return true;
}
