/*
 * query/expression/dates.c -- the operands of the operators of dates.
 */
#include "query/expression/dates.h"

#include "bson/number.h"

#include <string.h>

/* ---- Values ---- */

bool whole_number(const doc_value *value, int64_t *number) {
    if (!doc_is_number(value) || !number_whole(value, FRACTION_CUT, number))
        return false;
    uint8_t bytes[8];
    store_u64(bytes, (uint64_t)*number);
    doc_value whole = {bytes, sizeof bytes, DOC_INT64};
    return number_compare(value, &whole) == 0;
}

tansu_status date_of(evaluation *ev, const expression *e, const doc_value *value, int64_t *date) {
    switch (value->type) {
    case DOC_DATE: *date = doc_int64(value); return TANSU_OK;
    case DOC_TIMESTAMP: *date = (int64_t)load_u32(value->data + 4) * 1000; return TANSU_OK;
    case DOC_OID: {
        const uint8_t *p = value->data;
        uint32_t seconds = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        *date = (int64_t)(int32_t)seconds * 1000;
        return TANSU_OK;
    }
    default:
        return evaluation_error(ev, e,
                                "Takes a date, a timestamp or an ObjectID, not a value of type %s",
                                type_name(value));
    }
}

/* ---- Operands by name ---- */

/* named_operand -- the value of an operand; false when it is not given. */
static bool named_operand(evaluation *ev, const expression *e, uint32_t i, doc_value *value,
                          bool *null, tansu_status *status) {
    *null = false;
    *status = TANSU_OK;
    if (!e->args[i])
        return false;
    *status = argument(ev, e, i, value);
    *null = *status == TANSU_OK && is_nullish(value);
    return *status == TANSU_OK && !*null;
}

tansu_status zone_operand(evaluation *ev, const expression *e, uint32_t i, const time_zone **zone,
                          bool *null) {
    doc_value value;
    tansu_status status;
    *zone = NULL;
    if (!named_operand(ev, e, i, &value, null, &status))
        return status;
    if (value.type != DOC_STRING)
        return evaluation_error(ev, e, "A time zone must be a string, not a value of type %s",
                                type_name(&value));
    size_t size;
    const char *name = doc_string(&value, &size);
    /* No zone has a name of one letter; "Z" is a suffix of dates only. */
    if (size == 1)
        return evaluation_error(ev, e, "There is no time zone \"%s\"; use \"UTC\"", name);
    return time_zone_cache_open(&ev->zones, name, size, e->op->name, zone, ev->error);
}

tansu_status unit_operand(evaluation *ev, const expression *e, uint32_t i, date_unit *unit,
                          bool *null) {
    doc_value value;
    tansu_status status;
    if (!named_operand(ev, e, i, &value, null, &status) || date_unit_read(&value, unit))
        return status;
    return evaluation_error(ev, e,
                            "A unit of time must be \"year\", \"quarter\", \"month\", \"week\", "
                            "\"day\", \"hour\", \"minute\", \"second\" or \"millisecond\"");
}

tansu_status weekday_operand(evaluation *ev, const expression *e, uint32_t i, int *weekday,
                             bool *null) {
    doc_value value;
    tansu_status status;
    *weekday = 0;
    if (!named_operand(ev, e, i, &value, null, &status) || date_weekday_read(&value, weekday))
        return status;
    return evaluation_error(ev, e,
                            "Weeks must start on a day with an English name, such as \"monday\"");
}

tansu_status bin_operand(evaluation *ev, const expression *e, uint32_t i, int64_t *size,
                         bool *null) {
    doc_value value;
    tansu_status status;
    *size = 1;
    if (!named_operand(ev, e, i, &value, null, &status))
        return status;
    if (whole_number(&value, size) && *size > 0)
        return TANSU_OK;
    return evaluation_error(ev, e, "The size of a bin must be a positive whole number");
}

/* ---- Compiling ---- */

/* named_index -- the number of an operand by name, or -1. */
static int named_index(const expression *e, const char *name) {
    size_t size = strlen(name);
    int i = 0;
    for (const char *at = e->op->named; *at; i++) {
        size_t length = strcspn(at, " ");
        if (length - (at[length - 1] == '!') == size && memcmp(at, name, size) == 0)
            return i;
        at += length + strspn(at + length, " ");
    }
    return -1;
}

/* is_constant -- whether an operand is given, and constant. */
static bool is_constant(const expression *e, int i) {
    doc_value value;
    return i >= 0 && e->args[i] && expression_constant(e->args[i], &value);
}

tansu_status compile_dates(expression_compiler *c, const doc_value *operand, expression *e) {
    tansu_status status = compile_named(c, operand, e, e->op->named);
    if (status != TANSU_OK)
        return status;
    bool varies = false, null = false;
    for (uint32_t i = 0; i < e->count; i++)
        varies = varies || (e->args[i] && !is_constant(e, (int)i));
    /* An expression that is constant as a whole is evaluated, in the order of its operands. */
    if (!varies || c->unreached)
        return TANSU_OK;
    evaluation *ev = c->constant;
    ev->error = c->error;
    int zone = named_index(e, "timezone"), unit = named_index(e, "unit");
    int weekday = named_index(e, "startOfWeek"), bin = named_index(e, "binSize");
    date_unit units = DATE_YEAR;
    int64_t size;
    const time_zone *zones;
    if (is_constant(e, unit))
        status = unit_operand(ev, e, (uint32_t)unit, &units, &null);
    if (status == TANSU_OK && !null && units == DATE_WEEK && is_constant(e, weekday)) {
        int number;
        status = weekday_operand(ev, e, (uint32_t)weekday, &number, &null);
    }
    if (status == TANSU_OK && !null && is_constant(e, bin))
        status = bin_operand(ev, e, (uint32_t)bin, &size, &null);
    if (status == TANSU_OK && !null && is_constant(e, zone))
        status = zone_operand(ev, e, (uint32_t)zone, &zones, &null);
    return status;
}
