/*
 * query/exec/spill.c -- temporary files.
 */
#include "query/exec/spill.h"
#include "util/error.h"
#include "util/fs.h"
#include <errno.h>

tansu_status spill_refuse(const spill_refusal *refusal, tansu_error *error) {
    return error_set(
        error, TANSU_E_TOO_LARGE, refusal->context,
        "%s exceeds its memory limit of %zu bytes; raise \"$maxMemory\", %s, or remove "
        "\"$allowDiskUse\" to permit temporary files",
        refusal->what, refusal->limit, refusal->advice);
}

tansu_status spill_open(spill_file *f, const read_context *rctx, tansu_error *error) {
    if (!rctx->calls)
        return error_set(
            error, TANSU_E_UNSUPPORTED, "",
            "Temporary files are not available here; narrow the query so that it fits into memory");
    *f = (spill_file){.calls = rctx->calls, .fd = -1};
    return fs_open_temporary(rctx->calls, rctx->folder, &f->fd, error);
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
