/*
 * backup/backup.h -- copies of a database as of one snapshot, made while it is in use.
 */
#ifndef TANSU_BACKUP_BACKUP_H
#define TANSU_BACKUP_BACKUP_H

#include "backup/task.h"
#include "store/database.h"

/* database_backup -- tansu_backup(); the caller has acquired a handle. */
tansu_status database_backup(database *db, const char *to, tansu_backup_form form, task *progress,
                             backup_result *result, tansu_error *error);

#endif
