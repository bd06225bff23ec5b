/*
 * log/segment.h -- one segment: file, mapping, room. Private to the log part.
 */
#ifndef TANSU_LOG_SEGMENT_H
#define TANSU_LOG_SEGMENT_H

#include "log/log.h"

/* segment_path -- "folder/00000001.seg" in new memory; NULL when it is exhausted. */
char *segment_path(const log *l, uint32_t number);

/* segment_create -- makes the segment after the last with `size` bytes on the disk and addresses for
 * at least `room` bytes of frames, and puts it last in the log's list. Errors: FULL, IO, MEMORY,
 * TOO_LARGE. */
tansu_status segment_create(log *l, uint64_t base_sequence, uint64_t size, uint64_t room,
                            segment **result, tansu_error *error);

/* segment_open -- maps an existing segment file and appends it to the log's list. */
tansu_status segment_open(log *l, uint32_t number, tansu_error *error);

/* segment_grow -- makes sure that the bytes up to `end` have room on the disk. */
tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error);

/* segment_populate -- has the pages up to `end` (within what is allocated) and some more brought in. */
void segment_populate(const log *l, segment *s, uint64_t end);

/* segment_close -- unmaps, closes and frees; fine on NULL. */
void segment_close(log *l, segment *s);

/* segment_get -- the segment of that number, NULL when there is none. */
segment *segment_get(const log *l, uint32_t number);

/* segment_head -- the last segment, NULL in an empty log. */
static inline segment *segment_head(const log *l) {
    return l->segment_count == 0 ? NULL : l->segments[l->segment_count - 1];
}

/* segment_remove_last -- closes the last segment and deletes its file. Errors: IO. */
tansu_status segment_remove_last(log *l, tansu_error *error);

#endif
