/*
 * test_date_trunc.c -- $dateTrunc in "by": time zones and truncated dates against those of the C
 * library, groups through the public calls, and files that are no time zone.
 */
#include "bson/document.h"
#include "query/util/date_trunc.h"
#include "query/util/time_zone.h"
#include "support/calls/aggregate_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TIMES 3000

/* Changes of an hour and of half one, at midnight and at other times, before and after UTC, in
 * either half of the year, of a whole day, and none. */
static const char *const zones[] = {"Europe/Berlin",    "America/New_York",  "America/Sao_Paulo",
                                    "America/Havana",   "Asia/Kathmandu",    "Australia/Lord_Howe",
                                    "Pacific/Apia",     "Africa/Casablanca", "America/Nuuk",
                                    "Asia/Gaza",        "Europe/Dublin",     "Pacific/Chatham",
                                    "Asia/Tehran",      "America/St_Johns",  "Antarctica/Troll",
                                    "America/Asuncion", "Pacific/Kwajalein", "Etc/GMT+12"};
#define ZONES (sizeof zones / sizeof *zones)

/* has_zones -- whether this system has a time zone database. */
static bool has_zones(void) {
    bool there = file_exists("/usr/share/zoneinfo/Europe/Berlin");
    if (!there)
        check_skip("this system has no time zone database");
    return there;
}

/* local_time -- what the C library's clock of the zone in TZ shows. */
static struct tm local_time(int64_t seconds) {
    time_t t = (time_t)seconds;
    struct tm result;
    REQUIRE(localtime_r(&t, &result) != NULL);
    return result;
}

/* a_time -- seconds of 1905 to 2100. */
static int64_t a_time(random_source *r) {
    return (int64_t)random_below(r, 195u * 31556952u) - INT64_C(65) * 31556952;
}

/* trunc_of -- a truncation to a unit in a zone. */
static date_trunc *trunc_of(const char *unit, const char *zone, const char *week) {
    char json[200];
    doc_value path;
    date_trunc *trunc = NULL;
    tansu_error error;
    snprintf(json, sizeof json,
             "{'date': 'd', 'unit': '%s', 'timezone': '%s', 'startOfWeek': '%s'}", unit, zone,
             week);
    bson_t *bson = bson_from_text(json);
    doc_value value = {bson_get_data(bson), bson->len, DOC_DOCUMENT};
    REQUIRE(CHECK_OK(date_trunc_parse(&value, "group.by", &trunc, &path, &error), &error));
    bson_destroy(bson);
    return trunc;
}

/* unit_of -- a number for the unit of time that the clock shows; greater in a later one. */
static int64_t unit_of(const char *unit, const struct tm *t) {
    int64_t month = (int64_t)t->tm_year * 12 + t->tm_mon;
    int64_t day = (int64_t)t->tm_year * 366 + t->tm_yday;
    if (strcmp(unit, "year") == 0)
        return t->tm_year;
    if (strcmp(unit, "quarter") == 0)
        return month / 3;
    if (strcmp(unit, "month") == 0)
        return month;
    if (strcmp(unit, "hour") == 0)
        return day * 24 + t->tm_hour;
    if (strcmp(unit, "minute") == 0)
        return (day * 24 + t->tm_hour) * 60 + t->tm_min;
    return day;
}

static void offsets_are_those_of_the_c_library(void) {
    random_source r = random_start(__LINE__);
    for (size_t z = 0; z < ZONES && has_zones(); z++) {
        time_zone *zone;
        tansu_error error;
        setenv("TZ", zones[z], 1);
        tzset();
        REQUIRE(CHECK_OK(time_zone_open(zones[z], "", &zone, &error), &error));
        for (int i = 0; i < TIMES; i++) {
            int64_t seconds = a_time(&r);
            zone_period period = time_zone_at(zone, seconds);
            CHECK_INT(local_time(seconds).tm_gmtoff, period.offset);
            if (period.from != INT64_MIN && period.from > INT64_C(-2208988800)) {
                CHECK(period.from <= seconds);
                CHECK_INT(local_time(period.from).tm_gmtoff, period.offset);
            }
        }
        time_zone_free(zone);
    }
}

/* check_unit -- truncated times are the first ones of their unit on the zone's clock. */
static void check_unit(random_source *r, const char *zone, const char *unit) {
    bool short_unit = strcmp(unit, "hour") == 0 || strcmp(unit, "minute") == 0;
    date_trunc *trunc = trunc_of(unit, zone, "sunday");
    for (int i = 0; i < TIMES / 10; i++) {
        int64_t seconds = a_time(r), begin = date_trunc_apply(trunc, seconds * 1000) / 1000;
        struct tm at = local_time(seconds), first = local_time(begin),
                  before = local_time(begin - 1);
        CHECK(begin <= seconds);
        CHECK_INT(unit_of(unit, &at), unit_of(unit, &first));
        if (!short_unit || first.tm_gmtoff == before.tm_gmtoff)
            CHECK(unit_of(unit, &before) < unit_of(unit, &first));
        CHECK_INT(begin * 1000, date_trunc_apply(trunc, begin * 1000));
    }
    date_trunc_free(trunc);
}

static void units_begin_where_the_clock_says(void) {
    static const char *const units[] = {"year", "quarter", "month", "day", "hour", "minute"};
    random_source r = random_start(__LINE__);
    for (size_t z = 0; z < ZONES && has_zones(); z++) {
        setenv("TZ", zones[z], 1);
        tzset();
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            check_unit(&r, zones[z], units[u]);
    }
    unsetenv("TZ");
}

static void weeks_begin_on_the_day_asked_for(void) {
    static const char *const days[] = {"sunday",   "monday", "tuesday", "wednesday",
                                       "thursday", "friday", "saturday"};
    random_source r = random_start(__LINE__);
    for (int d = 0; d < 7; d++) {
        date_trunc *trunc = trunc_of("week", "+05:30", days[d]);
        for (int i = 0; i < TIMES; i++) {
            int64_t seconds = a_time(&r), begin = date_trunc_apply(trunc, seconds * 1000) / 1000;
            time_t local = (time_t)(begin + 19800);
            struct tm at;
            REQUIRE(gmtime_r(&local, &at) != NULL);
            CHECK_INT(d, at.tm_wday);
            CHECK_INT(0, at.tm_hour * 60 + at.tm_min);
            CHECK(begin <= seconds && seconds - begin < 7 * 86400);
        }
        date_trunc_free(trunc);
    }
}

static void the_whole_range_of_dates(void) {
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    static const char *const units[] = {"year", "quarter", "month",  "week",
                                        "day",  "hour",    "minute", "second"};
    for (size_t u = 0; u < 8; u++) {
        for (int zone = 0; zone < 2; zone++) {
            date_trunc *trunc =
                trunc_of(units[u], zone && has_zones() ? "America/Havana" : "-23:59", "friday");
            for (size_t i = 0; i < sizeof times / sizeof *times; i++)
                CHECK(date_trunc_apply(trunc, times[i]) <= times[i]);
            date_trunc_free(trunc);
        }
    }
}

#define ANSWER(expected, group, hints) CHECK_TEXT(expected, aggregate_text(db, NULL, group, hints))

static void groups_by_month(void) {
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id': 1, 'c': 'x', 'd': {'$date': '2026-03-31T21:59:59Z'}}");
    save_text(db, "{'_id': 2, 'c': 'x', 'd': {'$date': '2026-03-31T22:00:00Z'}}");
    save_text(db, "{'_id': 3, 'c': 'y', 'd': {'$date': '2026-04-30T21:00:00.999Z'}}");
    save_text(db, "{'_id': 4, 'd': '2026-04-30'}");
    save_text(db, "{'_id': 5}");
    create_index(db, "by_d", "{'d': 1}", NULL);
    const char *berlin = "{'by': {'m': {'$dateTrunc': {'date': 'd', 'unit': 'month', 'timezone': "
                         "'Europe/Berlin'}}}, 'fields': {'n': {'$count': true}}}";
    if (has_zones())
        ANSWER("{ \"groups\" : [ { \"m\" : null, \"n\" : 2 }, { \"m\" : { \"$date\" : "
               "\"2026-02-28T23:00:00Z\" }, \"n\" : 1 }, { \"m\" : { \"$date\" : "
               "\"2026-03-31T22:00:00Z\" }, \"n\" : 2 } ] }",
               berlin, NULL);
    ANSWER("{ \"groups\" : [ { \"m\" : { \"$date\" : \"2026-04-01T00:00:00Z\" }, \"c\" : \"y\", "
           "\"n\" : 1 }, { \"m\" : { \"$date\" : \"2026-03-01T00:00:00Z\" }, \"c\" : \"x\", \"n\" "
           ": 2 } ] }",
           "{'by': {'m': {'$dateTrunc': {'date': 'd', 'unit': 'month'}}, 'c': 'c'}, 'fields': "
           "{'n': {'$count': true}}}",
           "{'$orderby': {'m': -1}, '$max': 2}");
    ANSWER("{ \"groups\" : [ { \"d\" : null }, { \"d\" : { \"$date\" : \"2026-01-01T00:00:00Z\" } "
           "} ] }",
           "{'by': [{'$dateTrunc': {'date': 'd', 'unit': 'year', 'timezone': 'UTC'}}]}", NULL);
    memory_db_close(db);
}

static void mistakes_are_named(void) {
    tansu_db *db = memory_db_open();
#define BAD(context, trunc) \
    ANSWER("INVALID_QUERY " context, "{'by': {'m': {'$dateTrunc': " trunc "}}}", NULL)
    BAD("group.by.m.$dateTrunc", "'d'");
    BAD("group.by.m.$dateTrunc", "{'date': 'd'}");
    BAD("group.by.m.$dateTrunc.unit", "{'date': 'd', 'unit': 'decade'}");
    BAD("group.by.m.$dateTrunc.date", "{'date': 1, 'unit': 'day'}");
    BAD("group.by.m.$dateTrunc.x", "{'date': 'd', 'unit': 'day', 'x': 1}");
    BAD("group.by.m.$dateTrunc.startOfWeek", "{'date': 'd', 'unit': 'day', 'startOfWeek': 'mo'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': 'Mars/Base'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': '../passwd'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': '/etc/utc'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': '+2:00'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': '+024'}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': 5}");
    BAD("group.by.m.$dateTrunc.timezone", "{'date': 'd', 'unit': 'day', 'timezone': 'Europe'}");
    ANSWER("INVALID_QUERY group.by.m", "{'by': {'m': {'$dateTrunc': {}, 'x': 1}}}", NULL);
    ANSWER("INVALID_QUERY group.by.m", "{'by': {'m': {'$year': 'd'}}}", NULL);
    ANSWER("INVALID_QUERY group.by.$dateTrunc", "{'by': {'$dateTrunc': {'date': 'd'}}}", NULL);
    /* What was parsed before is freed. */
    ANSWER("INVALID_QUERY group.by.n",
           "{'by': {'m': {'$dateTrunc': {'date': 'd', 'unit': 'day'}}, 'n': 1}}", NULL);
    ANSWER("INVALID_QUERY group.by.$m",
           "{'by': {'$m': {'$dateTrunc': {'date': 'd', 'unit': 'day'}}}}", NULL);
    memory_db_close(db);
}

/* try_file -- opens a zone of these bytes, whatever they are, and uses it; whether it is one. */
static bool try_file(const char *path, const tansu_buffer *bytes) {
    time_zone *zone;
    tansu_error error;
    file_write(path, bytes->data, bytes->size);
    if (time_zone_open("Zone", "", &zone, &error) != TANSU_OK)
        return false;
    for (int64_t t = -5000000000; t < 10000000000; t += 400000000)
        (void)time_zone_to_utc(zone, t);
    time_zone_free(zone);
    return true;
}

static void any_file_may_be_there(void) {
    if (!has_zones())
        return;
    random_source r = random_start(__LINE__);
    char *folder = folder_new();
    char path[400];
    tansu_buffer bytes = TANSU_BUFFER_INIT, changed = TANSU_BUFFER_INIT;
    snprintf(path, sizeof path, "%s", folder_join(folder, "Zone"));
    file_read("/usr/share/zoneinfo/Europe/Berlin", &bytes);
    setenv("TZDIR", folder, 1);
    for (size_t size = 0; size < bytes.size; size += 1 + size / 40) {
        const tansu_buffer cut = {.data = bytes.data, .size = size};
        CHECK(!try_file(path, &cut));
    }
    CHECK(try_file(path, &bytes));
    for (int i = 0; i < 2000; i++) {
        REQUIRE(buffer_set(&changed, bytes.data, bytes.size));
        for (uint64_t k = 0; k <= random_below(&r, 3); k++) {
            size_t within = random_below(&r, 2) == 0 ? 44 : bytes.size;
            changed.data[random_below(&r, within)] = (uint8_t)random_below(&r, 256);
        }
        (void)try_file(path, &changed);
    }
    unsetenv("TZDIR");
    tansu_buffer_free(&bytes);
    tansu_buffer_free(&changed);
    folder_end(folder);
}

int main(void) {
    RUN(offsets_are_those_of_the_c_library);
    RUN(units_begin_where_the_clock_says);
    RUN(weeks_begin_on_the_day_asked_for);
    RUN(the_whole_range_of_dates);
    RUN(groups_by_month);
    RUN(mistakes_are_named);
    RUN(any_file_may_be_there);
    return check_finish();
}
