/*
 * test_backup_fault_injection.c -- every file call and every allocation of a backup and of a
 * restore fails once, and the process ends at every call: the result is whole or not there.
 */
#include "api/handles.h"
#include "backup/backup.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of the two tasks, over some file calls. */
typedef struct job {
    database *db; /* to back up; NULL: restore */
    const user_key *key;
    tansu_backup_form form;
    const char *from;
    const char *to;
} job;

/* What a job has for a key: none, so that a backup is as the database, and one of its own. */
static const user_key keys[2] = {
    {.bytes = NULL}, {.bytes = "thirty-two bytes of a random key", .size = CRYPT_KEY_SIZE}};

/* key_count -- of those that this build can use. */
static int key_count(void) {
    return crypt_available() ? 2 : 1;
}

/* run -- does it. */
static tansu_status run(const job *j, const fs *calls) {
    task t = {0};
    backup_result result;
    return j->db != NULL
               ? database_backup(j->db, j->to, j->form, j->key->bytes == NULL ? NULL : j->key, &t,
                                 &result, &call_error)
               : database_restore(j->from, j->to, j->key, calls, &engine_query_hooks, &t, &result,
                                  &call_error);
}

/* open_over -- a database over these calls. */
static tansu_db *open_over(const char *path, const fs *calls) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    REQUIRE(
        CHECK_OK(handle_open(&options, calls, &engine_query_hooks, &db, &call_error), &call_error));
    return db;
}

/* check_result -- a backup or a restored database is what it should be. */
static void check_result(const job *j) {
    const char *copy = j->to;
    if (j->db != NULL) {
        const job restoring = {NULL, j->key, j->form, j->to, path_in(j->from, "checked")};
        copy = restoring.to;
        CHECK_OK(run(&restoring, &fs_system), &call_error);
    }
    tansu_options options = call_options(copy);
    options.key = j->key->bytes;
    options.key_size = j->key->size;
    tansu_db *db = call_open_with(&options);
    sample_check(db);
    call_close(db);
    remove_at(copy);
}

/* fail_in_turn -- once for each call that the job makes. */
static void fail_in_turn(const job *j, fault_kind kind, bool lasting) {
    static const int numbers[] = {ENOSPC, EIO};
    for (unsigned n = 1;; n++) {
        int number = numbers[n % 2];
        fault_start(kind, n, lasting, number);
        tansu_status status = run(j, &fault_fs);
        fault_stop();
        if (!fault_occurred())
            CHECK_OK(status, &call_error);
        if (status == TANSU_OK) {
            CHECK(!file_exists(part_of(j->to)));
            check_result(j);
        } else if (kind == FAULT_MEMORY) {
            CHECK_STATUS(TANSU_E_MEMORY, status);
            CHECK(!file_exists(j->to)); /* taking the part away needs memory too */
        } else {
            CHECK(status == (number == ENOSPC ? TANSU_E_FULL : TANSU_E_IO));
            CHECK(lasting || nothing_at(j->to));
            if (file_exists(j->to)) /* it could not be taken away again: then it is whole */
                check_result(j);
        }
        remove_at(j->to);
        remove_at(part_of(j->to));
        if (!fault_occurred())
            break;
        CHECK(n < 1000);
    }
}

/* with_fault -- both jobs in both forms. */
static void with_fault(fault_kind kind, bool lasting) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = open_over(from, &fault_fs);
    for (int i = 0; i < 2 * key_count(); i++) {
        const user_key *key = &keys[i / 2];
        const char *whole = path_in(folder, "whole");
        job saving = {db_inner(db), key, backup_forms[i % 2], folder, path_in(folder, "to")};
        job restoring = {NULL, key, backup_forms[i % 2], whole, path_in(folder, "restored")};
        job making = saving;
        making.to = whole;
        CHECK_OK(run(&making, &fs_system), &call_error);
        fail_in_turn(&saving, kind, lasting);
        fail_in_turn(&restoring, kind, lasting);
        remove_at(whole);
        sample_check(db);
    }
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

static void a_call_that_fails_leaves_nothing(void) {
    with_fault(FAULT_FILES, false);
}

static void a_disk_that_stays_full_never_shows_a_half_result(void) {
    with_fault(FAULT_FILES, true);
}

static void an_allocation_that_fails_leaves_nothing(void) {
    if (fault_has_memory())
        with_fault(FAULT_MEMORY, false);
    else
        check_skip("the linker of this system cannot make allocations fail");
}

/* ---- The process ends ---- */

/* How many calls that change something may still be made. */
static unsigned calls_left;

/* count -- ends the process before the call that is one too many. */
static void count(void) {
    if (calls_left-- == 0)
        raise(SIGKILL);
}

static int open_or_end(const fs *calls, const char *path, int flags, int mode) {
    if ((flags & O_CREAT) != 0)
        count();
    return fs_system.open(calls, path, flags, mode);
}

static ssize_t write_or_end(int fd, const void *bytes, size_t size, off_t offset) {
    if (calls_left == 0) /* in the middle of it */
        (void)fs_system.write(fd, bytes, size / 2, offset);
    count();
    return fs_system.write(fd, bytes, size, offset);
}

static int truncate_or_end(int fd, uint64_t size) {
    count();
    return fs_system.truncate(fd, size);
}

static int sync_folder_or_end(const fs *calls, const char *path) {
    count();
    return fs_system.sync_folder(calls, path);
}

static int rename_or_end(const fs *calls, const char *from, const char *to) {
    count();
    return fs_system.rename(calls, from, to);
}

static int unlink_or_end(const fs *calls, const char *path) {
    count();
    return fs_system.unlink(calls, path);
}

static int mkdir_or_end(const fs *calls, const char *path, int mode) {
    count();
    return fs_system.mkdir(calls, path, mode);
}

/* killed -- runs a job in a process that ends after this many calls; whether it did. */
static bool killed(const char *source, const job *j, unsigned calls) {
    fs ending = fs_system;
    ending.open = open_or_end;
    ending.write = write_or_end;
    ending.truncate = truncate_or_end;
    ending.sync_folder = sync_folder_or_end;
    ending.rename = rename_or_end;
    ending.unlink = unlink_or_end;
    ending.mkdir = mkdir_or_end;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        job own = *j;
        calls_left = 1000000;
        if (source != NULL)
            own.db = db_inner(open_over(source, &ending));
        calls_left = calls;
        _exit(run(&own, &ending) == TANSU_OK ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void a_killed_process_leaves_nothing_half(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    const char *to = path_in(folder, "to"), *restored = path_in(folder, "restored");
    for (int i = 0; i < 2 * key_count(); i++) {
        const user_key *key = &keys[i / 2];
        const tansu_backup_form form = backup_forms[i % 2];
        const char *whole = path_in(folder, "whole");
        job saving = {NULL, key, form, folder, to}, making = {NULL, key, form, folder, whole};
        job restoring = {NULL, key, form, whole, restored};
        tansu_db *db = call_open(from);
        making.db = db_inner(db);
        CHECK_OK(run(&making, &fs_system), &call_error);
        call_close(db);
        bool more = true;
        for (unsigned n = 0; more; n++) {
            saving.db = NULL;
            bool one = killed(from, &saving, n), two = killed(NULL, &restoring, n);
            more = one || two;
            db = call_open(from);
            saving.db = db_inner(db);
            if (!file_exists(to)) /* the next one takes over what was left */
                CHECK_OK(run(&saving, &fs_system), &call_error);
            if (!file_exists(restored))
                CHECK_OK(run(&restoring, &fs_system), &call_error);
            CHECK(!file_exists(part_of(to)) && !file_exists(part_of(restored)));
            check_result(&saving);
            check_result(&restoring);
            call_close(db);
            remove_at(to);
        }
        remove_at(whole);
    }
    folder_end(folder);
    folder_end(from);
}

int main(void) {
    RUN(a_call_that_fails_leaves_nothing);
    RUN(a_disk_that_stays_full_never_shows_a_half_result);
    RUN(an_allocation_that_fails_leaves_nothing);
    RUN(a_killed_process_leaves_nothing_half);
    return check_finish();
}
