/*
 * support/fault/small_disk.c -- tests on a full disk.
 */
#include "support/fault/small_disk.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

/* The exit code of a child that can't mount a file system. */
#define NO_SUCH_DISK 77

/* mount_small -- whether a file system of that size is mounted at `folder`, for this process
 * only. */
static bool mount_small(const char *folder, unsigned megabytes) {
#ifdef __linux__
    char size[32];
    snprintf(size, sizeof size, "size=%um", megabytes);
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, size) == 0;
#else
    (void)folder, (void)megabytes;
    return false;
#endif
}

void small_disk_run(unsigned megabytes, void (*test)(const char *folder)) {
    char *folder = folder_new();
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (megabytes != 0 && !mount_small(folder, megabytes))
            _exit(NO_SUCH_DISK);
        uint64_t before = check_failures();
        test(folder);
        _exit(check_failures() != before);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_DISK)
        check_skip("no small file system can be mounted here");
    else if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0) && WIFSIGNALED(status))
        check_note("    ended by signal %d", WTERMSIG(status));
    folder_end(folder);
}

int small_disk_fill(tansu_db *db, int from, tansu_status *status) {
    char pad[8192];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    *status = TANSU_OK;
    while (*status == TANSU_OK && from < 100000) {
        bson_t *doc =
            BCON_NEW("_id", BCON_INT32(from), "n", BCON_INT32(from), "pad", BCON_UTF8(pad));
        *status = call_save_bson(db, NULL, "c", TANSU_INSERT, doc);
        bson_destroy(doc);
        from += *status == TANSU_OK;
    }
    return from;
}
