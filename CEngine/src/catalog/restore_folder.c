/*
 * catalog/restore_folder.c -- the segments and the MANIFEST out of a backup that is a folder.
 */
#include "base/error.h"
#include "catalog/manifest.h"
#include "catalog/restore.h"
#include "log/copy.h"
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* What the listing of the backup's log found. */
typedef struct found_numbers {
    uint32_t *numbers;
    size_t count;
    size_t room;
    bool no_memory;
} found_numbers;

/* note_number -- takes the number of a segment file's name; other files are none of ours. */
static bool note_number(void *context, const char *name) {
    found_numbers *found = context;
    uint32_t number;
    if (!segment_number(name, ".seg", &number))
        return true;
    if (found->count == found->room) {
        size_t room = found->room == 0 ? 16 : found->room * 2;
        uint32_t *numbers = realloc(found->numbers, room * sizeof *numbers);
        if (numbers == NULL) {
            found->no_memory = true;
            return false;
        }
        found->numbers = numbers;
        found->room = room;
    }
    found->numbers[found->count++] = number;
    return true;
}

/* copy_bytes -- one file. */
static tansu_status copy_bytes(restore_segment *s, int fd, const char *path, uint8_t *bytes,
                               task *progress, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t at = 0; status == TANSU_OK;) {
        ssize_t n = s->part->calls->read(fd, bytes, LOG_COPY_STEP, (off_t)at);
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

/* copy_segment -- one segment. */
static tansu_status copy_segment(const backup_part *part, const char *folder, uint32_t number,
                                 uint8_t *bytes, task *progress, tansu_error *error) {
    const fs *calls = part->calls;
    char *path = segment_file(folder, number);
    if (path == NULL)
        return error_memory(error);
    restore_segment s = {.part = part, .fd = -1};
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    int fd = calls->open(path, O_RDONLY | O_NONBLOCK, 0);
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

/* copy_log -- all segments of a folder. */
static tansu_status copy_log(const backup_part *part, const char *folder, task *progress,
                             tansu_error *error) {
    found_numbers found = {0};
    tansu_status status = TANSU_OK;
    uint8_t *bytes = malloc(LOG_COPY_STEP);
    if (part->calls->list(folder, note_number, &found) != 0 && !found.no_memory)
        status = errno == ENOENT
                     ? error_set(error, TANSU_E_CORRUPT, folder, "the backup's log is missing")
                     : error_errno(error, folder, "list", errno);
    if (found.no_memory || bytes == NULL)
        status = error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < found.count; i++)
        status = copy_segment(part, folder, found.numbers[i], bytes, progress, error);
    free(bytes);
    free(found.numbers);
    return status;
}

/* hold_lock -- keeps others from writing to the folder meanwhile; *fd -1 where there is no LOCK. */
static tansu_status hold_lock(const fs *calls, const char *from, int *fd, tansu_error *error) {
    char *path = fs_join(from, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    *fd = calls->open(path, O_RDONLY, 0);
    if (*fd < 0 && errno == ESPIPE)
        status = error_errno(error, path, "open", errno);
    else if (*fd >= 0 && calls->lock(*fd, false) != 0)
        status = errno == EWOULDBLOCK
                     ? error_set(error, TANSU_E_LOCKED, from,
                                 "the backup is open as a database, in this process or another: "
                                 "close it there first")
                     : error_errno(error, path, "lock", errno);
    free(path);
    return status;
}

tansu_status restore_folder(const backup_part *part, const char *from, task *progress, manifest *m,
                            tansu_error *error) {
    int lock_fd = -1;
    char *folder = fs_join(from, "log");
    tansu_status status =
        folder == NULL ? error_memory(error) : hold_lock(part->calls, from, &lock_fd, error);
    if (status == TANSU_OK) {
        status = manifest_read(part->calls, from, m, error);
        if (status == TANSU_E_NOT_FOUND)
            status = error_set(error, TANSU_E_NOT_FOUND, from,
                               "there is no backup at this path: the folder has no MANIFEST");
    }
    if (status == TANSU_OK)
        status = copy_log(part, folder, progress, error);
    /* The index files are not taken along: the log, which is checked, makes them anew. */
    m->index_open = false;
    m->boot[0] = 0;
    if (lock_fd >= 0)
        part->calls->unlock(lock_fd);
    free(folder);
    return status;
}
