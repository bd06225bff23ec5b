/*
 * catalog/restore.c -- a database out of a backup.
 */
#include "catalog/restore.h"

#include "base/error.h"
#include "catalog/manifest.h"
#include "catalog/verify.h"
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a segment: a place has 32 bits for the offset. */
#define SEGMENT_BYTES_MOST UINT32_MAX
#define SEGMENT_NUMBER_MOST 99999999u /* eight digits */

tansu_status restore_segment_begin(restore_segment *s, uint64_t number, tansu_error *error) {
    const fs *calls = s->part->calls;
    char name[32];
    if (number == 0 || number > SEGMENT_NUMBER_MOST)
        return error_set(error, TANSU_E_CORRUPT, NULL,
                         "the backup has a log segment of number %llu, which none can have",
                         (unsigned long long)number);
    segment_name((uint32_t)number, name);
    s->path = fs_join(s->part->path, name);
    if (s->path == NULL)
        return error_memory(error);
    s->offset = 0;
    s->fd = calls->open(s->path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (s->fd >= 0)
        return TANSU_OK;
    int why = errno;
    return why == EEXIST ? error_set(error, TANSU_E_CORRUPT, name,
                                     "the backup has the log segment %s twice", name)
                         : error_errno(error, s->path, "make", why);
}

tansu_status restore_segment_bytes(restore_segment *s, const void *bytes, size_t size,
                                   tansu_error *error) {
    if (size > SEGMENT_BYTES_MOST - s->offset)
        return error_set(error, TANSU_E_CORRUPT, NULL,
                         "the backup has a log segment that is larger than any can be");
    if (fs_write_all(s->part->calls, s->fd, bytes, size, s->offset) != 0)
        return error_errno(error, s->path, "write", errno);
    s->offset += size;
    return TANSU_OK;
}

tansu_status restore_segment_end(restore_segment *s, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (s->part->calls->sync(s->fd, NULL, 0) != 0)
        status = error_errno(error, s->path, "sync", errno);
    restore_segment_drop(s);
    return status;
}

void restore_segment_drop(restore_segment *s) {
    if (s->fd >= 0)
        s->part->calls->close(s->fd);
    s->fd = -1;
    free(s->path);
    s->path = NULL;
}

/* look -- what the newest version holds. */
static void look(database *db, backup_result *result) {
    version *v = database_hold(db);
    result->sequence = v->sequence;
    for (uint32_t i = 0; i < v->count; i++)
        result->documents += v->collections[i]->count;
    database_release(db, v);
}

/* as_damage -- what opening says of a log that makes no sense is damage of the backup. */
static tansu_status as_damage(tansu_status status, tansu_error *error) {
    switch (status) {
    case TANSU_OK:
    case TANSU_E_MEMORY:
    case TANSU_E_IO:
    case TANSU_E_FULL:
    case TANSU_E_READ_ONLY:
    case TANSU_E_LOCKED:
    case TANSU_E_VERSION:
    case TANSU_E_CORRUPT: return status;
    default: break;
    }
    if (error != NULL) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        error_set(error, TANSU_E_CORRUPT, error->context, "the backup is damaged: %s", message);
    }
    return TANSU_E_CORRUPT;
}

/* open_part -- opens what was restored, which replays the whole log and makes the indexes, verifies
 * it and closes it in order. */
static tansu_status open_part(const backup_part *part, const index_filter_calls *filters,
                              const manifest *m, bool folder, backup_result *result,
                              tansu_error *error) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = part->path;
    options.must_exist = 1;
    database *db = NULL;
    tansu_status status = database_open(&options, part->calls, filters, &db, error);
    if (status != TANSU_OK)
        return as_damage(status, error);
    look(db, result);
    /* A folder that was opened and not closed may have later commits than its MANIFEST tells of. */
    if (m->end_sequence != result->sequence && !folder)
        status =
            error_set(error, TANSU_E_CORRUPT, NULL,
                      "the backup is of commit %llu, and its log ends with commit %llu",
                      (unsigned long long)m->end_sequence, (unsigned long long)result->sequence);
    if (status == TANSU_OK)
        status = database_verify(db, NULL, NULL, NULL, error);
    tansu_status closed = database_close(db, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* fill_part -- everything but the opening; the MANIFEST comes last. */
static tansu_status fill_part(const backup_part *part, int fd, bool folder, const char *from,
                              task *progress, manifest *m, tansu_error *error) {
    char *log_folder = fs_join(part->path, "log");
    tansu_status status = TANSU_OK;
    if (log_folder == NULL)
        status = error_memory(error);
    else if (part->calls->mkdir(log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "make the folder", errno);
    if (status == TANSU_OK)
        status = folder ? restore_folder(part, from, progress, m, error)
                        : restore_file(part, fd, from, progress, m, error);
    if (status == TANSU_OK)
        status = restore_check(part, m, error);
    if (status == TANSU_OK && part->calls->sync_folder(log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    free(log_folder);
    if (status == TANSU_OK)
        status = manifest_write(part->calls, part->path, m, error);
    return status;
}

/* note_nothing -- for asking whether there is a folder. */
static bool note_nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

tansu_status database_restore(const char *from, const char *to, const fs *calls,
                              const index_filter_calls *filters, task *progress,
                              backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    bool folder = calls->list(from, note_nothing, NULL) == 0;
    int fd = folder ? -1 : calls->open(from, O_RDONLY | O_NONBLOCK, 0);
    if (!folder && fd < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(error, TANSU_E_NOT_FOUND, from, "there is no backup at this path")
                   : error_errno(error, from, "open", errno);
    backup_part part;
    manifest m = {0};
    tansu_status status = part_begin(&part, calls, to, true, error);
    if (status == TANSU_OK)
        status = fill_part(&part, fd, folder, from, progress, &m, error);
    if (fd >= 0)
        calls->close(fd);
    if (status == TANSU_OK) {
        part_unlock(&part); /* for the database, which has the same LOCK */
        status = open_part(&part, filters, &m, folder, result, error);
    }
    if (status == TANSU_OK)
        status = part_finish(&part, error);
    part_end(&part);
    return status;
}
