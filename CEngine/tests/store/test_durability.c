/*
 * test_durability.c -- what commits wait for, and what is left when a sync fails, the disk is full
 * or a file cannot be replaced.
 */
#include "api/handles.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* open_with_faults -- over the calls that fail on request. */
static tansu_db *open_with_faults(const tansu_options *options) {
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(options, &file_faults_fs, NULL, &db, &call_error), &call_error));
    return db;
}

static void only_full_commits_wait_for_the_disk(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    unsigned before = faults.syncs;
    for (int i = 0; i < 20; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before, faults.syncs);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_FULL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(before + 2, faults.syncs);
    call_close(db);

    options.durability = TANSU_DURABILITY_DEFAULT; /* full */
    db = open_with_faults(&options);
    before = faults.syncs;
    for (int i = 0; i < 5; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before + 5, faults.syncs);
    call_close(db);
    folder_end(folder);
}

/* synced_within -- whether a sync comes within this many milliseconds. */
static bool synced_within(unsigned before, int ms) {
    for (int i = 0; i < ms && faults.syncs == before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return faults.syncs != before;
}

static void interval_commits_are_synced_in_time(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_INTERVAL;
    options.interval_ms = 30;
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    for (int i = 0; i < 3; i++) {
        unsigned before = faults.syncs;
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK(synced_within(before, 2000));
        before = faults.syncs;
        CHECK(!synced_within(before, 80)); /* nothing to do, nothing done */
    }
    call_close(db);
    /* One transaction of that kind in a database of another. */
    options.durability = TANSU_DURABILITY_PROCESS;
    db = open_with_faults(&options);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_INTERVAL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    unsigned before = faults.syncs;
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK(synced_within(before, 2000));
    call_close(db);
    folder_end(folder);
}

/* Saves a document with durability FULL: the commit waits for the disk. */
static void *save_fully(void *context) {
    tansu_db *db = context;
    tansu_txn *txn = NULL;
    if (CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_FULL, &txn, NULL), NULL)) {
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{}"), NULL);
        CHECK_OK(tansu_txn_commit(txn, NULL, NULL), NULL);
    }
    return NULL;
}

enum { SAVING_THREADS = 12 };

static void after_a_sync_commits_of_other_threads_can_be_read(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
        pthread_t others[SAVING_THREADS];
        faults.sync_wait_ms = 10;
        for (int k = 0; k < SAVING_THREADS; k++)
            REQUIRE(pthread_create(&others[k], NULL, save_fully, db) == 0);
        /* Writers see the commits before readers do. */
        int64_t count = 0;
        while (count < SAVING_THREADS) {
            tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
            count = call_count(db, txn, "c", "{}");
            tansu_txn_abort(txn);
        }
        CHECK_OK(tansu_sync(db, &call_error), &call_error);
        CHECK_INT(SAVING_THREADS, call_count(db, NULL, "c", "{}"));
        for (int k = 0; k < SAVING_THREADS; k++)
            pthread_join(others[k], NULL);
        faults.sync_wait_ms = 0;
    }
    call_close(db);
    folder_end(folder);
}

static void a_failed_sync_ends_writing_but_not_reading(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"));
    CHECK_INT(EIO, call_error.sys_errno);
    faults.sync_errno = 0;
    unsigned before = faults.syncs;
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_SYNC_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 101}"));
    CHECK_STATUS(TANSU_E_SYNC_FAILED, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_SYNC_FAILED, tansu_sync(db, NULL));
    sample_check(db); /* also without what was not acknowledged */
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    CHECK_INT(before, faults.syncs);
    db = call_open(folder);
    int64_t count = call_count(db, NULL, "c", "{}");
    CHECK(count == 50 || count == 51);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 100}", NULL), &call_error);
    sample_check(db);
    call_close(db);
    folder_end(folder);
}

/* What the system dropped from memory, since it could not write it, is no corruption of what is on
 * the disk: reading and verifying say IO. */
static void what_a_failed_sync_dropped_is_an_io_error(void) {
    static const uint8_t zeros[64];
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_PROCESS;
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    char *segment = strdup(folder_join(folder, "log/00000001.seg"));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'mark': 'dropped from memory'}"),
             &call_error);
    file_read(segment, &bytes);
    const uint8_t *mark = memmem(bytes.data, bytes.size, "dropped from memory", 19);
    REQUIRE(mark != NULL);
    uint64_t at = ((uint64_t)(mark - bytes.data) - sizeof zeros) & ~(uint64_t)7;
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    faults.sync_errno = EIO;
    file_patch(segment, at, zeros, sizeof zeros);
    CHECK_STATUS(TANSU_E_IO, tansu_verify(db, NULL, NULL, NULL, &call_error));
    CHECK_TEXT("log/00000001.seg", call_error.context);
    CHECK_TEXT("IO", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK(strstr(call_error.message, "could not write") != NULL);
    CHECK_STATUS(TANSU_E_SYNC_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 101}"));
    (void)tansu_shutdown(db, NULL);
    faults.sync_errno = 0;
    /* Opened again, there is what was synced. */
    db = call_open(folder);
    CHECK_INT(50, call_count(db, NULL, "c", "{}"));
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    sample_check(db);
    call_close(db);
    tansu_buffer_free(&bytes);
    free(segment);
    folder_end(folder);
}

/* still_read -- everything that can be asked about the collection gives what it gave before, or IO;
 * how many answers were IO. */
static int still_read(tansu_db *db, uint64_t from, uint64_t to) {
    static const char *const queries[] = {"{'v': {'$gt': 0}}", "{'n': {'$gt': 0}}", "{'_id': 'a'}",
                                          "{'_id': 'b'}",      "{'_id': 'c'}",      "{'_id': 'd'}"};
    static const char *const a = "{ \"_id\" : \"a\", \"n\" : 1, \"v\" : 1 }",
                             *const b = "{ \"_id\" : \"b\", \"n\" : 2, \"v\" : 2 }",
                             *const c = "{ \"_id\" : \"c\", \"n\" : 3, \"v\" : 3 }";
    char all[256];
    snprintf(all, sizeof all, "%s %s %s", a, b, c);
    const char *const expected[] = {all, all, a, b, c, ""};
    int refused = 0;
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const char *found = call_find(db, NULL, "d", queries[i], NULL);
        if (strcmp(found, "IO") == 0)
            refused++;
        else if (!CHECK_TEXT(expected[i], found))
            printf("dropped from %llu to %llu: %s\n", (unsigned long long)from,
                   (unsigned long long)to, queries[i]);
    }
    return refused;
}

/* The records of a commit that failed are newer than what readers may see and lead to it. When the
 * system drops a page of them, wherever it begins or ends, no document is missing without an
 * error, though a page of zeros where a deletion was has nothing that says that it is newer. */
static void what_a_failed_commit_dropped_hides_no_document(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    CHECK_OK(call_index(db, NULL, "d", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 'a', 'n': 1, 'v': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 'b', 'n': 2, 'v': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 'c', 'n': 3, 'v': 3}"), &call_error);
    CHECK_INT(0, still_read(db, 0, 0));
    tansu_buffer before = TANSU_BUFFER_INIT, after = TANSU_BUFFER_INIT;
    char *segment = strdup(folder_join(folder, "log/00000001.seg"));
    file_read(segment, &before);
    faults.sync_errno = EIO;
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, &call_error), &call_error);
    CHECK_OK(call_remove_id(db, txn, "d", "{'_id': 'a'}", NULL), &call_error);
    CHECK_OK(call_save(db, txn, "d", TANSU_SAVE, "{'_id': 'b', 'n': 8, 'v': 8}"), &call_error);
    CHECK_OK(call_remove_id(db, txn, "d", "{'_id': 'c'}", NULL), &call_error);
    CHECK_OK(call_save(db, txn, "d", TANSU_SAVE, "{'_id': 'd', 'n': 9, 'v': 9}"), &call_error);
    CHECK_STATUS(TANSU_E_IO, tansu_txn_commit(txn, NULL, &call_error));
    CHECK_INT(0, still_read(db, 0, 0));
    file_read(segment, &after);
    REQUIRE(before.size == after.size);
    uint64_t from = 0, to = after.size;
    while (from < to && before.data[from] == after.data[from])
        from++;
    while (to > from && before.data[to - 1] == after.data[to - 1])
        to--;
    from &= ~(uint64_t)7;
    to = (to + 7) & ~(uint64_t)7;
    REQUIRE(to - from > 200);
    int refused = 0;
    for (uint64_t cut = from; cut <= to; cut += 8) {
        file_patch(segment, cut, before.data + cut, to - cut);
        refused += still_read(db, cut, to);
        file_patch(segment, from, after.data + from, to - from);
        file_patch(segment, from, before.data + from, cut - from);
        refused += still_read(db, from, cut);
        file_patch(segment, from, after.data + from, to - from);
    }
    CHECK(refused > 0);
    CHECK_INT(0, still_read(db, 0, 0));
    (void)tansu_shutdown(db, NULL);
    faults.sync_errno = 0;
    tansu_buffer_free(&before);
    tansu_buffer_free(&after);
    free(segment);
    folder_end(folder);
}

/* Whatever the reason: what was kept of the commit is not known, so no status may say that
 * nothing was. */
static void a_failed_sync_never_says_that_nothing_was_kept(void) {
    static const int numbers[] = {ENOSPC, EDQUOT, EROFS, ENOMEM, EFBIG, EIO, ENXIO};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *folder = folder_new();
        tansu_options options = call_options(folder);
        options.durability = TANSU_DURABILITY_FULL;
        file_faults_reset();
        tansu_db *db = open_with_faults(&options);
        sample_fill(db);
        faults.sync_errno = numbers[i];
        tansu_status status = call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}");
        CHECK_STATUS(i < 5 ? TANSU_E_SYNC_FAILED : TANSU_E_IO, status);
        CHECK_INT(numbers[i], call_error.sys_errno);
        faults.sync_errno = 0;
        CHECK_STATUS(TANSU_E_SYNC_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 101}"));
        sample_check(db);
        CHECK_STATUS(status, tansu_shutdown(db, &call_error));
        db = call_open(folder); /* all of the log is in the page cache */
        CHECK_INT(51, call_count(db, NULL, "c", "{}"));
        call_close(db);
        folder_end(folder);
    }
}

/* fail_and_leave -- a database with index files whose last commit's sync has failed, its process
 * killed (a copy) or not. */
static char *fail_and_leave(bool killed) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"));
    faults.sync_errno = 0;
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(folder, copy);
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    char *left = killed ? copy : folder;
    folder_end(killed ? folder : copy);
    return left;
}

/* inode_of -- which file a name stands for. */
static uint64_t inode_of(const char *folder, const char *name) {
    struct stat info;
    REQUIRE(stat(folder_join(folder, name), &info) == 0);
    return (uint64_t)info.st_ino;
}

static void after_a_failed_sync_the_tail_is_written_to_a_new_file(void) {
    for (int killed = 0; killed < 2; killed++) {
        char *folder = fail_and_leave(killed != 0);
        tansu_options options = call_options(folder);
        uint64_t inode = inode_of(folder, "log/00000001.seg");
        uint64_t written, synced, state;
        CHECK(tail_file_read(folder_join(folder, "log"), &written, &synced, &state));
        CHECK(synced < written && state == 3);
        /* A disk that goes on failing is an error, and nothing is taken for durable. */
        faults.sync_errno = EIO;
        tansu_db *none = NULL;
        CHECK_STATUS(TANSU_E_IO, handle_open(&options, &file_faults_fs, NULL, &none, &call_error));
        faults.sync_errno = 0;
        CHECK(inode == inode_of(folder, "log/00000001.seg"));
        CHECK(tail_file_read(folder_join(folder, "log"), &written, &synced, &state));
        CHECK(synced < written && state != 1);
        file_faults_reset();
        tansu_db *db = open_with_faults(&options);
        CHECK(faults.syncs > 0 && faults.folder_syncs > 0);
        CHECK(tail_file_read(folder_join(folder, "log"), &written, &synced, &state));
        CHECK(synced == written && state == 1);
        CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK_INT(51, call_count(db, NULL, "c", "{}"));
        CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 100}", NULL), &call_error);
        sample_check(db);
        call_close(db);
        db = call_open(folder);
        sample_check(db);
        call_close(db);
        folder_end(folder);
    }
}

/* Killed while a sync was under way, nobody has seen whether it failed: the bytes are written
 * once more where they are. Killed at another time, a sync that succeeds proves enough. */
static void what_a_killed_process_was_syncing_is_written_again(void) {
    for (int state = 1; state <= 2; state++) {
        char *folder = folder_new(), *copy = folder_new();
        rmdir(copy);
        tansu_db *db = call_open(folder);
        sample_fill(db);
        folder_copy(folder, copy);
        call_close(db);
        tail_file_set_state(folder_join(copy, "log"), (uint64_t)state);
        tansu_options options = call_options(copy);
        uint64_t inode = inode_of(copy, "log/00000001.seg");
        file_faults_reset();
        db = open_with_faults(&options);
        CHECK_INT(state == 2 ? 1 : 0, faults.syncs);
        CHECK(inode == inode_of(copy, "log/00000001.seg"));
        sample_check(db);
        call_close(db);
        folder_end(folder);
        folder_end(copy);
    }
}

static void an_end_whose_sync_fails_loses_nothing(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    faults.sync_errno = 0;
    db = call_open(folder);
    sample_check(db);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    db = call_open(folder);
    CHECK(call_statistic(db, "checkpointSequence") > 0);
    call_close(db);
    folder_end(folder);
}

static void a_full_disk_refuses_a_commit_and_keeps_the_rest(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.allocate_errno = ENOSPC;
    uint8_t *filling = calloc(1, 600000);
    bson_t *large = BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT32(77), "b",
                             BCON_BIN(BSON_SUBTYPE_BINARY, filling, 600000));
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, NULL, "c", TANSU_SAVE, large));
    sample_check(db);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 100, 'n': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, txn, "c", TANSU_SAVE, large));
    CHECK_INT(1, call_count(db, txn, "c", "{'n': 1, '_id': 1}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error); /* what fits is kept */
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    faults.allocate_errno = 0;
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, large), &call_error);
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    bson_destroy(large);
    free(filling);
    folder_end(folder);
}

static void a_manifest_that_cannot_be_written_stops_no_commit(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    file_faults_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.rename_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, tansu_checkpoint(db, &call_error));
    sample_check(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

/* Small commits are checkpointed before they are many bytes: what opening replays after a kill is
 * bounded by its number of records as well. */
static void many_small_commits_cause_a_checkpoint(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.checkpoint_bytes = 256 * 2000;
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    char text[32];
    for (int i = 0; i < 1900; i++) {
        snprintf(text, sizeof text, "{'_id': %d}", i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_INT(0, call_statistic(db, "checkpointSequence"));
    for (int i = 0; i < 200; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    /* The background thread makes it. */
    for (int i = 0; i < 6000 && call_statistic(db, "checkpointSequence") == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    CHECK(call_statistic(db, "checkpointSequence") >= 1900);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(many_small_commits_cause_a_checkpoint);
    RUN(only_full_commits_wait_for_the_disk);
    RUN(interval_commits_are_synced_in_time);
    RUN(after_a_sync_commits_of_other_threads_can_be_read);
    RUN(a_failed_sync_ends_writing_but_not_reading);
    RUN(what_a_failed_sync_dropped_is_an_io_error);
    RUN(what_a_failed_commit_dropped_hides_no_document);
    RUN(a_failed_sync_never_says_that_nothing_was_kept);
    RUN(after_a_failed_sync_the_tail_is_written_to_a_new_file);
    RUN(an_end_whose_sync_fails_loses_nothing);
    RUN(what_a_killed_process_was_syncing_is_written_again);
    RUN(a_full_disk_refuses_a_commit_and_keeps_the_rest);
    RUN(a_manifest_that_cannot_be_written_stops_no_commit);
    return check_finish();
}
