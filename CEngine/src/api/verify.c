/*
 * api/verify.c -- checking what is stored.
 */
#include "catalog/verify.h"
#include "api/handles.h"

tansu_status tansu_verify(tansu_db *db, tansu_task_progress progress, void *context,
                          tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    database *d = db_inner(db);
    tansu_status status = database_enter(d, error);
    if (status != TANSU_OK)
        return status;
    status = database_verify(d, progress, context, report, error);
    database_leave(d);
    return status;
}
