/*
 * support/calls/query_calls.c -- queries of a memory store as text.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts that the functions return; one test program asks from one thread. */
static char answer[1 << 16];

/* memory_db_open -- an empty memory store. */
tansu_db *memory_db_open(void) {
    tansu_options options;
    tansu_error error;
    tansu_db *db = NULL;
    tansu_options_init(&options);
    options.store = TANSU_STORE_MEMORY;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &error), &error));
    return db;
}

/* memory_db_close -- a failed check when something was still open. */
tansu_db *memory_db_with(const char *const *documents) {
    tansu_db *db = memory_db_open();
    for (; *documents != NULL; documents++)
        save_text(db, *documents);
    return db;
}

void memory_db_close(tansu_db *db) {
    tansu_error error;
    CHECK_OK(tansu_shutdown(db, &error), &error);
}

/* bson_from_text -- BSON from JSON with either kind of quotes. */
bson_t *bson_from_text(const char *json) {
    if (!json)
        return NULL;
    size_t size = strlen(json);
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    for (size_t i = 0; i <= size; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    bson_error_t error;
    bson_t *doc = bson_new_from_json((const uint8_t *)text, (ssize_t)size, &error);
    if (!doc)
        check_note("%s: %s", text, error.message);
    REQUIRE(doc != NULL);
    free(text);
    /* To libbson's JSON these two are no operators but parts of values. */
    uint8_t *bytes = (uint8_t *)bson_get_data(doc);
    for (uint32_t i = 0; i + 7 <= doc->len; i++) {
        if (memcmp(bytes + i, "$REGEX", 7) == 0)
            memcpy(bytes + i, "$regex", 6);
        if (memcmp(bytes + i, "$TYPE", 6) == 0)
            memcpy(bytes + i, "$type", 5);
    }
    return doc;
}

/* save_bson -- saves a document. */
void save_bson(tansu_db *db, const bson_t *doc) {
    tansu_error error;
    tansu_document document = document_of(doc);
    REQUIRE(CHECK_OK(tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error), &error));
}

/* save_text -- saves a document given as JSON. */
void save_text(tansu_db *db, const char *json) {
    bson_t *doc = bson_from_text(json);
    save_bson(db, doc);
    bson_destroy(doc);
}

/* create_index -- creates an index. */
void create_index(tansu_db *db, const char *name, const char *keys, const char *options) {
    tansu_error error;
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    REQUIRE(CHECK_OK(
        tansu_index_create(db, NULL, "c", name, document_of(k), document_of(o), NULL, NULL, &error),
        &error));
    bson_destroy(k);
    bson_destroy(o);
}

/* append -- adds a text to the answer, with a space before it unless it is the first. */
static void append(const char *text) {
    size_t used = strlen(answer);
    snprintf(answer + used, sizeof answer - used, "%s%s", used == 0 ? "" : " ", text);
}

/* append_value -- adds a value as relaxed JSON: what stands after {"v": . */
static void append_value(const bson_iter_t *iter) {
    bson_t holder = BSON_INITIALIZER;
    bson_append_iter(&holder, "v", 1, iter);
    size_t size;
    char *json = bson_as_relaxed_extended_json(&holder, &size);
    json[size - 2] = '\0';
    append(json + strlen("{ \"v\" : "));
    bson_free(json);
    bson_destroy(&holder);
}

/* append_document -- adds a document, or its `_id`. */
static void append_document(const tansu_document *document, bool whole) {
    bson_t doc;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&doc, document->data, document->size));
    if (!whole) {
        if (CHECK(bson_iter_init_find(&iter, &doc, "_id")))
            append_value(&iter);
        return;
    }
    char *json = bson_as_relaxed_extended_json(&doc, NULL);
    append(json);
    bson_free(json);
}

/* ask -- the answer of a query as text. */
static const char *ask(tansu_db *db, const char *query, const char *hints, bool whole) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_error error = {.code = TANSU_OK};
    tansu_status status =
        tansu_find(db, NULL, "c", document_of(q), document_of(h), &cursor, &error);
    answer[0] = '\0';
    while (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, &error);
        if (status == TANSU_OK)
            append_document(&document, whole);
    }
    if (status != TANSU_DONE) {
        append(tansu_status_name(status));
        append(error.context);
    }
    tansu_cursor_close(cursor);
    bson_destroy(q);
    bson_destroy(h);
    return answer;
}

/* find_ids -- the `_id`s of an answer. */
const char *find_ids(tansu_db *db, const char *query, const char *hints) {
    return ask(db, query, hints, false);
}

/* find_documents -- the documents of an answer. */
const char *find_documents(tansu_db *db, const char *query, const char *hints) {
    return ask(db, query, hints, true);
}

/* count_matches -- the count, or -1 after an error. */
int64_t count_matches(tansu_db *db, const char *query, const char *hints) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    int64_t count = -1;
    tansu_count(db, NULL, "c", document_of(q), document_of(h), &count, NULL);
    bson_destroy(q);
    bson_destroy(h);
    return count;
}

/* plan_field -- one field of the plan. */
const char *plan_field(tansu_db *db, const char *query, const char *hints, const char *path) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    answer[0] = '\0';
    if (CHECK_OK(tansu_explain(db, NULL, "c", document_of(q), document_of(h), &result, &error),
                 &error)) {
        bson_t doc;
        bson_iter_t iter, found;
        REQUIRE(bson_init_static(&doc, result.data, result.size));
        CHECK(bson_validate(&doc, BSON_VALIDATE_UTF8, NULL));
        if (bson_iter_init(&iter, &doc) && bson_iter_find_descendant(&iter, path, &found))
            append_value(&found);
    }
    tansu_buffer_free(&result);
    bson_destroy(q);
    bson_destroy(h);
    return answer;
}
