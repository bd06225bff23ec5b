/*
 * bson/case_fold.c -- Unicode case folding with utf8proc.
 */
#include "bson/case_fold.h"

#include "bson/writer.h"

#include <utf8proc.h>

/* The most characters in the folding of one. */
#define FOLD_MOST 8

/* fold_ascii -- appends the leading ASCII bytes in lower case and returns their number. The buffer
 * must have the capacity. */
static size_t fold_ascii(tansu_buffer *out, const char *text, size_t size) {
    size_t at = 0;
    for (; at < size && (unsigned char)text[at] < 0x80; at++) {
        uint8_t c = (uint8_t)text[at];
        out->data[out->size++] = c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
    }
    return at;
}

/* fold_character -- appends the folding of the character at `text` and returns the size of the
 * character; 0 when memory is exhausted. */
static size_t fold_character(tansu_buffer *out, const char *text, size_t size) {
    utf8proc_int32_t character, folded[FOLD_MOST];
    int boundary = 0;
    utf8proc_ssize_t step =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, &character);
    utf8proc_ssize_t count = step <= 0 ? -1
                                       : utf8proc_decompose_char(character, folded, FOLD_MOST,
                                                                 UTF8PROC_CASEFOLD, &boundary);
    if (count < 0 || count > FOLD_MOST) {
        size_t taken = step <= 0 ? 1 : (size_t)step;
        return buffer_append(out, text, taken) ? taken : 0;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        utf8proc_uint8_t bytes[4];
        utf8proc_ssize_t length = utf8proc_encode_char(folded[i], bytes);
        if (!buffer_append(out, bytes, (size_t)length))
            return 0;
    }
    return (size_t)step;
}

bool fold_text(tansu_buffer *out, const char *text, size_t size) {
    size_t start = out->size;
    if (!buffer_reserve(out, size))
        return false;
    for (size_t at = 0; at < size;) {
        if (!buffer_reserve(out, size - at)) { /* a folding may be longer than the text */
            out->size = start;
            return false;
        }
        at += fold_ascii(out, text + at, size - at);
        if (at == size)
            break;
        size_t step = fold_character(out, text + at, size - at);
        if (step == 0) {
            out->size = start;
            return false;
        }
        at += step;
    }
    return true;
}

/* put_value -- appends the bytes of a value at a depth, with its strings folded; what is deeper
 * than allowed is empty. */
static void put_value(writer *w, const doc_value *value, uint32_t depth) {
    bool string = value->type == DOC_STRING || value->type == DOC_SYMBOL;
    if (!string && value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) {
        writer_bytes(w, value->data, value->size);
        return;
    }
    size_t start = writer_begin(w);
    if (string) {
        size_t size;
        const char *text = doc_string(value, &size);
        if (!w->failed && !fold_text(w->out, text, size))
            w->failed = true;
        writer_end_string(w, start);
        return;
    }
    doc_iter iter = {.next = NULL}; /* empty, if the value is malformed or too deep */
    if (depth < TANSU_MAX_DEPTH)
        (void)doc_iter_value(&iter, value);
    while (!w->failed && doc_iter_next(&iter)) {
        writer_head(w, iter.value.type, iter.key, iter.key_size);
        put_value(w, &iter.value, depth + 1);
    }
    writer_end(w, start);
}

bool fold_value(tansu_buffer *out, const doc_value *value, doc_value *result) {
    *result = *value;
    if (value->type != DOC_STRING && value->type != DOC_SYMBOL && value->type != DOC_DOCUMENT &&
        value->type != DOC_ARRAY)
        return true;
    writer w = {.out = out};
    out->size = 0;
    put_value(&w, value, 0);
    if (w.failed || out->size > UINT32_MAX)
        return false;
    result->data = out->data;
    result->size = (uint32_t)out->size;
    return true;
}
