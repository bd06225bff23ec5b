/*
 * query/writer.h -- appending elements of a BSON document to a buffer (counts and plans). Part
 * query; may call base.
 *
 * A writer that ran out of memory stays so: the caller looks once, at the end.
 */
#ifndef TANSU_QUERY_WRITER_H
#define TANSU_QUERY_WRITER_H

#include "base/buffer.h"
#include "base/doc.h"

typedef struct writer {
    tansu_buffer *out;
    bool failed; /* memory was exhausted */
} writer;

/* writer_begin -- opens a document; returns where it starts, for writer_end(). */
size_t writer_begin(writer *w);
/* writer_end -- closes the document that writer_begin() or writer_open() returned. */
void writer_end(writer *w, size_t start);
/* writer_open -- appends an element of type DOC_DOCUMENT or DOC_ARRAY and opens it. */
size_t writer_open(writer *w, const char *key, uint8_t type);

void writer_value(writer *w, const char *key, const doc_value *value);
void writer_string(writer *w, const char *key, const char *text);
void writer_bool(writer *w, const char *key, bool value);
void writer_int32(writer *w, const char *key, int32_t value);
void writer_int64(writer *w, const char *key, int64_t value);
void writer_double(writer *w, const char *key, double value);

/* writer_index_key -- the text of an array index; `text` holds it. */
const char *writer_index_key(char text[12], uint32_t index);

#endif
