/*
 * query/expression/operators_date.c -- the parts of dates, and making dates of parts.
 */
#include "query/expression/dates.h"

#include <string.h>

/* ---- One part ---- */

enum date_part {
    PART_YEAR,
    PART_MONTH,
    PART_DAY,
    PART_WEEKDAY,
    PART_DAY_OF_YEAR,
    PART_WEEK,
    PART_ISO_YEAR,
    PART_ISO_WEEK,
    PART_ISO_WEEKDAY,
    PART_HOUR,
    PART_MINUTE,
    PART_SECOND,
    PART_MILLISECOND
};

/* day_of_year -- from 1 on. */
static int day_of_year(const local_time *t) {
    return (int)(t->days - calendar_days(t->date.year, 1, 1)) + 1;
}

/* part_of -- a part of a local time. */
static int64_t part_of(const local_time *t, enum date_part part) {
    switch (part) {
    case PART_YEAR: return t->date.year;
    case PART_MONTH: return t->date.month;
    case PART_DAY: return t->date.day;
    case PART_WEEKDAY: return local_weekday(t->days) + 1;
    case PART_DAY_OF_YEAR: return day_of_year(t);
    case PART_WEEK: return (day_of_year(t) + 6 - local_weekday(t->days)) / 7;
    case PART_ISO_YEAR: return iso_day_of(t->days).year;
    case PART_ISO_WEEK: return iso_day_of(t->days).week;
    case PART_ISO_WEEKDAY: return iso_day_of(t->days).weekday;
    case PART_HOUR: return t->milliseconds / 3600000;
    case PART_MINUTE: return t->milliseconds / 60000 % 60;
    case PART_SECOND: return t->milliseconds / 1000 % 60;
    case PART_MILLISECOND: return t->milliseconds % 1000;
    }
    return 0;
}

/* compile_part -- a date, an array of one, or {"date": …, "timezone": …}. */
static tansu_status compile_part(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_iter iter;
    bool members = operand->type == DOC_DOCUMENT && doc_iter_value(&iter, operand) &&
                   (!doc_iter_next(&iter) || iter.key[0] != '$');
    if (members)
        return compile_dates(c, operand, e);
    expression date = {.op = e->op};
    tansu_status status = compile_operands(c, operand, &date, 1, 1);
    if (status == TANSU_OK)
        status = compile_args(c, e, 2);
    if (status == TANSU_OK)
        e->args[0] = date.args[0];
    return status;
}

static tansu_status evaluate_part(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    int64_t date;
    const time_zone *zone;
    bool null;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return result_null(result);
    status = date_of(ev, e, &value, &date);
    if (status == TANSU_OK)
        status = zone_operand(ev, e, 1, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    enum date_part part = (enum date_part)e->op->variant;
    local_time t = local_time_of(zone, date);
    int64_t number = part_of(&t, part);
    return part == PART_ISO_YEAR ? result_int64(ev, number, result)
                                 : result_int32(ev, (int32_t)number, result);
}

/* ---- All parts ---- */

static tansu_status date_to_parts(evaluation *ev, const expression *e, doc_value *result) {
    static const struct {
        const char *name;
        enum date_part part;
    } names[2][7] = {{{"year", PART_YEAR},
                      {"month", PART_MONTH},
                      {"day", PART_DAY},
                      {"hour", PART_HOUR},
                      {"minute", PART_MINUTE},
                      {"second", PART_SECOND},
                      {"millisecond", PART_MILLISECOND}},
                     {{"isoWeekYear", PART_ISO_YEAR},
                      {"isoWeek", PART_ISO_WEEK},
                      {"isoDayOfWeek", PART_ISO_WEEKDAY},
                      {"hour", PART_HOUR},
                      {"minute", PART_MINUTE},
                      {"second", PART_SECOND},
                      {"millisecond", PART_MILLISECOND}}};
    doc_value value, iso = {NULL, 0, DOC_MISSING};
    int64_t date;
    const time_zone *zone;
    bool null;
    tansu_status status = argument(ev, e, 0, &value);
    if (status == TANSU_OK && e->args[2])
        status = argument(ev, e, 2, &iso);
    if (status == TANSU_OK)
        status = zone_operand(ev, e, 1, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null || (e->args[2] && is_nullish(&iso)))
        return result_null(result);
    if (e->args[2] && iso.type != DOC_BOOL)
        return evaluation_error(ev, e, "Operand \"iso8601\" must be a boolean, not %s",
                                type_name(&iso));
    if (is_nullish(&value))
        return result_null(result);
    status = date_of(ev, e, &value, &date);
    if (status != TANSU_OK)
        return status;
    local_time t = local_time_of(zone, date);
    bool by_iso = e->args[2] && doc_bool(&iso);
    build b;
    build_begin(ev, &b);
    for (size_t i = 0; i < 7; i++) {
        uint8_t bytes[4];
        store_u32(bytes, (uint32_t)part_of(&t, names[by_iso][i].part));
        doc_value number = {bytes, sizeof bytes, DOC_INT32};
        const char *name = names[by_iso][i].name;
        writer_element(&b.w, name, strlen(name), &number);
    }
    return build_end(ev, e, &b, DOC_DOCUMENT, result);
}

/* ---- Dates of parts ---- */

/* The operands of $dateFromParts. */
enum {
    FROM_YEAR,
    FROM_MONTH,
    FROM_DAY,
    FROM_HOUR,
    FROM_MINUTE,
    FROM_SECOND,
    FROM_MILLISECOND,
    FROM_ISO_YEAR,
    FROM_ISO_WEEK,
    FROM_ISO_WEEKDAY,
    FROM_ZONE,
    FROM_PARTS = FROM_ZONE
};

#define FROM_NAMES \
    "year month day hour minute second millisecond isoWeekYear isoWeek isoDayOfWeek timezone"

static tansu_status compile_from_parts(expression_compiler *c, const doc_value *operand,
                                       expression *e) {
    tansu_status status = compile_dates(c, operand, e);
    if (status != TANSU_OK)
        return status;
    const expression **args = e->args;
    bool iso = args[FROM_ISO_YEAR] || args[FROM_ISO_WEEK] || args[FROM_ISO_WEEKDAY];
    if (!args[FROM_YEAR] && !args[FROM_ISO_YEAR])
        return compile_error(c, e->op->name, "Requires \"year\" or \"isoWeekYear\"");
    if (args[FROM_YEAR] ? iso : args[FROM_MONTH] || args[FROM_DAY])
        return compile_error(c, e->op->name,
                             "Takes a year with month and day, or an ISO year with week and day of "
                             "the week, not a mixture");
    return TANSU_OK;
}

/* from_part -- the number of a part. *null: it is null or missing. */
static tansu_status from_part(evaluation *ev, const expression *e, uint32_t i, int64_t *number,
                              bool *null) {
    doc_value value;
    bool is_year = i == FROM_YEAR || i == FROM_ISO_YEAR;
    bool unlimited = i == FROM_SECOND || i == FROM_MILLISECOND;
    *number = i >= FROM_HOUR && i <= FROM_MILLISECOND ? 0 : 1;
    *null = false;
    if (!e->args[i])
        return TANSU_OK;
    tansu_status status = argument(ev, e, i, &value);
    if (status != TANSU_OK)
        return status;
    *null = is_nullish(&value);
    if (*null)
        return TANSU_OK;
    if (!whole_number(&value, number))
        return evaluation_error(ev, e, "A part of a date must be a whole number, not %s",
                                doc_is_number(&value) ? "one with a fraction" : type_name(&value));
    if (!is_year && !unlimited && (*number < INT16_MIN || *number > INT16_MAX))
        return evaluation_error(ev, e, "A part of a date must be from %d to %d", INT16_MIN,
                                INT16_MAX);
    return TANSU_OK;
}

/* days_of_parts -- the days since 1970. */
static int64_t days_of_parts(const int64_t *parts, bool iso) {
    if (iso)
        return iso_day_days(parts[FROM_ISO_YEAR], parts[FROM_ISO_WEEK], parts[FROM_ISO_WEEKDAY]);
    int64_t month = parts[FROM_MONTH] - 1, year = parts[FROM_YEAR] + date_floor(month, 12);
    return calendar_days(year, (int)date_rest(month, 12) + 1, 1) + parts[FROM_DAY] - 1;
}

static tansu_status date_from_parts(evaluation *ev, const expression *e, doc_value *result) {
    /* A part that is null makes the result null, unless one before it is an error. */
    static const uint8_t order[] = {FROM_HOUR,     FROM_MINUTE,   FROM_SECOND,     FROM_MILLISECOND,
                                    FROM_ZONE,     FROM_YEAR,     FROM_MONTH,      FROM_DAY,
                                    FROM_ISO_YEAR, FROM_ISO_WEEK, FROM_ISO_WEEKDAY};
    int64_t parts[FROM_PARTS], milliseconds, date;
    const time_zone *zone;
    bool null = false, iso = e->args[FROM_ISO_YEAR] != NULL;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && !null && i < sizeof order; i++)
        status = order[i] == FROM_ZONE ? zone_operand(ev, e, FROM_ZONE, &zone, &null)
                                       : from_part(ev, e, order[i], &parts[order[i]], &null);
    /* Again, for the parts after it may use other zones. */
    if (status == TANSU_OK && !null)
        status = zone_operand(ev, e, FROM_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    int64_t year = parts[iso ? FROM_ISO_YEAR : FROM_YEAR];
    if (year < 1 || year > 9999)
        return evaluation_error(ev, e, "Year %lld is not from 1 to 9999", (long long)year);
    bool fits = !__builtin_mul_overflow(parts[FROM_SECOND], 1000, &milliseconds) &&
                !__builtin_add_overflow(milliseconds, parts[FROM_MILLISECOND], &milliseconds) &&
                !__builtin_add_overflow(milliseconds,
                                        parts[FROM_HOUR] * 3600000 + parts[FROM_MINUTE] * 60000,
                                        &milliseconds) &&
                local_time_date(zone, days_of_parts(parts, iso), milliseconds, NO_OFFSET, &date);
    if (!fits)
        return evaluation_error(ev, e, "The date is too far away to be stored");
    return result_date(ev, date, result);
}

#define PART(text, which)                                                   \
    {                                                                       \
        .name = text, .evaluate = evaluate_part, .named = "date! timezone", \
        .compile = compile_part, .variant = which                           \
    }

const operator_info operators_date[] = {
    PART("$year", PART_YEAR),
    PART("$month", PART_MONTH),
    PART("$dayOfMonth", PART_DAY),
    PART("$dayOfWeek", PART_WEEKDAY),
    PART("$dayOfYear", PART_DAY_OF_YEAR),
    PART("$week", PART_WEEK),
    PART("$isoWeekYear", PART_ISO_YEAR),
    PART("$isoWeek", PART_ISO_WEEK),
    PART("$isoDayOfWeek", PART_ISO_WEEKDAY),
    PART("$hour", PART_HOUR),
    PART("$minute", PART_MINUTE),
    PART("$second", PART_SECOND),
    PART("$millisecond", PART_MILLISECOND),
    {.name = "$dateToParts",
     .evaluate = date_to_parts,
     .named = "date! timezone iso8601",
     .compile = compile_dates},
    {.name = "$dateFromParts",
     .evaluate = date_from_parts,
     .named = FROM_NAMES,
     .compile = compile_from_parts},
    {.name = NULL},
};
