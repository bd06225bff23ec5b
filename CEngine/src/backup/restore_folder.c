/*
 * backup/restore_folder.c -- reading a backup that is a database folder.
 */
#include "backup/restore_folder.h"

#include "backup/restore_segment.h"
#include "log/scan.h"
#include "log/segment_copy.h"
#include "store/manifest.h"
#include "util/array.h"
#include "util/error.h"
#include "util/lock_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

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

/* copy_bytes -- copies one file. */
static tansu_status copy_bytes(restore_segment *s, int fd, const char *path, uint8_t *bytes,
                               task *progress, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t at = 0; status == TANSU_OK;) {
        ssize_t n = s->staged->calls->read(fd, bytes, LOG_COPY_STEP, (off_t)at);
        if (n < 0)
            return error_errno(error, path, "read", errno);
        if (n == 0)
            break;
        at += (size_t)n;
        status = restore_segment_bytes(s, bytes, (size_t)n, error);
        if (status == TANSU_OK)
            status = task_advance(progress, (uint64_t)n, error);
    }
    return status;
}

/* copy_segment -- copies one segment. */
static tansu_status copy_segment(const staging *staged, const char *folder, uint32_t number,
                                 uint8_t *bytes, task *progress, tansu_error *error) {
    const fs *calls = staged->calls;
    char *path = segment_file(folder, number);
    if (path == NULL)
        return error_memory(error);
    restore_segment s = {.staged = staged, .fd = -1};
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    int fd = calls->open(calls, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        status = error_errno(error, path, "open", errno);
    else if (calls->size(fd, &size) == 0)
        progress->total += size;
    if (status == TANSU_OK)
        status = restore_segment_begin(&s, number, error);
    if (status == TANSU_OK)
        status = copy_bytes(&s, fd, path, bytes, progress, error);
    if (status == TANSU_OK)
        status = restore_segment_end(&s, error);
    restore_segment_drop(&s);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    return status;
}

/* copy_log -- copies all segments. */
static tansu_status copy_log(const staging *staged, const char *folder, task *progress,
                             tansu_error *error) {
    found_numbers found = {0};
    tansu_status status = TANSU_OK;
    uint8_t *bytes = malloc(LOG_COPY_STEP);
    if (staged->calls->list(staged->calls, folder, note_number, &found) != 0 && !found.no_memory)
        status = errno == ENOENT
                     ? error_set(error, TANSU_E_CORRUPT, folder, "The log of the backup is missing")
                     : error_errno(error, folder, "list", errno);
    if (found.no_memory || bytes == NULL)
        status = error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < found.count; i++)
        status = copy_segment(staged, folder, found.numbers[i], bytes, progress, error);
    free(bytes);
    free(found.numbers);
    return status;
}

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

tansu_status restore_folder(const staging *staged, const char *from, task *progress, manifest *m,
                            tansu_error *error) {
    int lock_fd = -1;
    char *folder = fs_join(from, "log");
    tansu_status status =
        folder == NULL ? error_memory(error) : lock_source(staged->calls, from, &lock_fd, error);
    if (status == TANSU_OK) {
        status = manifest_read(staged->calls, from, m, error);
        if (status == TANSU_E_NOT_FOUND)
            status = error_set(error, TANSU_E_NOT_FOUND, from,
                               "There is no backup at this path: the folder has no MANIFEST");
    }
    if (status == TANSU_OK)
        status = copy_log(staged, folder, progress, error);
    /* The index files are not copied: opening rebuilds them from the log, which is validated. */
    m->index_open = false;
    m->boot[0] = 0;
    if (lock_fd >= 0)
        staged->calls->unlock(lock_fd);
    free(folder);
    return status;
}
