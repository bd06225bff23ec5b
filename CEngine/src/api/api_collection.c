/*
 * api/api_collection.c -- creating, dropping, renaming and describing collections.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "rules/rules.h"
#include "store/collection.h"
#include "store/collection_options.h"
#include "store/references/reference_list.h"
#include "store/validators/validator.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>

/* The options of a collection. */
typedef struct collection_options_read {
    bool local;
    bool compares_local; /* an existing collection must have the same */
    bool compresses;     /* `codec` was given */
    enum codec codec;
    enum { NO_ACTION, ACTION_ERROR, ACTION_WARN } action; /* of a violated validator */
    bool sets[OPTION_COUNT];                              /* which others were given */
    void *options[OPTION_COUNT];
} collection_options_read;

/* free_option -- frees one that was read. */
static void free_option(collection_options_read *o, int number) {
    collection_options[number].free(NULL, o->options[number]);
    o->options[number] = NULL;
}

/* read_action -- MongoDB's "validationAction". */
static tansu_status read_action(collection_options_read *o, const doc_iter *iter,
                                tansu_error *error) {
    size_t length;
    const char *name = iter->value.type == DOC_STRING ? doc_string(&iter->value, &length) : "";
    o->action = strcmp(name, "error") == 0  ? ACTION_ERROR
                : strcmp(name, "warn") == 0 ? ACTION_WARN
                                            : NO_ACTION;
    return o->action != NO_ACTION
               ? TANSU_OK
               : error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                           "The option \"validationAction\" must be \"error\" or \"warn\"");
}

/* apply_action -- makes the action a level. */
static tansu_status apply_action(collection_options_read *o, tansu_error *error) {
    bool given = o->sets[OPTION_VALIDATION];
    validation_level level = validation_level_of(o->options[OPTION_VALIDATION]);
    if (o->action == NO_ACTION || (given && level == VALIDATION_OFF))
        return TANSU_OK;
    o->sets[OPTION_VALIDATION] = true;
    if (o->action == ACTION_ERROR)
        return level != VALIDATION_WARN
                   ? TANSU_OK
                   : error_set(error, TANSU_E_INVALID_QUERY, "validationAction",
                               "The options \"validationLevel\": \"warn\" and "
                               "\"validationAction\": \"error\" contradict each other");
    free_option(o, OPTION_VALIDATION);
    return validation_new(VALIDATION_WARN, &o->options[OPTION_VALIDATION], error);
}

/* read_option -- one of them. */
static tansu_status read_option(collection_options_read *o, const doc_iter *iter,
                                tansu_error *error) {
    size_t length;
    if (strcmp(iter->key, "local") == 0) {
        o->compares_local = true;
        return doc_as_bool(&iter->value, &o->local)
                   ? TANSU_OK
                   : error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                               "The collection option \"local\" must be true or false");
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(iter->key, collection_options[i].name) != 0)
            continue;
        o->sets[i] = true;
        return collection_options[i].parse(&iter->value, &o->options[i], error);
    }
    if (strcmp(iter->key, "validationAction") == 0)
        return read_action(o, iter, error);
    if (strcmp(iter->key, "compression") != 0)
        return error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                         "\"%s\" is not a collection option; there are \"local\", "
                         "\"compression\", \"references\", \"timestamps\", \"changeTracking\", "
                         "\"validator\", \"validationLevel\" and \"validationAction\"",
                         iter->key);
    o->compresses = true;
    return iter->value.type == DOC_STRING &&
                   codec_of_name(doc_string(&iter->value, &length), &o->codec)
               ? TANSU_OK
               : error_set(error, TANSU_E_INVALID_QUERY, iter->key,
                           "The collection option \"compression\" must be \"lz4\" or \"none\"");
}

/* check_once -- errors: INVALID_QUERY (an option is given twice). */
static tansu_status check_once(tansu_document options, const doc_iter *at, tansu_error *error) {
    return doc_has_before(options.data, options.size, at)
               ? error_set(error, TANSU_E_INVALID_QUERY, at->key,
                           "The collection option \"%s\" is given twice; remove one of them",
                           at->key)
               : TANSU_OK;
}

/* read_options -- reads {local: bool, compression: text, references: array, ...}. The objects are the
 * caller's, also after an error. */
static tansu_status read_options(tansu_document options, collection_options_read *o,
                                 tansu_error *error) {
    *o = (collection_options_read){.local = false};
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    doc_iter iter;
    for (doc_iter_init(&iter, options.data, options.size);
         status == TANSU_OK && doc_iter_next(&iter);) {
        status = check_once(options, &iter, error);
        if (status == TANSU_OK)
            status = read_option(o, &iter, error);
    }
    if (status == TANSU_OK)
        status = apply_action(o, error);
    bool others = o->compresses;
    for (int i = 0; i < OPTION_COUNT; i++)
        others = others || o->sets[i];
    o->compares_local = o->compares_local || !others;
    return status;
}

/* changes -- whether the options are others than those of a collection. */
static bool changes(const collection_options_read *o, const collection_state *there) {
    bool differs = o->compresses && there->codec != o->codec;
    for (int i = 0; i < OPTION_COUNT && !differs; i++)
        differs = o->sets[i] && !collection_options[i].equal(there->options[i], o->options[i]);
    return differs;
}

/* check_documents -- whether the documents of a collection satisfy a validator. */
static tansu_status check_documents(const write_call *w, const collection_state *state,
                                    const validator *v, tansu_error *error) {
    read_context rctx = write_call_read_context(w);
    table_scan scan;
    uint64_t rid;
    doc_ref ref;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status;
    table_scan_init(&scan, &rctx, state);
    while ((status = table_scan_next(&scan, &rid, &ref, &doc, &size, error)) == TANSU_OK) {
        status = write_call_check(w, error);
        if (status == TANSU_OK)
            status = validator_check(v, w->wtxn->db->hooks, state->name, doc, size, error);
        if (status == TANSU_E_INVALID_DOCUMENT)
            return name_document(doc, size, "; fix it first", status, error);
        if (status != TANSU_OK)
            return status;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* check_validator -- before it or its level is set: whether it is a schema or a query and, where it
 * is to be strict, whether all documents satisfy it. */
static tansu_status check_validator(const write_call *w, const char *name,
                                    const collection_options_read *o, tansu_error *error) {
    const collection_state *state = snapshot_collection(w->wtxn->next, name); /* it is there */
    const validator *v =
        o->sets[OPTION_VALIDATOR] ? o->options[OPTION_VALIDATOR] : state->validator;
    const validation *level =
        o->sets[OPTION_VALIDATION] ? o->options[OPTION_VALIDATION] : state->validation;
    if (v == NULL ||
        (validator_equal(state->validator, v) && validation_equal(state->validation, level)))
        return TANSU_OK;
    tansu_status status = validator_prepare(v, w->wtxn->db->hooks, error);
    return status == TANSU_OK && validation_level_of(level) == VALIDATION_STRICT
               ? check_documents(w, state, v, error)
               : status;
}

/* ensure -- creates the collection, and sets what can be changed of an existing one. */
static tansu_status ensure(const write_call *w, const char *name, collection_options_read *o,
                           bool any_options, tansu_error *error) {
    const collection_state *there = snapshot_collection(w->wtxn->next, name);
    tansu_status status = write_txn_collection_ensure(w->wtxn, name, o->local,
                                                      any_options && o->compares_local, error);
    if (status == TANSU_OK && there != NULL && changes(o, there))
        status = write_call_check_savepoint(w, error);
    if (status == TANSU_OK && o->compresses)
        status = write_txn_collection_compress(w->wtxn, name, o->codec, error);
    if (status == TANSU_OK)
        status = check_validator(w, name, o, error);
    for (int i = 0; status == TANSU_OK && i < OPTION_COUNT; i++) {
        void *option = o->options[i];
        o->options[i] = NULL;
        if (o->sets[i])
            status = write_txn_collection_option(w->wtxn, name, i, option, error);
    }
    return status;
}

tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                     tansu_document options, tansu_error *error) {
    collection_options_read o;
    tansu_status status = read_options(options, &o, error);
    if (status == TANSU_OK)
        status = name_check(name, "collection", error);
    write_call w;
    if (status == TANSU_OK)
        status = write_call_begin(&w, db, txn, error);
    if (status == TANSU_OK)
        status = write_call_end(&w, ensure(&w, name, &o, options.data != NULL, error), error);
    for (int i = 0; i < OPTION_COUNT; i++)
        free_option(&o, i);
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

/* write_members -- what is told about a collection: name, documents and options. */
static void write_members(writer *w, const collection_state *state) {
    writer_string(w, "name", state->name);
    writer_int64(w, "documents", (int64_t)state->count);
    size_t options = writer_open(w, "options", DOC_DOCUMENT);
    writer_bool(w, "local", state->local);
    collection_write_options(state, w);
    writer_end(w, options);
}

/* write_item -- the same as an element of an array. */
static void write_item(writer *w, uint32_t number, const collection_state *state) {
    size_t one = writer_open_index(w, number, DOC_DOCUMENT);
    write_members(w, state);
    writer_end(w, one);
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
    for (uint32_t i = 0; (state = snapshot_next(&all)) != NULL; i++)
        write_item(&w, i, state);
    writer_end(&w, list);
    bool done = writer_finish(&w, answer);
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}

tansu_status tansu_collection_info(tansu_db *db, tansu_txn *txn, const char *name,
                                   tansu_buffer *result, tansu_error *error) {
    if (name == NULL || result == NULL)
        return null_argument(name == NULL ? "name" : "result", error);
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    result->size = 0;
    const collection_state *state = snapshot_collection(r.snapshot, name);
    if (state == NULL) {
        status = snapshot_missing(name, error);
        return read_call_end(&r, status, error);
    }
    writer w = {.out = result};
    size_t answer = writer_begin(&w);
    write_members(&w, state);
    bool done = writer_finish(&w, answer);
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}

tansu_status tansu_collection_referrers(tansu_db *db, tansu_txn *txn, const char *name,
                                        tansu_buffer *result, tansu_error *error) {
    if (result == NULL)
        return null_argument("result", error);
    tansu_status status = name_check(name, "collection", error);
    read_call r;
    if (status == TANSU_OK)
        status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    writer w = {.out = result};
    result->size = 0;
    size_t answer = writer_begin(&w), list = writer_open(&w, "collections", DOC_ARRAY);
    const collection_state *holder;
    catalog_cursor all = catalog_from(&r.snapshot->holders, order_of_holders, NULL);
    for (uint32_t i = 0; (holder = snapshot_next_holder(r.snapshot, &all)) != NULL;)
        if (reference_list_names(holder->references, name))
            write_item(&w, i++, holder);
    writer_end(&w, list);
    bool done = writer_finish(&w, answer);
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}

/* ---- References that lead to no document ---- */

/* References that are listed unless the options say another number. */
#define LISTED 1000

/* What a call asks for. */
typedef struct asked {
    const char *collection;
    int64_t limit;
    bool repair;
} asked;

/* read_reference_options -- reads {collection: text, limit: number, repair: bool}. */
static tansu_status read_reference_options(tansu_document options, asked *a, tansu_error *error) {
    *a = (asked){.limit = LISTED};
    doc_iter iter;
    size_t length;
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        bool valid = false;
        if (strcmp(iter.key, "collection") == 0 && iter.value.type == DOC_STRING) {
            a->collection = doc_string(&iter.value, &length);
            valid = strlen(a->collection) == length;
        } else if (strcmp(iter.key, "limit") == 0) {
            valid = doc_as_int64(&iter.value, &a->limit) && a->limit >= 0;
        } else if (strcmp(iter.key, "repair") == 0) {
            valid = doc_as_bool(&iter.value, &a->repair);
        }
        if (!valid)
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "\"%s\" is not an option of this call, or has the wrong type; the "
                             "options are \"collection\", \"limit\" and \"repair\"",
                             iter.key);
    }
    return TANSU_OK;
}

/* find -- lists them. */
static tansu_status find(tansu_db *db, tansu_txn *txn, const asked *a, tansu_buffer *result,
                         tansu_error *error) {
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const deadline time = deadline_begin(r.rctx.interrupt, 0);
    const dangling_search search = {
        .collection = a->collection, .limit = (uint64_t)a->limit, .time = &time};
    status = dangling_find(&search, r.snapshot, &r.rctx, result, error);
    return read_call_end(&r, status, error);
}

/* repair -- repairs them. */
static tansu_status repair(tansu_db *db, tansu_txn *txn, const asked *a, tansu_buffer *result,
                           tansu_error *error) {
    write_call w;
    uint64_t values, documents;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const deadline time = deadline_begin(w.interrupt, 0);
    const dangling_search search = {.collection = a->collection, .time = &time};
    status = dangling_repair(&search, w.wtxn, &values, &documents, error);
    if (status == TANSU_OK) {
        writer out = {.out = result};
        result->size = 0;
        size_t document = writer_begin(&out);
        writer_int64(&out, "nullified", (int64_t)values);
        writer_int64(&out, "removed", (int64_t)documents);
        if (!writer_finish(&out, document))
            status = error_memory(error);
    }
    status = write_call_end(&w, status, error);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

tansu_status tansu_dangling_references(tansu_db *db, tansu_txn *txn, tansu_document options,
                                       tansu_buffer *result, tansu_error *error) {
    asked a;
    if (result == NULL)
        return null_argument("result", error);
    tansu_status status = read_reference_options(options, &a, error);
    if (status != TANSU_OK)
        return status;
    return a.repair ? repair(db, txn, &a, result, error) : find(db, txn, &a, result, error);
}
