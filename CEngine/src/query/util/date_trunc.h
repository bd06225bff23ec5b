/*
 * query/util/date_trunc.h -- {"$dateTrunc": {"date": path, "unit": …, "timezone": …,
 * "startOfWeek": …}} in "by": the beginning of the year, month, day and so on of a date, in a time
 * zone.
 */
#ifndef TANSU_QUERY_UTIL_DATE_TRUNC_H
#define TANSU_QUERY_UTIL_DATE_TRUNC_H

#include "bson/document.h"
#include "tansu.h"

typedef struct date_trunc date_trunc;

/* date_trunc_parse -- reads the document; *path is the value of "date", a string. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status date_trunc_parse(const doc_value *document, const char *context, date_trunc **result,
                              doc_value *path, tansu_error *error);

/* date_trunc_free -- fine on NULL. */
void date_trunc_free(date_trunc *trunc);

/* date_trunc_apply -- milliseconds since 1970 truncated; they stay as they are when the result does
 * not fit into 64 bits. */
int64_t date_trunc_apply(const date_trunc *trunc, int64_t milliseconds);

#endif
