/*
 * log/walk.h -- looking at the bytes of segments without trusting them: for verify, which reads beside
 * writers, and for repair, which reads files that may be damaged anywhere. Part log; may call base.
 */
#ifndef TANSU_LOG_WALK_H
#define TANSU_LOG_WALK_H

#include "log/log.h"

/* ---- Bytes ---- */

/* walk_frame -- the frame at an offset of `bytes` (`size` of them), if its header, its bounds, its
 * CRC and the sizes of its records check out; otherwise NULL. */
const frame_header *walk_frame(uint32_t crc_seed, const uint8_t *bytes, uint64_t size,
                               uint64_t offset);

/* walk_find -- the offset of the first frame from `offset` on that checks out and whose number is at
 * least `least`; `size` when there is none. */
uint64_t walk_find(uint32_t crc_seed, const uint8_t *bytes, uint64_t size, uint64_t offset,
                   uint64_t least);

/* walk_record -- what is wrong with a record of which `room` bytes are there, as the middle of a
 * sentence; NULL when nothing is: sizes, type, and a payload that is the BSON document that such a record
 * has. `sequence`: the commit that it must be of; 0 for any. */
const char *walk_record(const record_header *record, uint64_t room, uint64_t sequence);

/* record_document -- the document that a put of that docno holds; NULL when the record is no such put, or
 * its sizes make no sense: what lies in the log is not read at opening, and may be damaged. */
static inline const uint8_t *record_document(const record_header *record, uint64_t where,
                                             uint32_t *size) {
    uint64_t front = RECORD_HEADER_SIZE + (uint64_t)record->meta_words * 8;
    if (record->where != where || record->type != RECORD_PUT || record->size < front + 5)
        return NULL;
    const uint8_t *doc = (const uint8_t *)record + front;
    *size = load_u32(doc);
    return *size >= 5 && *size <= record->size - front ? doc : NULL;
}

/* walk_salvage -- the offset of the first record from `offset` on that walk_record() accepts, looked for
 * at every eighth byte up to `end`; `end` when there is none. */
uint64_t walk_salvage(const uint8_t *bytes, uint64_t offset, uint64_t end);

/* walk_header -- whether a segment's header checks out, apart from uuid and number. */
bool walk_header(const segment_header *header);

/* ---- Segments of an open log ---- */

/* log_room -- how many bytes of a segment in force may be looked at; 0 when there is none of that number. Any
 * thread. */
uint64_t log_room(log *l, uint32_t number);

/* log_bytes -- the memory of a segment in force, and how much of it may be looked at; NULL when there is none
 * of that number. Any thread that holds a version, which keeps it mapped. */
const uint8_t *log_bytes(log *l, uint32_t number, uint64_t *room);

/* log_from -- the segments in force from the one on that covers a commit, in order, in new memory for free().
 * `end` is how much may be looked at; `last` is UINT64_MAX in the head. As log_bytes(). Errors: MEMORY. */
tansu_status log_from(log *l, uint64_t sequence, log_extent **list, uint32_t *count,
                      tansu_error *error);

/* log_thinned -- the last commit of a compacted segment at the log's beginning, of which deletions may have
 * been left out; 0 without one. */
uint64_t log_thinned(log *l);

/* log_known -- whether the segment of that number is mapped, in force or not. */
bool log_known(const log *l, uint32_t number);

/* segment_name -- "log/00000001.seg", for messages. */
void segment_name(uint32_t number, char name[32]);

/* segment_file -- the path of a segment's file in the log's folder, in new memory; NULL when it is
 * exhausted. */
char *segment_file(const char *folder, uint32_t number);

/* segment_number -- the number in a segment file's name with that ending, such as ".seg"; false when it is
 * no such name. */
bool segment_number(const char *name, const char *ending, uint32_t *number);

#endif
