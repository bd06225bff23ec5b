/*
 * test_full_disk.c -- a full disk: saving is refused, deleting and compacting go on, and free the
 * space for saving again.
 *
 * The log's files are on a disk of this many bytes that the calls count; the index files, whose
 * calls are Tokyo Cabinet's own, are not. With the right to mount (TANSU_MOUNTS=0: not even tried)
 * the same is done on a small file system in memory, which counts everything.
 */
#include "api/handles.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

/* ---- A disk of this many bytes ---- */

#define FILES 4096
static struct {
    pthread_mutex_t mutex;
    uint64_t room;
    uint64_t taken;
    struct {
        ino_t file;
        uint64_t size;
    } files[FILES];
    size_t count;
} small = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* size_slot -- what a file takes. The mutex is held. */
static uint64_t *size_slot(ino_t file) {
    for (size_t i = 0; i < small.count; i++)
        if (small.files[i].file == file)
            return &small.files[i].size;
    REQUIRE(small.count < FILES);
    small.files[small.count].file = file;
    small.files[small.count].size = 0;
    return &small.files[small.count++].size;
}

/* resize -- a file takes so much from now on; false when there is no space. */
static bool resize(ino_t file, uint64_t size, bool shrinks) {
    pthread_mutex_lock(&small.mutex);
    uint64_t *slot = size_slot(file), rounded = (size + 4095) / 4096 * 4096;
    bool fits = true;
    if (rounded > *slot && small.taken + (rounded - *slot) > small.room) {
        fits = false;
    } else if (rounded > *slot || shrinks) {
        small.taken += rounded - *slot;
        *slot = rounded;
    }
    pthread_mutex_unlock(&small.mutex);
    if (!fits)
        errno = ENOSPC;
    return fits;
}

/* inode -- of an open file. */
static ino_t inode(int fd) {
    struct stat info;
    REQUIRE(fstat(fd, &info) == 0);
    return info.st_ino;
}

static int small_allocate(int fd, uint64_t offset, uint64_t size) {
    return resize(inode(fd), offset + size, false) ? fs_system.allocate(fd, offset, size) : -1;
}

static ssize_t small_write(int fd, const void *bytes, size_t size, off_t offset) {
    return resize(inode(fd), (uint64_t)offset + size, false)
               ? fs_system.write(fd, bytes, size, offset)
               : -1;
}

static int small_truncate(int fd, uint64_t size) {
    int result = fs_system.truncate(fd, size);
    if (result == 0)
        REQUIRE(resize(inode(fd), size, true));
    return result;
}

/* forget -- a file that is at a path goes. */
static void forget(const char *path) {
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISREG(info.st_mode))
        REQUIRE(resize(info.st_ino, 0, true));
}

static int small_unlink(const fs *calls, const char *path) {
    forget(path);
    return fs_system.unlink(calls, path);
}

static int small_rename(const fs *calls, const char *from, const char *to) {
    forget(to);
    return fs_system.rename(calls, from, to);
}

/* small_disk -- the calls, over an empty disk of that size. */
static const fs *small_disk(uint64_t room) {
    static fs calls;
    calls = fs_system;
    calls.allocate = small_allocate;
    calls.write = small_write;
    calls.truncate = small_truncate;
    calls.unlink = small_unlink;
    calls.rename = small_rename;
    small.room = room;
    small.taken = 0;
    small.count = 0;
    return &calls;
}

/* ---- The database ---- */

/* More than the block that a deletion may leave a part of. */
#define FILLING 5000

static tansu_db *open_over(const char *folder, const fs *calls) {
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, calls, NULL, &db, &call_error), &call_error));
    return db;
}

static tansu_status save_one(tansu_db *db, int number) {
    uint8_t filling[FILLING];
    memset(filling, number % 251 + 1, sizeof filling);
    bson_t *doc =
        BCON_NEW("_id", BCON_INT32(number), "b", BCON_BIN(BSON_SUBTYPE_BINARY, filling, FILLING));
    tansu_status status = call_save_bson(db, NULL, "c", TANSU_SAVE, doc);
    bson_destroy(doc);
    return status;
}

static tansu_status remove_one(tansu_db *db, int number, int *removed) {
    char id[40];
    snprintf(id, sizeof id, "{'_id': %d}", number);
    return call_remove_id(db, NULL, "c", id, removed);
}

/* fill -- saves until nothing more fits; how many documents there are then. */
static int fill(tansu_db *db, int from) {
    tansu_status status;
    int number = from;
    while ((status = save_one(db, number)) == TANSU_OK)
        number++;
    CHECK_STATUS(TANSU_E_FULL, status);
    return number;
}

/* check_between -- exactly the documents from `from` on, less `to`, are there. */
static void check_between(tansu_db *db, int from, int to) {
    CHECK_INT(to - from, call_count(db, NULL, "c", "{}"));
    char query[80];
    snprintf(query, sizeof query, "{'_id': {'$gte': %d, '$lt': %d}}", from, to);
    CHECK_INT(to - from, call_count(db, NULL, "c", query));
}

/* use_up -- fills the disk, deletes, compacts and fills it again, several times. */
static void use_up(const char *folder, const fs *calls, bool reopen) {
    tansu_db *db = open_over(folder, calls);
    int from = 0, to = 0;
    for (int round = 0; round < 4; round++) {
        int before = to;
        to = fill(db, to);
        CHECK(to - before >= 350);
        for (int i = 0; i < 20; i++) /* it stays full */
            CHECK_STATUS(TANSU_E_FULL, save_one(db, to + i));
        if (reopen) {
            (void)tansu_shutdown(db, NULL); /* which may find no space for the index */
            db = open_over(folder, calls);
            to = fill(db, to); /* a head that is closed ends where its last commit does */
        }
        int left = to - 300;
        for (; from < left; from++) {
            int removed = 0;
            if (!CHECK_OK(remove_one(db, from, &removed), &call_error))
                break;
            CHECK_INT(1, removed);
            if (from % 100 == 0) /* deleting makes no space for saving */
                CHECK_STATUS(TANSU_E_FULL, save_one(db, to));
        }
        check_between(db, from, to);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        check_between(db, from, to);
    }
    call_close(db);
    db = open_over(folder, calls);
    check_between(db, from, to);
    tansu_buffer report = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_verify(db, NULL, NULL, &report, &call_error), &call_error);
    tansu_buffer_free(&report);
    call_close(db);
}

static void deleting_and_compacting_work_on_a_full_disk(void) {
    for (int reopen = 0; reopen < 2; reopen++) {
        char *folder = folder_new();
        use_up(folder, small_disk(6 << 20), reopen == 1);
        folder_end(folder);
    }
}

static void a_collection_can_be_dropped_on_a_full_disk(void) {
    char *folder = folder_new();
    tansu_db *db = open_over(folder, small_disk(6 << 20));
    int count = fill(db, 0);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_collection_drop(db, txn, "c", &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK(fill(db, 0) >= count - 100);
    tansu_close(db);
    folder_end(folder);
}

static void the_reserve_is_passed_over_by_whoever_does_not_need_it(void) {
    char *folder = folder_new();
    tansu_db *db = open_over(folder, &fs_system);
    CHECK_OK(save_one(db, 1), &call_error);
    REQUIRE(file_exists(folder_join(folder, "log/reserve")));
    CHECK_INT(65536, file_size(folder_join(folder, "log/reserve")));
    call_close(db);
    REQUIRE(unlink(folder_join(folder, "log/reserve")) == 0);
    db = open_over(folder, &fs_system);
    check_between(db, 1, 2);
    for (int i = 2; i < 3000; i++)
        REQUIRE(CHECK_OK(save_one(db, i), &call_error));
    CHECK_INT(2 << 20, file_size(folder_join(folder, "log/reserve")));
    call_close(db);
    folder_end(folder);
}

static void a_real_full_disk_is_no_other(void) {
#ifdef __linux__
    const char *wanted = getenv("TANSU_MOUNTS");
    char *folder = folder_new();
    if ((wanted != NULL && strcmp(wanted, "0") == 0) ||
        mount("tmpfs", folder, "tmpfs", 0, "size=8m") != 0) {
        check_skip("no small file system can be mounted here");
    } else {
        char path[300];
        snprintf(path, sizeof path, "%s/db", folder);
        for (int reopen = 0; reopen < 2; reopen++) {
            use_up(path, &fs_system, reopen == 1);
            folder_remove(path);
        }
        CHECK(umount(folder) == 0);
    }
    folder_end(folder);
#else
    check_skip("this system has no tmpfs");
#endif
}

int main(void) {
    RUN(deleting_and_compacting_work_on_a_full_disk);
    RUN(a_collection_can_be_dropped_on_a_full_disk);
    RUN(the_reserve_is_passed_over_by_whoever_does_not_need_it);
    RUN(a_real_full_disk_is_no_other);
    return check_finish();
}
