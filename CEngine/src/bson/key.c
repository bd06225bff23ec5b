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
#include "bson/value.h"

#include "bson/number.h"
#include "bson/value_internal.h"
#include "util/buffer.h"
#include "util/bytes.h"

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
