/*
 * test_date_expressions.c -- the operators of dates (query/expression/operators_date*.c) where the
 * recorded cases of MongoDB say little: clocks that are changed, the ends of years and of time,
 * formats, and which operand is looked at first.
 */
#include "query/util/date_unit.h"
#include "support/calls/expression_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* has_zones -- whether this system has a time zone database. */
static bool has_zones(void) {
    bool there = file_exists("/usr/share/zoneinfo/Europe/Berlin");
    if (!there)
        check_skip("this system has no time zone database");
    return there;
}

/* ---- Samples ---- */

#define DOCUMENT "{'day': {'$date': '2024-06-15T12:30:45.678Z'}, 'no': null, 'odd': 'Nowhere'}"
#define EXPECT(samples) EXPECT_EXPRESSIONS(DOCUMENT, samples)

#define DATE(text) "{'$date': '" text "'}"

static void parts(void) {
    static const expression_sample samples[] = {
        {"{'$week': " DATE("2023-01-01T00:00:00Z") "}", "1"},
        {"{'$week': " DATE("2022-01-01T00:00:00Z") "}", "0"},
        {"{'$isoWeek': " DATE("2021-01-03T23:59:59Z") "}", "53"},
        {"{'$isoWeekYear': " DATE("2021-01-03T23:59:59Z") "}", "{'$numberLong': '2020'}"},
        {"{'$isoDayOfWeek': " DATE("2021-01-03T00:00:00Z") "}", "7"},
        {"{'$dayOfWeek': " DATE("2021-01-03T00:00:00Z") "}", "1"},
        {"{'$dayOfYear': " DATE("2024-12-31T00:00:00Z") "}", "366"},
        {"{'$millisecond': {'$date': {'$numberLong': '-1'}}}", "999"},
        {"{'$second': {'$date': {'$numberLong': '-1'}}}", "59"},
        {"{'$year': {'$date': {'$numberLong': '9223372036854775807'}}}", "292278994"},
        {"{'$hour': ['$day']}", "12"},
        {"{'$hour': [{'date': '$day'}]}", NULL},
        {"{'$hour': ['$day', '$day']}", NULL},
        {"{'$hour': {}}", NULL},
        {"{'$hour': {'date': '$day', 'timezone': '+0530'}}", "18"},
        {"{'$hour': {'date': '$day', 'timezone': '+5'}}", NULL},
        {"{'$hour': {'date': '$day', 'timezone': 'Z'}}", NULL},
        {"{'$hour': {'date': '$day', 'timezone': '$no'}}", "null"},
        {"{'$hour': {'date': '$no', 'timezone': '$odd'}}", "null"},
        /* A constant zone is checked when it is compiled. */
        {"{'$hour': {'date': '$no', 'timezone': 'Nowhere'}}", NULL},
        {"{'$hour': {'date': null, 'timezone': 'Nowhere'}}", "null"},
        {"{'$dateToParts': {'date': '$day', 'iso8601': '$no'}}", "null"},
        {"{'$dateToParts': {'date': '$no', 'timezone': '$odd'}}", NULL},
        {"{'$dateToParts': {'date': '$no', 'iso8601': 1}}", NULL},
    };
    EXPECT(samples);
}

static void from_parts(void) {
    static const expression_sample samples[] = {
        {"{'$dateFromParts': {'year': 2024, 'month': 14, 'day': 0}}", DATE("2025-01-31T00:00:00Z")},
        {"{'$dateFromParts': {'year': 2024, 'month': 0, 'day': -1}}", DATE("2023-11-29T00:00:00Z")},
        {"{'$dateFromParts': {'year': 2024, 'hour': -1, 'minute': 61, 'second': -3600}}",
         DATE("2023-12-31T23:01:00Z")},
        {"{'$dateFromParts': {'year': 2024, 'millisecond': {'$numberLong': '86400001'}}}",
         DATE("2024-01-02T00:00:00.001Z")},
        {"{'$dateFromParts': {'year': 2024, 'second': {'$numberLong': '9223372036854775807'}}}",
         NULL},
        {"{'$dateFromParts': {'year': 2024, 'month': 32768}}", NULL},
        {"{'$dateFromParts': {'isoWeekYear': 2020, 'isoWeek': 54, 'isoDayOfWeek': 0}}",
         DATE("2021-01-03T00:00:00Z")},
        {"{'$dateFromParts': {'isoWeekYear': 0}}", NULL},
        {"{'$dateFromParts': {'month': 1}}", NULL},
        {"{'$dateFromParts': {'isoWeek': 1}}", NULL},
        {"{'$dateFromParts': {'year': '$no', 'hour': 1.5}}", NULL},
        {"{'$dateFromParts': {'year': 1.5, 'hour': '$no'}}", "null"},
        {"{'$dateFromParts': {'year': '$no', 'timezone': '$odd'}}", NULL},
    };
    EXPECT(samples);
}

static void arithmetic(void) {
#define ADD(date, unit, amount) \
    "{'$dateAdd': {'startDate': " DATE(date) ", 'unit': '" unit "', 'amount': " amount "}}"
#define TRUNC(date, unit, rest) \
    "{'$dateTrunc': {'date': " DATE(date) ", 'unit': '" unit "'" rest "}}"
    static const expression_sample samples[] = {
        {ADD("2024-02-29T01:02:03Z", "year", "-4"), DATE("2020-02-29T01:02:03Z")},
        {ADD("2024-08-31T01:02:03Z", "quarter", "2"), DATE("2025-02-28T01:02:03Z")},
        {ADD("2024-01-31T01:02:03Z", "month", "-11"), DATE("2023-02-28T01:02:03Z")},
        {ADD("1969-12-31T23:59:59.999Z", "millisecond", "2"), DATE("1970-01-01T00:00:00.001Z")},
        {ADD("1970-01-01T00:00:00Z", "day", "{'$numberLong': '106751991168'}"), NULL},
        {ADD("1970-01-01T00:00:00Z", "year", "{'$numberLong': '9223372036854775807'}"), NULL},
        {ADD("1970-01-01T00:00:00Z", "second", "{'$numberLong': '9223372036854775'}"),
         "{'$date': {'$numberLong': '9223372036854775000'}}"},
        {ADD("1970-01-01T00:00:00Z", "second", "{'$numberLong': '9223372036854776'}"), NULL},
        {"{'$dateAdd': {'startDate': '$no', 'unit': 'days', 'amount': 1}}", NULL},
        {"{'$dateAdd': {'startDate': '$day', 'unit': '$no', 'amount': 'x'}}", "null"},
        {"{'$dateAdd': {'startDate': 'x', 'unit': 'day', 'amount': '$no'}}", "null"},
        {"{'$dateSubtract': {'startDate': '$day', 'unit': 'day', 'amount': {'$numberLong': "
         "'-9223372036854775808'}}}",
         NULL},
        {TRUNC("2024-06-15T12:30:45Z", "hour", ", 'binSize': 7"), DATE("2024-06-15T07:00:00Z")},
        {TRUNC("1999-12-31T12:30:45Z", "day", ", 'binSize': 2"), DATE("1999-12-30T00:00:00Z")},
        {TRUNC("1999-12-31T12:30:45Z", "week", ", 'binSize': 2"), DATE("1999-12-19T00:00:00Z")},
        {TRUNC("2000-01-02T00:00:00Z", "week", ", 'binSize': 2"), DATE("2000-01-02T00:00:00Z")},
        {TRUNC("1999-12-31T12:30:45Z", "quarter", ", 'binSize': 3"), DATE("1999-04-01T00:00:00Z")},
        {TRUNC("2024-06-15T12:30:45Z", "year", ", 'binSize': 100"), DATE("2000-01-01T00:00:00Z")},
        {TRUNC("1999-06-15T12:30:45Z", "year", ", 'binSize': {'$numberLong': '100000000000'}"),
         NULL},
        {TRUNC("2024-06-15T12:30:45Z", "millisecond", ", 'binSize': 1000"),
         DATE("2024-06-15T12:30:45Z")},
        {"{'$dateTrunc': {'date': '$day', 'unit': 'day', 'startOfWeek': 'x'}}",
         DATE("2024-06-15T00:00:00Z")},
        {"{'$dateTrunc': {'date': '$no', 'unit': 'week', 'startOfWeek': 'x'}}", NULL},
        {"{'$dateTrunc': {'date': '$no', 'unit': 'day', 'binSize': 0}}", NULL},
        {"{'$dateDiff': {'startDate': " DATE("2024-06-15T23:59:59.999Z") ", 'endDate': " DATE(
             "2024-06-16T00:00:00Z") ", 'unit': 'week'}}",
         "{'$numberLong': '1'}"},
        {"{'$dateDiff': {'startDate': " DATE("2024-06-16T00:00:00Z") ", 'endDate': " DATE(
             "2024-06-15T23:59:59.999Z") ", 'unit': 'minute'}}",
         "{'$numberLong': '-1'}"},
        {"{'$dateDiff': {'startDate': {'$date': {'$numberLong': '-9223372036854775808'}}, "
         "'endDate': '$day', 'unit': 'millisecond'}}",
         NULL},
    };
    EXPECT(samples);
}

static void changed_clocks(void) {
#define NEW_YORK ", 'timezone': 'America/New_York'}}"
    static const expression_sample samples[] = {
        /* 02:30 is not there; 01:30 is there twice. */
        {"{'$dateFromParts': {'year': 2021, 'month': 3, 'day': 14, 'hour': 2, 'minute': "
         "30" NEW_YORK,
         DATE("2021-03-14T07:30:00Z")},
        {"{'$dateFromParts': {'year': 2021, 'month': 11, 'day': 7, 'hour': 1, 'minute': "
         "30" NEW_YORK,
         DATE("2021-11-07T06:30:00Z")},
        /* It stays in daylight saving time, or out of it. */
        {"{'$dateAdd': {'startDate': " DATE("2021-11-06T05:30:00Z") ", 'unit': 'day', 'amount': "
                                                                    "1" NEW_YORK,
         DATE("2021-11-07T05:30:00Z")},
        {"{'$dateAdd': {'startDate': " DATE("2021-11-08T06:30:00Z") ", 'unit': 'day', 'amount': "
                                                                    "-1" NEW_YORK,
         DATE("2021-11-07T06:30:00Z")},
        {"{'$dateDiff': {'startDate': " DATE("2021-11-07T04:00:00Z") ", 'endDate': " DATE(
             "2021-11-08T05:00:00Z") ", 'unit': 'hour'" NEW_YORK,
         "{'$numberLong': '25'}"},
        {"{'$dateDiff': {'startDate': " DATE("2021-11-07T04:00:00Z") ", 'endDate': " DATE(
             "2021-11-08T05:00:00Z") ", 'unit': 'day'" NEW_YORK,
         "{'$numberLong': '1'}"},
        {"{'$dateTrunc': {'date': " DATE("2021-07-01T05:30:00Z") ", 'unit': 'hour', 'binSize': "
                                                                 "2" NEW_YORK,
         DATE("2021-07-01T05:00:00Z")},
        {"{'$dateToString': {'date': " DATE("2021-07-01T05:30:00Z") NEW_YORK,
         "'2021-07-01T01:30:00.000'"},
        {"{'$dateToString': {'date': '$day', 'timezone': '+00:00'}}", "'2024-06-15T12:30:45.678Z'"},
        {"{'$dateToString': {'date': '$day', 'timezone': 'GMT'}}", "'2024-06-15T12:30:45.678'"},
        {"{'$dateFromString': {'dateString': '2021-07-01T05:30:00Z'" NEW_YORK, NULL},
        {"{'$dateFromString': {'dateString': '2021-07-01T05:30:00'" NEW_YORK,
         DATE("2021-07-01T09:30:00Z")},
    };
    if (has_zones())
        EXPECT(samples);
}

static void formats(void) {
#define WRITE(format) "{'$dateToString': {'date': '$day', 'format': '" format "'}}"
#define READ(text, format) "{'$dateFromString': {'dateString': '" text "', 'format': '" format "'}}"
    static const expression_sample samples[] = {
        {WRITE("%G-W%V-%u %w %U %j %b %B %L %z %Z %%"),
         "'2024-W24-6 7 23 167 Jun June 678 +0000 0 %'"},
        {WRITE("100%"), NULL},
        {WRITE("%y"), NULL},
        {"{'$dateToString': {'date': '$day', 'format': '%z %Z', 'timezone': '-99:99'}}",
         "'-10039 -6039'"},
        {"{'$dateToString': {'date': '$no', 'format': '%y'}}", NULL},
        {"{'$dateToString': {'date': '$no', 'format': '$no', 'onNull': 1}}", "1"},
        {"{'$dateToString': {'date': {'$date': {'$numberLong': '-62167219200001'}}, 'format': "
         "'%Y'}}",
         NULL},
        {"{'$dateToString': {'date': {'$date': {'$numberLong': '-62167219200000'}}, 'format': "
         "'%Y'}}",
         "'0000'"},
        {READ("5/7/24", "%d/%m/%Y"), DATE("0024-07-05T00:00:00Z")},
        {READ("2024-6-5 1:02", "%Y-%m-%d %H:%M"), DATE("2024-06-05T01:02:00Z")},
        {READ("2024-6-5 1:2", "%Y-%m-%d %H:%M"), NULL},
        {READ("2024-06-31", "%Y-%m-%d"), NULL},
        {READ("2024-02-29 24:00", "%Y-%m-%d %H:%M"), NULL},
        {READ("2024-06", "%Y-%m"), NULL},
        {READ("2024-06-05x", "%Y-%m-%d"), NULL},
        {READ("2024-06-05", "%Y-%m-%d%H"), NULL},
        {READ("2024-06-05 .5", "%Y-%m-%d .%L"), DATE("2024-06-05T00:00:00.500Z")},
        {READ("1992 % 04 % 26", "%Y %% %m %% %d"), DATE("1992-04-26T00:00:00Z")},
        {READ("jUNE 5 2024", "%B %d %Y"), DATE("2024-06-05T00:00:00Z")},
        {READ("Sept 5 2024", "%b %d %Y"), DATE("2024-09-05T00:00:00Z")},
        {READ("Junes 5 2024", "%b %d %Y"), NULL},
        {READ("2024 0", "%Y %j"), DATE("2024-01-01T00:00:00Z")},
        {READ("2024 366", "%Y %j"), DATE("2025-01-01T00:00:00Z")},
        {READ("2007-01-11", "%Y-%j-%m"), DATE("2007-11-02T00:00:00Z")},
        {READ("1 2024", "%j %Y"), NULL},
        {READ("53.7.2017", "%V.%u.%G"), DATE("2018-01-07T00:00:00Z")},
        {READ("2017, Day 5", "%G, Day %u"), DATE("2017-01-06T00:00:00Z")},
        {READ("2017, Week 54", "%G, Week %V"), NULL},
        {READ("ISO Week 52", "ISO Week %V"), NULL},
        {READ("12/31/2018", "%m/%d/%G"), NULL},
        {READ("4/26/1992:+0445", "%m/%d/%Y:%z"), DATE("1992-04-25T19:15:00Z")},
        {READ("4/26/1992:-4:45", "%m/%d/%Y:%z"), DATE("1992-04-26T04:45:00Z")},
        {READ("4/26/1992:GMT-1", "%m/%d/%Y:%z"), DATE("1992-04-26T01:00:00Z")},
        {READ("4/26/1992:PDT", "%m/%d/%Y:%z"), DATE("1992-04-26T07:00:00Z")},
        {READ("4/26/1992:Europe/Rome", "%m/%d/%Y:%z"), NULL},
        {READ("4/26/1992:285", "%m/%d/%Y:%Z"), NULL},
        {READ("4/26/1992", "%w"), NULL},
        {"{'$dateFromString': {'dateString': '$no', 'format': '%w'}}", NULL},
        {"{'$dateFromString': {'dateString': 5, 'timezone': '$no', 'onError': 'e'}}", "'e'"},
        {"{'$dateFromString': {'dateString': 'x', 'timezone': '$no', 'onError': 'e'}}", "null"},
        {"{'$dateFromString': {'dateString': 'x', 'timezone': '$odd', 'onError': 'e'}}", NULL},
    };
    EXPECT(samples);
}

/* ---- Random dates ---- */

static const char *const zone_names[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                         "Pacific/Apia",  "Asia/Kathmandu",   "America/Havana"};

/* A date in any of the zones, and what the C library's clock shows. */
static void local_times_are_those_of_the_clock(void) {
    random_source r = random_start(1);
    for (size_t z = 0; has_zones() && z < sizeof zone_names / sizeof *zone_names; z++) {
        time_zone *zone;
        tansu_error error;
        REQUIRE(CHECK_OK(time_zone_open(zone_names[z], "", &zone, &error), &error));
        setenv("TZ", zone_names[z], 1);
        tzset();
        for (int i = 0; i < 1000; i++) {
            time_t seconds = (time_t)random_below(&r, 130u * 31556952u) - 31556952 * (time_t)40;
            struct tm tm;
            REQUIRE(localtime_r(&seconds, &tm) != NULL);
            local_time t = local_time_of(zone, (int64_t)seconds * 1000 + 7);
            CHECK_INT(tm.tm_year + 1900, t.date.year);
            CHECK_INT(tm.tm_mon + 1, t.date.month);
            CHECK_INT(tm.tm_mday, t.date.day);
            CHECK_INT(tm.tm_wday, local_weekday(t.days));
            CHECK_INT(((tm.tm_hour * 60 + tm.tm_min) * 60 + tm.tm_sec) * 1000 + 7, t.milliseconds);
            char week[20];
            strftime(week, sizeof week, "%G %V %u", &tm);
            iso_day iso = iso_day_of(t.days);
            char ours[40];
            snprintf(ours, sizeof ours, "%lld %02d %d", (long long)iso.year, iso.week, iso.weekday);
            CHECK_TEXT(week, ours);
            /* And back: clocks that show a time twice are told apart by the offset. */
            int64_t back;
            CHECK(local_time_date(zone, t.days, t.milliseconds, t.offset, &back));
            CHECK_INT((int64_t)seconds * 1000 + 7, back);
            CHECK_INT(t.days, iso_day_days(iso.year, iso.week, iso.weekday));
        }
        unsetenv("TZ");
        time_zone_free(zone);
    }
}

/* More zones than stay open, and names that are none. */
static void zones_stay_open(void) {
    static time_zone_cache cache;
    const time_zone *zone;
    tansu_error error;
    char name[200];
    for (int i = 0; i < 200; i++) {
        int hours = i * 7 % (TIME_ZONES_OPEN + 3);
        snprintf(name, sizeof name, "+%02d", hours);
        REQUIRE(CHECK_OK(time_zone_cache_open(&cache, name, 3, "", &zone, &error), &error));
        CHECK_INT(hours * 3600, time_zone_at(zone, 0).offset);
        CHECK_INT(hours == 0, time_zone_is_utc(zone));
    }
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 time_zone_cache_open(&cache, "UTC\0", 4, "", &zone, &error));
    memset(name, 'x', sizeof name);
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 time_zone_cache_open(&cache, name, sizeof name, "", &zone, &error));
    time_zone_cache_free(&cache);
}

/* Adding a difference leads to the same unit. */
static void sums_and_differences_fit(void) {
    random_source r = random_start(2);
    for (int i = 0; i < 5000; i++) {
        int64_t a = (int64_t)random_below(&r, UINT64_C(1) << 43) - (INT64_C(1) << 42);
        int64_t b = (int64_t)random_below(&r, UINT64_C(1) << 43) - (INT64_C(1) << 42);
        date_unit unit = (date_unit)random_below(&r, DATE_MILLISECOND + 1);
        int weekday = (int)random_below(&r, 7);
        int64_t count, sum, begin, end, size = 1 + (int64_t)random_below(&r, 20);
        REQUIRE(date_difference(NULL, a, b, unit, weekday, &count));
        REQUIRE(date_add(NULL, a, unit, count, &sum));
        REQUIRE(date_truncate(NULL, sum, unit, 1, weekday, &begin));
        REQUIRE(date_truncate(NULL, b, unit, 1, weekday, &end));
        CHECK_INT(end, begin);
        REQUIRE(date_truncate(NULL, b, unit, size, weekday, &begin));
        REQUIRE(date_add(NULL, begin, unit, size, &end));
        CHECK(begin <= b && b < end);
    }
}

int main(void) {
    RUN(parts);
    RUN(from_parts);
    RUN(arithmetic);
    RUN(changed_clocks);
    RUN(formats);
    RUN(local_times_are_those_of_the_clock);
    RUN(zones_stay_open);
    RUN(sums_and_differences_fit);
    return check_finish();
}
