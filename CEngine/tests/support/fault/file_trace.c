/*
 * support/fault/file_trace.c -- the table of file calls, and the search.
 */
#include "support/fault/file_trace.h"

#include "support/check.h"
#include "util/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not by sanitizers: the search reads every byte of every file again and again. */
#ifdef __clang__
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))
#endif

#define KINDS_MOST 96
#define FILES_MOST 512
#define STEP ((size_t)1 << 20)

/* ---- Secrets: a set of their windows, by open addressing, behind a filter ---- */

#define SLOTS (1u << 20)
#define FILTER_BITS (1u << 22)

/* Made with the first secret: every test program has this file, and few use it. */
static uint64_t *slots;
static uint8_t *filter;
static size_t windows;

UNCHECKED static uint64_t hash_of(uint64_t window) {
    return window * 0x9E3779B97F4A7C15u;
}

UNCHECKED static uint64_t window_at(const uint8_t *bytes) {
    uint64_t window;
    memcpy(&window, bytes, sizeof window);
    return window;
}

/* slot_of -- the slot that has the window, or is free for it. */
UNCHECKED static uint64_t *slot_of(uint64_t window) {
    size_t at = hash_of(window) >> 44;
    while (slots[at] != 0 && slots[at] != window)
        at = (at + 1) % SLOTS;
    return &slots[at];
}

void file_trace_secret(const void *bytes, size_t size) {
    if (slots == NULL)
        slots = calloc(SLOTS, sizeof *slots);
    if (filter == NULL)
        filter = calloc(FILTER_BITS / 8, 1);
    REQUIRE(slots != NULL && filter != NULL);
    for (size_t i = 0; i + FILE_TRACE_WINDOW <= size; i++) {
        uint64_t window = window_at((const uint8_t *)bytes + i), bit = hash_of(window) >> 42;
        uint64_t *slot = slot_of(window);
        REQUIRE(window != 0);
        windows += *slot == 0;
        REQUIRE(windows < SLOTS / 2);
        *slot = window;
        filter[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

UNCHECKED static bool is_secret(uint64_t window) {
    uint64_t bit = hash_of(window) >> 42;
    return window != 0 && (filter[bit / 8] >> bit % 8 & 1) != 0 && *slot_of(window) == window;
}

/* ---- What was found ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool tracing, ignoring;
static const char *stage = "";
static file_trace_kind kinds[KINDS_MOST];
static size_t kind_count;

/* kind_named -- of the present stage; the mutex is held. */
static file_trace_kind *kind_named(const char *file) {
    char name[64];
    snprintf(name, sizeof name, "%s: %s", stage, file);
    for (size_t i = 0; i < kind_count; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    REQUIRE(kind_count < KINDS_MOST);
    kinds[kind_count] = (file_trace_kind){0};
    memcpy(kinds[kind_count].name, name, sizeof name);
    return &kinds[kind_count++];
}

/* search -- the mutex is held. */
UNCHECKED static void search(file_trace_kind *kind, const uint8_t *bytes, size_t size,
                             uint64_t offset) {
    kind->searched += size;
    for (size_t i = 0; i + FILE_TRACE_WINDOW <= size; i++) {
        if (!is_secret(window_at(bytes + i)))
            continue;
        if (kind->found++ == 0)
            snprintf(kind->first, sizeof kind->first, "\"%.8s\" at offset %llu",
                     (const char *)bytes + i, (unsigned long long)(offset + i));
    }
}

/* ---- Files ---- */

typedef struct traced_file {
    int fd; /* our own, which keeps the inode from being another file's */
    dev_t device;
    ino_t inode;
    file_trace_kind *kind;
    bool ignored;
} traced_file;

static traced_file files[FILES_MOST];
static size_t file_count;

/* search_file -- all that the file has by now; the mutex is held. */
static void search_file(const traced_file *file) {
    if (file->ignored)
        return;
    uint8_t *step = malloc(STEP);
    REQUIRE(step != NULL);
    size_t kept = 0; /* a window may lie across two steps */
    off_t at = 0;
    for (ssize_t got; (got = pread(file->fd, step + kept, STEP - kept, at)) > 0;) {
        size_t have = kept + (size_t)got;
        search(file->kind, step, have, (uint64_t)at - kept);
        at += got;
        kept = have < FILE_TRACE_WINDOW - 1 ? have : FILE_TRACE_WINDOW - 1;
        memmove(step, step + have - kept, kept);
    }
    free(step);
}

/* ---- The table; the linker of macOS cannot lead uses of another one to it ---- */

#ifndef __APPLE__

/* traced -- the file of a descriptor; NULL when it was not opened for writing. The mutex is held. */
static traced_file *traced(int fd) {
    struct stat status;
    if (!tracing || fstat(fd, &status) != 0)
        return NULL;
    for (size_t i = 0; i < file_count; i++)
        if (files[i].device == status.st_dev && files[i].inode == status.st_ino)
            return &files[i];
    return NULL;
}

/* kind_of -- the kind of a file by its path and how it is opened. */
static const char *kind_of(const char *path, int flags) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
#ifdef O_TMPFILE
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return "temporary file";
#endif
    (void)flags;
    return strncmp(name, "spill-", 6) == 0           ? "temporary file"
           : strstr(path, "set-aside/") != NULL      ? "set aside"
           : strstr(path, "readers/") != NULL        ? "entry of a reader"
           : strstr(name, ".seg.new") != NULL        ? "new segment"
           : strstr(name, ".seg") != NULL            ? "segment"
           : strstr(name, "blocks.tch.redo") == name ? "journal"
           : strstr(name, "blocks.tch") == name      ? "index file"
                                                     : name;
}

/* note -- a file that was opened for writing. */
static void note(const char *path, int flags, int fd) {
    struct stat status;
    pthread_mutex_lock(&mutex);
    if (tracing && traced(fd) == NULL && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        char own[64];
        snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
        REQUIRE(file_count < FILES_MOST);
        traced_file *file = &files[file_count++];
        *file = (traced_file){.fd = open(own, O_RDONLY | O_CLOEXEC),
                              .device = status.st_dev,
                              .inode = status.st_ino,
                              .kind = kind_named(kind_of(path, flags)),
                              .ignored = ignoring};
        REQUIRE(file->fd >= 0);
    }
    pthread_mutex_unlock(&mutex);
}

/* search_now -- all of the file of a descriptor, if it is traced. */
static void search_now(int fd) {
    pthread_mutex_lock(&mutex);
    const traced_file *file = traced(fd);
    if (file != NULL)
        search_file(file);
    pthread_mutex_unlock(&mutex);
}

extern const fs __real_fs_system __attribute__((weak));
extern fs __wrap_fs_system;
fs __wrap_fs_system;

static int trace_open(const fs *calls, const char *path, int flags, int mode) {
    int fd = __real_fs_system.open(calls, path, flags, mode);
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        note(path, flags, fd);
    return fd;
}

static ssize_t trace_write(int fd, const void *bytes, size_t size, off_t offset) {
    pthread_mutex_lock(&mutex);
    const traced_file *file = traced(fd);
    if (file != NULL && !file->ignored)
        search(file->kind, bytes, size, (uint64_t)offset);
    pthread_mutex_unlock(&mutex);
    return __real_fs_system.write(fd, bytes, size, offset);
}

static int trace_truncate(int fd, uint64_t size) {
    search_now(fd);
    return __real_fs_system.truncate(fd, size);
}

static int trace_sync(int fd, void *mapped, size_t mapped_size) {
    search_now(fd);
    return __real_fs_system.sync(fd, mapped, mapped_size);
}

__attribute__((constructor)) static void make_table(void) {
    if (!file_trace_available())
        return;
    __wrap_fs_system = __real_fs_system;
    __wrap_fs_system.open = trace_open;
    __wrap_fs_system.write = trace_write;
    __wrap_fs_system.truncate = trace_truncate;
    __wrap_fs_system.sync = trace_sync;
}

bool file_trace_available(void) {
    const fs *volatile real = &__real_fs_system;
    return real != NULL;
}
#else
bool file_trace_available(void) {
    return false;
}
#endif

/* ---- Stages ---- */

/* search_all -- the mutex is held. */
static void search_all(void) {
    for (size_t i = 0; i < file_count; i++)
        search_file(&files[i]);
}

/* forget -- closes the files that have no name any more, or all; the mutex is held. */
static void forget(bool all) {
    size_t left = 0;
    for (size_t i = 0; i < file_count; i++) {
        struct stat status;
        if (!all && fstat(files[i].fd, &status) == 0 && status.st_nlink != 0)
            files[left++] = files[i];
        else
            close(files[i].fd);
    }
    file_count = left;
}

void file_trace_begin(void) {
    pthread_mutex_lock(&mutex);
    kind_count = 0;
    tracing = true;
    pthread_mutex_unlock(&mutex);
}

void file_trace_end(void) {
    pthread_mutex_lock(&mutex);
    search_all();
    forget(true);
    tracing = ignoring = false;
    pthread_mutex_unlock(&mutex);
}

void file_trace_stage(const char *name) {
    pthread_mutex_lock(&mutex);
    search_all();
    forget(false);
    stage = name;
    pthread_mutex_unlock(&mutex);
}

void file_trace_ignore(bool ignore) {
    pthread_mutex_lock(&mutex);
    ignoring = ignore;
    pthread_mutex_unlock(&mutex);
}

void file_trace_search(void) {
    pthread_mutex_lock(&mutex);
    search_all();
    pthread_mutex_unlock(&mutex);
}

void file_trace_bytes(const char *what, const void *bytes, size_t size) {
    pthread_mutex_lock(&mutex);
    if (tracing)
        search(kind_named(what), bytes, size, 0);
    pthread_mutex_unlock(&mutex);
}

const file_trace_kind *file_trace_kinds(size_t *count) {
    *count = kind_count;
    return kinds;
}
