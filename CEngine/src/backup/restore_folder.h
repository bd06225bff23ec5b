/*
 * backup/restore_folder.h -- reading a backup that is a database folder.
 */
#ifndef TANSU_BACKUP_RESTORE_FOLDER_H
#define TANSU_BACKUP_RESTORE_FOLDER_H

#include "backup/task.h"
#include "store/manifest.h"
#include "util/staging/staging.h"

/* restore_folder -- writes the backup's segments to the staged folder, and reads its MANIFEST.
 * Errors: NOT_FOUND, CORRUPT, VERSION, LOCKED, CANCELLED, FULL, IO, MEMORY. */
tansu_status restore_folder(const staging *staged, const char *from, task *progress, manifest *m,
                            tansu_error *error);

#endif
