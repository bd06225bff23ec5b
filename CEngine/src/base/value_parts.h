/*
 * base/value_parts.h -- taking apart the values that hold more than one thing, the same way for
 * comparing and for keys. Inner header of part base: base/value.c and base/value_key.c only.
 *
 * What does not fit its value's size is empty, so that both agree on malformed bytes too.
 */
#ifndef TANSU_BASE_VALUE_PARTS_H
#define TANSU_BASE_VALUE_PARTS_H

#include "base/doc.h"

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

/* dbpointer_id -- the 12 bytes at a dbPointer's end. */
static inline span dbpointer_id(const doc_value *value) {
    span id = {value->data, 0};
    if (value->size >= 12) {
        id.data = value->data + value->size - 12;
        id.size = 12;
    }
    return id;
}

/* code_scope -- the scope document behind the text of a code with scope. */
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
