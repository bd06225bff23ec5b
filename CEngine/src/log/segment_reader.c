/*
 * log/segment_reader.c -- reading a segment's file with read().
 */
#include "log/segment_reader.h"

#include "log/scan.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* So much is read at a time; a larger frame, in one piece. */
#define WINDOW (1024u * 1024u)

/* failed -- the error for a call on the segment's file. */
static tansu_status failed(const log_reader *r, const char *what, int number, tansu_error *error) {
    char name[32];
    segment_name(r->number, name);
    return error_errno(error, name, what, number);
}

/* release -- closes the file. */
static void release(log_reader *r) {
    if (r->l != NULL && r->fd >= 0)
        r->l->calls->close(r->fd);
    r->fd = -1;
    r->size = 0;
}

tansu_status reader_open(log_reader *r, log *l, uint32_t number, const uint8_t *mapped,
                         uint64_t end, tansu_error *error) {
    release(r);
    r->l = l;
    r->number = number;
    r->end = end;
    r->mapped = l->folder == NULL || l->concurrent ? mapped : NULL;
    if (r->mapped != NULL)
        return TANSU_OK;
    char *path = segment_file(l->folder, number);
    if (path == NULL)
        return error_memory(error);
    r->fd = l->calls->open(path, O_RDONLY, 0);
    int problem = errno;
    free(path);
    return r->fd < 0 ? failed(r, "open", problem, error) : TANSU_OK;
}

void reader_close(log_reader *r) {
    release(r);
    free(r->window);
    *r = (log_reader){0};
}

/* fill -- reads at least that many bytes from an offset on. */
static tansu_status fill(log_reader *r, uint64_t offset, uint64_t size, tansu_error *error) {
    uint64_t want = size < WINDOW ? WINDOW : size;
    if (want > r->end - offset)
        want = r->end - offset;
    r->size = 0;
    if (want > r->capacity) {
        uint8_t *window = realloc(r->window, want);
        if (window == NULL)
            return error_memory(error);
        r->window = window;
        r->capacity = want;
    }
    r->start = offset;
    while (r->size < size) {
        ssize_t n = r->l->calls->read(r->fd, r->window + r->size, (size_t)(want - r->size),
                                      (off_t)(offset + r->size));
        if (n <= 0)
            return failed(r, "read", n == 0 || errno == 0 ? EIO : errno, error);
        r->size += (uint64_t)n;
    }
    return TANSU_OK;
}

tansu_status reader_at(log_reader *r, uint64_t offset, uint64_t size, const uint8_t **bytes,
                       tansu_error *error) {
    if (r->mapped != NULL) {
        *bytes = r->mapped + offset;
        return TANSU_OK;
    }
    *bytes = NULL;
    if (offset < r->start || offset + size > r->start + r->size) {
        tansu_status status = fill(r, offset, size, error);
        if (status != TANSU_OK)
            return status;
    }
    *bytes = r->window + (offset - r->start);
    return TANSU_OK;
}

tansu_status reader_frame(log_reader *r, uint64_t offset, const frame_header **frame,
                          tansu_error *error) {
    const uint8_t *bytes;
    *frame = NULL;
    if (offset % 8 != 0 || offset > r->end || r->end - offset < FRAME_HEADER_SIZE)
        return TANSU_OK;
    tansu_status status = reader_at(r, offset, FRAME_HEADER_SIZE, &bytes, error);
    if (status != TANSU_OK)
        return status;
    uint32_t magic = load_u32(bytes), size = load_u32(bytes + offsetof(frame_header, size));
    if (!frame_magic_known(magic) || size < FRAME_HEADER_SIZE || size > r->end - offset)
        return TANSU_OK;
    status = reader_at(r, offset, size, &bytes, error);
    if (status == TANSU_OK)
        *frame = scan_frame(r->l->crc_seed, bytes, size, 0);
    return status;
}
