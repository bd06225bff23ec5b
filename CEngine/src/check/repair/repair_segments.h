/*
 * check/repair/repair_segments.h -- the segment files that may belong to the database, their
 * headers, and their order.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_SEGMENTS_H
#define TANSU_CHECK_REPAIR_REPAIR_SEGMENTS_H

#include "check/repair/repair_state.h"

/* repair_find_segments -- reads the MANIFEST and lists the segments. Errors: NOT_FOUND (there is no
 * database), VERSION, IO, MEMORY. */
tansu_status repair_find_segments(repair *r, tansu_error *error);

#endif
