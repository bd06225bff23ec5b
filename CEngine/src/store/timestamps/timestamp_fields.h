/*
 * store/timestamps/timestamp_fields.h -- the option of a collection that has the engine keep when
 * each of its documents was inserted and last saved: the names of the two fields.
 */
#ifndef TANSU_STORE_TIMESTAMPS_TIMESTAMP_FIELDS_H
#define TANSU_STORE_TIMESTAMPS_TIMESTAMP_FIELDS_H

#include "bson/writer.h"

/* Bytes of a field's name, at most. */
#define TIMESTAMP_NAME_MAX 120

/* Immutable once made: snapshots share it. */
typedef struct timestamp_fields {
    char created[TIMESTAMP_NAME_MAX + 1]; /* "": none */
    char updated[TIMESTAMP_NAME_MAX + 1]; /* "": none */
} timestamp_fields;

/* timestamp_fields_parse -- reads the option: true for "createdAt" and "updatedAt", false or null
 * for none (*result is NULL), or {"created": name, "updated": name} with one or both. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status timestamp_fields_parse(const doc_value *option, void **result, tansu_error *error);

/* timestamp_fields_equal -- NULL is none. */
bool timestamp_fields_equal(const void *a, const void *b);

/* timestamp_fields_write -- appends an element "timestamps" with the names; false for NULL. */
void timestamp_fields_write(const void *option, writer *w);

/*
 * timestamp_fields_stamp -- replaces `result` by a document with the date `now` (milliseconds since
 * 1970) in the fields. `old` (NULL: the document is new) is the version that it replaces, whose
 * date of insertion it takes over. With `keeps`, dates that the document has are kept. A field that
 * is there stays where it is, another one comes to the end. False when memory is exhausted.
 */
bool timestamp_fields_stamp(const timestamp_fields *fields, const uint8_t *doc, size_t size,
                            const uint8_t *old, size_t old_size, int64_t now, bool keeps,
                            tansu_buffer *result);

#endif
