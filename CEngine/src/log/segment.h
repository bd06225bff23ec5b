/*
 * log/segment.h -- one segment: file, mapping, room; and lists of them. Private to the log part.
 */
#ifndef TANSU_LOG_SEGMENT_H
#define TANSU_LOG_SEGMENT_H

#include "log/log.h"

/* What comes behind the number in a segment's name while it is being written by a compaction. */
#define SEGMENT_NEW ".seg.new"

/* segment_path -- "folder/00000001.seg" in new memory; NULL when it is exhausted. */
char *segment_path(const log *l, uint32_t number);

/* segment_unfinished_path -- the same for a segment that a compaction is writing. */
char *segment_unfinished_path(const log *l, uint32_t number);

/* segment_header_fill -- a whole header; `last` and `end` are 0 in an ordinary segment. */
segment_header segment_header_fill(const log *l, uint32_t number, uint64_t first, uint64_t last,
                                   uint64_t end);

/* segment_create -- makes a new head with `size` bytes on the disk and addresses for at least `room`
 * bytes of frames. Errors: FULL, IO, MEMORY, TOO_LARGE. */
tansu_status segment_create(log *l, uint64_t first, uint64_t size, uint64_t room, segment **result,
                            tansu_error *error);

/* segment_open -- maps what is there of an existing segment file for reading, and makes it known to readers. */
tansu_status segment_open(log *l, uint32_t number, segment **result, tansu_error *error);

/* segment_header_whole -- whether a file begins with a segment's header, of whatever segment. */
bool segment_header_whole(const log *l, uint32_t number);

/* segment_ready -- has the log's last segment, unless it is compacted, mapped for writing with addresses to grow
 * into. Before anybody looks at it: it moves. Errors: IO, MEMORY. */
tansu_status segment_ready(log *l, segment *s, tansu_error *error);

/* segment_take -- has another open file, which holds the same frames and nothing behind them, in place of the
 * segment's own. Before anybody looks at it. Errors: IO, MEMORY (the descriptor is still the caller's). */
tansu_status segment_take(log *l, segment *s, int fd, tansu_error *error);

/* segment_descriptor -- opens the segment's file if it is not open; -1 with errno. */
int segment_descriptor(log *l, segment *s);

/* segment_rest -- closes the file of a segment that is not written any more; the mapping stays. */
void segment_rest(log *l, segment *s);

/* segment_map -- maps the segment's open file, or memory, and guards it. Errors: IO, MEMORY. */
tansu_status segment_map(log *l, segment *s, bool writable, tansu_error *error);

/* segment_grow -- makes sure that the bytes up to `end` have room on the disk. Errors: FULL, IO. */
tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error);

/* segment_map_size -- the addresses that so many bytes of a file take. */
uint64_t segment_map_size(uint64_t size);

/* segment_populate -- has the pages up to `end` (within what is allocated) and some more brought in. Errors: IO
 * (somebody has cut the file). */
tansu_status segment_populate(log *l, segment *s, uint64_t end, tansu_error *error);

/* segment_whole -- whether the segment's open file is, as far as can be told, as long as it was made. */
bool segment_whole(const log *l, const segment *s);

/* segment_table -- makes sure that the readers' table has room for the number. Errors: MEMORY,
 * TOO_LARGE. */
tansu_status segment_table(log *l, uint32_t number, tansu_error *error);

/* segment_next_number -- a number that no segment has had. */
uint32_t segment_next_number(log *l);

/* segment_give_back -- a number that no file has any more, for the next segment if no later one was
 * given out: without compaction numbers have no gaps. */
void segment_give_back(log *l, uint32_t number);

/* segment_publish -- makes the segment's memory known to readers; its table is there. */
void segment_publish(log *l, segment *s);

/* segment_close -- takes it from the readers, unmaps, closes and frees; fine on NULL. */
void segment_close(log *l, segment *s);

/* segment_unlink -- removes the segment's file; one that is gone is fine. Errors: IO. */
tansu_status segment_unlink(log *l, uint32_t number, tansu_error *error);

/* segment_get -- the segment of that number in force, NULL when there is none. */
segment *segment_get(const log *l, uint32_t number);

/* segment_index -- its index in the list of those in force, or UINT32_MAX. */
uint32_t segment_index(const log *l, uint32_t number);

/* segment_head -- the last segment, NULL in an empty log. */
static inline segment *segment_head(const log *l) {
    return l->force.count == 0 ? NULL : l->force.items[l->force.count - 1];
}

/* segment_missing -- the error for a segment that must be there. */
tansu_status segment_missing(const log *l, uint32_t number, tansu_error *error);

/* segment_remove_last -- closes the last segment and deletes its file. Errors: IO. */
tansu_status segment_remove_last(log *l, tansu_error *error);

/* Lists. Those of a log that is open are changed with its mutex held. */

/* list_reserve -- room for `more`; false when memory is exhausted. */
bool list_reserve(segment_list *list, uint32_t more);

/* list_insert -- puts a segment where the log's order wants it; there is room. */
void list_insert(segment_list *list, segment *s);

/* list_remove -- takes out the item at an index. */
void list_remove(segment_list *list, uint32_t index);

/* doomed_reserve -- room for the numbers of `more` files that are to be removed. */
bool doomed_reserve(log *l, uint32_t more);

/* list_close -- closes all segments of a list and frees it. */
void list_close(log *l, segment_list *list);

#endif
