/*
 * query/util/time_zone_rule.c -- parses and applies the rule of a time zone.
 */
#include "query/util/time_zone_rule.h"

#include "bson/calendar.h"

#include <ctype.h>

#define DAY 86400

/* A position in the text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, char byte) {
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    return true;
}

/* take_number -- a number of at most three digits. */
static bool take_number(cursor *c, int least, int most, int *number) {
    const char *begin = c->at;
    for (*number = 0; c->at < c->end && c->at - begin < 3 && isdigit((unsigned char)*c->at);
         c->at++)
        *number = *number * 10 + (*c->at - '0');
    return c->at != begin && *number >= least && *number <= most;
}

/* take_name -- the name of an offset: letters, or anything in angle brackets. */
static bool take_name(cursor *c) {
    const char *begin = c->at;
    if (take(c, '<')) {
        while (c->at < c->end && *c->at != '>')
            c->at++;
        return take(c, '>');
    }
    while (c->at < c->end && isalpha((unsigned char)*c->at))
        c->at++;
    return c->at - begin >= 3;
}

/* take_time -- [+-]hh[:mm[:ss]] in seconds. */
static bool take_time(cursor *c, int64_t *seconds) {
    int hours, minutes = 0, rest = 0;
    bool negative = take(c, '-');
    if (!negative)
        (void)take(c, '+');
    if (!take_number(c, 0, 167, &hours) || (take(c, ':') && !take_number(c, 0, 59, &minutes)) ||
        (take(c, ':') && !take_number(c, 0, 59, &rest)))
        return false;
    *seconds = (int64_t)hours * 3600 + minutes * 60 + rest;
    if (negative)
        *seconds = -*seconds;
    return true;
}

/* take_change -- ",Mm.w.d", ",Jn" or ",n" with an optional "/time". */
static bool take_change(cursor *c, zone_change *change) {
    *change = (zone_change){.kind = CHANGE_DAY, .time = 7200};
    if (!take(c, ','))
        return false;
    bool good;
    if (take(c, 'M')) {
        change->kind = CHANGE_WEEKDAY;
        good = take_number(c, 1, 12, &change->month) && take(c, '.') &&
               take_number(c, 1, 5, &change->week) && take(c, '.') &&
               take_number(c, 0, 6, &change->day);
    } else if (take(c, 'J')) {
        change->kind = CHANGE_JULIAN;
        good = take_number(c, 1, 365, &change->day);
    } else {
        good = take_number(c, 0, 365, &change->day);
    }
    return good && (!take(c, '/') || take_time(c, &change->time));
}

bool zone_rule_parse(const char *text, size_t size, zone_rule *rule) {
    cursor c = {text, text + size};
    int64_t west;
    *rule = (zone_rule){.has_daylight = false};
    if (!take_name(&c) || !take_time(&c, &west))
        return false;
    rule->standard = -west;
    if (c.at == c.end)
        return true;
    rule->has_daylight = true;
    rule->daylight = rule->standard + 3600;
    if (!take_name(&c))
        return false;
    if (c.at < c.end && *c.at != ',') {
        if (!take_time(&c, &west))
            return false;
        rule->daylight = -west;
    }
    return take_change(&c, &rule->begin) && take_change(&c, &rule->end) && c.at == c.end;
}

/* day_of -- the day of a change in a year, in days since 1970. */
static int64_t day_of(const zone_change *change, int64_t year) {
    int64_t first = calendar_days(year, change->kind == CHANGE_WEEKDAY ? change->month : 1, 1);
    if (change->kind == CHANGE_DAY)
        return first + change->day;
    if (change->kind == CHANGE_JULIAN) /* February 29 is not counted */
        return first + change->day - 1 +
               (change->day >= 60 && calendar_days(year, 3, 1) - first == 60);
    /* 1970-01-01 was a Thursday, day 4. */
    int64_t weekday = ((first + 4) % 7 + 7) % 7;
    int64_t day = first + (change->day - weekday + 7) % 7 + (change->week - 1) * 7;
    int64_t next = change->month == 12 ? calendar_days(year + 1, 1, 1)
                                       : calendar_days(year, change->month + 1, 1);
    return day < next ? day : day - 7; /* week 5 is the last one */
}

zone_period zone_rule_at(const zone_rule *rule, int64_t seconds) {
    zone_period period = {INT64_MIN, rule->standard};
    if (!rule->has_daylight)
        return period;
    int64_t days = (seconds < 0 ? seconds - (DAY - 1) : seconds) / DAY;
    int64_t year = calendar_date_of(days).year;
    for (int64_t y = year - 1; y <= year + 1; y++) {
        const zone_period changes[] = {
            {day_of(&rule->begin, y) * DAY + rule->begin.time - rule->standard, rule->daylight},
            {day_of(&rule->end, y) * DAY + rule->end.time - rule->daylight, rule->standard}};
        for (int i = 0; i < 2; i++) {
            if (changes[i].from <= seconds && changes[i].from > period.from)
                period = changes[i];
        }
    }
    return period;
}
