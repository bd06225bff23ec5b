/*
 * backup/backup_internal.h -- a backup in one compressed file.
 */
#ifndef TANSU_BACKUP_BACKUP_INTERNAL_H
#define TANSU_BACKUP_BACKUP_INTERNAL_H

#include "backup/backup.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "util/staging/staging.h"

/* backup_file_write -- writes the log up to the snapshot to the staged file. Errors: CANCELLED,
 * FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_file_write(const staging *staged, database *db, const snapshot *v,
                               const manifest *m, task *progress, uint64_t *bytes,
                               tansu_error *error);

/* ---- A backup that is a database folder ---- */

/* backup_folder_write -- writes the log up to the snapshot, and the MANIFEST, to the staged folder.
 * Errors: CANCELLED, FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_folder_write(const staging *staged, database *db, const snapshot *v,
                                 const manifest *m, task *progress, uint64_t *bytes,
                                 tansu_error *error);

/* ---- Reading a backup in one compressed file ---- */

/* restore_file -- writes the backup's segments to the staged folder, and fills in its MANIFEST.
 * `fd`: of the backup. Errors: CORRUPT, VERSION, CANCELLED, FULL, IO, MEMORY. */
tansu_status restore_file(const staging *staged, int fd, const char *from, task *progress,
                          manifest *m, tansu_error *error);

/* ---- Reading a backup that is a database folder ---- */

/* restore_folder -- writes the backup's segments to the staged folder, and reads its MANIFEST.
 * Errors: NOT_FOUND, CORRUPT, VERSION, LOCKED, CANCELLED, FULL, IO, MEMORY. */
tansu_status restore_folder(const staging *staged, const char *from, task *progress, manifest *m,
                            tansu_error *error);

/* ---- Writing one segment of a restored log ---- */

/*
 * Its number and size come from the backup and are validated.
 */

/* A segment file being written. */
typedef struct restore_segment {
    const staging *staged;
    char *path;
    int fd; /* -1: none */
    uint64_t offset;
} restore_segment;

/* restore_segment_begin, _bytes, _end -- create log/NNNNNNNN.seg in the staged folder, append to
 * it, and sync it. Errors: CORRUPT (an invalid number, or one that was used before, or too many
 * bytes), FULL, IO, MEMORY. */
tansu_status restore_segment_begin(restore_segment *s, uint64_t number, tansu_error *error);
tansu_status restore_segment_bytes(restore_segment *s, const void *bytes, size_t size,
                                   tansu_error *error);
tansu_status restore_segment_end(restore_segment *s, tansu_error *error);

/* restore_segment_drop -- closes the file, if one is open. */
void restore_segment_drop(restore_segment *s);

/* ---- Validating restored segments before they are opened as a log ---- */

/* restore_check -- validates every frame and document of the staged segments, and notes in the
 * MANIFEST whether one is compacted. Errors: CORRUPT (context: file, offset), IO, MEMORY. */
tansu_status restore_check(const staging *staged, manifest *m, tansu_error *error);

#endif
