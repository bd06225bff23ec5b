/*
 * api/repair.c -- salvaging a damaged database.
 */
#include "catalog/repair.h"
#include "api/handles.h"
#include "query/filter.h"

tansu_status tansu_repair(const char *from, const char *to, tansu_task_progress progress,
                          void *context, tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL || to[0] == 0)
        return misuse(from == NULL ? "from" : "to", error);
    tansu_options settings;
    tansu_options_init(&settings);
    return database_repair(from, to, &fs_system, &query_filters, &settings, progress, context,
                           report, error);
}
