/*
 * api/backup.c -- backups, and databases out of them.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/restore.h"
#include "query/filter.h"

#include <bson/bson.h>

/* report_backup -- what was done, as BSON; `bytes`: with the size. */
static tansu_status report_backup(tansu_buffer *report, const backup_result *result, bool bytes,
                                  tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    bson_t doc = BSON_INITIALIZER;
    bool done = BSON_APPEND_INT64(&doc, "sequence", (int64_t)result->sequence) &&
                (!bytes || BSON_APPEND_INT64(&doc, "bytes", (int64_t)result->bytes)) &&
                BSON_APPEND_INT64(&doc, "documents", (int64_t)result->documents) &&
                buffer_set(report, bson_get_data(&doc), doc.len);
    bson_destroy(&doc);
    return done ? TANSU_OK : error_memory(error);
}

/* reserve_report -- makes sure that the report can't fail once everything is done. */
static tansu_status reserve_report(tansu_buffer *report, tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    report->size = 0;
    return buffer_reserve(report, 256) ? TANSU_OK : error_memory(error);
}

tansu_status tansu_backup(tansu_db *db, const char *to, tansu_backup_form form,
                          tansu_task_progress progress, void *context, tansu_buffer *report,
                          tansu_error *error) {
    if (db == NULL || to == NULL)
        return misuse(db == NULL ? "db" : "to", error);
    if ((unsigned)form > TANSU_BACKUP_FILE)
        return error_set(error, TANSU_E_MISUSE, "form", "the form is not a tansu_backup_form");
    tansu_status status = reserve_report(report, error);
    if (status == TANSU_OK)
        status = database_enter(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    task t = {.progress = progress, .context = context};
    backup_result result;
    status = database_backup(db_inner(db), to, form, &t, &result, error);
    database_leave(db_inner(db));
    return status == TANSU_OK ? report_backup(report, &result, true, error) : status;
}

tansu_status tansu_restore(const char *from, const char *to, tansu_task_progress progress,
                           void *context, tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL)
        return misuse(from == NULL ? "from" : "to", error);
    tansu_status status = reserve_report(report, error);
    if (status != TANSU_OK)
        return status;
    task t = {.progress = progress, .context = context};
    backup_result result;
    status = database_restore(from, to, &fs_system, &query_filters, &t, &result, error);
    return status == TANSU_OK ? report_backup(report, &result, false, error) : status;
}
