/*
 * query/schema/schema_value.c -- types, keys and texts of values.
 */
#include "bson/json/json.h"
#include "bson/value.h"
#include "query/schema/schema_internal.h"
#include "util/buffer.h"

#include <math.h>
#include <stdlib.h>

/* ---- Types ---- */

enum { JSON_TYPE = 1, BSON_TYPE = 2, BOTH = 3 };
enum { TYPE_NUMBER = 0xE0, TYPE_INTEGER = 0xE1 }; /* of several type bytes */

/* The names, sorted. */
static const struct {
    const char *name;
    uint8_t type;
    uint8_t where;
} types[] = {
    {"array", DOC_ARRAY, BOTH},
    {"binData", DOC_BINARY, BSON_TYPE},
    {"bool", DOC_BOOL, BSON_TYPE},
    {"boolean", DOC_BOOL, JSON_TYPE},
    {"date", DOC_DATE, BSON_TYPE},
    {"dbPointer", DOC_DBPOINTER, BSON_TYPE},
    {"decimal", DOC_DECIMAL128, BSON_TYPE},
    {"double", DOC_DOUBLE, BSON_TYPE},
    {"int", DOC_INT32, BSON_TYPE},
    {"integer", TYPE_INTEGER, JSON_TYPE},
    {"javascript", DOC_CODE, BSON_TYPE},
    {"javascriptWithScope", DOC_CODE_SCOPE, BSON_TYPE},
    {"long", DOC_INT64, BSON_TYPE},
    {"maxKey", DOC_MAX_KEY, BSON_TYPE},
    {"minKey", DOC_MIN_KEY, BSON_TYPE},
    {"null", DOC_NULL, BOTH},
    {"number", TYPE_NUMBER, BOTH},
    {"object", DOC_DOCUMENT, BOTH},
    {"objectId", DOC_OID, BSON_TYPE},
    {"regex", DOC_REGEX, BSON_TYPE},
    {"string", DOC_STRING, BOTH},
    {"symbol", DOC_SYMBOL, BSON_TYPE},
    {"timestamp", DOC_TIMESTAMP, BSON_TYPE},
    {"undefined", DOC_UNDEFINED, BSON_TYPE},
};
#define TYPES (sizeof types / sizeof types[0])

uint32_t schema_type_find(const char *name, size_t size, bool bson) {
    for (size_t i = 0; i < TYPES; i++)
        if ((types[i].where & (bson ? BSON_TYPE : JSON_TYPE)) && strlen(types[i].name) == size &&
            memcmp(types[i].name, name, size) == 0)
            return (uint32_t)1 << i;
    return 0;
}

const char *schema_type_names(bool bson) {
    return bson ? "array, binData, bool, date, dbPointer, decimal, double, int, javascript, "
                  "javascriptWithScope, long, maxKey, minKey, null, number, object, objectId, "
                  "regex, string, symbol, timestamp, undefined"
                : "array, boolean, integer, null, number, object, string";
}

const char *schema_type_of(const doc_value *value) {
    for (size_t i = 0; i < TYPES; i++)
        if ((types[i].where & BSON_TYPE) && types[i].type == value->type)
            return types[i].name;
    return "missing";
}

/* is_integer -- whether a number is whole; beyond int64 only doubles are seen to be. */
static bool is_integer(const doc_value *value) {
    int64_t whole;
    if (value->type != DOC_DOUBLE)
        return doc_is_number(value) && doc_as_int64(value, &whole);
    double number = doc_double(value);
    return isfinite(number) && floor(number) == number;
}

bool schema_type_has(uint32_t set, const doc_value *value) {
    for (size_t i = 0; i < TYPES; i++) {
        if (!(set & (uint32_t)1 << i))
            continue;
        if (types[i].type == value->type ||
            (types[i].type == TYPE_NUMBER && doc_is_number(value)) ||
            (types[i].type == TYPE_INTEGER && is_integer(value)))
            return true;
    }
    return false;
}

/* ---- Keys ---- */

/* compare_elements -- by key, then by position. */
static int compare_elements(const void *left, const void *right) {
    const doc_iter *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : a->next < b->next ? -1 : a->next > b->next;
}

static bool write_sorted(writer *w, const doc_value *value);

/* write_fields -- the elements of a document, sorted. */
static bool write_fields(writer *w, const doc_value *value) {
    doc_iter iter;
    size_t count = 0, at = 0;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);)
        count++;
    doc_iter *elements = malloc((count + 1) * sizeof *elements);
    if (!elements)
        return false;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);)
        elements[at++] = iter;
    qsort(elements, count, sizeof *elements, compare_elements);
    bool written = true;
    for (size_t i = 0; written && i < count; i++) {
        writer_head(w, elements[i].value.type, elements[i].key, elements[i].key_size);
        written = write_sorted(w, &elements[i].value);
    }
    free(elements);
    return written;
}

/* write_elements -- those of an array, in their order. */
static bool write_elements(writer *w, const doc_value *value) {
    doc_iter iter;
    bool written = true;
    for (doc_iter_value(&iter, value); written && doc_iter_next(&iter);) {
        writer_head(w, iter.value.type, iter.key, iter.key_size);
        written = write_sorted(w, &iter.value);
    }
    return written;
}

/* write_sorted -- a value whose documents have their fields sorted. */
static bool write_sorted(writer *w, const doc_value *value) {
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) {
        writer_bytes(w, value->data, value->size);
        return !w->failed;
    }
    size_t start = writer_begin(w);
    if (!(value->type == DOC_ARRAY ? write_elements(w, value) : write_fields(w, value)))
        return false;
    writer_end(w, start);
    return !w->failed;
}

bool schema_value_key(tansu_buffer *key, const doc_value *value) {
    key->size = 0;
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return value_key(key, value, false);
    tansu_buffer sorted = TANSU_BUFFER_INIT;
    writer w = {.out = &sorted};
    bool done = write_sorted(&w, value);
    if (done) {
        doc_value copy = {sorted.data, (uint32_t)sorted.size, value->type};
        done = value_key(key, &copy, false);
    }
    buffer_free(&sorted);
    return done;
}

/* ---- Texts ---- */

bool schema_value_text(tansu_buffer *text, const doc_value *value, size_t most) {
    size_t start = text->size;
    if (!json_write_value(text, value, false))
        return false;
    if (text->size - start <= most)
        return true;
    text->size = start + most;
    while (text->size > start && (text->data[text->size] & 0xC0) == 0x80)
        text->size--;
    return buffer_append(text, "…", strlen("…"));
}
