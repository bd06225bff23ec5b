/*
 * bson_writer.h -- writes small BSON documents into a fixed buffer. Uses nothing but the C
 * library, so that the benchmark's inputs owe nothing to the engines under test.
 */
#ifndef BSON_WRITER_H
#define BSON_WRITER_H

#include <stddef.h>
#include <stdint.h>

#define BSON_WRITER_SIZE 1024
#define BSON_WRITER_DEPTH 8

/* `overflow` is set when anything did not fit; the document is then unusable. */
struct bson_writer {
    uint8_t data[BSON_WRITER_SIZE];
    size_t size;
    size_t starts[BSON_WRITER_DEPTH];
    size_t depth;
    int overflow;
};

void bson_writer_begin(struct bson_writer *writer);
void bson_writer_int32(struct bson_writer *writer, const char *key, int32_t value);
void bson_writer_int64(struct bson_writer *writer, const char *key, int64_t value);
void bson_writer_text(struct bson_writer *writer, const char *key, const char *value);
void bson_writer_open_document(struct bson_writer *writer, const char *key);
void bson_writer_open_array(struct bson_writer *writer, const char *key);
void bson_writer_close(struct bson_writer *writer); /* the innermost; also the document itself */

#endif
