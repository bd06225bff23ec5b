/*
 * api/upkeep.c -- compaction on demand.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/compact.h"

#include <bson/bson.h>

/* append_report -- the figures as BSON. */
static bool append_report(tansu_buffer *report, const compact_figures *figures) {
    bson_t answer = BSON_INITIALIZER;
    bool done = BSON_APPEND_INT64(&answer, "bytesBefore", (int64_t)figures->before) &&
                BSON_APPEND_INT64(&answer, "bytesAfter", (int64_t)figures->after) &&
                BSON_APPEND_INT64(&answer, "segments", (int64_t)figures->segments) &&
                BSON_APPEND_INT64(&answer, "records", (int64_t)figures->records) &&
                buffer_set(report, bson_get_data(&answer), answer.len);
    bson_destroy(&answer);
    return done;
}

tansu_status tansu_compact(tansu_db *db, tansu_task_progress progress, void *context,
                           tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    compact_figures figures;
    tansu_status status = database_enter(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    status = compact_all(db_inner(db), progress, context, &figures, error);
    database_leave(db_inner(db));
    if (status == TANSU_OK && report != NULL && !append_report(report, &figures))
        status = error_memory(error);
    return status;
}
