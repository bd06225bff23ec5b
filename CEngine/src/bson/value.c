/*
 * bson/value.c -- the order of BSON values, comparing in place.
 */
#include "bson/value.h"

#include "bson/number.h"
#include "bson/value_internal.h"
#include "util/bytes.h"

static int compare(const doc_value *a, const doc_value *b, uint32_t depth);

enum value_kind value_kind_of(uint8_t type) {
    switch (type) {
    case DOC_MIN_KEY: return KIND_MIN_KEY;
    case DOC_DOUBLE:
    case DOC_INT32:
    case DOC_INT64:
    case DOC_DECIMAL128: return KIND_NUMBER;
    case DOC_STRING:
    case DOC_SYMBOL: return KIND_STRING;
    case DOC_DOCUMENT: return KIND_DOCUMENT;
    case DOC_ARRAY: return KIND_ARRAY;
    case DOC_BINARY: return KIND_BINARY;
    case DOC_OID: return KIND_OID;
    case DOC_BOOL: return KIND_BOOL;
    case DOC_DATE: return KIND_DATE;
    case DOC_TIMESTAMP: return KIND_TIMESTAMP;
    case DOC_REGEX: return KIND_REGEX;
    case DOC_DBPOINTER: return KIND_DBPOINTER;
    case DOC_CODE: return KIND_CODE;
    case DOC_CODE_SCOPE: return KIND_CODE_SCOPE;
    case DOC_MAX_KEY: return KIND_MAX_KEY;
    default: return KIND_NULL;
    }
}

/* compare_bytes -- by bytes; a prefix of another is less. */
static inline int compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common != 0 ? memcmp(a, b, common) : 0;
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* compare_texts -- the texts at an offset in two values. */
static inline int compare_texts(const doc_value *a, const doc_value *b, size_t offset) {
    span a_text = text_span(a, offset);
    span b_text = text_span(b, offset);
    return compare_bytes(a_text.data, a_text.size, b_text.data, b_text.size);
}

/* compare_u64 -- the order of two unsigned numbers. */
static inline int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* compare_documents -- element by element: kind, key, value; the shorter first. */
static int compare_documents(const doc_value *a, const doc_value *b, uint32_t depth) {
    doc_iter a_iter;
    doc_iter b_iter;
    bool a_open = depth < TANSU_MAX_DEPTH && doc_iter_value(&a_iter, a);
    bool b_open = depth < TANSU_MAX_DEPTH && doc_iter_value(&b_iter, b);
    for (;;) {
        a_open = a_open && doc_iter_next(&a_iter);
        b_open = b_open && doc_iter_next(&b_iter);
        if (!a_open || !b_open)
            return (int)a_open - (int)b_open;
        int order = (int)value_kind_of(a_iter.value.type) - (int)value_kind_of(b_iter.value.type);
        if (order == 0)
            order = compare_bytes(a_iter.key, a_iter.key_size, b_iter.key, b_iter.key_size);
        if (order == 0)
            order = compare(&a_iter.value, &b_iter.value, depth + 1);
        if (order != 0)
            return order;
    }
}

/* compare_arrays -- value by value; the shorter first. */
static int compare_arrays(const doc_value *a, const doc_value *b, uint32_t depth) {
    doc_iter a_iter;
    doc_iter b_iter;
    bool a_open = depth < TANSU_MAX_DEPTH && doc_iter_value(&a_iter, a);
    bool b_open = depth < TANSU_MAX_DEPTH && doc_iter_value(&b_iter, b);
    for (;;) {
        a_open = a_open && doc_iter_next(&a_iter);
        b_open = b_open && doc_iter_next(&b_iter);
        if (!a_open || !b_open)
            return (int)a_open - (int)b_open;
        int order = compare(&a_iter.value, &b_iter.value, depth + 1);
        if (order != 0)
            return order;
    }
}

/* compare_binaries -- by length, subtype, bytes: the encoding has them in this order. */
static int compare_binaries(const doc_value *a, const doc_value *b) {
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->data + 4, b->data + 4, a->size - 4);
}

/* compare_regexes -- by pattern, then options. */
static int compare_regexes(const doc_value *a, const doc_value *b) {
    const char *a_text = (const char *)a->data;
    const char *b_text = (const char *)b->data;
    int order = strcmp(a_text, b_text);
    if (order != 0)
        return order;
    size_t options = strlen(a_text) + 1;
    return strcmp(a_text + options, b_text + options);
}

/* compare_dbpointers -- by collection, then id. */
static int compare_dbpointers(const doc_value *a, const doc_value *b) {
    int order = compare_texts(a, b, 0);
    if (order != 0)
        return order;
    span a_id = dbpointer_id(a);
    span b_id = dbpointer_id(b);
    return compare_bytes(a_id.data, a_id.size, b_id.data, b_id.size);
}

/* compare -- value_compare() at a depth; what is deeper than allowed is empty. */
static int compare(const doc_value *a, const doc_value *b, uint32_t depth) {
    enum value_kind kind = value_kind_of(a->type);
    if (a->type != b->type) {
        int order = (int)kind - (int)value_kind_of(b->type);
        if (order != 0)
            return order;
    }
    switch (kind) {
    case KIND_NUMBER: return number_compare(a, b);
    case KIND_STRING:
    case KIND_CODE: return compare_texts(a, b, 0);
    case KIND_DOCUMENT: return compare_documents(a, b, depth);
    case KIND_ARRAY: return compare_arrays(a, b, depth);
    case KIND_BINARY: return compare_binaries(a, b);
    case KIND_OID: return memcmp(a->data, b->data, 12);
    case KIND_BOOL: return (int)doc_bool(a) - (int)doc_bool(b);
    case KIND_DATE: return (doc_int64(a) > doc_int64(b)) - (doc_int64(a) < doc_int64(b));
    case KIND_TIMESTAMP: /* seconds are the upper half of the 64 bits, the increment the lower */
        return compare_u64(load_u64(a->data), load_u64(b->data));
    case KIND_REGEX: return compare_regexes(a, b);
    case KIND_DBPOINTER: return compare_dbpointers(a, b);
    case KIND_CODE_SCOPE: {
        int order = compare_texts(a, b, 4);
        if (order != 0)
            return order;
        doc_value a_scope = code_scope(a);
        doc_value b_scope = code_scope(b);
        return compare_documents(&a_scope, &b_scope, depth);
    }
    case KIND_NOTHING:
    case KIND_MIN_KEY:
    case KIND_NULL:
    case KIND_MAX_KEY: break;
    }
    return 0;
}

int value_compare(const doc_value *a, const doc_value *b) {
    /* A fast path: queries mostly compare strings. */
    if (a->type == DOC_STRING && b->type == DOC_STRING)
        return compare_texts(a, b, 0);
    return compare(a, b, 0);
}
