/*
 * api/api_collection.c -- creating, dropping, renaming and listing collections.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "rules/delete_rules.h"
#include "store/collection.h"
#include "store/name_check.h"
#include "store/references/reference_list.h"
#include "store/timestamps/timestamp_fields.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* The options of a collection. */
typedef struct collection_options {
    bool local;
    bool compares_local; /* an existing collection must have the same */
    bool compresses;     /* `codec` was given */
    enum codec codec;
    bool refers; /* `references` was given */
    reference_list *references;
    bool stamps; /* `timestamps` was given */
    timestamp_fields *timestamps;
} collection_options;

/* read_option -- one of them. */
static tansu_status read_option(collection_options *o, const doc_iter *iter, tansu_error *error) {
    size_t length;
    if (strcmp(iter->key, "local") == 0) {
        o->compares_local = true;
        return doc_as_bool(&iter->value, &o->local)
                   ? TANSU_OK
                   : error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                               "The collection option \"local\" must be true or false");
    }
    if (strcmp(iter->key, "references") == 0) {
        reference_list_free(o->references);
        o->refers = true;
        return reference_list_parse(&iter->value, &o->references, error);
    }
    if (strcmp(iter->key, "timestamps") == 0) {
        free(o->timestamps);
        o->stamps = true;
        return timestamp_fields_parse(&iter->value, &o->timestamps, error);
    }
    if (strcmp(iter->key, "compression") != 0)
        return error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                         "\"%s\" is not a collection option; there are \"local\", "
                         "\"compression\", \"references\" and \"timestamps\"",
                         iter->key);
    o->compresses = true;
    return iter->value.type == DOC_STRING &&
                   codec_of_name(doc_string(&iter->value, &length), &o->codec)
               ? TANSU_OK
               : error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                           "The collection option \"compression\" must be \"lz4\" or \"none\"");
}

/* read_options -- reads {local: bool, compression: text, references: array, timestamps: document}.
 * The references are the caller's, also after an error. */
static tansu_status read_options(tansu_document options, collection_options *o,
                                 tansu_error *error) {
    *o = (collection_options){.local = false};
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    doc_iter iter;
    for (doc_iter_init(&iter, options.data, options.size);
         status == TANSU_OK && doc_iter_next(&iter);)
        status = read_option(o, &iter, error);
    o->compares_local = o->compares_local || !(o->compresses || o->refers || o->stamps);
    return status;
}

/* ensure -- creates the collection, and sets what can be changed of an existing one. */
static tansu_status ensure(const write_call *w, const char *name, collection_options *o,
                           bool any_options, tansu_error *error) {
    const collection_state *there = snapshot_collection(w->wtxn->next, name);
    tansu_status status = write_txn_collection_ensure(w->wtxn, name, o->local,
                                                      any_options && o->compares_local, error);
    if (status == TANSU_OK && there != NULL &&
        ((o->compresses && there->codec != o->codec) ||
         (o->refers && !reference_list_equal(there->references, o->references)) ||
         (o->stamps && !timestamp_fields_equal(there->timestamps, o->timestamps))))
        status = write_call_check_savepoint(w, error);
    if (status == TANSU_OK && o->compresses)
        status = write_txn_collection_compress(w->wtxn, name, o->codec, error);
    if (status == TANSU_OK && o->refers) {
        reference_list *list = o->references;
        o->references = NULL;
        status = write_txn_collection_refer(w->wtxn, name, list, error);
    }
    if (status != TANSU_OK || !o->stamps)
        return status;
    timestamp_fields *fields = o->timestamps;
    o->timestamps = NULL;
    return write_txn_collection_stamp(w->wtxn, name, fields, error);
}

tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                     tansu_document options, tansu_error *error) {
    collection_options o;
    tansu_status status = read_options(options, &o, error);
    if (status == TANSU_OK)
        status = name_check(name, "collection", error);
    write_call w;
    if (status == TANSU_OK)
        status = write_call_begin(&w, db, txn, error);
    if (status == TANSU_OK)
        status = write_call_end(&w, ensure(&w, name, &o, options.data != NULL, error), error);
    reference_list_free(o.references);
    free(o.timestamps);
    return status;
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
    const deadline time = deadline_begin(w.interrupt, 0);
    if (status == TANSU_OK)
        status = delete_rules_drop(w.wtxn, name, &time, error);
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
    writer w = {.out = result};
    result->size = 0;
    size_t answer = writer_begin(&w), list = writer_open(&w, "collections", DOC_ARRAY);
    const collection_state *state;
    catalog_cursor all = snapshot_from(r.snapshot, NULL);
    for (uint32_t i = 0; (state = snapshot_next(&all)) != NULL; i++) {
        size_t one = writer_open_index(&w, i, DOC_DOCUMENT);
        writer_string(&w, "name", state->name);
        writer_int64(&w, "documents", (int64_t)state->count);
        size_t options = writer_open(&w, "options", DOC_DOCUMENT);
        writer_bool(&w, "local", state->local);
        if (state->codec != CODEC_NONE)
            writer_string(&w, "compression", codec_name(state->codec));
        if (state->references != NULL)
            reference_list_write(state->references, &w);
        if (state->timestamps != NULL)
            timestamp_fields_write(state->timestamps, &w);
        writer_end(&w, options);
        writer_end(&w, one);
    }
    writer_end(&w, list);
    bool done = writer_finish(&w, answer);
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}
