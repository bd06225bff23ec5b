/*
 * check/repair/repair.h -- salvaging every readable document of a corrupt database into a new one.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_H
#define TANSU_CHECK_REPAIR_REPAIR_H

#include "store/database.h"
#include "store/key_file.h"

/* database_repair -- all of tansu_repair(), with the given file system calls; `key` of an encrypted
 * database, `settings` of the new one without it. */
tansu_status database_repair(const char *from, const char *to, const user_key *key, const fs *calls,
                             const query_hooks *hooks, const tansu_options *settings,
                             tansu_progress progress, void *context, tansu_buffer *report,
                             tansu_error *error);

#endif
