/*
 * test_wall_clock.c -- the wall clock jumps, and no wait and no limit notices.
 *
 * The linker puts __wrap_clock_gettime() before the system's (Makefile): a deadline that code makes
 * of a wall clock that is an hour ahead is an hour away when the clock goes back. macOS can't;
 * there the test shows that waits last as long as they should.
 */
#include "api/handles.h"
#include "compact/compact.h"
#include "query/util/deadline.h"
#include "store/background/background.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/folder.h"
#include "util/clock.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* How far the wall clock is from the true time, in seconds. */
static atomic_long ahead;

#ifndef __APPLE__
/* What the C library has for a time of 64 bits where its own has 32. */
#if defined(__TIMESIZE) && __TIMESIZE == 32
#define __real_clock_gettime __real___clock_gettime64
#define __wrap_clock_gettime __wrap___clock_gettime64
#endif

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    int result = __real_clock_gettime(id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec += atomic_load(&ahead);
    return result;
}
#endif

/* What the wall clock does while a test runs. */
static const long jumps[] = {0, 3600, -3600};

/* A wait of this many milliseconds is right when it lasts at least that and not many times as
 * long: the machine may be busy, but no jump is as short as that. */
#define WAIT_MS 60u
#define WAIT_MOST_MS 20000u

/* check_took -- whether a wait that began then was of the right length. */
static void check_took(clock_time began) {
    uint64_t took = (clock_now() - began) / 1000000u;
    CHECK(took >= WAIT_MS && took < WAIT_MOST_MS);
}

static tansu_db *open_waiting(const char *folder) {
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_INTERVAL;
    options.interval_ms = WAIT_MS;
    options.busy_timeout_ms = WAIT_MS;
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, &file_faults_fs, NULL, &db, &call_error), &call_error));
    return db;
}

static void *second_writer(void *db) {
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_BUSY, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    return NULL;
}

static void a_busy_timeout_lasts_as_long_as_it_should(tansu_db *db) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    clock_time began = clock_now();
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, second_writer, db) == 0);
    pthread_join(thread, NULL);
    check_took(began);
    tansu_txn_abort(txn);
}

static void an_interval_sync_comes_in_time(tansu_db *db) {
    unsigned before = faults.syncs;
    clock_time began = clock_now(), limit = clock_in(WAIT_MOST_MS);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    while (faults.syncs == before && clock_now() < limit)
        usleep(1000);
    CHECK_INT(before + 1, faults.syncs);
    check_took(began);
}

static void a_feed_waits_as_long_as_it_should(tansu_db *db) {
    tansu_feed *feed = NULL;
    tansu_change change;
    tansu_change_init(&change);
    REQUIRE(CHECK_OK(tansu_feed_open(db, TANSU_FEED_NOW, TANSU_NO_DOCUMENT, &feed, &call_error),
                     &call_error));
    clock_time began = clock_now();
    CHECK_STATUS(TANSU_DONE, tansu_feed_next(feed, WAIT_MS, &change, NULL));
    check_took(began);
    tansu_feed_close(feed);
}

static void a_background_compaction_rests_as_long_as_it_should(tansu_db *db) {
    clock_time began = clock_now();
    CHECK(compactor_wait(db_inner(db), (uint64_t)WAIT_MS * 1000000u));
    check_took(began);
}

static void a_query_ends_at_its_limit(void) {
    clock_time began = clock_now(), limit = clock_in(WAIT_MOST_MS);
    deadline w = deadline_begin(NULL, WAIT_MS), endless = deadline_begin(NULL, UINT64_MAX);
    while (deadline_check(&w, NULL) == TANSU_OK && clock_now() < limit)
        usleep(1000);
    CHECK_STATUS(TANSU_E_TIMEOUT, deadline_check(&w, NULL));
    check_took(began);
    CHECK_OK(deadline_check(&endless, NULL), NULL);
}

static void no_wait_follows_the_wall_clock(void) {
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        char *folder = folder_new();
        file_faults_reset();
        tansu_db *db = open_waiting(folder);
        atomic_store(&ahead, jumps[i]);
        a_busy_timeout_lasts_as_long_as_it_should(db);
        an_interval_sync_comes_in_time(db);
        a_feed_waits_as_long_as_it_should(db);
        a_background_compaction_rests_as_long_as_it_should(db);
        a_query_ends_at_its_limit();
        atomic_store(&ahead, 0);
        call_close(db);
        folder_end(folder);
    }
}

int main(void) {
    alarm(120); /* a wait of an hour is a failure, and not one that anybody should wait for */
    RUN(no_wait_follows_the_wall_clock);
    return check_finish();
}
