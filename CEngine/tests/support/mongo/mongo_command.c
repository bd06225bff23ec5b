/*
 * support/mongo/mongo_command.c -- from MongoDB's commands to calls of tansu.h.
 */
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/mongo/mongo_command_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char mongo_envelope[] = "the command's own members: the C API has types and no names there";

/* mongo_fail -- the reply is an error. */
bool mongo_fail(mongo_reply *reply, tansu_status status, const tansu_error *error) {
    reply->failed = true;
    snprintf(reply->message, sizeof reply->message, "%s at \"%s\": %s", tansu_status_name(status),
             error->context, error->message);
    CHECK(status != TANSU_E_CORRUPT && status != TANSU_E_MEMORY && status != TANSU_E_INVALID_BSON);
    return false;
}

/* mongo_given -- a member that is there and not null. */
bool mongo_given(const bson_t *doc, const char *name, bson_iter_t *iter) {
    return bson_iter_init_find(iter, doc, name) && !BSON_ITER_HOLDS_NULL(iter);
}

/* mongo_copy -- copies a member to the hints under another name. */
void mongo_copy(bson_t *hints, const char *hint, const bson_t *doc, const char *name) {
    bson_iter_t iter;
    if (mongo_given(doc, name, &iter))
        bson_append_iter(hints, hint, -1, &iter);
}

/* ---- Hints ---- */

/* put_collation -- letters' case and numbers in texts; see mongo_scope.c. */
static void put_collation(bson_t *hints, const bson_t *doc) {
    bson_t collation, own;
    bson_iter_t iter;
    if (!member_document(doc, "collation", &collation))
        return;
    bool fold = bson_iter_init_find(&iter, &collation, "strength") && bson_iter_as_int64(&iter) < 3;
    bool numeric =
        bson_iter_init_find(&iter, &collation, "numericOrdering") && bson_iter_as_bool(&iter);
    bson_append_document_begin(hints, "$collation", -1, &own);
    BSON_APPEND_BOOL(&own, "caseInsensitive", fold);
    BSON_APPEND_BOOL(&own, "numeric", numeric);
    bson_append_document_end(hints, &own);
}

/* as_number -- a number of any type. */
static double as_number(const bson_iter_t *iter) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (!bson_iter_decimal128(iter, &decimal))
        return bson_iter_as_double(iter);
    bson_decimal128_to_string(&decimal, text);
    return strtod(text, NULL);
}

/* same_keys -- whether an index of a list has these keys in this order. */
static bool same_keys(const bson_t *index, const bson_t *keys) {
    bson_t own;
    bson_iter_t a, b;
    if (!member_document(index, "keys", &own))
        return false;
    bson_iter_init(&a, &own);
    bson_iter_init(&b, keys);
    for (;;) {
        bool more = bson_iter_next(&a);
        if (more != bson_iter_next(&b))
            return false;
        if (!more)
            return true;
        if (strcmp(bson_iter_key(&a), bson_iter_key(&b)) != 0 ||
            bson_iter_as_int64(&a) != (as_number(&b) > 0 ? 1 : -1))
            return false;
    }
}

/* mongo_find_index -- the name of the collection's index with these keys. */
bool mongo_find_index(const mongo_call *c, const bson_t *keys, char *found, size_t capacity) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t all, indexes, index;
    bson_iter_t iter, value;
    bool is = false, two = false;
    if (tansu_index_list(c->db, NULL, c->collection, &list, NULL) == TANSU_OK &&
        bson_init_static(&all, list.data, list.size) &&
        member_document(&all, "indexes", &indexes)) {
        for (bson_iter_init(&iter, &indexes); bson_iter_next(&iter);) {
            REQUIRE(iter_document(&iter, &index) && bson_iter_init_find(&value, &index, "name"));
            bool same = same_keys(&index, keys);
            two = two || (same && is);
            is = is || same;
            if (same)
                snprintf(found, capacity, "%s", bson_iter_utf8(&value, NULL));
        }
    }
    tansu_buffer_free(&list);
    if (two)
        snprintf(found, capacity, "two indexes have these keys");
    return is;
}

/* put_index -- the member "hint": the name or the keys of an index. The primary index, which has no
 * name here, and {"$natural": 1} need no hint. */
static void put_index(const mongo_call *c, bson_t *hints, const bson_t *doc) {
    bson_iter_t iter, first;
    bson_t keys;
    char name[256];
    if (!mongo_given(doc, "hint", &iter))
        return;
    if (BSON_ITER_HOLDS_UTF8(&iter)) {
        if (strcmp(bson_iter_utf8(&iter, NULL), "_id_") != 0)
            bson_append_iter(hints, "$index", -1, &iter);
        return;
    }
    if (!BSON_ITER_HOLDS_DOCUMENT(&iter) || !iter_document(&iter, &keys) ||
        !bson_iter_init(&first, &keys) || !bson_iter_next(&first)) {
        BSON_APPEND_INT32(hints, "$index", 7); /* is refused */
        return;
    }
    if (strcmp(bson_iter_key(&first), "$natural") == 0)
        BSON_APPEND_BOOL(hints, "$index", false);
    else if (mongo_find_index(c, &keys, name, sizeof name))
        BSON_APPEND_UTF8(hints, "$index", name);
    else if (strcmp(bson_iter_key(&first), "_id") != 0)
        BSON_APPEND_UTF8(hints, "$index", "no such index");
}

/* query_of -- the member that is the query. */
static bool query_of(const mongo_call *c, const bson_t *doc, const char *name, bson_t *query) {
    bson_iter_t iter;
    if (!mongo_given(doc, name, &iter)) {
        bson_init(query);
        return true;
    }
    if (BSON_ITER_HOLDS_DOCUMENT(&iter) && iter_document(&iter, query))
        return true;
    c->reply->not_applicable = mongo_envelope;
    return false;
}

/* ---- Reading ---- */

/* run_find -- find. */
static void run_find(const mongo_call *c) {
    bson_t query, hints = BSON_INITIALIZER, cursor_doc, batch, doc;
    bson_iter_t size;
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    uint32_t number = 0;
    if (!query_of(c, c->command, "filter", &query))
        return;
    mongo_copy(&hints, "$orderby", c->command, "sort");
    mongo_copy(&hints, "$fields", c->command, "projection");
    mongo_copy(&hints, "$skip", c->command, "skip");
    mongo_copy(&hints, "$max", c->command, "limit");
    mongo_copy(&hints, "$maxTimeMS", c->command, "maxTimeMS");
    mongo_copy(&hints, "$allowDiskUse", c->command, "allowDiskUse");
    mongo_copy(&hints, "$let", c->command, "let");
    put_collation(&hints, c->command);
    put_index(c, &hints, c->command);
    int64_t most =
        mongo_given(c->command, "batchSize", &size) ? bson_iter_as_int64(&size) : INT64_MAX;
    tansu_status status = tansu_find(c->db, NULL, c->collection, document_of(&query),
                                     document_of(&hints), &cursor, &error);
    bool open = status == TANSU_OK;
    bson_append_document_begin(&c->reply->doc, "cursor", -1, &cursor_doc);
    bson_append_array_begin(&cursor_doc, "firstBatch", -1, &batch);
    while (status == TANSU_OK && number < most) {
        char key[16];
        status = tansu_cursor_next(cursor, &document, &error);
        if (status != TANSU_OK)
            break;
        REQUIRE(bson_init_static(&doc, document.data, document.size));
        snprintf(key, sizeof key, "%u", number++);
        bson_append_document(&batch, key, -1, &doc);
    }
    bson_append_array_end(&cursor_doc, &batch);
    bson_append_document_end(&c->reply->doc, &cursor_doc);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    if (open)
        tansu_cursor_close(cursor);
    if (status != TANSU_OK && status != TANSU_DONE)
        mongo_fail(c->reply, status, &error);
    bson_destroy(&hints);
}

/* run_aggregate -- aggregate. */
static void run_aggregate(const mongo_call *c) {
    bson_t stages, hints = BSON_INITIALIZER, cursor_doc, batch, doc;
    bson_iter_t name, size;
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    uint32_t number = 0;
    if (!bson_iter_init(&name, c->command) || !bson_iter_next(&name) ||
        !member_document(c->command, "pipeline", &stages)) {
        c->reply->not_applicable = mongo_envelope;
        return;
    }
    mongo_copy(&hints, "$maxTimeMS", c->command, "maxTimeMS");
    mongo_copy(&hints, "$allowDiskUse", c->command, "allowDiskUse");
    mongo_copy(&hints, "$let", c->command, "let");
    put_collation(&hints, c->command);
    put_index(c, &hints, c->command);
    int64_t most = INT64_MAX;
    if (member_document(c->command, "cursor", &doc) && mongo_given(&doc, "batchSize", &size))
        most = bson_iter_as_int64(&size);
    /* {"aggregate": 1} is of no collection. */
    const char *collection = BSON_ITER_HOLDS_UTF8(&name) ? c->collection : NULL;
    tansu_status status = tansu_pipeline(c->db, NULL, collection, document_of(&stages),
                                         document_of(&hints), &cursor, &error);
    bool open = status == TANSU_OK;
    bson_append_document_begin(&c->reply->doc, "cursor", -1, &cursor_doc);
    bson_append_array_begin(&cursor_doc, "firstBatch", -1, &batch);
    while (status == TANSU_OK && number < most) {
        char key[16];
        status = tansu_cursor_next(cursor, &document, &error);
        if (status != TANSU_OK)
            break;
        REQUIRE(bson_init_static(&doc, document.data, document.size));
        snprintf(key, sizeof key, "%u", number++);
        bson_append_document(&batch, key, -1, &doc);
    }
    bson_append_array_end(&cursor_doc, &batch);
    bson_append_int64(&cursor_doc, "id", -1, 0);
    bson_append_document_end(&c->reply->doc, &cursor_doc);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    if (open)
        tansu_cursor_close(cursor);
    if (status != TANSU_OK && status != TANSU_DONE)
        mongo_fail(c->reply, status, &error);
    bson_destroy(&hints);
}

/* run_count -- count. */
static void run_count(const mongo_call *c) {
    bson_t query, hints = BSON_INITIALIZER;
    bson_iter_t limit;
    tansu_error error;
    int64_t count = 0;
    if (!query_of(c, c->command, "query", &query))
        return;
    mongo_copy(&hints, "$skip", c->command, "skip");
    if (mongo_given(c->command, "limit", &limit) && as_number(&limit) < 0 &&
        as_number(&limit) > -1e15)
        BSON_APPEND_DOUBLE(&hints, "$max", -as_number(&limit)); /* the sign is ignored */
    else
        mongo_copy(&hints, "$max", c->command, "limit");
    mongo_copy(&hints, "$maxTimeMS", c->command, "maxTimeMS");
    put_collation(&hints, c->command);
    put_index(c, &hints, c->command);
    tansu_status status = tansu_count(c->db, NULL, c->collection, document_of(&query),
                                      document_of(&hints), &count, &error);
    if (status != TANSU_OK)
        mongo_fail(c->reply, status, &error);
    BSON_APPEND_INT32(&c->reply->doc, "n", (int32_t)count);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    bson_destroy(&hints);
}

/* run_distinct -- distinct. */
static void run_distinct(const mongo_call *c) {
    bson_t query, hints = BSON_INITIALIZER, all, values;
    bson_iter_t key;
    tansu_error error;
    tansu_buffer result = TANSU_BUFFER_INIT;
    if (!query_of(c, c->command, "query", &query))
        return;
    uint32_t size = 0;
    if (!bson_iter_init_find(&key, c->command, "key") || !BSON_ITER_HOLDS_UTF8(&key)) {
        c->reply->not_applicable = mongo_envelope;
        return;
    }
    const char *path = bson_iter_utf8(&key, &size);
    if (strlen(path) != size) {
        c->reply->not_applicable = "paths with a NUL: a path is a C string";
        return;
    }
    mongo_copy(&hints, "$maxTimeMS", c->command, "maxTimeMS");
    put_collation(&hints, c->command);
    put_index(c, &hints, c->command);
    tansu_status status = tansu_distinct(c->db, NULL, c->collection, path, document_of(&query),
                                         document_of(&hints), &result, &error);
    if (status != TANSU_OK)
        mongo_fail(c->reply, status, &error);
    else if (bson_init_static(&all, result.data, result.size) &&
             member_document(&all, "values", &values))
        BSON_APPEND_ARRAY(&c->reply->doc, "values", &values);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    tansu_buffer_free(&result);
    bson_destroy(&hints);
}

/* ---- Writing ---- */

tansu_status mongo_insert(tansu_db *db, const char *collection, const bson_t *doc,
                          mongo_reply *reply) {
    bson_t ordered = BSON_INITIALIZER;
    bson_iter_t iter;
    tansu_error error;
    if (bson_iter_init_find(&iter, doc, "_id"))
        bson_append_iter(&ordered, "_id", -1, &iter);
    for (bson_iter_init(&iter, doc); bson_iter_next(&iter);) {
        if (strcmp(bson_iter_key(&iter), "_id") != 0)
            bson_append_iter(&ordered, bson_iter_key(&iter), (int)bson_iter_key_len(&iter), &iter);
    }
    tansu_document document = document_of(&ordered);
    tansu_status status =
        tansu_save(db, NULL, collection, &document, 1, TANSU_INSERT, NULL, &error);
    if (status != TANSU_OK)
        snprintf(reply->message, sizeof reply->message, "%s at \"%s\": %s",
                 tansu_status_name(status), error.context, error.message);
    bson_destroy(&ordered);
    return status;
}

/* put_write_error -- one of the "writeErrors". */
static void put_write_error(bson_t *errors, uint32_t *count, uint32_t index, tansu_status status) {
    bson_t error;
    char key[16];
    snprintf(key, sizeof key, "%u", (*count)++);
    bson_append_document_begin(errors, key, -1, &error);
    BSON_APPEND_INT32(&error, "index", (int32_t)index);
    BSON_APPEND_INT32(&error, "code",
                      status == TANSU_E_EXISTS || status == TANSU_E_NOT_UNIQUE ? 11000
                      : status == TANSU_E_INVALID_DOCUMENT                     ? 121
                                                                               : 2);
    bson_append_document_end(errors, &error);
}

/* run_insert -- insert: one document after another, as there. */
static void run_insert(const mongo_call *c) {
    bson_t documents, doc, errors = BSON_INITIALIZER;
    bson_iter_t iter, ordered;
    uint32_t index = 0, failed = 0, inserted = 0;
    bool all = bson_iter_init_find(&ordered, c->command, "ordered") && !bson_iter_as_bool(&ordered);
    if (!bson_iter_init_find(&iter, c->command, "documents") || !BSON_ITER_HOLDS_ARRAY(&iter) ||
        !iter_document(&iter, &documents) || bson_empty(&documents)) {
        c->reply->not_applicable = mongo_envelope;
        return;
    }
    for (bson_iter_init(&iter, &documents); bson_iter_next(&iter); index++) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&iter) || !iter_document(&iter, &doc)) {
            c->reply->not_applicable = mongo_envelope;
            break;
        }
        tansu_status status = mongo_insert(c->db, c->collection, &doc, c->reply);
        inserted += status == TANSU_OK;
        if (status != TANSU_OK)
            put_write_error(&errors, &failed, index, status);
        if (status != TANSU_OK && !all)
            break;
    }
    BSON_APPEND_INT32(&c->reply->doc, "n", (int32_t)inserted);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    if (failed != 0)
        BSON_APPEND_ARRAY(&c->reply->doc, "writeErrors", &errors);
    bson_destroy(&errors);
}

/* replaces -- whether an update is a whole document. */
static bool replaces(const bson_t *update) {
    bson_iter_t iter;
    return !bson_iter_init(&iter, update) || !bson_iter_next(&iter) ||
           bson_iter_key(&iter)[0] != '$';
}

/* update_of -- the update, in which a whole document is named as such. */
static bool update_of(const mongo_call *c, const bson_t *doc, const char *name, bson_t *update) {
    bson_t given_update;
    bson_iter_t iter;
    bson_init(update);
    if (bson_iter_init_find(&iter, doc, name) && BSON_ITER_HOLDS_ARRAY(&iter)) {
        bson_append_iter(update, "$pipeline", -1, &iter);
        return true;
    }
    if (!bson_iter_init_find(&iter, doc, name) || !BSON_ITER_HOLDS_DOCUMENT(&iter) ||
        !iter_document(&iter, &given_update)) {
        c->reply->not_applicable = mongo_envelope;
        return false;
    }
    if (replaces(&given_update))
        BSON_APPEND_DOCUMENT(update, "$replace", &given_update);
    else
        bson_concat(update, &given_update);
    return true;
}

/* run_statement -- one of the statements of an update. */
static tansu_status run_statement(const mongo_call *c, const bson_t *statement, bson_t *upserted,
                                  uint32_t number, int64_t *matched, int64_t *modified) {
    bson_t query, update, hints = BSON_INITIALIZER, all, ids;
    bson_iter_t iter;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    if (!query_of(c, statement, "q", &query) || !update_of(c, statement, "u", &update))
        return TANSU_OK;
    if (!mongo_given(statement, "multi", &iter) || !bson_iter_as_bool(&iter))
        BSON_APPEND_INT32(&hints, "$max", 1);
    mongo_copy(&hints, "$upsert", statement, "upsert");
    mongo_copy(&hints, "$orderby", statement, "sort");
    mongo_copy(&hints, "$arrayFilters", statement, "arrayFilters");
    mongo_copy(&hints, "$let", c->command, "let");
    put_collation(&hints, statement);
    put_index(c, &hints, statement);
    tansu_status status = tansu_update(c->db, NULL, c->collection, document_of(&query),
                                       document_of(&update), document_of(&hints), &result, &error);
    if (status == TANSU_OK) {
        REQUIRE(bson_init_static(&all, result.data, result.size));
        if (bson_iter_init_find(&iter, &all, "matched"))
            *matched += bson_iter_as_int64(&iter);
        if (bson_iter_init_find(&iter, &all, "modified"))
            *modified += bson_iter_as_int64(&iter);
        if (member_document(&all, "upserted", &ids) && bson_iter_init_find(&iter, &ids, "0")) {
            bson_t entry;
            char key[16];
            snprintf(key, sizeof key, "%u", bson_count_keys(upserted));
            bson_append_document_begin(upserted, key, -1, &entry);
            BSON_APPEND_INT32(&entry, "index", (int32_t)number);
            bson_append_iter(&entry, "_id", 3, &iter);
            bson_append_document_end(upserted, &entry);
            ++*matched;
        }
    } else {
        snprintf(c->reply->message, sizeof c->reply->message, "%s at \"%s\": %s",
                 tansu_status_name(status), error.context, error.message);
        CHECK(status != TANSU_E_CORRUPT && status != TANSU_E_MEMORY);
    }
    tansu_buffer_free(&result);
    bson_destroy(&update);
    bson_destroy(&hints);
    return status;
}

/* run_update -- update: its statements, up to the first that fails. */
static void run_update(const mongo_call *c) {
    bson_t statements, statement, upserted = BSON_INITIALIZER, errors = BSON_INITIALIZER;
    bson_iter_t iter, ordered;
    uint32_t index = 0, failed = 0;
    int64_t matched = 0, modified = 0;
    bool all = bson_iter_init_find(&ordered, c->command, "ordered") && !bson_iter_as_bool(&ordered);
    REQUIRE(member_document(c->command, "updates", &statements));
    for (bson_iter_init(&iter, &statements); bson_iter_next(&iter); index++) {
        REQUIRE(iter_document(&iter, &statement));
        tansu_status status = run_statement(c, &statement, &upserted, index, &matched, &modified);
        if (status != TANSU_OK)
            put_write_error(&errors, &failed, index, status);
        if (status != TANSU_OK && !all)
            break;
    }
    BSON_APPEND_INT32(&c->reply->doc, "n", (int32_t)matched);
    BSON_APPEND_INT32(&c->reply->doc, "nModified", (int32_t)modified);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    if (!bson_empty(&upserted))
        BSON_APPEND_ARRAY(&c->reply->doc, "upserted", &upserted);
    if (failed != 0)
        BSON_APPEND_ARRAY(&c->reply->doc, "writeErrors", &errors);
    bson_destroy(&upserted);
    bson_destroy(&errors);
}

/* run_delete -- delete. */
static void run_delete(const mongo_call *c) {
    bson_t statements, statement, query, errors = BSON_INITIALIZER;
    bson_iter_t iter;
    uint32_t index = 0, failed = 0;
    int64_t total = 0;
    REQUIRE(member_document(c->command, "deletes", &statements));
    for (bson_iter_init(&iter, &statements); bson_iter_next(&iter); index++) {
        bson_t hints = BSON_INITIALIZER;
        bson_iter_t limit;
        tansu_error error;
        int64_t removed = 0;
        REQUIRE(iter_document(&iter, &statement));
        if (!query_of(c, &statement, "q", &query) || !bson_has_field(&statement, "limit")) {
            c->reply->not_applicable = mongo_envelope;
            break;
        }
        if (mongo_given(&statement, "limit", &limit) && bson_iter_as_int64(&limit) == 1)
            BSON_APPEND_INT32(&hints, "$max", 1);
        mongo_copy(&hints, "$let", c->command, "let");
        put_collation(&hints, &statement);
        put_index(c, &hints, &statement);
        tansu_status status = tansu_remove(c->db, NULL, c->collection, document_of(&query),
                                           document_of(&hints), &removed, &error);
        bson_destroy(&hints);
        total += removed;
        if (status == TANSU_OK)
            continue;
        mongo_fail(c->reply, status, &error);
        c->reply->failed = false;
        put_write_error(&errors, &failed, index, status);
        break;
    }
    BSON_APPEND_INT32(&c->reply->doc, "n", (int32_t)total);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    if (failed != 0)
        BSON_APPEND_ARRAY(&c->reply->doc, "writeErrors", &errors);
    bson_destroy(&errors);
}

/* last_id -- the `_id` of the document that was inserted last. */
static bool last_id(const mongo_call *c, bson_t *doc) {
    tansu_cursor *cursor;
    tansu_document document;
    bool any = false;
    bson_t one;
    bson_iter_t iter;
    if (tansu_find(c->db, NULL, c->collection, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor,
                   NULL) != TANSU_OK)
        return false;
    while (tansu_cursor_next(cursor, &document, NULL) == TANSU_OK) {
        bson_reinit(doc);
        any = bson_init_static(&one, document.data, document.size) &&
              bson_iter_init_find(&iter, &one, "_id") &&
              bson_append_iter(doc, "upserted", -1, &iter);
    }
    tansu_cursor_close(cursor);
    return any;
}

/* put_modified -- the reply of findAndModify. */
static void put_modified(const mongo_call *c, const tansu_buffer *result, bool removes,
                         bool inserted) {
    bson_t last, doc, id = BSON_INITIALIZER;
    bool known = inserted && last_id(c, &id);
    bson_append_document_begin(&c->reply->doc, "lastErrorObject", -1, &last);
    BSON_APPEND_INT32(&last, "n", result->size != 0 || inserted);
    if (!removes)
        BSON_APPEND_BOOL(&last, "updatedExisting", result->size != 0 && !inserted);
    if (known)
        bson_concat(&last, &id);
    bson_append_document_end(&c->reply->doc, &last);
    if (result->size != 0 && bson_init_static(&doc, result->data, result->size))
        BSON_APPEND_DOCUMENT(&c->reply->doc, "value", &doc);
    else
        BSON_APPEND_NULL(&c->reply->doc, "value");
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    bson_destroy(&id);
}

/* is_flag -- whether a member is missing, or a bool or a number. */
static bool is_flag(const bson_t *doc, const char *name) {
    bson_iter_t iter;
    return !mongo_given(doc, name, &iter) || BSON_ITER_HOLDS_BOOL(&iter) ||
           BSON_ITER_HOLDS_NUMBER(&iter);
}

/* run_find_and_modify -- findAndModify. */
static void run_find_and_modify(const mongo_call *c) {
    bson_t query, update, hints = BSON_INITIALIZER;
    bson_iter_t iter;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    int64_t before = 0, after = 0;
    bool removes = mongo_given(c->command, "remove", &iter) && bson_iter_as_bool(&iter);
    bool returns_new = mongo_given(c->command, "new", &iter) && bson_iter_as_bool(&iter);
    if (!query_of(c, c->command, "query", &query))
        return;
    if (removes == mongo_given(c->command, "update", &iter) || (removes && returns_new) ||
        !is_flag(c->command, "remove") || !is_flag(c->command, "new")) {
        c->reply->not_applicable = mongo_envelope;
        return;
    }
    bson_init(&update);
    if (!removes && !update_of(c, c->command, "update", &update))
        return;
    mongo_copy(&hints, "$orderby", c->command, "sort");
    mongo_copy(&hints, "$fields", c->command, "fields");
    mongo_copy(&hints, "$upsert", c->command, "upsert");
    mongo_copy(&hints, "$arrayFilters", c->command, "arrayFilters");
    mongo_copy(&hints, "$maxTimeMS", c->command, "maxTimeMS");
    mongo_copy(&hints, "$let", c->command, "let");
    put_collation(&hints, c->command);
    put_index(c, &hints, c->command);
    tansu_modify_mode mode = removes       ? TANSU_MODIFY_REMOVE
                             : returns_new ? TANSU_MODIFY_RETURN_AFTER
                                           : TANSU_MODIFY_RETURN_BEFORE;
    CHECK_OK(tansu_count(c->db, NULL, c->collection, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &before,
                         NULL),
             NULL);
    tansu_status status = tansu_find_and_modify(c->db, NULL, c->collection, document_of(&query),
                                                removes ? TANSU_NO_DOCUMENT : document_of(&update),
                                                document_of(&hints), mode, &result, &error);
    CHECK_OK(
        tansu_count(c->db, NULL, c->collection, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &after, NULL),
        NULL);
    if (status != TANSU_OK)
        mongo_fail(c->reply, status, &error);
    else
        put_modified(c, &result, removes, after > before);
    tansu_buffer_free(&result);
    bson_destroy(&update);
    bson_destroy(&hints);
}

void mongo_run(tansu_db *db, const bson_t *command, mongo_reply *reply) {
    static const struct {
        const char *name;
        void (*run)(const mongo_call *c);
    } commands[] = {
        {"find", run_find},
        {"aggregate", run_aggregate},
        {"count", run_count},
        {"distinct", run_distinct},
        {"insert", run_insert},
        {"update", run_update},
        {"delete", run_delete},
        {"findAndModify", run_find_and_modify},
        {"createIndexes", mongo_create_indexes},
        {"dropIndexes", mongo_drop_indexes},
        {"listIndexes", mongo_list_indexes},
        {"create", mongo_create},
        {"collMod", mongo_modify},
        {"drop", mongo_drop},
    };
    bson_iter_t iter;
    bson_init(&reply->doc);
    reply->failed = false;
    reply->not_applicable = NULL;
    reply->message[0] = '\0';
    REQUIRE(bson_iter_init(&iter, command) && bson_iter_next(&iter));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, bson_iter_key(&iter)) != 0)
            continue;
        mongo_call c = {db, command, bson_iter_utf8(&iter, NULL), reply};
        commands[i].run(&c);
        return;
    }
    reply->not_applicable = "options of a server";
}
