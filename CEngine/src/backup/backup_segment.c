/*
 * backup/backup_segment.c -- writing a segment of a copied log, as it is or in sealed blocks.
 */
#include "backup/backup_internal.h"
#include "log/scan.h"
#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_NUMBER_MOST 99999999u /* eight digits */

/* append -- writes at the end of the file; a block_sink. */
static tansu_status append(void *context, const void *bytes, uint64_t size, tansu_error *error) {
    backup_segment *s = context;
    const fs *calls = s->staged->calls;
    if (fs_write_all(calls, s->fd, bytes, (size_t)size, s->offset) != 0)
        return error_errno(error, s->path, "write", errno);
    calls->start_writeback(s->fd, s->offset, size);
    s->offset += size;
    return TANSU_OK;
}

/* use_blocks -- the file is to have sealed blocks. */
static tansu_status use_blocks(backup_segment *s, uint32_t number, tansu_error *error) {
    s->blocks = block_writer_new(CODEC_NONE, 0, append, s);
    return s->blocks == NULL ? error_memory(error)
                             : block_writer_seal(s->blocks, s->keys, number, error);
}

tansu_status backup_segment_begin(backup_segment *s, uint64_t number, tansu_error *error) {
    const fs *calls = s->staged->calls;
    char name[32];
    if (number == 0 || number > SEGMENT_NUMBER_MOST)
        return error_set(error, TANSU_E_CORRUPT, NULL,
                         "The backup has a log segment with the invalid number %llu",
                         (unsigned long long)number);
    segment_name((uint32_t)number, name);
    s->path = fs_join(s->staged->path, name);
    if (s->path == NULL)
        return error_memory(error);
    s->taken = s->offset = s->frame_left = 0;
    s->unit.size = 0;
    s->fd = calls->open(calls, s->path, O_RDWR | O_CREAT | O_EXCL, FS_MODE);
    if (s->fd >= 0)
        return s->keys == NULL ? TANSU_OK : use_blocks(s, (uint32_t)number, error);
    int why = errno;
    return why == EEXIST ? error_set(error, TANSU_E_CORRUPT, name,
                                     "The backup has the log segment \"%s\" twice", name)
                         : error_errno(error, s->path, "create", why);
}

/* ---- Into sealed blocks ---- */

/* invalid -- the error for bytes that are no segment. */
static tansu_status invalid(const backup_segment *s, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, s->path, (int64_t)s->taken,
                    "The backup is corrupt: a log segment in it is invalid at about offset %llu",
                    (unsigned long long)s->taken);
}

/* take_header -- the segment's header, which the file begins with, too. */
static tansu_status take_header(backup_segment *s, tansu_error *error) {
    segment_header *header = &s->header;
    memcpy(header, s->unit.data, sizeof *header);
    if (!scan_header(header) || (header->kind & SEGMENT_SEALED) != 0 ||
        segment_kind_of(header) == SEGMENT_COMPRESSED)
        return invalid(s, error);
    header->kind |= SEGMENT_SEALED;
    header->crc = 0;
    header->crc = checksum(0, header, sizeof *header);
    return append(s, header, sizeof *header, error);
}

/* unit_size -- as many bytes the current unit has, as far as its bytes tell; 0: they are invalid. */
static uint64_t unit_size(const backup_segment *s) {
    const uint8_t *bytes = s->unit.data;
    if (s->offset == 0)
        return SEGMENT_HEADER_SIZE;
    if (s->frame_left == 0)
        return FRAME_HEADER_SIZE;
    if (s->unit.size < sizeof(uint32_t))
        return sizeof(uint32_t);
    uint64_t size = load_u32(bytes);
    return size >= RECORD_SIZE_LEAST && size % 8 == 0 && size <= s->frame_left &&
                   size <= BLOCK_BYTES_MOST
               ? size
               : 0;
}

/* take_unit -- what is whole now. */
static tansu_status take_unit(backup_segment *s, tansu_error *error) {
    uint64_t size = s->unit.size;
    if (s->offset == 0)
        return take_header(s, error);
    if (s->frame_left == 0) {
        const frame_header *frame = (const frame_header *)(const void *)s->unit.data;
        if (frame->magic != FRAME_MAGIC || frame->size < size || frame->size % 8 != 0)
            return invalid(s, error);
        s->frame_left = frame->size;
    }
    s->frame_left -= size;
    return block_writer_add(s->blocks, s->unit.data, size, false, error);
}

/* take -- cuts bytes of the segment into units. */
static tansu_status take(backup_segment *s, const uint8_t *bytes, size_t size, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && size > 0) {
        uint64_t whole = unit_size(s);
        if (whole == 0)
            return invalid(s, error);
        size_t part = (size_t)(whole - s->unit.size);
        if (part > size)
            part = size;
        if (!buffer_append(&s->unit, bytes, part))
            return error_memory(error);
        bytes += part;
        size -= part;
        /* The size of a record is a part of it. */
        if (s->unit.size == unit_size(s)) {
            status = take_unit(s, error);
            s->unit.size = 0;
        }
    }
    return status;
}

/* ---- Both ---- */

tansu_status backup_segment_too_large(tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, NULL,
                     "The backup has a log segment that is larger than a segment can be");
}

tansu_status backup_segment_bytes(backup_segment *s, const void *bytes, size_t size,
                                  tansu_error *error) {
    if (size > BACKUP_SEGMENT_MOST - s->taken)
        return backup_segment_too_large(error);
    s->taken += size;
    return s->keys == NULL ? append(s, bytes, size, error) : take(s, bytes, size, error);
}

tansu_status backup_segment_end(backup_segment *s, tansu_error *error) {
    const fs *calls = s->staged->calls;
    tansu_status status = TANSU_OK;
    if (s->keys != NULL)
        status = s->offset == 0 || s->unit.size != 0 || s->frame_left != 0
                     ? invalid(s, error)
                     : block_writer_finish_sealed(s->blocks, &s->header, error);
    if (status != TANSU_OK)
        return status;
    int fd = s->fd;
    s->fd = -1;
    if (calls->sync(fd, NULL, 0) != 0)
        status = error_errno(error, s->path, "sync", errno);
    if (calls->close(fd) != 0 && status == TANSU_OK)
        status = error_errno(error, s->path, "close", errno);
    backup_segment_drop(s);
    return status;
}

void backup_segment_drop(backup_segment *s) {
    if (s->fd >= 0)
        s->staged->calls->close(s->fd);
    s->fd = -1;
    block_writer_free(s->blocks);
    s->blocks = NULL;
    if (s->unit.data != NULL)
        crypt_wipe(s->unit.data, s->unit.capacity);
    tansu_buffer_free(&s->unit);
    free(s->path);
    s->path = NULL;
}
