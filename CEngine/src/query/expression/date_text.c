/*
 * query/expression/date_text.c -- dates as text without a format.
 *
 * The text is a sequence of parts: dates, times, time zones, names of weekdays, and words such as
 * "noon" or "+1 day". Each part is the longest that one of the rules below matches, or of several
 * the first, as in timelib's scanner.
 */
#include "query/expression/date_text.h"

#include "bson/calendar.h"

#include <stdio.h>
#include <string.h>

#define UNSET INT64_MIN

/* Years beyond these have no date. */
#define YEAR_MAX 290000000

/* The most numbers with units, such as "+1 day", of one text. */
#define RELATIVE_MAX 100

/* The numbers of a part. */
enum date_field {
    FIELD_YEAR,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_HOUR,
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_MICROSECOND,
    FIELD_WEEK,
    FIELD_WEEKDAY,
    FIELD_COUNT
};

/* A part of the text. */
typedef struct part {
    int64_t fields[FIELD_COUNT];
    int year_digits;
    int sign;             /* of the year */
    char meridian;        /* 'a', 'p', or 0 */
    const char *zone;     /* or NULL */
    const char *zone_end; /* behind it */
} part;

/* ---- Matching ---- */

/* Letters of a rule that stand for numbers. */
static const struct number_letter {
    char letter;
    uint8_t least, most; /* digits */
    int16_t low, high;
    uint8_t field;
} number_letters[] = {
    {'Y', 4, 4, 0, 9999, FIELD_YEAR}, {'y', 1, 4, 0, 9999, FIELD_YEAR},
    {'2', 2, 2, 0, 99, FIELD_YEAR},   {'m', 1, 2, 0, 12, FIELD_MONTH},
    {'M', 2, 2, 0, 12, FIELD_MONTH},  {'d', 1, 2, 0, 31, FIELD_DAY},
    {'D', 2, 2, 0, 31, FIELD_DAY},    {'j', 3, 3, 1, 366, FIELD_DAY},
    {'h', 1, 2, 0, 24, FIELD_HOUR},   {'H', 2, 2, 0, 24, FIELD_HOUR},
    {'k', 1, 2, 1, 12, FIELD_HOUR},   {'i', 1, 2, 0, 59, FIELD_MINUTE},
    {'I', 2, 2, 0, 59, FIELD_MINUTE}, {'s', 1, 2, 0, 60, FIELD_SECOND},
    {'S', 2, 2, 0, 60, FIELD_SECOND}, {'w', 2, 2, 1, 53, FIELD_WEEK},
    {'u', 1, 1, 0, 7, FIELD_WEEKDAY},
};

/* Letters of a rule that stand for one character of a set. Those with `many` stand for any number
 * of them, from `least` on. */
static const struct letter_set {
    char letter;
    uint8_t least;
    bool many;
    const char *characters;
} letter_sets[] = {
    {':', 1, false, ":."},   {';', 1, false, ":"},  {'t', 0, false, "tT"},
    {'q', 1, false, "tT"},   {'~', 0, true, " \t"}, {'_', 0, true, " \t.-"},
    {'p', 1, false, ".\t-"}, {'P', 1, false, ".-"}, {'v', 1, false, ".\t"},
    {'o', 0, false, ".-"},   {'l', 0, false, "-"},  {'n', 1, true, ",.stndrh\t "},
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool is_letter(char c) {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

/* is_prefix -- the size of a word, in small letters, if the text begins with it; else 0. */
static size_t is_prefix(const char *at, const char *end, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - at) < size)
        return 0;
    for (size_t i = 0; i < size; i++) {
        if (lower(at[i]) != word[i])
            return 0;
    }
    return size;
}

/* take_month -- the end of the name of a month, or NULL. `shorter`: no full names. */
static const char *take_month(const char *at, const char *end, bool shorter, part *p) {
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    static const char *const roman[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                        "VII", "VIII", "IX",  "X",  "XI", "XII"};
    size_t size = 0;
    for (int i = 0; i < 12; i++) {
        char short_name[4] = {names[i][0], names[i][1], names[i][2], 0};
        size_t this_size = shorter ? 0 : is_prefix(at, end, names[i]);
        if (this_size == 0 && i == 8)
            this_size = is_prefix(at, end, "sept");
        if (this_size == 0)
            this_size = is_prefix(at, end, short_name);
        size_t roman_size = strlen(roman[i]);
        if (!shorter && this_size == 0 && (size_t)(end - at) >= roman_size &&
            memcmp(at, roman[i], roman_size) == 0)
            this_size = roman_size;
        if (this_size > size) {
            size = this_size;
            p->fields[FIELD_MONTH] = i + 1;
        }
    }
    return size ? at + size : NULL;
}

/* take_fraction -- the end of a point (or what `points` has) and digits, or NULL. */
static const char *take_fraction(const char *at, const char *end, part *p) {
    int64_t value = 0, scale = 100000;
    if (at == end || (*at != '.' && *at != ':') || at + 1 == end || !is_digit(at[1]))
        return NULL;
    for (at++; at < end && is_digit(*at); at++, scale /= 10)
        value += (*at - '0') * scale;
    p->fields[FIELD_MICROSECOND] = value;
    return at;
}

/* take_meridian -- the end of "am", "p.m." and so on with the white space behind it, or NULL. */
static const char *take_meridian(const char *at, const char *end, part *p) {
    if (at == end || (lower(*at) != 'a' && lower(*at) != 'p'))
        return NULL;
    p->meridian = lower(*at++);
    at += at < end && *at == '.';
    if (at == end || lower(*at) != 'm')
        return NULL;
    at++;
    at += at < end && *at == '.';
    if (at == end)
        return at;
    return *at == ' ' || *at == '\t' || *at == '\0' ? at + 1 : NULL;
}

/* take_offset -- the end of "+5", "+0530", "GMT-05:30" and so on, or NULL. */
static const char *take_offset(const char *at, const char *end, part *p) {
    p->zone = at;
    if (is_prefix(at, end, "gmt"))
        at += 3;
    if (at == end || (*at != '+' && *at != '-'))
        return NULL;
    const char *first = ++at;
    while (at < end && is_digit(*at) && at - first < 2)
        at++;
    if (at == first)
        return NULL;
    if (at - first == 2 && (first[0] - '0') * 10 + first[1] - '0' > 24)
        at--; /* one digit of hours, and minutes */
    const char *hours = at;
    at += at < end && *at == ':';
    for (int digits = 0; at < end && is_digit(*at) && digits < 2; digits++) {
        if (digits == 0 && *at > '5' && at + 1 < end && is_digit(at[1]))
            return NULL;
        at++;
    }
    if (*(at - 1) == ':')
        at = hours;
    p->zone_end = at;
    return at;
}

/* take_zone -- the end of a time zone's name or abbreviation, or NULL. */
static const char *take_zone(const char *at, const char *end, part *p) {
    bool open = at < end && *at == '(';
    at += open;
    p->zone = at;
    while (at < end && is_letter(*at) && at - p->zone < 6)
        at++;
    if (at == p->zone)
        return NULL;
    const char *name = at;
    while (name < end && (is_letter(*name) || strchr("_/-+", *name) || is_digit(*name)))
        name++;
    if (memchr(p->zone, '/', (size_t)(name - p->zone)))
        at = name;
    p->zone_end = at;
    return at + (open && at < end && *at == ')');
}

/* match -- the end of what a rule matches at the beginning of a text, or NULL. Characters of a rule
 * that have no meaning stand for themselves. */
static const char *match(const char *rule, const char *at, const char *end, part *p) {
    for (; *rule; rule++) {
        for (size_t i = 0; i < sizeof number_letters / sizeof *number_letters; i++) {
            const struct number_letter *n = &number_letters[i];
            if (n->letter != *rule)
                continue;
            for (int digits = n->most; digits >= n->least; digits--) {
                int64_t value = 0;
                int count = 0;
                for (; count < digits && at + count < end && is_digit(at[count]); count++)
                    value = value * 10 + (at[count] - '0');
                if (count < digits || value < n->low || value > n->high)
                    continue;
                part rest = *p;
                rest.fields[n->field] = value;
                if (n->field == FIELD_YEAR)
                    rest.year_digits = digits;
                const char *found = match(rule + 1, at + digits, end, &rest);
                if (found) {
                    *p = rest;
                    return found;
                }
            }
            return NULL;
        }
        const struct letter_set *set = NULL;
        for (size_t i = 0; i < sizeof letter_sets / sizeof *letter_sets; i++)
            set = letter_sets[i].letter == *rule ? &letter_sets[i] : set;
        if (set) {
            size_t count = 0;
            while (at < end && *at && strchr(set->characters, *at) && (set->many || count == 0)) {
                at++;
                count++;
            }
            if (count < set->least)
                return NULL;
            continue;
        }
        const char *next = NULL;
        switch (*rule) {
        case 'B': next = take_month(at, end, false, p); break;
        case 'b': next = take_month(at, end, true, p); break;
        case 'f': next = take_fraction(at, end, p); break;
        case 'a': next = take_meridian(at, end, p); break;
        case 'c': next = take_offset(at, end, p); break;
        case 'z': next = take_zone(at, end, p); break;
        case 'e': /* a suffix of days, or none */
            next = at;
            if (is_prefix(at, end, "st") || is_prefix(at, end, "nd") || is_prefix(at, end, "rd") ||
                is_prefix(at, end, "th"))
                next = at + 2;
            break;
        case 'g': /* the sign of a year, or none */
            next = at;
            if (at < end && (*at == '+' || *at == '-')) {
                p->sign = *at == '-' ? -1 : 1;
                next = at + 1;
            }
            break;
        default: next = at < end && *at == *rule ? at + 1 : NULL;
        }
        if (!next)
            return NULL;
        at = next;
    }
    return at;
}

/* ---- Rules ---- */

enum { DATE = 1, TIME = 2, ZONE = 4, FIRST = 8 /* of a month */, YEAR = 16, COMPACT = 32 };

static const struct rule {
    const char *pattern;
    uint8_t flags;
} rules[] = {
    {"k~a", TIME},
    {"k:I~a", TIME},
    {"k:i:S~a", TIME},
    {"k;I;Sfa", TIME},
    {"qh", TIME},
    {"th:i", TIME},
    {"th:i:s", TIME},
    {"th:i:sf", TIME},
    {"tHI", TIME | COMPACT},
    {"tHIS", TIME},
    {"m/d", DATE},
    {"m/d/y", DATE},
    {"gY-M-D", DATE},
    {"Y/M/D", DATE},
    {"Y/M/D/", DATE},
    {"2-M-D", DATE},
    {"Y-m", DATE | FIRST},
    {"y-m-d", DATE},
    {"de_B_y", DATE},
    {"dpmPY", DATE},
    {"dvm.2", DATE},
    {"B_Y", DATE | FIRST},
    {"Y_B", DATE | FIRST},
    {"B_dny", DATE},
    {"B_dn", DATE},
    {"B_d", DATE},
    {"de_B", DATE},
    {"YMD", DATE},
    {"Y;M;D H;I;S", DATE | TIME},
    {"Yoj", DATE},
    {"YlWwlu", DATE},
    {"YlWw", DATE},
    {"b-D-y", DATE},
    {"y-b-D", DATE},
    {"d/b/Y;H;I;S c", DATE | TIME | ZONE},
    {"Y", YEAR},
    {"B", DATE},
    {"B_dnk:I~a", DATE | TIME},
    {"B_dnk:i:S~a", DATE | TIME},
    {"B_dnh:i", DATE | TIME},
    {"B_dnh:i:s", DATE | TIME},
    {"c", ZONE},
    {"z", ZONE},
};

/* What has been found. */
typedef struct found {
    int64_t fields[FIELD_COUNT];
    int times; /* parts with a time */
    bool date;
    bool zone;
    int64_t offset;                /* seconds east of UTC */
    int weekday;                   /* 0: Sunday; -1: none */
    int64_t relative[FIELD_COUNT]; /* what is added, */
    int relatives;                 /* and its number of parts */
} found;

/* offset_of -- the seconds of "+5", "+0530", "-05:30" and so on; false for other digits. */
static bool offset_of(const char *at, const char *end, int64_t *seconds) {
    bool negative = *at++ == '-';
    int64_t values[2] = {0, 0};
    const char *colon = memchr(at, ':', (size_t)(end - at));
    ptrdiff_t digits = end - at;
    const char *hours_end = colon ? colon : digits <= 2 ? end : end - 2;
    for (const char *p = at; p < end; p++) {
        if (*p != ':')
            values[p >= hours_end] = values[p >= hours_end] * 10 + (*p - '0');
    }
    *seconds = (values[0] * 60 + values[1]) * (negative ? -60 : 60);
    return digits > 0;
}

/* Abbreviations of time zones, with their hours east of UTC in quarters. */
static const struct abbreviation {
    char name[6];
    int8_t quarters;
} abbreviations[] = {
    {"utc", 0},   {"gmt", 0},   {"wet", 0},    {"west", 4},   {"bst", 4},   {"cet", 4},
    {"cest", 8},  {"met", 4},   {"mest", 8},   {"eet", 8},    {"eest", 12}, {"msk", 12},
    {"msd", 16},  {"sast", 8},  {"ist", 8},    {"pkt", 20},   {"hkt", 32},  {"jst", 36},
    {"kst", 36},  {"acst", 38}, {"acdt", 42},  {"aest", 40},  {"aedt", 44}, {"awst", 32},
    {"nzst", 48}, {"nzdt", 52}, {"nst", -14},  {"ndt", -10},  {"ast", -16}, {"adt", -12},
    {"est", -20}, {"edt", -16}, {"cst", -24},  {"cdt", -20},  {"mst", -28}, {"mdt", -24},
    {"pst", -32}, {"pdt", -28}, {"akst", -36}, {"akdt", -32}, {"hst", -40}, {"hdt", -36},
};

/* abbreviation_of -- the offset of an abbreviation, or of the letter of a military zone. */
static bool abbreviation_of(const char *at, size_t size, int64_t *seconds) {
    static const char letters[] = "yxwvutsrqponzabcdefghiklm";
    char first = lower(*at);
    const char *letter = size == 1 ? strchr(letters, first) : NULL;
    if (letter && first) {
        *seconds = (letter - letters - 12) * 3600;
        return true;
    }
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++) {
        if (strlen(abbreviations[i].name) == size &&
            is_prefix(at, at + size, abbreviations[i].name)) {
            *seconds = (int64_t)abbreviations[i].quarters * 900;
            return true;
        }
    }
    return false;
}

bool date_text_zone(const char **at, const char *end, int64_t *seconds) {
    const char *p = *at;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '('))
        p++;
    if (end - p > 3 && memcmp(p, "GMT", 3) == 0 && (p[3] == '+' || p[3] == '-'))
        p += 3;
    const char *from = p;
    bool valid;
    if (p < end && (*p == '+' || *p == '-')) {
        int colons = 0;
        for (p++; p < end && (is_digit(*p) || *p == ':'); p++)
            colons += *p == ':';
        valid = p - from <= 6 && colons <= 1 && from[1] != ':' && offset_of(from, p, seconds);
    } else {
        while (p < end && *p != ' ' && *p != ')')
            p++;
        valid = p > from && abbreviation_of(from, (size_t)(p - from), seconds);
    }
    while (p < end && *p == ')')
        p++;
    *at = p;
    return valid;
}

/* add_zone -- a zone that the text has; false when it is unknown, or the second one. */
static bool add_zone(found *f, const part *p) {
    const char *at = p->zone;
    size_t size = (size_t)(p->zone_end - at);
    if (f->zone)
        return false;
    f->zone = true;
    if (size > 3 && (at[3] == '+' || at[3] == '-') && is_prefix(at, p->zone_end, "gmt"))
        at += 3;
    if (*at == '+' || *at == '-')
        return offset_of(at, p->zone_end, &f->offset);
    /* As in MongoDB, names such as "Europe/Berlin" are no part of a date. */
    return abbreviation_of(at, size, &f->offset);
}

/* add_time -- the time of a part; false when it is the second one. */
static bool add_time(found *f, const part *p) {
    if (f->times++ > 0)
        return false;
    for (int i = FIELD_HOUR; i <= FIELD_MICROSECOND; i++)
        f->fields[i] = p->fields[i] == UNSET ? 0 : p->fields[i];
    if (p->meridian)
        f->fields[FIELD_HOUR] = f->fields[FIELD_HOUR] % 12 + (p->meridian == 'p' ? 12 : 0);
    return true;
}

/* add_date -- the date of a part; false when it is the second one. */
static bool add_date(found *f, const part *p, bool first) {
    if (f->date)
        return false;
    f->date = true;
    int64_t year = p->fields[FIELD_YEAR];
    if (year != UNSET) {
        if (p->year_digits < 4 && year < 100)
            year += year < 70 ? 2000 : 1900;
        f->fields[FIELD_YEAR] = p->sign < 0 ? -year : year;
    }
    f->fields[FIELD_MONTH] = p->fields[FIELD_MONTH];
    f->fields[FIELD_DAY] = p->fields[FIELD_DAY];
    if (first)
        f->fields[FIELD_DAY] = 1;
    if (p->fields[FIELD_MONTH] == UNSET) /* the day of a year, or a week */
        f->fields[FIELD_MONTH] = 1;
    if (p->fields[FIELD_WEEK] != UNSET) {
        int64_t new_year = calendar_days(year, 1, 1), weekday = ((new_year + 4) % 7 + 7) % 7;
        int64_t day = p->fields[FIELD_WEEKDAY] == UNSET ? 1 : p->fields[FIELD_WEEKDAY];
        f->fields[FIELD_DAY] = 1;
        f->relative[FIELD_DAY] +=
            (p->fields[FIELD_WEEK] - 1) * 7 + day - (weekday > 4 ? weekday - 7 : weekday);
    }
    return true;
}

/* add_part -- what a part of the text says; false where it contradicts another one. */
static bool add_part(found *f, const struct rule *rule, const part *p) {
    if (rule->flags & YEAR) {
        f->fields[FIELD_YEAR] = p->fields[FIELD_YEAR];
        return true;
    }
    if ((rule->flags & COMPACT) && f->times == 1) { /* four digits behind a time are a year */
        f->fields[FIELD_YEAR] = p->fields[FIELD_HOUR] * 100 + p->fields[FIELD_MINUTE];
        f->times++;
        return true;
    }
    return (!(rule->flags & DATE) || add_date(f, p, rule->flags & FIRST)) &&
           (!(rule->flags & TIME) || add_time(f, p)) && (!(rule->flags & ZONE) || add_zone(f, p));
}

/* ---- Words ---- */

/* set_time -- the time becomes this hour. */
static void set_time(found *f, int hour) {
    f->times = hour != 0;
    for (int i = FIELD_HOUR; i <= FIELD_MICROSECOND; i++)
        f->fields[i] = 0;
    f->fields[FIELD_HOUR] = hour;
}

/* take_weekday -- the end of the name of a weekday, or NULL. */
static const char *take_weekday(const char *at, const char *end, int *weekday) {
    static const char *const names[] = {"sunday", "sun",       "monday",   "mon",      "tuesday",
                                        "tue",    "wednesday", "wed",      "thursday", "thu",
                                        "friday", "fri",       "saturday", "sat"};
    static const char *const others[] = {"tues", "wednes", "thur", "thurs"};
    static const int other_days[] = {2, 3, 4, 4};
    size_t size = 0;
    for (int i = 0; i < 14 + 4; i++) {
        size_t this_size = is_prefix(at, end, i < 14 ? names[i] : others[i - 14]);
        if (this_size > size) {
            size = this_size;
            *weekday = i < 14 ? i / 2 : other_days[i - 14];
        }
    }
    return size ? at + size : NULL;
}

/* take_relative -- the end of a number with a sign and a unit, such as "+1 day", or NULL. */
static const char *take_relative(const char *at, const char *end, int *field, int64_t *amount) {
    static const struct {
        const char *name;
        uint8_t field;
        int factor;
    } units[] = {{"msec", FIELD_MICROSECOND, 1000},
                 {"millisecond", FIELD_MICROSECOND, 1000},
                 {"sec", FIELD_SECOND, 1},
                 {"second", FIELD_SECOND, 1},
                 {"min", FIELD_MINUTE, 1},
                 {"minute", FIELD_MINUTE, 1},
                 {"hour", FIELD_HOUR, 1},
                 {"day", FIELD_DAY, 1},
                 {"week", FIELD_DAY, 7},
                 {"fortnight", FIELD_DAY, 14},
                 {"month", FIELD_MONTH, 1},
                 {"year", FIELD_YEAR, 1}};
    int64_t number = 0;
    bool negative = false;
    int digits = 0;
    for (; at < end && (*at == '+' || *at == '-'); at++)
        negative ^= *at == '-';
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    for (; at < end && is_digit(*at) && digits < 9; at++, digits++)
        number = number * 10 + (*at - '0');
    if (digits == 0)
        return NULL;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t size = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t this_size = is_prefix(at, end, units[i].name);
        if (this_size > size) {
            size = this_size;
            *field = units[i].field;
            *amount = (negative ? -number : number) * units[i].factor;
        }
    }
    if (size == 0)
        return NULL;
    at += size;
    return at + (at < end && lower(*at) == 's');
}

/* take_word -- a word that is the longest part: its end, or NULL. `least`: the size of the part
 * that the rules found. */
static const char *take_word(found *f, const char *at, const char *end, size_t least) {
    static const struct {
        const char *name;
        int8_t days, hour;
    } words[] = {{"yesterday", -1, 0}, {"now", 0, -1},  {"noon", 0, 12},
                 {"midnight", 0, 0},   {"today", 0, 0}, {"tomorrow", 1, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = is_prefix(at, end, words[i].name);
        if (size == 0 || size < least)
            continue;
        if (words[i].hour >= 0)
            set_time(f, words[i].hour);
        f->relative[FIELD_DAY] += words[i].days;
        return at + size;
    }
    int weekday, field;
    int64_t amount;
    const char *next = take_weekday(at, end, &weekday);
    if (next && (size_t)(next - at) >= least) {
        f->weekday = weekday;
        set_time(f, 0);
        return next;
    }
    next = take_relative(at, end, &field, &amount);
    if (!next || (size_t)(next - at) <= least || f->relatives++ == RELATIVE_MAX)
        return NULL;
    f->relative[field] += amount;
    return next;
}

/* ---- The whole text ---- */

/* skip -- the first character that belongs to a part. */
static const char *skip(const char *at, const char *end) {
    for (;;) {
        if (at < end && (*at == '\0' || strchr(" .,\t\n", *at)))
            at++;
        else if (end - at >= 2 && memcmp(at, "\xC2\xA0", 2) == 0)
            at += 2;
        else if (end - at >= 3 && memcmp(at, "\xE2\x80\xAF", 3) == 0)
            at += 3;
        else
            return at;
    }
}

/* find_parts -- all parts; false where the text is no part of a date. */
static bool find_parts(evaluation *ev, const char *at, const char *end, found *f,
                       tansu_status *status) {
    static const char space[] = " \t\n\v\f\r";
    while (at < end && *at && strchr(space, *at))
        at++;
    while (at < end && end[-1] && strchr(space, end[-1]))
        end--;
    while ((at = skip(at, end)) < end) {
        const struct rule *rule = NULL;
        const char *rule_end = at;
        part best = {0}, p;
        *status = evaluation_step(ev, sizeof rules / sizeof *rules);
        if (*status != TANSU_OK)
            return false;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            p = (part){.sign = 1};
            for (int j = 0; j < FIELD_COUNT; j++)
                p.fields[j] = UNSET;
            const char *next = match(rules[i].pattern, at, end, &p);
            if (next && next > rule_end) {
                rule_end = next;
                rule = &rules[i];
                best = p;
            }
        }
        const char *word_end = take_word(f, at, end, (size_t)(rule_end - at));
        if (!word_end && (!rule || !add_part(f, rule, &best)))
            return false;
        at = word_end ? word_end : rule_end;
    }
    return true;
}

/* days_of_month -- the number of days of a month. */
static int64_t days_of_month(int64_t year, int month) {
    return (month == 12 ? calendar_days(year + 1, 1, 1) : calendar_days(year, month + 1, 1)) -
           calendar_days(year, month, 1);
}

/* local_time -- the local milliseconds since 1970; false when parts lack or are no date. */
static bool local_time(const found *f, int64_t *result) {
    int64_t year = f->fields[FIELD_YEAR], month = f->fields[FIELD_MONTH];
    int64_t day = f->fields[FIELD_DAY];
    const int64_t *r = f->relative;
    if (year == UNSET || month == UNSET || day == UNSET || year < 0 || month < 1 || month > 12 ||
        day < 1 || day > days_of_month(year, (int)month))
        return false;
    if (f->fields[FIELD_HOUR] > 23 || f->fields[FIELD_SECOND] > 59)
        return false;
    month += r[FIELD_MONTH] - 1;
    year += r[FIELD_YEAR] + (month >= 0 ? month / 12 : -((11 - month) / 12));
    month = (month % 12 + 12) % 12 + 1;
    if (year > YEAR_MAX || year < -YEAR_MAX)
        return false;
    int64_t days = calendar_days(year, (int)month, 1) + day - 1 + r[FIELD_DAY];
    if (f->weekday >= 0) {
        int64_t ahead = f->weekday - ((days + 4) % 7 + 7) % 7;
        days += ahead < 0 ? ahead + 7 : ahead;
    }
    int64_t seconds = f->fields[FIELD_SECOND] + r[FIELD_SECOND] +
                      60 * (f->fields[FIELD_MINUTE] + r[FIELD_MINUTE] +
                            60 * (f->fields[FIELD_HOUR] + r[FIELD_HOUR]));
    int64_t milliseconds = (f->fields[FIELD_MICROSECOND] + r[FIELD_MICROSECOND]) / 1000;
    return !__builtin_mul_overflow(days, (int64_t)86400000, result) &&
           !__builtin_add_overflow(*result, seconds * 1000 + milliseconds, result);
}

tansu_status date_text_parse(evaluation *ev, const expression *e, const char *text, size_t size,
                             const time_zone *zone, int64_t *milliseconds) {
    found f = {.weekday = -1,
               .fields = {[FIELD_YEAR] = UNSET, [FIELD_MONTH] = UNSET, [FIELD_DAY] = UNSET}};
    tansu_status status = TANSU_OK;
    bool valid = find_parts(ev, text, text + size, &f, &status) && !(zone && f.zone) &&
                 local_time(&f, milliseconds);
    if (valid && zone) {
        int64_t rest = (*milliseconds % 1000 + 1000) % 1000;
        int64_t seconds = (*milliseconds - rest) / 1000;
        *milliseconds = time_zone_from_local(zone, seconds, NO_OFFSET) * 1000 + rest;
    } else {
        valid = valid && !__builtin_sub_overflow(*milliseconds, f.offset * 1000, milliseconds);
    }
    if (valid || status != TANSU_OK)
        return status;
    return evaluation_error(ev, e,
                            "Text \"%.*s\" is no date with a year, a month and a day%s, such as "
                            "\"2017-02-08T12:10:40Z\"",
                            (int)(size < 100 ? size : 100), text,
                            zone ? ", and without a time zone of its own" : "");
}

tansu_status date_text_write(evaluation *ev, const expression *e, int64_t milliseconds,
                             char text[DATE_TEXT_SIZE]) {
    int64_t days = milliseconds / 86400000, rest = milliseconds % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    calendar_date date = calendar_date_of(days);
    if (date.year < 0 || date.year > 9999)
        return evaluation_error(ev, e, "Year %lld of the date has no text; it must be 0 to 9999",
                                (long long)date.year);
    unsigned ms = (unsigned)rest;
    snprintf(text, DATE_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
             (unsigned)date.year % 10000, (unsigned)date.month % 100, (unsigned)date.day % 100,
             ms / 3600000 % 100, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return TANSU_OK;
}
