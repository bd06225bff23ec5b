/*
 * sqlite/bson.h -- reading the elements of documents, and writing queries.
 *
 * The reader trusts no byte: a page of a document that cannot be read again is zeros (tansu.h).
 */
#ifndef TANSU_SQLITE_BSON_H
#define TANSU_SQLITE_BSON_H

#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The types of BSON that have a value of their own in SQL, or that queries are made of. */
enum {
    SQL_BSON_DOUBLE = 0x01,
    SQL_BSON_STRING = 0x02,
    SQL_BSON_DOCUMENT = 0x03,
    SQL_BSON_ARRAY = 0x04,
    SQL_BSON_BINARY = 0x05,
    SQL_BSON_UNDEFINED = 0x06,
    SQL_BSON_OID = 0x07,
    SQL_BSON_BOOL = 0x08,
    SQL_BSON_DATE = 0x09,
    SQL_BSON_NULL = 0x0A,
    SQL_BSON_SYMBOL = 0x0E,
    SQL_BSON_INT32 = 0x10,
    SQL_BSON_INT64 = 0x12,
    SQL_BSON_DECIMAL = 0x13
};

typedef struct sql_element {
    uint8_t type;
    const char *key; /* NUL-terminated */
    const uint8_t *value;
    size_t size; /* bytes of the value */
} sql_element;

typedef struct sql_reader {
    const uint8_t *at;
    const uint8_t *end;
} sql_reader;

/* sql_reader_of -- reads the elements of a document or an array. Bytes that are none have no
 * element. */
sql_reader sql_reader_of(const void *data, size_t size);

/* sql_next -- the next element; false at the end. */
bool sql_next(sql_reader *reader, sql_element *element);

/* sql_find -- the element at a path of `depth` keys, each of which is NUL-terminated and follows
 * the one before. Leads through documents only, not through arrays. */
bool sql_find(tansu_document document, const char *keys, unsigned depth, sql_element *element);

/* sql_find_key -- the element with a key at the top of a document. */
bool sql_find_key(const void *data, size_t size, const char *key, sql_element *element);

int32_t sql_int32(const uint8_t *bytes);
int64_t sql_int64(const uint8_t *bytes);
double sql_double(const uint8_t *bytes);

/* sql_string -- the text of a string's value, and its size without the NUL. */
const char *sql_string(const sql_element *element, size_t *size);

/* sql_number -- a count of the engine's; 0 if it is no whole number. */
int64_t sql_number(const sql_element *element);

/* A document that is being written. Set it to zero; sql_writer_free() ends it. */
typedef struct sql_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed;    /* memory ran out, or a document became too large: nothing more is written */
    bool too_large; /* the latter */
} sql_writer;

void sql_writer_free(sql_writer *writer);

/* sql_begin -- begins a document (key NULL), or one, or an array, within another. Returns where,
 * for sql_end(). */
size_t sql_begin(sql_writer *writer, uint8_t type, const char *key);
void sql_end(sql_writer *writer, size_t start);

/* sql_write -- an element with the bytes of its value. */
void sql_write(sql_writer *writer, uint8_t type, const char *key, const void *value, size_t size);
void sql_write_double(sql_writer *writer, const char *key, double value);
void sql_write_int64(sql_writer *writer, uint8_t type, const char *key, int64_t value);
void sql_write_string(sql_writer *writer, const char *key, const char *text, size_t size);

#endif
