/*
 * catalog/backup.c -- a backup as of one commit.
 */
#include "catalog/backup.h"

#include "base/error.h"
#include "catalog/compact.h"
#include "log/copy.h"

tansu_status task_advance(task *t, uint64_t more, tansu_error *error) {
    t->done += more;
    if (t->done > t->total)
        t->total = t->done;
    if (t->progress == NULL || t->progress(t->context, t->done, t->total) != 0)
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, NULL,
                     "the task was cancelled: nothing of it is left");
}

/* manifest_at -- what a copy of the database as of a version says of itself. */
static manifest manifest_at(database *db, const version *v) {
    pthread_mutex_lock(&db->checkpoint_mutex);
    manifest m = db->manifest;
    pthread_mutex_unlock(&db->checkpoint_mutex);
    m.index_open = false; /* no index file goes with it: opening makes one from the log */
    m.boot[0] = 0;
    m.end_sequence = v->sequence;
    /* What is opened read-only can't be marked. */
    m.compacted = m.compacted || log_gapped(db->log);
    return m;
}

/* write_version -- backs one version up, to the part. */
static tansu_status write_version(database *db, const version *v, backup_part *part, task *progress,
                                  backup_result *result, tansu_error *error) {
    manifest m = manifest_at(db, v);
    tansu_status status =
        part->folder ? backup_folder_write(part, db, v, &m, progress, &result->bytes, error)
                     : backup_file_write(part, db, v, &m, progress, &result->bytes, error);
    return status == TANSU_OK ? part_finish(part, error) : status;
}

tansu_status database_backup(database *db, const char *to, tansu_backup_form form, task *progress,
                             backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    /* No segment goes away while this is held. */
    tansu_status status = upkeep_begin(db, error);
    if (status != TANSU_OK)
        return status;
    version *v = database_hold(db);
    result->sequence = v->sequence;
    for (uint32_t i = 0; i < v->count; i++)
        result->documents += v->collections[i]->count;
    progress->total = log_measure(db->log).bytes;
    backup_part part;
    status = part_begin(&part, db->calls, to, form == TANSU_BACKUP_FOLDER, error);
    if (status == TANSU_OK)
        status = write_version(db, v, &part, progress, result, error);
    part_end(&part);
    database_release(db, v);
    upkeep_end(db);
    return status;
}
