/*
 * log/frame.h -- validating one frame in a mapped segment. Private to the log.
 */
#ifndef TANSU_LOG_FRAME_H
#define TANSU_LOG_FRAME_H

#include "log/segment.h"

/* frame_in -- the frame at an offset of a segment's bytes, `size` of them; as frame_at(). */
const frame_header *frame_in(const log *l, const uint8_t *bytes, uint64_t size, uint64_t offset);

/* frame_at -- the frame at an offset, if its header, bounds and CRC are valid; otherwise NULL. */
const frame_header *frame_at(const log *l, const segment *s, uint64_t offset);

/* frame_proves -- whether a valid frame after an invalid one of commit `sequence` proves that this
 * one is corrupt, and no torn end: when it was written that commit was on the disk. For a process
 * that reads beside the writer any later frame proves that, as the marks it has are older. */
bool frame_proves(const log *l, const frame_header *frame, uint64_t sequence);

/* frame_records_valid -- whether the records of a frame fill it exactly. */
bool frame_records_valid(const frame_header *frame);

/* frame_damaged_error -- the error for a bad frame that was once on the disk. */
tansu_status frame_damaged_error(uint32_t number, uint64_t offset, uint64_t sequence,
                                 tansu_error *error);

#endif
