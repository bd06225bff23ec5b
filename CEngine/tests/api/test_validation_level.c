/*
 * test_validation_level.c -- what becomes of documents that violate the validator of their
 * collection: refused, saved and reported, or saved; and how that is changed and kept.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/copy_calls.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was reported. */
static struct {
    unsigned count;
    char last[400];  /* the collection, the document and the violation */
    bool only_count; /* while allocations fail */
    tansu_db *save_in;
} heard;

/* append_text -- appends a document as JSON. */
static void append_text(tansu_document document) {
    tansu_buffer json = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_bson_to_json(document, 0, &json, NULL), NULL);
    size_t end = strlen(heard.last);
    snprintf(heard.last + end, sizeof heard.last - end, " %.*s", (int)json.size,
             (const char *)json.data);
    tansu_buffer_free(&json);
}

static void hear(void *context, const tansu_log_event *event) {
    CHECK(context == &heard);
    CHECK_INT(TANSU_LOG_VALIDATION, event->kind);
    CHECK_INT(TANSU_E_INVALID_DOCUMENT, event->status);
    heard.count++;
    if (heard.only_count)
        return;
    snprintf(heard.last, sizeof heard.last, "%s", event->collection);
    append_text(event->query);
    append_text(event->hints);
    if (heard.save_in != NULL) {
        tansu_db *db = heard.save_in;
        heard.save_in = NULL;
        CHECK_OK(call_save(db, NULL, "log", TANSU_SAVE, "{'_id': 1}"), &call_error);
    }
}

/* open_with -- a memory store whose collection "c" has these options. */
static tansu_db *open_with(const char *collection_options) {
    tansu_options options = call_options(NULL);
    options.store = TANSU_STORE_MEMORY;
    options.log = hear;
    options.log_context = &heard;
    heard.count = 0;
    heard.last[0] = 0;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_ensure(db, NULL, "c", collection_options), &call_error);
    return db;
}

static tansu_status save(tansu_db *db, const char *json) {
    return call_save(db, NULL, "c", TANSU_SAVE, json);
}

/* execute -- the answer of a command in which single quotes stand for double ones. */
static const char *execute(tansu_db *db, const char *command) {
    static char kept[2000];
    char request[2000], *answer = NULL;
    snprintf(request, sizeof request, "%s", command);
    for (char *at = request; *at != 0; at++)
        *at = *at == '\'' ? '"' : *at;
    (void)tansu_execute_json(db, request, &answer);
    snprintf(kept, sizeof kept, "%s", answer == NULL ? "" : answer);
    tansu_free(answer);
    return kept;
}

#define QUERY "'validator': {'n': {'$gte': 0}}"
#define BAD_MESSAGE                                                                         \
    "\"message\": \"The document violates the validator of collection \\\"c\\\": n: $gte: " \
    "{\\\"$gte\\\": 0} does not hold\""

/* ---- Levels ---- */

static void warnings_let_the_write_pass(void) {
    tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
    CHECK_OK(save(db, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_INT(0, heard.count);
    CHECK_OK(save(db, "{'_id': 2, 'n': -1}"), &call_error);
    CHECK_INT(1, heard.count);
    CHECK_TEXT("c {\"_id\": 2} {\"path\": \"n\", \"rule\": \"$gte\", " BAD_MESSAGE "}", heard.last);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {'$expr': {'$lt': ['$n', 0]}}}"),
             &call_error);
    CHECK_OK(save(db, "{'_id': 'x', 'n': 1}"), &call_error);
    CHECK(strstr(heard.last, "c {\"_id\": \"x\"} {\"path\": \"\", \"rule\": \"$expr\", ") ==
          heard.last);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {'properties': {'a: b': {'minimum': 0}}}}"),
             &call_error);
    CHECK_OK(save(db, "{'_id': 3, 'a: b': -1}"), &call_error);
    CHECK(strstr(heard.last, "c {\"_id\": 3} {\"path\": \"a: b\", \"rule\": \"minimum\", ") ==
          heard.last);
    CHECK_INT(3, heard.count);
    CHECK_INT(3, call_statistic(db, "validationWarnings"));
    CHECK_INT(4, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void warnings_are_of_calls_that_succeed(void) {
    tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK(strstr(execute(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 'u': 1}, "
                             "{'_id': 2, 'u': 1}]}"),
                 "NOT_UNIQUE") != NULL);
    CHECK_INT(0, heard.count);
    CHECK(strstr(execute(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 'u': 1}, "
                             "{'_id': 2, 'u': 2}]}"),
                 "\"ok\": true") != NULL);
    CHECK_INT(2, heard.count);
    CHECK(strstr(execute(db, "{'op': 'update', 'collection': 'c', 'query': {}, 'update': "
                             "{'$set': {'x': 1}}}"),
                 "\"modified\": 2") != NULL);
    CHECK_INT(4, heard.count);
    /* In a transaction each call reports; the function may write outside of transactions. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 9, 'u': 9}"), &call_error);
    CHECK_INT(5, heard.count);
    tansu_txn_abort(txn);
    heard.save_in = db;
    CHECK_OK(save(db, "{'_id': 9, 'u': 9}"), &call_error);
    CHECK_INT(6, heard.count);
    CHECK_INT(1, call_count(db, NULL, "log", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void the_first_warnings_of_a_call_are_reported(void) {
    tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
    bson_t *bad = bson_from_text("{'n': -1}");
    tansu_document list[150];
    for (size_t i = 0; i < 150; i++)
        list[i] = document_of(bad);
    CHECK_OK(tansu_save(db, NULL, "c", list, 150, TANSU_SAVE, NULL, &call_error), &call_error);
    CHECK_INT(100, heard.count);
    CHECK_INT(150, call_statistic(db, "validationWarnings"));
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, bad), &call_error);
    CHECK_INT(101, heard.count);
    bson_destroy(bad);
    call_close(db);
}

static void warnings_need_no_function(void) {
    tansu_db *db = memory_db_open();
    CHECK_OK(call_ensure(db, NULL, "c", "{" QUERY ", 'validationLevel': 'warn'}"), &call_error);
    CHECK_OK(save(db, "{'_id': 2, 'n': -1}"), &call_error);
    CHECK_INT(1, call_statistic(db, "validationWarnings"));
    call_close(db);
}

static void off_checks_nothing(void) {
    tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'off'}");
    CHECK_OK(save(db, "{'_id': 2, 'n': -1}"), &call_error);
    CHECK_INT(0, heard.count);
    CHECK_INT(0, call_statistic(db, "validationWarnings"));
    /* What is set must be a validator all the same. */
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_ensure(db, NULL, "c", "{'validator': {'n': {'$gtx': 0}}}"));
    call_close(db);
}

static void moderate_lets_violations_be_changed(void) {
    tansu_db *db = open_with("{'local': false}");
    CHECK_OK(save(db, "{'_id': 1, 'n': -1}"), &call_error);
    CHECK_OK(save(db, "{'_id': 2, 'n': 2}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{" QUERY ", 'validationLevel': 'moderate'}"), &call_error);
    CHECK_OK(save(db, "{'_id': 1, 'n': -5}"), &call_error);
    CHECK(strstr(execute(db, "{'op': 'update', 'collection': 'c', 'query': {'_id': 1}, 'update': "
                             "{'$set': {'x': 1}}}"),
                 "\"modified\": 1") != NULL);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 2, 'n': -5}"));
    CHECK_TEXT("n: $gte", call_error.context);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 3, 'n': -5}"));
    CHECK_OK(save(db, "{'_id': 1, 'n': 1}"), &call_error);
    /* From now on it is one that satisfies it. */
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 1, 'n': -5}"));
    CHECK_TEXT("n: $gte", call_error.context);
    CHECK_INT(0, heard.count);
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* ---- Changing them ---- */

static void a_level_is_changed_on_its_own(void) {
    tansu_db *db = open_with("{" QUERY "}");
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 1, 'n': -1}"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'validationLevel': 'warn'}"), &call_error);
    CHECK_OK(save(db, "{'_id': 1, 'n': -1}"), &call_error);
    CHECK_TEXT("{ \"name\" : \"c\", \"documents\" : 1, \"options\" : { \"local\" : false, "
               "\"validator\" : { \"n\" : { \"$gte\" : 0 } }, \"validationLevel\" : \"warn\" } }",
               call_collection(db, NULL, "c"));
    /* Strict needs documents that satisfy the validator; the others do not. */
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 call_ensure(db, NULL, "c", "{'validationLevel': 'strict'}"));
    CHECK_TEXT("n: $gte", call_error.context);
    CHECK(strstr(call_error.message, "the document with the _id 1; fix it first") != NULL);
    CHECK(strstr(call_collection(db, NULL, "c"), "\"warn\"") != NULL);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validationLevel': 'off'}"), &call_error);
    CHECK_STATUS(
        TANSU_E_INVALID_DOCUMENT,
        call_ensure(db, NULL, "c", "{'validator': {'n': 1}, 'validationLevel': 'strict'}"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {'n': 1}, 'validationLevel': 'moderate'}"),
             &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validator': {'n': {'$lt': 0}}}"), &call_error);
    CHECK(strstr(call_collection(db, NULL, "c"), "\"moderate\"") != NULL);
    CHECK_OK(call_ensure(db, NULL, "c", "{'validationLevel': 'strict'}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 1, 'n': 1}"));
    CHECK(strstr(call_collection(db, NULL, "c"), "validationLevel") == NULL);
    /* Without a validator, a level waits for one. */
    CHECK_OK(call_ensure(db, NULL, "d", "{'validationLevel': 'warn'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'n': -1}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "d", "{" QUERY "}"), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'n': -1}"), &call_error);
    call_close(db);
}

static void an_action_is_a_level(void) {
    static const char *const cases[][2] = {
        {"{'validationAction': 'warn'}", "\"warn\""},
        {"{'validationLevel': 'strict', 'validationAction': 'warn'}", "\"warn\""},
        {"{'validationAction': 'warn', 'validationLevel': 'moderate'}", "\"warn\""},
        {"{'validationLevel': 'warn', 'validationAction': 'warn'}", "\"warn\""},
        {"{'validationLevel': 'off', 'validationAction': 'warn'}", "\"off\""},
        {"{'validationLevel': 'off', 'validationAction': 'error'}", "\"off\""},
        {"{'validationLevel': 'moderate', 'validationAction': 'error'}", "\"moderate\""},
        {"{'validationAction': 'error'}", NULL},
        {"{'validationLevel': 'strict', 'validationAction': 'error'}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
        CHECK_OK(call_ensure(db, NULL, "c", cases[i][0]), &call_error);
        const char *is = call_collection(db, NULL, "c");
        CHECK(strstr(is, "validationAction") == NULL);
        CHECK((strstr(is, "validationLevel") != NULL) == (cases[i][1] != NULL));
        CHECK(cases[i][1] == NULL || strstr(is, cases[i][1]) != NULL);
        call_close(db);
    }
    static const char *const bad[][2] = {
        {"{'validationLevel': 'none'}", "validationLevel"},
        {"{'validationLevel': 'Strict'}", "validationLevel"},
        {"{'validationLevel': false}", "validationLevel"},
        {"{'validationLevel': ''}", "validationLevel"},
        {"{'validationLevel': null}", "validationLevel"},
        {"{'validationAction': 'log'}", "validationAction"},
        {"{'validationAction': 1}", "validationAction"},
        {"{'validationLevel': 'warn', 'validationAction': 'error'}", "validationAction"},
        {"{'validationLevel': 'warn', 'validationLevel': 'warn'}", "validationLevel"},
    };
    tansu_db *db = open_with("{" QUERY "}");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", bad[i][0]));
        CHECK_TEXT(bad[i][1], call_error.context);
    }
    call_close(db);
}

static void the_command_changes_them(void) {
    tansu_db *db = open_with("{'local': false}");
    CHECK_TEXT("{\"ok\": true}",
               execute(db, "{'op': 'setValidator', 'collection': 'c', 'validator': {'n': {'$gte': "
                           "0}}}"));
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, save(db, "{'_id': 1, 'n': -1}"));
    CHECK_TEXT("{\"ok\": true}",
               execute(db, "{'op': 'setValidator', 'collection': 'c', 'validationLevel': 'warn'}"));
    CHECK_OK(save(db, "{'_id': 1, 'n': -1}"), &call_error);
    CHECK(strstr(execute(db, "{'op': 'setValidator', 'collection': 'c', 'validationAction': "
                             "'error'}"),
                 "INVALID_DOCUMENT") != NULL);
    CHECK_TEXT("{\"ok\": true}",
               execute(db, "{'op': 'setValidator', 'collection': 'c', 'validator': false, "
                           "'validationLevel': 'strict'}"));
    CHECK_TEXT("{ \"name\" : \"c\", \"documents\" : 1, \"options\" : { \"local\" : false } }",
               call_collection(db, NULL, "c"));
    static const char *const bad[][2] = {
        {"{'op': 'setValidator', 'collection': 'c'}", "INVALID_COMMAND"},
        {"{'op': 'setValidator', 'validator': false}", "INVALID_COMMAND"},
        {"{'op': 'setValidator', 'collection': 'c', 'validationLevel': 1}", "INVALID_COMMAND"},
        {"{'op': 'setValidator', 'collection': 'c', 'options': {}}", "INVALID_COMMAND"},
        {"{'op': 'setValidator', 'collection': 'c', 'validator': 1}", "INVALID_QUERY"},
        {"{'op': 'setValidator', 'collection': 'none', 'validator': false}", "NOT_FOUND"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(strstr(execute(db, bad[i][0]), bad[i][1]) != NULL);
    CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "none"));
    /* In a transaction, with what follows, and not in a savepoint. */
    CHECK(strstr(execute(db, "{'op': 'transaction', 'commands': [{'op': 'setValidator', "
                             "'collection': 'c', 'validator': {'n': -1}}, {'op': 'save', "
                             "'collection': 'c', 'documents': [{'n': 1}]}]}"),
                 "INVALID_DOCUMENT") != NULL);
    CHECK(strstr(call_collection(db, NULL, "c"), "validator") == NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_ensure(db, txn, "c", "{'validationLevel': 'off'}"));
    CHECK_OK(call_ensure(db, txn, "c", "{'validationLevel': 'strict'}"), &call_error);
    tansu_txn_abort(txn);
    call_close(db);
}

/* ---- Keeping them ---- */

static void they_go_with_their_collection(void) {
    static const char *const levels[] = {"strict", "moderate", "warn", "off"};
    for (size_t level = 0; level < 4; level++) {
        char *folder = folder_new(), options[200];
        tansu_db *db = call_open(path_in(folder, "db"));
        /* Documents that violate it are there, unless it is strict. */
        if (level != 0)
            CHECK_OK(call_save(db, NULL, "x", TANSU_SAVE, "{'_id': 1, 'n': -1}"), &call_error);
        snprintf(options, sizeof options, "{" QUERY ", 'validationLevel': '%s'}", levels[level]);
        CHECK_OK(call_ensure(db, NULL, "x", options), &call_error);
        CHECK_OK(tansu_collection_rename(db, NULL, "x", "c", &call_error), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        char before[300];
        snprintf(before, sizeof before, "%s", call_collection(db, NULL, "c"));
        CHECK((strstr(before, levels[level]) != NULL) == (level != 0));
        tansu_db *copies[COPIES + 1];
        copies_open(db, folder, "db", copies);
        copies[COPIES] = call_open(path_in(folder, "db"));
        for (int i = 0; i <= COPIES; i++) {
            CHECK_TEXT(before, call_collection(copies[i], NULL, "c"));
            CHECK_INT(0, call_statistic(copies[i], "validationWarnings"));
            CHECK_STATUS(level < 2 ? TANSU_E_INVALID_DOCUMENT : TANSU_OK,
                         save(copies[i], "{'_id': 2, 'n': -1}"));
            if (level != 0)
                CHECK_OK(save(copies[i], "{'_id': 1, 'n': -2}"), &call_error);
            CHECK(maintenance_clean(copies[i]));
            call_close(copies[i]);
        }
        folder_end(folder);
    }
}

static void a_load_into_a_collection_is_checked(void) {
    tansu_db *from = open_with("{'local': false}");
    CHECK_OK(save(from, "{'_id': 1, 'n': -1}"), &call_error);
    CHECK_OK(call_ensure(from, NULL, "c", "{" QUERY ", 'validationLevel': 'moderate'}"),
             &call_error);
    tansu_buffer dump = dump_all(from);
    call_close(from);
    tansu_db *to = open_with("{'local': false}");
    /* The dump brings the validator; the document is new there. */
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, load_text(to, dump.data, dump.size, "{}"));
    CHECK_INT(0, call_count(to, NULL, "c", "{}"));
    CHECK_OK(tansu_collection_drop(to, NULL, "c", &call_error), &call_error);
    CHECK_OK(load_text(to, dump.data, dump.size, "{}"), &call_error);
    CHECK_INT(1, call_count(to, NULL, "c", "{}"));
    tansu_buffer_free(&dump);
    call_close(to);
}

static void out_and_merge_obey_the_level(void) {
    tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 2, 'n': -2}"), &call_error);
    static const char *const stages[] = {"'$out': 'c'", "'$merge': {'into': 'c'}"};
    for (unsigned i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "{'op': 'aggregate', 'collection': 'd', 'pipeline': [{'$set': {'at': %u}}, {%s}]}",
                 i, stages[i]);
        CHECK(strstr(execute(db, command), "\"ok\": true") != NULL);
        CHECK_INT(i + 1, heard.count);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    }
    CHECK(strstr(call_collection(db, NULL, "c"), "\"warn\"") != NULL);
    call_close(db);
}

static void a_warning_may_lack_memory(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = open_with("{" QUERY ", 'validationLevel': 'warn'}");
        bson_t *bad = bson_from_text("{'_id': 1, 'n': -1}");
        bson_t *options = bson_from_text("{'validationLevel': 'moderate'}");
        heard.only_count = true;
        fault_start(FAULT_MEMORY, nth, false, 0);
        tansu_status saved = call_save_bson(db, NULL, "c", TANSU_SAVE, bad);
        tansu_status again = call_save_bson(db, NULL, "c", TANSU_SAVE, bad);
        tansu_status set = tansu_collection_ensure(db, NULL, "c", document_of(options), NULL);
        fault_stop();
        met = fault_occurred();
        heard.only_count = false;
        CHECK(saved == TANSU_OK || (met && saved == TANSU_E_MEMORY));
        CHECK(again == TANSU_OK || (met && again == TANSU_E_MEMORY));
        CHECK(set == TANSU_OK || (met && set == TANSU_E_MEMORY));
        CHECK_INT((saved == TANSU_OK) + (again == TANSU_OK), heard.count);
        CHECK_INT(saved == TANSU_OK || again == TANSU_OK, call_count(db, NULL, "c", "{}"));
        CHECK((strstr(call_collection(db, NULL, "c"), "moderate") != NULL) == (set == TANSU_OK));
        CHECK(maintenance_clean(db));
        bson_destroy(bad);
        bson_destroy(options);
        call_close(db);
    }
}

int main(void) {
    RUN(warnings_let_the_write_pass);
    RUN(warnings_are_of_calls_that_succeed);
    RUN(the_first_warnings_of_a_call_are_reported);
    RUN(warnings_need_no_function);
    RUN(off_checks_nothing);
    RUN(moderate_lets_violations_be_changed);
    RUN(a_level_is_changed_on_its_own);
    RUN(an_action_is_a_level);
    RUN(the_command_changes_them);
    RUN(they_go_with_their_collection);
    RUN(a_load_into_a_collection_is_checked);
    RUN(out_and_merge_obey_the_level);
    RUN(a_warning_may_lack_memory);
    return check_finish();
}
