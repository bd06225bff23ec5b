/*
 * query/util/date_trunc.c -- the beginning of the unit of time in which a date lies.
 *
 * Years to days begin at a midnight of the time zone, whatever its offset is then. Hours to seconds
 * begin at that many seconds of the clock, but not before the clock was changed: of an hour that is
 * passed twice there are two, and one that is cut begins where it is cut.
 */
#include "query/util/date_trunc.h"

#include "query/util/date_unit.h"
#include "query/util/time_zone.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct date_trunc {
    date_unit unit;
    int first_weekday; /* 0: Sunday */
    time_zone *zone;
};

/* ---- Parsing ---- */

/* unit_of -- the unit that a name means; false when it is none. */
static bool unit_of(const doc_value *value, date_unit *unit) {
    return date_unit_read(value, unit) && *unit != DATE_MILLISECOND;
}

/* read_zone -- the value of "timezone". */
static tansu_status read_zone(date_trunc *trunc, const doc_value *value, const char *context,
                              tansu_error *error) {
    char inner[2 * sizeof error->context];
    size_t size = 0;
    snprintf(inner, sizeof inner, "%s.timezone", context);
    const char *name = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (size == 0 || strlen(name) != size)
        return error_set(error, TANSU_E_INVALID_QUERY, inner,
                         "\"timezone\" must be a name such as \"Europe/Berlin\", an offset such as "
                         "\"+02:00\" or \"UTC\"");
    return time_zone_open(name, inner, &trunc->zone, error);
}

/* read_member -- one member of the document; bits of `seen` are what it must have. */
static tansu_status read_member(date_trunc *trunc, const doc_iter *member, const char *context,
                                unsigned *seen, doc_value *path, tansu_error *error) {
    char inner[2 * sizeof error->context];
    snprintf(inner, sizeof inner, "%s.%s", context, member->key);
    if (strcmp(member->key, "date") == 0) {
        if (member->value.type != DOC_STRING)
            return error_set(error, TANSU_E_INVALID_QUERY, inner, "\"date\" must be a path");
        *path = member->value;
        *seen |= 1;
        return TANSU_OK;
    }
    if (strcmp(member->key, "unit") == 0) {
        if (!unit_of(&member->value, &trunc->unit))
            return error_set(
                error, TANSU_E_INVALID_QUERY, inner,
                "\"unit\" must be \"year\", \"quarter\", \"month\", \"week\", \"day\", "
                "\"hour\", \"minute\" or \"second\"");
        *seen |= 2;
        return TANSU_OK;
    }
    if (strcmp(member->key, "startOfWeek") == 0) {
        if (!date_weekday_read(&member->value, &trunc->first_weekday))
            return error_set(error, TANSU_E_INVALID_QUERY, inner,
                             "\"startOfWeek\" must be the English name of a day, such as "
                             "\"monday\"");
        return TANSU_OK;
    }
    if (strcmp(member->key, "timezone") == 0 && trunc->zone == NULL)
        return read_zone(trunc, &member->value, context, error);
    return error_set(error, TANSU_E_INVALID_QUERY, inner,
                     "Unknown or repeated member of \"$dateTrunc\"; use \"date\", \"unit\", "
                     "\"timezone\" and \"startOfWeek\"");
}

tansu_status date_trunc_parse(const doc_value *document, const char *context, date_trunc **result,
                              doc_value *path, tansu_error *error) {
    date_trunc *trunc = calloc(1, sizeof *trunc);
    doc_iter iter;
    unsigned seen = 0;
    tansu_status status = trunc != NULL ? TANSU_OK : error_memory(error);
    bool valid = document->type == DOC_DOCUMENT && doc_iter_value(&iter, document);
    while (status == TANSU_OK && valid && doc_iter_next(&iter))
        status = read_member(trunc, &iter, context, &seen, path, error);
    if (status == TANSU_OK && seen != 3)
        status = error_set(error, TANSU_E_INVALID_QUERY, context,
                           "\"$dateTrunc\" must be a document with \"date\" and \"unit\", such as "
                           "{\"date\": \"when\", \"unit\": \"month\"}");
    if (status == TANSU_OK && trunc->zone == NULL)
        status = time_zone_open("UTC", context, &trunc->zone, error);
    if (status != TANSU_OK) {
        date_trunc_free(trunc);
        return status;
    }
    *result = trunc;
    return TANSU_OK;
}

void date_trunc_free(date_trunc *trunc) {
    if (trunc == NULL)
        return;
    time_zone_free(trunc->zone);
    free(trunc);
}

/* ---- Truncating ---- */

int64_t date_trunc_apply(const date_trunc *trunc, int64_t milliseconds) {
    static const int lengths[] = {[DATE_HOUR] = 3600, [DATE_MINUTE] = 60, [DATE_SECOND] = 1};
    int64_t result;
    if (trunc->unit < DATE_HOUR)
        return date_truncate(trunc->zone, milliseconds, trunc->unit, 1, trunc->first_weekday,
                             &result)
                   ? result
                   : milliseconds;
    int64_t seconds = date_floor(milliseconds, 1000);
    zone_period period = time_zone_at(trunc->zone, seconds);
    int length = lengths[trunc->unit];
    int64_t truncated = date_floor(seconds + period.offset, length) * length - period.offset;
    truncated = truncated < period.from ? period.from : truncated;
    return __builtin_mul_overflow(truncated, 1000, &result) ? milliseconds : result;
}
