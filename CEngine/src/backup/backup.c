/*
 * backup/backup.c -- a backup as of one snapshot.
 */
#include "backup/backup.h"

#include "backup/backup_file.h"
#include "backup/backup_folder.h"
#include "log/segment_copy.h"
#include "store/database_internal.h"
#include "store/maintenance.h"
#include "util/staging/staging.h"

/* manifest_at -- the MANIFEST of a copy of the database as of a snapshot. */
static manifest manifest_at(database *db, const snapshot *v) {
    pthread_mutex_lock(&db->checkpoint_mutex);
    manifest m = db->manifest;
    pthread_mutex_unlock(&db->checkpoint_mutex);
    m.index_open = false; /* the copy has no index files: opening it rebuilds them from the log */
    m.boot[0] = 0;
    m.end_sequence = v->sequence;
    return m;
}

/* write_snapshot -- writes the staged file or folder and publishes it. */
static tansu_status write_snapshot(database *db, const snapshot *v, staging *staged, task *progress,
                                   backup_result *result, tansu_error *error) {
    manifest m = manifest_at(db, v);
    tansu_status status =
        staged->folder ? backup_folder_write(staged, db, v, &m, progress, &result->bytes, error)
                       : backup_file_write(staged, db, v, &m, progress, &result->bytes, error);
    return status == TANSU_OK ? staging_publish(staged, error) : status;
}

tansu_status database_backup(database *db, const char *to, tansu_backup_form form, task *progress,
                             backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    tansu_status status = staging_check_outside(to, db->folder, error);
    if (status != TANSU_OK)
        return status;
    /* No segment is removed until maintenance_end(). */
    status = maintenance_begin(db, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    result->sequence = v->sequence;
    result->documents += snapshot_documents(v);
    log_statistics log = log_measure(db->log);
    progress->total =
        log.bytes - log.compressed + log.images; /* what is copied is not compressed */
    staging staged;
    status = staging_begin(&staged, db->calls, to, form == TANSU_BACKUP_FOLDER, error);
    if (status == TANSU_OK)
        status = write_snapshot(db, v, &staged, progress, result, error);
    staging_end(&staged);
    snapshot_release(db, v);
    maintenance_end(db);
    return status;
}
