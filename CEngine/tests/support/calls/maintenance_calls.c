/*
 * support/calls/maintenance_calls.c -- verify, repair and their reports.
 */
#include "support/calls/maintenance_calls.h"
#include "support/calls/call.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static tansu_buffer report;

tansu_status maintenance_verify(tansu_db *db) {
    report.size = 0;
    return tansu_verify(db, NULL, NULL, &report, &call_error);
}

bool maintenance_clean(tansu_db *db) {
    tansu_status status = maintenance_verify(db);
    bool clean = CHECK_STATUS(TANSU_OK, status) && CHECK_INT(0, maintenance_number("problemCount"));
    if (!clean)
        check_note("    %s", maintenance_text());
    return clean;
}

tansu_status maintenance_repair(const char *from, const char *to) {
    report.size = 0;
    return tansu_repair(from, to, NULL, NULL, &report, &call_error);
}

int64_t maintenance_number(const char *path) {
    bson_t view;
    bson_iter_t iter, found;
    if (report.size == 0 || !bson_init_static(&view, report.data, report.size) ||
        !bson_iter_init(&iter, &view) || !bson_iter_find_descendant(&iter, path, &found))
        return -1;
    return bson_iter_as_int64(&found);
}

const char *maintenance_string(const char *path) {
    bson_t view;
    bson_iter_t iter, found;
    if (report.size == 0 || !bson_init_static(&view, report.data, report.size) ||
        !bson_iter_init(&iter, &view) || !bson_iter_find_descendant(&iter, path, &found) ||
        !BSON_ITER_HOLDS_UTF8(&found))
        return "";
    return bson_iter_utf8(&found, NULL);
}

const char *maintenance_text(void) {
    static tansu_buffer text;
    if (report.size == 0 ||
        tansu_bson_to_json((tansu_document){report.data, report.size}, 0, &text, NULL) != TANSU_OK)
        return "";
    return (const char *)text.data;
}

bool maintenance_contains(const char *text) {
    return strstr(maintenance_text(), text) != NULL;
}
