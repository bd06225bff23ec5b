/*
 * api/api_maintenance.c -- compaction on demand, verification, and repair.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "check/repair/repair.h"
#include "check/verify/verify.h"
#include "compact/compact.h"
#include "query/plan/partial_filter.h"
#include "store/handle.h"
#include "store/open/states.h"
#include "util/buffer.h"
#include "util/error.h"

/* append_compact_report -- the result as BSON. */
static bool append_compact_report(tansu_buffer *report, const compact_result *result) {
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "bytesBefore", (int64_t)result->before);
    writer_int64(&w, "bytesAfter", (int64_t)result->after);
    writer_int64(&w, "segments", (int64_t)result->segments);
    writer_int64(&w, "records", (int64_t)result->records);
    return writer_finish(&w, document);
}

tansu_status tansu_compact(tansu_db *db, tansu_progress progress, void *context,
                           tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    compact_result result;
    tansu_status status = handle_acquire(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    status = compact_all(db_inner(db), progress, context, &result, error);
    handle_release(db_inner(db));
    if (status == TANSU_OK && report != NULL && !append_compact_report(report, &result))
        status = error_memory(error);
    return status;
}

tansu_status tansu_verify(tansu_db *db, tansu_progress progress, void *context,
                          tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    database *d;
    tansu_status status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    status = database_verify(d, progress, context, report, error);
    handle_release(d);
    return status;
}

tansu_status tansu_repair(const char *from, const char *to, tansu_progress progress, void *context,
                          tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL)
        return null_argument(from == NULL ? "from" : "to", error);
    tansu_options settings;
    tansu_options_init(&settings);
    return database_repair(from, to, &fs_system, &query_filters, &settings, progress, context,
                           report, error);
}
