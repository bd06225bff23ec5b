/*
 * log/segment.h -- one segment: its file, its mapping and its disk space. Private to the log.
 */
#ifndef TANSU_LOG_SEGMENT_H
#define TANSU_LOG_SEGMENT_H

#include "log/log.h"

#include <stdbool.h>
#include <stdint.h>

/* The suffix of a segment's name while a compaction is writing it. */
#define SEGMENT_NEW ".seg.new"

/* segment_path -- "folder/00000001.seg" in new memory; NULL when it is exhausted. */
char *segment_path(const log *l, uint32_t number);

/* segment_unfinished_path -- the same for a segment that a compaction is writing. */
char *segment_unfinished_path(const log *l, uint32_t number);

/* segment_header_fill -- a whole header; `last` and `end` are 0 in an ordinary segment. `kind`: as
 * in the header. */
segment_header segment_header_fill(const log *l, uint32_t number, uint64_t first, uint64_t last,
                                   uint64_t end, uint16_t kind);

/* segment_create -- creates a new head with `size` bytes on the disk and addresses for at least
 * `capacity` bytes of frames. Errors: FULL, IO, MEMORY, TOO_LARGE. */
tansu_status segment_create(log *l, uint64_t first, uint64_t size, uint64_t capacity,
                            segment **result, tansu_error *error);

/* segment_open -- maps what is there of an existing segment file for reading, and makes it known to
 * readers. `continues`: it is the last and will probably be written on, so that it is mapped for
 * writing at once, unless it is compacted; or another process writes it. */
tansu_status segment_open(log *l, uint32_t number, bool continues, segment **result,
                          tansu_error *error);

/* segment_open_blocks -- reads the table of a compressed segment, whose file is open and mapped.
 * Errors: CORRUPT, IO, MEMORY, UNSUPPORTED, VERSION. */
tansu_status segment_open_blocks(log *l, segment *s, const segment_header *header,
                                 tansu_error *error);

/* segment_blocks -- what reads a segment by its blocks, which the caller opens; NULL when memory is
 * exhausted. */
compressed_segment *segment_blocks(log *l, const segment *s);

/* segment_header_plain -- the header of a segment's image, of that of its file. */
segment_header segment_header_plain(const segment_header *header);

/* segment_image_header -- what a compressed segment's image begins with. */
segment_header segment_image_header(const compressed_segment *s);

/* segment_header_valid -- whether a file begins with a segment's header, of any segment. */
bool segment_header_valid(const log *l, uint32_t number);

/* segment_open_for_writing -- maps the log's last segment for writing, unless it is compacted or
 * mapped so already, with addresses to grow into. Before any reader: the mapping moves, and pages
 * that were read fault again. Errors: IO, MEMORY. */
tansu_status segment_open_for_writing(log *l, segment *s, tansu_error *error);

/* segment_replace_file -- replaces the segment's file with another open one, which has the same first
 * `size` bytes, with all frames, and nothing after them. Before any reader. Errors: IO, MEMORY (the
 * descriptor is still the caller's). */
tansu_status segment_replace_file(log *l, segment *s, int fd, uint64_t size, tansu_error *error);

/* segment_descriptor -- opens the segment's file if it is not open; -1 with errno. */
int segment_descriptor(log *l, segment *s);

/* segment_close_file -- closes the file of a segment that is not written any more; the mapping
 * stays. */
void segment_close_file(log *l, segment *s);

/* segment_map -- maps the segment's open file, or memory, and guards it. Errors: IO, MEMORY. */
tansu_status segment_map(log *l, segment *s, bool writable, tansu_error *error);

/* segment_wait_unsynced -- waits until no round of syncing uses the segments, their descriptors and
 * sizes; the log's mutex is held. */
static inline void segment_wait_unsynced(log *l) {
    while (l->syncing)
        pthread_cond_wait(&l->synced_changed, &l->mutex);
}

/* segment_unmap -- takes the memory away, if there is any. */
void segment_unmap(log *l, segment *s);

/* segment_grow -- ensures that the bytes up to `end` have disk space. Errors: FULL, IO. */
tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error);

/* Pages of the largest size in use, so that mappings end on a page everywhere. */
#define SEGMENT_MAP_UNIT (64u * 1024u)

/* segment_map_size -- the size of the mapping of a file of that many bytes. */
uint64_t segment_map_size(uint64_t size);

/* segment_populate -- has the pages up to `end` (within what is allocated) and some more brought
 * in. Errors: IO (somebody has cut the file). */
tansu_status segment_populate(log *l, segment *s, uint64_t end, tansu_error *error);

/* segment_seal -- what is due to a segment that is not the head any more. The disk space after its
 * last commit is given back: a large frame that was continued in the next one, or never ended, may
 * have taken much. In an encrypted database it is read by blocks from now on. */
void segment_seal(log *l, segment *s);

/* segment_not_cut -- whether the segment's open file is, as far as is known, not shorter than its
 * allocated size. */
bool segment_not_cut(const log *l, const segment *s);

/* segment_table -- ensures that the readers' table has capacity for the number. Errors: MEMORY,
 * TOO_LARGE. */
tansu_status segment_table(log *l, uint32_t number, tansu_error *error);

/* segment_next_number -- a number that no segment has had. */
uint32_t segment_next_number(log *l);

/* segment_return_number -- returns the number of a file that does not exist any more, for the next
 * segment, if no later one was assigned: without compaction numbers have no gaps. */
void segment_return_number(log *l, uint32_t number);

/* segment_publish -- makes the segment's memory known to readers; its table is there. */
void segment_publish(log *l, segment *s);

/* segment_close -- removes it from the readers' table, unmaps, closes and frees; fine on NULL. */
void segment_close(log *l, segment *s);

/* segment_file_size -- bytes of the segment's file; 0 when there is none, or that is not known. */
uint64_t segment_file_size(const log *l, uint32_t number);

/* segment_unlink -- removes the segment's file; a missing one is fine. Errors: IO. */
tansu_status segment_unlink(log *l, uint32_t number, tansu_error *error);

/* segment_get -- the active segment of that number, NULL when there is none. */
segment *segment_get(const log *l, uint32_t number);

/* segment_index -- its index in the list of the active ones, or UINT32_MAX. */
uint32_t segment_index(const log *l, uint32_t number);

/* segment_compressed -- whether it was written to be compressed. */
static inline bool segment_compressed(const segment *s) {
    return s->compressed != NULL && s->compressed->codec != CODEC_NONE;
}

/* segment_bytes -- its frames in memory; NULL when it is read by blocks (log/segment_reader.h). */
static inline const uint8_t *segment_bytes(const segment *s) {
    return s->compressed != NULL ? NULL : s->base;
}

/* segment_room -- how many bytes of its frames' offsets may be examined. */
static inline uint64_t segment_room(const segment *s) {
    return s->compressed != NULL ? s->used : __atomic_load_n(&s->allocated, __ATOMIC_RELAXED);
}

/* segment_head -- the last segment, NULL in an empty log. */
static inline segment *segment_head(const log *l) {
    return l->active.count == 0 ? NULL : l->active.items[l->active.count - 1];
}

/* segment_missing -- the error for a segment that must be there. */
tansu_status segment_missing(const log *l, uint32_t number, tansu_error *error);

/* segment_remove_last -- closes the last segment and deletes its file. Errors: IO. */
tansu_status segment_remove_last(log *l, tansu_error *error);

/* obsolete_reserve -- capacity for the numbers of `more` files that are to be removed. */
bool obsolete_reserve(log *l, uint32_t more);

/* ---- Lists of segments; those of an open log are changed with its mutex held ---- */

/* list_reserve -- capacity for `more`; false when memory is exhausted. */
bool list_reserve(segment_list *list, uint32_t more);

/* list_insert -- puts a segment where the log's order wants it; the capacity is reserved. */
void list_insert(segment_list *list, segment *s);

/* list_remove -- takes out the item at an index. */
void list_remove(segment_list *list, uint32_t index);

/* list_close -- closes all segments of a list and frees it. */
void list_close(log *l, segment_list *list);

/* ---- The names of segment files ---- */

/* segment_name -- "log/00000001.seg", for messages. */
void segment_name(uint32_t number, char name[32]);

/* segment_file -- the path of a segment's file in the log's folder, in new memory; NULL when it is
 * exhausted. */
char *segment_file(const char *folder, uint32_t number);

/* segment_number -- the number in a segment file's name with that ending, such as ".seg"; false
 * when it is no such name. */
bool segment_number(const char *name, const char *ending, uint32_t *number);

#endif
