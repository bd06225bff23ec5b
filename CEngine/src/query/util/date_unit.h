/*
 * query/util/date_unit.h -- calculating with dates by the calendar, in a time zone: the local time
 * of a date, adding units of time, counting them between dates, and the beginning of units.
 *
 * Dates are milliseconds since 1970. A zone that is NULL is UTC.
 */
#ifndef TANSU_QUERY_UTIL_DATE_UNIT_H
#define TANSU_QUERY_UTIL_DATE_UNIT_H

#include "bson/calendar.h"
#include "bson/document.h"
#include "query/util/time_zone.h"

typedef enum date_unit {
    DATE_YEAR,
    DATE_QUARTER,
    DATE_MONTH,
    DATE_WEEK,
    DATE_DAY,
    DATE_HOUR,
    DATE_MINUTE,
    DATE_SECOND,
    DATE_MILLISECOND
} date_unit;

/* date_unit_read -- the unit of a name, such as "year"; false when the value is none. */
bool date_unit_read(const doc_value *value, date_unit *unit);

/* date_weekday_read -- the day of a name, such as "monday", "MON" or "Mon": 0 is Sunday; false when
 * the value is none. */
bool date_weekday_read(const doc_value *value, int *weekday);

/* date_floor -- the quotient of a number and a positive one, rounded down. */
static inline int64_t date_floor(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* date_rest -- what date_floor() leaves: 0 to b - 1. */
static inline int64_t date_rest(int64_t a, int64_t b) {
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* ---- Local time ---- */

/* What clocks and calendars show. */
typedef struct local_time {
    int64_t offset;   /* seconds east of UTC */
    int64_t days;     /* since 1970-01-01 */
    int milliseconds; /* since midnight */
    calendar_date date;
} local_time;

/* local_time_of -- the local time at a date. */
local_time local_time_of(const time_zone *zone, int64_t date);

/* local_time_date -- the date of a local time: days since 1970, and milliseconds since midnight,
 * which may be more or less than a day has. `preferred` as of time_zone_from_local(), or NO_OFFSET.
 * False when it does not fit into 64 bits. */
bool local_time_date(const time_zone *zone, int64_t days, int64_t milliseconds, int64_t preferred,
                     int64_t *date);

/* local_weekday -- of a day since 1970: 0 is Sunday. */
static inline int local_weekday(int64_t days) {
    return (int)date_rest(days + 4, 7); /* 1970-01-01 was a Thursday */
}

/* A day by ISO 8601. */
typedef struct iso_day {
    int64_t year;
    int week;    /* 1 to 53 */
    int weekday; /* 1 to 7: Monday to Sunday */
} iso_day;

/* iso_day_of -- of a day since 1970. */
iso_day iso_day_of(int64_t days);

/* iso_day_days -- the days since 1970; weeks and weekdays may lie outside the year. */
int64_t iso_day_days(int64_t year, int64_t week, int64_t weekday);

/* ---- Units ---- */

/* date_add -- adds a number of units, which may be negative. Units of a day or more keep the local
 * time, and a day that the month does not have becomes its last one. False when the result does not
 * fit into 64 bits. */
bool date_add(const time_zone *zone, int64_t date, date_unit unit, int64_t amount, int64_t *result);

/* date_difference -- how many units begin between two dates; negative when the second one is the
 * earlier. `weekday` is the first day of weeks. False when it does not fit into 64 bits. */
bool date_difference(const time_zone *zone, int64_t from, int64_t to, date_unit unit, int weekday,
                     int64_t *result);

/* date_truncate -- the beginning of the bin of `size` units in which a date lies; one bin begins in
 * 2000: at its beginning, or on its first day that begins a week. `weekday` is the first day of
 * weeks, size is positive. False when the result does not fit into 64 bits, or the size is beyond
 * what is calculated. */
bool date_truncate(const time_zone *zone, int64_t date, date_unit unit, int64_t size, int weekday,
                   int64_t *result);

#endif
