/*
 * query/expression/dates.h -- what the operators of dates share: their operands.
 */
#ifndef TANSU_QUERY_EXPRESSION_DATES_H
#define TANSU_QUERY_EXPRESSION_DATES_H

#include "query/expression/expression_internal.h"
#include "query/util/date_unit.h"

/* compile_dates -- compiles operands by name, those of the operator. A time zone, a unit, a weekday
 * or a bin's size that is constant is checked, even where no document would need it. Errors: as
 * compile_named(). */
tansu_status compile_dates(expression_compiler *c, const doc_value *operand, expression *e);

/* date_of -- the milliseconds since 1970 of a date, a timestamp or an ObjectID. Errors:
 * INVALID_QUERY. */
tansu_status date_of(evaluation *ev, const expression *e, const doc_value *value, int64_t *date);

/* zone_operand -- the time zone that an operand names; NULL, which is UTC, when it is not given.
 * *null: it is null or missing. The zone lives as long as no other expression is evaluated. Errors:
 * INVALID_QUERY, and those of evaluating it. */
tansu_status zone_operand(evaluation *ev, const expression *e, uint32_t i, const time_zone **zone,
                          bool *null);

/* unit_operand -- the unit of time that an operand names. *null: it is null or missing. Errors: as
 * zone_operand(). */
tansu_status unit_operand(evaluation *ev, const expression *e, uint32_t i, date_unit *unit,
                          bool *null);

/* weekday_operand -- the day of the week that an operand names, 0 being Sunday, which it also is
 * when it is not given. *null: it is null or missing. Errors: as zone_operand(). */
tansu_status weekday_operand(evaluation *ev, const expression *e, uint32_t i, int *weekday,
                             bool *null);

/* bin_operand -- the size of a bin, 1 when it is not given. *null: it is null or missing. Errors:
 * as zone_operand(). */
tansu_status bin_operand(evaluation *ev, const expression *e, uint32_t i, int64_t *size,
                         bool *null);

/* whole_number -- the value of a number that is whole and fits into 64 bits; false for others. */
bool whole_number(const doc_value *value, int64_t *number);

#endif
