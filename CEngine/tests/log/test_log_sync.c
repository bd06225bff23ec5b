/*
 * test_log_sync.c -- the log by itself: group commit, syncs that fail, and a full disk.
 */
#include "log/log.h"
#include "log/segment.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/timing.h"
#include "support/workload/log_workload.h"
#include "util/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Syncs ---- */

typedef struct syncing_writers {
    log *l;
    pthread_mutex_t mutex;
    uint64_t sequence;
    uint64_t each;
} syncing_writers;

/* write_and_sync -- commits one after the other, each waiting for the disk. */
static void *write_and_sync(void *context) {
    syncing_writers *w = context;
    for (uint64_t i = 0; i < w->each; i++) {
        pthread_mutex_lock(&w->mutex);
        uint64_t sequence = ++w->sequence;
        log_workload_commit(w->l, sequence, 1, 9000);
        pthread_mutex_unlock(&w->mutex);
        CHECK_OK(log_sync(w->l, sequence, NULL), NULL);
        pthread_mutex_lock(&w->l->mutex);
        CHECK(w->l->synced >= sequence);
        pthread_mutex_unlock(&w->l->mutex);
    }
    return NULL;
}

static void writers_share_syncs(void) {
    char *folder = folder_new();
    syncing_writers w = {.l = log_workload_start(folder), .each = 40};
    pthread_mutex_init(&w.mutex, NULL);
    faults.sync_wait_ms = 2;
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_and_sync, &w) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(320, w.sequence);
    CHECK(faults.syncs >= 40);
    CHECK(faults.syncs < 200); /* one each would be 320 */
    check_note("320 commits of 8 threads, %u syncs", (unsigned)faults.syncs);
    pthread_mutex_destroy(&w.mutex);
    log_close(w.l, NULL);
    CHECK_INT(320, log_workload_count(folder, 320));
    folder_end(folder);
}

static void a_sync_covers_all_segments_of_a_commit(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    for (uint64_t i = 1; i <= 12; i++)
        log_workload_commit(l, i, 1, 900000);
    unsigned before = faults.syncs;
    CHECK_OK(log_sync(l, 12, &log_workload_error), &log_workload_error);
    CHECK_INT(log_measure(l).segments, faults.syncs - before);
    before = faults.syncs;
    CHECK_OK(log_sync(l, 12, &log_workload_error), &log_workload_error); /* it is there */
    CHECK_INT(0, faults.syncs - before);
    log_workload_commit(l, 13, 1, 8);
    CHECK_OK(log_sync(l, 13, &log_workload_error), &log_workload_error);
    CHECK(faults.syncs - before <= 2);
    log_close(l, NULL);
    folder_end(folder);
}

/* The kernel writes what was populated by one call as a whole, whatever of it has changed: 64 KiB
 * to the disk for each commit of a few hundred bytes. */
static void commits_that_are_synced_get_single_pages(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t sequence = 0;
    log_workload_commit(l, ++sequence, 1, 100);
    CHECK_OK(log_sync(l, sequence, NULL), NULL);
    faults.populate_most = 0;
    while (sequence < 600) { /* 1.2 MB: a second segment, too */
        log_workload_commit(l, ++sequence, 1, 2000);
        CHECK_OK(log_sync(l, sequence, NULL), NULL);
    }
    CHECK_INT(page, faults.populate_most);
    log_workload_commit(l, ++sequence, 100, 5000);
    CHECK(faults.populate_most > page); /* a large frame is one write anyway */
    CHECK_OK(log_sync(l, sequence, NULL), NULL);
    faults.populate_most = 0;
    while (sequence < 2400) /* nobody waits for the disk */
        log_workload_commit(l, ++sequence, 1, 2000);
    CHECK(faults.populate_most > page);
    log_close(l, NULL);
    CHECK_INT(2400, log_workload_count(folder, 2400));
    folder_end(folder);
}

/* sync_first -- syncs the first commit, in a thread of its own. */
static void *sync_first(void *context) {
    CHECK_OK(log_sync(context, 1, NULL), NULL);
    return NULL;
}

/* A commit that is appended while a sync is under way may not be on the disk when that sync
 * ends. */
static void a_sync_covers_only_what_was_written_before_it(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    pthread_t thread;
    log_workload_commit(l, 1, 1, 100);
    unsigned before = faults.syncs;
    faults.sync_wait_ms = 300;
    REQUIRE(pthread_create(&thread, NULL, sync_first, l) == 0);
    while (faults.syncs == before)
        timing_sleep(1);
    log_workload_commit(l, 2, 1, 100);
    pthread_join(thread, NULL);
    CHECK_INT(1, l->synced);
    CHECK_OK(log_sync(l, 2, NULL), NULL);
    CHECK_INT(2, l->synced);
    log_close(l, NULL);
    folder_end(folder);
}

static void a_failed_sync_is_never_tried_again(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    log_workload_commit(l, 1, 1, 100);
    CHECK_OK(log_sync(l, 1, &log_workload_error), &log_workload_error);
    log_workload_commit(l, 2, 1, 100);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, log_sync(l, 2, &log_workload_error));
    CHECK_INT(EIO, log_workload_error.sys_errno);
    CHECK(log_failed(l));
    faults.sync_errno = 0;
    unsigned before = faults.syncs;
    CHECK_STATUS(TANSU_E_IO, log_sync(l, 2, &log_workload_error));
    CHECK_INT(before, faults.syncs);
    CHECK_OK(log_sync(l, 1, &log_workload_error),
             &log_workload_error); /* that one is on the disk */
    CHECK_OK(log_close(l, &log_workload_error), &log_workload_error);
    CHECK_INT(2, log_workload_count(folder, 0));
    folder_end(folder);
}

/* ---- A full disk ---- */

static void a_full_disk_keeps_what_was_there(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    uint64_t sequence = 0;
    for (int i = 0; i < 5; i++)
        log_workload_commit(l, ++sequence, 1, 1000);
    faults.allocate_errno = ENOSPC;
    tansu_status status;
    uint32_t records = 0;
    while ((status = log_workload_record(l, sequence + 1, records, 10000)) == TANSU_OK)
        records++;
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK_INT(ENOSPC, log_workload_error.sys_errno);
    CHECK(records > 0); /* what was preallocated could be used */
    CHECK_STATUS(TANSU_E_FULL, log_workload_record(l, sequence + 1, records, MIB));
    CHECK(!file_exists(folder_join(folder, "00000002.seg")));
    log_abort(l);
    CHECK(log_workload_zero_after_head(l));
    log_workload_commit(l, ++sequence, 1, 1000); /* small ones still fit */
    faults.allocate_errno = 0;
    log_workload_commit(l, ++sequence, 30, 100000);
    log_workload_kill(l);
    CHECK_INT(sequence, log_workload_count(folder, sequence));
    folder_end(folder);
}

static void a_disk_that_is_full_from_the_start(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    faults.allocate_errno = ENOSPC;
    CHECK_STATUS(TANSU_E_FULL, log_workload_record(l, 1, 0, 100));
    CHECK_INT(0, log_measure(l).segments);
    faults.allocate_errno = 0;
    faults.open_errno = EMFILE;
    CHECK_STATUS(TANSU_E_IO, log_workload_record(l, 1, 0, 100));
    faults.open_errno = 0;
    log_workload_commit(l, 1, 1, 100);
    log_close(l, NULL);
    CHECK_INT(1, log_workload_count(folder, 1));
    folder_end(folder);
}

int main(void) {
    RUN(writers_share_syncs);
    RUN(a_sync_covers_all_segments_of_a_commit);
    RUN(a_sync_covers_only_what_was_written_before_it);
    RUN(commits_that_are_synced_get_single_pages);
    RUN(a_failed_sync_is_never_tried_again);
    RUN(a_full_disk_keeps_what_was_there);
    RUN(a_disk_that_is_full_from_the_start);
    return check_finish();
}
