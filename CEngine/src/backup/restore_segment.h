/*
 * backup/restore_segment.h -- writing one segment of a restored log. Its number and size come from
 * the backup and are validated.
 */
#ifndef TANSU_BACKUP_RESTORE_SEGMENT_H
#define TANSU_BACKUP_RESTORE_SEGMENT_H

#include "util/staging/staging.h"

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

#endif
