/*
 * test_json_sessions.c -- JSON commands that leave something open: batches give what one find
 * gives, transactions over several requests are atomic and isolated, feeds deliver, and nothing
 * that a client forgets, mixes up or uses twice at a time does harm.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/doc_examples.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The response that run() returned; each thread has its own. */
static _Thread_local char *last;

/* run -- the response; single quotes stand for double ones. Valid until the next call. */
static const char *run(tansu_db *db, const char *format, ...) {
    char request[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    for (char *c = request; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    tansu_free(last);
    last = NULL;
    tansu_execute_json(db, request, &last);
    REQUIRE(last != NULL);
    return last;
}

/* number_in -- the number of a member of a response; -1 without it, -2 when it is null. */
static int64_t number_in(const char *response, const char *member) {
    char head[40];
    snprintf(head, sizeof head, "\"%s\": ", member);
    const char *at = strstr(response, head);
    if (at == NULL)
        return -1;
    return strncmp(at + strlen(head), "null", 4) == 0 ? -2 : atoll(at + strlen(head));
}

/* is_error -- whether a response is that error. */
static bool is_error(const char *response, const char *code) {
    char head[60];
    snprintf(head, sizeof head, "{\"ok\": false, \"error\": {\"code\": \"%s\"", code);
    return strncmp(response, head, strlen(head)) == 0;
}

#define OK(response) CHECK(strncmp(response, "{\"ok\": true", 11) == 0)

/* filled -- a database in memory of documents 0 to count-1. */
static tansu_db *filled(int count) {
    tansu_options options = call_options(NULL);
    tansu_db *db = call_open_with(&options);
    for (int i = 0; i < count; i++)
        OK(run(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': %d, 'n': %d}]}", i,
               i % 7));
    return db;
}

/* append_documents -- adds the documents of a response to a text, and returns its cursor. */
static int64_t append_documents(char *text, const char *response) {
    static const char head[] = "{\"ok\": true, \"documents\": [";
    const char *end = strrchr(response, ']');
    REQUIRE(strncmp(response, head, sizeof head - 1) == 0 && end != NULL);
    const char *from = response + sizeof head - 1;
    if (text[0] != '\0' && end != from)
        strcat(text, ", ");
    strncat(text, from, (size_t)(end - from));
    return number_in(end, "cursor");
}

static void batches_are_what_one_find_returns(void) {
    random_source random = random_start(1);
    tansu_db *db = filled(200);
    char *one = calloc(1, 20000), *batches = calloc(1, 20000);
    REQUIRE(one != NULL && batches != NULL);
    for (int round = 0; round < 60; round++) {
        char query[100];
        snprintf(query, sizeof query,
                 "'query': {'n': {'$gte': %d}}, 'hints': {'$orderby': {'n': %d}}",
                 (int)random_below(&random, 8), random_chance(&random, 50) ? 1 : -1);
        one[0] = batches[0] = '\0';
        append_documents(one, run(db, "{'op': 'find', 'collection': 'c', %s}", query));
        int64_t cursor =
            append_documents(batches, run(db, "{'op': 'find', 'collection': 'c', %s, 'batch': %d}",
                                          query, 1 + (int)random_below(&random, 90)));
        while (cursor > 0) {
            if (random_chance(&random, 20)) /* it reads its snapshot */
                OK(run(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': %d, 'n': 3}]}",
                       (int)random_below(&random, 200)));
            cursor =
                append_documents(batches, run(db, "{'op': 'next', 'cursor': %d, 'batch': %d}",
                                              (int)cursor, 1 + (int)random_below(&random, 90)));
        }
        CHECK_INT(-2, cursor);
        CHECK_TEXT(one, batches);
    }
    CHECK_INT(0, call_statistic(db, "snapshots"));
    free(one);
    free(batches);
    call_close(db); /* no cursor is open */
}

static void wrong_numbers_are_errors(void) {
    tansu_db *db = filled(5);
    int cursor = (int)number_in(run(db, "{'op': 'find', 'collection': 'c', 'batch': 1}"), "cursor");
    int txn = (int)number_in(run(db, "{'op': 'begin', 'mode': 'read'}"), "transaction");
    int feed = (int)number_in(run(db, "{'op': 'openFeed'}"), "feed");
    CHECK(cursor > 0 && txn > cursor && feed > txn);
    const int all[] = {cursor, txn, feed, 0, 99};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int n = all[i];
        if (n != cursor) {
            CHECK(is_error(run(db, "{'op': 'next', 'cursor': %d}", n), "NOT_FOUND"));
            CHECK(is_error(run(db, "{'op': 'closeCursor', 'cursor': %d}", n), "NOT_FOUND"));
        }
        if (n != txn) {
            CHECK(is_error(run(db, "{'op': 'commit', 'transaction': %d}", n), "NOT_FOUND"));
            CHECK(is_error(run(db, "{'op': 'abort', 'transaction': %d}", n), "NOT_FOUND"));
            CHECK(is_error(run(db, "{'op': 'savepoint', 'transaction': %d}", n), "NOT_FOUND"));
            CHECK(is_error(run(db, "{'op': 'count', 'collection': 'c', 'transaction': %d}", n),
                           "NOT_FOUND"));
        }
        if (n != feed) {
            CHECK(is_error(run(db, "{'op': 'nextChanges', 'feed': %d}", n), "NOT_FOUND"));
            CHECK(is_error(run(db, "{'op': 'closeFeed', 'feed': %d}", n), "NOT_FOUND"));
        }
    }
    static const char *const invalid[] = {
        "{'op': 'next', 'cursor': -1}",
        "{'op': 'next', 'cursor': 1.5}",
        "{'op': 'next', 'cursor': '1'}",
        "{'op': 'next', 'cursor': true}",
        "{'op': 'next'}",
        "{'op': 'find', 'collection': 'c', 'batch': 0}",
        "{'op': 'find', 'collection': 'c', 'batch': null}",
        "{'op': 'begin', 'mode': 'append'}",
        "{'op': 'begin', 'durability': 'none'}",
        "{'op': 'begin', 'transaction': 1}",
        "{'op': 'openFeed', 'since': 'then'}",
        "{'op': 'openFeed', 'since': -1}",
        "{'op': 'openFeed', 'since': 1.5}",
        "{'op': 'nextChanges', 'feed': 3, 'batch': 0}",
        "{'op': 'nextChanges', 'feed': 3, 'timeoutMs': -1}",
        "{'op': 'savepoint'}",
        "{'op': 'stats', 'transaction': 2}",
        "{'op': 'backup', 'to': 'x', 'form': 'tape'}",
        "{'op': 'clone', 'to': 'x', 'options': {'store': 'memory'}}",
        "{'op': 'clone', 'to': 'x', 'options': {'path': 'y'}}",
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        if (!CHECK(is_error(run(db, "%s", invalid[i]), "INVALID_COMMAND")))
            check_note("    %s", invalid[i]);
    CHECK(is_error(run(db, "{'op': 'openFeed', 'since': 77}"), "NOT_FOUND"));
    CHECK(is_error(run(db, "{'op': 'savepoint', 'transaction': %d}", txn), "READ_ONLY"));
    CHECK(is_error(run(db,
                       "{'op': 'transaction', 'commands': [{'op': 'count', 'collection': 'c', "
                       "'transaction': %d}]}",
                       txn),
                   "INVALID_COMMAND"));
    CHECK(is_error(run(db, "{'op': 'transaction', 'commands': [{'op': 'find', 'collection': 'c', "
                           "'batch': 1}]}"),
                   "INVALID_COMMAND"));
    /* All of them are as they were. */
    CHECK_INT(-2, number_in(run(db, "{'op': 'next', 'cursor': %d}", cursor), "cursor"));
    OK(run(db, "{'op': 'commit', 'transaction': %d}", txn));
    OK(run(db, "{'op': 'closeFeed', 'feed': %d}", feed));
    call_close(db);
}

static void transactions_over_requests_are_isolated_and_atomic(void) {
    tansu_db *db = filled(10);
    int reading = (int)number_in(run(db, "{'op': 'begin', 'mode': 'read'}"), "transaction");
    int writing = (int)number_in(run(db, "{'op': 'begin'}"), "transaction");
    OK(run(db, "{'op': 'remove', 'collection': 'c', 'query': {'n': {'$lt': 3}}, 'transaction': %d}",
           writing));
    int cursor = (int)number_in(
        run(db, "{'op': 'find', 'collection': 'c', 'batch': 1, 'transaction': %d}", writing),
        "cursor");
    CHECK(cursor > 0);
    CHECK_INT(10, call_count(db, NULL, "c", "{}"));
    CHECK_INT(4,
              number_in(run(db, "{'op': 'count', 'collection': 'c', 'transaction': %d}", writing),
                        "count"));
    /* The thread would wait for itself. */
    CHECK(is_error(run(db, "{'op': 'save', 'collection': 'c', 'documents': [{}]}"), "BUSY"));
    CHECK(is_error(
        run(db, "{'op': 'save', 'collection': 'c', 'documents': [{}], 'transaction': %d}", reading),
        "READ_ONLY"));
    /* Its cursor ends with it. */
    CHECK(number_in(run(db, "{'op': 'commit', 'transaction': %d}", writing), "sequence") > 0);
    CHECK(is_error(run(db, "{'op': 'next', 'cursor': %d}", cursor), "NOT_FOUND"));
    CHECK_INT(4, call_count(db, NULL, "c", "{}"));
    CHECK_INT(10,
              number_in(run(db, "{'op': 'count', 'collection': 'c', 'transaction': %d}", reading),
                        "count"));
    CHECK_INT(0, number_in(run(db, "{'op': 'commit', 'transaction': %d}", reading), "sequence"));
    writing = (int)number_in(run(db, "{'op': 'begin', 'durability': 'full'}"), "transaction");
    OK(run(db, "{'op': 'dropCollection', 'collection': 'c', 'transaction': %d}", writing));
    OK(run(db, "{'op': 'abort', 'transaction': %d}", writing));
    CHECK_INT(4, call_count(db, NULL, "c", "{}"));
    CHECK(is_error(run(db, "{'op': 'abort', 'transaction': %d}", writing), "NOT_FOUND"));
    call_close(db);
}

/* open_several -- one of each. */
static void open_several(tansu_db *db) {
    OK(run(db, "{'op': 'find', 'collection': 'c', 'batch': 1}"));
    OK(run(db, "{'op': 'openFeed'}"));
    OK(run(db, "{'op': 'begin', 'mode': 'read'}"));
    int writing = (int)number_in(run(db, "{'op': 'begin'}"), "transaction");
    OK(run(db, "{'op': 'remove', 'collection': 'c', 'query': {}, 'transaction': %d}", writing));
    OK(run(db, "{'op': 'find', 'collection': 'd', 'batch': 1, 'transaction': %d}", writing));
}

static void closing_ends_what_is_open(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    OK(run(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1}, {'_id': 2}]}"));
    OK(run(db, "{'op': 'save', 'collection': 'd', 'documents': [{'_id': 1}, {'_id': 2}]}"));
    open_several(db);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    tansu_close(db);
    db = call_open(folder); /* it was closed */
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

/* More than a careless client may open are an error, and closing one makes room. */
static void open_ones_are_bounded(void) {
    tansu_db *db = filled(3);
    int opened = 0;
    const char *response = "";
    while (opened < 5000) {
        response = run(db, "{'op': 'find', 'collection': 'c', 'batch': 1}");
        if (number_in(response, "cursor") < 0)
            break;
        opened++;
    }
    CHECK(is_error(response, "TOO_LARGE"));
    CHECK_INT(1000, opened);
    CHECK(is_error(run(db, "{'op': 'openFeed'}"), "TOO_LARGE"));
    CHECK(is_error(run(db, "{'op': 'begin'}"), "TOO_LARGE"));
    OK(run(db, "{'op': 'save', 'collection': 'c', 'documents': [{}]}")); /* no write lock is left */
    OK(run(db, "{'op': 'closeCursor', 'cursor': 7}"));
    OK(run(db, "{'op': 'openFeed'}"));
    tansu_close(db);
}

/* ---- Several threads ---- */

typedef struct waiter {
    tansu_db *db;
    int feed;
    bool began; /* atomic */
    char response[400];
} waiter;

static void *wait_for_changes(void *context) {
    waiter *w = context;
    __atomic_store_n(&w->began, true, __ATOMIC_RELEASE);
    do /* the other thread may be inside at this moment */
        snprintf(w->response, sizeof w->response, "%s",
                 run(w->db, "{'op': 'nextChanges', 'feed': %d, 'timeoutMs': 60000}", w->feed));
    while (is_error(w->response, "BUSY"));
    tansu_free(last);
    return NULL;
}

/* A feed that a thread waits in is refused to others; a commit wakes it, and so does closing. */
static void one_request_at_a_time_uses_a_feed(void) {
    for (int closes = 0; closes < 2; closes++) {
        waiter w = {.db = filled(1)};
        w.feed = (int)number_in(run(w.db, "{'op': 'openFeed', 'since': 'now'}"), "feed");
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, wait_for_changes, &w) == 0);
        while (!__atomic_load_n(&w.began, __ATOMIC_ACQUIRE))
            ;
        /* Until the thread is inside, the request is answered: there are no changes. */
        const char *response;
        do
            response = run(w.db, "{'op': 'nextChanges', 'feed': %d}", w.feed);
        while (strcmp(response, "{\"ok\": true, \"changes\": []}") == 0);
        CHECK(is_error(response, "BUSY"));
        CHECK(is_error(run(w.db, "{'op': 'closeFeed', 'feed': %d}", w.feed), "BUSY"));
        if (closes) {
            tansu_close(w.db); /* the thread's command ends it */
            pthread_join(thread, NULL);
            CHECK(is_error(w.response, "CLOSED"));
            continue;
        }
        OK(run(w.db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 9}]}"));
        pthread_join(thread, NULL);
        CHECK(strstr(w.response, "\"kind\": \"insert\", \"collection\": \"c\", \"id\": 9") != NULL);
        tansu_close(w.db);
    }
}

typedef struct reader {
    tansu_db *db;
    int txn;
    bool began; /* atomic */
    char response[400];
} reader;

/* The conditions are such that the query lasts for as long as nobody cancels it, or nearly. */
static void *count_for_long(void *context) {
    reader *r = context;
    __atomic_store_n(&r->began, true, __ATOMIC_RELEASE);
    snprintf(r->response, sizeof r->response, "%s",
             run(r->db,
                 "{'op': 'aggregate', 'collection': 'c', 'transaction': %d, 'pipeline': ["
                 "{'$set': {'a': {'$range': [0, 1000]}}}, {'$unwind': '$a'}, "
                 "{'$set': {'a': {'$range': [0, 1000]}}}, {'$unwind': '$a'}, "
                 "{'$set': {'a': {'$range': [0, 1000]}}}, {'$unwind': '$a'}, {'$count': 'n'}]}",
                 r->txn));
    tansu_free(last);
    return NULL;
}

/* Cancelling a transaction ends the command that another thread runs in it, and the transaction. */
static void a_running_command_is_cancelled_with_its_transaction(void) {
    static const char *const modes[] = {"read", "write"};
    for (int i = 0; i < 2; i++) {
        reader r = {.db = filled(10)};
        r.txn = (int)number_in(run(r.db, "{'op': 'begin', 'mode': '%s'}", modes[i]), "transaction");
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, count_for_long, &r) == 0);
        while (!__atomic_load_n(&r.began, __ATOMIC_ACQUIRE))
            ;
        OK(run(r.db, "{'op': 'cancel', 'transaction': %d}", r.txn));
        pthread_join(thread, NULL);
        CHECK(is_error(r.response, "CANCELLED"));
        CHECK(is_error(run(r.db, "{'op': 'count', 'collection': 'c', 'transaction': %d}", r.txn),
                       "CANCELLED"));
        CHECK(is_error(run(r.db, "{'op': 'commit', 'transaction': %d}", r.txn), "CANCELLED"));
        CHECK(is_error(run(r.db, "{'op': 'cancel', 'transaction': %d}", r.txn), "NOT_FOUND"));
        int cursor =
            (int)number_in(run(r.db, "{'op': 'find', 'collection': 'c', 'batch': 1}"), "cursor");
        CHECK(is_error(run(r.db, "{'op': 'cancel', 'transaction': %d}", cursor), "NOT_FOUND"));
        tansu_close(r.db);
    }
}

int main(void) {
    RUN(batches_are_what_one_find_returns);
    RUN(wrong_numbers_are_errors);
    RUN(transactions_over_requests_are_isolated_and_atomic);
    RUN(closing_ends_what_is_open);
    RUN(open_ones_are_bounded);
    RUN(one_request_at_a_time_uses_a_feed);
    RUN(a_running_command_is_cancelled_with_its_transaction);
    return check_finish();
}
