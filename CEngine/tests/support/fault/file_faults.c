/*
 * support/fault/file_faults.c -- each call asks the state first and then the operating system.
 */
#include "support/fault/file_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

file_faults faults;

void file_faults_reset(void) {
    faults.syncs = faults.syncs_failed = faults.folder_syncs = 0;
    faults.sync_errno = faults.sync_wait_ms = faults.allocate_errno = 0;
    faults.truncate_errno = faults.rename_errno = faults.open_errno = 0;
}

/* ordered -- whether the call is to fail, with errno set. */
static bool ordered(const atomic_int *order) {
    int number = atomic_load(order);
    if (number != 0)
        errno = number;
    return number != 0;
}

static int open_or_fail(const fs *calls, const char *path, int flags, int mode) {
    if ((flags & O_ACCMODE) != O_RDONLY && ordered(&faults.open_errno))
        return -1;
    return fs_system.open(calls, path, flags, mode);
}

static int close_file(int fd) {
    return fs_system.close(fd);
}

static ssize_t read_file(int fd, void *bytes, size_t size, off_t offset) {
    return fs_system.read(fd, bytes, size, offset);
}

static ssize_t write_file(int fd, const void *bytes, size_t size, off_t offset) {
    return fs_system.write(fd, bytes, size, offset);
}

static int size_of_file(int fd, uint64_t *size) {
    return fs_system.size(fd, size);
}

static int truncate_or_fail(int fd, uint64_t size) {
    return ordered(&faults.truncate_errno) ? -1 : fs_system.truncate(fd, size);
}

static int allocate_or_fail(int fd, uint64_t offset, uint64_t size) {
    return ordered(&faults.allocate_errno) ? -1 : fs_system.allocate(fd, offset, size);
}

static void *map_file(int fd, uint64_t size, bool writable) {
    return fs_system.map(fd, size, writable);
}

static int unmap_file(void *address, size_t size) {
    return fs_system.unmap(address, size);
}

/* populate_file -- a hint that is passed on. */
static void populate_file(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    if (end - begin > faults.populate_most)
        faults.populate_most = (unsigned)(end - begin);
    fs_system.populate(fd, mapped, begin, fresh, end);
}

/* hole_of_file -- passed on. */
static bool hole_of_file(int fd, uint64_t offset, uint64_t *begin, uint64_t *end) {
    return fs_system.hole(fd, offset, begin, end);
}

/* start_file_writeback -- a hint that is passed on. */
static void start_file_writeback(int fd, uint64_t offset, uint64_t size) {
    fs_system.start_writeback(fd, offset, size);
}

static int sync_or_fail(int fd, void *mapped, size_t mapped_size) {
    atomic_fetch_add(&faults.syncs, 1);
    int wait = atomic_load(&faults.sync_wait_ms);
    if (wait > 0)
        nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = wait * 1000000L}, NULL);
    if (ordered(&faults.sync_errno)) {
        atomic_fetch_add(&faults.syncs_failed, 1);
        return -1;
    }
    return fs_system.sync(fd, mapped, mapped_size);
}

static int count_folder_sync(const fs *calls, const char *path) {
    atomic_fetch_add(&faults.folder_syncs, 1);
    return fs_system.sync_folder(calls, path);
}

static int rename_or_fail(const fs *calls, const char *from, const char *to) {
    return ordered(&faults.rename_errno) ? -1 : fs_system.rename(calls, from, to);
}

static int unlink_file(const fs *calls, const char *path) {
    return fs_system.unlink(calls, path);
}

static int make_folder(const fs *calls, const char *path, int mode) {
    return fs_system.mkdir(calls, path, mode);
}

static int remove_folder(const fs *calls, const char *path) {
    return fs_system.rmdir(calls, path);
}

static int lock_file(int fd, bool exclusive) {
    return fs_system.lock(fd, exclusive);
}

static void unlock_file(int fd) {
    fs_system.unlock(fd);
}

static int list_folder(const fs *calls, const char *path, fs_name_visitor visitor, void *context) {
    return fs_system.list(calls, path, visitor, context);
}

const fs file_faults_fs = {
    .open = open_or_fail,
    .close = close_file,
    .read = read_file,
    .write = write_file,
    .size = size_of_file,
    .truncate = truncate_or_fail,
    .allocate = allocate_or_fail,
    .map = map_file,
    .unmap = unmap_file,
    .populate = populate_file,
    .hole = hole_of_file,
    .start_writeback = start_file_writeback,
    .sync = sync_or_fail,
    .sync_folder = count_folder_sync,
    .rename = rename_or_fail,
    .unlink = unlink_file,
    .mkdir = make_folder,
    .rmdir = remove_folder,
    .lock = lock_file,
    .unlock = unlock_file,
    .list = list_folder,
};
