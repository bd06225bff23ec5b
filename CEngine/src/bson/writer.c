/*
 * bson/writer.c -- appending BSON to a buffer: what is not inline in the header.
 */
#include "bson/writer.h"
#include "util/bytes.h"

bool writer_reserve(writer *w, size_t more) {
    if (w->failed)
        return false;
    if (w->limit != 0 && (w->out->size > w->limit || more > w->limit - w->out->size))
        w->failed = w->over_limit = true;
    else if (!buffer_reserve(w->out, more))
        w->failed = true;
    return !w->failed;
}

void writer_index_head(writer *w, uint8_t type, uint32_t index) {
    char key[10]; /* the digits of a uint32_t, written from the end */
    size_t start = sizeof key;
    do {
        key[--start] = (char)('0' + index % 10);
        index /= 10;
    } while (index != 0);
    writer_head(w, type, key + start, sizeof key - start);
}

void writer_index_value(writer *w, uint32_t index, const doc_value *value) {
    writer_index_head(w, value->type, index);
    writer_bytes(w, value->data, value->size);
}

void writer_index_int64(writer *w, uint32_t index, int64_t value) {
    writer_index_head(w, DOC_INT64, index);
    writer_bytes(w, &value, 8);
}

size_t writer_open(writer *w, const char *key, uint8_t type) {
    writer_head(w, type, key, strlen(key));
    return writer_begin(w);
}

size_t writer_open_index(writer *w, uint32_t index, uint8_t type) {
    writer_index_head(w, type, index);
    return writer_begin(w);
}

void writer_value(writer *w, const char *key, const doc_value *value) {
    if (value->type == DOC_MISSING)
        writer_head(w, DOC_NULL, key, strlen(key));
    else
        writer_element(w, key, strlen(key), value);
}

void writer_string(writer *w, const char *key, const char *text) {
    writer_head(w, DOC_STRING, key, strlen(key));
    size_t start = writer_begin_string(w);
    writer_bytes(w, text, strlen(text));
    writer_end_string(w, start);
}

void writer_bool(writer *w, const char *key, bool value) {
    uint8_t byte = value;
    writer_head(w, DOC_BOOL, key, strlen(key));
    writer_bytes(w, &byte, 1);
}

void writer_int32(writer *w, const char *key, int32_t value) {
    writer_head(w, DOC_INT32, key, strlen(key));
    writer_bytes(w, &value, 4);
}

void writer_int64(writer *w, const char *key, int64_t value) {
    writer_head(w, DOC_INT64, key, strlen(key));
    writer_bytes(w, &value, 8);
}

void writer_double(writer *w, const char *key, double value) {
    writer_head(w, DOC_DOUBLE, key, strlen(key));
    writer_bytes(w, &value, 8);
}

void writer_document(writer *w, const char *key, const uint8_t *doc, size_t size) {
    writer_head(w, DOC_DOCUMENT, key, strlen(key));
    writer_bytes(w, doc, size);
}

void writer_binary(writer *w, const char *key, uint8_t subtype, const void *bytes, size_t size) {
    uint8_t head[5] = {[4] = subtype};
    if (size > INT32_MAX)
        w->failed = true;
    store_u32(head, (uint32_t)size);
    writer_head(w, DOC_BINARY, key, strlen(key));
    writer_bytes(w, head, sizeof head);
    writer_bytes(w, bytes, size);
}

bool writer_single(tansu_buffer *doc, const char *key, const doc_value *value) {
    writer w = {.out = doc};
    doc->size = 0;
    size_t document = writer_begin(&w);
    writer_value(&w, key, value);
    return writer_finish(&w, document);
}

bool writer_keep_id(tansu_buffer *out, tansu_document document, tansu_document other) {
    writer w = {.out = out};
    doc_value id;
    doc_iter iter;
    out->size = 0;
    if (doc_find_id(document.data, document.size, &id) ||
        !doc_find_id(other.data, other.size, &id)) {
        writer_bytes(&w, document.data, document.size);
        return !w.failed;
    }
    size_t start = writer_begin(&w);
    writer_value(&w, "_id", &id);
    for (doc_iter_init(&iter, document.data, document.size); doc_iter_next(&iter);)
        writer_copy(&w, &iter);
    writer_end(&w, start);
    return !w.failed;
}
