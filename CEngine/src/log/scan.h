/*
 * log/scan.h -- reading the bytes of segments without trusting them: for verification, which runs
 * concurrently with writers, and for repair, which reads files that may be damaged anywhere.
 */
#ifndef TANSU_LOG_SCAN_H
#define TANSU_LOG_SCAN_H

#include "log/log.h"
#include "log/segment.h"

/* ---- Bytes ---- */

/* scan_frame -- the frame at an offset of `bytes` (`size` of them), if its header, its bounds, its
 * CRC and the sizes of its records are valid; otherwise NULL. */
const frame_header *scan_frame(uint32_t crc_seed, const uint8_t *bytes, uint64_t size,
                               uint64_t offset);

/* scan_zeros -- skips words of eight bytes that are zero: the offset of the first one that is not,
 * from `offset` on, or where less than eight bytes are left. After its last commit a segment has
 * up to megabytes of zeros, which opening reads. */
uint64_t scan_zeros(const uint8_t *bytes, uint64_t size, uint64_t offset);

/* scan_find -- the offset of the first frame from `offset` on that is valid and whose number is at
 * least `least`; `size` when there is none. */
uint64_t scan_find(uint32_t crc_seed, const uint8_t *bytes, uint64_t size, uint64_t offset,
                   uint64_t least);

/* scan_record -- the fault of a record of which `room` bytes are available, as the middle of a
 * sentence; NULL when it is valid: sizes, type, and a payload that is the BSON document of such a
 * record. `sequence`: the commit that it must belong to; 0 for any. */
const char *scan_record(const record_header *record, uint64_t room, uint64_t sequence);

/* record_document -- the document that a put of that record id holds; NULL when the record is no
 * such put, or its sizes are invalid: what lies in the log is not read at opening, and may be
 * damaged. `room`: the bytes that may be read from the record on. */
static inline const uint8_t *record_document(const record_header *record, uint64_t room,
                                             uint64_t where, uint32_t *size) {
    uint64_t front = record_front(record);
    if (record->where != where || record->type != RECORD_PUT || record->size < front + 5 ||
        record->size > room)
        return NULL;
    const uint8_t *doc = (const uint8_t *)record + front;
    *size = load_u32(doc);
    return *size >= 5 && align8(*size) == record->size - front ? doc : NULL;
}

/* scan_salvage -- the offset of the first record from `offset` on that scan_record() accepts,
 * searched for at every eighth byte up to `end`; `end` when there is none. */
uint64_t scan_salvage(const uint8_t *bytes, uint64_t offset, uint64_t end);

/* scan_header -- whether a segment's header is valid, apart from uuid and number. */
bool scan_header(const segment_header *header);

/* ---- Records of a snapshot ---- */

/* What a call that copies documents has checked. The checksum of a frame covers all its records, so
 * it is not computed when one of them is read: a segment's frames are checked when the first of its
 * records is asked for, and the bytes that are in no valid frame are kept. The blocks of compressed
 * segments have checksums of their own, which every read checks. With `shared`, what others with it
 * have checked of the same log is not checked again: for short calls. */
typedef struct intact_segment intact_segment;

/* Zeroed but for the first two members and `shared`, it has checked nothing yet. */
typedef struct log_intact {
    log *l;
    uint64_t position; /* a snapshot's: no later frame is looked at */
    bool shared;
    bool no_memory; /* the reader's: something could not be checked */
    intact_segment *segments;
    size_t count, capacity;
    size_t last; /* the segment of the location before */
} log_intact;

/* log_intact_at -- whether the record at a location is in a valid frame. The caller holds the
 * snapshot, which keeps the segment mapped. Errors: MEMORY. */
tansu_status log_intact_at(log_intact *checked, log_location location, bool *intact,
                           tansu_error *error);

/* log_intact_end -- frees what it remembers. log_intact_end_shared: likewise, of a log. */
void log_intact_end(log_intact *checked);
void log_intact_end_shared(log *l);

/* ---- Segments of an open log ---- */

/* log_capacity -- how many bytes of an active segment may be examined; 0 when there is none of that
 * number. Any thread. */
uint64_t log_capacity(log *l, uint32_t number);

/* log_mapped -- the bytes of a segment, also of one that only snapshots use, and how many may be
 * examined; NULL when none has that number, or it is compressed. As log_examine(). */
const uint8_t *log_mapped(log *l, uint32_t number, uint64_t *end);

/* log_examine -- the record at a location, and how many bytes may be examined from there on;
 * NULL when that is outside its segment, or (`*there` false) no active segment has that number.
 * Any thread that holds a snapshot, which keeps it mapped. */
const record_header *log_examine(log *l, log_pins *pins, log_location location, uint64_t *room,
                                 bool *there);

/* log_from -- the active segments from the one on that covers a commit, in order, in new memory,
 * which the caller frees. `end` is how much may be examined; `last` is UINT64_MAX in the head. As
 * log_examine(). Errors: MEMORY. */
tansu_status log_from(log *l, uint64_t sequence, log_extent **list, uint32_t *count,
                      tansu_error *error);

/* log_compacted_to -- the last commit up to which compactions may have left out deletions: in a
 * segment at the log's beginning, or in one that says so; 0 without one. */
uint64_t log_compacted_to(log *l);

/* log_segment_count -- how many segments are mapped, active or not. Any thread. */
uint32_t log_segment_count(log *l);

/* log_has_segment -- whether the segment of that number is mapped, active or not. */
bool log_has_segment(const log *l, uint32_t number);

/* ---- Validating one frame in a mapped segment ---- */

/*
 * Private to the log.
 */

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
