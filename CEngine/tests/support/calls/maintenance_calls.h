/*
 * support/calls/maintenance_calls.h -- calls of verify and repair as text, and their reports.
 */
#ifndef SUPPORT_MAINTENANCE_CALLS_H
#define SUPPORT_MAINTENANCE_CALLS_H

#include "tansu.h"

#include <stdbool.h>

/* upkeep_verify -- the status of tansu_verify(); the report is kept. */
tansu_status maintenance_verify(tansu_db *db);

/* upkeep_clean -- checks that verify finds nothing. */
bool maintenance_clean(tansu_db *db);

/* upkeep_repair -- the status of tansu_repair(); the report is kept. */
tansu_status maintenance_repair(const char *from, const char *to);

/* upkeep_figure -- a whole number of the last report, by dotted path; -1 when it is not there. */
int64_t maintenance_number(const char *path);

/* upkeep_string -- a text of the last report, by dotted path; "" when it is not there. Valid
 * until the next call of upkeep_verify() or upkeep_repair(). */
const char *maintenance_string(const char *path);

/* upkeep_text -- the last report as relaxed JSON. Valid until the next call. */
const char *maintenance_text(void);

/* upkeep_tells -- whether the last report's text contains a text. */
bool maintenance_contains(const char *text);

#endif
