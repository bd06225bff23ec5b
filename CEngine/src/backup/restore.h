/*
 * backup/restore.h -- restoring a database from a backup.
 */
#ifndef TANSU_BACKUP_RESTORE_H
#define TANSU_BACKUP_RESTORE_H

#include "backup/task.h"
#include "store/database.h"

/* database_restore -- tansu_restore(). A backup is untrusted input: every size, number and checksum
 * is validated before it is used, and nothing outside `to` is written. `calls` and `filters` as in
 * database_open(). */
tansu_status database_restore(const char *from, const char *to, const fs *calls,
                              const index_filter_calls *filters, task *progress,
                              backup_result *result, tansu_error *error);

#endif
