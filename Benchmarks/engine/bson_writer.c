#include "bson_writer.h"

#include <string.h>

/* bson_put -- appends bytes, or marks the writer as overflown. */
static void bson_put(struct bson_writer *writer, const void *bytes, size_t size) {
    if (size > BSON_WRITER_SIZE - writer->size) {
        writer->overflow = 1;
        return;
    }
    memcpy(writer->data + writer->size, bytes, size);
    writer->size += size;
}

/* bson_put_number -- appends the low `size` bytes of a number, little-endian. */
static void bson_put_number(struct bson_writer *writer, uint64_t value, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    bson_put(writer, bytes, size);
}

/* bson_put_head -- appends an element's type and key. */
static void bson_put_head(struct bson_writer *writer, uint8_t type, const char *key) {
    bson_put(writer, &type, 1);
    bson_put(writer, key, strlen(key) + 1);
}

/* bson_open -- keeps where a document begins, and reserves its length. */
static void bson_open(struct bson_writer *writer) {
    if (writer->depth == BSON_WRITER_DEPTH) {
        writer->overflow = 1;
        return;
    }
    writer->starts[writer->depth++] = writer->size;
    bson_put_number(writer, 0, 4);
}

/* bson_writer_begin -- starts a new document in the writer. */
void bson_writer_begin(struct bson_writer *writer) {
    writer->size = 0;
    writer->depth = 0;
    writer->overflow = 0;
    bson_open(writer);
}

/* bson_writer_int32 -- appends an int32. */
void bson_writer_int32(struct bson_writer *writer, const char *key, int32_t value) {
    bson_put_head(writer, 0x10, key);
    bson_put_number(writer, (uint32_t)value, 4);
}

/* bson_writer_int64 -- appends an int64. */
void bson_writer_int64(struct bson_writer *writer, const char *key, int64_t value) {
    bson_put_head(writer, 0x12, key);
    bson_put_number(writer, (uint64_t)value, 8);
}

/* bson_writer_text -- appends a UTF-8 string. */
void bson_writer_text(struct bson_writer *writer, const char *key, const char *value) {
    size_t size = strlen(value) + 1;
    bson_put_head(writer, 0x02, key);
    bson_put_number(writer, size, 4);
    bson_put(writer, value, size);
}

/* bson_writer_open_document -- starts a document inside the document. */
void bson_writer_open_document(struct bson_writer *writer, const char *key) {
    bson_put_head(writer, 0x03, key);
    bson_open(writer);
}

/* bson_writer_open_array -- starts an array; its elements' keys are "0", "1" and so on. */
void bson_writer_open_array(struct bson_writer *writer, const char *key) {
    bson_put_head(writer, 0x04, key);
    bson_open(writer);
}

/* bson_writer_close -- ends the innermost open document or array. */
void bson_writer_close(struct bson_writer *writer) {
    uint8_t end = 0;
    if (writer->depth == 0) {
        writer->overflow = 1;
        return;
    }
    bson_put(writer, &end, 1);
    size_t start = writer->starts[--writer->depth];
    size_t size = writer->size - start;
    for (size_t i = 0; i < 4 && !writer->overflow; i++)
        writer->data[start + i] = (uint8_t)(size >> (8 * i));
}
