/*
 * query/util/time_zone_rule.h -- the text of a TZ variable (POSIX.1-2017, 8.3, with the hours of
 * RFC 8536, 3.3.1), such as "CET-1CEST,M3.5.0,M10.5.0/3": the rule by which a time zone changes its
 * offset each year.
 */
#ifndef TANSU_QUERY_UTIL_TIME_ZONE_RULE_H
#define TANSU_QUERY_UTIL_TIME_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
