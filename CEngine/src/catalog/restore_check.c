/*
 * catalog/restore_check.c -- looking at every frame and document of restored segments.
 *
 * The log's own replay takes what lies in a frame with a right CRC for what this library wrote. A
 * backup has been elsewhere, so each document is checked as at the door, before anything is made
 * of it.
 */
#include "base/error.h"
#include "catalog/restore.h"
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct checking {
    const backup_part *part;
    const char *folder;
    uint32_t seed;
    tansu_status status;
    tansu_error *error;
    bool compacted; /* some segment */
} checking;

/* check_frame -- the records of a frame that checks out. */
static tansu_status check_frame(const frame_header *frame, const char *name, uint64_t offset,
                                tansu_error *error) {
    for (uint64_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *wrong = walk_record(record, frame->size - at, frame->sequence);
        if (wrong != NULL)
            return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(offset + at),
                            "the backup is damaged in log/%s, offset %llu: %s", name,
                            (unsigned long long)(offset + at), wrong);
        at += record->size;
    }
    return TANSU_OK;
}

/* check_mapped -- the frames of a segment; where they end is the log's replay to judge. */
static tansu_status check_mapped(checking *c, const uint8_t *bytes, uint64_t size, const char *name,
                                 tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t at = SEGMENT_HEADER_SIZE;
    const frame_header *frame;
    c->compacted = c->compacted || ((const segment_header *)bytes)->format > LOG_FORMAT;
    while (status == TANSU_OK && (frame = walk_frame(c->seed, bytes, size, at)) != NULL) {
        status = check_frame(frame, name, at, error);
        at += frame->size;
    }
    return status;
}

/* check_segment -- one segment file. */
static tansu_status check_segment(checking *c, const char *name, tansu_error *error) {
    const fs *calls = c->part->calls;
    char *path = fs_join(c->folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    uint8_t *bytes = NULL;
    int fd = calls->open(path, O_RDONLY, 0);
    if (fd < 0 || calls->size(fd, &size) != 0)
        status = error_errno(error, path, "open", errno);
    if (status == TANSU_OK && size >= SEGMENT_HEADER_SIZE) {
        bytes = calls->map(fd, (size_t)size, false);
        status = bytes == NULL ? error_errno(error, path, "map", errno)
                               : check_mapped(c, bytes, size, name, error);
    }
    if (bytes != NULL)
        calls->unmap(bytes, (size_t)size);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    return status;
}

/* check_name -- sees one segment file of the part. */
static bool check_name(void *context, const char *name) {
    checking *c = context;
    c->status = check_segment(c, name, c->error);
    return c->status == TANSU_OK;
}

tansu_status restore_check(const backup_part *part, manifest *m, tansu_error *error) {
    char *folder = fs_join(part->path, "log");
    if (folder == NULL)
        return error_memory(error);
    checking c = {.part = part, .folder = folder, .error = error};
    c.seed = (uint32_t)crc32_z(0, m->uuid, sizeof m->uuid);
    if (part->calls->list(folder, check_name, &c) != 0 && c.status == TANSU_OK)
        c.status = error_errno(error, folder, "list", errno);
    m->compacted = m->compacted || c.compacted;
    free(folder);
    return c.status;
}
