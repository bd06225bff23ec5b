/*
 * api/load/load_control.c -- the control lines of a dump.
 */
#include "api/load/load.h"
#include "store/collection.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <string.h>

/* invalid -- the error for an invalid control line. */
static tansu_status invalid(const load *l, const char *what, tansu_error *error) {
    return load_at(l->lines.number, error_set(error, TANSU_E_INVALID_JSON, NULL, "%s", what),
                   error);
}

/* number_of -- a whole number of a control line; false without one. */
static bool number_of(const doc_value *body, const char *key, uint64_t *result) {
    doc_value value;
    int64_t number;
    if (!doc_find(body->data, body->size, key, strlen(key), &value) ||
        !doc_as_int64(&value, &number) || number < 0)
        return false;
    *result = (uint64_t)number;
    return true;
}

/* member -- a member of that type; false without one. */
static bool member(const doc_value *body, const char *key, uint8_t type, doc_value *value) {
    return doc_find(body->data, body->size, key, strlen(key), value) && value->type == type;
}

/* name_of -- a member that is a name; NULL without one. */
static const char *name_of(const doc_value *body) {
    doc_value value;
    size_t size;
    if (!member(body, "name", DOC_STRING, &value))
        return NULL;
    const char *text = doc_string(&value, &size);
    return strlen(text) == size && size <= TANSU_MAX_NAME ? text : NULL;
}

/* read_header -- the first line of a dump. */
static tansu_status read_header(load *l, const doc_value *body, tansu_error *error) {
    uint64_t format;
    if (l->dump || l->all_seen != 0 || l->seen != 0)
        return invalid(l, "The first line of a dump is in the middle", error);
    if (!number_of(body, "format", &format) || format == 0)
        return invalid(l, "The first line of the dump has no format", error);
    if (format != DUMP_FORMAT)
        return load_at(l->lines.number,
                       error_set(error, TANSU_E_VERSION, NULL,
                                 "The dump is of format %llu and this library reads format %d; use "
                                 "the version of the library that wrote it",
                                 (unsigned long long)format, DUMP_FORMAT),
                       error);
    l->dump = true;
    l->collection[0] = 0;
    return TANSU_OK;
}

/* make_index -- one index of the collection that has been loaded. */
static tansu_status make_index(load *l, const doc_value *index, tansu_error *error) {
    doc_value keys, options;
    const char *name = index->type == DOC_DOCUMENT ? name_of(index) : NULL;
    if (name == NULL || !member(index, "keys", DOC_DOCUMENT, &keys) ||
        !member(index, "options", DOC_DOCUMENT, &options))
        return load_at(
            l->collection_line,
            error_set(error, TANSU_E_INVALID_JSON, NULL,
                      "An index is not {\"name\": ..., \"keys\": {...}, \"options\": {...}}"),
            error);
    tansu_status status =
        tansu_index_create(l->db, l->txn, l->collection, name, value_document(&keys),
                           value_document(&options), NULL, NULL, error);
    if (status == TANSU_OK)
        l->indexes_made++;
    return load_at(l->collection_line, status, error);
}

tansu_status load_end_collection(load *l, tansu_error *error) {
    tansu_status status = load_save(l, error);
    if (status == TANSU_OK && l->dump && l->seen != l->expected)
        status = load_at(
            l->collection_line,
            error_set(error, TANSU_E_INVALID_JSON, l->collection,
                      "Collection \"%s\" should have %llu documents, and %llu were read; "
                      "lines are missing or too many",
                      l->collection, (unsigned long long)l->expected, (unsigned long long)l->seen),
            error);
    doc_iter iter;
    if (status == TANSU_OK && l->indexes.size != 0)
        for (doc_iter_init(&iter, l->indexes.data, l->indexes.size);
             status == TANSU_OK && doc_iter_next(&iter);)
            status = make_index(l, &iter.value, error);
    l->indexes.size = 0;
    l->all_seen += l->seen;
    l->seen = l->expected = 0;
    return status;
}

/* count_elements -- of an array. */
static uint64_t count_elements(const doc_value *array) {
    uint64_t count = 0;
    doc_iter iter;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);)
        count++;
    return count;
}

/* read_collection -- the line before a collection's documents. */
static tansu_status read_collection(load *l, const doc_value *body, tansu_error *error) {
    doc_value options, indexes;
    const char *name = name_of(body);
    uint64_t documents;
    tansu_status status = load_end_collection(l, error);
    if (status != TANSU_OK)
        return status;
    if (name == NULL || !member(body, "options", DOC_DOCUMENT, &options) ||
        !member(body, "indexes", DOC_ARRAY, &indexes) || !number_of(body, "documents", &documents))
        return invalid(l,
                       "The line of a collection needs \"name\", \"options\", \"documents\" and "
                       "\"indexes\" of the right types",
                       error);
    status = tansu_collection_ensure(l->db, l->txn, name, value_document(&options), error);
    if (status != TANSU_OK)
        return load_at(l->lines.number, status, error);
    if (!buffer_set(&l->indexes, indexes.data, indexes.size))
        return error_memory(error);
    snprintf(l->collection, sizeof l->collection, "%s", name);
    l->collection_line = l->lines.number;
    l->expected = documents;
    l->all_indexes += count_elements(&indexes);
    l->collections++;
    return TANSU_OK;
}

/* read_end -- the last line of a dump. */
static tansu_status read_end(load *l, const doc_value *body, tansu_error *error) {
    uint64_t collections, documents, indexes;
    tansu_status status = load_end_collection(l, error);
    if (status != TANSU_OK)
        return status;
    if (!number_of(body, "collections", &collections) ||
        !number_of(body, "documents", &documents) || !number_of(body, "indexes", &indexes) ||
        collections != l->collections || documents != l->all_seen || indexes != l->all_indexes)
        return invalid(l, "The totals in the last line of the dump do not match the lines before",
                       error);
    l->ended = true;
    return TANSU_OK;
}

tansu_status load_control(load *l, const doc_iter *first, tansu_error *error) {
    const char *key = first->key;
    bool header = strcmp(key, DUMP_HEADER) == 0;
    if (!header && strcmp(key, DUMP_COLLECTION) != 0 && strcmp(key, DUMP_END) != 0)
        return invalid(l, "A line begins with a key that neither documents nor dumps have", error);
    if (first->next != first->end || first->value.type != DOC_DOCUMENT)
        return invalid(l, "A control line of a dump must have one member, an object", error);
    if (header)
        return read_header(l, &first->value, error);
    if (!l->dump)
        return invalid(l, "The first line of the dump is missing", error);
    return strcmp(key, DUMP_END) == 0 ? read_end(l, &first->value, error)
                                      : read_collection(l, &first->value, error);
}
