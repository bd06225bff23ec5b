/*
 * query/expression/operators_date_text.c -- dates as text, with a format or without.
 *
 * A format is text with specifiers, such as "%Y-%m-%d". Reading follows timelib, which MongoDB
 * uses: it takes fewer digits than it writes, except of minutes and seconds; "%j" counts days from
 * 0 when it is read and from 1 when it is written.
 */
#include "query/expression/date_text.h"
#include "query/expression/dates.h"

#include <string.h>

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};

/* check_format -- that all specifiers of a format are among those of a list. */
static tansu_status check_format(evaluation *ev, const expression *e, const doc_value *format,
                                 const char *known) {
    if (format->type != DOC_STRING)
        return evaluation_error(ev, e, "Operand \"format\" must be a string, not %s",
                                type_name(format));
    size_t size;
    const char *text = doc_string(format, &size);
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '%')
            continue;
        if (++i == size)
            return evaluation_error(ev, e, "Format ends with a %%; use %%%% for one");
        if (text[i] == '\0' || (text[i] != '%' && !strchr(known, text[i])))
            return evaluation_error(ev, e, "Format has the unknown specifier %%%c; there are %s",
                                    text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', known);
    }
    return evaluation_step(ev, 1 + size / 64);
}

/* format_operand -- the value of the operand "format", which is checked; missing when it is not
 * given. */
static tansu_status format_operand(evaluation *ev, const expression *e, uint32_t i,
                                   const char *known, doc_value *format) {
    tansu_status status = argument(ev, e, i, format);
    if (status != TANSU_OK || !e->args[i] || is_nullish(format))
        return status;
    return check_format(ev, e, format, known);
}

/* ---- Writing ---- */

/* put_number -- writes a number with at least `width` digits. */
static char *put_number(char *at, int64_t number, int width) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 || count < width);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

/* put_text -- writes a text of a size. */
static char *put_text(char *at, const char *text, size_t size) {
    memcpy(at, text, size);
    return at + size;
}

/* put_part -- writes what a specifier stands for, at most 10 bytes; NULL when a year has not four
 * digits. */
static char *put_part(char *at, char specifier, const local_time *t) {
    int seconds = t->milliseconds / 1000;
    int64_t minutes = t->offset / 60;
    int day = (int)(t->days - calendar_days(t->date.year, 1, 1));
    int64_t year;
    switch (specifier) {
    case 'd': return put_number(at, t->date.day, 2);
    case 'H': return put_number(at, seconds / 3600, 2);
    case 'M': return put_number(at, seconds / 60 % 60, 2);
    case 'S': return put_number(at, seconds % 60, 2);
    case 'L': return put_number(at, t->milliseconds % 1000, 3);
    case 'j': return put_number(at, day + 1, 3);
    case 'm': return put_number(at, t->date.month, 2);
    case 'b': return put_text(at, month_names[t->date.month - 1], 3);
    case 'B':
        return put_text(at, month_names[t->date.month - 1], strlen(month_names[t->date.month - 1]));
    case 'u': return put_number(at, iso_day_of(t->days).weekday, 1);
    case 'w': return put_number(at, local_weekday(t->days) + 1, 1);
    case 'U': return put_number(at, (day + 7 - local_weekday(t->days)) / 7, 2);
    case 'V': return put_number(at, iso_day_of(t->days).week, 2);
    case 'G':
    case 'Y':
        year = specifier == 'Y' ? t->date.year : iso_day_of(t->days).year;
        return year >= 0 && year <= 9999 ? put_number(at, year, 4) : NULL;
    case 'z':
        *at++ = t->offset < 0 ? '-' : '+';
        minutes = minutes < 0 ? -minutes : minutes;
        return put_number(put_number(at, minutes / 60, 2), minutes % 60, 2);
    case 'Z':
        if (minutes < 0)
            *at++ = '-';
        return put_number(at, minutes < 0 ? -minutes : minutes, 1);
    default: *at++ = '%'; return at;
    }
}

/* write_date -- the text of a date in a format that was checked. */
static tansu_status write_date(evaluation *ev, const expression *e, const char *format, size_t size,
                               const local_time *t, doc_value *result) {
    char small[256], *text = small;
    /* Two bytes of a format become at most ten. */
    if (size > sizeof small / 5) {
        text = arena_alloc(&ev->memory, 5 * size);
        if (!text)
            return evaluation_too_large(ev, e);
    }
    char *at = text;
    for (size_t i = 0; i < size; i++) {
        if (format[i] != '%') {
            *at++ = format[i];
            continue;
        }
        at = put_part(at, format[++i], t);
        if (!at)
            return evaluation_error(ev, e, "Year %lld has no text of four digits",
                                    (long long)t->date.year);
    }
    return result_string(ev, text, (size_t)(at - text), result);
}

/* The operands of $dateToString. */
enum { TO_DATE, TO_FORMAT, TO_ZONE, TO_NULL };

static tansu_status date_to_string(evaluation *ev, const expression *e, doc_value *result) {
    static const char standard[] = "%Y-%m-%dT%H:%M:%S.%LZ";
    doc_value value, format;
    const time_zone *zone;
    bool null;
    int64_t date;
    tansu_status status = argument(ev, e, TO_DATE, &value);
    if (status == TANSU_OK)
        status = format_operand(ev, e, TO_FORMAT, "YmdHMSLjbBuwUVGzZ", &format);
    if (status == TANSU_OK)
        status = zone_operand(ev, e, TO_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return e->args[TO_NULL] ? argument(ev, e, TO_NULL, result) : result_null(result);
    if (null || (e->args[TO_FORMAT] && is_nullish(&format)))
        return result_null(result);
    status = date_of(ev, e, &value, &date);
    if (status != TANSU_OK)
        return status;
    local_time t = local_time_of(zone, date);
    /* The "Z" says that it is UTC. */
    size_t size = sizeof standard - (zone && !time_zone_is_utc(zone) ? 2 : 1);
    const char *text = e->args[TO_FORMAT] ? doc_string(&format, &size) : standard;
    return write_date(ev, e, text, size, &t, result);
}

/* ---- Reading ---- */

/* What a part has that is not there. */
#define NONE INT64_MIN

/* The parts that were read. */
typedef struct read_parts {
    const char *at, *end;
    int64_t year, month, day;
    int64_t hour, minute, second, millisecond;
    int64_t iso_year, iso_week, iso_weekday;
    int64_t offset; /* of the zone, in seconds */
} read_parts;

/* read_number -- a number of at most that many digits, and its digits; 0 when there is none. */
static int read_number(read_parts *p, int most, int64_t *number) {
    int count = 0;
    for (*number = 0; count < most && p->at < p->end && *p->at >= '0' && *p->at <= '9'; count++)
        *number = *number * 10 + (*p->at++ - '0');
    return count;
}

/* read_number_after -- a number, after anything that is no digit. */
static int read_number_after(read_parts *p, int most, int64_t *number) {
    while (p->at < p->end && (*p->at < '0' || *p->at > '9'))
        p->at++;
    return read_number(p, most, number);
}

/* read_month -- a name of a month of any letter case. */
static bool read_month(read_parts *p) {
    static const char *const roman[] = {"i",   "ii",   "iii", "iv", "v",  "vi",
                                        "vii", "viii", "ix",  "x",  "xi", "xii"};
    char word[10];
    size_t size = 0;
    for (; p->at < p->end; p->at++) {
        char c = *p->at >= 'A' && *p->at <= 'Z' ? (char)(*p->at + 'a' - 'A') : *p->at;
        if (c < 'a' || c > 'z')
            break;
        if (size == sizeof word)
            return false;
        word[size++] = c;
    }
    for (int i = 0; i < 12 && size > 0; i++) {
        /* But for the first letter, names are in small letters. */
        const char *name = month_names[i];
        size_t length = strlen(name);
        bool begins = size <= length && word[0] == name[0] + 'a' - 'A' &&
                      memcmp(word + 1, name + 1, size - 1) == 0;
        if ((begins && (size == 3 || size == length || (size == 4 && i == 8))) ||
            (strlen(roman[i]) == size && memcmp(roman[i], word, size) == 0)) {
            p->month = i + 1;
            return true;
        }
    }
    return false;
}

/* read_day_of_year -- a number of days since the beginning of the year, which was read before. */
static bool read_day_of_year(read_parts *p) {
    int64_t number;
    if (read_number(p, 3, &number) == 0 || p->year == NONE)
        return false;
    calendar_date date = calendar_date_of(calendar_days(p->year, 1, 1) + number);
    p->year = date.year;
    p->month = date.month;
    p->day = date.day;
    return true;
}

/* read_milliseconds -- up to three digits of a fraction. */
static bool read_milliseconds(read_parts *p) {
    int digits = read_number(p, 3, &p->millisecond);
    for (int i = digits; i < 3; i++)
        p->millisecond *= 10;
    return digits > 0;
}

/* read_minutes_east -- "+90": the minutes of an offset. */
static bool read_minutes_east(read_parts *p) {
    if (*p->at != '+' && *p->at != '-')
        return false;
    bool negative = *p->at++ == '-';
    int64_t minutes;
    (void)read_number(p, 9, &minutes);
    p->offset = (negative ? -60 : 60) * minutes;
    return true;
}

/* read_part -- what a specifier stands for; there is at least one character left. */
static bool read_part(read_parts *p, char specifier) {
    switch (specifier) {
    case 'Y': return read_number(p, 4, &p->year) > 0;
    case 'm': return read_number(p, 2, &p->month) > 0;
    case 'd': return read_number(p, 2, &p->day) > 0;
    case 'H': return read_number(p, 2, &p->hour) > 0;
    case 'M': return read_number(p, 2, &p->minute) == 2;
    case 'S': return read_number(p, 2, &p->second) == 2;
    case 'L': return read_milliseconds(p);
    case 'b':
    case 'B': return read_month(p);
    case 'j': return read_day_of_year(p);
    case 'G': return read_number_after(p, 4, &p->iso_year) > 0;
    case 'V':
        return read_number_after(p, 2, &p->iso_week) > 0 && p->iso_week >= 1 && p->iso_week <= 53;
    case 'u':
        return read_number_after(p, 1, &p->iso_weekday) > 0 && p->iso_weekday >= 1 &&
               p->iso_weekday <= 7;
    case 'z': return date_text_zone(&p->at, p->end, &p->offset);
    default: return read_minutes_east(p);
    }
}

/* complete_date -- the days since 1970; false when parts lack, mix, or are no date. */
static bool complete_date(const read_parts *p, int64_t *days) {
    bool iso = p->iso_year != NONE || p->iso_week != NONE || p->iso_weekday != NONE;
    if (iso) {
        if (p->iso_year == NONE || p->year != NONE || p->month != NONE || p->day != NONE)
            return false;
        *days = iso_day_days(p->iso_year, p->iso_week == NONE ? 1 : p->iso_week,
                             p->iso_weekday == NONE ? 1 : p->iso_weekday);
        return calendar_date_of(*days).year >= 0;
    }
    if (p->year == NONE || p->month < 1 || p->month > 12 || p->day < 1)
        return false;
    *days = calendar_days(p->year, (int)p->month, 1) + p->day - 1;
    return calendar_date_of(*days).month == (int)p->month && p->day <= 31;
}

/* zero_unless -- a part, or 0 if it is not there. */
static int64_t zero_unless(int64_t part) {
    return part == NONE ? 0 : part;
}

/* read_date -- the date that a text with a checked format is; false when it is none. */
static bool read_date(const char *text, size_t size, const char *format, size_t format_size,
                      const time_zone *zone, int64_t *date) {
    read_parts p = {text, text + size, NONE, NONE, NONE, NONE, NONE,
                    NONE, NONE,        NONE, NONE, NONE, NONE};
    const char *at = format, *end = format + format_size;
    for (; at < end && p.at < p.end; at++) {
        bool special = *at == '%';
        at += special;
        if (special && *at != '%') {
            if (!read_part(&p, *at))
                return false;
        } else if (*p.at++ != *at) {
            return false;
        }
    }
    int64_t days, hour = zero_unless(p.hour), minute = zero_unless(p.minute);
    int64_t second = zero_unless(p.second);
    if (at < end || p.at < p.end || !complete_date(&p, &days) || hour > 23 || minute > 59 ||
        second > 59)
        return false;
    int64_t milliseconds = ((hour * 60 + minute) * 60 + second) * 1000 + zero_unless(p.millisecond);
    if (p.offset == NONE)
        return local_time_date(zone, days, milliseconds, NO_OFFSET, date);
    return !zone && local_time_date(NULL, days, milliseconds - p.offset * 1000, NO_OFFSET, date);
}

/* The operands of $dateFromString. */
enum { FROM_TEXT, FROM_FORMAT, FROM_ZONE, FROM_NULL, FROM_ERROR };

/* parse_date -- the date that the text is. INVALID_QUERY: it is none. */
static tansu_status parse_date(evaluation *ev, const expression *e, const doc_value *value,
                               const doc_value *format, const time_zone *zone, int64_t *date) {
    if (value->type != DOC_STRING)
        return evaluation_error(ev, e, "Operand \"dateString\" must be a string, not %s",
                                type_name(value));
    size_t size, format_size;
    const char *text = doc_string(value, &size);
    if (zone && time_zone_is_utc(zone))
        zone = NULL;
    if (!e->args[FROM_FORMAT])
        return date_text_parse(ev, e, text, size, zone, date);
    const char *format_text = doc_string(format, &format_size);
    if (read_date(text, size, format_text, format_size, zone, date))
        return TANSU_OK;
    return evaluation_error(ev, e, "Text \"%.*s\" is no date in the format \"%.*s\"%s",
                            (int)(size < 100 ? size : 100), text,
                            (int)(format_size < 100 ? format_size : 100), format_text,
                            zone ? ", and without a time zone of its own" : "");
}

static tansu_status date_from_string(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value, format;
    const time_zone *zone;
    bool null;
    int64_t date;
    tansu_status status = argument(ev, e, FROM_TEXT, &value);
    if (status == TANSU_OK)
        status = format_operand(ev, e, FROM_FORMAT, "YmdHMSLjbBuVGzZ", &format);
    if (status == TANSU_OK)
        status = zone_operand(ev, e, FROM_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return e->args[FROM_NULL] ? argument(ev, e, FROM_NULL, result) : result_null(result);
    if (value.type == DOC_STRING && (null || (e->args[FROM_FORMAT] && is_nullish(&format))))
        return result_null(result);
    status = evaluation_step(ev, 1 + value.size / 64);
    if (status != TANSU_OK)
        return status;
    status = parse_date(ev, e, &value, &format, zone, &date);
    if (status == TANSU_E_INVALID_QUERY && e->args[FROM_ERROR])
        return argument(ev, e, FROM_ERROR, result);
    return status == TANSU_OK ? result_date(ev, date, result) : status;
}

const operator_info operators_date_text[] = {
    {.name = "$dateToString",
     .evaluate = date_to_string,
     .named = "date! format timezone onNull",
     .compile = compile_dates},
    {.name = "$dateFromString",
     .evaluate = date_from_string,
     .named = "dateString! format timezone onNull onError",
     .compile = compile_dates},
    {.name = NULL},
};
