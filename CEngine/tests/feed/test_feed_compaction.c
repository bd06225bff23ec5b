/*
 * test_feed_compaction.c -- feeds and compaction: an open feed misses nothing that matters,
 * whatever is compacted before, after or around it, and a number that can't be gone on from any
 * more is refused.
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
#define FEEDS 6

/* A reader that takes a little now and then. */
typedef struct reader {
    tansu_feed *feed;
    feed_model known;
} reader;

/* take_some -- up to this many changes; whole commits are not waited for. */
static void take_some(reader *r, int64_t most) {
    tansu_change change;
    tansu_change_init(&change);
    while (most-- > 0) {
        tansu_status status = tansu_feed_next(r->feed, 0, &change, &call_error);
        if (status == TANSU_DONE || !CHECK_OK(status, &call_error))
            return;
        feed_model_apply(&r->known, &change, false);
    }
}

/* open_reader -- at 0, at the present, or at any number; of those that are refused there are
 * some. */
static void open_reader(feed_workload *p, reader *r, int *refused) {
    uint64_t since = random_below(&p->random, p->sequence + 1);
    if (random_chance(&p->random, 30))
        since = 0;
    bson_t *options = bson_from_text(WHOLE);
    tansu_status status =
        tansu_feed_open(p->db, since, document_of(options), &r->feed, &call_error);
    bson_destroy(options);
    if (status == TANSU_OK) {
        r->known = p->history[since];
        return;
    }
    CHECK_STATUS(TANSU_E_NOT_FOUND, status);
    CHECK(since != 0);
    ++*refused;
    r->feed = feed_model_open_feed(p->db, TANSU_FEED_NOW, WHOLE);
    r->known = p->now;
}

/* A compaction during which a reader begins or goes on. */
typedef struct meddling {
    feed_workload *feed_workload;
    reader *readers;
    int *refused;
} meddling;

static int meddle(void *context, uint64_t done, uint64_t total) {
    meddling *m = context;
    (void)done;
    (void)total;
    reader *r = &m->readers[random_below(&m->feed_workload->random, FEEDS)];
    if (r->feed == NULL)
        open_reader(m->feed_workload, r, m->refused);
    take_some(r, random_between(&m->feed_workload->random, 1, 20));
    return 1;
}

/* run_with_compactions -- writes, compacts, and reads with several feeds, each at its own pace. */
static void run_with_compactions(const char *folder, uint64_t stream, int *refused) {
    feed_workload *p = malloc(sizeof *p);
    reader readers[FEEDS] = {{.feed = NULL}};
    REQUIRE(p != NULL);
    feed_workload_begin(p, folder, stream, 4000);
    p->compacts = true;
    meddling m = {p, readers, refused};
    for (int i = 0; i < 260; i++) {
        feed_workload_commit(p);
        reader *r = &readers[random_below(&p->random, FEEDS)];
        if (r->feed == NULL)
            open_reader(p, r, refused);
        take_some(r, random_between(&p->random, 0, 60));
        if (random_chance(&p->random, 6)) {
            tansu_feed_close(r->feed);
            r->feed = NULL;
        }
        if (random_chance(&p->random, 5))
            CHECK_OK(tansu_compact(p->db, meddle, &m, NULL, &call_error), &call_error);
        if (folder != NULL && random_chance(&p->random, 2)) {
            for (int k = 0; k < FEEDS; k++) {
                tansu_feed_close(readers[k].feed);
                readers[k].feed = NULL;
            }
            call_close(p->db);
            p->db = call_open(folder);
        }
    }
    CHECK(call_statistic(p->db, "sequence") > 0);
    for (int k = 0; k < FEEDS; k++) {
        if (readers[k].feed == NULL)
            continue;
        take_some(&readers[k], INT64_MAX);
        CHECK(feed_model_equal(&p->now, &readers[k].known));
        tansu_feed_close(readers[k].feed);
    }
    reader fresh = {.feed = feed_model_open_feed(p->db, 0, WHOLE)};
    feed_model_clear(&fresh.known);
    take_some(&fresh, INT64_MAX);
    CHECK(feed_model_equal(&p->now, &fresh.known));
    tansu_feed_close(fresh.feed);
    feed_workload_end(p);
    free(p);
}

static void open_feeds_miss_nothing_that_matters(void) {
    int rounds = (int)random_rounds("TANSU_ROUNDS", 6), refused = 0;
    for (int i = 0; i < rounds; i++) {
        char *folder = i % 3 == 0 ? NULL : folder_new();
        run_with_compactions(folder, (uint64_t)i, &refused);
        if (folder != NULL)
            folder_end(folder);
    }
    CHECK(refused > 0);
}

/* save_many -- documents, all with `n`, that fill a segment or more. */
static void save_many(tansu_db *db, const char *name, int32_t n) {
    static const uint8_t filling[40000];
    for (int i = 0; i < FEED_MODEL_IDS; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", i);
        BSON_APPEND_INT32(&doc, "n", n);
        BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, sizeof filling);
        CHECK_OK(call_save_bson(db, NULL, name, TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
}

/* compact -- at once; whether it did something. */
static void compact(tansu_db *db) {
    int64_t before = call_statistic(db, "compactions");
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(db, "compactions") > before);
}

/* status_from -- what opening a feed at a number comes to. */
static tansu_status status_from(tansu_db *db, uint64_t since) {
    tansu_feed *feed = NULL;
    tansu_status status = tansu_feed_open(db, since, TANSU_NO_DOCUMENT, &feed, &call_error);
    tansu_feed_close(feed);
    return status;
}

static void a_number_before_lost_deletions_is_refused(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    save_many(db, "ants", 1);
    feed_model before, after;
    feed_model_read(&before, db, NULL);
    uint64_t open_at = (uint64_t)call_statistic(db, "sequence");
    tansu_feed *open = feed_model_open_feed(db, open_at, WHOLE);
    CHECK_OK(call_remove(db, NULL, "ants", "{'_id': {'$lt': 30}}", NULL), &call_error);
    CHECK_STATUS(TANSU_OK, status_from(db, 3));
    compact(db);
    /* The open feed kept what it had not been delivered; nothing keeps what was before. */
    CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, 3));
    CHECK(strstr(call_error.message, "read everything") != NULL);
    CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, open_at - 1));
    CHECK_STATUS(TANSU_OK, status_from(db, open_at));
    CHECK_STATUS(TANSU_OK, status_from(db, 0));
    feed_model_drain(&before, open, false, NULL);
    feed_model_read(&after, db, NULL);
    CHECK(feed_model_equal(&after, &before));
    tansu_feed_close(open);
    /* After reopening nobody knows what feed was there: all of the compacted is refused. */
    uint64_t newest = (uint64_t)call_statistic(db, "sequence");
    call_close(db);
    db = call_open(folder);
    CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, open_at));
    CHECK_STATUS(TANSU_OK, status_from(db, newest));
    CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, newest + 1));
    CHECK_STATUS(TANSU_OK, status_from(db, 0));
    call_close(db);
    folder_end(folder);
}

/* Removals behind documents that stay are dropped where the insertion is: a number between them is
 * refused, also after the next compaction, and by the next handle. */
static void a_number_between_insertion_and_removal_is_refused(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    tansu_db *db = call_open_with(&options);
    save_many(db, "bees", 1);
    save_many(db, "ants", 1);
    uint64_t between = (uint64_t)call_statistic(db, "sequence");
    CHECK_OK(call_remove(db, NULL, "ants", "{'_id': {'$gte': 0}}", NULL), &call_error);
    CHECK_INT(0, call_count(db, NULL, "ants", "{}"));
    feed_model before, after;
    feed_model_read(&before, db, NULL);
    CHECK_STATUS(TANSU_OK, status_from(db, between));
    for (int round = 0; round < 3; round++) {
        compact(db);
        uint64_t newest = (uint64_t)call_statistic(db, "sequence");
        CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, between));
        CHECK_STATUS(TANSU_OK, status_from(db, newest));
        call_close(db);
        db = call_open_with(&options);
        CHECK_STATUS(TANSU_E_NOT_FOUND, status_from(db, between));
        CHECK_STATUS(TANSU_OK, status_from(db, newest));
        tansu_feed *all = feed_model_open_feed(db, 0, WHOLE);
        feed_model_clear(&after);
        feed_model_drain(&after, all, false, NULL);
        CHECK(feed_model_equal(&after, &before));
        tansu_feed_close(all);
        CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
        CHECK_OK(call_remove_id(db, NULL, "ants", "{'_id': 1}", NULL), &call_error);
    }
    call_close(db);
    folder_end(folder);
}

static void a_dropped_collection_is_delivered_after_compaction(void) {
    tansu_db *db = call_open(NULL);
    save_many(db, "ants", 1);
    tansu_feed *feed = feed_model_open_feed(db, 0, WHOLE);
    feed_model known, after;
    feed_model_clear(&known);
    CHECK(feed_model_drain(&known, feed, true, NULL) > FEED_MODEL_IDS);
    CHECK_OK(tansu_collection_rename(db, NULL, "ants", "bees", &call_error), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "bees", &call_error), &call_error);
    compact(db);
    save_many(db, "ants", 2);
    CHECK_OK(tansu_collection_drop(db, NULL, "ants", &call_error), &call_error);
    compact(db);
    feed_model_drain(&known, feed, false, NULL);
    feed_model_read(&after, db, NULL);
    CHECK(feed_model_equal(&after, &known));
    tansu_feed_close(feed);
    call_close(db);
}

/* begin_meanwhile -- a tansu_progress: opens the feed at 0 and takes a part. */
static int begin_meanwhile(void *context, uint64_t done, uint64_t total) {
    reader *r = context;
    tansu_db *db = (tansu_db *)r->feed;
    (void)total;
    if (done == 0 || r->known.there[FEED_MODEL_NAMES - 1])
        return 1;
    r->feed = feed_model_open_feed(db, 0, WHOLE);
    feed_model_clear(&r->known);
    take_some(r, 20);
    r->known.there[FEED_MODEL_NAMES - 1] = true; /* so that it happens once */
    return 1;
}

static void a_feed_may_begin_while_a_compaction_is_at_work(void) {
    tansu_db *db = call_open(NULL);
    save_many(db, "ants", 1);
    CHECK_OK(call_remove(db, NULL, "ants", "{'_id': {'$lt': 30}}", NULL), &call_error);
    save_many(db, "bees", 2);
    CHECK_OK(call_remove(db, NULL, "bees", "{'_id': {'$lt': 30}}", NULL), &call_error);
    reader r = {.feed = (tansu_feed *)db};
    CHECK_OK(tansu_compact(db, begin_meanwhile, &r, NULL, &call_error), &call_error);
    REQUIRE(r.known.there[FEED_MODEL_NAMES - 1]);
    r.known.there[FEED_MODEL_NAMES - 1] = false;
    CHECK_INT(1, r.known.n[0][5]); /* documents were delivered that are gone */
    feed_model after;
    take_some(&r, INT64_MAX);
    feed_model_read(&after, db, NULL);
    CHECK(feed_model_equal(&after, &r.known));
    tansu_feed_close(r.feed);
    call_close(db);
}

static void a_feed_that_waits_pins_nothing(void) {
    tansu_db *db = call_open(NULL);
    tansu_feed *feed = feed_model_open_feed(db, TANSU_FEED_NOW, WHOLE);
    feed_model known;
    feed_model_clear(&known);
    save_many(db, "ants", 1);
    feed_model_drain(&known, feed, true, NULL);
    for (int32_t i = 2; i < 12; i++)
        save_many(db, "ants", i);
    int64_t before = call_statistic(db, "logBytes");
    compact(db);
    CHECK(call_statistic(db, "logBytes") < before / 3);
    feed_model_drain(&known, feed, false, NULL);
    CHECK_INT(11, known.n[0][7]);
    tansu_feed_close(feed);
    call_close(db);
}

int main(void) {
    RUN(a_number_before_lost_deletions_is_refused);
    RUN(a_number_between_insertion_and_removal_is_refused);
    RUN(a_dropped_collection_is_delivered_after_compaction);
    RUN(a_feed_may_begin_while_a_compaction_is_at_work);
    RUN(a_feed_that_waits_pins_nothing);
    RUN(open_feeds_miss_nothing_that_matters);
    return check_finish();
}
