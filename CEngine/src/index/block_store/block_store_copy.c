/*
 * index/block_store/block_store_copy.c -- a private copy of a file that another process may be
 * writing.
 *
 * While the journals do not change, the writer changes only extents that the last commit does not
 * use, and words to what its journal says. So a copy, with the journal over it, is that commit,
 * however long copying took. Whoever opens the copy checks that they did not change
 * (store/files_stamp.h).
 */
#include "index/block_store/block_store_internal.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_STEP ((size_t)1024 * 1024)

/* copy_bytes -- all of the file, up to where it ends by then. */
static tansu_status copy_bytes(const block_store *bs, int to, uint8_t *buffer, tansu_error *error) {
    for (uint64_t offset = 0;;) {
        errno = 0;
        ssize_t got = bs->calls->read(bs->fd, buffer, COPY_STEP, (off_t)offset);
        if (got < 0)
            return error_errno(error, bs->path, "read", errno == 0 ? EIO : errno);
        if (got == 0)
            return TANSU_OK;
        if (fs_write_all(bs->calls, to, buffer, (size_t)got, offset) != 0)
            return error_errno(error, bs->path, "copy", errno);
        offset += (uint64_t)got;
    }
}

tansu_status block_store_take_copy(block_store *bs, tansu_error *error) {
    char *folder = strdup(bs->path);
    uint8_t *buffer = malloc(COPY_STEP);
    int fd = -1;
    tansu_status status = folder == NULL || buffer == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK) {
        char *slash = strrchr(folder, '/');
        if (slash != NULL)
            *slash = 0;
        status = fs_open_temporary(bs->calls, slash == NULL ? NULL : folder, &fd, error);
    }
    if (status == TANSU_OK)
        status = copy_bytes(bs, fd, buffer, error);
    free(buffer);
    free(folder);
    if (status != TANSU_OK) {
        if (fd >= 0)
            (void)bs->calls->close(fd);
        return status;
    }
    (void)bs->calls->close(bs->fd);
    bs->fd = fd;
    return TANSU_OK;
}
