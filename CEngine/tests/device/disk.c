/*
 * device/disk.c -- a block device that fails on request, as a FUSE file system of two files:
 *   disk     the device. A loop device over it carries a real file system.
 *   control  a write is a command, a read returns counters.
 *
 * Usage: device-disk MOUNTPOINT IMAGE LOG LIMIT. IMAGE is the content of the device. LOG gets every
 * write, flush and failure, in the order in which they were answered (struct entry below, then the
 * bytes of a write): crash.py constructs from it what the device may hold when the power fails at
 * any of these times. LIMIT bounds its bytes.
 *
 * A command is a line: "fail OPERATION... [errno=NAME] [skip=N] [count=N] [chance=PERCENT] [half]
 * [mark=TEXT]", with the operations read, write and flush. It fails `count` calls (permanently by
 * default) after the first `skip` that it fits; `half` lets a first part of a write through; `mark`
 * fits writes whose data contains the text. "clear" ends all of them.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SECTOR 512u
#define MOST_ORDERS 16
#define MOST_MARK 64

enum operation { READ = 1, WRITE = 2, FLUSH = 4 };

/* The kinds of entries in the log: the operation, or that it failed. */
enum { FAILED = 16 };

struct entry {
    uint64_t nanoseconds; /* CLOCK_MONOTONIC when the call came */
    uint64_t offset;
    uint32_t size; /* bytes that follow: those of a write that the device took */
    uint32_t kind;
};

struct order {
    unsigned operations;
    int number; /* errno */
    uint64_t skip;
    uint64_t count;
    unsigned chance;
    bool half;
    char mark[MOST_MARK];
    size_t mark_size;
};

static struct {
    int image;
    int log;
    uint64_t size;
    uint64_t logged, limit;
    bool overflow; /* the log is at its limit: nothing that follows is worth anything */
    struct order orders[MOST_ORDERS];
    size_t order_count;
    uint64_t done[3], failed[3]; /* reads, writes, flushes */
    uint64_t random;
} device;

static const struct {
    const char *name;
    int number;
} error_names[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"ETIMEDOUT", ETIMEDOUT}, {"EREMOTEIO", EREMOTEIO}};

static unsigned counter_of(enum operation operation) {
    return operation == READ ? 0 : operation == WRITE ? 1 : 2;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* next_random -- xorshift. */
static uint64_t next_random(void) {
    device.random ^= device.random << 13;
    device.random ^= device.random >> 7;
    device.random ^= device.random << 17;
    return device.random;
}

/* record -- appends an entry to the log; false when it is full. */
static bool record(uint64_t time, unsigned kind, uint64_t offset, const void *bytes, size_t size) {
    struct entry e = {time, offset, (uint32_t)size, kind};
    struct iovec parts[2] = {{&e, sizeof e}, {(void *)(uintptr_t)bytes, size}};
    size_t total = sizeof e + size;
    if (device.overflow || device.logged + total > device.limit ||
        writev(device.log, parts, size > 0 ? 2 : 1) != (ssize_t)total) {
        device.overflow = true;
        return false;
    }
    device.logged += total;
    return true;
}

/* order_for -- the order that makes this call fail, or NULL. */
static const struct order *order_for(enum operation operation, const void *bytes, size_t size) {
    for (size_t i = 0; i < device.order_count; i++) {
        struct order *o = &device.orders[i];
        if ((o->operations & operation) == 0 || o->count == 0)
            continue;
        if (o->mark_size > 0 &&
            (operation != WRITE || memmem(bytes, size, o->mark, o->mark_size) == NULL))
            continue;
        if (o->chance < 100 && next_random() % 100 >= o->chance)
            continue;
        if (o->skip > 0) {
            o->skip--;
            continue;
        }
        if (o->count != UINT64_MAX)
            o->count--;
        return o;
    }
    return NULL;
}

/* fail -- what a call that fails returns. */
static int fail(uint64_t time, enum operation operation, uint64_t offset, int number) {
    device.failed[counter_of(operation)]++;
    if (!record(time, (unsigned)operation | FAILED, offset, NULL, 0))
        return -EIO;
    return -number;
}

/* store -- bytes reach the medium. */
static bool store(uint64_t time, uint64_t offset, const char *bytes, size_t size) {
    return record(time, WRITE, offset, bytes, size) &&
           pwrite(device.image, bytes, size, (off_t)offset) == (ssize_t)size;
}

static int disk_read(char *bytes, size_t size, uint64_t offset) {
    uint64_t time = now();
    const struct order *o = order_for(READ, NULL, 0);
    if (o != NULL)
        return fail(time, READ, offset, o->number);
    device.done[0]++;
    if (offset >= device.size)
        return 0;
    if (size > device.size - offset)
        size = (size_t)(device.size - offset);
    return pread(device.image, bytes, size, (off_t)offset) == (ssize_t)size ? (int)size : -EIO;
}

static int disk_write(const char *bytes, size_t size, uint64_t offset) {
    uint64_t time = now();
    if (offset > device.size || size > device.size - offset)
        return -ENOSPC;
    const struct order *o = order_for(WRITE, bytes, size);
    if (o == NULL) {
        device.done[1]++;
        return store(time, offset, bytes, size) ? (int)size : -EIO;
    }
    size_t part = o->half ? (size_t)(next_random() % (size / SECTOR + 1)) * SECTOR : 0;
    if (part > 0 && !store(time, offset, bytes, part))
        return -EIO;
    return fail(time, WRITE, offset, o->number);
}

static int disk_flush(void) {
    uint64_t time = now();
    const struct order *o = order_for(FLUSH, NULL, 0);
    if (o != NULL)
        return fail(time, FLUSH, 0, o->number);
    device.done[2]++;
    return record(time, FLUSH, 0, NULL, 0) ? 0 : -EIO;
}

/* ---- Orders ------------------------------------------------------------------------------- */

/* set_number -- the number after "name="; false when the word is another or no number follows. */
static bool set_number(const char *word, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    char *end = NULL;
    if (strncmp(word, name, length) != 0 || word[length] == 0)
        return false;
    errno = 0;
    *value = strtoull(word + length, &end, 10);
    return *end == 0 && errno == 0;
}

/* set_word -- takes one word of an order in; false when it has no meaning. */
static bool set_word(struct order *o, const char *word) {
    uint64_t chance = 0;
    if (strcmp(word, "read") == 0)
        o->operations |= READ;
    else if (strcmp(word, "write") == 0)
        o->operations |= WRITE;
    else if (strcmp(word, "flush") == 0)
        o->operations |= FLUSH;
    else if (strcmp(word, "half") == 0)
        o->half = true;
    else if (strncmp(word, "mark=", 5) == 0) {
        o->mark_size = strlen(word + 5);
        if (o->mark_size == 0 || o->mark_size > MOST_MARK)
            return false;
        memcpy(o->mark, word + 5, o->mark_size);
    } else if (strncmp(word, "errno=", 6) == 0) {
        for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++)
            if (strcmp(word + 6, error_names[i].name) == 0)
                return (o->number = error_names[i].number) != 0;
        return false;
    } else if (set_number(word, "chance=", &chance)) {
        o->chance = (unsigned)chance;
        return chance <= 100;
    } else {
        return set_number(word, "skip=", &o->skip) || set_number(word, "count=", &o->count);
    }
    return true;
}

/* obey -- one line of orders; false when it makes no sense. */
static bool obey(char *line) {
    char *rest = NULL;
    char *word = strtok_r(line, " ", &rest);
    if (word == NULL)
        return true;
    if (strcmp(word, "clear") == 0) {
        device.order_count = 0;
        return strtok_r(NULL, " ", &rest) == NULL;
    }
    struct order o = {.number = EIO, .count = UINT64_MAX, .chance = 100};
    if (strcmp(word, "fail") != 0 || device.order_count == MOST_ORDERS)
        return false;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
        if (!set_word(&o, word))
            return false;
    if (o.operations == 0)
        return false;
    device.orders[device.order_count++] = o;
    return true;
}

static int control_write(const char *bytes, size_t size) {
    char text[4096];
    char *rest = NULL;
    if (size >= sizeof text)
        return -EINVAL;
    memcpy(text, bytes, size);
    text[size] = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (!obey(line))
            return -EINVAL;
    return (int)size;
}

/* control_text -- the content of the control file: names and counters. */
static size_t control_text(char *text, size_t capacity) {
    int length = snprintf(text, capacity,
                          "reads %" PRIu64 "\nwrites %" PRIu64 "\nflushes %" PRIu64
                          "\nfailed_reads %" PRIu64 "\nfailed_writes %" PRIu64
                          "\nfailed_flushes %" PRIu64 "\nlogged %" PRIu64 "\noverflow %d\n",
                          device.done[0], device.done[1], device.done[2], device.failed[0],
                          device.failed[1], device.failed[2], device.logged, device.overflow);
    return length > 0 ? (size_t)length : 0;
}

static int control_read(char *bytes, size_t size, uint64_t offset) {
    char text[512];
    size_t length = control_text(text, sizeof text);
    if (offset >= length)
        return 0;
    if (size > length - offset)
        size = (size_t)(length - offset);
    memcpy(bytes, text + offset, size);
    return (int)size;
}

/* ---- The file system ----------------------------------------------------------------------- */

static bool is_disk(const char *path) {
    return strcmp(path, "/disk") == 0;
}

static bool is_control(const char *path) {
    return strcmp(path, "/control") == 0;
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *file) {
    (void)file;
    memset(st, 0, sizeof *st);
    if (strcmp(path, "/") == 0) {
        st->st_mode = S_IFDIR | 0700;
        st->st_nlink = 2;
        return 0;
    }
    if (!is_disk(path) && !is_control(path))
        return -ENOENT;
    st->st_mode = S_IFREG | 0600;
    st->st_nlink = 1;
    st->st_size = is_disk(path) ? (off_t)device.size : 0;
    st->st_blocks = st->st_size / (off_t)SECTOR;
    return 0;
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                struct fuse_file_info *file, enum fuse_readdir_flags flags) {
    static const char *const names[] = {".", "..", "disk", "control"};
    (void)path, (void)offset, (void)file, (void)flags;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fill(buffer, names[i], NULL, 0, 0) != 0)
            return -ENOMEM;
    return 0;
}

/* Past the kernel's cache: what the loop device asks for comes to the device each time. */
static int open_file(const char *path, struct fuse_file_info *file) {
    file->direct_io = 1;
    return is_disk(path) || is_control(path) ? 0 : -ENOENT;
}

static int read_file(const char *path, char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *file) {
    (void)file;
    return is_disk(path) ? disk_read(bytes, size, (uint64_t)offset)
                         : control_read(bytes, size, (uint64_t)offset);
}

static int write_file(const char *path, const char *bytes, size_t size, off_t offset,
                      struct fuse_file_info *file) {
    (void)file;
    return is_disk(path) ? disk_write(bytes, size, (uint64_t)offset) : control_write(bytes, size);
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *file) {
    (void)data_only, (void)file;
    return is_disk(path) ? disk_flush() : 0;
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *file) {
    (void)size, (void)file;
    return is_control(path) ? 0 : -EPERM;
}

/* Without it the loop device would take discards for done. */
static int allocate(const char *path, int mode, off_t offset, off_t size,
                    struct fuse_file_info *file) {
    (void)path, (void)mode, (void)offset, (void)size, (void)file;
    return -EOPNOTSUPP;
}

static const struct fuse_operations operations = {.getattr = get_attributes,
                                                  .readdir = list,
                                                  .open = open_file,
                                                  .read = read_file,
                                                  .write = write_file,
                                                  .fsync = sync_file,
                                                  .truncate = truncate_file,
                                                  .fallocate = allocate};

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: device-disk MOUNTPOINT IMAGE LOG LIMIT\n");
        return 64;
    }
    device.image = open(argv[2], O_RDWR | O_CLOEXEC);
    device.log = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    device.limit = strtoull(argv[4], NULL, 10);
    device.random = now() | 1;
    off_t size = device.image < 0 ? -1 : lseek(device.image, 0, SEEK_END);
    if (size <= 0 || device.log < 0) {
        fprintf(stderr, "device-disk: no image, or no log: %s\n", strerror(errno));
        return 1;
    }
    device.size = (uint64_t)size;
    char *arguments[] = {argv[0], argv[1], "-f", "-s", NULL};
    return fuse_main(4, arguments, &operations, NULL);
}
