/*
 * backup/backup_folder.c -- a backup that is a database folder.
 */
#include "backup/backup_folder.h"

#include "log/scan.h"
#include "log/segment_copy.h"
#include "store/database_internal.h"
#include "store/manifest.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* The folder being written. */
typedef struct folder_target {
    const fs *calls;
    const char *log_folder;
    char *path; /* of the segment being written */
    int fd;
    uint64_t offset;
    uint64_t bytes;
    task *progress;
} folder_target;

/* folder_segment_begin -- creates a segment file. */
static tansu_status folder_segment_begin(void *context, const log_extent *segment,
                                         tansu_error *error) {
    folder_target *t = context;
    t->path = segment_file(t->log_folder, segment->number);
    if (t->path == NULL)
        return error_memory(error);
    t->offset = 0;
    t->fd = t->calls->open(t->calls, t->path, O_RDWR | O_CREAT | O_EXCL, 0644);
    return t->fd < 0 ? error_errno(error, t->path, "create", errno) : TANSU_OK;
}

/* folder_segment_bytes -- appends to it. */
static tansu_status folder_segment_bytes(void *context, const uint8_t *bytes, size_t size,
                                         tansu_error *error) {
    folder_target *t = context;
    if (fs_write_all(t->calls, t->fd, bytes, size, t->offset) != 0)
        return error_errno(error, t->path, "write", errno);
    t->calls->start_writeback(t->fd, t->offset, size);
    t->offset += size;
    t->bytes += size;
    return task_advance(t->progress, size, error);
}

/* folder_segment_end -- syncs and closes it. */
static tansu_status folder_segment_end(void *context, tansu_error *error) {
    folder_target *t = context;
    int fd = t->fd;
    t->fd = -1;
    tansu_status status = TANSU_OK;
    if (t->calls->sync(fd, NULL, 0) != 0)
        status = error_errno(error, t->path, "sync", errno);
    if (t->calls->close(fd) != 0 && status == TANSU_OK)
        status = error_errno(error, t->path, "close", errno);
    free(t->path);
    t->path = NULL;
    return status;
}

tansu_status backup_folder_write(const staging *staged, database *db, const snapshot *v,
                                 const manifest *m, task *progress, uint64_t *bytes,
                                 tansu_error *error) {
    const fs *calls = staged->calls;
    tansu_status status = TANSU_OK;
    char *log_folder = fs_join(staged->path, "log");
    folder_target t = {.calls = calls, .log_folder = log_folder, .fd = -1, .progress = progress};
    log_copy_target target = {&t, folder_segment_begin, folder_segment_bytes, folder_segment_end};
    if (log_folder == NULL)
        status = error_memory(error);
    else if (calls->mkdir(calls, log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "create the folder", errno);
    if (status == TANSU_OK)
        status = log_copy(db->log, v->sequence, v->position, &target, error);
    if (t.fd >= 0)
        calls->close(t.fd);
    free(t.path);
    if (status == TANSU_OK && calls->sync_folder(calls, log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    if (status == TANSU_OK) /* last: it makes the folder a database; syncs the folder, too */
        status = manifest_write(calls, staged->path, m, error);
    free(log_folder);
    *bytes = t.bytes;
    return status;
}
