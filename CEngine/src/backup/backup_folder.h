/*
 * backup/backup_folder.h -- a backup that is a database folder.
 */
#ifndef TANSU_BACKUP_BACKUP_FOLDER_H
#define TANSU_BACKUP_BACKUP_FOLDER_H

#include "backup/task.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "util/staging/staging.h"

/* backup_folder_write -- writes the log up to the snapshot, and the MANIFEST, to the staged folder.
 * Errors: CANCELLED, FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_folder_write(const staging *staged, database *db, const snapshot *v,
                                 const manifest *m, task *progress, uint64_t *bytes,
                                 tansu_error *error);

#endif
