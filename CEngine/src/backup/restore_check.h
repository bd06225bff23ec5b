/*
 * backup/restore_check.h -- validating restored segments before they are opened as a log.
 */
#ifndef TANSU_BACKUP_RESTORE_CHECK_H
#define TANSU_BACKUP_RESTORE_CHECK_H

#include "store/manifest.h"
#include "util/staging/staging.h"

/* restore_check -- validates every frame and document of the staged segments, and notes in the
 * MANIFEST whether one is compacted. Errors: CORRUPT (context: file, offset), IO, MEMORY. */
tansu_status restore_check(const staging *staged, manifest *m, tansu_error *error);

#endif
