/*
 * check/repair/repair_history.h -- which run each commit is read from, and which commits are
 * missing.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_HISTORY_H
#define TANSU_CHECK_REPAIR_REPAIR_HISTORY_H

#include "check/repair/repair_state.h"

/* repair_build_history -- fills in r->slices and r->missing. Errors: MEMORY. */
tansu_status repair_build_history(repair *r, tansu_error *error);

/* repair_missing_from -- the index of the first missing range that ends with a commit or later. */
size_t repair_missing_from(const repair *r, uint64_t sequence);

/* repair_count_missing -- how many commits between `from` and `to` are missing; *first and *last:
 * the first and the last of them. */
uint64_t repair_count_missing(const repair *r, uint64_t from, uint64_t to, uint64_t *first,
                              uint64_t *last);

#endif
