/*
 * bson/writer.h -- appending BSON to a buffer.
 *
 *     writer w = {.out = &buffer};
 *     size_t document = writer_begin(&w);
 *     writer_int64(&w, "count", 7);
 *     size_t list = writer_open(&w, "list", DOC_ARRAY);
 *     writer_index_value(&w, 0, &value);
 *     writer_end(&w, list);
 *     writer_end(&w, document);
 *     if (w.failed)
 *         return error_memory(error);
 *
 * After a failure a writer appends nothing more, so it is enough to check `failed` at the end. The
 * content of the buffer is then undefined.
 */
#ifndef TANSU_BSON_WRITER_H
#define TANSU_BSON_WRITER_H

#include "bson/document.h"
#include "util/buffer.h"

typedef struct writer {
    tansu_buffer *out;
    size_t limit;    /* bytes that the buffer may have; 0: no limit */
    bool failed;     /* memory is exhausted, or the limit exceeded: */
    bool over_limit; /* it was the limit */
} writer;

/* writer_reserve -- ensures capacity for `more` bytes. False when the writer fails. */
bool writer_reserve(writer *w, size_t more);

/* writer_fits -- the same; inline where the capacity suffices. */
static inline bool writer_fits(writer *w, size_t more) {
    return (w->limit == 0 && !w->failed && w->out->capacity - w->out->size >= more) ||
           writer_reserve(w, more);
}

/* writer_bytes -- appends bytes as they are. */
static inline void writer_bytes(writer *w, const void *bytes, size_t size) {
    if (!writer_fits(w, size))
        return;
    if (size != 0)
        memcpy(w->out->data + w->out->size, bytes, size);
    w->out->size += size;
}

/* writer_head -- appends the type and the key of an element, whose value must follow. The key needs
 * no terminating NUL. */
static inline void writer_head(writer *w, uint8_t type, const char *key, size_t key_size) {
    if (!writer_fits(w, key_size + 2))
        return;
    uint8_t *to = w->out->data + w->out->size;
    *to++ = type;
    memcpy(to, key, key_size);
    to[key_size] = 0;
    w->out->size += key_size + 2;
}

/* writer_begin -- begins a document or an array. Returns its position, for writer_end(). */
static inline size_t writer_begin(writer *w) {
    size_t start = w->out->size;
    writer_bytes(w, "\0\0\0", 4);
    return start;
}

/* writer_end -- ends the document or array that begins at `start`. */
static inline void writer_end(writer *w, size_t start) {
    writer_bytes(w, "", 1);
    if (!w->failed)
        store_u32(w->out->data + start, (uint32_t)(w->out->size - start));
}

/* writer_finish -- ends the document that the caller wanted, which begins at `start`. False when
 * the writer failed: the buffer is then as it was before. */
static inline bool writer_finish(writer *w, size_t start) {
    writer_end(w, start);
    if (w->failed)
        w->out->size = start;
    return !w->failed;
}

/* writer_begin_string -- begins the value of a string, whose bytes follow. Returns its position. */
static inline size_t writer_begin_string(writer *w) {
    return writer_begin(w);
}

/* writer_end_string -- ends the value of a string. */
static inline void writer_end_string(writer *w, size_t start) {
    writer_bytes(w, "", 1);
    if (!w->failed)
        store_u32(w->out->data + start, (uint32_t)(w->out->size - start - 4));
}

/* writer_element -- an element with any value. */
static inline void writer_element(writer *w, const char *key, size_t key_size,
                                  const doc_value *value) {
    writer_head(w, value->type, key, key_size);
    writer_bytes(w, value->data, value->size);
}

/* writer_copy -- copies the element that an iterator is at. Its type, key and value are
 * contiguous. */
static inline void writer_copy(writer *w, const doc_iter *iter) {
    const uint8_t *from = (const uint8_t *)iter->key - 1;
    writer_bytes(w, from, (size_t)(iter->value.data + iter->value.size - from));
}

/* writer_index_head -- writer_head() of an array element. */
void writer_index_head(writer *w, uint8_t type, uint32_t index);

/* writer_index_value -- an array element with any value. */
void writer_index_value(writer *w, uint32_t index, const doc_value *value);

/* writer_index_int64 -- an array element with a whole number. */
void writer_index_int64(writer *w, uint32_t index, int64_t value);

/* writer_open -- begins an element of type DOC_DOCUMENT or DOC_ARRAY. Returns the position of its
 * value. */
size_t writer_open(writer *w, const char *key, uint8_t type);

/* writer_open_index -- the same for an array element. */
size_t writer_open_index(writer *w, uint32_t index, uint8_t type);

/* Elements with NUL-terminated keys. writer_value() writes DOC_MISSING as null. */
void writer_value(writer *w, const char *key, const doc_value *value);
void writer_string(writer *w, const char *key, const char *text);
void writer_bool(writer *w, const char *key, bool value);
void writer_int32(writer *w, const char *key, int32_t value);
void writer_int64(writer *w, const char *key, int64_t value);
void writer_double(writer *w, const char *key, double value);
void writer_document(writer *w, const char *key, const uint8_t *doc, size_t size);
void writer_binary(writer *w, const char *key, uint8_t subtype, const void *bytes, size_t size);

/* writer_keep_id -- replaces `out` by a document, with the `_id` of another one before its fields if it
 * has none and that one does. False when memory is exhausted. */
bool writer_keep_id(tansu_buffer *out, tansu_document document, tansu_document other);

/* writer_single -- replaces the content of a buffer by the document {key: value}; false when memory
 * is exhausted. */
bool writer_single(tansu_buffer *doc, const char *key, const doc_value *value);

#endif
