/*
 * toolkit/upkeep.h -- calls of verify and repair in few words, and their reports.
 */
#ifndef TOOLKIT_UPKEEP_H
#define TOOLKIT_UPKEEP_H

#include "tansu.h"

#include <stdbool.h>

/* upkeep_verify -- the status of tansu_verify(); the report is kept. */
tansu_status upkeep_verify(tansu_db *db);

/* upkeep_clean -- checks that verify finds nothing. */
bool upkeep_clean(tansu_db *db);

/* upkeep_repair -- the status of tansu_repair(); the report is kept. */
tansu_status upkeep_repair(const char *from, const char *to);

/* upkeep_figure -- a whole number of the last report, by dotted path; -1 when it is not there. */
int64_t upkeep_figure(const char *path);

/* upkeep_string -- a text of the last report, by dotted path; "" when it is not there. Valid until the next
 * call of upkeep_verify() or upkeep_repair(). */
const char *upkeep_string(const char *path);

/* upkeep_text -- the last report as relaxed JSON. Valid until the next call. */
const char *upkeep_text(void);

/* upkeep_tells -- whether the last report's text contains a text. */
bool upkeep_tells(const char *text);

#endif
