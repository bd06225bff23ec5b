/*
 * query/expression/operators_date_arithmetic.c -- adding to dates, their differences, and
 * truncating them.
 */
#include "query/expression/dates.h"

/* too_far -- the error of a date that does not fit. */
static tansu_status too_far(evaluation *ev, const expression *e) {
    return evaluation_error(ev, e, "The result is beyond the dates that can be stored");
}

/* The operands of $dateAdd and $dateSubtract. */
enum { ADD_DATE, ADD_UNIT, ADD_AMOUNT, ADD_ZONE };

static tansu_status add(evaluation *ev, const expression *e, doc_value *result) {
    doc_value start, amount;
    date_unit unit;
    const time_zone *zone;
    bool null;
    int64_t date, number;
    tansu_status status = argument(ev, e, ADD_DATE, &start);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&start))
        return result_null(result);
    status = unit_operand(ev, e, ADD_UNIT, &unit, &null);
    if (status == TANSU_OK && !null) {
        status = argument(ev, e, ADD_AMOUNT, &amount);
        null = status == TANSU_OK && is_nullish(&amount);
    }
    if (status == TANSU_OK && !null)
        status = zone_operand(ev, e, ADD_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    status = date_of(ev, e, &start, &date);
    if (status != TANSU_OK)
        return status;
    if (!whole_number(&amount, &number))
        return evaluation_error(ev, e, "The amount must be a whole number of 64 bits");
    if (e->op->variant < 0 && __builtin_sub_overflow(0, number, &number))
        return too_far(ev, e);
    return date_add(zone, date, unit, number, &date) ? result_date(ev, date, result)
                                                     : too_far(ev, e);
}

/* The operands of $dateDiff. */
enum { DIFF_START, DIFF_END, DIFF_UNIT, DIFF_ZONE, DIFF_WEEKDAY };

static tansu_status difference(evaluation *ev, const expression *e, doc_value *result) {
    doc_value start, end;
    date_unit unit;
    const time_zone *zone;
    int weekday = 0;
    bool null;
    int64_t from, to, number;
    tansu_status status = argument(ev, e, DIFF_START, &start);
    if (status == TANSU_OK && is_nullish(&start))
        return result_null(result);
    if (status == TANSU_OK)
        status = argument(ev, e, DIFF_END, &end);
    if (status == TANSU_OK && is_nullish(&end))
        return result_null(result);
    if (status == TANSU_OK)
        status = unit_operand(ev, e, DIFF_UNIT, &unit, &null);
    if (status == TANSU_OK && !null && unit == DATE_WEEK)
        status = weekday_operand(ev, e, DIFF_WEEKDAY, &weekday, &null);
    if (status == TANSU_OK && !null)
        status = zone_operand(ev, e, DIFF_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    status = date_of(ev, e, &start, &from);
    if (status == TANSU_OK)
        status = date_of(ev, e, &end, &to);
    if (status != TANSU_OK)
        return status;
    return date_difference(zone, from, to, unit, weekday, &number)
               ? result_int64(ev, number, result)
               : too_far(ev, e);
}

/* The operands of $dateTrunc. */
enum { TRUNC_DATE, TRUNC_UNIT, TRUNC_BIN, TRUNC_ZONE, TRUNC_WEEKDAY };

static tansu_status truncate_date(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    date_unit unit;
    const time_zone *zone;
    int weekday = 0;
    bool null;
    int64_t date, size;
    tansu_status status = argument(ev, e, TRUNC_DATE, &value);
    if (status == TANSU_OK && is_nullish(&value))
        return result_null(result);
    if (status == TANSU_OK)
        status = bin_operand(ev, e, TRUNC_BIN, &size, &null);
    if (status == TANSU_OK && !null)
        status = unit_operand(ev, e, TRUNC_UNIT, &unit, &null);
    if (status == TANSU_OK && !null && unit == DATE_WEEK)
        status = weekday_operand(ev, e, TRUNC_WEEKDAY, &weekday, &null);
    if (status == TANSU_OK && !null)
        status = zone_operand(ev, e, TRUNC_ZONE, &zone, &null);
    if (status != TANSU_OK)
        return status;
    if (null)
        return result_null(result);
    status = date_of(ev, e, &value, &date);
    if (status != TANSU_OK)
        return status;
    return date_truncate(zone, date, unit, size, weekday, &date) ? result_date(ev, date, result)
                                                                 : too_far(ev, e);
}

const operator_info operators_date_arithmetic[] = {
    {.name = "$dateAdd",
     .evaluate = add,
     .named = "startDate! unit! amount! timezone",
     .compile = compile_dates,
     .variant = 1},
    {.name = "$dateSubtract",
     .evaluate = add,
     .named = "startDate! unit! amount! timezone",
     .compile = compile_dates,
     .variant = -1},
    {.name = "$dateDiff",
     .evaluate = difference,
     .named = "startDate! endDate! unit! timezone startOfWeek",
     .compile = compile_dates},
    {.name = "$dateTrunc",
     .evaluate = truncate_date,
     .named = "date! unit! binSize timezone startOfWeek",
     .compile = compile_dates},
    {.name = NULL},
};
