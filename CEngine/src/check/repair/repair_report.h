/*
 * check/repair/repair_report.h -- the report of a repair.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_REPORT_H
#define TANSU_CHECK_REPAIR_REPAIR_REPORT_H

#include "check/repair/repair_state.h"

/* repair_report -- writes the report, a BSON document, to an empty buffer. Errors: MEMORY. */
tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error);

#endif
