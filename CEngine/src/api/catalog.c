/*
 * api/catalog.c -- collections and indexes.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/collection.h"
#include "query/filter.h"

#include <bson/bson.h>

/* ---- Collections ---- */

/* collection_options -- reads {local: bool}. */
static tansu_status collection_options(const void *options, size_t size, bool *local,
                                       tansu_error *error) {
    *local = false;
    tansu_status status = check_bson(options, size, true, "options", error);
    if (status != TANSU_OK || options == NULL)
        return status;
    doc_iter iter;
    for (doc_iter_init(&iter, options, size); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "local") != 0)
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "'%s' is not a collection option: there is `local`", iter.key);
        if (!doc_as_bool(&iter.value, local))
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "the collection option `local` must be true or false");
    }
    return TANSU_OK;
}

tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                     const void *options, size_t options_size, tansu_error *error) {
    bool local;
    tansu_status status = collection_options(options, options_size, &local, error);
    if (status == TANSU_OK)
        status = name_check(name, "collection", error);
    writing w;
    if (status == TANSU_OK)
        status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = change_collection_ensure(w.change, name, local, options != NULL, error);
    return writing_end(&w, status, error);
}

tansu_status tansu_collection_drop(tansu_db *db, tansu_txn *txn, const char *name,
                                   tansu_error *error) {
    if (name == NULL)
        return misuse("name", error);
    writing w;
    tansu_status status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = writing_for_good(&w, error);
    if (status == TANSU_OK)
        status = change_collection_drop(w.change, name, error);
    return writing_end(&w, status, error);
}

tansu_status tansu_collection_rename(tansu_db *db, tansu_txn *txn, const char *name,
                                     const char *new_name, tansu_error *error) {
    if (name == NULL)
        return misuse("name", error);
    writing w;
    tansu_status status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = writing_for_good(&w, error);
    if (status == TANSU_OK)
        status = change_collection_rename(w.change, name, new_name, error);
    return writing_end(&w, status, error);
}

tansu_status tansu_collection_list(tansu_db *db, tansu_txn *txn, tansu_buffer *result,
                                   tansu_error *error) {
    if (result == NULL)
        return misuse("result", error);
    reading r;
    tansu_status status = reading_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bson_t answer = BSON_INITIALIZER, list, one, options;
    char key[16];
    const char *at;
    bool done = BSON_APPEND_ARRAY_BEGIN(&answer, "collections", &list);
    for (uint32_t i = 0; done && i < r.version->count; i++) {
        const collection_state *state = r.version->collections[i];
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        done = bson_append_document_begin(&list, at, (int)length, &one) &&
               BSON_APPEND_UTF8(&one, "name", state->name) &&
               BSON_APPEND_INT64(&one, "documents", (int64_t)state->count) &&
               BSON_APPEND_DOCUMENT_BEGIN(&one, "options", &options) &&
               BSON_APPEND_BOOL(&options, "local", state->local) &&
               bson_append_document_end(&one, &options) && bson_append_document_end(&list, &one);
    }
    done = done && bson_append_array_end(&answer, &list) &&
           buffer_set(result, bson_get_data(&answer), answer.len);
    bson_destroy(&answer);
    return reading_end(&r, done ? TANSU_OK : error_memory(error), error);
}

/* ---- Indexes ---- */

/* read_definition -- the definition that a call's arguments make. */
static tansu_status read_definition(const char *collection, const char *name, const void *keys,
                                    size_t keys_size, const void *options, size_t options_size,
                                    index_definition **definition, tansu_error *error) {
    tansu_status status = name_check(collection, "collection", error);
    if (status == TANSU_OK)
        status = check_bson(keys, keys_size, false, "keys", error);
    if (status == TANSU_OK)
        status = check_bson(options, options_size, true, "options", error);
    if (status == TANSU_OK && name != NULL && name[0] != 0)
        status = name_check(name, "index", error);
    if (status == TANSU_OK)
        status =
            index_definition_parse(name, keys, keys_size, options, options_size, definition, error);
    if (status != TANSU_OK)
        return status;
    status = index_definition_compile(*definition, &query_filters, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

tansu_status tansu_index_create(tansu_db *db, tansu_txn *txn, const char *collection,
                                const char *name, const void *keys, size_t keys_size,
                                const void *options, size_t options_size, tansu_error *error) {
    if (txn == NULL)
        return tansu_index_build(db, collection, name, keys, keys_size, options, options_size, NULL,
                                 NULL, error);
    index_definition *definition;
    tansu_status status = read_definition(collection, name, keys, keys_size, options, options_size,
                                          &definition, error);
    if (status != TANSU_OK)
        return status;
    writing w;
    status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = writing_for_good(&w, error);
    if (status == TANSU_OK)
        status = change_index_create(w.change, collection, definition, w.interrupt, error);
    else
        index_definition_free(definition);
    return writing_end(&w, status, error);
}

tansu_status tansu_index_build(tansu_db *db, const char *collection, const char *name,
                               const void *keys, size_t keys_size, const void *options,
                               size_t options_size, tansu_build_progress progress, void *context,
                               tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    index_definition *definition;
    tansu_status status = read_definition(collection, name, keys, keys_size, options, options_size,
                                          &definition, error);
    if (status != TANSU_OK)
        return status;
    status = database_enter(db_inner(db), error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = index_build_aside(db_inner(db), collection, definition, progress, context, error);
    database_leave(db_inner(db));
    return status;
}

tansu_status tansu_index_drop(tansu_db *db, tansu_txn *txn, const char *collection,
                              const char *name, tansu_error *error) {
    if (collection == NULL || name == NULL)
        return misuse(name == NULL ? "name" : "collection", error);
    writing w;
    tansu_status status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = writing_for_good(&w, error);
    if (status == TANSU_OK)
        status = change_index_drop(w.change, collection, name, error);
    return writing_end(&w, status, error);
}

/* append_index -- one index of the list. */
static bool append_index(bson_t *list, uint32_t number, const collection_index *index) {
    char key[16];
    const char *at;
    size_t length = bson_uint32_to_string(number, &at, key, sizeof key);
    const index_definition *definition = index->definition;
    bson_t one, keys_view, filter;
    tansu_buffer keys = TANSU_BUFFER_INIT;
    bool done = index_definition_keys(definition, &keys) &&
                bson_init_static(&keys_view, keys.data, keys.size) &&
                bson_append_document_begin(list, at, (int)length, &one) &&
                BSON_APPEND_UTF8(&one, "name", definition->name) &&
                BSON_APPEND_DOCUMENT(&one, "keys", &keys_view) &&
                BSON_APPEND_BOOL(&one, "unique", definition->unique) &&
                (!definition->sparse || BSON_APPEND_BOOL(&one, "sparse", true)) &&
                (!definition->fold || BSON_APPEND_BOOL(&one, "caseInsensitive", true)) &&
                (definition->filter_bson == NULL ||
                 (bson_init_static(&filter, definition->filter_bson, definition->filter_size) &&
                  BSON_APPEND_DOCUMENT(&one, "partialFilter", &filter))) &&
                BSON_APPEND_BOOL(&one, "multikey", index->multikey) &&
                BSON_APPEND_INT64(&one, "entries", (int64_t)index->entries.count) &&
                bson_append_document_end(list, &one);
    tansu_buffer_free(&keys);
    return done;
}

tansu_status tansu_index_list(tansu_db *db, tansu_txn *txn, const char *collection,
                              tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || result == NULL)
        return misuse(result == NULL ? "result" : "collection", error);
    reading r;
    tansu_status status = reading_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const collection_state *state = version_collection(r.version, collection);
    if (state == NULL) {
        status = error_set(error, TANSU_E_NOT_FOUND, collection, "there is no collection '%s'",
                           collection);
        return reading_end(&r, status, error);
    }
    bson_t answer = BSON_INITIALIZER, list;
    bool done = BSON_APPEND_ARRAY_BEGIN(&answer, "indexes", &list);
    for (uint32_t i = 0; done && i < state->index_count; i++)
        done = append_index(&list, i, &state->indexes[i]);
    done = done && bson_append_array_end(&answer, &list) &&
           buffer_set(result, bson_get_data(&answer), answer.len);
    bson_destroy(&answer);
    return reading_end(&r, done ? TANSU_OK : error_memory(error), error);
}
