/*
 * test_validator.c -- collections whose documents satisfy a schema: whichever way a document is
 * written, one that violates it is refused with the same error, and nothing of the call is kept.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/copy_calls.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA "{'properties': {'n': {'minimum': 0}, 'r': {'type': 'string'}}}"
#define VALIDATOR "{'validator': " SCHEMA "}"
/* One of all that needs memory: names, references, patterns, values, marks. */
#define WIDE_VALIDATOR                                                                         \
    "{'validator': {'$id': 'http://a/b/c', 'properties': {'n': {'$ref': 'd#m'}, '_id': {}}, "  \
    "'$defs': {'d': {'$id': 'd', '$anchor': 'm', 'allOf': [{'$ref': '#/definitions/x'}], "     \
    "'definitions': {'x': {'minimum': 0, 'multipleOf': 1}}}}, "                                \
    "'patternProperties': {'^z': {'enum': [{'a': [1]}]}}, 'propertyNames': {'maxLength': 9}, " \
    "'dependencies': {'y': ['n'], 'x': {'required': ['n']}}, 'anyOf': [{'items': [{}]}, {}], " \
    "'if': {'contains': {}}, 'then': {}, 'unevaluatedProperties': false}}"

/* validated -- a memory store whose collection "c" has a validator, and two documents. */
static tansu_db *validated(void) {
    tansu_db *db = memory_db_open();
    CHECK_OK(call_ensure(db, NULL, "c", VALIDATOR), &call_error);
    save_text(db, "{'_id': 1, 'n': 1}");
    save_text(db, "{'_id': 2, 'n': 2, 'r': 'x'}");
    return db;
}

/* documents -- of the collection. */
static const char *documents(tansu_db *db) {
    return call_find(db, NULL, "c", "{}", "{'$orderby': {'_id': 1}}");
}

/* check_violation -- whether the last call has the error of a document, whose offset is that. */
static void check_violation(tansu_status status, const char *context, int64_t offset) {
    CHECK_INT(TANSU_E_INVALID_DOCUMENT, status);
    CHECK_TEXT(context, call_error.context);
    CHECK_INT(offset, call_error.offset);
    CHECK(strstr(call_error.message, "schema of collection \"c\"") != NULL);
}

/* ---- Ways of writing ---- */

/* One way to write a document with n = -1; its status. */
typedef tansu_status (*way)(tansu_db *db, tansu_txn *txn);

static tansu_status by_save(tansu_db *db, tansu_txn *txn) {
    return call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'n': -1}");
}
static tansu_status by_insert(tansu_db *db, tansu_txn *txn) {
    return call_save(db, txn, "c", TANSU_INSERT, "{'n': -1}");
}
static tansu_status by_replace(tansu_db *db, tansu_txn *txn) {
    return call_save(db, txn, "c", TANSU_REPLACE, "{'_id': 2, 'n': -1}");
}
static tansu_status by_copy(tansu_db *db, tansu_txn *txn) {
    return call_save(db, txn, "c", TANSU_COPY, "{'_id': 2, 'n': -1}");
}

/* change -- an update, whose documents follow its answer. */
static tansu_status change(tansu_db *db, tansu_txn *txn, const char *query, const char *update) {
    bson_t *q = bson_from_text(query), *u = bson_from_text(update);
    tansu_status status = tansu_update(db, txn, "c", document_of(q), document_of(u),
                                       TANSU_NO_DOCUMENT, NULL, &call_error);
    bson_destroy(q);
    bson_destroy(u);
    return status;
}
static tansu_status by_update(tansu_db *db, tansu_txn *txn) {
    return change(db, txn, "{}", "{'$inc': {'n': -2}}");
}
static tansu_status by_upsert(tansu_db *db, tansu_txn *txn) {
    return change(db, txn, "{'_id': 3}", "{'$set': {'n': -1}, '$upsert': {}}");
}
static tansu_status by_modify(tansu_db *db, tansu_txn *txn) {
    bson_t *q = bson_from_text("{'_id': 2}"), *u = bson_from_text("{'$set': {'n': -1}}");
    tansu_status status =
        tansu_find_and_modify(db, txn, "c", document_of(q), document_of(u), TANSU_NO_DOCUMENT,
                              TANSU_MODIFY_RETURN_AFTER, NULL, &call_error);
    bson_destroy(q);
    bson_destroy(u);
    return status;
}

static const way ways[] = {by_save,   by_insert, by_replace, by_copy,
                           by_update, by_upsert, by_modify};

static void every_way_of_writing_is_checked(void) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        tansu_db *db = validated();
        char before[400];
        snprintf(before, sizeof before, "%s", documents(db));
        bool saves = i < 4;
        check_violation(ways[i](db, NULL), "n: minimum", saves ? 0 : -1);
        CHECK_TEXT(before, documents(db));
        /* In a transaction the others of its changes stay. */
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 9, 'n': 9}"), &call_error);
        check_violation(ways[i](db, txn), "n: minimum", saves ? 0 : -1);
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        CHECK_INT(3, call_count(db, NULL, "c", "{}"));
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void the_offset_names_the_document(void) {
    tansu_db *db = validated();
    bson_t *good = bson_from_text("{'_id': 5}"), *bad = bson_from_text("{'_id': 6, 'n': -1}");
    const tansu_document list[] = {document_of(good), document_of(bad)};
    check_violation(tansu_save(db, NULL, "c", list, 2, TANSU_SAVE, NULL, &call_error), "n: minimum",
                    1);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    bson_destroy(good);
    bson_destroy(bad);
    call_close(db);
}

static void commands_and_loads_are_checked(void) {
    tansu_db *db = validated();
    char *answer = NULL;
    CHECK_INT(TANSU_E_INVALID_DOCUMENT,
              tansu_execute_json(db,
                                 "{\"op\": \"save\", \"collection\": \"c\", \"documents\": "
                                 "[{\"_id\": 5, \"n\": -1}]}",
                                 &answer));
    CHECK(answer != NULL && strstr(answer, "n: minimum") != NULL);
    tansu_free(answer);
    const char *lines = "{\"_id\": 5, \"n\": 1}\n{\"_id\": 6, \"n\": -1}\n";
    CHECK_INT(TANSU_E_INVALID_DOCUMENT,
              load_text(db, lines, strlen(lines), "{'collection': 'c', 'atomic': true}"));
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void a_delete_rule_cannot_break_it(void) {
    tansu_db *db = validated();
    CHECK_OK(call_ensure(db, NULL, "c",
                         "{'references': [{'path': 'r', 'to': 'd', 'onDelete': 'nullify'}]}"),
             &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 'x'}"), &call_error);
    check_violation(call_remove_id(db, NULL, "d", "{'_id': 'x'}", NULL), "r: type", -1);
    CHECK_INT(1, call_count(db, NULL, "d", "{}"));
    call_close(db);
}

/* ---- The option ---- */

static void it_is_set_when_all_documents_satisfy_it(void) {
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id': 1, 'n': -1}");
    CHECK_INT(TANSU_E_INVALID_DOCUMENT, call_ensure(db, NULL, "c", VALIDATOR));
    CHECK_TEXT("n: minimum", call_error.context);
    CHECK(strstr(call_error.message, "the document with the _id 1; fix it first") != NULL);
    save_text(db, "{'_id': 2, 'n': -2}");
    CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {'$jsonSchema': " SCHEMA "}}"), &call_error);
    CHECK_TEXT(
        "{ \"name\" : \"c\", \"documents\" : 0, \"options\" : { \"local\" : false, "
        "\"validator\" : { \"$jsonSchema\" : { \"properties\" : { \"n\" : { \"minimum\" : 0 }, "
        "\"r\" : { \"type\" : \"string\" } } } } } }",
        call_collection(db, NULL, "c"));
    check_violation(by_save(db, NULL), "n: minimum", 0);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {}}"), &call_error);
    CHECK_OK(by_save(db, NULL), &call_error);
    CHECK_TEXT("{ \"name\" : \"c\", \"documents\" : 1, \"options\" : { \"local\" : false } }",
               call_collection(db, NULL, "c"));
    call_close(db);
}

static void bad_schemas_are_refused(void) {
    tansu_db *db = memory_db_open();
    static const char *const bad[][2] = {
        {"{'validator': 1}", "validator"},
        {"{'validator': {'minimum': 'x'}}", "minimum"},
        {"{'validator': {'properties': {'a': {'what': 1}}}}", "properties.a.what"},
        {"{'validator': {'$jsonSchema': {'$jsonSchema': " SCHEMA "}}}", "$jsonSchema"},
        {"{'validator': {'$jsonSchema': {'name': 1}}}", "name"},
        {"{'validator': {'type': 'dog'}}", "type"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "new", bad[i][0]));
        CHECK_TEXT(bad[i][1], call_error.context);
        CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "new"));
    }
    call_close(db);
}

/* check_whole -- whether an error is of whole characters. */
static void check_whole(void) {
    const char *message = call_error.message, *context = call_error.context;
    CHECK(utf8_valid((const uint8_t *)message, strlen(message)) == strlen(message));
    CHECK(utf8_valid((const uint8_t *)context, strlen(context)) == strlen(context));
}

static void errors_are_of_whole_characters(void) {
    /* Some of these are cut in a character, wherever the limits are. */
    for (size_t extra = 0; extra < 4; extra++) {
        tansu_db *db = memory_db_open();
        char name[400] = "aaa", text[900];
        name[extra] = 0;
        while (strlen(name) < 380)
            strcat(name, "\xF0\x9F\x8E\x89");
        snprintf(text, sizeof text, "{'validator': {'%s': 1, 'required': ['a']}}", name);
        CHECK_INT(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", text));
        check_whole();
        snprintf(text, sizeof text, "{'validator': {'bsonType': '%s'}}", name);
        CHECK_INT(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", text));
        check_whole();
        const char *schema = "{'validator': {'additionalProperties': {'type': 'string'}}}";
        snprintf(text, sizeof text, "{'_id': '%s', '%s': 1}", name, name);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
        CHECK_INT(TANSU_E_INVALID_DOCUMENT, call_ensure(db, NULL, "c", schema));
        check_whole();
        CHECK_OK(call_ensure(db, NULL, "d", schema), &call_error);
        CHECK_INT(TANSU_E_INVALID_DOCUMENT, call_save(db, NULL, "d", TANSU_SAVE, text));
        check_whole();
        CHECK(strstr(call_error.context, ": type") != NULL);
        snprintf(text, sizeof text, "{'$%s': {'n': 1}}", name);
        CHECK_INT(TANSU_E_INVALID_QUERY, change(db, NULL, "{}", text));
        check_whole();
        call_close(db);
    }
}

static void a_transaction_may_set_it(void) {
    tansu_db *db = memory_db_open();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_ensure(db, txn, "c", VALIDATOR), &call_error);
    check_violation(by_save(db, txn), "n: minimum", 0);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_INT(TANSU_E_INVALID_STATE, call_ensure(db, txn, "c", "{'validator': false}"));
    tansu_txn_abort(txn);
    CHECK_OK(by_save(db, NULL), &call_error);
    call_close(db);
}

static void it_goes_with_its_collection(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(path_in(folder, "db"));
    CHECK_OK(call_ensure(db, NULL, "c", VALIDATOR), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "x", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "x", "c", &call_error), &call_error);
    save_text(db, "{'_id': 1, 'n': 1}");
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    tansu_db *copies[COPIES + 1];
    copies_open(db, folder, "db", copies);
    copies[COPIES] = call_open(path_in(folder, "db"));
    for (int i = 0; i <= COPIES; i++) {
        check_violation(by_save(copies[i], NULL), "n: minimum", 0);
        CHECK_OK(tansu_collection_drop(copies[i], NULL, "c", &call_error), &call_error);
        CHECK_OK(by_save(copies[i], NULL), &call_error);
        CHECK(maintenance_clean(copies[i]));
        call_close(copies[i]);
    }
    folder_end(folder);
}

static void a_failed_allocation_leaves_all_or_nothing(void) {
    /* That of the C library fails in its own way. */
    if (!library_pcre2())
        return;
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = memory_db_open();
        save_text(db, "{'_id': 1, 'n': 1}");
        bson_t *options = bson_from_text(WIDE_VALIDATOR);
        fault_start(FAULT_MEMORY, nth, false, 0);
        tansu_status status =
            tansu_collection_ensure(db, NULL, "c", document_of(options), &call_error);
        fault_stop();
        met = fault_occurred();
        bson_destroy(options);
        CHECK(status == TANSU_OK || status == TANSU_E_MEMORY);
        if (status == TANSU_OK)
            check_violation(by_save(db, NULL), "n: minimum", 0);
        else
            CHECK_OK(by_save(db, NULL), &call_error);
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void a_refused_save_may_lack_memory(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = validated();
        char before[400];
        snprintf(before, sizeof before, "%s", documents(db));
        /* The call, and the same in a transaction that has changed something before. */
        bson_t *doc = bson_from_text("{'_id': 1, 'n': -1, 'r': 2}");
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 9, 'n': 9}"), &call_error);
        fault_start(FAULT_MEMORY, nth, false, 0);
        tansu_status within = call_save_bson(db, txn, "c", TANSU_SAVE, doc);
        met = fault_occurred();
        fault_stop();
        CHECK(within == TANSU_E_INVALID_DOCUMENT || (met && within == TANSU_E_MEMORY));
        CHECK_INT(3, call_count(db, txn, "c", "{}"));
        tansu_txn_abort(txn);
        fault_start(FAULT_MEMORY, nth, false, 0);
        tansu_status alone = call_save_bson(db, NULL, "c", TANSU_SAVE, doc);
        bool failed = fault_occurred();
        fault_stop();
        met = met || failed;
        CHECK(alone == TANSU_E_INVALID_DOCUMENT || (failed && alone == TANSU_E_MEMORY));
        CHECK_TEXT(before, documents(db));
        check_violation(by_save(db, NULL), "n: minimum", 0);
        CHECK_OK(call_save_bson(db, NULL, "d", TANSU_SAVE, doc), &call_error);
        CHECK(maintenance_clean(db));
        bson_destroy(doc);
        call_close(db);
    }
}

int main(void) {
    RUN(every_way_of_writing_is_checked);
    RUN(the_offset_names_the_document);
    RUN(commands_and_loads_are_checked);
    RUN(a_delete_rule_cannot_break_it);
    RUN(it_is_set_when_all_documents_satisfy_it);
    RUN(bad_schemas_are_refused);
    RUN(errors_are_of_whole_characters);
    RUN(a_transaction_may_set_it);
    RUN(it_goes_with_its_collection);
    RUN(a_failed_allocation_leaves_all_or_nothing);
    RUN(a_refused_save_may_lack_memory);
    return check_finish();
}
