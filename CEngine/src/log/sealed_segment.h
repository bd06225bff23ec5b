/*
 * log/sealed_segment.h -- the segments of an encrypted database. Private to the log.
 *
 * Such a segment is in one of two forms. One that is written, or whose end is not known yet, has its
 * image in memory, and each commit is sealed into its file. One that is not written any more is read
 * by groups of sealed blocks, like a compressed one. Nothing of an image is ever written to the disk.
 */
#ifndef TANSU_LOG_SEALED_SEGMENT_H
#define TANSU_LOG_SEALED_SEGMENT_H

#include "log/segment.h"

/* The file of a segment whose image is in memory. */
typedef struct sealed_file {
    segment disk; /* its descriptor, mapping and disk space; `used`: where the next block begins */
    sealer *sealer;       /* NULL: nothing was written since the segment was opened */
    block_entry *entries; /* of the groups */
    uint32_t count, capacity;
    uint64_t loaded; /* the end of the image that the blocks make up */
    bool group_ends; /* the next block begins a group */
} sealed_file;

/* sealed_log -- whether the files of a log's segments are sealed. */
static inline bool sealed_log(const log *l) {
    return l->keys != NULL && l->folder != NULL;
}

/* segment_disk -- what of a segment is on the disk. */
static inline segment *segment_disk(segment *s) {
    return s->sealed != NULL ? &s->sealed->disk : s;
}

/* sealed_new -- the image, in memory, of a segment with the header that its file begins with, and
 * what is known of the file: `s` has its descriptor, and the size of the image in `mapped`. Errors:
 * IO, MEMORY. */
tansu_status sealed_new(log *l, segment *s, const segment_header *header, uint64_t file_size,
                        bool writable, tansu_error *error);

/* sealed_load -- decrypts the blocks that follow those in the image, up to the first that is not
 * valid. Errors: MEMORY. */
tansu_status sealed_load(log *l, segment *s, tansu_error *error);

/* sealed_load_later -- decrypts as well those of the rest of the file, wherever they lie, so that the
 * frames in them are found. Those that lie where they were written follow the ones before: what is
 * between becomes a group that cannot be read. Errors: MEMORY. */
tansu_status sealed_load_later(log *l, segment *s, tansu_error *error);

/* sealed_open -- makes a segment whose file is open and mapped one that is read by blocks, if the
 * file ends with a table (*there). Errors: IO, MEMORY, UNSUPPORTED. */
tansu_status sealed_open(log *l, segment *s, const segment_header *header, bool *there,
                         tansu_error *error);

/* sealed_reserve -- disk space, memory and a key for sealing a frame of that size at the end. Errors:
 * FULL, IO, MEMORY. */
tansu_status sealed_reserve(log *l, segment *s, uint64_t size, tansu_error *error);

/* sealed_fits -- whether a frame of that size does in the file's addresses. */
bool sealed_fits(const segment *s, uint64_t size);

/* sealed_append -- seals the frame of that size after the last commit into the file; its space was
 * reserved. false: the system could not. */
bool sealed_append(log *l, segment *s, uint64_t size);

/* sealed_position -- where in the file the block begins that has the frame at an offset of the image.
 * false: none that lies where it was written. */
bool sealed_position(const segment *s, uint64_t offset, uint64_t *position);

/* sealed_in_place -- whether the blocks of a segment's file make up all of its commits. Otherwise it
 * has some in other places than where they were written, and nothing may be cut off. */
static inline bool sealed_in_place(const segment *s) {
    return s->sealed->loaded == s->used;
}

/* sealed_cut -- drops what follows an offset of the image, which lies at `position`. */
void sealed_cut(segment *s, uint64_t offset, uint64_t position);

/* sealed_end -- writes the table after the last block of a segment that is written no more, and cuts
 * the file after it. One without a block gets none, and of one whose blocks are not in place the file
 * stays as it is. Without a table, as on a full disk, the next opening reads all blocks. */
void sealed_end(log *l, segment *s);

/* sealed_to_blocks -- makes a segment with its image in memory one that is read by blocks. Its memory
 * becomes one of those that have been outgrown. Where memory is short, or blocks are not in place, it
 * stays as it is. */
void sealed_to_blocks(log *l, segment *s);

/* sealed_to_image -- the reverse, so that the segment is written on, or followed while another
 * process does. Errors: CORRUPT, IO, MEMORY. */
tansu_status sealed_to_image(log *l, segment *s, tansu_error *error);

/* sealed_to_damaged_image -- the same of one that has a block that is not valid, with what follows that
 * block: the table may be on a disk that has lost power and the block not. Errors: IO, MEMORY. */
tansu_status sealed_to_damaged_image(log *l, segment *s, tansu_error *error);

/* sealed_follow -- takes over the size that the file has by now, in a process that reads while another
 * one writes, and decrypts what was added. Errors: IO, MEMORY. */
tansu_status sealed_follow(log *l, segment *s, uint64_t size, tansu_error *error);

/* sealed_free -- fine on NULL. */
void sealed_free(log *l, sealed_file *file);

#endif
