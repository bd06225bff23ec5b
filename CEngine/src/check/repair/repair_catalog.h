/*
 * check/repair/repair_catalog.h -- the collections and indexes of the new database.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_CATALOG_H
#define TANSU_CHECK_REPAIR_REPAIR_CATALOG_H

#include "check/repair/repair_state.h"

/* repair_build_catalog -- fills in r->collections. Errors: MEMORY. */
tansu_status repair_build_catalog(repair *r, tansu_error *error);

/* repair_find_collection -- the collection with an id; NULL when no record names it. */
repair_collection *repair_find_collection(const repair *r, uint32_t id);

#endif
