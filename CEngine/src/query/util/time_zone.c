/*
 * query/util/time_zone.c -- reads time zones. A file that is not as RFC 8536 says is no zone: it
 * may be anything that somebody put there.
 */
#include "query/util/time_zone.h"

#include "bson/calendar.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/fs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZONE_FOLDER "/usr/share/zoneinfo"
/* The largest file of the database has 4 KiB. */
#define FILE_MOST ((size_t)1 << 20)
#define NAME_MOST 64
#define HEADER_SIZE 44
#define DAY 86400

struct time_zone {
    zone_period *periods; /* by their beginning; the first has none */
    size_t count;
    bool has_rule; /* for the times after the last of them */
    bool utc;
    zone_rule rule;
};

/* ---- Offsets ---- */

/* is_utc -- a name of UTC that needs no database. */
static bool is_utc(const char *name) {
    static const char *const names[] = {"UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* offset_of -- the seconds of "+02", "+0200" or "+02:00"; false when it is none of them. */
static bool offset_of(const char *text, int64_t *offset) {
    size_t size = strlen(text);
    char digits[5] = "0000";
    bool colon = size == 6 && text[3] == ':';
    if ((text[0] != '+' && text[0] != '-') || !(size == 3 || size == 5 || colon))
        return false;
    for (size_t i = 1, k = 0; i < size; i++) {
        if (i == 3 && colon)
            continue;
        if (!isdigit((unsigned char)text[i]))
            return false;
        digits[k++] = text[i];
    }
    int hours = (digits[0] - '0') * 10 + digits[1] - '0';
    int minutes = (digits[2] - '0') * 10 + digits[3] - '0';
    *offset = (text[0] == '-' ? -1 : 1) * ((int64_t)hours * 3600 + minutes * 60);
    return true;
}

/* ---- Files ---- */

/* is_name -- whether a text can be an IANA name: it stays in the folder of the database. */
static bool is_name(const char *name) {
    if (name[0] == '\0' || name[0] == '/' || strlen(name) > NAME_MOST)
        return false;
    for (const char *p = name; *p; p++) {
        if (!isalnum((unsigned char)*p) && strchr("_+-/", *p) == NULL)
            return false;
    }
    return true;
}

static uint32_t big_u32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big_i64(const uint8_t *p) {
    return (int64_t)((uint64_t)big_u32(p) << 32 | big_u32(p + 4));
}

/* The counts of a header, and where its data begins. */
typedef struct zone_data {
    uint64_t times, types, names, leaps, standards, utcs;
    const uint8_t *data;
    uint64_t size; /* of the data */
} zone_data;

/* read_header -- false when the bytes hold no header with its data. */
static bool read_header(const uint8_t *bytes, size_t size, unsigned time_size, zone_data *d) {
    if (size < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0)
        return false;
    d->utcs = big_u32(bytes + 20);
    d->standards = big_u32(bytes + 24);
    d->leaps = big_u32(bytes + 28);
    d->times = big_u32(bytes + 32);
    d->types = big_u32(bytes + 36);
    d->names = big_u32(bytes + 40);
    d->data = bytes + HEADER_SIZE;
    d->size = d->times * (time_size + 1) + d->types * 6 + d->names + d->leaps * (time_size + 4) +
              d->standards + d->utcs;
    return d->types != 0 && d->size <= size - HEADER_SIZE;
}

/* read_periods -- the periods of the data; false when it is not valid. */
static bool read_periods(time_zone *zone, const zone_data *d) {
    const uint8_t *numbers = d->data + d->times * 8, *types = numbers + d->times;
    for (uint64_t i = 0; i <= d->times; i++) {
        uint8_t type = i == 0 ? 0 : numbers[i - 1];
        zone_period period = {i == 0 ? INT64_MIN : big_i64(d->data + (i - 1) * 8),
                              (int32_t)big_u32(types + type * 6)};
        bool sorted = i == 0 || period.from > zone->periods[i - 1].from;
        if (type >= d->types || !sorted || period.offset <= -2 * DAY || period.offset >= 2 * DAY)
            return false;
        zone->periods[zone->count++] = period;
    }
    return true;
}

/* read_zone -- the second part of a file, which has times of 64 bits, and the rule after it. */
static bool read_zone(time_zone *zone, const uint8_t *bytes, size_t size) {
    zone_data d;
    if (!read_header(bytes, size, 4, &d) || bytes[4] < '2')
        return false;
    const uint8_t *second = d.data + d.size, *end = bytes + size;
    if (!read_header(second, (size_t)(end - second), 8, &d))
        return false;
    zone->periods = malloc((size_t)(d.times + 1) * sizeof *zone->periods);
    if (zone->periods == NULL || !read_periods(zone, &d))
        return false;
    const char *rule = (const char *)d.data + d.size;
    size_t left = (size_t)(end - (const uint8_t *)rule);
    if (left < 2 || rule[0] != '\n' || rule[left - 1] != '\n')
        return false;
    zone->has_rule = left > 2;
    return !zone->has_rule || zone_rule_parse(rule + 1, left - 2, &zone->rule);
}

/* read_file -- a zone by its name; NOT_FOUND when there is no such file, or it is no zone. */
static tansu_status read_file(time_zone *zone, const char *name) {
    const char *folder = getenv("TZDIR");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    char *path = fs_join(folder != NULL && folder[0] == '/' ? folder : ZONE_FOLDER, name);
    if (path == NULL)
        return TANSU_E_MEMORY;
    tansu_status status = fs_read_file(&fs_system, path, FILE_MOST, &bytes, NULL);
    free(path);
    if (status == TANSU_OK && !read_zone(zone, bytes.data, bytes.size))
        status = TANSU_E_NOT_FOUND;
    tansu_buffer_free(&bytes);
    return status;
}

tansu_status time_zone_open(const char *name, const char *context, time_zone **result,
                            tansu_error *error) {
    time_zone *zone = calloc(1, sizeof *zone);
    int64_t offset = 0;
    tansu_status status = TANSU_OK;
    if (zone == NULL)
        return error_memory(error);
    if (is_utc(name) || offset_of(name, &offset)) {
        zone->has_rule = true;
        zone->rule.standard = offset;
        zone->utc = offset == 0 && (strcmp(name, "UTC") == 0 || *name == '+' || *name == '-');
    } else {
        status = is_name(name) ? read_file(zone, name) : TANSU_E_NOT_FOUND;
    }
    if (status == TANSU_OK) {
        *result = zone;
        return TANSU_OK;
    }
    time_zone_free(zone);
    if (status == TANSU_E_MEMORY)
        return error_memory(error);
    return error_set(error, TANSU_E_INVALID_QUERY, context,
                     "Time zone \"%.64s\" is not in the time zone database of this system; use a "
                     "name such as \"Europe/Berlin\", an offset such as \"+02:00\" or \"UTC\"",
                     name);
}

void time_zone_free(time_zone *zone) {
    if (zone == NULL)
        return;
    free(zone->periods);
    free(zone);
}

/* ---- Times ---- */

zone_period time_zone_at(const time_zone *zone, int64_t seconds) {
    size_t low = 0, high = zone->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->periods[middle].from <= seconds)
            low = middle;
        else
            high = middle;
    }
    if (zone->count != 0 && (low + 1 < zone->count || !zone->has_rule))
        return zone->periods[low];
    zone_period period = zone_rule_at(&zone->rule, seconds);
    /* The rule holds from the last listed period on, which it may continue. */
    if (zone->count != 0 && period.from < zone->periods[low].from)
        return (zone_period){zone->periods[low].from, period.offset};
    return period;
}

int64_t time_zone_to_utc(const time_zone *zone, int64_t local) {
    int64_t before = time_zone_at(zone, local - 2 * DAY).offset;
    zone_period period = time_zone_at(zone, local - before);
    if (period.offset == before)
        return local - before;
    /* The offset changes shortly before: clocks show the time after that, or are past it. */
    return local > period.from + period.offset ? local - period.offset : period.from;
}

int64_t time_zone_from_local(const time_zone *zone, int64_t local, int64_t preferred) {
    int64_t before = time_zone_at(zone, local - 2 * DAY).offset, first = local - before;
    zone_period period = time_zone_at(zone, first);
    if (period.offset != before)
        return local - period.offset >= period.from ? local - period.offset : first;
    zone_period next = time_zone_at(zone, first + DAY);
    bool twice = next.offset < before && local - next.offset >= next.from;
    return twice && preferred != before ? local - next.offset : first;
}

bool time_zone_is_utc(const time_zone *zone) {
    return zone->utc;
}

/* ---- Open zones ---- */

/* cached_at -- the entry that many behind the one that was used last. */
static struct time_zone_cached *cached_at(time_zone_cache *cache, unsigned behind) {
    return &cache->zones[(cache->last + behind) % TIME_ZONES_OPEN];
}

tansu_status time_zone_cache_open(time_zone_cache *cache, const char *name, size_t size,
                                  const char *context, const time_zone **result,
                                  tansu_error *error) {
    for (unsigned i = 0; i < TIME_ZONES_OPEN; i++) {
        const struct time_zone_cached *entry = cached_at(cache, i);
        if (entry->zone == NULL || entry->size != size || memcmp(entry->name, name, size) != 0)
            continue;
        cache->last = (cache->last + i) % TIME_ZONES_OPEN;
        *result = entry->zone;
        return TANSU_OK;
    }
    /* A name that has a NUL or is too long is none; the blank makes it one that is refused. */
    char copy[TIME_ZONE_NAME_SIZE];
    bool sane = size < sizeof copy && memchr(name, 0, size) == NULL;
    snprintf(copy, sizeof copy, "%.*s%s", (int)(sane ? size : 32), name, sane ? "" : " ...");
    time_zone *zone;
    tansu_status status = time_zone_open(copy, context, &zone, error);
    if (status != TANSU_OK)
        return status;
    cache->last = (cache->last + 1) % TIME_ZONES_OPEN;
    struct time_zone_cached *entry = cached_at(cache, 0);
    time_zone_free(entry->zone);
    *entry = (struct time_zone_cached){.zone = zone, .size = size};
    memcpy(entry->name, copy, size);
    *result = zone;
    return TANSU_OK;
}

void time_zone_cache_free(time_zone_cache *cache) {
    for (unsigned i = 0; i < TIME_ZONES_OPEN; i++)
        time_zone_free(cache->zones[i].zone);
    *cache = (time_zone_cache){.last = 0};
}

/* ---- Parses and applies the rule of a time zone ---- */

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
