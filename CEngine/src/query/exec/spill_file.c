/*
 * query/exec/spill_file.c -- temporary files, and how they are encrypted.
 *
 * An encrypted file consists of pieces: a tag, and the ciphertext of PIECE bytes. The salt is in
 * memory alone, and the number of a piece tells its place. Bytes that fill no piece yet stay in
 * memory, so that each piece is sealed and written once.
 */
#include "query/exec/spill_file.h"

#include "crypt/keyring.h"
#include "util/error.h"
#include "util/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 4096u
#define STORED (CRYPT_TAG_SIZE + PIECE)

struct spill_seals {
    keyring *keys;
    sealer *sealer;
    seal_mark first;     /* of the piece at offset 0 */
    uint64_t count;      /* pieces in the file */
    uint8_t tail[PIECE]; /* what was appended after them */
    uint8_t opened[PIECE];
    uint8_t stored[STORED];
};

tansu_status spill_refuse(const spill_refusal *refusal, tansu_error *error) {
    return error_set(
        error, TANSU_E_TOO_LARGE, refusal->context,
        "%s exceeds its memory limit of %zu bytes; raise \"$maxMemory\", %s, or remove "
        "\"$allowDiskUse\" to permit temporary files",
        refusal->what, refusal->limit, refusal->advice);
}

/* ---- Bytes of the file ---- */

/* write_at -- errors: IO, FULL. */
static tansu_status write_at(const spill_file *f, const void *bytes, size_t size, uint64_t offset,
                             tansu_error *error) {
    return fs_write_all(f->calls, f->fd, bytes, size, offset) == 0
               ? TANSU_OK
               : error_errno(error, "temporary file", "write", errno);
}

/* read_at -- errors: IO. */
static tansu_status read_at(const spill_file *f, void *bytes, size_t size, uint64_t offset,
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

/* ---- Pieces ---- */

/* seals_free -- wipes what is in memory. */
static void seals_free(struct spill_seals *s) {
    if (s == NULL)
        return;
    sealer_free(s->sealer);
    crypt_wipe(s, sizeof *s);
    free(s);
}

/* seals_new -- of a file that is empty. */
static tansu_status seals_new(keyring *keys, struct spill_seals **result, tansu_error *error) {
    struct spill_seals *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    s->keys = keys;
    tansu_status status = sealer_new(keys, SEAL_TEMPORARY, &s->sealer, error);
    if (status != TANSU_OK) {
        seals_free(s);
        return status;
    }
    *result = s;
    return TANSU_OK;
}

/* write_piece -- seals and writes the tail, which is full. */
static tansu_status write_piece(spill_file *f, tansu_error *error) {
    struct spill_seals *s = f->sealed;
    seal_mark mark = sealer_next(s->sealer);
    if (s->count == 0)
        s->first = mark;
    if (!seal(s->sealer, &mark, NULL, 0, s->tail, PIECE, s->stored + CRYPT_TAG_SIZE, s->stored))
        return error_memory(error);
    return write_at(f, s->stored, STORED, s->count++ * STORED, error);
}

/* append_sealed -- spill_append() of an encrypted file. */
static tansu_status append_sealed(spill_file *f, const uint8_t *bytes, size_t size,
                                  tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && size != 0) {
        size_t at = (size_t)(f->size % PIECE), step = size < PIECE - at ? size : PIECE - at;
        memcpy(f->sealed->tail + at, bytes, step);
        f->size += step;
        bytes += step;
        size -= step;
        if (f->size % PIECE == 0)
            status = write_piece(f, error);
    }
    return status;
}

/* open_piece -- reads a piece. */
static tansu_status open_piece(const spill_file *f, uint64_t number, tansu_error *error) {
    struct spill_seals *s = f->sealed;
    seal_mark mark = s->first;
    mark.number += number;
    tansu_status status = read_at(f, s->stored, STORED, number * STORED, error);
    if (status != TANSU_OK)
        return status;
    status = unseal(s->keys, SEAL_TEMPORARY, &mark, NULL, 0, s->stored + CRYPT_TAG_SIZE, PIECE,
                    s->stored, s->opened);
    return status == TANSU_OK ? TANSU_OK
           : status == TANSU_E_MEMORY
               ? error_memory(error)
               : error_set(error, TANSU_E_IO, "temporary file",
                           "The temporary file was changed by somebody else; "
                           "run the query again");
}

/* read_sealed -- spill_read() of an encrypted file. */
static tansu_status read_sealed(const spill_file *f, uint8_t *bytes, size_t size, uint64_t offset,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && size != 0) {
        uint64_t number = offset / PIECE;
        size_t at = (size_t)(offset % PIECE), step = size < PIECE - at ? size : PIECE - at;
        bool written = number < f->sealed->count;
        if (written)
            status = open_piece(f, number, error);
        if (status == TANSU_OK)
            memcpy(bytes, (written ? f->sealed->opened : f->sealed->tail) + at, step);
        bytes += step;
        size -= step;
        offset += step;
    }
    return status;
}

/* ---- Files ---- */

tansu_status spill_open(spill_file *f, const read_context *rctx, tansu_error *error) {
    if (!rctx->calls)
        return error_set(
            error, TANSU_E_UNSUPPORTED, "",
            "Temporary files are not available here; narrow the query so that it fits into memory");
    *f = (spill_file){.calls = rctx->calls, .fd = -1};
    tansu_status status = rctx->keys != NULL ? seals_new(rctx->keys, &f->sealed, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = fs_open_temporary(rctx->calls, rctx->folder, &f->fd, error);
    if (status != TANSU_OK)
        spill_close(f);
    return status;
}

tansu_status spill_append(spill_file *f, const void *bytes, size_t size, tansu_error *error) {
    if (f->sealed != NULL)
        return append_sealed(f, bytes, size, error);
    tansu_status status = write_at(f, bytes, size, f->size, error);
    if (status == TANSU_OK)
        f->size += size;
    return status;
}

tansu_status spill_read(const spill_file *f, void *bytes, size_t size, uint64_t offset,
                        tansu_error *error) {
    return f->sealed != NULL ? read_sealed(f, bytes, size, offset, error)
                             : read_at(f, bytes, size, offset, error);
}

tansu_status spill_clear(spill_file *f, tansu_error *error) {
    if (f->calls->truncate(f->fd, 0) != 0)
        return error_errno(error, "temporary file", "truncate", errno);
    f->size = 0;
    if (f->sealed != NULL)
        f->sealed->count = 0;
    return TANSU_OK;
}

/* Errors of close() do not matter, since the file is discarded. */
void spill_close(spill_file *f) {
    if (f->fd >= 0 && f->calls)
        (void)f->calls->close(f->fd);
    seals_free(f->sealed);
    *f = (spill_file){.fd = -1};
}
