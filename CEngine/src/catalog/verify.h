/*
 * catalog/verify.h -- checking everything that an open database has stored, as of one commit. Part
 * catalog.
 */
#ifndef TANSU_CATALOG_VERIFY_H
#define TANSU_CATALOG_VERIFY_H

#include "catalog/database.h"

/* database_verify -- all of tansu_verify(); the caller counts as a handle. */
tansu_status database_verify(database *db, tansu_task_progress progress, void *context,
                             tansu_buffer *report, tansu_error *error);

#endif
