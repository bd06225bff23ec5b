/*
 * query/util/time_zone.h -- time zones: UTC, offsets such as +02:00, and the names of the IANA
 * database, read from the compiled files of the system (RFC 8536), since C has no call for a time
 * zone other than the process's own.
 */
#ifndef TANSU_QUERY_UTIL_TIME_ZONE_H
#define TANSU_QUERY_UTIL_TIME_ZONE_H

#include "query/util/time_zone_rule.h"
#include "tansu.h"

typedef struct time_zone time_zone;

/*
 * time_zone_open -- by name: "UTC", "GMT", "Z", "+02", "+0200", "+02:00" or an IANA name such as
 * "Europe/Berlin". The files are in the folder that the environment variable TZDIR names, or
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

#endif
