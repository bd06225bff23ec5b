/*
 * store/readers/reader_registry.c -- entries of readers of other processes.
 */
#include "store/readers/reader_registry.h"

#include "util/checksum/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRY_MAGIC "TANSURDR"
#define ENTRY_FORMAT 1u

/* How many names are tried for an entry: others may be of readers that are gone. */
#define MOST_NAMES 64

/* An entry caught while it is written is read again so often. */
#define MOST_READS 8

/* What the file of an entry holds. */
typedef struct entry_file {
    uint8_t magic[8];
    uint32_t format;
    uint32_t crc; /* of `report` */
    reader_report report;
} entry_file;

_Static_assert(sizeof(entry_file) == 72, "reader entry layout");

struct reader_entry {
    const fs *calls;
    char *path;
    int fd;
};

static uint32_t report_crc(const reader_report *report) {
    return checksum(0, report, sizeof *report);
}

/* write_entry -- false when it could not be written. */
static bool write_entry(const fs *calls, int fd, const reader_report *report) {
    entry_file file = {.format = ENTRY_FORMAT, .crc = report_crc(report), .report = *report};
    memcpy(file.magic, ENTRY_MAGIC, sizeof file.magic);
    return fs_write_all(calls, fd, &file, sizeof file, 0) == 0;
}

/* read_entry -- false for what is no entry. */
static bool read_entry(const fs *calls, int fd, reader_report *report) {
    for (int i = 0; i < MOST_READS; i++) {
        entry_file file;
        if (calls->read(fd, &file, sizeof file, 0) != (ssize_t)sizeof file ||
            memcmp(file.magic, ENTRY_MAGIC, sizeof file.magic) != 0 || file.format != ENTRY_FORMAT)
            return false;
        if (file.crc == report_crc(&file.report)) {
            *report = file.report;
            return true;
        }
    }
    return false;
}

/* create -- a file that is locked before it has its name, so that nobody takes it for that of a
 * reader that is gone; -1 when the name is taken, or errno is another. */
static int create(const fs *calls, const char *path, const reader_report *report) {
    size_t size = strlen(path) + sizeof ".new";
    char *unfinished = malloc(size);
    if (unfinished == NULL) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(unfinished, size, "%s.new", path);
    int fd = calls->open(calls, unfinished, O_RDWR | O_CREAT | O_EXCL, FS_MODE);
    int number = errno;
    if (fd >= 0) {
        /* One who lists has it locked for a moment, and removes it: then renaming fails. */
        bool done = calls->lock(fd, true) == 0 && write_entry(calls, fd, report) &&
                    calls->rename(calls, unfinished, path) == 0;
        number = errno;
        if (!done) {
            calls->unlink(calls, unfinished);
            calls->close(fd);
            fd = -1;
            if (number == EWOULDBLOCK || number == ENOENT)
                number = EEXIST; /* another name will do */
        }
    }
    free(unfinished);
    errno = number;
    return fd;
}

/* entry_path -- the path of an entry; NULL when memory is exhausted. */
static char *entry_path(const char *database, const char *name) {
    size_t size = strlen(database) + sizeof "/" READERS_FOLDER "/" + strlen(name);
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/" READERS_FOLDER "/%s", database, name);
    return path;
}

/* is_there -- whether a file has that name. */
static bool is_there(const fs *calls, const char *path) {
    int fd = calls->open(calls, path, O_RDONLY, 0);
    if (fd >= 0)
        calls->close(fd);
    return fd >= 0 || errno != ENOENT;
}

reader_entry *reader_enter(const fs *calls, const char *database, const reader_report *report) {
    static uint32_t last; /* atomic: entries of one process have names of their own */
    char *folder = entry_path(database, "");
    reader_entry *entry = calloc(1, sizeof *entry);
    bool possible = folder != NULL && entry != NULL &&
                    (calls->mkdir(calls, folder, 0755) == 0 || errno == EEXIST);
    free(folder);
    for (int i = 0; possible && i < MOST_NAMES; i++) {
        char name[48];
        uint32_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
        snprintf(name, sizeof name, "%" PRIu64 "-%" PRIu32, report->process, number);
        char *path = entry_path(database, name);
        if (path == NULL)
            break;
        int fd = is_there(calls, path) ? -1 : create(calls, path, report);
        if (fd >= 0) {
            *entry = (reader_entry){.calls = calls, .path = path, .fd = fd};
            return entry;
        }
        possible = errno == EEXIST || is_there(calls, path);
        free(path);
    }
    free(entry);
    return NULL;
}

void reader_update(reader_entry *entry, const reader_report *report) {
    if (entry != NULL)
        (void)write_entry(entry->calls, entry->fd, report);
}

void reader_leave(reader_entry *entry) {
    if (entry == NULL)
        return;
    entry->calls->unlink(entry->calls, entry->path);
    entry->calls->unlock(entry->fd);
    free(entry->path);
    free(entry);
}

/* What a listing knows. */
typedef struct listing {
    const fs *calls;
    const char *database;
    reader_visitor visitor;
    void *context;
} listing;

/* is_entry_name -- whether a name is one that reader_enter() gives, finished or not: nothing else
 * is ever removed. */
static bool is_entry_name(const char *name) {
    size_t first = strspn(name, "0123456789");
    if (first == 0 || name[first] != '-')
        return false;
    const char *second = name + first + 1;
    size_t digits = strspn(second, "0123456789");
    return digits != 0 && (second[digits] == 0 || strcmp(second + digits, ".new") == 0);
}

/* visit -- an fs_name_visitor. */
static bool visit(void *context, const char *name) {
    listing *l = context;
    char *path = is_entry_name(name) ? entry_path(l->database, name) : NULL;
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    if (fd >= 0) {
        reader_report report;
        if (l->calls->lock(fd, true) == 0) {
            l->calls->unlink(l->calls, path);
            l->calls->unlock(fd);
        } else {
            if (errno == EWOULDBLOCK && l->visitor != NULL && read_entry(l->calls, fd, &report))
                l->visitor(l->context, &report);
            l->calls->close(fd);
        }
    }
    free(path);
    return true;
}

void readers_list(const fs *calls, const char *database, reader_visitor visitor, void *context) {
    listing l = {.calls = calls, .database = database, .visitor = visitor, .context = context};
    char *folder = entry_path(database, "");
    if (folder != NULL)
        (void)calls->list(calls, folder, visit,
                          &l); /* where it cannot be listed, nobody is known */
    free(folder);
}

uint64_t reader_pinned(const reader_report *report, uint64_t removals) {
    uint64_t since = removals > report->removals ? removals - report->removals : 0;
    uint64_t removed = report->removed + since;
    return report->copied + (removed < report->mapped ? removed : report->mapped);
}
