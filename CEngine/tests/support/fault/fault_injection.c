/*
 * support/fault/fault_injection.c -- counts calls and lets some of them fail.
 */
#include "support/fault/fault_injection.h"

#include <errno.h>
#include <limits.h>
#ifndef __APPLE__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    atomic_int kind;
    atomic_uint count;
    unsigned nth;
    unsigned length; /* how many calls fail in a row */
    bool half;
    bool pretend;
    int number;
    atomic_bool met;
    pthread_t thread;
} orders;

void fault_start(fault_kind kind, unsigned nth, bool lasting, int number) {
    fault_start_burst(kind, nth, lasting ? UINT_MAX : 1, false, number);
}

void fault_start_burst(fault_kind kind, unsigned nth, unsigned length, bool half, int number) {
    orders.nth = nth;
    orders.length = length;
    orders.half = half;
    orders.number = number;
    orders.count = 0;
    orders.met = false;
    orders.thread = pthread_self();
    orders.kind = kind;
}

unsigned fault_stop(void) {
    orders.kind = FAULT_NONE;
    return orders.count;
}

void fault_skip_syncs(bool pretend) {
    orders.pretend = pretend;
}

bool fault_occurred(void) {
    return orders.met;
}

/* due -- counts a call; whether it is to fail. */
static bool due(fault_kind kind) {
    fault_kind ordered = (fault_kind)orders.kind;
    bool own = ordered == FAULT_OWN_MEMORY && pthread_equal(orders.thread, pthread_self());
    if (ordered != kind && !(own && kind == FAULT_MEMORY))
        return false;
    unsigned count = atomic_fetch_add(&orders.count, 1) + 1;
    if (orders.nth == 0 || count < orders.nth || count - orders.nth >= orders.length)
        return false;
    orders.met = true;
    return true;
}

/* ---- File calls ---- */

/* half_done -- how much of a read or write is done before its call, which is made to do a part
 * only, or 0: it is none of those. The next call then fails. */
static size_t half_done(size_t size) {
    unsigned count = atomic_load(&orders.count) + 1;
    if ((fault_kind)orders.kind != FAULT_FILES || !orders.half || orders.nth != count || size < 2)
        return 0;
    atomic_fetch_add(&orders.count, 1);
    orders.met = true;
    return size / 2;
}

/* fails -- whether this file call is to fail, with errno set. */
static bool fails(void) {
    if (!due(FAULT_FILES))
        return false;
    errno = orders.number;
    return true;
}

static int troubled_open(const fs *calls, const char *path, int flags, int mode) {
    return fails() ? -1 : fs_system.open(calls, path, flags, mode);
}

static int troubled_close(int fd) {
    /* As on Linux: the descriptor is gone whatever close() says. */
    bool failing = fails();
    int number = errno, result = fs_system.close(fd);
    if (failing)
        errno = number;
    return failing ? -1 : result;
}

static ssize_t troubled_read(int fd, void *bytes, size_t size, off_t offset) {
    size_t half = half_done(size);
    if (half != 0)
        return fs_system.read(fd, bytes, half, offset);
    return fails() ? -1 : fs_system.read(fd, bytes, size, offset);
}

static ssize_t troubled_write(int fd, const void *bytes, size_t size, off_t offset) {
    size_t half = half_done(size);
    if (half != 0)
        return fs_system.write(fd, bytes, half, offset);
    if (!fails())
        return fs_system.write(fd, bytes, size, offset);
    /* A disk that is full takes a part. */
    int number = errno;
    (void)fs_system.write(fd, bytes, size / 2, offset);
    errno = number;
    return -1;
}

static int troubled_size(int fd, uint64_t *size) {
    return fails() ? -1 : fs_system.size(fd, size);
}

static int troubled_truncate(int fd, uint64_t size) {
    return fails() ? -1 : fs_system.truncate(fd, size);
}

static int troubled_allocate(int fd, uint64_t offset, uint64_t size) {
    return fails() ? -1 : fs_system.allocate(fd, offset, size);
}

static void *troubled_map(int fd, uint64_t size, bool writable) {
    return fails() ? NULL : fs_system.map(fd, size, writable);
}

static int troubled_unmap(void *address, size_t size) {
    return fs_system.unmap(address, size);
}

static void troubled_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh,
                              uint64_t end) {
    fs_system.populate(fd, mapped, begin, fresh, end);
}

static bool troubled_hole(int fd, uint64_t offset, uint64_t *begin, uint64_t *end) {
    return !fails() && fs_system.hole(fd, offset, begin, end);
}

static void troubled_start_writeback(int fd, uint64_t offset, uint64_t size) {
    fs_system.start_writeback(fd, offset, size);
}

static int troubled_sync(int fd, void *mapped, size_t mapped_size) {
    if (fails())
        return -1;
    return orders.pretend ? 0 : fs_system.sync(fd, mapped, mapped_size);
}

static int troubled_sync_folder(const fs *calls, const char *path) {
    if (fails())
        return -1;
    return orders.pretend ? 0 : fs_system.sync_folder(calls, path);
}

static int troubled_rename(const fs *calls, const char *from, const char *to) {
    return fails() ? -1 : fs_system.rename(calls, from, to);
}

static int troubled_unlink(const fs *calls, const char *path) {
    return fails() ? -1 : fs_system.unlink(calls, path);
}

static int troubled_mkdir(const fs *calls, const char *path, int mode) {
    return fails() ? -1 : fs_system.mkdir(calls, path, mode);
}

static int troubled_rmdir(const fs *calls, const char *path) {
    return fails() ? -1 : fs_system.rmdir(calls, path);
}

static int troubled_lock(int fd, bool exclusive) {
    return fails() ? -1 : fs_system.lock(fd, exclusive);
}

static void troubled_unlock(int fd) {
    fs_system.unlock(fd);
}

static int troubled_list(const fs *calls, const char *path, fs_name_visitor visitor,
                         void *context) {
    return fails() ? -1 : fs_system.list(calls, path, visitor, context);
}

const fs fault_fs = {
    .open = troubled_open,
    .close = troubled_close,
    .read = troubled_read,
    .write = troubled_write,
    .size = troubled_size,
    .truncate = troubled_truncate,
    .allocate = troubled_allocate,
    .map = troubled_map,
    .unmap = troubled_unmap,
    .populate = troubled_populate,
    .hole = troubled_hole,
    .start_writeback = troubled_start_writeback,
    .sync = troubled_sync,
    .sync_folder = troubled_sync_folder,
    .rename = troubled_rename,
    .unlink = troubled_unlink,
    .mkdir = troubled_mkdir,
    .rmdir = troubled_rmdir,
    .lock = troubled_lock,
    .unlock = troubled_unlock,
    .list = troubled_list,
};

/* Bytes that the engine asked for; also where none are counted. */
static _Atomic size_t allocated;

size_t fault_allocated(void) {
    return allocated;
}

/* ---- Allocations: the linker leads the engine's calls here (-Wl,--wrap) ---- */

#ifdef __APPLE__
bool fault_has_memory(void) {
    return false;
}

void fault_memory_mark(void) {
}

size_t fault_memory_peak(void) {
    return 0;
}
#else
/* Weak: in a program without the wrappers there are none, and nothing comes here. */
void *__real_malloc(size_t size) __attribute__((weak));
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *memory, size_t size) __attribute__((weak));
void __real_free(void *memory) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

bool fault_has_memory(void) {
    return __real_malloc != NULL;
}

/* What is allocated now; meaningful in programs that have the wrapper of free(), too. */
static atomic_llong live, peak;

void fault_memory_mark(void) {
    atomic_store(&live, 0);
    atomic_store(&peak, 0);
}

size_t fault_memory_peak(void) {
    return (size_t)atomic_load(&peak);
}

/* counted -- a block that was allocated. */
static void *counted(void *memory) {
    if (memory == NULL)
        return NULL;
    long long now = (long long)malloc_usable_size(memory);
    now += atomic_fetch_add(&live, now);
    long long most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
    return memory;
}

/* exhausted -- whether this allocation is to fail, with errno set: in static programs those of the C
 * library come here, too. */
static bool exhausted(void) {
    if (!due(FAULT_MEMORY))
        return false;
    errno = ENOMEM;
    return true;
}

/* Whether this thread is in calloc(), which in musl calls malloc(). */
static _Thread_local bool in_calloc;

void *__wrap_malloc(size_t size) {
    if (in_calloc)
        return __real_malloc(size);
    allocated += size;
    return exhausted() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    allocated += count * size;
    if (exhausted())
        return NULL;
    in_calloc = true;
    void *memory = __real_calloc(count, size);
    in_calloc = false;
    return counted(memory);
}

void *__wrap_realloc(void *memory, size_t size) {
    allocated += size;
    if (exhausted())
        return NULL;
    size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
    void *moved = __real_realloc(memory, size);
    if (moved != NULL)
        atomic_fetch_sub(&live, (long long)before);
    return counted(moved);
}

void __wrap_free(void *memory) {
    if (memory != NULL)
        atomic_fetch_sub(&live, (long long)malloc_usable_size(memory));
    __real_free(memory);
}

char *__wrap_strndup(const char *text, size_t most) {
    size_t size = strnlen(text, most);
    char *copy = exhausted() ? NULL : counted(__real_malloc(size + 1));
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

char *__wrap_strdup(const char *text) {
    return __wrap_strndup(text, strlen(text));
}
#endif
