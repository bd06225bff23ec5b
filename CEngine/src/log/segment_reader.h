/*
 * log/segment_reader.h -- reading a segment's file with read() rather than through its mapping: for
 * scans over much of the log, whose pages may be unreadable. A failed read() is an error; a failed
 * page of a mapping is a signal.
 */
#ifndef TANSU_LOG_SEGMENT_READER_H
#define TANSU_LOG_SEGMENT_READER_H

#include "log/log.h"

/* Zeroed, it reads nothing yet. */
typedef struct log_reader {
    log *l;
    uint32_t number;
    int fd;
    uint64_t end;          /* nothing after it is examined */
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

#endif
