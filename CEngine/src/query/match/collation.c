/*
 * query/match/collation.c -- collated strings and values.
 */
#include "query/match/collation.h"
#include "bson/case_fold.h"
#include "bson/value.h"
#include "bson/writer.h"

/* is_digit -- 0 to 9. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* put_number -- a run of digits: '0', their number without leading zeros, the digits. The number
 * comes first, so longer numbers are greater; it is written as bytes of 255 and then a smaller
 * one. */
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

/* put_part -- text without numbers. */
static bool put_part(const collation *c, tansu_buffer *out, const char *text, size_t size) {
    return c->fold ? fold_text(out, text, size) : buffer_append(out, text, size);
}

/* put_text -- appends the collated string. False when memory is exhausted. */
static bool put_text(const collation *c, tansu_buffer *out, const char *text, size_t size) {
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

bool collation_applies(const doc_value *value) {
    return value->type == DOC_STRING || value->type == DOC_SYMBOL || value->type == DOC_DOCUMENT ||
           value->type == DOC_ARRAY;
}

/* put_value -- appends the collated bytes of a value at a depth; what is deeper than allowed is
 * empty. */
static void put_value(const collation *c, writer *w, const doc_value *value, uint32_t depth) {
    if (!collation_applies(value)) {
        writer_bytes(w, value->data, value->size);
        return;
    }
    size_t start = writer_begin(w);
    if (value->type == DOC_STRING || value->type == DOC_SYMBOL) {
        size_t size;
        const char *text = doc_string(value, &size);
        if (!w->failed && !put_text(c, w->out, text, size))
            w->failed = true;
        writer_end_string(w, start);
        return;
    }
    doc_iter iter;
    bool valid = depth < TANSU_MAX_DEPTH && doc_iter_value(&iter, value);
    while (valid && !w->failed && doc_iter_next(&iter)) {
        writer_head(w, iter.value.type, iter.key, iter.key_size);
        put_value(c, w, &iter.value, depth + 1);
    }
    writer_end(w, start);
}

bool collation_value(const collation *c, tansu_buffer *out, const doc_value *value,
                     doc_value *result) {
    *result = *value;
    if (!collation_applies(value))
        return true;
    writer w = {.out = out};
    out->size = 0;
    put_value(c, &w, value, 0);
    if (w.failed)
        return false;
    result->data = out->data;
    result->size = (uint32_t)out->size;
    return true;
}

bool collation_key(const collation *c, tansu_buffer *scratch, tansu_buffer *key,
                   const doc_value *value, bool descending) {
    doc_value as = *value;
    return (!c || collation_value(c, scratch, value, &as)) && value_key(key, &as, descending);
}

bool collation_compare(const collation *c, tansu_buffer scratch[2], const doc_value *a,
                       const doc_value *b, int *order) {
    doc_value left = *a, right = *b;
    if (c &&
        (!collation_value(c, &scratch[0], a, &left) || !collation_value(c, &scratch[1], b, &right)))
        return false;
    *order = value_compare(&left, &right);
    return true;
}
