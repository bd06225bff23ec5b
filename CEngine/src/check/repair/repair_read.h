/*
 * check/repair/repair_read.h -- reading the segments of a corrupt database: bytes that can't be
 * read become zeros and a problem, not an error.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_READ_H
#define TANSU_CHECK_REPAIR_REPAIR_READ_H

#include "check/repair/repair_state.h"

/* repair_read_bytes -- `size` bytes of an open segment file; those that can't be read are zero. */
void repair_read_bytes(repair *r, const repair_segment *s, int fd, uint8_t *bytes, uint64_t offset,
                       size_t size);

/* repair_read_segment -- `size` bytes of a segment in new memory. Errors: IO (the file can't be
 * opened), MEMORY. */
tansu_status repair_read_segment(repair *r, const repair_segment *s, uint64_t from, uint64_t size,
                                 uint8_t **bytes, tansu_error *error);

/* repair_image_make -- if an open segment file is a compressed one of that database: writes its
 * image to a temporary file, which the other phases read instead (repair_image.c). *header becomes
 * that of the image. A block that is corrupt is zeros, and a problem. Errors: FULL, IO, MEMORY,
 * UNSUPPORTED (a codec that this build lacks). */
tansu_status repair_image_make(repair *r, repair_segment *s, int fd, const uint8_t uuid[16],
                               segment_header *header, tansu_error *error);

/* repair_image_block -- whether the bytes of a segment file without a header are those of a
 * compressed one of that database. */
bool repair_image_block(const uint8_t *bytes, uint64_t size, const uint8_t uuid[16]);

/* Reads single records; keeps the segment's file open. */
typedef struct repair_reader {
    const repair *r;
    uint32_t number; /* of the segment that is open */
    int fd;          /* -1: none */
    tansu_buffer record;
} repair_reader;

/* repair_read_record -- the record at a location, in reader->record. False when there is no valid
 * one, or when memory is exhausted (*status). */
bool repair_read_record(repair_reader *reader, log_location location, const record_header **record,
                        tansu_status *status, tansu_error *error);
void repair_reader_end(repair_reader *reader);

/* ---- Commits ----
 *
 * An insert has only the low bits of its commit's number. The others follow from the frames before
 * it in its segment, or from what is known of the gap that it was found in: commits rise with
 * offsets. */

/* repair_mark_frame -- notes a frame. `begins`: it is the first of a run. False when memory is
 * exhausted. */
bool repair_mark_frame(repair *r, log_location location, uint64_t commit, bool begins);

/* repair_mark_gaps -- notes the gaps, when their bounds are known; records can be asked for from
 * then on. Errors: MEMORY. */
tansu_status repair_mark_gaps(repair *r, tansu_error *error);

/* repair_commit -- the commit of a record. */
uint64_t repair_commit(const repair *r, log_location location, const record_header *record);

#endif
