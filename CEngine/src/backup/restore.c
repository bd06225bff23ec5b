/*
 * backup/restore.c -- restoring a database: copy the segments, validate them, open the result as a
 * database, verify it, and publish it.
 */
#include "backup/restore.h"

#include "backup/restore_check.h"
#include "backup/restore_file.h"
#include "backup/restore_folder.h"
#include "util/staging/staging.h"

#include "check/verify/verify.h"
#include "log/scan.h"
#include "store/manifest.h"
#include "store/open/options.h"
#include "store/snapshot.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* count_documents -- the result, from the newest snapshot. */
static void count_documents(database *db, backup_result *result) {
    snapshot *v = snapshot_acquire(db);
    result->sequence = v->sequence;
    result->documents += snapshot_documents(v);
    snapshot_release(db, v);
}

/* as_corruption -- an error that opening reports of an invalid log is corruption of the backup. */
static tansu_status as_corruption(tansu_status status, tansu_error *error) {
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
        error_set(error, TANSU_E_CORRUPT, error->context, "The backup is corrupt: %s", message);
    }
    return TANSU_E_CORRUPT;
}

/* open_staged -- opens the restored database, which replays its log and rebuilds the indexes,
 * verifies it and closes it. */
static tansu_status open_staged(const staging *staged, const index_filter_calls *filters,
                                const manifest *m, bool folder, backup_result *result,
                                tansu_error *error) {
    tansu_options options;
    options_set_defaults(&options);
    options.path = staged->path;
    options.must_exist = 1;
    database *db = NULL;
    tansu_status status = database_open(&options, staged->calls, filters, &db, error);
    if (status != TANSU_OK)
        return as_corruption(status, error);
    count_documents(db, result);
    /* A folder that was opened and not closed may have later commits than its MANIFEST knows. */
    if (m->end_sequence != result->sequence && !folder)
        status =
            error_set(error, TANSU_E_CORRUPT, NULL,
                      "The backup is of commit %llu and its log ends with commit %llu",
                      (unsigned long long)m->end_sequence, (unsigned long long)result->sequence);
    if (status == TANSU_OK)
        status = database_verify(db, NULL, NULL, NULL, error);
    tansu_status closed = database_close(db, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* fill -- copies and validates the segments; writes the MANIFEST last. */
static tansu_status fill(const staging *staged, int fd, bool folder, const char *from,
                         task *progress, manifest *m, tansu_error *error) {
    char *log_folder = fs_join(staged->path, "log");
    tansu_status status = TANSU_OK;
    if (log_folder == NULL)
        status = error_memory(error);
    else if (staged->calls->mkdir(staged->calls, log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "create the folder", errno);
    if (status == TANSU_OK)
        status = folder ? restore_folder(staged, from, progress, m, error)
                        : restore_file(staged, fd, from, progress, m, error);
    if (status == TANSU_OK)
        status = restore_check(staged, m, error);
    if (status == TANSU_OK && staged->calls->sync_folder(staged->calls, log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    free(log_folder);
    if (status == TANSU_OK)
        status = manifest_write(staged->calls, staged->path, m, error);
    return status;
}

/* note_nothing -- for listings that only ask whether there is a folder. */
static bool note_nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

/* check_outside -- staging_check_outside() for the folder of a database, which restore_folder()
 * finds out. */
static tansu_status check_outside(const fs *calls, const char *from, const char *to,
                                  tansu_error *error) {
    char *path = fs_join(from, "MANIFEST");
    if (path == NULL)
        return error_memory(error);
    int fd = calls->open(calls, path, O_RDONLY, 0);
    free(path);
    if (fd < 0)
        return TANSU_OK;
    calls->close(fd);
    return staging_check_outside(to, from, error);
}

tansu_status database_restore(const char *from, const char *to, const fs *calls,
                              const index_filter_calls *filters, task *progress,
                              backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    bool folder = calls->list(calls, from, note_nothing, NULL) == 0;
    int fd = folder ? -1 : calls->open(calls, from, O_RDONLY | O_NONBLOCK, 0);
    if (!folder && fd < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(error, TANSU_E_NOT_FOUND, from, "There is no backup at this path")
                   : error_errno(error, from, "open", errno);
    staging staged = {.calls = calls, .fd = -1};
    manifest m = {0};
    tansu_status status = folder ? check_outside(calls, from, to, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = staging_begin(&staged, calls, to, true, error);
    if (status == TANSU_OK)
        status = fill(&staged, fd, folder, from, progress, &m, error);
    if (fd >= 0)
        calls->close(fd);
    if (status == TANSU_OK) {
        staging_unlock(&staged); /* the database locks the same LOCK */
        status = open_staged(&staged, filters, &m, folder, result, error);
    }
    if (status == TANSU_OK)
        status = staging_publish(&staged, error);
    staging_end(&staged);
    return status;
}
