/*
 * test_index_fault_injection.c -- the index file's device fails and the log's does not: saves and
 * queries go on, a checkpoint says IO or FULL, nothing ends the process or hangs, and when the
 * device works again, or the database is opened again, everything is as the log says.
 *
 * Calls on files in `index/` fail from the nth on, for good or for a while. TANSU_FAULTS sets at
 * how many calls (40).
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/error.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_USUALLY 40
#define WATCHDOG 20
#define DOCUMENTS 1500

static struct {
    atomic_uint count;
    unsigned nth, length;
    int number;
    atomic_bool on, met;
    atomic_bool index_fd[1024];
} device;

/* fails -- whether a call on the index's device is to fail. */
static bool fails(bool index) {
    if (!index || !device.on)
        return false;
    unsigned count = atomic_fetch_add(&device.count, 1) + 1;
    if (device.nth == 0 || count < device.nth || count - device.nth >= device.length)
        return false;
    device.met = true;
    errno = device.number;
    return true;
}

static bool is_index(const char *path) {
    return strstr(path, "/index") != NULL;
}

static bool index_fd(int fd) {
    return fd >= 0 && fd < 1024 && device.index_fd[fd];
}

static int device_open(const fs *calls, const char *path, int flags, int mode) {
    if (fails(is_index(path)))
        return -1;
    int fd = fs_system.open(calls, path, flags, mode);
    if (fd >= 0 && fd < 1024)
        device.index_fd[fd] = is_index(path);
    return fd;
}

static ssize_t device_read(int fd, void *bytes, size_t size, off_t offset) {
    return fails(index_fd(fd)) ? -1 : fs_system.read(fd, bytes, size, offset);
}

static ssize_t device_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (!fails(index_fd(fd)))
        return fs_system.write(fd, bytes, size, offset);
    (void)fs_system.write(fd, bytes, size / 2, offset);
    errno = device.number;
    return -1;
}

static int device_size(int fd, uint64_t *size) {
    return fails(index_fd(fd)) ? -1 : fs_system.size(fd, size);
}

static int device_truncate(int fd, uint64_t size) {
    return fails(index_fd(fd)) ? -1 : fs_system.truncate(fd, size);
}

static int device_sync(int fd, void *mapped, size_t mapped_size) {
    (void)mapped, (void)mapped_size;
    return fails(index_fd(fd)) ? -1 : 0;
}

static int device_sync_folder(const fs *calls, const char *path) {
    (void)calls;
    return fails(is_index(path)) ? -1 : 0;
}

static int device_rename(const fs *calls, const char *from, const char *to) {
    return fails(is_index(from)) ? -1 : fs_system.rename(calls, from, to);
}

static int device_unlink(const fs *calls, const char *path) {
    return fails(is_index(path)) ? -1 : fs_system.unlink(calls, path);
}

static fs device_calls;

static void start(unsigned nth, unsigned length, int number) {
    device.nth = nth;
    device.length = length;
    device.number = number;
    device.count = 0;
    device.met = false;
    device.on = true;
}

static unsigned stop(void) {
    device.on = false;
    return device.count;
}

/* ---- The database ---- */

static char original[300], work[300];
static unsigned saved; /* documents with _id from 10000 on */

static void open_it(tansu_db **db, tansu_status *status) {
    tansu_options options = call_options(work);
    options.durability = TANSU_DURABILITY_PROCESS;
    options.index_cache_bytes = 1; /* blocks are loaded and put away all the time */
    *status = handle_open(&options, &device_calls, &engine_query_hooks, db, &call_error);
}

/* typed -- whether a status is one that the device may cause. */
static bool typed(tansu_status status) {
    bool right = status == TANSU_OK || status == TANSU_E_IO || status == TANSU_E_FULL;
    if (!CHECK(right))
        check_note("    %s: %s", tansu_status_name(status), call_error.message);
    return right;
}

/* save -- a new document; it need not be read for that what the index file alone holds, but may. */
static void save(tansu_db *db) {
    char text[64];
    snprintf(text, sizeof text, "{'_id': %u, 'n': %u}", 10000 + saved, saved);
    tansu_status status = call_save(db, NULL, "c", TANSU_INSERT, text);
    if (typed(status) && status == TANSU_OK)
        saved++;
}

/* look -- by index and by scan: right or an error. */
static void look(tansu_db *db) {
    int64_t count = call_count(db, NULL, "c", "{}");
    CHECK_INT(DOCUMENTS + saved, count);
    for (int n = 0; n < DOCUMENTS; n += 300) {
        char text[64];
        snprintf(text, sizeof text, "{'n': %d}", 20000 + n);
        count = call_count(db, NULL, "c", text);
        if (count < 0)
            typed(call_error.code);
        else
            CHECK_INT(1, count);
    }
}

/* all_right -- everything is there, and both indexes say so. */
static void all_right(tansu_db *db) {
    CHECK_INT(DOCUMENTS + saved, call_count(db, NULL, "c", "{}"));
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{'n': {'$gte': 20000}}"));
    CHECK_INT(saved, call_count(db, NULL, "c", "{'_id': {'$gte': 10000}}"));
    CHECK_INT(0, call_statistic(db, "indexesDamaged") == 1);
}

/* one_fault -- from the nth call on the index's device, `length` of them. */
static unsigned one_fault(unsigned nth, unsigned length, int number) {
    uint64_t failures = check_failures();
    tansu_db *db;
    tansu_status status;
    folder_remove(work);
    folder_copy(original, work);
    saved = 0;
    alarm(WATCHDOG);
    open_it(&db, &status);
    REQUIRE(CHECK_OK(status, &call_error));
    start(nth, length, number);
    for (int round = 0; round < 2; round++) {
        save(db);
        look(db);
        status = tansu_checkpoint(db, &call_error);
        if (typed(status) && status != TANSU_OK)
            CHECK(device.met);
        save(db);
        look(db);
    }
    status = tansu_compact(db, NULL, NULL, NULL, &call_error);
    typed(status);
    look(db);
    unsigned calls = stop();
    if (nth % 3 != 0) { /* the device works again */
        all_right(db);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        all_right(db);
    }
    if (nth % 3 == 2) { /* and fails while the database is closed */
        start(1 + nth % 7, length, number);
        typed(tansu_shutdown(db, &call_error));
        stop();
    } else {
        CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    }
    /* Opening may fail with it, and succeeds without. */
    start(1 + nth % 11, length, number);
    open_it(&db, &status);
    typed(status);
    stop();
    if (status == TANSU_OK) {
        all_right(db);
        CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    }
    open_it(&db, &status);
    if (CHECK_OK(status, &call_error)) {
        all_right(db);
        CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    }
    alarm(0);
    if (check_failures() != failures)
        check_note("    call %u of %u, %u of them, errno %d", nth, calls, length, number);
    return calls;
}

static void the_index_device_may_fail(void) {
    static const struct {
        unsigned length;
        int number;
    } kinds[] = {{1, EIO}, {5, EIO}, {UINT_MAX, EIO}, {UINT_MAX, ENOSPC}};
    unsigned most = (unsigned)random_rounds("TANSU_FAULTS", TRIES_USUALLY);
    unsigned tries = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned calls = one_fault(0, kinds[i].length, kinds[i].number);
        CHECK(calls > 60);
        unsigned step = calls <= most ? 1 : (calls + most - 1) / most;
        for (unsigned nth = 1; nth <= calls && check_failures() < 10; nth += step, tries++)
            one_fault(nth, kinds[i].length, kinds[i].number);
    }
    check_note("%u runs with trouble", tries);
}

int main(void) {
    char *folder = folder_new();
    snprintf(original, sizeof original, "%s", folder_join(folder, "original"));
    snprintf(work, sizeof work, "%s", folder_join(folder, "work"));
    device_calls = fs_system;
    device_calls.open = device_open;
    device_calls.read = device_read;
    device_calls.write = device_write;
    device_calls.size = device_size;
    device_calls.truncate = device_truncate;
    device_calls.sync = device_sync;
    device_calls.sync_folder = device_sync_folder;
    device_calls.rename = device_rename;
    device_calls.unlink = device_unlink;
    tansu_db *db = call_open(original);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[64];
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d}", i, 20000 + i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, text), &call_error);
    }
    call_close(db);
    RUN(the_index_device_may_fail);
    folder_end(folder);
    return check_finish();
}
