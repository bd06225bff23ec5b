/*
 * api/api_backup.c -- backups, and databases out of them.
 */
#include "api/handles.h"
#include "backup/backup.h"
#include "backup/restore.h"
#include "bson/writer.h"
#include "query/plan/partial_filter.h"
#include "store/handle.h"
#include "store/open/states.h"
#include "util/buffer.h"
#include "util/error.h"

/* report_backup -- what was done, as BSON; `bytes`: with the size. */
static tansu_status report_backup(tansu_buffer *report, const backup_result *result, bool bytes,
                                  tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "sequence", (int64_t)result->sequence);
    if (bytes)
        writer_int64(&w, "bytes", (int64_t)result->bytes);
    writer_int64(&w, "documents", (int64_t)result->documents);
    return writer_finish(&w, document) ? TANSU_OK : error_memory(error);
}

/* reserve_report -- makes sure that the report can't fail once everything is done. */
static tansu_status reserve_report(tansu_buffer *report, tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    report->size = 0;
    return buffer_reserve(report, 256) ? TANSU_OK : error_memory(error);
}

tansu_status tansu_backup(tansu_db *db, const char *to, tansu_backup_form form,
                          tansu_progress progress, void *context, tansu_buffer *report,
                          tansu_error *error) {
    if (db == NULL || to == NULL)
        return null_argument(db == NULL ? "db" : "to", error);
    if ((unsigned)form > TANSU_BACKUP_FILE)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "form",
                         "The backup form is out of range; use a value of tansu_backup_form");
    database *d;
    tansu_status status = reserve_report(report, error);
    if (status == TANSU_OK)
        status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    task t = {.progress = progress, .context = context};
    backup_result result;
    status = database_backup(d, to, form, &t, &result, error);
    handle_release(d);
    return status == TANSU_OK ? report_backup(report, &result, true, error) : status;
}

tansu_status tansu_restore(const char *from, const char *to, tansu_progress progress, void *context,
                           tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL)
        return null_argument(from == NULL ? "from" : "to", error);
    tansu_status status = reserve_report(report, error);
    if (status != TANSU_OK)
        return status;
    task t = {.progress = progress, .context = context};
    backup_result result;
    status = database_restore(from, to, &fs_system, &query_filters, &t, &result, error);
    return status == TANSU_OK ? report_backup(report, &result, false, error) : status;
}
