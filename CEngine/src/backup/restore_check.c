/*
 * backup/restore_check.c -- validating every frame and document of restored segments.
 *
 * Replay trusts the records of a frame with a valid checksum, because this library wrote them. A
 * backup is untrusted input, so each document is validated like one that an application saves.
 */
#include "backup/restore_check.h"

#include "bson/document.h"
#include "log/compressed/codec.h"
#include "log/compressed/compressed_segment.h"
#include "log/scan.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

typedef struct checking {
    const staging *staged;
    const char *folder;
    uint32_t seed;
    tansu_status status;
    tansu_error *error;
    bool compacted; /* some segment */
} checking;

/* check_frame -- the records of a frame with a valid checksum. */
static tansu_status check_frame(const frame_header *frame, const char *name, uint64_t offset,
                                tansu_error *error) {
    for (uint64_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *wrong = scan_record(record, frame->size - at, frame->sequence);
        if (wrong != NULL)
            return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(offset + at),
                            "The backup is corrupt: a record %s (\"log/%s\", offset %llu)", wrong,
                            name, (unsigned long long)(offset + at));
        at += record->size;
    }
    return TANSU_OK;
}

/* check_mapped -- the frames of a segment. Replay decides where they end. */
static tansu_status check_mapped(checking *c, const uint8_t *bytes, uint64_t size, const char *name,
                                 tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t at = SEGMENT_HEADER_SIZE;
    const frame_header *frame;
    c->compacted = c->compacted || ((const segment_header *)bytes)->kind != SEGMENT_WRITTEN;
    while (status == TANSU_OK && (frame = scan_frame(c->seed, bytes, size, at)) != NULL) {
        status = check_frame(frame, name, at, error);
        at += frame->size;
    }
    return status;
}

/* corrupt -- the error for a compressed segment. */
static tansu_status corrupt(const char *name, uint64_t offset, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "The backup is corrupt: a block of a compressed segment is invalid "
                    "(\"log/%s\", offset %llu)",
                    name, (unsigned long long)offset);
}

/* check_compressed -- the same for a compressed segment. */
static tansu_status check_compressed(checking *c, const uint8_t *bytes, uint64_t size,
                                     const char *name, tansu_error *error) {
    uint64_t end = ((const segment_header *)(const void *)bytes)->end;
    uint64_t at = COMPRESSED_BLOCKS, next = SEGMENT_HEADER_SIZE;
    if (end < next || end > UINT32_MAX)
        return corrupt(name, 0, error);
    uint8_t *image = malloc((size_t)end);
    if (image == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    memcpy(image, bytes, SEGMENT_HEADER_SIZE);
    while (status == TANSU_OK && next < end) {
        const block_header *h = block_valid(c->seed, bytes, size, at);
        if (h != NULL && !codec_available((enum codec)h->codec))
            status = codec_missing("The backup", (enum codec)h->codec, error);
        else if (h == NULL || h->offset != next || h->size == 0 || h->size > end - next ||
                 !codec_decompress((enum codec)h->codec, bytes + at + BLOCK_HEADER_SIZE, h->stored,
                                   image + next, h->size))
            status = corrupt(name, at, error);
        if (status != TANSU_OK)
            break;
        next += h->size;
        at += align8(BLOCK_HEADER_SIZE + (uint64_t)h->stored);
    }
    if (status == TANSU_OK)
        status = check_mapped(c, image, end, name, error);
    free(image);
    return status;
}

/* check_segment -- one segment file. */
static tansu_status check_segment(checking *c, const char *name, tansu_error *error) {
    const fs *calls = c->staged->calls;
    char *path = fs_join(c->folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    uint8_t *bytes = NULL;
    int fd = calls->open(calls, path, O_RDONLY, 0);
    if (fd < 0 || calls->size(fd, &size) != 0)
        status = error_errno(error, path, "open", errno);
    if (status == TANSU_OK && size >= SEGMENT_HEADER_SIZE) {
        bytes = calls->map(fd, (size_t)size, false);
        if (bytes == NULL)
            status = error_errno(error, path, "map", errno);
        else if (segment_kind_of((const segment_header *)(const void *)bytes) == SEGMENT_COMPRESSED)
            status = check_compressed(c, bytes, size, name, error);
        else
            status = check_mapped(c, bytes, size, name, error);
    }
    if (bytes != NULL)
        calls->unmap(bytes, (size_t)size);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    return status;
}

/* check_name -- validates one segment file. */
static bool check_name(void *context, const char *name) {
    checking *c = context;
    c->status = check_segment(c, name, c->error);
    return c->status == TANSU_OK;
}

tansu_status restore_check(const staging *staged, manifest *m, tansu_error *error) {
    char *folder = fs_join(staged->path, "log");
    if (folder == NULL)
        return error_memory(error);
    checking c = {.staged = staged, .folder = folder, .error = error};
    c.seed = checksum(0, m->uuid, sizeof m->uuid);
    if (staged->calls->list(staged->calls, folder, check_name, &c) != 0 && c.status == TANSU_OK)
        c.status = error_errno(error, folder, "list", errno);
    m->compacted = m->compacted || c.compacted;
    free(folder);
    return c.status;
}
