/*
 * support/calls/call.c -- calls of the public API with documents as text.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS 8
#define TEXT_SIZE (1 << 16)

tansu_error call_error;

/* text_new -- the next of the texts that calls return. */
static char *text_new(void) {
    static char texts[TEXTS][TEXT_SIZE];
    static unsigned next;
    char *text = texts[next++ % TEXTS];
    text[0] = '\0';
    return text;
}

/* text_add -- appends BSON as relaxed JSON, with a space before it unless it is the first. */
static void text_add(char *text, const void *data, size_t size) {
    bson_t doc;
    REQUIRE(bson_init_static(&doc, data, size));
    REQUIRE(bson_validate(&doc, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL));
    char *json = bson_as_relaxed_extended_json(&doc, NULL);
    size_t used = strlen(text);
    snprintf(text + used, TEXT_SIZE - used, "%s%s", used == 0 ? "" : " ", json);
    bson_free(json);
}

/* text_status -- the name of a status. */
static const char *text_status(char *text, tansu_status status) {
    snprintf(text, TEXT_SIZE, "%s", tansu_status_name(status));
    return text;
}

tansu_options call_options(const char *path) {
    tansu_options options;
    tansu_options_init(&options);
    options.store = path == NULL ? TANSU_STORE_MEMORY : TANSU_STORE_PERSISTENT;
    options.path = path;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.segment_size = (uint64_t)1 << 20;
    options.compaction_percent = 0;
    return options;
}

tansu_db *call_open_with(const tansu_options *options) {
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open(options, &db, &call_error), &call_error));
    REQUIRE(db != NULL);
    return db;
}

tansu_db *call_open(const char *path) {
    tansu_options options = call_options(path);
    return call_open_with(&options);
}

tansu_status call_try_open(const char *path) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    if (status == TANSU_OK)
        call_close(db);
    return status;
}

void call_close(tansu_db *db) {
    CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
}

tansu_txn *call_begin(tansu_db *db, tansu_txn_mode mode) {
    tansu_txn *txn = NULL;
    REQUIRE(CHECK_OK(tansu_txn_begin(db, mode, TANSU_DURABILITY_DEFAULT, &txn, &call_error),
                     &call_error));
    return txn;
}

tansu_status call_save_bson(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_save_mode mode, const bson_t *doc) {
    tansu_document document = document_of(doc);
    return tansu_save(db, txn, collection, &document, 1, mode, NULL, &call_error);
}

tansu_status call_save(tansu_db *db, tansu_txn *txn, const char *collection, tansu_save_mode mode,
                       const char *json) {
    bson_t *doc = bson_from_text(json);
    tansu_status status = call_save_bson(db, txn, collection, mode, doc);
    bson_destroy(doc);
    return status;
}

tansu_status call_remove(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                         int64_t *removed) {
    bson_t *q = bson_from_text(query);
    tansu_status status =
        tansu_remove(db, txn, collection, document_of(q), TANSU_NO_DOCUMENT, removed, &call_error);
    bson_destroy(q);
    return status;
}

tansu_status call_remove_id(tansu_db *db, tansu_txn *txn, const char *collection, const char *id,
                            int *removed) {
    bson_t *doc = bson_from_text(id);
    tansu_status status =
        tansu_remove_id(db, txn, collection, document_of(doc), removed, &call_error);
    bson_destroy(doc);
    return status;
}

tansu_status call_index(tansu_db *db, tansu_txn *txn, const char *collection, const char *name,
                        const char *keys, const char *options) {
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    tansu_status status = tansu_index_create(db, txn, collection, name, document_of(k),
                                             document_of(o), NULL, NULL, &call_error);
    bson_destroy(k);
    bson_destroy(o);
    return status;
}

void check_definitions(const definition_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const definition_case *c = &cases[i];
        tansu_db *db = memory_db_open();
        call_error = (tansu_error){.code = TANSU_OK};
        tansu_status status = call_index(db, NULL, "c", "w", c->keys, c->options);
        if (!CHECK_STATUS(c->status, status) ||
            (c->context && !CHECK_TEXT(c->context, call_error.context)))
            check_note("%s %s: %s", c->keys, c->options ? c->options : "", call_error.message);
        memory_db_close(db);
    }
}

tansu_status call_ensure(tansu_db *db, tansu_txn *txn, const char *collection,
                         const char *options) {
    bson_t *o = bson_from_text(options);
    tansu_status status = tansu_collection_ensure(db, txn, collection, document_of(o), &call_error);
    bson_destroy(o);
    return status;
}

const char *call_get(tansu_db *db, tansu_txn *txn, const char *collection, const char *id) {
    char *text = text_new();
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t *doc = bson_from_text(id);
    tansu_status status = tansu_get(db, txn, collection, document_of(doc), &result, &call_error);
    bson_destroy(doc);
    if (status == TANSU_OK)
        text_add(text, result.data, result.size);
    else
        text_status(text, status);
    tansu_buffer_free(&result);
    return text;
}

/* open_cursor -- the status of tansu_find(). */
static tansu_status open_cursor(tansu_db *db, tansu_txn *txn, const char *collection,
                                const char *query, const char *hints, tansu_cursor **cursor) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_status status =
        tansu_find(db, txn, collection, document_of(q), document_of(h), cursor, &call_error);
    bson_destroy(q);
    bson_destroy(h);
    return status;
}

const char *call_find(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                      const char *hints) {
    char *text = text_new();
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_status status = open_cursor(db, txn, collection, query, hints, &cursor);
    while (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, &call_error);
        if (status == TANSU_OK)
            text_add(text, document.data, document.size);
    }
    if (status != TANSU_DONE)
        text_status(text, status);
    tansu_cursor_close(cursor);
    return text;
}

tansu_cursor *call_cursor(tansu_db *db, tansu_txn *txn, const char *collection, const char *query,
                          const char *hints) {
    tansu_cursor *cursor = NULL;
    REQUIRE(CHECK_OK(open_cursor(db, txn, collection, query, hints, &cursor), &call_error));
    return cursor;
}

const char *call_next(tansu_cursor *cursor) {
    char *text = text_new();
    tansu_document document;
    tansu_status status = tansu_cursor_next(cursor, &document, &call_error);
    if (status == TANSU_OK)
        text_add(text, document.data, document.size);
    else if (status != TANSU_DONE)
        text_status(text, status);
    return text;
}

int64_t call_count(tansu_db *db, tansu_txn *txn, const char *collection, const char *query) {
    bson_t *q = bson_from_text(query);
    int64_t count = 0;
    tansu_status status =
        tansu_count(db, txn, collection, document_of(q), TANSU_NO_DOCUMENT, &count, NULL);
    bson_destroy(q);
    return status == TANSU_OK ? count : -(int64_t)status;
}

/* answer -- the text of a call's result, which is freed. */
static const char *answer(tansu_status status, tansu_buffer *result) {
    char *text = text_new();
    if (status == TANSU_OK)
        text_add(text, result->data, result->size);
    else
        text_status(text, status);
    tansu_buffer_free(result);
    return text;
}

const char *call_collections(tansu_db *db, tansu_txn *txn) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    return answer(tansu_collection_list(db, txn, &result, &call_error), &result);
}

const char *call_collection(tansu_db *db, tansu_txn *txn, const char *name) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    return answer(tansu_collection_info(db, txn, name, &result, &call_error), &result);
}

const char *call_referrers(tansu_db *db, tansu_txn *txn, const char *name) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    return answer(tansu_collection_referrers(db, txn, name, &result, &call_error), &result);
}

const char *call_indexes(tansu_db *db, tansu_txn *txn, const char *collection) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    return answer(tansu_index_list(db, txn, collection, &result, &call_error), &result);
}

int64_t call_statistic(tansu_db *db, const char *path) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    int64_t statistic = -1;
    if (CHECK_OK(tansu_stats(db, &result, &call_error), &call_error)) {
        bson_t doc;
        bson_iter_t iter, found;
        REQUIRE(bson_init_static(&doc, result.data, result.size));
        if (bson_iter_init(&iter, &doc) && bson_iter_find_descendant(&iter, path, &found))
            statistic = bson_iter_as_int64(&found);
    }
    tansu_buffer_free(&result);
    return statistic;
}

tansu_status rekey_with(tansu_db *db, const void *bytes, size_t size, tansu_key_kind kind,
                        uint32_t iterations, tansu_error *error) {
    const tansu_key key = {bytes, size, kind, iterations};
    return tansu_rekey(db, &key, error);
}
