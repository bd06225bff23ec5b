/*
 * catalog/repair.h -- salvaging what is readable of a damaged database into a new one. Part catalog.
 */
#ifndef TANSU_CATALOG_REPAIR_H
#define TANSU_CATALOG_REPAIR_H

#include "catalog/database.h"

/* database_repair -- all of tansu_repair(), over the given file calls; `settings` of the new database. */
tansu_status database_repair(const char *from, const char *to, const fs *calls,
                             const index_filter_calls *filters, const tansu_options *settings,
                             tansu_task_progress progress, void *context, tansu_buffer *report,
                             tansu_error *error);

#endif
