/*
 * backup/restore_folder.c -- copying the log of a backup that is a database folder. That of an
 * encrypted one is sealed with a new data key: each block keeps its place, so that only the keys
 * differ, and what is no valid block is none in the copy either.
 */
#include "backup/backup_internal.h"
#include "log/compressed/sealed_block.h"
#include "log/scan.h"
#include "log/segment_reader.h"
#include "store/manifest.h"
#include "util/array.h"
#include "util/error.h"
#include "util/lock_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* ---- Copying a segment ---- */

/* Copying the log. */
typedef struct log_copying {
    const staging *staged;
    const char *folder; /* of the backup's log */
    keyring *from;      /* with which it is sealed; NULL: it is not */
    keyring *to;
    task *progress;
} log_copying;

/* copy_bytes -- copies one file as it is. */
static tansu_status copy_bytes(backup_segment *s, int fd, const char *path, task *progress,
                               tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint8_t *bytes = malloc(LOG_COPY_STEP);
    if (bytes == NULL)
        return error_memory(error);
    for (uint64_t at = 0; status == TANSU_OK;) {
        ssize_t n = s->staged->calls->read(fd, bytes, LOG_COPY_STEP, (off_t)at);
        if (n <= 0) {
            if (n < 0)
                status = error_errno(error, path, "read", errno);
            break;
        }
        at += (size_t)n;
        status = backup_segment_bytes(s, bytes, (size_t)n, error);
        if (status == TANSU_OK)
            status = task_advance(progress, (uint64_t)n, error);
    }
    free(bytes);
    return status;
}

/* read_whole -- the first `size` bytes of a file, or fewer: then zeros follow. */
static tansu_status read_whole(const fs *calls, int fd, const char *path, uint8_t *bytes,
                               uint64_t size, task *progress, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t at = 0; status == TANSU_OK && at < size;) {
        uint64_t part = size - at < LOG_COPY_STEP ? size - at : LOG_COPY_STEP;
        ssize_t n = calls->read(fd, bytes + at, (size_t)part, (off_t)at);
        if (n < 0)
            return error_errno(error, path, "read", errno);
        if (n == 0)
            break;
        at += (size_t)n;
        status = task_advance(progress, (uint64_t)n, error);
    }
    return status;
}

/* renew_blocks -- seals the blocks in a file's bytes anew; after an invalid one any may follow. */
static tansu_status renew_blocks(const log_copying *c, uint32_t number, uint8_t *bytes,
                                 uint64_t size, tansu_error *error) {
    sealer *s = NULL;
    tansu_status status = sealer_new(c->to, SEAL_LOG, &s, error);
    for (uint64_t at = SEALED_BLOCKS; status == TANSU_OK && at < size;) {
        uint64_t taken = 8;
        if (sealed_block_renew(c->from, s, number, bytes + at, size - at, &taken) == TANSU_E_MEMORY)
            status = error_memory(error);
        at += taken;
    }
    sealer_free(s);
    return status;
}

/* copy_sealed -- copies one file whose blocks are sealed, of that size. */
static tansu_status copy_sealed(const log_copying *c, backup_segment *s, int fd, const char *path,
                                uint32_t number, uint64_t size, tansu_error *error) {
    /* A file may be cut off in the zeros after its last block. */
    uint64_t whole = align8(size);
    if (whole > BACKUP_SEGMENT_MOST)
        return backup_segment_too_large(error);
    uint8_t *bytes = calloc(1, (size_t)whole + 1);
    if (bytes == NULL)
        return error_memory(error);
    tansu_status status = read_whole(c->staged->calls, fd, path, bytes, size, c->progress, error);
    if (status == TANSU_OK)
        status = renew_blocks(c, number, bytes, whole, error);
    if (status == TANSU_OK)
        status = backup_segment_bytes(s, bytes, (size_t)whole, error);
    free(bytes);
    return status;
}

/* copy_segment -- copies one segment. */
static tansu_status copy_segment(const log_copying *c, uint32_t number, tansu_error *error) {
    const fs *calls = c->staged->calls;
    char *path = segment_file(c->folder, number);
    if (path == NULL)
        return error_memory(error);
    backup_segment s = {.staged = c->staged, .fd = -1};
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    int fd = calls->open(calls, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        status = error_errno(error, path, "open", errno);
    else if (calls->size(fd, &size) != 0)
        status = error_errno(error, path, "stat", errno);
    c->progress->total += size;
    if (status == TANSU_OK)
        status = backup_segment_begin(&s, number, error);
    if (status == TANSU_OK)
        status = c->from != NULL ? copy_sealed(c, &s, fd, path, number, size, error)
                                 : copy_bytes(&s, fd, path, c->progress, error);
    if (status == TANSU_OK)
        status = backup_segment_end(&s, error);
    backup_segment_drop(&s);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    return status;
}

/* ---- The log ---- */

/* The numbers of the segments in the backup. */
typedef struct found_numbers {
    uint32_t *numbers;
    size_t count;
    size_t capacity;
    bool no_memory;
} found_numbers;

/* note_number -- adds a segment's number; other files are not copied. */
static bool note_number(void *context, const char *name) {
    found_numbers *found = context;
    uint32_t number;
    if (!segment_number(name, ".seg", &number))
        return true;
    if (!ARRAY_RESERVE(found->numbers, found->count, found->capacity, 1)) {
        found->no_memory = true;
        return false;
    }
    found->numbers[found->count++] = number;
    return true;
}

/* copy_log -- copies all segments. */
static tansu_status copy_log(const log_copying *c, tansu_error *error) {
    const fs *calls = c->staged->calls;
    found_numbers found = {0};
    tansu_status status = TANSU_OK;
    if (calls->list(calls, c->folder, note_number, &found) != 0 && !found.no_memory)
        status = errno == ENOENT ? error_set(error, TANSU_E_CORRUPT, c->folder,
                                             "The log of the backup is missing")
                                 : error_errno(error, c->folder, "list", errno);
    if (found.no_memory)
        status = error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < found.count; i++)
        status = copy_segment(c, found.numbers[i], error);
    free(found.numbers);
    return status;
}

/* ---- The folder ---- */

/* lock_source -- keeps others from writing to the folder meanwhile; *fd -1: it has no LOCK. */
static tansu_status lock_source(const fs *calls, const char *from, int *fd, tansu_error *error) {
    char *path = fs_join(from, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    *fd = calls->open(calls, path, O_RDONLY, 0);
    if (*fd < 0 && errno == ESPIPE)
        status = error_errno(error, path, "open", errno);
    else if (*fd >= 0 && calls->lock(*fd, false) != 0)
        status = errno == EWOULDBLOCK ? lock_held_error(*fd, "The backup", from, error)
                                      : error_errno(error, path, "lock", errno);
    free(path);
    return status;
}

/* read_keys -- the keys of the folder, and those of the copy. */
static tansu_status read_keys(const fs *calls, const restore_source *from, const manifest *m,
                              keyring **keys, copy_keys *renewed, tansu_error *error) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_status status = key_file_read(calls, from->from, m->uuid, from->key, keys, error);
    if (status == TANSU_OK)
        status = manifest_authenticate(m, from->from, *keys, false, error);
    if (status == TANSU_OK)
        status = key_text_read(calls, from->from, &text, error);
    if (status == TANSU_OK)
        status = copy_keys_renew(renewed, m->uuid, &text, from->key, error);
    tansu_buffer_free(&text);
    return status;
}

/* read_folder -- the MANIFEST of the folder, and the keys of an encrypted one. */
static tansu_status read_folder(const fs *calls, const restore_source *from, manifest *m,
                                keyring **keys, copy_keys *renewed, tansu_error *error) {
    tansu_status status = manifest_read(calls, from->from, m, error);
    if (status == TANSU_E_NOT_FOUND)
        return error_set(error, TANSU_E_NOT_FOUND, from->from,
                         "There is no backup at this path: the folder has no MANIFEST");
    if (status != TANSU_OK)
        return status;
    if (!m->encrypted)
        return restore_check_plain(from, error);
    return from->key->bytes == NULL ? restore_key_missing(from, error)
                                    : read_keys(calls, from, m, keys, renewed, error);
}

tansu_status restore_folder(const staging *staged, const restore_source *from, manifest *m,
                            copy_keys *keys, tansu_error *error) {
    int lock_fd = -1;
    keyring *old = NULL;
    char *folder = fs_join(from->from, "log");
    tansu_status status = folder == NULL ? error_memory(error)
                                         : lock_source(staged->calls, from->from, &lock_fd, error);
    if (status == TANSU_OK)
        status = read_folder(staged->calls, from, m, &old, keys, error);
    if (status == TANSU_OK) {
        const log_copying c = {staged, folder, old, keys->keys, from->progress};
        status = copy_log(&c, error);
    }
    /* The index files are not copied: opening rebuilds them from the log, which is validated. */
    m->index_open = false;
    m->boot[0] = 0;
    keyring_free(old);
    if (lock_fd >= 0)
        staged->calls->unlock(lock_fd);
    free(folder);
    return status;
}
