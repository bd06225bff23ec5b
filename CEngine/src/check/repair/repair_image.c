/*
 * check/repair/repair_image.c -- decompressing what is intact of a compressed segment.
 *
 * The table of the segment is not needed: each block has a header that says where it belongs. So
 * blocks are searched for from the first position on, and after each gap. A segment whose header is
 * corrupt is a compressed one if it has a valid block.
 */
#include "check/repair/repair_read.h"

#include "log/compressed/codec.h"
#include "log/compressed/compressed_segment.h"
#include "log/scan.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct making {
    repair *r;
    repair_segment *s;
    const uint8_t *bytes; /* of the file */
    uint32_t crc_seed;
    uint64_t end;  /* of the image, as far as is known */
    uint64_t next; /* where the next block belongs in the image */
    uint8_t *out;  /* a block */
    size_t capacity;
} making;

/* note_gap -- a part of the image is lost; the file's bytes from `position` on are no block. */
static void note_gap(making *m, uint64_t position, uint64_t to) {
    char name[64];
    repair_segment_name(m->r, m->s->number, name);
    problem_location where = {.file = name, .offset = (int64_t)position, .size = -1};
    problem_list_add(&m->r->problems, &where,
                     "Blocks of the compressed segment \"%s\" are corrupt at offset %llu: %llu "
                     "bytes of its records are lost",
                     name, (unsigned long long)position, (unsigned long long)(to - m->next));
}

/* write_part -- bytes at an offset of the image. */
static tansu_status write_part(const making *m, const void *bytes, uint64_t size, uint64_t offset,
                               tansu_error *error) {
    return fs_write_all(m->r->calls, m->s->image, bytes, size, offset) == 0
               ? TANSU_OK
               : error_errno(error, "temporary file", "write", errno);
}

/* put_block -- decompresses a valid block into the image. One whose bytes are not a block's all the
 * same is left out. */
static tansu_status put_block(making *m, const block_header *header, uint64_t position,
                              tansu_error *error) {
    if (!codec_available((enum codec)header->codec))
        return codec_missing("The segment", (enum codec)header->codec, error);
    if (header->size > m->capacity) {
        uint8_t *out = realloc(m->out, header->size);
        if (out == NULL)
            return error_memory(error);
        m->out = out;
        m->capacity = header->size;
    }
    const uint8_t *stored = m->bytes + position + BLOCK_HEADER_SIZE;
    if (header->offset < m->next ||
        !codec_decompress((enum codec)header->codec, stored, header->stored, m->out, header->size))
        return TANSU_OK;
    if (header->offset > m->next)
        note_gap(m, position, header->offset);
    m->next = (uint64_t)header->offset + header->size;
    return write_part(m, m->out, header->size, header->offset, error);
}

/* put_blocks -- all blocks that are intact. */
static tansu_status put_blocks(making *m, tansu_error *error) {
    uint64_t position = COMPRESSED_BLOCKS, last = position;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && position < m->s->size) {
        const block_header *header = block_valid(m->crc_seed, m->bytes, m->s->size, position);
        if (header == NULL) {
            position += 8;
            continue;
        }
        status = put_block(m, header, position, error);
        position += align8(BLOCK_HEADER_SIZE + (uint64_t)header->stored);
        last = position;
    }
    if (status == TANSU_OK && m->next < m->end)
        note_gap(m, last, m->end);
    if (m->next > m->end)
        m->end = m->next;
    return status;
}

/* seed_of -- of the checksums of a database. */
static uint32_t seed_of(const uint8_t uuid[16]) {
    return (uint32_t)crc32_z(0, uuid, 16);
}

bool repair_image_block(const uint8_t *bytes, uint64_t size, const uint8_t uuid[16]) {
    uint32_t seed = seed_of(uuid);
    uint64_t position = COMPRESSED_BLOCKS;
    while (position < size && block_valid(seed, bytes, size, position) == NULL)
        position += 8;
    /* A frame may hold bytes that are a block's, and a block the frames of what it stores. */
    return position < size && scan_find(seed, bytes, position, SEGMENT_HEADER_SIZE, 1) >= position;
}

tansu_status repair_image_make(repair *r, repair_segment *s, int fd, const uint8_t uuid[16],
                               segment_header *header, tansu_error *error) {
    bool whole = scan_header(header);
    if (whole && segment_kind_of(header) != SEGMENT_COMPRESSED)
        return TANSU_OK;
    uint8_t *bytes = malloc((size_t)s->size + 8);
    if (bytes == NULL)
        return error_memory(error);
    repair_read_bytes(r, s, fd, bytes, 0, (size_t)s->size);
    if (!whole && !repair_image_block(bytes, s->size, uuid)) {
        free(bytes);
        return TANSU_OK;
    }
    making m = {.r = r,
                .s = s,
                .bytes = bytes,
                .crc_seed = seed_of(uuid),
                .end = SEGMENT_HEADER_SIZE,
                .next = SEGMENT_HEADER_SIZE};
    if (whole && header->end > m.end && header->end <= UINT32_MAX) {
        m.end = header->end;
        header->kind = SEGMENT_COMPACTED;
        header->crc = 0;
        header->crc = (uint32_t)crc32(0, (const Bytef *)header, sizeof *header);
    }
    tansu_status status = fs_open_temporary(r->calls, r->temporary, &s->image, error);
    if (status == TANSU_OK)
        status = write_part(&m, header, sizeof *header, 0, error);
    if (status == TANSU_OK)
        status = put_blocks(&m, error);
    if (status == TANSU_OK && r->calls->truncate(s->image, m.end) != 0)
        status = error_errno(error, "temporary file", "extend", errno);
    s->size = m.end;
    free(m.out);
    free(bytes);
    return status;
}
