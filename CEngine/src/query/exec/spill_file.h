/*
 * query/exec/spill_file.h -- temporary files for sorts and groups that exceed their memory limit.
 *
 * A file has no name. It is created without one (O_TMPFILE), or its name is removed at once, so
 * that it disappears with the process, however that ends. It is in the folder of the database, or
 * for memory stores and folders that are not writable in TMPDIR, or /tmp. All calls go through the
 * file calls of the database (util/fs.h). That of an encrypted database is encrypted, under a key
 * that nobody has once the file is closed.
 */
#ifndef TANSU_QUERY_EXEC_SPILL_FILE_H
#define TANSU_QUERY_EXEC_SPILL_FILE_H

#include "store/read_context.h"

/* What may not exceed its memory, for the error that says so. */
typedef struct spill_refusal {
    const char *context; /* of the error */
    const char *what;    /* what exceeds the limit */
    size_t limit;
    const char *advice; /* what to do other than permitting temporary files */
} spill_refusal;

/* spill_refuse -- the error of a call that would need temporary files, which its hints forbid:
 * TOO_LARGE. */
tansu_status spill_refuse(const spill_refusal *refusal, tansu_error *error);

/* Not open when zero-initialised with fd -1. Bytes are appended, and read at any offset. */
typedef struct spill_file {
    const struct fs *calls;
    int fd;
    uint64_t size;              /* bytes that were appended */
    struct spill_seals *sealed; /* NULL: the bytes are written as they are */
} spill_file;

/* spill_open -- errors: IO, FULL, MEMORY, UNSUPPORTED (the read context has no file calls). */
tansu_status spill_open(spill_file *f, const read_context *rctx, tansu_error *error);

/* spill_append -- errors: IO, FULL, MEMORY. */
tansu_status spill_append(spill_file *f, const void *bytes, size_t size, tansu_error *error);

/* spill_read -- reads bytes that were appended. Errors: IO (also when an encrypted file was changed
 * by somebody else), MEMORY. */
tansu_status spill_read(const spill_file *f, void *bytes, size_t size, uint64_t offset,
                        tansu_error *error);

/* spill_clear -- truncates the file. Errors: IO. */
tansu_status spill_clear(spill_file *f, tansu_error *error);

/* spill_close -- a file that is not open is allowed. */
void spill_close(spill_file *f);

#endif
