/*
 * support/fault/simulated_disk.c -- the file calls: the files' written and synced contents.
 */
#include "support/check.h"
#include "support/fault/simulated_disk_internal.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Descriptors of this disk; smaller ones are the system's. */
#define FIRST_FD 1000000

simulated_disk disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* is_real -- whether a path lies outside of the database. */
static bool is_real(const char *path) {
    return strncmp(path, disk.root, strlen(disk.root)) != 0;
}

/* ---- Calls ---- */

/* enter -- before a call that changes something. */
static void enter(void) {
    if (disk.before_call != NULL)
        disk.before_call(disk.context);
    pthread_mutex_lock(&disk.mutex);
}

static int leave(int result) {
    pthread_mutex_unlock(&disk.mutex);
    return result;
}

static int fail(int number) {
    errno = number;
    return -1;
}

static disk_file *file_of(int fd) {
    return &disk.files[fd - FIRST_FD];
}

/* zeros -- memory that takes no space before it is written to. */
static uint8_t *zeros(size_t size) {
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return memory;
}

/* new_file -- an empty file. */
static int new_file(void) {
    REQUIRE(disk.file_count < FILES_MOST);
    disk_file *f = &disk.files[disk.file_count];
    f->cache = zeros(FILE_ROOM);
    f->durable = zeros(FILE_ROOM);
    f->seen = zeros(FILE_ROOM);
    f->touched = zeros(FILE_ROOM / PAGE);
    return (int)disk.file_count++;
}

bool disk_is_dirty(const disk_file *f, uint64_t page) {
    return f->touched[page] != 0 ||
           memcmp(f->cache + page * PAGE, f->seen + page * PAGE, PAGE) != 0;
}

static int disk_open(const fs *calls, const char *path, int flags, int mode) {
    if (is_real(path))
        return fs_system.open(calls, path, flags, mode);
    enter();
    disk_name *name = disk_find(&disk.now, path);
    if (name != NULL && name->file < 0)
        return leave(fail(EISDIR));
    int file = name == NULL ? -1 : name->file;
    if (name == NULL && (flags & O_CREAT) == 0)
        return leave(fail(ENOENT));
    if (name == NULL) {
        file = new_file();
        name_change c = disk_change_of(CHANGE_MAKE, path, "", file);
        disk_change(&c);
    } else if ((flags & O_TRUNC) != 0) {
        memset(disk.files[file].cache, 0, disk.files[file].size);
        disk.files[file].size = 0;
    }
    return leave(FIRST_FD + file);
}

static int disk_close(int fd) {
    return fd < FIRST_FD ? fs_system.close(fd) : 0;
}

static ssize_t disk_read(int fd, void *bytes, size_t size, off_t offset) {
    if (fd < FIRST_FD)
        return fs_system.read(fd, bytes, size, offset);
    pthread_mutex_lock(&disk.mutex);
    const disk_file *f = file_of(fd);
    uint64_t at = (uint64_t)offset, left = at < f->size ? f->size - at : 0;
    if (size > left)
        size = left;
    memcpy(bytes, f->cache + at, size);
    leave(0);
    return (ssize_t)size;
}

static ssize_t disk_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (fd < FIRST_FD)
        return fs_system.write(fd, bytes, size, offset);
    enter();
    disk_file *f = file_of(fd);
    REQUIRE((uint64_t)offset + size <= FILE_ROOM);
    memcpy(f->cache + offset, bytes, size);
    for (uint64_t page = (uint64_t)offset / PAGE;
         size > 0 && page <= ((uint64_t)offset + size - 1) / PAGE; page++)
        f->touched[page] = 1;
    if ((uint64_t)offset + size > f->size)
        f->size = (uint64_t)offset + size;
    leave(0);
    return (ssize_t)size;
}

static int disk_size(int fd, uint64_t *size) {
    if (fd < FIRST_FD)
        return fs_system.size(fd, size);
    pthread_mutex_lock(&disk.mutex);
    *size = file_of(fd)->size;
    return leave(0);
}

static int disk_truncate(int fd, uint64_t size) {
    if (fd < FIRST_FD)
        return fs_system.truncate(fd, size);
    enter();
    disk_file *f = file_of(fd);
    if (size < f->size)
        memset(f->cache + size, 0, f->size - size);
    f->size = size;
    return leave(0);
}

static int disk_allocate(int fd, uint64_t offset, uint64_t size) {
    enter();
    disk_file *f = file_of(fd);
    REQUIRE(offset + size <= FILE_ROOM);
    if (offset + size > f->size)
        f->size = offset + size;
    return leave(0);
}

static void *disk_map(int fd, uint64_t size, bool writable) {
    if (fd < FIRST_FD)
        return fs_system.map(fd, size, writable);
    REQUIRE(size <= FILE_ROOM);
    return file_of(fd)->cache;
}

static int disk_unmap(void *address, size_t size) {
    for (unsigned i = 0; i < disk.file_count; i++)
        if (disk.files[i].cache == address)
            return 0;
    return fs_system.unmap(address, size);
}

static void disk_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    (void)fd, (void)mapped, (void)begin, (void)fresh, (void)end;
}

static void disk_start_writeback(int fd, uint64_t offset, uint64_t size) {
    (void)fd, (void)offset, (void)size;
}

static int disk_sync(int fd, void *mapped, size_t mapped_size) {
    if (fd < FIRST_FD)
        return fs_system.sync(fd, mapped, mapped_size);
    enter(); /* what this sync has done so far is one of the states of that time */
    disk_file *f = file_of(fd);
    uint64_t most = f->size > f->durable_size ? f->size : f->durable_size;
    bool fail = disk.fail_sync;
    disk.fail_sync = false;
    for (uint64_t page = 0; page * PAGE < most; page++) {
        if (!disk_is_dirty(f, page))
            continue;
        memcpy(f->seen + page * PAGE, f->cache + page * PAGE, PAGE);
        f->touched[page] = 0;
        if (!fail || random_chance(&disk.lost, 50))
            memcpy(f->durable + page * PAGE, f->seen + page * PAGE, PAGE);
    }
    if (!fail)
        f->durable_size = f->size;
    return leave(fail ? (errno = EIO, -1) : 0);
}

bool disk_fail_sync(bool fail) {
    pthread_mutex_lock(&disk.mutex);
    bool waiting = disk.fail_sync;
    disk.fail_sync = fail;
    pthread_mutex_unlock(&disk.mutex);
    return waiting;
}

static int disk_sync_folder(const fs *calls, const char *path) {
    (void)calls;
    enter();
    unsigned kept = 0;
    for (unsigned i = 0; i < disk.change_count; i++) {
        if (disk_in_folder(disk.changes[i].path, path))
            disk_apply(&disk.durable, &disk.changes[i]);
        else
            disk.changes[kept++] = disk.changes[i];
    }
    disk.change_count = kept;
    return leave(0);
}

static int disk_rename(const fs *calls, const char *from, const char *to) {
    if (is_real(from))
        return fs_system.rename(calls, from, to);
    enter();
    disk_name *name = disk_find(&disk.now, from);
    if (name == NULL)
        return leave(fail(ENOENT));
    name_change c = disk_change_of(CHANGE_RENAME, from, to, name->file);
    disk_change(&c);
    return leave(0);
}

static int disk_unlink(const fs *calls, const char *path) {
    if (is_real(path))
        return fs_system.unlink(calls, path);
    enter();
    disk_name *name = disk_find(&disk.now, path);
    if (name == NULL)
        return leave(fail(ENOENT));
    name_change c = disk_change_of(CHANGE_REMOVE, path, "", name->file);
    disk_change(&c);
    return leave(0);
}

static int disk_mkdir(const fs *calls, const char *path, int mode) {
    if (is_real(path))
        return fs_system.mkdir(calls, path, mode);
    enter();
    if (disk_find(&disk.now, path) != NULL)
        return leave(fail(EEXIST));
    name_change c = disk_change_of(CHANGE_MAKE, path, "", -1);
    disk_change(&c);
    (void)mode;
    return leave(0);
}

static int disk_rmdir(const fs *calls, const char *path) {
    return is_real(path) ? fs_system.rmdir(calls, path) : fail(ENOTSUP);
}

static int disk_lock(int fd, bool exclusive) {
    return fd < FIRST_FD ? fs_system.lock(fd, exclusive) : 0;
}

static void disk_unlock(int fd) {
    if (fd < FIRST_FD)
        fs_system.unlock(fd);
}

static int disk_list(const fs *calls, const char *path, fs_name_visitor visitor, void *context) {
    if (is_real(path))
        return fs_system.list(calls, path, visitor, context);
    pthread_mutex_lock(&disk.mutex);
    name_list seen = disk.now;
    leave(0);
    if (disk_find(&seen, path) == NULL)
        return fail(ENOENT);
    for (unsigned i = 0; i < seen.count; i++)
        if (disk_in_folder(seen.names[i].path, path) &&
            !visitor(context, seen.names[i].path + strlen(path) + 1))
            break;
    return 0;
}

const fs simulated_disk_fs = {
    .open = disk_open,
    .close = disk_close,
    .read = disk_read,
    .write = disk_write,
    .size = disk_size,
    .truncate = disk_truncate,
    .allocate = disk_allocate,
    .map = disk_map,
    .unmap = disk_unmap,
    .populate = disk_populate,
    .start_writeback = disk_start_writeback,
    .sync = disk_sync,
    .sync_folder = disk_sync_folder,
    .rename = disk_rename,
    .unlink = disk_unlink,
    .mkdir = disk_mkdir,
    .rmdir = disk_rmdir,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .list = disk_list,
};

/* ---- Starting and ending ---- */

/* load_name -- takes one name of a real folder, with what is in it, as durable. */
static bool load_name(void *context, const char *name) {
    char path[200];
    REQUIRE(snprintf(path, sizeof path, "%s/%s", (const char *)context, name) < (int)sizeof path);
    struct stat info;
    REQUIRE(stat(path, &info) == 0);
    if (is_real(path))
        return true;
    int file = -1;
    if (!S_ISDIR(info.st_mode)) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(path, &bytes);
        file = new_file();
        disk_file *f = &disk.files[file];
        REQUIRE(bytes.size <= FILE_ROOM);
        if (bytes.size > 0) {
            memcpy(f->cache, bytes.data, bytes.size);
            memcpy(f->durable, bytes.data, bytes.size);
            memcpy(f->seen, bytes.data, bytes.size);
        }
        f->size = f->durable_size = bytes.size;
        tansu_buffer_free(&bytes);
    }
    disk_put(&disk.now, path, file);
    disk_put(&disk.durable, path, file);
    if (file < 0)
        REQUIRE(fs_system.list(&fs_system, path, load_name, path) == 0);
    return true;
}

void disk_start(const char *root, void (*before_call)(void *context), void *context) {
    disk_end();
    REQUIRE(snprintf(disk.root, sizeof disk.root, "%s", root) < (int)sizeof disk.root);
    struct stat info;
    if (stat(root, &info) == 0) {
        char path[200];
        snprintf(path, sizeof path, "%s", root);
        disk_put(&disk.now, root, -1);
        disk_put(&disk.durable, root, -1);
        REQUIRE(fs_system.list(&fs_system, root, load_name, path) == 0);
    }
    disk.lost = random_start(77);
    disk.before_call = before_call;
    disk.context = context;
}

void disk_set_keys(const user_key *keys, unsigned count) {
    disk.keys = keys;
    disk.key_count = count;
}

void disk_end(void) {
    for (unsigned i = 0; i < disk.file_count; i++) {
        munmap(disk.files[i].cache, FILE_ROOM);
        munmap(disk.files[i].durable, FILE_ROOM);
        munmap(disk.files[i].seen, FILE_ROOM);
        munmap(disk.files[i].touched, FILE_ROOM / PAGE);
    }
    memset(disk.files, 0, disk.file_count * sizeof *disk.files);
    disk.file_count = disk.change_count = 0;
    disk.now.count = disk.durable.count = 0;
    disk.fail_sync = false;
    disk.before_call = NULL;
    disk.key_count = 0;
}
