/*
 * query/expression/date_text.h -- dates as text without a format, as in MongoDB, whose parser is
 * timelib.
 */
#ifndef TANSU_QUERY_EXPRESSION_DATE_TEXT_H
#define TANSU_QUERY_EXPRESSION_DATE_TEXT_H

#include "query/expression/expression_internal.h"
#include "query/util/time_zone.h"

/*
 * date_text_parse -- milliseconds since 1970 of a text such as "2017-02-08T12:10:40.787Z",
 * "2017-02-08", "20170208 121040", "July 4th, 2017 11am CET" or "7/4/2017 11:56 GMT+2".
 * Year, month and day must be there; without a time it is midnight. `zone`: that of the local time
 * in the text, which then must not have one of its own; NULL: UTC, unless the text has one. Errors:
 * INVALID_QUERY, MEMORY.
 */
tansu_status date_text_parse(evaluation *ev, const expression *e, const char *text, size_t size,
                             const time_zone *zone, int64_t *milliseconds);

/* date_text_zone -- the seconds east of UTC of the time zone that a text begins with, such as "+5",
 * "+0530", "GMT-05:30" or "CET"; *at becomes its end. False when there is none. */
bool date_text_zone(const char **at, const char *end, int64_t *seconds);

/* Room for what date_text_write() writes: "2017-02-08T12:10:40.787Z", and a NUL. */
#define DATE_TEXT_SIZE 25

/* date_text_write -- writes a date, in UTC. Errors: INVALID_QUERY (its year is not from 0 to
 * 9999). */
tansu_status date_text_write(evaluation *ev, const expression *e, int64_t milliseconds,
                             char text[DATE_TEXT_SIZE]);

#endif
