/*
 * query/util/date_unit.c -- calculating with dates by the calendar. The rules are those of MongoDB:
 * hours and less are lengths of time, days and more are units of the calendar of a time zone.
 */
#include "query/util/date_unit.h"

#include <string.h>

#define DAY_SECONDS 86400
#define DAY_MILLISECONDS 86400000

/* 2000-01-01, from which bins are counted: in days, and its weekday. */
#define BINS_FROM 10957
#define BINS_WEEKDAY 6

/* More days than lie between two dates, and more months. */
#define DAYS_MAX INT64_C(213503982335)
#define MONTHS_MAX ((DAYS_MAX / 365 + 1) * 12)

/* The most units of a day or more in a bin. */
#define BIN_MAX INT64_C(100000000000)

/* ---- Names ---- */

bool date_unit_read(const doc_value *value, date_unit *unit) {
    static const char *const names[] = {"year", "quarter", "month",  "week",       "day",
                                        "hour", "minute",  "second", "millisecond"};
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *text = doc_string(value, &size);
    for (int i = DATE_YEAR; i <= DATE_MILLISECOND; i++) {
        *unit = (date_unit)i;
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0)
            return true;
    }
    return false;
}

bool date_weekday_read(const doc_value *value, int *weekday) {
    static const char *const names[] = {"sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday"};
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *text = doc_string(value, &size);
    for (*weekday = 0; *weekday < 7; ++*weekday) {
        const char *name = names[*weekday];
        size_t i = 0;
        while (i < size && name[i] && (text[i] == name[i] || text[i] == name[i] - 'a' + 'A'))
            i++;
        if (i == size && (i == 3 || name[i] == '\0'))
            return true;
    }
    return false;
}

/* ---- Local time ---- */

local_time local_time_of(const time_zone *zone, int64_t date) {
    local_time t = {.offset = 0};
    int64_t seconds = date_floor(date, 1000);
    if (zone)
        t.offset = time_zone_at(zone, seconds).offset;
    t.days = date_floor(seconds + t.offset, DAY_SECONDS);
    t.milliseconds =
        (int)(date_rest(seconds + t.offset, DAY_SECONDS) * 1000 + date_rest(date, 1000));
    t.date = calendar_date_of(t.days);
    return t;
}

bool local_time_date(const time_zone *zone, int64_t days, int64_t milliseconds, int64_t preferred,
                     int64_t *date) {
    int64_t seconds;
    days += date_floor(milliseconds, DAY_MILLISECONDS);
    milliseconds = date_rest(milliseconds, DAY_MILLISECONDS);
    if (__builtin_mul_overflow(days, DAY_SECONDS, &seconds))
        return false;
    seconds += milliseconds / 1000;
    /* Beyond these there is no date, whatever the zone is. */
    if (seconds > INT64_MAX / 500 || seconds < INT64_MIN / 500)
        return false;
    if (zone)
        seconds = time_zone_from_local(zone, seconds, preferred);
    return !__builtin_mul_overflow(seconds, 1000, date) &&
           !__builtin_add_overflow(*date, milliseconds % 1000, date);
}

iso_day iso_day_of(int64_t days) {
    int weekday = (int)date_rest(days + 3, 7) + 1;
    /* A week belongs to the year of its Thursday. */
    int64_t thursday = days - weekday + 4, year = calendar_date_of(thursday).year;
    return (iso_day){year, (int)((thursday - calendar_days(year, 1, 1)) / 7) + 1, weekday};
}

int64_t iso_day_days(int64_t year, int64_t week, int64_t weekday) {
    int64_t fourth = calendar_days(year, 1, 4); /* is in the first week */
    return fourth - date_rest(fourth + 3, 7) + (week - 1) * 7 + weekday - 1;
}

/* ---- Units ---- */

/* months_of -- the months in a year, a quarter or a month. */
static int months_of(date_unit unit) {
    return unit == DATE_YEAR ? 12 : unit == DATE_QUARTER ? 3 : 1;
}

/* milliseconds_of -- the length of an hour or less. */
static int64_t milliseconds_of(date_unit unit) {
    return unit == DATE_HOUR     ? 3600000
           : unit == DATE_MINUTE ? 60000
           : unit == DATE_SECOND ? 1000
                                 : 1;
}

/* month_of -- the months since the year 0. */
static int64_t month_of(calendar_date date) {
    return date.year * 12 + date.month - 1;
}

/* days_of -- the days since 1970 of a day of a month since the year 0, or of its last day. */
static int64_t days_of(int64_t month, int day) {
    int64_t first = calendar_days(date_floor(month, 12), (int)date_rest(month, 12) + 1, 1);
    month++;
    int64_t next = calendar_days(date_floor(month, 12), (int)date_rest(month, 12) + 1, 1);
    return first + day - 1 < next ? first + day - 1 : next - 1;
}

/* add_days -- the day after a number of units of a day or more; false when they are too many. */
static bool add_days(calendar_date date, int64_t days, date_unit unit, int64_t amount,
                     int64_t *result) {
    int length = unit == DATE_WEEK ? 7 : unit == DATE_DAY ? 1 : months_of(unit);
    bool by_days = unit == DATE_WEEK || unit == DATE_DAY;
    int64_t most = (by_days ? DAYS_MAX : MONTHS_MAX) / length;
    if (amount <= -most || amount >= most)
        return false;
    *result =
        by_days ? days + amount * length : days_of(month_of(date) + amount * length, date.day);
    return true;
}

bool date_add(const time_zone *zone, int64_t date, date_unit unit, int64_t amount,
              int64_t *result) {
    if (unit < DATE_HOUR) {
        local_time t = local_time_of(zone, date);
        int64_t days;
        return add_days(t.date, t.days, unit, amount, &days) &&
               local_time_date(zone, days, t.milliseconds, t.offset, result);
    }
    if (unit == DATE_MILLISECOND)
        return !__builtin_add_overflow(date, amount, result);
    /* In seconds, more fit than in milliseconds. */
    int64_t seconds;
    return !__builtin_mul_overflow(amount, milliseconds_of(unit) / 1000, &seconds) &&
           !__builtin_add_overflow(seconds, date_floor(date, 1000), &seconds) &&
           !__builtin_mul_overflow(seconds, 1000, result) &&
           !__builtin_add_overflow(*result, date_rest(date, 1000), result);
}

/* weeks_between -- how often a week begins between two days. */
static int64_t weeks_between(int64_t from, int64_t to, int weekday) {
    int64_t first = from - date_rest(local_weekday(from) - weekday, 7);
    int64_t last = to - date_rest(local_weekday(to) - weekday, 7);
    return (last - first) / 7;
}

bool date_difference(const time_zone *zone, int64_t from, int64_t to, date_unit unit, int weekday,
                     int64_t *result) {
    if (unit == DATE_MILLISECOND)
        return !__builtin_sub_overflow(to, from, result);
    local_time a = local_time_of(zone, from), b = local_time_of(zone, to);
    int length = (int)milliseconds_of(unit);
    switch (unit) {
    case DATE_YEAR: *result = b.date.year - a.date.year; break;
    case DATE_QUARTER:
    case DATE_MONTH:
        *result = date_floor(month_of(b.date), months_of(unit)) -
                  date_floor(month_of(a.date), months_of(unit));
        break;
    case DATE_WEEK: *result = weeks_between(a.days, b.days, weekday); break;
    case DATE_DAY: *result = b.days - a.days; break;
    default:
        /* Those that begin on the clock, without what the clock was changed by. */
        *result = (b.days - a.days) * (DAY_MILLISECONDS / length) + b.milliseconds / length -
                  a.milliseconds / length + (a.offset - b.offset) * 1000 / length;
    }
    return true;
}

/* truncate_time -- date_truncate() to an hour or less: bins are lengths of time since the beginning
 * of 2000 in the zone. */
static bool truncate_time(const time_zone *zone, int64_t date, date_unit unit, int64_t size,
                          int64_t *result) {
    int64_t from = (int64_t)BINS_FROM * DAY_SECONDS, since;
    if (zone)
        from -= time_zone_at(zone, from).offset;
    return !__builtin_mul_overflow(size, milliseconds_of(unit), &size) &&
           !__builtin_sub_overflow(date, from * 1000, &since) &&
           !__builtin_sub_overflow(date, date_rest(since, size), result);
}

bool date_truncate(const time_zone *zone, int64_t date, date_unit unit, int64_t size, int weekday,
                   int64_t *result) {
    if (unit >= DATE_HOUR)
        return truncate_time(zone, date, unit, size, result);
    if (size > BIN_MAX)
        return false;
    local_time t = local_time_of(zone, date);
    int64_t from = BINS_FROM, count, days, seconds;
    if (unit == DATE_WEEK) {
        from += date_rest(weekday - BINS_WEEKDAY, 7);
        count = date_floor(t.days - from, 7);
    } else if (unit == DATE_DAY) {
        count = t.days - from;
    } else {
        count = date_floor(month_of(t.date) - INT64_C(2000) * 12, months_of(unit));
    }
    if (!add_days((calendar_date){2000, 1, 1}, from, unit, count - date_rest(count, size), &days) ||
        __builtin_mul_overflow(days, DAY_SECONDS, &seconds) || seconds > INT64_MAX / 500 ||
        seconds < INT64_MIN / 500)
        return false;
    /* At the first midnight of the day. */
    if (zone)
        seconds = time_zone_to_utc(zone, seconds);
    return !__builtin_mul_overflow(seconds, 1000, result);
}
