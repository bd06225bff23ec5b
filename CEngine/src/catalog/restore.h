/*
 * catalog/restore.h -- a database out of a backup (docs/backup-format.md). Part catalog.
 */
#ifndef TANSU_CATALOG_RESTORE_H
#define TANSU_CATALOG_RESTORE_H

#include "catalog/backup.h"

/* database_restore -- tansu_restore(). A backup is not trusted: every size, number and checksum is
 * looked at before it is acted upon, and nothing outside `to` is written. `calls` and `filters` as in
 * database_open(). */
tansu_status database_restore(const char *from, const char *to, const fs *calls,
                              const index_filter_calls *filters, task *progress,
                              backup_result *result, tansu_error *error);

/* ---- Within the part ---- */

/* A segment file being written: the numbers and sizes of a backup are its own word only. */
typedef struct restore_segment {
    const backup_part *part;
    char *path;
    int fd;
    uint64_t offset;
} restore_segment;

/* restore_segment_begin / _bytes / _end -- writes log/NNNNNNNN.seg in the part. Errors: CORRUPT (a number
 * that no segment has, or one that was there before, or too many bytes), FULL, IO, MEMORY. */
tansu_status restore_segment_begin(restore_segment *s, uint64_t number, tansu_error *error);
tansu_status restore_segment_bytes(restore_segment *s, const void *bytes, size_t size,
                                   tansu_error *error);
tansu_status restore_segment_end(restore_segment *s, tansu_error *error);
void restore_segment_drop(restore_segment *s);

/* restore_file -- the segments out of a backup in one file, and what its MANIFEST says
 * (catalog/restore_file.c). `fd`: of the backup. */
tansu_status restore_file(const backup_part *part, int fd, const char *from, task *progress,
                          manifest *m, tansu_error *error);

/* restore_folder -- the same out of a folder (catalog/restore_folder.c). */
tansu_status restore_folder(const backup_part *part, const char *from, task *progress, manifest *m,
                            tansu_error *error);

/* restore_check -- looks at every frame and document of the part's segments before they are opened as a
 * log (catalog/restore_check.c), and notes whether one is compacted. Errors: CORRUPT (context: file, offset), IO, MEMORY. */
tansu_status restore_check(const backup_part *part, manifest *m, tansu_error *error);

#endif
