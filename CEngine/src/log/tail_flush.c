/*
 * log/tail_flush.c -- making the end of the log durable at opening.
 */
#include "log/tail_flush.h"

#include "log/scan.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define STEP ((size_t)256 * 1024)

/* rewrite -- writes the bytes from an offset on to where they are, which makes their pages dirty
 * again. */
static tansu_status rewrite(log *l, segment *s, uint64_t offset, uint8_t *step,
                            tansu_error *error) {
    char name[32];
    int number = 0;
    for (uint64_t at = offset; number == 0 && at < s->used; at += STEP) {
        size_t size = s->used - at < STEP ? (size_t)(s->used - at) : STEP;
        memcpy(step, s->base + at, size); /* a page is never written from itself */
        if (fs_write_all(l->calls, s->fd, step, size, at) != 0)
            number = errno;
    }
    if (number == 0 && l->calls->sync(s->fd, s->base, s->mapped) != 0)
        number = errno == 0 ? EIO : errno;
    segment_name(s->number, name);
    return number == 0 ? TANSU_OK : error_errno(error, name, "sync", number);
}

/* copy_bytes -- copies a segment into another file, by calls that report read errors. */
static int copy_bytes(const log *l, const segment *s, int fd, uint8_t *step) {
    for (uint64_t at = 0; at < s->used;) {
        size_t size = s->used - at < STEP ? (size_t)(s->used - at) : STEP;
        errno = 0;
        ssize_t got = l->calls->read(s->fd, step, size, (off_t)at);
        if (got <= 0 || fs_write_all(l->calls, fd, step, (size_t)got, at) != 0)
            return errno == 0 ? EIO : errno;
        at += (uint64_t)got;
    }
    return l->calls->sync(fd, NULL, 0) == 0 ? 0 : errno == 0 ? EIO : errno;
}

/* renew -- writes the segment to a new file, which takes the old one's name when it is on the
 * disk. */
static tansu_status renew(log *l, segment *s, uint8_t *step, tansu_error *error) {
    char *fresh = segment_unfinished_path(l, s->number), *path = segment_path(l, s->number);
    tansu_status status = TANSU_OK;
    int fd = -1, number;
    if (fresh == NULL || path == NULL)
        status = error_memory(error);
    else if ((fd = l->calls->open(l->calls, fresh, O_RDWR | O_CREAT | O_TRUNC, 0644)) < 0)
        status = error_errno(error, fresh, "open", errno);
    else if ((number = copy_bytes(l, s, fd, step)) != 0)
        status = error_errno(error, fresh, "copy a segment to", number);
    else if (l->calls->rename(l->calls, fresh, path) != 0)
        status = error_errno(error, path, "rename", errno);
    if (status != TANSU_OK && fd >= 0)
        l->calls->unlink(l->calls, fresh);
    if (status == TANSU_OK) {
        status = segment_replace_file(l, s, fd, error);
        fd = status == TANSU_OK ? -1 : fd;
        if (status == TANSU_OK && l->calls->sync_folder(l->calls, l->folder) != 0)
            status = error_errno(error, l->folder, "sync", errno);
    }
    if (fd >= 0)
        l->calls->close(fd);
    free(fresh);
    free(path);
    return status;
}

/* flush_segment -- the bytes of one segment from an offset on. If one way fails, the other may
 * succeed: on a permanently bad block, or on a disk without space for a new file. */
static tansu_status flush_segment(log *l, segment *s, uint64_t offset, uint8_t *step,
                                  tansu_error *error) {
    bool into_new_file = l->found.failed;
    if (segment_descriptor(l, s) < 0)
        return error_errno(error, l->folder, "open", errno);
    tansu_status status =
        into_new_file ? renew(l, s, step, error) : rewrite(l, s, offset, step, error);
    if (status != TANSU_OK && status != TANSU_E_MEMORY)
        status = into_new_file ? rewrite(l, s, offset, step, error) : renew(l, s, step, error);
    if (s != segment_head(l))
        segment_close_file(l, s);
    return status;
}

/* offset_after -- where the frames up to commit `sure` end, when that of commit `due` lies at
 * `offset`. */
static uint64_t offset_after(const segment *s, uint64_t offset, uint64_t due, uint64_t synced) {
    while (due <= synced && offset < s->used) {
        offset += ((const frame_header *)(s->base + offset))->size;
        due++;
    }
    return offset;
}

tansu_status tail_flush(log *l, uint64_t synced, uint32_t number, uint64_t offset, uint64_t due,
                        tansu_error *error) {
    uint32_t first = l->active.count - 1, scanned = segment_index(l, number);
    while (first > 0 && l->active.items[first]->first > synced + 1)
        first--;
    uint8_t *step = malloc(STEP);
    if (step == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = first; status == TANSU_OK && i < l->active.count; i++) {
        segment *s = l->active.items[i];
        uint64_t from = 0; /* with the header */
        if (s->last != 0)
            continue; /* compacted ones have their names when they are on the disk */
        /* Of what lies before the location where the scan began the frames are not known. */
        if (i == first && i == scanned && synced + 1 >= due)
            from = offset_after(s, offset, due, synced);
        else if (i == first && scanned != UINT32_MAX && i > scanned)
            from = offset_after(s, SEGMENT_HEADER_SIZE, s->first, synced);
        status = flush_segment(l, s, from == SEGMENT_HEADER_SIZE ? 0 : from, step, error);
    }
    if (status == TANSU_OK &&
        l->calls->sync_folder(l->calls, l->folder) != 0) /* the names of segments */
        status = error_errno(error, l->folder, "sync", errno);
    free(step);
    return status;
}
