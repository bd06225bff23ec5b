/*
 * test_timestamps.c -- collections whose documents are dated: whichever way a document is saved,
 * the date of its insertion stays and that of its last save is set; copies keep both.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two dates of a document; -1: none. */
typedef struct dates {
    int64_t created;
    int64_t updated;
} dates;

/* dates_at -- of the document with a number as `_id`; both -2 when there is none. */
static dates dates_at(tansu_db *db, tansu_txn *txn, int id, const char *created,
                      const char *updated) {
    dates d = {-2, -2};
    bson_t key = BSON_INITIALIZER, doc;
    bson_iter_t iter;
    tansu_buffer stored = TANSU_BUFFER_INIT;
    BSON_APPEND_INT32(&key, "_id", id);
    if (tansu_get(db, txn, "c", document_of(&key), &stored, NULL) == TANSU_OK &&
        bson_init_static(&doc, stored.data, stored.size)) {
        d = (dates){-1, -1};
        if (bson_iter_init_find(&iter, &doc, created) && BSON_ITER_HOLDS_DATE_TIME(&iter))
            d.created = bson_iter_date_time(&iter);
        if (bson_iter_init_find(&iter, &doc, updated) && BSON_ITER_HOLDS_DATE_TIME(&iter))
            d.updated = bson_iter_date_time(&iter);
    }
    tansu_buffer_free(&stored);
    bson_destroy(&key);
    return d;
}

static dates dates_of(tansu_db *db, int id) {
    return dates_at(db, NULL, id, "createdAt", "updatedAt");
}

/* dated -- a memory store whose collection "c" has timestamps. */
static tansu_db *dated(void) {
    tansu_db *db = memory_db_open();
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    return db;
}

/* is_between -- whether a date is from then on and not in the future. */
static bool is_between(int64_t date, int64_t from) {
    return date >= from && date <= clock_date();
}

static void wait_a_little(void) {
    const int64_t now = clock_date();
    while (clock_date() == now)
        clock_sleep(200000);
}

/* ---- Ways of saving ---- */

static void every_way_of_saving_sets_them(void) {
    static const char *const ways[][3] = {
        {"save", "{'_id': 1, 'n': 2, 'createdAt': 5, 'updatedAt': 'x'}", NULL},
        {"update", "{'_id': 1}", "{'$set': {'n': 3, 'createdAt': 7}}"},
        {"update", "{'_id': 1}", "{'$unset': {'createdAt': 1, 'updatedAt': 1}}"},
        {"update", "{'_id': 1}", "{'$replace': {'n': 9}}"},
        {"modify", "{'_id': 1}", "{'$inc': {'n': 1}}"},
    };
    tansu_db *db = dated();
    const int64_t began = clock_date();
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1, 'n': 1}"), &call_error);
    const dates first = dates_of(db, 1);
    CHECK(is_between(first.created, began));
    CHECK_INT(first.created, first.updated);
    dates last = first;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        wait_a_little();
        const int64_t before = clock_date();
        if (strcmp(ways[i][0], "save") == 0)
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, ways[i][1]), &call_error);
        else if (strcmp(ways[i][0], "update") == 0)
            CHECK(strstr(update_text(db, NULL, ways[i][1], ways[i][2], NULL), "\"modified\" : 1") !=
                  NULL);
        else
            CHECK(strstr(find_and_modify_text(db, ways[i][1], ways[i][2], NULL,
                                              TANSU_MODIFY_RETURN_AFTER),
                         "updatedAt") != NULL);
        const dates now = dates_of(db, 1);
        CHECK_INT(first.created, now.created);
        CHECK(is_between(now.updated, before) && now.updated > last.updated);
        last = now;
    }
    /* An update that changes nothing is no save. */
    CHECK(strstr(update_text(db, NULL, "{'_id': 1}", "{'$set': {'n': 10}}", NULL),
                 "\"modified\" : 0") != NULL);
    CHECK_INT(last.updated, dates_of(db, 1).updated);
    /* An upsert inserts. */
    update_text(db, NULL, "{'_id': 2}", "{'$set': {'n': 1}, '$upsert': true}", NULL);
    CHECK(is_between(dates_of(db, 2).created, began));
    call_close(db);
}

static void the_returned_document_is_the_stored_one(void) {
    tansu_db *db = dated();
    save_text(db, "{'_id': 1, 'n': 1}");
    char returned[400];
    snprintf(returned, sizeof returned, "%s",
             find_and_modify_text(db, "{'_id': 1}", "{'$inc': {'n': 1}}", NULL,
                                  TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT(returned, find_documents(db, "{'_id': 1}", NULL));
    snprintf(returned, sizeof returned, "%s",
             find_and_modify_text(db, "{'a': 5}", "{'$set': {'b': 1}, '$upsert': true}", NULL,
                                  TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT(returned, find_documents(db, "{'a': 5}", NULL));
    call_close(db);
}

static void indexes_have_the_dates(void) {
    tansu_db *db = dated();
    create_index(db, "u", "{'updatedAt': 1}", NULL);
    const int64_t began = clock_date();
    char query[100];
    save_text(db, "{'_id': 1, 'updatedAt': 7}");
    snprintf(query, sizeof query, "{'updatedAt': {'$gte': {'$date': {'$numberLong': '%lld'}}}}",
             (long long)began);
    CHECK_TEXT("1", find_ids(db, query, "{'$index': 'u'}"));
    CHECK_TEXT("\"u\"", plan_field(db, query, "{'$index': 'u'}", "plan.index"));
    CHECK_INT(0, count_matches(db, "{'updatedAt': 7}", NULL));
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* A document that is dated ahead of the clock, as after the clock went back: its last save is not
 * before its insertion. */
/* A document that brings other dates, of a form that is known by then: indexes have the dates that
 * are stored. */
static void indexes_do_not_have_the_dates_that_were_given(void) {
    tansu_db *db = dated();
    create_index(db, "updated", "{'updatedAt': 1}", NULL);
    create_index(db, "both", "{'createdAt': -1, 'n': 1}", NULL);
    for (int i = 0; i < 20; i++) {
        char doc[128];
        snprintf(doc, sizeof doc,
                 "{'_id': %d, 'n': %d, 'createdAt': {'$date': {'$numberLong': '5'}}, 'updatedAt': "
                 "{'$date': {'$numberLong': '6'}}}",
                 i % 10, i);
        save_text(db, doc);
    }
    CHECK_INT(10, count_matches(db, "{'updatedAt': {'$gt': {'$date': 6}}}", NULL));
    CHECK_INT(10, count_matches(db, "{'createdAt': {'$gt': {'$date': 5}}}", NULL));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void a_clock_that_goes_back_does_no_harm(void) {
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id': 1, 'createdAt': {'$date': {'$numberLong': '99999999999999'}}}");
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    save_text(db, "{'_id': 1, 'n': 1}");
    const dates d = dates_of(db, 1);
    CHECK_INT(99999999999999, d.created);
    CHECK_INT(99999999999999, d.updated);
    call_close(db);
}

/* ---- The option ---- */

static void the_names_are_those_of_the_option(void) {
    tansu_db *db = memory_db_open();
    const int64_t began = clock_date();
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': {'updated': 'Geändert'}}"), &call_error);
    save_text(db, "{'_id': 1, 'createdAt': 1}");
    CHECK(is_between(dates_at(db, NULL, 1, "x", "Geändert").updated, began));
    CHECK_INT(1, count_matches(db, "{'createdAt': 1, 'updatedAt': {'$exists': false}}", NULL));
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': {'created': 'made'}}"), &call_error);
    save_text(db, "{'_id': 2}");
    CHECK(is_between(dates_at(db, NULL, 2, "made", "x").created, began));
    CHECK_TEXT("{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 2, \"options\" : { "
               "\"local\" : false, \"timestamps\" : { \"created\" : \"made\" } } } ] }",
               call_collections(db, NULL));
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': false}"), &call_error);
    save_text(db, "{'_id': 3, 'made': 1}");
    CHECK_INT(1, count_matches(db, "{'made': 1}", NULL));
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': null}"), &call_error);
    call_close(db);
}

/* A document that was inserted before the collection had the option has no date of insertion. */
static void older_documents_get_no_date_of_insertion(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id': 1}", NULL});
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    save_text(db, "{'_id': 1, 'n': 1}");
    CHECK_INT(-1, dates_of(db, 1).created);
    CHECK(dates_of(db, 1).updated > 0);
    call_close(db);
}

static void bad_options_are_refused(void) {
    static const char *const bad[] = {
        "{'timestamps': 1}",
        "{'timestamps': 'createdAt'}",
        "{'timestamps': []}",
        "{'timestamps': {}}",
        "{'timestamps': {'created': 5}}",
        "{'timestamps': {'created': ''}}",
        "{'timestamps': {'created': '_id'}}",
        "{'timestamps': {'created': 'a.b'}}",
        "{'timestamps': {'created': '$a'}}",
        "{'timestamps': {'created': 'a', 'updated': 'a'}}",
        "{'timestamps': {'created': 'a', 'changed': 'b'}}",
    };
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", bad[i]));
        CHECK_TEXT("timestamps", call_error.context);
    }
    char name[200], option[260];
    memset(name, 'n', sizeof name);
    name[121] = 0;
    snprintf(option, sizeof option, "{'timestamps': {'created': '%s'}}", name);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", option));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL));
    call_close(db);
}

/* A document of the largest size has no space for dates. */
static void a_document_may_be_too_large_for_them(void) {
    tansu_db *db = dated();
    bson_t doc = BSON_INITIALIZER;
    const size_t size = TANSU_MAX_DOCUMENT_SIZE - 30;
    char *text = malloc(size);
    REQUIRE(text != NULL);
    memset(text, 'x', size);
    BSON_APPEND_INT32(&doc, "_id", 1);
    bson_append_utf8(&doc, "t", -1, text, (int)size - 10);
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "c", TANSU_SAVE, &doc));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    bson_destroy(&doc);
    free(text);
    call_close(db);
}

/* ---- Copies ---- */

static void copies_are_equal(void) {
    char *folder = folder_new();
    char path[400], other[400];
    snprintf(path, sizeof path, "%s", path_in(folder, "db"));
    tansu_db *db = call_open(path);
    save_text(db, "{'_id': 0}"); /* before the option */
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    save_text(db, "{'_id': 1}");
    save_text(db, "{'_id': 2}");
    wait_a_little();
    save_text(db, "{'_id': 2, 'n': 2}");
    char expected[1000];
    snprintf(expected, sizeof expected, "%s", find_documents(db, "{}", NULL));
    /* Opened again, from the log alone and from a checkpoint. */
    snprintf(other, sizeof other, "%s", path_in(folder, "killed"));
    folder_copy(path, other);
    for (int i = 0; i < 2; i++) {
        tansu_db *copy = call_open(other);
        CHECK_TEXT(expected, find_documents(copy, "{}", NULL));
        save_text(copy, "{'_id': 9}");
        CHECK(dates_of(copy, 9).created > 0);
        CHECK_OK(call_remove_id(copy, NULL, "c", "{'_id': 9}", NULL), &call_error);
        call_close(copy);
    }
    snprintf(other, sizeof other, "%s", path_in(folder, "backup"));
    CHECK_OK(backup(db, other, TANSU_BACKUP_FILE), &call_error);
    char restored[400];
    snprintf(restored, sizeof restored, "%s", path_in(folder, "restored"));
    CHECK_OK(restore(other, restored), &call_error);
    tansu_options memory = call_options(NULL);
    tansu_buffer dump = dump_all(db);
    tansu_db *copies[4] = {call_open(restored), NULL, call_open(NULL), NULL};
    CHECK_OK(tansu_clone(db, &memory, NULL, NULL, &copies[1], &call_error), &call_error);
    CHECK_OK(load_text(copies[2], dump.data, dump.size, "{}"), &call_error);
    tansu_buffer_free(&dump);
    call_close(db);
    snprintf(other, sizeof other, "%s", path_in(folder, "repaired"));
    CHECK_OK(maintenance_repair(path, other), &call_error);
    copies[3] = call_open(other);
    for (int i = 0; i < 4; i++) {
        CHECK_TEXT(expected, find_documents(copies[i], "{}", NULL));
        save_text(copies[i], "{'_id': 9}");
        CHECK(dates_of(copies[i], 9).created > 0);
        call_close(copies[i]);
    }
    folder_end(folder);
}

static void loading_keeps_given_dates_when_asked(void) {
    static const char text[] =
        "{\"_id\": 1, \"createdAt\": {\"$date\": {\"$numberLong\": \"5000\"}}, "
        "\"updatedAt\": 7}\n{\"_id\": 2}\n";
    tansu_db *db = dated();
    const int64_t began = clock_date();
    CHECK_OK(load_text(db, text, sizeof text - 1, "{'collection': 'c', 'keepTimestamps': true}"),
             &call_error);
    CHECK_INT(5000, dates_of(db, 1).created);
    CHECK(is_between(dates_of(db, 1).updated, began));
    CHECK(is_between(dates_of(db, 2).created, began));
    CHECK_OK(load_text(db, text, sizeof text - 1, "{'collection': 'c', 'mode': 'save'}"),
             &call_error);
    CHECK_INT(5000, dates_of(db, 1).created);
    CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
    CHECK_OK(load_text(db, text, sizeof text - 1, "{'collection': 'c'}"), &call_error);
    CHECK(is_between(dates_of(db, 1).created, began));
    call_close(db);
}

/* ---- At random ---- */

static void random_saves_beside_a_model(void) {
    random_source r = random_start(1);
    enum { DOCUMENTS = 12 };
    for (int world = 0; world < 30; world++) {
        tansu_db *db = dated();
        bool there[DOCUMENTS] = {false};
        dates model[DOCUMENTS];
        for (int step = 0; step < 150; step++) {
            const int id = (int)random_below(&r, DOCUMENTS);
            char text[200];
            tansu_txn *txn = random_chance(&r, 30) ? call_begin(db, TANSU_TXN_WRITE) : NULL;
            const int64_t before = clock_date();
            bool saved = true, kept = txn == NULL || random_chance(&r, 60);
            const dates old = model[id];
            if (random_chance(&r, 25)) {
                snprintf(text, sizeof text, "{'_id': %d}", id);
                CHECK_OK(call_remove_id(db, txn, "c", text, NULL), &call_error);
                there[id] = kept ? false : there[id];
                saved = false;
            } else if (random_chance(&r, 50)) {
                snprintf(text, sizeof text, "{'_id': %d, 'createdAt': %d, 'n': %d}", id, step,
                         step);
                CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, text), &call_error);
            } else {
                char query[40];
                snprintf(query, sizeof query, "{'_id': %d}", id);
                snprintf(text, sizeof text, "{'$set': {'m': %d, 'updatedAt': 1}}", step);
                saved = strstr(update_text(db, txn, query, text, NULL), "\"modified\" : 1") != NULL;
                CHECK(saved == there[id]);
            }
            if (saved) {
                const dates now = dates_at(db, txn, id, "createdAt", "updatedAt");
                CHECK(is_between(now.updated, before) && now.updated >= now.created);
                if (there[id])
                    CHECK_INT(old.created, now.created);
                else
                    CHECK(is_between(now.created, before));
                if (kept) {
                    model[id] = now;
                    there[id] = true;
                }
            }
            if (txn != NULL && kept)
                CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
            else if (txn != NULL)
                tansu_txn_abort(txn);
            const dates stored = dates_of(db, id);
            CHECK_INT(there[id] ? model[id].created : -2, stored.created);
            CHECK_INT(there[id] ? model[id].updated : -2, stored.updated);
        }
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

/* Documents that were dated elsewhere; the next save in the transaction is dated again. */
static void saved_copies_stay_as_they_are(void) {
    tansu_db *db = dated();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_COPY,
                       "{'_id': 1, 'createdAt': {'$date': 5}, 'updatedAt': {'$date': 3}}"),
             &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_COPY, "{'_id': 2, 'createdAt': 'x'}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(5, dates_of(db, 1).created);
    CHECK_INT(3, dates_of(db, 1).updated);
    CHECK_TEXT("{ \"_id\" : 2, \"createdAt\" : \"x\" }", call_get(db, NULL, "c", "{'_id': 2}"));
    CHECK(dates_of(db, 3).created > 5);
    /* A copy replaces the dates of what was there, and a save keeps those of the copy. */
    CHECK_OK(call_save(db, NULL, "c", TANSU_COPY, "{'_id': 3, 'createdAt': {'$date': 7}}"),
             &call_error);
    CHECK_INT(7, dates_of(db, 3).created);
    CHECK_INT(-1, dates_of(db, 3).updated);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': 1}"), &call_error);
    CHECK_INT(7, dates_of(db, 3).created);
    CHECK(dates_of(db, 3).updated > 7);
    call_close(db);
}

static void a_failed_allocation_changes_nothing(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bson_t *option = bson_from_text("{'timestamps': {'created': 'a'}}");
    bson_t *doc = bson_from_text("{'_id': 1, 'n': 1}");
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = dated();
        fault_start(FAULT_MEMORY, nth, false, 0);
        const tansu_document list[] = {document_of(doc)};
        tansu_status saved = tansu_save(db, NULL, "c", list, 1, TANSU_SAVE, NULL, &call_error);
        met = fault_occurred();
        fault_stop();
        CHECK(saved == TANSU_OK || (met && saved == TANSU_E_MEMORY));
        CHECK_INT(saved == TANSU_OK ? 1 : 0, call_count(db, NULL, "c", "{}"));
        fault_start(FAULT_MEMORY, nth, false, 0);
        tansu_status set = tansu_collection_ensure(db, NULL, "c", document_of(option), &call_error);
        met = met || fault_occurred();
        fault_stop();
        CHECK(set == TANSU_OK || set == TANSU_E_MEMORY);
        CHECK(maintenance_clean(db));
        call_close(db);
    }
    bson_destroy(option);
    bson_destroy(doc);
}

int main(void) {
    RUN(every_way_of_saving_sets_them);
    RUN(the_returned_document_is_the_stored_one);
    RUN(indexes_have_the_dates);
    RUN(indexes_do_not_have_the_dates_that_were_given);
    RUN(a_clock_that_goes_back_does_no_harm);
    RUN(the_names_are_those_of_the_option);
    RUN(older_documents_get_no_date_of_insertion);
    RUN(bad_options_are_refused);
    RUN(a_document_may_be_too_large_for_them);
    RUN(copies_are_equal);
    RUN(loading_keeps_given_dates_when_asked);
    RUN(saved_copies_stay_as_they_are);
    RUN(random_saves_beside_a_model);
    RUN(a_failed_allocation_changes_nothing);
    return check_finish();
}
