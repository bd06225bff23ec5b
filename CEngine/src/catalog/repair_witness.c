/*
 * catalog/repair_witness.c -- how far the log went, by what the index files of a database say that was not
 * closed: of its log the MANIFEST says nothing, and commits that are missing at the end leave no
 * trace in it.
 */
#include "base/buffer.h"
#include "base/doc.h"
#include "base/error.h"
#include "catalog/repair_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define CABINET_NAME "blocks.tch"
#define COPY_STEP ((size_t)256 * 1024)

/* copy_bytes -- all of a file into another. False when that could not be done. */
static bool copy_bytes(const fs *calls, int from, int to, uint8_t *step) {
    for (off_t at = 0;;) {
        ssize_t got = calls->read(from, step, COPY_STEP, at);
        if (got <= 0)
            return got == 0;
        if (fs_write_all(calls, to, step, (size_t)got, (uint64_t)at) != 0)
            return false;
        at += got;
    }
}

/* copy_file -- a file of the damaged database's index folder into the new database's; one that is not there
 * is none there either. */
static bool copy_file(const repair *r, const char *index, const char *folder, const char *name) {
    char *from = fs_join(index, name), *to = fs_join(folder, name);
    uint8_t *step = malloc(COPY_STEP);
    bool done = false;
    if (from != NULL && to != NULL && step != NULL) {
        int in = r->calls->open(from, O_RDONLY, 0);
        done = in < 0 && errno == ENOENT;
        int out = in < 0 ? -1 : r->calls->open(to, O_RDWR | O_CREAT | O_TRUNC, 0644);
        done = done || (out >= 0 && copy_bytes(r->calls, in, out, step));
        if (in >= 0)
            r->calls->close(in);
        if (out >= 0)
            r->calls->close(out);
    }
    free(step);
    free(from);
    free(to);
    return done;
}

/* read_meta -- what the copied cabinet says. */
static void read_meta(repair *r, const char *path) {
    cabinet *cab;
    tansu_buffer meta = TANSU_BUFFER_INIT;
    doc_value uuid, seen;
    int64_t sequence;
    if (cabinet_open(path, false, false, &cab, NULL) != TANSU_OK)
        return;
    if (cabinet_get(cab, CABINET_META, 0, &meta, NULL) == TANSU_OK &&
        doc_check(meta.data, meta.size, DOC_CHECK_BSON, NULL) == TANSU_OK &&
        doc_find(meta.data, meta.size, "uuid", 4, &uuid) && uuid.type == DOC_BINARY &&
        uuid.size == 21 && memcmp(uuid.data + 5, r->uuid, 16) == 0 &&
        doc_find(meta.data, meta.size, "witnessed", 9, &seen) && doc_as_int64(&seen, &sequence) &&
        sequence > 0 && (uint64_t)sequence > r->end_sequence)
        r->end_sequence = (uint64_t)sequence;
    tansu_buffer_free(&meta);
    cabinet_close(cab, NULL);
}

/* remove_copy -- takes a file of the copy away again. */
static tansu_status remove_copy(const repair *r, const char *folder, const char *name,
                                tansu_error *error) {
    char *path = fs_join(folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (r->calls->unlink(path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    free(path);
    return status;
}

tansu_status repair_witness(repair *r, const char *folder, tansu_error *error) {
    static const char *const names[] = {CABINET_NAME, CABINET_NAME ".wal"};
    char boot[64], *log = fs_join(r->from, "log");
    if (log == NULL)
        return error_memory(error);
    uint64_t marked = log_marked_end(r->calls, log, r->uuid);
    free(log);
    if (marked > r->end_sequence)
        r->end_sequence = marked;
    fs_cache_id(r->from, boot);
    if (!r->manifest_read || !r->manifest.index_open || strcmp(boot, r->manifest.boot) != 0)
        return TANSU_OK;
    char *index = fs_join(r->from, "index"), *path = fs_join(folder, CABINET_NAME);
    /* In a copy, for Tokyo Cabinet has to write in order to read what was not closed. */
    if (index != NULL && path != NULL && copy_file(r, index, folder, names[0]) &&
        copy_file(r, index, folder, names[1]))
        read_meta(r, path);
    free(index);
    free(path);
    tansu_status status = remove_copy(r, folder, names[0], error);
    return status == TANSU_OK ? remove_copy(r, folder, names[1], error) : status;
}
