/*
 * log/segment_reader.h -- reading a segment's file with read() rather than through its mapping:
 * for scans over much of the log, whose pages may be unreadable. A failed read() is an error; a
 * failed page of a mapping is a signal. Compressed segments are decompressed: either way reads
 * their images.
 */
#ifndef TANSU_LOG_SEGMENT_READER_H
#define TANSU_LOG_SEGMENT_READER_H

#include "log/log.h"

/* Zeroed, it reads nothing yet. */
typedef struct log_reader {
    log *l;
    uint32_t number;
    int fd;
    uint64_t end;                         /* nothing after it is examined */
    const compressed_segment *compressed; /* its image is read; NULL: the file */
    tansu_buffer stored;                  /* a block as it is in the file */
    const uint8_t *mapped; /* the bytes where there is no file, or it may be removed; else NULL */
    uint8_t *window;       /* what was read of the file: `size` bytes from `start` on */
    uint64_t capacity;
    uint64_t start;
    uint64_t size;
} log_reader;

/* reader_open -- begins to read a segment, of which `mapped` are the bytes in memory. The file is
 * not removed meanwhile. May be called again, for the next one. Errors: IO, MEMORY. */
tansu_status reader_open(log_reader *r, log *l, uint32_t number, const uint8_t *mapped,
                         uint64_t end, tansu_error *error);

/* reader_close -- fine on a zeroed one. */
void reader_close(log_reader *r);

/* reader_at -- that many bytes at an offset, all before the end; valid until the next call. Errors:
 * IO, MEMORY. */
tansu_status reader_at(log_reader *r, uint64_t offset, uint64_t size, const uint8_t **bytes,
                       tansu_error *error);

/* reader_frame -- the frame at an offset if all of it is valid, as scan_frame(); otherwise NULL.
 * Errors: IO, MEMORY. */
tansu_status reader_frame(log_reader *r, uint64_t offset, const frame_header **frame,
                          tansu_error *error);

/* ---- All of a segment ---- */

/* Zeroed, it is of no segment. */
typedef struct segment_image {
    const uint8_t *bytes;
    uint8_t *owned; /* NULL: they are the log's */
} segment_image;

/* image_open -- the bytes of a segment: `mapped`, or those of a compressed segment in new memory. A
 * corrupt block is an error, or (`lenient`) zeros. The segment stays until image_close(). Errors:
 * CORRUPT, IO, MEMORY. */
tansu_status image_open(log *l, uint32_t number, const uint8_t *mapped, bool lenient,
                        segment_image *image, tansu_error *error);

/* image_close -- fine on a zeroed one. */
void image_close(segment_image *image);

/* ---- Copying the log's bytes, segment by segment, for a backup ---- */

/*
 * Committed bytes never change, so they are read concurrently with the writer and without a lock.
 * The caller ensures that no segment is removed meanwhile (store/handle.h).
 */

/* Where the bytes go: for each segment begin, bytes (several times) and end. */
typedef struct log_copy_target {
    void *context;
    tansu_status (*begin)(void *context, const log_extent *segment, tansu_error *error);
    tansu_status (*bytes)(void *context, const uint8_t *bytes, size_t size, tansu_error *error);
    tansu_status (*end)(void *context, tansu_error *error);
} log_copy_target;

/* At most that many bytes are handed over at a time. */
#define LOG_COPY_STEP (1024u * 1024u)

/*
 * log_copy -- shows the target the segments that hold the commits up to `sequence`, which ended at
 * `position` (both a snapshot's), the last one cut after that commit. Every header and frame is
 * checked before it is handed over. Errors: CORRUPT (context: file, offset), IO, MEMORY and the
 * target's.
 */
tansu_status log_copy(log *l, uint64_t sequence, uint64_t position, const log_copy_target *target,
                      tansu_error *error);

#endif
