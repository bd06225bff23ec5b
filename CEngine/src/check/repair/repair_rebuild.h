/*
 * check/repair/repair_rebuild.h -- filling the new database: documents first, then indexes.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_REBUILD_H
#define TANSU_CHECK_REPAIR_REPAIR_REBUILD_H

#include "check/repair/repair_state.h"

/* repair_rebuild -- saves every salvaged document in r->db and builds the indexes. Errors: those of
 * write transactions, MEMORY, CANCELLED. */
tansu_status repair_rebuild(repair *r, tansu_error *error);

#endif
