/*
 * test_online_index_build.c -- an index is built while others read and write, has in the end
 * exactly the entries of the documents that are there, and leaves nothing when it is cancelled or
 * refused.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static tansu_db *db;
static tansu_error error;

/* put -- saves {_id, n, u, tags}; for any thread. */
static tansu_status put(int id, int n, int u) {
    bson_t doc = BSON_INITIALIZER, tags;
    bson_append_int32(&doc, "_id", 3, id);
    bson_append_int32(&doc, "n", 1, n);
    bson_append_int32(&doc, "u", 1, u);
    bson_append_array_begin(&doc, "tags", 4, &tags);
    bson_append_int32(&tags, "0", 1, n % 5);
    bson_append_int32(&tags, "1", 1, n % 7);
    bson_append_array_end(&doc, &tags);
    tansu_document document = document_of(&doc);
    tansu_status status = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, NULL);
    bson_destroy(&doc);
    return status;
}

/* remove_id -- removes a document; for any thread. */
static tansu_status remove_id(int id) {
    bson_t query = BSON_INITIALIZER;
    bson_append_int32(&query, "_id", 3, id);
    tansu_status status =
        tansu_remove(db, NULL, "c", document_of(&query), TANSU_NO_DOCUMENT, NULL, NULL);
    bson_destroy(&query);
    return status;
}

/* fill -- this many documents with n = 0…99 in turn and u their own. */
static void fill(int count) {
    for (int i = 0; i < count; i++)
        CHECK_STATUS(TANSU_OK, put(i, i % 100, i));
}

/* build -- tansu_index_create() with a progress function. */
static tansu_status build(const char *name, const char *keys, const char *options,
                          tansu_progress progress, void *context) {
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    tansu_status status = tansu_index_create(db, NULL, "c", name, document_of(k), document_of(o),
                                             progress, context, &error);
    bson_destroy(k);
    if (o)
        bson_destroy(o);
    return status;
}

/* check_same -- the index gives the same answers as a scan. */
static void check_same(const char *index, const char *path) {
    for (int i = -1; i < 100; i += 7) {
        char query[100], with[60];
        snprintf(query, sizeof query, "{'%s':{'$gte':%d,'$lte':%d}}", path, i, i + 3);
        snprintf(with, sizeof with, "{'$index':'%s'}", index);
        char *plain = strdup(find_ids(db, query, "{'$index':false}"));
        CHECK_TEXT(plain, find_ids(db, query, with));
        free(plain);
    }
}

/* ---- What a progress function does in between ---- */

/* Changes documents at its first call, so that the build has to catch up. */
typedef struct meddler {
    int calls;
    uint64_t last;
    uint64_t total;
} meddler;

static int meddle(void *context, uint64_t done, uint64_t total) {
    meddler *m = context;
    CHECK(done >= m->last);
    m->last = done;
    m->total = total;
    if (m->calls++ != 1)
        return 1;
    for (int i = 0; i < 1500; i += 3) {
        CHECK_STATUS(TANSU_OK, put(i, 50, i)); /* another n */
        CHECK_STATUS(TANSU_OK, remove_id(i + 1));
        CHECK_STATUS(TANSU_OK, put(10000 + i, i % 100, 10000 + i)); /* a new one */
    }
    /* A value moves from one document to another. */
    CHECK_STATUS(TANSU_OK, put(1802, 1, 90000));
    CHECK_STATUS(TANSU_OK, put(1801, 1, 1802));
    /* One that goes and comes back under the same `_id`. */
    CHECK_STATUS(TANSU_OK, remove_id(1900));
    CHECK_STATUS(TANSU_OK, put(1900, 99, 1900));
    return 1;
}

static void changes_meanwhile_are_caught_up_with(void) {
    meddler m = {.calls = 0};
    db = memory_db_open();
    fill(2000);
    CHECK_OK(build("n", "{'n':1}", NULL, meddle, &m), &error);
    CHECK(m.calls >= 4);
    CHECK_INT(2000, m.total);
    check_same("n", "n");
    CHECK_TEXT("1900", find_ids(db, "{'n':99,'_id':1900}", "{'$index':'n'}"));
    m = (meddler){.calls = 0};
    CHECK_OK(build("u", "{'u':1}", "{'unique':true}", meddle, &m), &error);
    check_same("u", "u");
    CHECK_TEXT("1801", find_ids(db, "{'u':1802}", "{'$index':'u'}"));
    m = (meddler){.calls = 0};
    CHECK_OK(build("tags", "{'tags':1,'n':-1}", NULL, meddle, &m), &error);
    check_same("tags", "tags");
    m = (meddler){.calls = 0};
    CHECK_OK(build("all", "{'**':1}", NULL, meddle, &m), &error);
    check_same("all", "n");
    check_same("all", "tags");
    check_same("all", "**");
    CHECK_INT(2000 - 500 + 500, count_matches(db, "{}", NULL));
    /* The index goes on being kept. */
    CHECK_STATUS(TANSU_OK, put(1, 3, 1));
    CHECK_STATUS(TANSU_OK, remove_id(4));
    check_same("n", "n");
    check_same("tags", "tags");
    check_same("all", "**");
    memory_db_close(db);
}

/* cancel -- stops at its third call. */
static int cancel(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return ++*(int *)context < 3;
}

static void a_build_can_be_cancelled(void) {
    int calls = 0;
    db = memory_db_open();
    fill(2000);
    CHECK_STATUS(TANSU_E_CANCELLED, build("n", "{'n':1}", NULL, cancel, &calls));
    CHECK_TEXT("n", error.context);
    CHECK_INT(3, calls);
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'n':1}", "{'$index':'n'}"));
    CHECK_OK(build("n", "{'n':1}", NULL, NULL, NULL), &error);
    check_same("n", "n");
    memory_db_close(db);
}

/* cancel_while_sorting -- stops at the second call after the last document: its entries are
 * being sorted, as there are no changes to catch up with. */
static int cancel_while_sorting(void *context, uint64_t done, uint64_t total) {
    return done < total || ++*(int *)context < 2;
}

static void a_build_can_be_cancelled_while_it_sorts(void) {
    int calls = 0;
    db = memory_db_open();
    fill(4000);
    CHECK_STATUS(TANSU_E_CANCELLED,
                 build("tags", "{'tags':1}", NULL, cancel_while_sorting, &calls));
    CHECK_TEXT("tags", error.context);
    CHECK_INT(2, calls);
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'n':1}", "{'$index':'tags'}"));
    CHECK_OK(build("tags", "{'tags':1}", NULL, NULL, NULL), &error);
    check_same("tags", "tags");
    memory_db_close(db);
}

/* What a thread that holds the write lock shares with the test. */
typedef struct holder {
    atomic_bool held, release;
} holder;

static void *hold_write_lock(void *context) {
    holder *h = context;
    tansu_txn *txn;
    CHECK_STATUS(TANSU_OK,
                 tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL));
    atomic_store(&h->held, true);
    while (!atomic_load(&h->release))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    tansu_txn_abort(txn);
    return NULL;
}

/* cancel_at_end -- stops at the tenth call after the last document: only the wait has as many. */
static int cancel_at_end(void *context, uint64_t done, uint64_t total) {
    return done < total || ++*(int *)context < 10;
}

static void a_build_can_be_cancelled_while_it_waits_for_a_writer(void) {
    for (int count = 10; count <= 2000; count += 1990) {
        int calls = 0;
        holder h = {false, false};
        pthread_t thread;
        db = memory_db_open();
        fill(count);
        CHECK_INT(0, pthread_create(&thread, NULL, hold_write_lock, &h));
        while (!atomic_load(&h.held))
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        CHECK_STATUS(TANSU_E_CANCELLED, build("n", "{'n':1}", NULL, cancel_at_end, &calls));
        CHECK_TEXT("n", error.context);
        CHECK(!atomic_load(&h.release));
        atomic_store(&h.release, true);
        pthread_join(thread, NULL);
        CHECK_OK(build("n", "{'n':1}", NULL, NULL, NULL), &error);
        check_same("n", "n");
        memory_db_close(db);
    }
}

/* A progress function that stops a build while it catches up. */
typedef struct spoiler {
    int rounds; /* calls after the last document */
    int end;    /* the one that stops */
} spoiler;

/* spoil -- changes very many documents at the first look for changes, then stops. */
static int spoil(void *context, uint64_t done, uint64_t total) {
    spoiler *s = context;
    if (done < total || ++s->rounds < s->end)
        return 1;
    if (s->rounds > s->end)
        return s->rounds < s->end + 2;
    for (int i = 0; i < 3000; i++)
        CHECK_STATUS(TANSU_OK, put(i, 50, i));
    return 1;
}

static void a_build_can_be_cancelled_while_it_catches_up(void) {
    for (int end = 1; end <= 4; end++) {
        spoiler s = {.end = end};
        db = memory_db_open();
        fill(12000);
        CHECK_STATUS(TANSU_E_CANCELLED, build("n", "{'n':1}", NULL, spoil, &s));
        CHECK_TEXT("n", error.context);
        CHECK_OK(build("n", "{'n':1}", NULL, NULL, NULL), &error);
        check_same("n", "n");
        memory_db_close(db);
    }
}

/* repeat -- gives two documents one value while the index is built. */
static int repeat(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    if (++*(int *)context == 2)
        CHECK_STATUS(TANSU_OK, put(7, 1, 1234));
    return 1;
}

static void values_must_be_unique_in_the_end(void) {
    int calls = 0;
    db = memory_db_open();
    fill(2000);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, build("n", "{'n':1}", "{'unique':true}", NULL, NULL));
    CHECK_TEXT("n", error.context);
    CHECK(strstr(error.message, "{\"n\": 0}") != NULL);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, build("u", "{'u':1}", "{'unique':true}", repeat, &calls));
    CHECK_TEXT("u", error.context);
    CHECK(strstr(error.message, "{\"u\": 1234}") != NULL);
    CHECK_STATUS(TANSU_OK, put(7, 1, 7));
    CHECK_OK(build("u", "{'u':1}", "{'unique':true}", NULL, NULL), &error);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, put(7, 1, 1234));
    check_same("u", "u");
    memory_db_close(db);
}

/* drop -- drops the collection that the index is for, and makes another of its name. */
static int drop(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    if (++*(int *)context == 2) {
        CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", NULL));
        fill(10);
    }
    return 1;
}

/* rival -- creates an index of the same name. */
static int rival(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    if (++*(int *)context == 2)
        create_index(db, "n", "{'n':-1}", NULL);
    return 1;
}

static void the_catalog_may_change_meanwhile(void) {
    int calls = 0;
    db = memory_db_open();
    fill(1000);
    CHECK_OK(build("n", "{'n':1}", NULL, drop, &calls), &error);
    CHECK_INT(10, count_matches(db, "{'n':{'$gte':0}}", "{'$index':'n'}"));
    check_same("n", "n");
    memory_db_close(db);
    calls = 0;
    db = memory_db_open();
    fill(1000);
    CHECK_STATUS(TANSU_E_EXISTS, build("n", "{'n':1}", NULL, rival, &calls));
    check_same("n", "n");
    CHECK_OK(build("n", "{'n':-1}", NULL, NULL, NULL), &error);
    memory_db_close(db);
}

static void a_thread_does_not_wait_for_itself(void) {
    tansu_txn *txn;
    db = memory_db_open();
    fill(1000);
    REQUIRE(CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error),
                     &error));
    CHECK_STATUS(TANSU_E_BUSY, build("n", "{'n':1}", NULL, NULL, NULL));
    bson_t *keys = bson_from_text("{'n':1}");
    CHECK_OK(tansu_index_create(db, txn, "c", "n", document_of(keys), TANSU_NO_DOCUMENT, NULL, NULL,
                                &error),
             &error);
    bson_destroy(keys);
    CHECK_OK(tansu_txn_commit(txn, NULL, &error), &error);
    check_same("n", "n");
    memory_db_close(db);
}

/* ---- Threads ---- */

static atomic_bool stop;
static atomic_int writes, reads;

/* write_on -- changes, adds and removes documents until asked to stop. */
static void *write_on(void *context) {
    int from = *(int *)context;
    for (int i = 0; !atomic_load(&stop); i++) {
        int id = from + i * 7 % 1500;
        tansu_status status = i % 5 == 4 ? remove_id(id) : put(id, i % 100, 100000 + id);
        if (status != TANSU_OK)
            break;
        atomic_fetch_add(&writes, 1);
    }
    return NULL;
}

/* read_on -- counts what has a value that all documents have. */
static void *read_on(void *context) {
    bson_t *query = context;
    while (!atomic_load(&stop)) {
        int64_t count = 0;
        if (tansu_count(db, NULL, "c", document_of(query), TANSU_NO_DOCUMENT, &count, NULL) !=
                TANSU_OK ||
            count < 1000)
            break;
        atomic_fetch_add(&reads, 1);
    }
    return NULL;
}

/* let_others -- returns when others have written and read since the last call: so they do while an
 * index is built. */
static int let_others(void *context, uint64_t done, uint64_t total) {
    int *calls = context;
    int writes_before = atomic_load(&writes), reads_before = atomic_load(&reads);
    (void)done;
    (void)total;
    for (int i = 0; i < 20000 && (atomic_load(&writes) < writes_before + 5 ||
                                  atomic_load(&reads) == reads_before);
         i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(atomic_load(&writes) > writes_before);
    CHECK(atomic_load(&reads) > reads_before);
    ++*calls;
    return 1;
}

static void readers_and_writers_go_on(void) {
    static int from[2] = {1000, 3000};
    pthread_t threads[3];
    char *folder = folder_new();
    tansu_options options;
    tansu_options_init(&options);
    options.path = folder;
    options.durability = TANSU_DURABILITY_PROCESS;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &error), &error));
    fill(6000);
    bson_t *query = bson_from_text("{'n':{'$gte':0}}");
    atomic_store(&stop, false);
    REQUIRE(pthread_create(&threads[0], NULL, write_on, &from[0]) == 0);
    REQUIRE(pthread_create(&threads[1], NULL, write_on, &from[1]) == 0);
    REQUIRE(pthread_create(&threads[2], NULL, read_on, query) == 0);
    while (atomic_load(&writes) < 100 || atomic_load(&reads) < 2)
        ;
    int calls = 0;
    CHECK_OK(build("n", "{'n':1}", NULL, let_others, &calls), &error);
    CHECK_OK(build("u", "{'u':-1}", "{'unique':true}", let_others, &calls), &error);
    CHECK_OK(build("tags", "{'tags':1}", "{'sparse':true}", let_others, &calls), &error);
    CHECK(calls > 6);
    int goal = atomic_load(&writes) + 200;
    while (atomic_load(&writes) < goal)
        ;
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check_same("n", "n");
    check_same("u", "u");
    check_same("tags", "tags");
    /* What was built is in the log and in the block store. */
    memory_db_close(db);
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &error), &error));
    check_same("n", "n");
    check_same("u", "u");
    check_same("tags", "tags");
    bson_destroy(query);
    memory_db_close(db);
    folder_end(folder);
}

/* ---- In a transaction ---- */

/* count_calls -- a progress function that cancels at the call that the context counts down to. */
static int count_calls(void *context, uint64_t done, uint64_t total) {
    CHECK(done <= total);
    return --*(int *)context != 0;
}

static void a_build_in_a_transaction_reports_and_is_cancelled(void) {
    tansu_db *db = memory_db_open();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (unsigned i = 0; i < 2000; i++)
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'n': 1}"), &call_error);
    bson_t *keys = bson_from_text("{'n': 1}");
    int left = 3;
    CHECK_STATUS(TANSU_E_CANCELLED,
                 tansu_index_create(db, txn, "c", "n", document_of(keys), TANSU_NO_DOCUMENT,
                                    count_calls, &left, &call_error));
    CHECK_INT(0, left);
    CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, txn, "c"));
    left = 1000000;
    CHECK_OK(tansu_index_create(db, txn, "c", "n", document_of(keys), TANSU_NO_DOCUMENT,
                                count_calls, &left, &call_error),
             &call_error);
    CHECK(left <= 1000000 - 4);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(2000, count_matches(db, "{'n': 1}", "{'$index': 'n'}"));
    bson_destroy(keys);
    memory_db_close(db);
}

int main(void) {
    RUN(changes_meanwhile_are_caught_up_with);
    RUN(a_build_can_be_cancelled);
    RUN(a_build_can_be_cancelled_while_it_sorts);
    RUN(a_build_can_be_cancelled_while_it_waits_for_a_writer);
    RUN(a_build_can_be_cancelled_while_it_catches_up);
    RUN(values_must_be_unique_in_the_end);
    RUN(the_catalog_may_change_meanwhile);
    RUN(a_thread_does_not_wait_for_itself);
    RUN(readers_and_writers_go_on);
    RUN(a_build_in_a_transaction_reports_and_is_cancelled);
    return check_finish();
}
