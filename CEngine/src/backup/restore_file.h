/*
 * backup/restore_file.h -- reading a backup in one compressed file.
 */
#ifndef TANSU_BACKUP_RESTORE_FILE_H
#define TANSU_BACKUP_RESTORE_FILE_H

#include "backup/task.h"
#include "store/manifest.h"
#include "util/staging/staging.h"

/* restore_file -- writes the backup's segments to the staged folder, and fills in its MANIFEST.
 * `fd`: of the backup. Errors: CORRUPT, VERSION, CANCELLED, FULL, IO, MEMORY. */
tansu_status restore_file(const staging *staged, int fd, const char *from, task *progress,
                          manifest *m, tansu_error *error);

#endif
