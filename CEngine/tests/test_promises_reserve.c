/*
 * test_promises_reserve.c -- on a full disk, deleting works when nothing else
 * does, and so does compacting, so that the room can be had back; and a limit
 * on the size of files is a full disk, not the end of the process.
 */
#include "toolkit/backing_up.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/upkeep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

#define NO_SUCH_DISK 77

/* save_until_refused -- documents of 8 KiB, one a commit; how many were taken.
 */
static int save_until_refused(tansu_db *db, int from, tansu_status *status) {
    char pad[8192];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    *status = TANSU_OK;
    while (*status == TANSU_OK && from < 100000) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(from), "pad", BCON_UTF8(pad));
        *status = call_save_bson(db, NULL, "c", TANSU_INSERT, doc);
        bson_destroy(doc);
        from += *status == TANSU_OK;
    }
    return from;
}

/* in_child -- runs a test in another process; on a tmpfs of ten megabytes when
 * asked for one. Its failed checks are the exit code. */
static void in_child(bool small_disk, void (*test)(const char *folder)) {
    char *folder = folder_new();
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        uint64_t before = check_failures();
#ifdef __linux__
        if (small_disk && (unshare(CLONE_NEWNS) != 0 ||
                           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
                           mount("tmpfs", folder, "tmpfs", 0, "size=10m") != 0))
            _exit(NO_SUCH_DISK);
#else
        if (small_disk)
            _exit(NO_SUCH_DISK);
#endif
        test(folder);
        _exit(check_failures() != before);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_DISK)
        check_note("skipped: no small file system can be mounted here");
    else if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0) && WIFSIGNALED(status))
        check_note("    ended by signal %d", WTERMSIG(status));
    folder_end(folder);
}

static void remove_and_compact(const char *folder) {
    tansu_options options = call_options(path_in(folder, "db"));
    tansu_status status;
    int64_t removed = 0;
    tansu_db *db = call_open_with(&options);
    int count = save_until_refused(db, 0, &status);
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
    int more = save_until_refused(db, count, &status);
    CHECK(more > count + count / 4);
    CHECK_INT(more - count / 2, call_count(db, NULL, "c", "{}"));
    upkeep_clean(db);
    status = tansu_shutdown(db, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_FULL);
}

static void deleting_and_compacting_work_on_a_full_disk(void) {
    in_child(true, remove_and_compact);
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
    int count = save_until_refused(db, 0, &status);
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
    upkeep_clean(db);
    call_close(db);
}

static void a_limit_on_files_is_a_full_disk(void) {
    in_child(false, work_under_limit);
}

int main(void) {
    RUN(deleting_and_compacting_work_on_a_full_disk);
    RUN(a_limit_on_files_is_a_full_disk);
    return check_finish();
}
