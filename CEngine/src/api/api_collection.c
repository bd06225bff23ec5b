/*
 * api/api_collection.c -- creating, dropping, renaming and listing collections.
 */
#include "api/handles.h"
#include "store/collection.h"
#include "store/name_check.h"
#include "util/buffer.h"
#include "util/error.h"

#include <bson/bson.h>

/* collection_options -- reads {local: bool}. */
static tansu_status collection_options(tansu_document options, bool *local, tansu_error *error) {
    *local = false;
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    doc_iter iter;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "local") != 0)
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "\"%s\" is not a collection option; the only one is \"local\"",
                             iter.key);
        if (!doc_as_bool(&iter.value, local))
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "The collection option \"local\" must be true or false");
    }
    return TANSU_OK;
}

tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                     tansu_document options, tansu_error *error) {
    bool local;
    tansu_status status = collection_options(options, &local, error);
    if (status == TANSU_OK)
        status = name_check(name, "collection", error);
    write_call w;
    if (status == TANSU_OK)
        status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_collection_ensure(w.wtxn, name, local, options.data != NULL, error);
    return write_call_end(&w, status, error);
}

tansu_status tansu_collection_drop(tansu_db *db, tansu_txn *txn, const char *name,
                                   tansu_error *error) {
    if (name == NULL)
        return null_argument("name", error);
    write_call w;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = write_call_check_savepoint(&w, error);
    if (status == TANSU_OK)
        status = write_txn_collection_drop(w.wtxn, name, error);
    return write_call_end(&w, status, error);
}

tansu_status tansu_collection_rename(tansu_db *db, tansu_txn *txn, const char *name,
                                     const char *new_name, tansu_error *error) {
    if (name == NULL)
        return null_argument("name", error);
    write_call w;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = write_call_check_savepoint(&w, error);
    if (status == TANSU_OK)
        status = write_txn_collection_rename(w.wtxn, name, new_name, error);
    return write_call_end(&w, status, error);
}

tansu_status tansu_collection_list(tansu_db *db, tansu_txn *txn, tansu_buffer *result,
                                   tansu_error *error) {
    if (result == NULL)
        return null_argument("result", error);
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bson_t answer = BSON_INITIALIZER, list, one, options;
    char key[16];
    const char *at;
    bool done = BSON_APPEND_ARRAY_BEGIN(&answer, "collections", &list);
    for (uint32_t i = 0; done && i < r.snapshot->count; i++) {
        const collection_state *state = r.snapshot->collections[i];
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
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}
