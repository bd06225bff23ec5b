/*
 * base/fold.c -- see fold.h.
 */
#include "base/fold.h"

#include "base/buffer.h"

#include <utf8proc.h>

/* Characters that one character may become. */
#define FOLD_MOST 8

/* fold_ascii -- appends the leading bytes below 0x80, in lower case, and tells how many; there must
 * be room. */
static size_t fold_ascii(tansu_buffer *out, const char *text, size_t size) {
    size_t at = 0;
    for (; at < size && (unsigned char)text[at] < 0x80; at++) {
        uint8_t c = (uint8_t)text[at];
        out->data[out->size++] = c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
    }
    return at;
}

/* fold_character -- appends the folding of the character at `text`, and tells its size there; 0 when
 * memory is exhausted. */
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

/* fold_text -- see fold.h. */
bool fold_text(tansu_buffer *out, const char *text, size_t size) {
    size_t start = out->size;
    if (!buffer_reserve(out, size))
        return false;
    for (size_t at = 0; at < size;) {
        if (!buffer_reserve(out, size - at)) { /* a folding may be longer than its text */
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

/* put_value -- appends a value's encoded bytes with its strings folded. Recursion is bounded by the
 * document's checked depth. */
static bool put_value(tansu_buffer *out, const doc_value *value) {
    size_t start = out->size;
    bool text = value->type == DOC_STRING || value->type == DOC_SYMBOL;
    if (!text && value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return buffer_append(out, value->data, value->size);
    if (!buffer_append(out, "\0\0\0\0", 4))
        return false;
    if (text) {
        size_t size;
        const char *string = doc_string(value, &size);
        if (!fold_text(out, string, size) || !buffer_append_byte(out, 0))
            return false;
        store_u32(out->data + start, (uint32_t)(out->size - start - 4));
        return true;
    }
    doc_iter iter = {.next = NULL}; /* empty, should the value not be walkable */
    (void)doc_iter_value(&iter, value);
    while (doc_iter_next(&iter)) {
        if (!buffer_append_byte(out, iter.value.type) ||
            !buffer_append(out, iter.key, (size_t)iter.key_size + 1) ||
            !put_value(out, &iter.value))
            return false;
    }
    if (!buffer_append_byte(out, 0))
        return false;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return true;
}

/* fold_value -- see fold.h. */
bool fold_value(tansu_buffer *out, const doc_value *value, doc_value *result) {
    *result = *value;
    if (value->type != DOC_STRING && value->type != DOC_SYMBOL && value->type != DOC_DOCUMENT &&
        value->type != DOC_ARRAY)
        return true;
    out->size = 0;
    if (!put_value(out, value) || out->size > UINT32_MAX)
        return false;
    result->data = out->data;
    result->size = (uint32_t)out->size;
    return true;
}
