/*
 * query/exec/spill.c -- temporary files.
 */
#include "query/exec/spill.h"
#include "util/error.h"
#include "util/fs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t spill_sort_memory = (size_t)100 * 1024 * 1024;
size_t spill_group_memory = (size_t)256 * 1024 * 1024;

#define ATTEMPTS 100 /* to find an unused name */

/* open_named -- creates a file and removes its name; -1 with errno. A name that a killed process
 * left is skipped; it can only collide when a process id is reused. */
static int open_named(const fs *calls, const char *folder) {
    static atomic_uint counter;
    int fd = -1;
    for (int i = 0; fd < 0 && i < ATTEMPTS; i++) {
        char name[64];
        snprintf(name, sizeof name, "spill-%ld-%u.tmp", (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        char *path = fs_join(folder, name);
        if (!path) {
            errno = ENOMEM;
            return -1;
        }
        fd = calls->open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        int number = errno;
        if (fd >= 0 && calls->unlink(path) != 0) {
            number = errno;
            calls->close(fd);
            fd = -1;
        }
        free(path);
        errno = number;
        if (fd < 0 && number != EEXIST)
            break;
    }
    return fd;
}

/* open_in -- creates an unnamed file in a folder; -1 with errno. */
static int open_in(const fs *calls, const char *folder) {
#ifdef O_TMPFILE
    int fd = calls->open(folder, O_RDWR | O_TMPFILE, 0600);
    /* Not every file system supports O_TMPFILE. Other errors recur below. */
    if (fd >= 0)
        return fd;
#endif
    return open_named(calls, folder);
}

tansu_status spill_open(spill_file *f, const read_context *rctx, tansu_error *error) {
    if (!rctx->calls)
        return error_set(
            error, TANSU_E_UNSUPPORTED, "",
            "Temporary files are not available here; narrow the query so that it fits into memory");
    const char *folder = rctx->folder;
    int fd = folder ? open_in(rctx->calls, folder) : -1;
    if (fd < 0 && (!folder || errno == EROFS || errno == EACCES || errno == EPERM)) {
        folder = getenv("TMPDIR");
        if (!folder || !*folder)
            folder = "/tmp";
        fd = open_in(rctx->calls, folder);
    }
    if (fd < 0)
        return error_errno(error, folder, "create a temporary file", errno);
    *f = (spill_file){.calls = rctx->calls, .fd = fd};
    return TANSU_OK;
}

tansu_status spill_append(spill_file *f, const void *bytes, size_t size, tansu_error *error) {
    if (fs_write_all(f->calls, f->fd, bytes, size, f->size) != 0)
        return error_errno(error, "temporary file", "write", errno);
    f->size += size;
    return TANSU_OK;
}

tansu_status spill_read(const spill_file *f, void *bytes, size_t size, uint64_t offset,
                        tansu_error *error) {
    uint8_t *to = bytes;
    while (size != 0) {
        ssize_t got = f->calls->read(f->fd, to, size, (off_t)offset);
        if (got <= 0)
            return error_errno(error, "temporary file", "read", got == 0 ? EIO : errno);
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return TANSU_OK;
}

tansu_status spill_clear(spill_file *f, tansu_error *error) {
    if (f->calls->truncate(f->fd, 0) != 0)
        return error_errno(error, "temporary file", "truncate", errno);
    f->size = 0;
    return TANSU_OK;
}

/* Errors of close() do not matter, since the file is discarded. */
void spill_close(spill_file *f) {
    if (f->fd >= 0 && f->calls)
        (void)f->calls->close(f->fd);
    *f = (spill_file){.fd = -1};
}
