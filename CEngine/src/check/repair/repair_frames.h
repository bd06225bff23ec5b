/*
 * check/repair/repair_frames.h -- the intact frames of every segment, at whatever offset they lie,
 * and the records in the gaps between them.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_FRAMES_H
#define TANSU_CHECK_REPAIR_REPAIR_FRAMES_H

#include "check/repair/repair_state.h"

/* repair_find_frames -- fills in r->runs, r->gaps and r->orphans. Errors: IO, MEMORY, CANCELLED. */
tansu_status repair_find_frames(repair *r, tansu_error *error);

#endif
