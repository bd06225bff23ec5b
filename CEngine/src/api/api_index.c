/*
 * api/api_index.c -- creating, dropping and listing indexes.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "query/query_hooks.h"
#include "store/collection.h"
#include "store/declared_indexes.h"
#include "store/handle.h"
#include "store/index_backlog/index_backlog.h"
#include "store/open/instances.h"
#include "store/write_txn/write_txn.h"
#include "text/stemmer.h"
#include "util/buffer.h"
#include "util/error.h"

/* check_language -- that an index of words can have words: the definition of one that exists is read
 * also where the library does not know its language. */
static tansu_status check_language(const index_definition *definition, tansu_error *error) {
    stemmer *s;
    if (definition->text == NULL)
        return TANSU_OK;
    tansu_status status = stemmer_new(definition->text->language, &s, error);
    if (status == TANSU_OK)
        stemmer_free(s);
    if (status == TANSU_E_INVALID_QUERY && error != NULL)
        error->code = TANSU_E_INVALID_INDEX;
    return status == TANSU_E_INVALID_QUERY ? TANSU_E_INVALID_INDEX : status;
}

/* read_definition -- the definition that a call's arguments make. */
static tansu_status read_definition(const char *collection, const char *name, tansu_document keys,
                                    tansu_document options, index_definition **definition,
                                    tansu_error *error) {
    tansu_status status = name_check(collection, "collection", error);
    if (status == TANSU_OK)
        status = check_bson(keys, false, "keys", error);
    if (status == TANSU_OK)
        status = check_bson(options, true, "options", error);
    if (status == TANSU_OK && name != NULL && name[0] != 0)
        status = name_check(name, "index", error);
    if (status == TANSU_OK)
        status = index_definition_parse(name, keys.data, keys.size, options.data, options.size,
                                        definition, error);
    if (status != TANSU_OK)
        return status;
    status = check_language(*definition, error);
    if (status == TANSU_OK)
        status = index_definition_compile(*definition, &engine_query_hooks, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* create_online -- builds the index while others write, and commits it. Takes the definition
 * over. */
static tansu_status create_online(tansu_db *db, const char *collection,
                                  index_definition *definition, tansu_progress progress,
                                  void *context, tansu_error *error) {
    database *d;
    tansu_status status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = index_build_online(d, collection, definition, progress, context, error);
    handle_release(d);
    return status;
}

/* create_inside -- builds the index in a transaction, of the call if `txn` is NULL. If `existing`,
 * does nothing without the collection. Takes the definition over. */
static tansu_status create_inside(tansu_db *db, tansu_txn *txn, const char *collection,
                                  index_definition *definition, bool existing,
                                  tansu_progress progress, void *context, tansu_error *error) {
    write_call w;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    const index_build_control control = {w.interrupt, progress, context};
    status = write_call_check_savepoint(&w, error);
    bool wanted = !existing || snapshot_collection(w.wtxn->next, collection) != NULL;
    if (status == TANSU_OK && wanted)
        status = write_txn_index_create(w.wtxn, collection, definition, &control, error);
    else
        index_definition_free(definition);
    return write_call_end(&w, status, error);
}

/* index_create -- tansu_index_create() without the slow-operation log. */
static tansu_status index_create(tansu_db *db, tansu_txn *txn, const char *collection,
                                 const char *name, tansu_document keys, tansu_document options,
                                 tansu_progress progress, void *context, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    index_definition *definition;
    tansu_status status = read_definition(collection, name, keys, options, &definition, error);
    if (status != TANSU_OK)
        return status;
    return txn == NULL
               ? create_online(db, collection, definition, progress, context, error)
               : create_inside(db, txn, collection, definition, false, progress, context, error);
}

tansu_status tansu_index_create(tansu_db *db, tansu_txn *txn, const char *collection,
                                const char *name, tansu_document keys, tansu_document options,
                                tansu_progress progress, void *context, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(
        &timer, TANSU_LOG_INDEX_CREATE,
        index_create(db, txn, collection, name, keys, options, progress, context, error),
        collection, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT);
}

/* is_there -- whether a collection exists (*exists), and whether it has that index. */
static tansu_status is_there(tansu_db *db, tansu_txn *txn, const char *collection,
                             const index_definition *definition, bool *exists, bool *has,
                             tansu_error *error) {
    read_call r;
    *exists = *has = false;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const collection_state *state = snapshot_collection(r.snapshot, collection);
    *exists = state != NULL;
    for (uint32_t i = 0; state != NULL && i < state->index_count; i++) {
        const index_definition *other = state->indexes[i].definition;
        *has = *has || (strcmp(other->name, definition->name) == 0 &&
                        index_definition_equal(other, definition));
    }
    return read_call_end(&r, TANSU_OK, error);
}

/* create_declared -- creates the index now if the collection exists. */
static tansu_status create_declared(tansu_db *db, tansu_txn *txn, const char *collection,
                                    const index_definition *declared, tansu_progress progress,
                                    void *context, tansu_error *error) {
    bool exists, has;
    index_definition *definition;
    tansu_status status = is_there(db, txn, collection, declared, &exists, &has, error);
    if (status != TANSU_OK || has || db_inner(db)->options.read_only)
        return status;
    status = index_definition_copy(declared, &engine_query_hooks, &definition, error);
    if (status != TANSU_OK)
        return status;
    if (exists && txn == NULL)
        return create_online(db, collection, definition, progress, context, error);
    if (exists)
        return create_inside(db, txn, collection, definition, false, progress, context, error);
    /* A write transaction that began before the declaration may have created the collection. */
    if (txn == NULL)
        return create_inside(db, NULL, collection, definition, true, progress, context, error);
    index_definition_free(definition);
    return TANSU_OK;
}

tansu_status tansu_index_declare(tansu_db *db, tansu_txn *txn, const char *collection,
                                 const char *name, tansu_document keys, tansu_document options,
                                 tansu_progress progress, void *context, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    index_definition *definition;
    tansu_status status = read_definition(collection, name, keys, options, &definition, error);
    if (status != TANSU_OK)
        return status;
    /* First, so that a collection that is created meanwhile has the index. */
    bool added = false;
    database *inner = db_inner(db);
    status = handle_acquire(inner, error);
    if (status == TANSU_OK) {
        status = declared_indexes_add(&inner->declared, inner->hooks, collection, definition,
                                      &added, error);
        if (status == TANSU_OK)
            status = create_declared(db, txn, collection, definition, progress, context, error);
        if (status != TANSU_OK && added)
            declared_indexes_remove(&inner->declared, collection, definition);
        handle_release(inner);
    }
    index_definition_free(definition);
    return status;
}

tansu_status tansu_index_drop(tansu_db *db, tansu_txn *txn, const char *collection,
                              const char *name, tansu_error *error) {
    if (collection == NULL || name == NULL)
        return null_argument(name == NULL ? "name" : "collection", error);
    write_call w;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = write_call_check_savepoint(&w, error);
    if (status == TANSU_OK)
        status = write_txn_index_drop(w.wtxn, collection, name, error);
    return write_call_end(&w, status, error);
}

/* append_index -- one index of the list. */
static void append_index(writer *w, uint32_t number, const collection_index *index) {
    const index_definition *definition = index->definition;
    size_t one = writer_open_index(w, number, DOC_DOCUMENT);
    writer_string(w, "name", definition->name);
    writer_head(w, DOC_DOCUMENT, "keys", 4);
    index_definition_keys(definition, w);
    writer_bool(w, "unique", definition->unique);
    if (definition->sparse)
        writer_bool(w, "sparse", true);
    if (definition->fold)
        writer_bool(w, "caseInsensitive", true);
    if (definition->filter_bson != NULL)
        writer_document(w, "partialFilter", definition->filter_bson, definition->filter_size);
    if (definition->max_entries != TANSU_DEFAULT_INDEX_ENTRIES)
        writer_int32(w, "maxEntries", (int32_t)definition->max_entries);
    index_definition_expiry(definition, w);
    index_definition_scope(definition, w);
    index_definition_text(definition, w);
    writer_bool(w, "multikey", index->multikey);
    writer_int64(w, "entries", (int64_t)index->entries.count);
    writer_end(w, one);
}

tansu_status tansu_index_list(tansu_db *db, tansu_txn *txn, const char *collection,
                              tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || result == NULL)
        return null_argument(result == NULL ? "result" : "collection", error);
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const collection_state *state = snapshot_collection(r.snapshot, collection);
    if (state == NULL) {
        status = snapshot_missing(collection, error);
        return read_call_end(&r, status, error);
    }
    writer w = {.out = result};
    result->size = 0;
    size_t answer = writer_begin(&w), list = writer_open(&w, "indexes", DOC_ARRAY);
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++)
        status = index_current(state, i + 1, error);
    if (status != TANSU_OK)
        return read_call_end(&r, status, error);
    for (uint32_t i = 0; i < state->index_count; i++)
        append_index(&w, i, &state->indexes[i]);
    writer_end(&w, list);
    bool done = writer_finish(&w, answer);
    return read_call_end(&r, done ? TANSU_OK : error_memory(error), error);
}
