/*
 * check/repair/repair_replay.h -- replaying the records of the history in the order of commits.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_REPLAY_H
#define TANSU_CHECK_REPAIR_REPAIR_REPLAY_H

#include "check/repair/repair_state.h"

/* repair_replay -- fills in r->locations and r->records. Errors: IO, MEMORY, CANCELLED. */
tansu_status repair_replay(repair *r, tansu_error *error);

#endif
