/*
 * bson/value_internal.h -- decoding compound values, in the same way for comparing (value.c) and
 * for keys (key.c).
 *
 * What exceeds the size of its value is empty, so that both agree on malformed bytes too.
 */
#ifndef TANSU_BSON_VALUE_INTERNAL_H
#define TANSU_BSON_VALUE_INTERNAL_H

#include "bson/document.h"

/* Bytes in place. */
typedef struct span {
    const uint8_t *data;
    size_t size;
} span;

/* text_span -- the text of a string, symbol, code, dbPointer or code with scope that begins at
 * `offset` in the value. */
static inline span text_span(const doc_value *value, size_t offset) {
    span text = {value->data, 0};
    if (value->size >= offset + 5) {
        uint32_t size = load_u32(value->data + offset);
        if (size >= 1 && size <= value->size - offset - 4) {
            text.data = value->data + offset + 4;
            text.size = size - 1;
        }
    }
    return text;
}

/* dbpointer_id -- the last 12 bytes of a dbPointer. */
static inline span dbpointer_id(const doc_value *value) {
    span id = {value->data, 0};
    if (value->size >= 12) {
        id.data = value->data + value->size - 12;
        id.size = 12;
    }
    return id;
}

/* code_scope -- the scope document after the text of a code with scope. */
static inline doc_value code_scope(const doc_value *value) {
    span text = text_span(value, 4);
    size_t used = (size_t)(text.data + text.size - value->data) + 1;
    doc_value scope = {value->data, 0, DOC_DOCUMENT};
    if (used < value->size) {
        scope.data = value->data + used;
        scope.size = value->size - (uint32_t)used;
    }
    return scope;
}

#endif
