/*
 * query/aggregate/date_trunc.c -- the beginning of the unit of time in which a date lies.
 *
 * Years to days begin at a midnight of the time zone, whatever its offset is then. Hours to seconds
 * begin at that many seconds of the clock, but not before the clock was changed: of an hour that is
 * passed twice there are two, and one that is cut begins where it is cut.
 */
#include "query/aggregate/date_trunc.h"

#include "bson/calendar.h"
#include "query/util/time_zone.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400

enum unit { YEAR, QUARTER, MONTH, WEEK, DAY_UNIT, HOUR, MINUTE, SECOND };

static const char *const unit_names[] = {"year", "quarter", "month",  "week",
                                         "day",  "hour",    "minute", "second"};
static const char *const day_names[] = {"sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday"};

struct date_trunc {
    enum unit unit;
    int first_weekday; /* 0: Sunday */
    time_zone *zone;
};

/* ---- Parsing ---- */

/* number_of -- the number of a name in a list; false when it is not there. */
static bool number_of(const doc_value *value, const char *const *names, int count, int *number) {
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *text = doc_string(value, &size);
    for (*number = 0; *number < count; ++*number) {
        if (strlen(names[*number]) == size && memcmp(names[*number], text, size) == 0)
            return true;
    }
    return false;
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
    int number;
    snprintf(inner, sizeof inner, "%s.%s", context, member->key);
    if (strcmp(member->key, "date") == 0) {
        if (member->value.type != DOC_STRING)
            return error_set(error, TANSU_E_INVALID_QUERY, inner, "\"date\" must be a path");
        *path = member->value;
        *seen |= 1;
        return TANSU_OK;
    }
    if (strcmp(member->key, "unit") == 0) {
        if (!number_of(&member->value, unit_names, SECOND + 1, &number))
            return error_set(
                error, TANSU_E_INVALID_QUERY, inner,
                "\"unit\" must be \"year\", \"quarter\", \"month\", \"week\", \"day\", "
                "\"hour\", \"minute\" or \"second\"");
        trunc->unit = (enum unit)number;
        *seen |= 2;
        return TANSU_OK;
    }
    if (strcmp(member->key, "startOfWeek") == 0) {
        if (!number_of(&member->value, day_names, 7, &trunc->first_weekday))
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

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* first_day -- the first day of the unit in which a day lies, both since 1970. */
static int64_t first_day(const date_trunc *trunc, int64_t day) {
    calendar_date date = calendar_date_of(day);
    switch (trunc->unit) {
    case YEAR: return calendar_days(date.year, 1, 1);
    case QUARTER: return calendar_days(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case MONTH: return calendar_days(date.year, date.month, 1);
    case WEEK: {
        /* 1970-01-01 was a Thursday, day 4. */
        int64_t since = day + 4 - trunc->first_weekday;
        return day - (since - floor_div(since, 7) * 7);
    }
    default: return day;
    }
}

int64_t date_trunc_apply(const date_trunc *trunc, int64_t milliseconds) {
    static const int lengths[] = {[HOUR] = 3600, [MINUTE] = 60, [SECOND] = 1};
    int64_t seconds = floor_div(milliseconds, 1000), truncated, result;
    zone_period period = time_zone_at(trunc->zone, seconds);
    int64_t local = seconds + period.offset;
    if (trunc->unit >= HOUR) {
        int length = lengths[trunc->unit];
        truncated = floor_div(local, length) * length - period.offset;
        truncated = truncated < period.from ? period.from : truncated;
    } else {
        int64_t midnight = first_day(trunc, floor_div(local, DAY)) * DAY;
        truncated = time_zone_to_utc(trunc->zone, midnight);
    }
    return __builtin_mul_overflow(truncated, 1000, &result) ? milliseconds : result;
}
