/*
 * test_full_disk_commits.c -- what docs/durability.md promises of a full disk and of one that takes
 * no writes, on a real file system of a few megabytes (a tmpfs in a mount namespace of its own;
 * skipped where that can't be had), and under a limit on the size of files. Written from the
 * documentation alone.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/crashed_database.h"
#include "support/fault/small_disk.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/mount.h>
#endif

/* holds -- the documents from..to-1 and no others, by scan and by index. */
static bool holds(tansu_db *db, int from, int to) {
    char query[64];
    snprintf(query, sizeof query, "{'n': {'$gte': %d, '$lt': %d}}", from, to);
    bool all = CHECK_INT(to - from, call_count(db, NULL, "c", "{}"));
    return CHECK_INT(to - from, call_count(db, NULL, "c", query)) && all;
}

/* ---- In a process whose disk is small ---- */

/* take_space -- fills a part of the disk with a file of that size. */
static void take_space(const char *folder, size_t size) {
    void *bytes = calloc(1, size);
    REQUIRE(bytes != NULL);
    file_write(folder_join(folder, "ballast"), bytes, size);
    free(bytes);
}

/* A commit that does not fit is refused whole, reading goes on, and so does writing once there
 * is space again. */
static void full_and_room_again(const char *folder) {
    tansu_options options = call_options(path_in(folder, "db"));
    tansu_status status;
    options.durability = TANSU_DURABILITY_FULL;
    take_space(folder, 4 << 20);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    int count = small_disk_fill(db, 0, &status);
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK(count > 50);
    holds(db, 0, count);
    for (int i = 0; i < 3; i++) { /* and again, and within a transaction */
        CHECK_INT(count, small_disk_fill(db, count, &status));
        CHECK_STATUS(TANSU_E_FULL, status);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        small_disk_fill(db, count, &status);
        tansu_txn_abort(txn);
        holds(db, 0, count);
    }
    status = tansu_checkpoint(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL);
    const char *to = path_in(folder, "backup");
    status = backup(db, to, TANSU_BACKUP_FOLDER);
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK(nothing_at(to));
    REQUIRE(unlink(folder_join(folder, "ballast")) == 0);
    int more = small_disk_fill(db, count, &status);
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK(more > count + 50);
    holds(db, 0, more);
    status = tansu_shutdown(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL);
    take_space(folder, 0);
    db = NULL;
    if (CHECK_OK(tansu_open(&options, &db, &call_error), &call_error)) {
        holds(db, 0, more);
        tansu_close(db);
    }
}

static void a_full_disk_refuses_whole_commits_until_there_is_capacity(void) {
    small_disk_run(12, full_and_room_again);
}

/* The same process is killed on the full disk, and the database opened again there. */
static void killed_while_full(const char *folder) {
    const char *path = path_in(folder, "db"), *acknowledged = path_in(folder, "count");
    int status = 0;
    take_space(folder, 1 << 20);
    file_write(acknowledged, "0000000000000000", 16);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_options options = call_options(path);
        tansu_db *db = call_open_with(&options);
        tansu_status last;
        CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
        int count = small_disk_fill(db, 0, &last);
        file_patch(acknowledged, 0, &count, sizeof count);
        _exit(last != TANSU_E_FULL);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tansu_buffer b = TANSU_BUFFER_INIT;
    int count;
    file_read(acknowledged, &b);
    memcpy(&count, b.data, sizeof count);
    tansu_buffer_free(&b);
    CHECK(count > 50);
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    tansu_status opened = tansu_open(&options, &db, &call_error);
    CHECK(opened == TANSU_OK || opened == TANSU_E_FULL);
    tansu_close(db);
    REQUIRE(unlink(folder_join(folder, "ballast")) == 0);
    db = call_open(path);
    holds(db, 0, count);
    maintenance_clean(db);
    opened = tansu_shutdown(db, &call_error);
    CHECK(opened == TANSU_OK || opened == TANSU_E_FULL);
}

static void a_process_that_is_killed_on_a_full_disk_loses_nothing(void) {
    small_disk_run(10, killed_while_full);
}

/* ---- Read-only file systems ---- */

#ifdef __linux__
/* refuses_and_reads -- opened for writing on a file system that takes none: every document is
 * there, and each call that writes is refused. */
static void refuses_and_reads(const char *path) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return;
    CHECK_INT(1, call_statistic(db, "readOnly"));
    CHECK_INT(500, call_count(db, NULL, "c", "{}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': -1}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_checkpoint(db, &call_error));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_compact(db, NULL, NULL, NULL, &call_error));
    maintenance_clean(db);
    call_close(db);
}
#endif

/* A database that was closed, and one that a process left, are read where nothing can be
 * written. */
static void read_where_nothing_can_be_written(const char *folder) {
#ifdef __linux__
    char *left = crashed_database(false, 500);
    const char *unclean = path_in(folder, "unclean"), *clean = path_in(folder, "clean");
    tansu_options options = call_options(path_in(folder, "none"));
    tansu_db *db = NULL;
    folder_copy(left, unclean);
    folder_copy(left, clean);
    folder_end(left);
    call_close(call_open(clean));
    REQUIRE(mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    refuses_and_reads(clean);
    refuses_and_reads(unclean);
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_open(&options, &db, &call_error));
    REQUIRE(mount("none", folder, NULL, MS_REMOUNT, NULL) == 0);
    crashed_recovers_prefix(clean, 500, 500);
    crashed_recovers_prefix(unclean, 500, 500);
#else
    (void)folder;
#endif
}

static void a_read_only_file_system_is_read(void) {
    small_disk_run(24, read_where_nothing_can_be_written);
}

int main(void) {
    RUN(a_full_disk_refuses_whole_commits_until_there_is_capacity);
    RUN(a_process_that_is_killed_on_a_full_disk_loses_nothing);
    RUN(a_read_only_file_system_is_read);
    return check_finish();
}
