/*
 * query/writer.c -- see writer.h.
 */
#include "query/writer.h"
#include "base/bytes.h"
#include <stdio.h>

/* put -- appends bytes unless the writer has failed before. */
static void put(writer *w, const void *bytes, size_t size) {
    if (!w->failed && !buffer_append(w->out, bytes, size))
        w->failed = true;
}

/* put_head -- appends an element's type and key. */
static void put_head(writer *w, uint8_t type, const char *key) {
    put(w, &type, 1);
    put(w, key, strlen(key) + 1);
}

/* writer_begin -- leaves room for the size. */
size_t writer_begin(writer *w) {
    size_t start = w->out->size;
    put(w, "\0\0\0\0", 4);
    return start;
}

/* writer_end -- terminates and fills the size in. */
void writer_end(writer *w, size_t start) {
    put(w, "", 1);
    if (!w->failed)
        store_u32(w->out->data + start, (uint32_t)(w->out->size - start));
}

/* writer_open -- an element that is a document or an array. */
size_t writer_open(writer *w, const char *key, uint8_t type) {
    put_head(w, type, key);
    return writer_begin(w);
}

/* writer_value -- any value; a missing one is written as null. */
void writer_value(writer *w, const char *key, const doc_value *value) {
    put_head(w, value->type == DOC_MISSING ? (uint8_t)DOC_NULL : value->type, key);
    if (value->type != DOC_MISSING)
        put(w, value->data, value->size);
}

/* writer_string -- a NUL-terminated text. */
void writer_string(writer *w, const char *key, const char *text) {
    uint8_t size[4];
    store_u32(size, (uint32_t)strlen(text) + 1);
    put_head(w, DOC_STRING, key);
    put(w, size, 4);
    put(w, text, strlen(text) + 1);
}

/* writer_bool -- a bool. */
void writer_bool(writer *w, const char *key, bool value) {
    uint8_t byte = value;
    put_head(w, DOC_BOOL, key);
    put(w, &byte, 1);
}

/* writer_int32 -- an int32. */
void writer_int32(writer *w, const char *key, int32_t value) {
    put_head(w, DOC_INT32, key);
    put(w, &value, 4);
}

/* writer_int64 -- an int64. */
void writer_int64(writer *w, const char *key, int64_t value) {
    put_head(w, DOC_INT64, key);
    put(w, &value, 8);
}

/* writer_double -- a double. */
void writer_double(writer *w, const char *key, double value) {
    put_head(w, DOC_DOUBLE, key);
    put(w, &value, 8);
}

/* writer_index_key -- decimal digits. */
const char *writer_index_key(char text[12], uint32_t index) {
    snprintf(text, 12, "%u", index);
    return text;
}
