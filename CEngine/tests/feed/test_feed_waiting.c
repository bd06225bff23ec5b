/*
 * test_feed_waiting.c -- feeds that wait: woken by commits of other threads, cancelled, closed
 * under; several feeds and writers at once, concurrently with compaction in the background; and
 * nothing is delivered that readers do not see.
 */
#include "api/handles.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/folder.h"
#include "support/model/feed_model.h"
#include "support/random/random.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE "{'before': true, 'after': true}"

/* start -- a thread; ends the program when that fails. */
static pthread_t start(void *(*body)(void *), void *context) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, body, context) == 0);
    return thread;
}

/* await_waiters -- returns when this many feeds wait. */
static void await_waiters(tansu_db *db, uint32_t count) {
    while (__atomic_load_n(&db_inner(db)->commits.count, __ATOMIC_RELAXED) != count)
        sched_yield();
}

/* One call in another thread. */
typedef struct waiting {
    tansu_feed *feed;
    int64_t timeout;
    tansu_status status;
    uint64_t sequence;
} waiting;

static void *wait_next(void *context) {
    waiting *w = context;
    tansu_change change;
    tansu_change_init(&change);
    w->status = tansu_feed_next(w->feed, w->timeout, &change, NULL);
    w->sequence = change.sequence;
    return NULL;
}

static void *wait_skip(void *context) {
    waiting *w = context;
    w->status = tansu_feed_skip(w->feed, w->timeout, &w->sequence, NULL);
    return NULL;
}

static void a_commit_wakes_those_that_wait(void) {
    tansu_db *db = call_open(NULL);
    waiting w[3] = {{.timeout = INT64_MAX}, {.timeout = 3600000}, {.timeout = -1}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        w[i].feed = feed_model_open_feed(db, TANSU_FEED_NOW, NULL);
        threads[i] = start(i == 2 ? wait_skip : wait_next, &w[i]);
    }
    await_waiters(db, 3);
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), &call_error);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STATUS(TANSU_OK, w[i].status);
        CHECK_INT(1, w[i].sequence);
        tansu_feed_close(w[i].feed);
    }
    call_close(db);
}

static void waiting_ends_in_time(void) {
    tansu_db *db = call_open(NULL);
    waiting w = {.feed = feed_model_open_feed(db, 0, NULL), .timeout = 1};
    wait_next(&w);
    CHECK_STATUS(TANSU_DONE, w.status);
    wait_skip(&w);
    CHECK_STATUS(TANSU_DONE, w.status);
    /* Commits without events do not end it. */
    tansu_feed_close(w.feed);
    w.feed = feed_model_open_feed(db, 0, "{'collections': ['bees']}");
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), &call_error);
    wait_next(&w);
    CHECK_STATUS(TANSU_DONE, w.status);
    tansu_feed_close(w.feed);
    call_close(db);
}

static void cancelling_ends_it_for_good(void) {
    tansu_db *db = call_open(NULL);
    waiting w = {.feed = feed_model_open_feed(db, 0, NULL), .timeout = -1};
    pthread_t thread = start(wait_next, &w);
    await_waiters(db, 1);
    tansu_feed_cancel(w.feed);
    pthread_join(thread, NULL);
    CHECK_STATUS(TANSU_E_CANCELLED, w.status);
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), &call_error);
    wait_next(&w);
    CHECK_STATUS(TANSU_E_CANCELLED, w.status);
    wait_skip(&w);
    CHECK_STATUS(TANSU_E_CANCELLED, w.status);
    tansu_feed_close(w.feed);
    call_close(db);
}

static void a_database_is_not_closed_under_a_feed(void) {
    tansu_db *db = call_open(NULL);
    waiting w = {.feed = feed_model_open_feed(db, 0, NULL), .timeout = -1};
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(tansu_feed_skip(w.feed, 0, NULL, &call_error), &call_error);
    pthread_t thread = start(wait_next, &w);
    await_waiters(db, 1);
    tansu_close(db); /* which happens when the feed ends */
    pthread_join(thread, NULL);
    CHECK_STATUS(TANSU_E_CLOSED, w.status);
    tansu_feed *late = NULL;
    CHECK_STATUS(TANSU_E_CLOSED, tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &late, &call_error));
    tansu_feed_close(w.feed);
}

/* ---- What is not visible is not delivered ---- */

/* A gate in the way of every sync. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut;
    int stopped; /* syncs that stand before it */
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int gated_sync(int fd, void *base, size_t size) {
    pthread_mutex_lock(&gate.mutex);
    gate.stopped++;
    pthread_cond_broadcast(&gate.changed);
    while (gate.shut)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.stopped--;
    pthread_mutex_unlock(&gate.mutex);
    return file_faults_fs.sync(fd, base, size);
}

/* gate_set -- shuts or opens it. */
static void gate_set(bool shut) {
    pthread_mutex_lock(&gate.mutex);
    gate.shut = shut;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void *save_one(void *context) {
    CHECK_OK(call_save(context, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), NULL);
    return NULL;
}

static void a_commit_is_delivered_when_it_is_on_the_disk(void) {
    char *folder = folder_new();
    fs calls = file_faults_fs;
    calls.sync = gated_sync;
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    tansu_db *db = NULL;
    file_faults_reset();
    REQUIRE(CHECK_OK(handle_open(&options, &calls, NULL, &db, &call_error), &call_error));
    waiting w = {.feed = feed_model_open_feed(db, 0, NULL), .timeout = 0};
    gate_set(true);
    pthread_t thread = start(save_one, db);
    pthread_mutex_lock(&gate.mutex);
    while (gate.stopped == 0)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
    wait_next(&w);
    CHECK_STATUS(TANSU_DONE, w.status);
    w.timeout = -1;
    pthread_t waiter = start(wait_next, &w);
    await_waiters(db, 1);
    gate_set(false);
    pthread_join(thread, NULL);
    pthread_join(waiter, NULL);
    CHECK_STATUS(TANSU_OK, w.status);
    CHECK_INT(1, w.sequence);
    tansu_feed_close(w.feed);
    CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    folder_end(folder);
}

/* ---- All at once ---- */

#define WRITERS 3
#define READERS 3
#define WRITES 400

typedef struct busy {
    tansu_db *db;
    uint64_t stream;
    uint64_t since;
    uint64_t target; /* atomic: readers end when they have seen this commit */
    feed_model known;
} busy;

/* write_much -- saves, removes, and now and then drops a collection. */
static void *write_much(void *context) {
    const busy *b = context;
    random_source random = random_start(b->stream);
    uint8_t filling[3000] = {0};
    for (int i = 0; i < WRITES; i++) {
        const char *name = feed_model_names[random_below(&random, FEED_MODEL_NAMES)];
        int32_t id = (int32_t)random_below(&random, FEED_MODEL_IDS);
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", id);
        tansu_status status;
        if (random_chance(&random, 1)) {
            status = tansu_collection_drop(b->db, NULL, name, NULL);
        } else if (random_chance(&random, 30)) {
            status = tansu_remove_id(b->db, NULL, name, document_of(&doc), NULL, NULL);
        } else {
            BSON_APPEND_INT32(&doc, "n", i);
            BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, sizeof filling);
            tansu_document one = document_of(&doc);
            status = tansu_save(b->db, NULL, name, &one, 1, TANSU_SAVE, NULL, NULL);
        }
        CHECK(status == TANSU_OK || status == TANSU_E_NOT_FOUND);
        bson_destroy(&doc);
    }
    return NULL;
}

/* compact_much -- again and again until the writers are done. */
static void *compact_much(void *context) {
    busy *b = context;
    while (__atomic_load_n(&b->target, __ATOMIC_ACQUIRE) != 0) {
        tansu_status status = tansu_compact(b->db, NULL, NULL, NULL, NULL);
        CHECK(status == TANSU_OK || status == TANSU_E_BUSY);
        sched_yield();
    }
    return NULL;
}

/* read_all -- until everything was delivered. */
static void *read_all(void *context) {
    busy *b = context;
    tansu_error error;
    tansu_feed *feed = feed_model_open_feed(b->db, b->since, WHOLE);
    tansu_change change;
    uint64_t delivered = 0;
    tansu_change_init(&change);
    feed_model_clear(&b->known);
    while (delivered < __atomic_load_n(&b->target, __ATOMIC_ACQUIRE)) {
        tansu_status status = tansu_feed_next(feed, 20, &change, &error);
        if (status == TANSU_DONE)
            continue;
        if (!CHECK_OK(status, &error))
            break;
        CHECK(change.sequence >= delivered);
        feed_model_apply(&b->known, &change, false);
        delivered = change.last ? change.sequence : delivered;
    }
    tansu_feed_close(feed);
    return NULL;
}

static void feeds_and_writers_work_at_once(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.compaction_percent = 20;
    options.compaction_share = 100;
    tansu_db *db = call_open_with(&options);
    busy writers[WRITERS], readers[READERS], compactor = {.db = db, .target = 1};
    pthread_t writing[WRITERS], reading[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (busy){.db = db, .target = UINT64_MAX};
        reading[i] = start(read_all, &readers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (busy){.db = db, .stream = (uint64_t)i};
        writing[i] = start(write_much, &writers[i]);
    }
    pthread_t compacting = start(compact_much, &compactor);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writing[i], NULL);
    __atomic_store_n(&compactor.target, 0, __ATOMIC_RELEASE);
    pthread_join(compacting, NULL);
    /* The threads' own may not have run, or found nothing to do. */
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    /* One more, so that the last commit is not one without events. */
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 0, 'n': 77}"), &call_error);
    uint64_t target = (uint64_t)call_statistic(db, "sequence");
    feed_model now;
    for (int i = 0; i < READERS; i++)
        __atomic_store_n(&readers[i].target, target, __ATOMIC_RELEASE);
    /* A compaction's commit may have been the newest; this one is for those that wait for it. */
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 0, 'n': 78}"), &call_error);
    for (int i = 0; i < READERS; i++)
        pthread_join(reading[i], NULL);
    feed_model_read(&now, db, NULL);
    for (int i = 0; i < READERS; i++) {
        readers[i].known.n[0][0] = 78; /* the last commit may not have been waited for */
        CHECK(feed_model_equal(&now, &readers[i].known));
    }
    CHECK(call_statistic(db, "compactions") > 0);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(a_commit_wakes_those_that_wait);
    RUN(waiting_ends_in_time);
    RUN(cancelling_ends_it_for_good);
    RUN(a_database_is_not_closed_under_a_feed);
    RUN(a_commit_is_delivered_when_it_is_on_the_disk);
    RUN(feeds_and_writers_work_at_once);
    return check_finish();
}
