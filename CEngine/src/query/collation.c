/*
 * query/collation.c -- see collation.h.
 */
#include "query/collation.h"
#include "base/fold.h"
#include "base/value.h"

/* is_digit -- 0 to 9. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* put_number -- a run of digits: '0', how many there are without leading zeros, and they. The count
 * comes first, so that a longer number is greater: bytes of 255 and then a lesser one. */
static bool put_number(tansu_buffer *out, const char *digits, size_t size) {
    while (size != 0 && *digits == '0') {
        digits++;
        size--;
    }
    if (!buffer_append_byte(out, '0'))
        return false;
    size_t left = size;
    for (; left >= 255; left -= 255) {
        if (!buffer_append_byte(out, 255))
            return false;
    }
    return buffer_append_byte(out, (uint8_t)left) && buffer_append(out, digits, size);
}

/* put_part -- text without digits that count. */
static bool put_part(const collation *c, tansu_buffer *out, const char *text, size_t size) {
    return c->fold ? fold_text(out, text, size) : buffer_append(out, text, size);
}

/* collation_text -- see collation.h. */
bool collation_text(const collation *c, tansu_buffer *out, const char *text, size_t size) {
    if (!c->numeric)
        return put_part(c, out, text, size);
    for (size_t at = 0; at < size;) {
        bool number = is_digit(text[at]);
        size_t end = at + 1;
        while (end < size && is_digit(text[end]) == number)
            end++;
        if (number ? !put_number(out, text + at, end - at) : !put_part(c, out, text + at, end - at))
            return false;
        at = end;
    }
    return true;
}

/* collation_touches -- see collation.h. */
bool collation_touches(const doc_value *value) {
    return value->type == DOC_STRING || value->type == DOC_SYMBOL || value->type == DOC_DOCUMENT ||
           value->type == DOC_ARRAY;
}

/* put_value -- appends the form of a value's encoded bytes. Recursion is bounded by the document's
 * checked depth. */
static bool put_value(const collation *c, tansu_buffer *out, const doc_value *value) {
    size_t start = out->size;
    if (!collation_touches(value))
        return buffer_append(out, value->data, value->size);
    if (!buffer_append(out, "\0\0\0\0", 4))
        return false;
    if (value->type == DOC_STRING || value->type == DOC_SYMBOL) {
        size_t size;
        const char *text = doc_string(value, &size);
        if (!collation_text(c, out, text, size) || !buffer_append_byte(out, 0))
            return false;
        store_u32(out->data + start, (uint32_t)(out->size - start - 4));
        return true;
    }
    doc_iter iter;
    bool valid = doc_iter_value(&iter, value);
    while (valid && doc_iter_next(&iter)) {
        if (!buffer_append_byte(out, iter.value.type) ||
            !buffer_append(out, iter.key, iter.key_size + 1) || !put_value(c, out, &iter.value))
            return false;
    }
    if (!buffer_append_byte(out, 0))
        return false;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return true;
}

/* collation_value -- see collation.h. */
bool collation_value(const collation *c, tansu_buffer *out, const doc_value *value,
                     doc_value *result) {
    *result = *value;
    if (!collation_touches(value))
        return true;
    out->size = 0;
    if (!put_value(c, out, value))
        return false;
    result->data = out->data;
    result->size = (uint32_t)out->size;
    return true;
}

/* collation_key -- see collation.h. */
bool collation_key(const collation *c, tansu_buffer *form, tansu_buffer *key,
                   const doc_value *value, bool descending) {
    doc_value as = *value;
    return (!c || collation_value(c, form, value, &as)) && value_key(key, &as, descending);
}

/* collation_compare -- see collation.h. */
bool collation_compare(const collation *c, tansu_buffer forms[2], const doc_value *a,
                       const doc_value *b, int *order) {
    doc_value left = *a, right = *b;
    if (c &&
        (!collation_value(c, &forms[0], a, &left) || !collation_value(c, &forms[1], b, &right)))
        return false;
    *order = value_compare(&left, &right);
    return true;
}
