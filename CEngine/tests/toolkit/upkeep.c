/*
 * toolkit/upkeep.c -- see upkeep.h.
 */
#include "upkeep.h"
#include "call.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static tansu_buffer report;

tansu_status upkeep_verify(tansu_db *db) {
    report.size = 0;
    return tansu_verify(db, NULL, NULL, &report, &call_error);
}

bool upkeep_clean(tansu_db *db) {
    tansu_status status = upkeep_verify(db);
    bool clean = CHECK_STATUS(TANSU_OK, status) && CHECK_INT(0, upkeep_figure("problemCount"));
    if (!clean)
        check_note("    %s", upkeep_text());
    return clean;
}

tansu_status upkeep_repair(const char *from, const char *to) {
    report.size = 0;
    return tansu_repair(from, to, NULL, NULL, &report, &call_error);
}

int64_t upkeep_figure(const char *path) {
    bson_t view;
    bson_iter_t iter, found;
    if (report.size == 0 || !bson_init_static(&view, report.data, report.size) ||
        !bson_iter_init(&iter, &view) || !bson_iter_find_descendant(&iter, path, &found))
        return -1;
    return bson_iter_as_int64(&found);
}

const char *upkeep_string(const char *path) {
    bson_t view;
    bson_iter_t iter, found;
    if (report.size == 0 || !bson_init_static(&view, report.data, report.size) ||
        !bson_iter_init(&iter, &view) || !bson_iter_find_descendant(&iter, path, &found) ||
        !BSON_ITER_HOLDS_UTF8(&found))
        return "";
    return bson_iter_utf8(&found, NULL);
}

const char *upkeep_text(void) {
    static tansu_buffer text;
    if (report.size == 0 ||
        tansu_bson_to_json(report.data, report.size, 0, &text, NULL) != TANSU_OK)
        return "";
    return (const char *)text.data;
}

bool upkeep_tells(const char *text) {
    return strstr(upkeep_text(), text) != NULL;
}
