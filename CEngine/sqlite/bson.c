/*
 * sqlite/bson.c -- reading the elements of documents, and writing queries.
 */
#include "bson.h"
#include "sqlite_api.h"

#include <string.h>

int32_t sql_int32(const uint8_t *bytes) {
    return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

int64_t sql_int64(const uint8_t *bytes) {
    return (int64_t)((uint64_t)(uint32_t)sql_int32(bytes) | (uint64_t)(uint32_t)sql_int32(bytes + 4)
                                                                << 32);
}

double sql_double(const uint8_t *bytes) {
    int64_t bits = sql_int64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

sql_reader sql_reader_of(const void *data, size_t size) {
    const uint8_t *bytes = data;
    if (!bytes || size < 5 || sql_int32(bytes) < 5 || (size_t)sql_int32(bytes) > size)
        return (sql_reader){NULL, NULL};
    return (sql_reader){bytes + 4, bytes + sql_int32(bytes) - 1};
}

/* value_size -- sets the bytes of a value of which `left` may be read; false if they are not all
 * there, or of no type. */
static bool value_size(uint8_t type, const uint8_t *at, size_t left, size_t *size) {
    size_t fixed = 0, least = 0, counted = 0;
    switch (type) {
    case SQL_BSON_UNDEFINED:
    case SQL_BSON_NULL:
    case 0x7F: /* MaxKey */
    case 0xFF: /* MinKey */ break;
    case SQL_BSON_BOOL: fixed = 1; break;
    case SQL_BSON_INT32: fixed = 4; break;
    case SQL_BSON_DOUBLE:
    case SQL_BSON_DATE:
    case 0x11: /* timestamp */
    case SQL_BSON_INT64: fixed = 8; break;
    case SQL_BSON_OID: fixed = 12; break;
    case SQL_BSON_DECIMAL: fixed = 16; break;
    case SQL_BSON_STRING:
    case 0x0D: /* JavaScript */
    case SQL_BSON_SYMBOL: least = 1, counted = 4; break;
    case SQL_BSON_BINARY: counted = 5; break;
    case 0x0C: /* DBPointer */ least = 1, counted = 16; break;
    case SQL_BSON_DOCUMENT:
    case SQL_BSON_ARRAY:
    case 0x0F: /* JavaScript with scope */ least = 5; break;
    case 0x0B: { /* regular expression: two texts */
        const uint8_t *first = memchr(at, 0, left);
        const uint8_t *second =
            first ? memchr(first + 1, 0, left - (size_t)(first + 1 - at)) : NULL;
        if (!second)
            return false;
        *size = (size_t)(second + 1 - at);
        return true;
    }
    default: return false;
    }
    if (least || counted) {
        if (left < 4 || sql_int32(at) < 0 || (size_t)sql_int32(at) < least)
            return false;
        fixed = (size_t)sql_int32(at) + counted;
    }
    *size = fixed;
    return fixed <= left;
}

bool sql_next(sql_reader *reader, sql_element *element) {
    if (!reader->at || reader->at >= reader->end)
        return false;
    const uint8_t *key = reader->at + 1;
    const uint8_t *end = memchr(key, 0, (size_t)(reader->end - key));
    size_t size;
    if (!end || !value_size(*reader->at, end + 1, (size_t)(reader->end - end - 1), &size)) {
        reader->at = NULL;
        return false;
    }
    *element = (sql_element){*reader->at, (const char *)key, end + 1, size};
    reader->at = end + 1 + size;
    return true;
}

bool sql_find_key(const void *data, size_t size, const char *key, sql_element *element) {
    sql_reader reader = sql_reader_of(data, size);
    while (sql_next(&reader, element))
        if (strcmp(element->key, key) == 0)
            return true;
    return false;
}

bool sql_find(tansu_document document, const char *keys, unsigned depth, sql_element *element) {
    const void *data = document.data;
    size_t size = document.size;
    for (unsigned i = 0; i < depth; i++, keys += strlen(keys) + 1) {
        if (!sql_find_key(data, size, keys, element))
            return false;
        if (i + 1 < depth && element->type != SQL_BSON_DOCUMENT)
            return false;
        data = element->value, size = element->size;
    }
    return depth > 0;
}

const char *sql_string(const sql_element *element, size_t *size) {
    *size = (size_t)sql_int32(element->value) - 1;
    return (const char *)element->value + 4;
}

int64_t sql_number(const sql_element *element) {
    switch (element->type) {
    case SQL_BSON_INT32: return sql_int32(element->value);
    case SQL_BSON_INT64: return sql_int64(element->value);
    default: return 0;
    }
}

void sql_writer_free(sql_writer *writer) {
    sqlite3_free(writer->data);
    *writer = (sql_writer){0};
}

static void append(sql_writer *writer, const void *bytes, size_t size) {
    if (writer->failed || !size)
        return;
    if (size > TANSU_MAX_DOCUMENT_SIZE - writer->size) {
        writer->failed = writer->too_large = true;
        return;
    }
    if (writer->size + size > writer->capacity) {
        size_t capacity = 2 * (writer->size + size) + 128;
        uint8_t *data = sqlite3_realloc64(writer->data, capacity);
        if (!data) {
            writer->failed = true;
            return;
        }
        writer->data = data;
        writer->capacity = capacity;
    }
    memcpy(writer->data + writer->size, bytes, size);
    writer->size += size;
}

static void append_int32(sql_writer *writer, uint32_t value) {
    uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                       (uint8_t)(value >> 24)};
    append(writer, bytes, sizeof bytes);
}

static void append_head(sql_writer *writer, uint8_t type, const char *key) {
    append(writer, &type, 1);
    append(writer, key, strlen(key) + 1);
}

size_t sql_begin(sql_writer *writer, uint8_t type, const char *key) {
    if (key)
        append_head(writer, type, key);
    size_t start = writer->size;
    append_int32(writer, 0);
    return start;
}

void sql_end(sql_writer *writer, size_t start) {
    append(writer, "", 1);
    if (writer->failed)
        return;
    uint32_t size = (uint32_t)(writer->size - start);
    for (unsigned i = 0; i < 4; i++)
        writer->data[start + i] = (uint8_t)(size >> 8 * i);
}

void sql_write(sql_writer *writer, uint8_t type, const char *key, const void *value, size_t size) {
    append_head(writer, type, key);
    append(writer, value, size);
}

void sql_write_int64(sql_writer *writer, uint8_t type, const char *key, int64_t value) {
    append_head(writer, type, key);
    append_int32(writer, (uint32_t)value);
    append_int32(writer, (uint32_t)((uint64_t)value >> 32));
}

void sql_write_double(sql_writer *writer, const char *key, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sql_write_int64(writer, SQL_BSON_DOUBLE, key, bits);
}

void sql_write_string(sql_writer *writer, const char *key, const char *text, size_t size) {
    append_head(writer, SQL_BSON_STRING, key);
    append_int32(writer, (uint32_t)size + 1);
    append(writer, text, size);
    append(writer, "", 1);
}
