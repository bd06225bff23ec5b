/*
 * bson/validate/value_check.h -- checking single values, for validate.c and shape.c.
 */
#ifndef TANSU_BSON_VALIDATE_VALUE_CHECK_H
#define TANSU_BSON_VALIDATE_VALUE_CHECK_H

#include "bson/document.h"
#include "util/utf8.h"

/* value_is_text -- whether a value that an iterator has found is a valid string. */
static inline bool value_is_text(const uint8_t *data, uint32_t size) {
    return data[size - 1] == 0 && utf8_is_valid(data + 4, size - 5);
}

/* value_is_plain -- whether a value needs no more than what an iterator has checked, or is a string
 * that is valid: most values are one or the other. */
static inline bool value_is_plain(const doc_value *value) {
    const uint32_t plain = 1u << DOC_DOUBLE | 1u << DOC_OID | 1u << DOC_DATE | 1u << DOC_NULL |
                           1u << DOC_INT32 | 1u << DOC_TIMESTAMP | 1u << DOC_INT64;
    if (value->type == DOC_STRING)
        return value_is_text(value->data, value->size);
    return value->type < 32 && (plain >> value->type & 1) != 0;
}

/* value_may_be_stored -- whether the value of an element at a depth (1: of the document) of a
 * document to store is valid, in addition to what an iterator has checked; `id`: it is the `_id`,
 * or within it. */
bool value_may_be_stored(const doc_value *value, uint32_t depth, bool id);

#endif
