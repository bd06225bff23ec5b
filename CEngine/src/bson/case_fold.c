/*
 * bson/case_fold.c -- Unicode case folding of text.
 */
#include "bson/case_fold.h"

#include "bson/case_foldings.h"
#include "bson/writer.h"
#include "util/utf8.h"

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
    uint32_t character, folded[CASE_FOLDING_MOST];
    uint8_t bytes[4 * CASE_FOLDING_MOST];
    size_t step = utf8_decode((const uint8_t *)text, size, &character), length = 0;
    uint32_t count = step == 0 ? 0 : case_folding(character, folded);
    if (count == 0) {
        size_t taken = step == 0 ? 1 : step;
        return buffer_append(out, text, taken) ? taken : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        length += utf8_encode(folded[i], bytes + length);
    return buffer_append(out, bytes, length) ? step : 0;
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
