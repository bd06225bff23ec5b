/*
 * query/util/time_zone.h -- time zones: UTC, offsets such as +02:00, and the names of the IANA
 * database, read from the compiled files of the system (RFC 8536), since C has no call for a time
 * zone other than the process's own.
 */
#ifndef TANSU_QUERY_UTIL_TIME_ZONE_H
#define TANSU_QUERY_UTIL_TIME_ZONE_H

#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Time zone rule ---- */

/*
 * The text of a TZ variable (POSIX.1-2017, 8.3, with the hours of
 * RFC 8536, 3.3.1), such as "CET-1CEST,M3.5.0,M10.5.0/3": the rule by which a time zone changes its
 * offset each year.
 */

/* When in a year an offset begins. */
typedef struct zone_change {
    enum { CHANGE_WEEKDAY, CHANGE_JULIAN, CHANGE_DAY } kind;
    int month, week, day; /* Mm.w.d; Jn and n have only `day` */
    int64_t time;         /* local seconds after midnight */
} zone_change;

typedef struct zone_rule {
    int64_t standard; /* seconds east of UTC */
    int64_t daylight;
    bool has_daylight;
    zone_change begin, end; /* of daylight saving time */
} zone_rule;

/* A time during which the offset does not change. */
typedef struct zone_period {
    int64_t from;   /* seconds since 1970; INT64_MIN: the first period */
    int64_t offset; /* seconds east of UTC */
} zone_period;

/* zone_rule_parse -- false when the text is no such rule. */
bool zone_rule_parse(const char *text, size_t size, zone_rule *rule);

/* zone_rule_at -- the period in which a time lies. */
zone_period zone_rule_at(const zone_rule *rule, int64_t seconds);

typedef struct time_zone time_zone;

/*
 * time_zone_open -- by name: "UTC", "GMT", "Z", "+02", "+0200", "+02:00" (of any two digits: "+25:70"
 * is 26 hours and 10 minutes) or an IANA name such as "Europe/Berlin". The files are in the folder that the environment variable TZDIR names, or
 * /usr/share/zoneinfo. Errors: INVALID_QUERY (no such zone; the context is `context`), MEMORY.
 */
tansu_status time_zone_open(const char *name, const char *context, time_zone **result,
                            tansu_error *error);

/* time_zone_free -- fine on NULL. */
void time_zone_free(time_zone *zone);

/* time_zone_at -- the period in which a time lies. */
zone_period time_zone_at(const time_zone *zone, int64_t seconds);

/* time_zone_to_utc -- the first time at which clocks show these local seconds since 1970 or, if
 * they are put forward past them, a later time. */
int64_t time_zone_to_utc(const time_zone *zone, int64_t local);

/* time_zone_from_local -- the time at which clocks show these local seconds since 1970. Of two such
 * times it is the one with the offset `preferred`, which may be NO_OFFSET, if the first one has it,
 * and otherwise the later one. Local seconds that clocks are put forward past count with the offset before. */
int64_t time_zone_from_local(const time_zone *zone, int64_t local, int64_t preferred);

#define NO_OFFSET INT64_MAX

/* time_zone_is_utc -- whether the zone is named "UTC" or is an offset of 0. "GMT" is another zone.
 */
bool time_zone_is_utc(const time_zone *zone);

/* ---- Open zones ---- */

#define TIME_ZONES_OPEN 16
#define TIME_ZONE_NAME_SIZE 65

/* The zones that were used last, so that a file is not read for each date. Zeroed, it is empty. */
typedef struct time_zone_cache {
    struct time_zone_cached {
        char name[TIME_ZONE_NAME_SIZE];
        size_t size;
        time_zone *zone; /* NULL: none */
    } zones[TIME_ZONES_OPEN];
    unsigned last; /* used */
} time_zone_cache;

/* time_zone_cache_open -- a zone by name, which the cache keeps until it holds others. Errors: as
 * time_zone_open(). */
tansu_status time_zone_cache_open(time_zone_cache *cache, const char *name, size_t size,
                                  const char *context, const time_zone **result,
                                  tansu_error *error);

/* time_zone_cache_free -- closes its zones; the cache is then empty. */
void time_zone_cache_free(time_zone_cache *cache);

#endif
