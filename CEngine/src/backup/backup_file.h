/*
 * backup/backup_file.h -- a backup in one compressed file.
 */
#ifndef TANSU_BACKUP_BACKUP_FILE_H
#define TANSU_BACKUP_BACKUP_FILE_H

#include "backup/task.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "util/staging/staging.h"

/* backup_file_write -- writes the log up to the snapshot to the staged file. Errors: CANCELLED,
 * FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_file_write(const staging *staged, database *db, const snapshot *v,
                               const manifest *m, task *progress, uint64_t *bytes,
                               tansu_error *error);

#endif
