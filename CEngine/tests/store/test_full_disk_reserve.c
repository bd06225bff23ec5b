/*
 * test_full_disk_reserve.c -- on a full disk, deleting works when nothing else
 * does, and so does compacting, so that the space can be reclaimed; and a limit
 * on the size of files is a full disk, not the end of the process.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/small_disk.h"
#include "support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void remove_and_compact(const char *folder) {
    tansu_options options = call_options(path_in(folder, "db"));
    tansu_status status;
    int64_t removed = 0;
    tansu_db *db = call_open_with(&options);
    int count = small_disk_fill(db, 0, &status);
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK(count > 100);
    for (int id = 0; id < count / 2; id++) {
        char query[32];
        snprintf(query, sizeof query, "{'_id': %d}", id);
        if (!CHECK_OK(call_remove(db, NULL, "c", query, &removed), &call_error))
            break;
    }
    CHECK_INT(count - count / 2, call_count(db, NULL, "c", "{}"));
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    int more = small_disk_fill(db, count, &status);
    CHECK(more > count + count / 4);
    CHECK_INT(more - count / 2, call_count(db, NULL, "c", "{}"));
    maintenance_clean(db);
    status = tansu_shutdown(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL);
}

/* take_rest -- writes a file of others until nothing fits any more. */
static void take_rest(const char *folder) {
    static const char bytes[4096] = {1};
    int fd = open(path_in(folder, "others"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    REQUIRE(fd >= 0);
    while (write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    close(fd);
}

/* Segments with dead bytes that are too large to be rewritten, and nothing that frees space: what
 * compactions themselves leave is rewritten, but not for ever. */
static void compact_what_does_not_fit(const char *folder) {
    tansu_options options = call_options(path_in(folder, "db"));
    tansu_status status;
    options.segment_size = 1 << 20;
    options.compaction_percent = 0;
    tansu_db *db = call_open_with(&options);
    int count = small_disk_fill(db, 0, &status);
    for (int id = 0; id < count; id += 10) {
        char query[32];
        snprintf(query, sizeof query, "{'_id': %d}", id);
        CHECK_OK(call_remove(db, NULL, "c", query, NULL), &call_error);
    }
    take_rest(folder);
    alarm(60);
    for (int i = 1; i < 20; i++) {
        char query[32];
        snprintf(query, sizeof query, "{'_id': %d}", i * 10 + 1);
        CHECK_OK(call_remove(db, NULL, "c", query, NULL), &call_error);
        uint64_t size = file_size(path_in(folder, "others"));
        CHECK_INT(0, truncate(path_in(folder, "others"), (off_t)(size - 8192u * (unsigned)i)));
        status = tansu_compact(db, NULL, NULL, NULL, &call_error);
        CHECK(status == TANSU_OK || status == TANSU_E_FULL);
        take_rest(folder);
    }
    alarm(0);
    CHECK_INT(count - (count + 9) / 10 - 19, call_count(db, NULL, "c", "{}"));
    status = tansu_shutdown(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL);
}

static void a_compaction_that_does_not_fit_ends(void) {
    small_disk_run(6, compact_what_does_not_fit);
}

static void deleting_and_compacting_work_on_a_full_disk(void) {
    small_disk_run(10, remove_and_compact);
}

/* The signal that a write over the limit brings is left as the system has it:
 * the library may not end the process. */
static void work_under_limit(const char *folder) {
    struct rlimit limit;
    tansu_options options = call_options(path_in(folder, "db"));
    tansu_status status;
    options.segment_size = 8 << 20;
    tansu_db *db = call_open_with(&options);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 2 << 20;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    int count = small_disk_fill(db, 0, &status);
    CHECK(status == TANSU_E_FULL || status == TANSU_E_IO);
    CHECK_INT(count, call_count(db, NULL, "c", "{}"));
    status = tansu_checkpoint(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL || status == TANSU_E_IO);
    limit.rlim_cur = before;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    tansu_close(db);
    db = call_open_with(&options);
    CHECK_INT(count, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': -1}"), &call_error);
    maintenance_clean(db);
    call_close(db);
}

static void a_limit_on_files_is_a_full_disk(void) {
    small_disk_run(0, work_under_limit);
}

int main(void) {
    RUN(deleting_and_compacting_work_on_a_full_disk);
    RUN(a_limit_on_files_is_a_full_disk);
    RUN(a_compaction_that_does_not_fit_ends);
    return check_finish();
}
