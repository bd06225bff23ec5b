/*
 * test_feed.c -- a change feed delivers what happened: its changes, taken in one after the other by
 * somebody who knows nothing else, make the database, at every commit; from any number on, over
 * reopening and concurrently with compaction.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/feed_model.h"
#include "support/workload/feed_workload.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE "{'before': true, 'after': true}"

/* check_from -- a feed from that number on makes every later state of the database. */
static void check_from(const feed_workload *p, uint64_t since) {
    tansu_feed *feed = feed_model_open_feed(p->db, since, WHOLE);
    feed_model f = p->history[since];
    tansu_change change;
    tansu_change_init(&change);
    uint64_t at = since;
    bool whole = true;
    tansu_status status;
    while ((status = tansu_feed_next(feed, 0, &change, &call_error)) == TANSU_OK) {
        if (!CHECK(whole ? change.sequence > at : change.sequence == at))
            break;
        /* Commits without events changed nothing. */
        for (at = whole ? at + 1 : at; at < change.sequence; at++)
            CHECK(feed_model_equal(&f, &p->history[at]));
        feed_model_apply(&f, &change, true);
        whole = change.last;
        if (whole && !CHECK(feed_model_equal(&p->history[at], &f))) {
            check_note("    commit %llu, feed from %llu", (unsigned long long)at,
                       (unsigned long long)since);
            break;
        }
    }
    CHECK_STATUS(TANSU_DONE, status);
    CHECK(whole);
    CHECK(feed_model_equal(&p->now, &f));
    tansu_feed_close(feed);
}

static void changes_make_the_database_at_every_commit(void) {
    for (int kind = 0; kind < 4; kind++) {
        char *folder = kind % 2 == 0 ? NULL : folder_new();
        feed_workload *p = malloc(sizeof *p);
        REQUIRE(p != NULL);
        feed_workload_begin(p, folder, (uint64_t)kind, kind < 2 ? 10 : 5000);
        tansu_feed *open = feed_model_open_feed(p->db, 0, WHOLE);
        feed_model f;
        feed_model_clear(&f);
        for (int i = 0; i < 250; i++) {
            feed_workload_commit(p);
            /* A feed that lives concurrently with the writer, at one time more, at another less
             * late. */
            if (random_chance(&p->random, 50)) {
                feed_model_drain(&f, open, true, NULL);
                CHECK(feed_model_equal(&p->now, &f));
            }
        }
        tansu_feed_close(open);
        CHECK(kind < 2 || call_statistic(p->db, "logSegments") > 3);
        for (int i = 0; i < 20; i++)
            check_from(p, random_below(&p->random, p->sequence + 1));
        check_from(p, 0);
        check_from(p, p->sequence);
        if (folder != NULL) {
            call_close(p->db);
            p->db = call_open(folder);
            check_from(p, 0);
            check_from(p, random_below(&p->random, p->sequence + 1));
        }
        feed_workload_end(p);
        free(p);
        if (folder != NULL)
            folder_end(folder);
    }
}

/* next_text -- the next change as text; "DONE" or another status without one. */
static const char *next_text(tansu_feed *feed) {
    static const char *const kinds[] = {"",       "insert", "update", "delete",
                                        "create", "drop",   "rename"};
    static char text[512];
    tansu_change change;
    tansu_change_init(&change);
    tansu_status status = tansu_feed_next(feed, 0, &change, &call_error);
    if (status != TANSU_OK)
        return status == TANSU_DONE ? "DONE" : tansu_status_name(status);
    const tansu_document parts[] = {change.id, change.before, change.after};
    const char *const names[] = {"", " before ", " after "};
    int used = snprintf(text, sizeof text, "%llu%s %s %s", (unsigned long long)change.sequence,
                        change.last ? "." : "", kinds[change.kind], change.collection);
    if (change.new_name != NULL)
        used += snprintf(text + used, sizeof text - (size_t)used, " to %s", change.new_name);
    for (int i = 0; i < 3; i++) {
        bson_t view;
        if (parts[i].data == NULL)
            continue;
        REQUIRE(bson_init_static(&view, parts[i].data, parts[i].size));
        char *json = bson_as_relaxed_extended_json(&view, NULL);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", names[i],
                         i == 0 ? strchr(json, ':') + 1 : json);
        bson_free(json);
    }
    return text;
}

static void each_kind_of_event_is_delivered(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *plain = feed_model_open_feed(db, TANSU_FEED_NOW, NULL);
    tansu_feed *whole = feed_model_open_feed(db, TANSU_FEED_NOW, WHOLE);
    CHECK_TEXT("DONE", next_text(whole));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'a': 1}"), &call_error);
    CHECK_TEXT("1 create c", next_text(whole));
    CHECK_TEXT("1. insert c 1 } after { \"_id\" : 1, \"a\" : 1 }", next_text(whole));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'a': 2}"), &call_error);
    CHECK_TEXT("2. update c 1 } before { \"_id\" : 1, \"a\" : 1 } after { \"_id\" : 1, \"a\" : 2 }",
               next_text(whole));
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_TEXT("3. rename c to d", next_text(whole));
    CHECK_OK(call_remove(db, NULL, "d", "{}", NULL), &call_error);
    CHECK_TEXT("4. delete d 1 } before { \"_id\" : 1, \"a\" : 2 }", next_text(whole));
    CHECK_OK(tansu_collection_drop(db, NULL, "d", &call_error), &call_error);
    CHECK_TEXT("5. drop d", next_text(whole));
    CHECK_TEXT("DONE", next_text(whole));
    CHECK_TEXT("1 create c", next_text(plain));
    CHECK_TEXT("1. insert c 1 }", next_text(plain));
    CHECK_TEXT("2. update c 1 }", next_text(plain));
    CHECK_TEXT("3. rename c to d", next_text(plain));
    CHECK_TEXT("4. delete d 1 }", next_text(plain));
    tansu_feed_close(plain);
    tansu_feed_close(whole);
    call_close(db);
}

static void a_commit_delivers_one_event_a_document(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'a': 0}"), &call_error);
    tansu_feed *feed = feed_model_open_feed(db, TANSU_FEED_NOW, WHOLE);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'a': 1}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'a': 2}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2, 'a': 1}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2, 'a': 2}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    CHECK_OK(call_remove(db, txn, "c", "{'_id': 3}", NULL), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("2 update c 1 } before { \"_id\" : 1, \"a\" : 0 } after { \"_id\" : 1, \"a\" : 2 }",
               next_text(feed));
    CHECK_TEXT("2. insert c 2 } after { \"_id\" : 2, \"a\" : 2 }", next_text(feed));
    /* A commit in which nothing was left to deliver. */
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 4}"), &call_error);
    CHECK_OK(call_remove(db, txn, "c", "{'_id': 4}", NULL), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("DONE", next_text(feed));
    tansu_feed_close(feed);
    call_close(db);
}

static void only_some_collections_can_be_asked_for(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *feed = feed_model_open_feed(db, 0, "{'collections': ['a', 'b']}");
    CHECK_OK(call_save(db, NULL, "a", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "x", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "x", "b", &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "b", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "a", "y", &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "y", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "y", &call_error), &call_error);
    static const char *const expected[] = {"1 create a",       "1. insert a 1 }",
                                           "3. rename x to b", "4. insert b 2 }",
                                           "5. rename a to y", "DONE"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_TEXT(expected[i], next_text(feed));
    tansu_feed_close(feed);
    /* The names are those that the collections had, not those that they have now. */
    feed = feed_model_open_feed(db, 1, "{'collections': ['y', 'x']}");
    static const char *const later[] = {"2 create x",
                                        "2. insert x 1 }",
                                        "3. rename x to b",
                                        "5. rename a to y",
                                        "6. insert y 2 }",
                                        "7. drop y",
                                        "DONE"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        CHECK_TEXT(later[i], next_text(feed));
    tansu_feed_close(feed);
    feed = feed_model_open_feed(db, 0, "{'collections': []}");
    CHECK_TEXT("DONE", next_text(feed));
    tansu_feed_close(feed);
    /* Whole names: neither a longer name nor a part of one. */
    CHECK_OK(call_save(db, NULL, "bb", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "B", TANSU_SAVE, "{'_id': 1}"), &call_error);
    feed = feed_model_open_feed(db, 7, "{'collections': ['b', 'bbb']}");
    CHECK_TEXT("DONE", next_text(feed));
    CHECK_OK(call_save(db, NULL, "b", TANSU_SAVE, "{'_id': 3}"), &call_error);
    CHECK_TEXT("10. insert b 3 }", next_text(feed));
    CHECK_TEXT("DONE", next_text(feed));
    tansu_feed_close(feed);
    call_close(db);
}

static void a_large_commit_is_delivered_while_others_write(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    bson_t pad = BSON_INITIALIZER;
    static const uint8_t filling[2000];
    BSON_APPEND_BINARY(&pad, "pad", BSON_SUBTYPE_BINARY, filling, sizeof filling);
    for (int round = 0; round < 2; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 1500; i++) {
            bson_t doc = BSON_INITIALIZER;
            BSON_APPEND_INT32(&doc, "_id", i);
            BSON_APPEND_INT32(&doc, "round", round);
            bson_concat(&doc, &pad);
            CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error);
            bson_destroy(&doc);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
    bson_destroy(&pad);
    tansu_feed *feed = feed_model_open_feed(db, 1, WHOLE);
    tansu_change change;
    tansu_change_init(&change);
    for (int i = 0; i < 1500; i++) {
        bson_t before, after;
        bson_iter_t iter;
        if (!CHECK_OK(tansu_feed_next(feed, 0, &change, &call_error), &call_error))
            break;
        CHECK_INT(i == 1499, change.last);
        if (i % 500 == 10) { /* what is shown and what is yet to be stays where it is */
            CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        }
        REQUIRE(change.before.data != NULL || i > 10);
        REQUIRE(bson_init_static(&after, change.after.data, change.after.size));
        CHECK(bson_iter_init_find(&iter, &after, "_id") && bson_iter_int32(&iter) == i);
        CHECK(bson_iter_init_find(&iter, &after, "round") && bson_iter_int32(&iter) == 1);
        CHECK(bson_validate(&after, BSON_VALIDATE_UTF8, NULL));
        if (change.before.data == NULL)
            continue; /* the compaction has reclaimed its space */
        REQUIRE(bson_init_static(&before, change.before.data, change.before.size));
        CHECK(bson_iter_init_find(&iter, &before, "_id") && bson_iter_int32(&iter) == i);
        CHECK(bson_iter_init_find(&iter, &before, "round") && bson_iter_int32(&iter) == 0);
    }
    int deleted = 0;
    while (tansu_feed_next(feed, 0, &change, &call_error) == TANSU_OK)
        deleted += change.kind == TANSU_CHANGE_REMOVE;
    CHECK_INT(1500, deleted);
    tansu_feed_close(feed);
    call_close(db);
    folder_end(folder);
}

static void skipping_goes_to_the_present(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *feed = feed_model_open_feed(db, 0, NULL);
    uint64_t sequence = 0;
    CHECK_STATUS(TANSU_DONE, tansu_feed_skip(feed, 0, &sequence, &call_error));
    for (int i = 0; i < 3; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_TEXT("1 create c", next_text(feed));
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_OK(tansu_feed_skip(feed, 0, &sequence, &call_error), &call_error);
    CHECK_INT(4, sequence);
    CHECK_TEXT("DONE", next_text(feed));
    CHECK_STATUS(TANSU_DONE, tansu_feed_skip(feed, 0, &sequence, &call_error));
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_TEXT("5. insert d 2 }", next_text(feed));
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 3}"), &call_error);
    CHECK_OK(tansu_feed_skip(feed, 1000, NULL, &call_error), &call_error);
    tansu_feed_close(feed);
    call_close(db);
}

/* open_status -- what opening a feed comes to. */
static tansu_status open_status(tansu_db *db, uint64_t since, const char *options) {
    bson_t *bson = bson_from_text(options);
    tansu_feed *feed;
    tansu_status status = tansu_feed_open(db, since, document_of(bson), &feed, &call_error);
    CHECK((status == TANSU_OK) == (feed != NULL));
    tansu_feed_close(feed);
    if (bson != NULL)
        bson_destroy(bson);
    return status;
}

/* The events that are left to a feed are those that one has which is opened there. */
static void a_feed_is_resumed_from_its_position(void) {
    feed_workload *p = malloc(sizeof *p);
    REQUIRE(p != NULL);
    feed_workload_begin(p, NULL, 7, 10);
    for (int i = 0; i < 100; i++)
        feed_workload_commit(p);
    tansu_feed *feed = feed_model_open_feed(p->db, 0, NULL);
    CHECK_INT(0, tansu_feed_position(feed));
    tansu_change change;
    tansu_change_init(&change);
    uint64_t whole = 0;
    while (tansu_feed_next(feed, 0, &change, &call_error) == TANSU_OK) {
        /* A commit that is not delivered to its end is delivered again from its beginning. */
        CHECK(change.last ? tansu_feed_position(feed) >= change.sequence
                          : tansu_feed_position(feed) < change.sequence);
        CHECK(tansu_feed_position(feed) >= whole);
        whole = tansu_feed_position(feed);
        tansu_feed *other = feed_model_open_feed(p->db, whole, NULL);
        char expected[512];
        snprintf(expected, sizeof expected, "%s", next_text(other));
        tansu_feed_close(other);
        if (change.last) {
            tansu_feed *ahead = feed_model_open_feed(p->db, change.sequence, NULL);
            CHECK_TEXT(expected, next_text(ahead));
            tansu_feed_close(ahead);
        }
    }
    CHECK_INT(p->sequence, tansu_feed_position(feed));
    tansu_feed_close(feed);
    /* Commits of other collections are passed, when they have been looked at. */
    feed = feed_model_open_feed(p->db, TANSU_FEED_NOW, "{'collections': ['elsewhere']}");
    CHECK_INT(p->sequence, tansu_feed_position(feed));
    CHECK_OK(call_save(p->db, NULL, "here", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(p->sequence, tansu_feed_position(feed));
    CHECK_TEXT("DONE", next_text(feed));
    CHECK_INT(p->sequence + 1, tansu_feed_position(feed));
    tansu_feed_close(feed);
    CHECK_INT(0, tansu_feed_position(NULL));
    feed_workload_end(p);
    free(p);
}

static void wrong_calls_are_refused(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *feed = NULL;
    tansu_change change = {.struct_size = 3};
    CHECK_STATUS(TANSU_E_INVALID_QUERY, open_status(db, 0, "{'colections': ['a']}"));
    CHECK_TEXT("colections", call_error.context);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, open_status(db, 0, "{'collections': 'a'}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, open_status(db, 0, "{'collections': ['a', 1]}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, open_status(db, 0, "{'before': 'yes'}"));
    CHECK_STATUS(TANSU_OK, open_status(db, 0, "{'collections': ['a'], 'collections': []}"));
    CHECK_STATUS(TANSU_E_NOT_FOUND, open_status(db, 1, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_feed_open(db, 0, (tansu_document){"\5\0\0\0\1", 5}, &feed, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_feed_open(NULL, 0, TANSU_NO_DOCUMENT, &feed, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, NULL, &call_error));
    feed = feed_model_open_feed(db, 0, NULL);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_feed_next(feed, 0, &change, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_feed_next(feed, 0, NULL, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_feed_next(NULL, 0, &change, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_feed_skip(NULL, 0, NULL, &call_error));
    tansu_change_init(NULL);
    tansu_feed_cancel(NULL);
    tansu_feed_close(NULL);
    tansu_feed_close(feed);
    call_close(db);
}

int main(void) {
    RUN(each_kind_of_event_is_delivered);
    RUN(a_commit_delivers_one_event_a_document);
    RUN(only_some_collections_can_be_asked_for);
    RUN(changes_make_the_database_at_every_commit);
    RUN(a_large_commit_is_delivered_while_others_write);
    RUN(skipping_goes_to_the_present);
    RUN(a_feed_is_resumed_from_its_position);
    RUN(wrong_calls_are_refused);
    return check_finish();
}
