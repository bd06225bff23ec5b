/*
 * check/repair/repair_problems.h -- the problems of the log: corrupt byte ranges, misdirected
 * writes, and missing commits.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_PROBLEMS_H
#define TANSU_CHECK_REPAIR_REPAIR_PROBLEMS_H

#include "check/repair/repair_state.h"

/* repair_add_log_problems -- adds them to r->problems, and counts what is lost. */
void repair_add_log_problems(repair *r);

#endif
