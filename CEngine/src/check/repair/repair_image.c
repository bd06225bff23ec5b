/*
 * check/repair/repair_image.c -- segments that consist of blocks, compressed ones and those of
 * encrypted databases: which of their blocks are intact, and what is in them.
 *
 * The table of the segment is not needed: each block has a header that says where it belongs. So
 * blocks are searched for from the first position on, and after each gap. A compressed segment whose
 * header is corrupt is one if it has a valid block.
 */
#include "check/repair/repair_internal.h"
#include "log/compressed/codec.h"
#include "log/compressed/compressed_segment.h"
#include "log/compressed/sealed_block.h"
#include "log/scan.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>
#include <zlib.h>

/* The search for the blocks of a segment. */
typedef struct search {
    repair *r;
    repair_segment *s;
    repair_image *image;
    const uint8_t *bytes; /* of the file, `size` of them */
    uint64_t size;
    tansu_buffer content; /* of a block */
} search;

/* ---- Blocks ---- */

/* add_block -- adds a valid block. One that overlaps an earlier one of the file is left out: it is a
 * remnant after the end of a log that was shortened, or a copy. Errors: MEMORY. */
static tansu_status add_block(search *k, repair_block block, tansu_error *error) {
    repair_image *image = k->image;
    if (!ARRAY_RESERVE(image->blocks, image->count, image->capacity, 1))
        return error_memory(error);
    size_t at = BISECT(image->blocks, image->count, repair_block, offset, block.offset);
    const repair_block *before = at == 0 ? NULL : &image->blocks[at - 1];
    const repair_block *after = at == image->count ? NULL : &image->blocks[at];
    if ((before != NULL && block.offset - before->offset < before->size) ||
        (after != NULL && after->offset - block.offset < block.size))
        return TANSU_OK;
    memmove(image->blocks + at + 1, image->blocks + at, (image->count - at) * sizeof block);
    image->blocks[at] = block;
    image->count++;
    return TANSU_OK;
}

/* reserve_content -- capacity for the content of a block. */
static tansu_status reserve_content(search *k, uint32_t size, tansu_error *error) {
    k->content.size = 0;
    return buffer_reserve(&k->content, size) ? TANSU_OK : error_memory(error);
}

/* note_gap -- a part of the image is lost; what lies at `position` of the file is no block. */
static void note_gap(const search *k, uint64_t position, uint64_t size) {
    char name[64];
    repair_segment_name(k->r, k->s->number, name);
    problem_location where = {.file = name, .offset = (int64_t)position, .size = -1};
    problem_list_add(
        &k->r->problems, &where,
        "Blocks of the %s segment \"%s\" are corrupt at offset %llu: %llu bytes of its "
        "records are lost",
        k->r->keys != NULL ? "encrypted" : "compressed", name, (unsigned long long)position,
        (unsigned long long)size);
}

/* end_search -- notes what no block has, up to the end of the image as far as that is known, and
 * frees the search. The segment has the image. */
static void end_search(search *k, uint64_t end, uint64_t begin, uint64_t header_size) {
    uint64_t next = SEGMENT_HEADER_SIZE, position = begin;
    for (size_t i = 0; i < k->image->count; i++) {
        const repair_block *b = &k->image->blocks[i];
        if (b->offset > next)
            note_gap(k, position, b->offset - next);
        next = (uint64_t)b->offset + b->size;
        position = (uint64_t)b->position * 8 + align8(header_size + b->stored);
    }
    if (next < end)
        note_gap(k, position, end - next);
    k->s->size = next > end ? next : end;
    tansu_buffer_free(&k->content);
}

/* image_new -- gives a segment an image without blocks. */
static tansu_status image_new(search *k, tansu_error *error) {
    k->image = k->s->image = calloc(1, sizeof *k->image);
    return k->image == NULL ? error_memory(error) : TANSU_OK;
}

void repair_image_free(repair_image *image) {
    if (image != NULL)
        free(image->blocks);
    free(image);
}

/* ---- Compressed segments ---- */

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

/* take_compressed -- a valid block. One whose bytes are not a block's all the same is left out. */
static tansu_status take_compressed(search *k, const block_header *header, uint64_t position,
                                    tansu_error *error) {
    if (!codec_available((enum codec)header->codec))
        return codec_missing("The segment", (enum codec)header->codec, error);
    tansu_status status = reserve_content(k, header->size, error);
    if (status != TANSU_OK ||
        !codec_decompress((enum codec)header->codec, k->bytes + position + BLOCK_HEADER_SIZE,
                          header->stored, k->content.data, header->size))
        return status;
    return add_block(k,
                     (repair_block){.offset = header->offset,
                                    .size = header->size,
                                    .position = (uint32_t)(position / 8),
                                    .stored = header->stored},
                     error);
}

/* find_compressed -- all blocks that are intact. */
static tansu_status find_compressed(search *k, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t position = COMPRESSED_BLOCKS; status == TANSU_OK && position < k->size;) {
        const block_header *header = block_valid(k->image->crc_seed, k->bytes, k->size, position);
        if (header != NULL)
            status = take_compressed(k, header, position, error);
        position += header == NULL ? 8 : align8(BLOCK_HEADER_SIZE + (uint64_t)header->stored);
    }
    return status;
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
    search k = {.r = r, .s = s, .bytes = bytes, .size = s->size};
    tansu_status status = TANSU_OK;
    if (whole || repair_image_block(bytes, s->size, uuid))
        status = image_new(&k, error);
    if (k.image != NULL) {
        uint64_t end = SEGMENT_HEADER_SIZE;
        if (whole && header->end > end && header->end <= UINT32_MAX) {
            end = header->end;
            *header = segment_header_plain(header);
        }
        k.image->header = *header;
        k.image->crc_seed = seed_of(uuid);
        status = find_compressed(&k, error);
        end_search(&k, end, COMPRESSED_BLOCKS, BLOCK_HEADER_SIZE);
    }
    free(bytes);
    return status;
}

/* ---- Segments of encrypted databases ---- */

/* take_sealed -- one that may be a block of the segment with a number: *valid. The header of the
 * table goes to *header, and *table is set. */
static tansu_status take_sealed(search *k, uint32_t number, const sealed_header *sealed,
                                uint64_t position, segment_header *header, bool *table, bool *valid,
                                tansu_error *error) {
    bool is_table = sealed->codec == SEALED_TABLE;
    *valid = false;
    if (sealed->codec == CODEC_LZ4 && !codec_available(CODEC_LZ4))
        return codec_missing("The segment", CODEC_LZ4, error);
    tansu_status status = reserve_content(k, sealed->size, error);
    if (status != TANSU_OK)
        return status;
    status = sealed_block_open(k->r->keys, number, sealed, k->bytes + position, k->content.data);
    if (status == TANSU_E_MEMORY)
        return error_memory(error);
    *valid = status == TANSU_OK;
    if (!*valid || (is_table && sealed->size < sizeof(sealed_table)))
        return TANSU_OK;
    k->r->decrypted++;
    if (is_table) {
        memcpy(header, k->content.data, sizeof *header);
        *table = true;
        return TANSU_OK;
    }
    return sealed->offset < SEGMENT_HEADER_SIZE
               ? TANSU_OK
               : add_block(k,
                           (repair_block){.offset = sealed->offset,
                                          .size = sealed->size,
                                          .position = (uint32_t)(position / 8),
                                          .stored = sealed->stored},
                           error);
}

/* find_sealed -- all blocks of the segment with a number that are intact. */
static tansu_status find_sealed(search *k, uint32_t number, segment_header *header, bool *table,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t end = k->size - k->size % 8, at = SEALED_BLOCKS;
    while (status == TANSU_OK && at < end &&
           (at = scan_zeros(k->bytes, end, at)) + SEALED_HEADER_SIZE <= end) {
        sealed_header sealed;
        bool valid = false;
        if (sealed_header_at(k->bytes, k->size, at, &sealed))
            status = take_sealed(k, number, &sealed, at, header, table, &valid, error);
        at += valid ? sealed_size(sealed.stored) : 8;
    }
    return status;
}

/* note -- a problem of a segment; `what` ends the sentence. */
static void note(const search *k, int64_t size, const char *what) {
    char name[64];
    repair_segment_name(k->r, k->s->number, name);
    problem_location where = {.file = name, .offset = 0, .size = size};
    problem_list_add(&k->r->problems, &where, "Segment \"%s\" %s", name, what);
}

/* settle_header -- what the table says of the header replaces what the file begins with. Without a
 * table that is used, unless it is of another database. */
static void settle_header(const search *k, const segment_header *written, bool table,
                          segment_header *header) {
    static const segment_header blank;
    if (table) {
        if (memcmp(header, written, sizeof *header) != 0 &&
            memcmp(&blank, written, sizeof *written) != 0)
            note(k, SEGMENT_HEADER_SIZE, "has a corrupt header");
    } else if (scan_header(written) && segment_kind_of(written) != SEGMENT_WRITTEN) {
        note(k, -1, "has no valid table of its blocks");
    }
    if (scan_header(header))
        *header = segment_header_plain(header);
}

/* holds_bytes -- whether anything was written after the header. */
static bool holds_bytes(const search *k) {
    uint64_t end = k->size - k->size % 8;
    return k->size > SEALED_BLOCKS && scan_zeros(k->bytes, end, SEALED_BLOCKS) < end;
}

tansu_status repair_image_decrypt(repair *r, repair_segment *s, int fd, segment_header *header,
                                  tansu_error *error) {
    const segment_header written = *header;
    bool table = false;
    uint8_t *bytes = malloc((size_t)s->size + 8);
    if (bytes == NULL)
        return error_memory(error);
    repair_read_bytes(r, s, fd, bytes, 0, (size_t)s->size);
    search k = {.r = r, .s = s, .bytes = bytes, .size = s->size};
    tansu_status status = image_new(&k, error);
    if (status == TANSU_OK)
        status = find_sealed(&k, s->named, header, &table, error);
    if (status == TANSU_OK && k.image->count == 0 && !table && scan_header(&written) &&
        written.number != s->named && written.number <= UINT32_MAX) {
        s->named = (uint32_t)written.number; /* a file with the name of another one */
        status = find_sealed(&k, s->named, header, &table, error);
    }
    if (k.image != NULL) {
        if (status == TANSU_OK && k.image->count == 0 && !table && holds_bytes(&k))
            note(&k, (int64_t)k.size, "has no block that the keys of the database open");
        settle_header(&k, &written, table, header);
        k.image->header = *header;
        uint64_t end = SEGMENT_HEADER_SIZE;
        if (scan_header(header) && header->end > end && header->end <= UINT32_MAX)
            end = header->end;
        end_search(&k, end, SEALED_BLOCKS, SEALED_HEADER_SIZE);
    }
    free(bytes);
    return status;
}

/* ---- Reading ---- */

/* read_stored -- a block as it is in the file; false when it cannot be read. */
static tansu_status read_stored(repair_block_reader *reader, const repair_block *block,
                                uint64_t size, bool *read, tansu_error *error) {
    reader->stored.size = 0;
    if (!buffer_reserve(&reader->stored, size))
        return error_memory(error);
    for (uint64_t done = 0; done < size;) {
        ssize_t got =
            reader->r->calls->read(reader->fd, reader->stored.data + done, (size_t)(size - done),
                                   (off_t)((uint64_t)block->position * 8 + done));
        *read = got > 0;
        if (!*read)
            return TANSU_OK;
        done += (uint64_t)got;
    }
    return TANSU_OK;
}

/* decode -- the content of a block that is as it was found; *valid. Errors: MEMORY. */
static tansu_status decode(const repair_block_reader *reader, const repair_block *block,
                           uint64_t stored, uint8_t *out, bool *valid, tansu_error *error) {
    const uint8_t *bytes = reader->stored.data;
    tansu_status status = TANSU_E_CORRUPT;
    if (reader->r->keys != NULL) {
        sealed_header header;
        if (sealed_header_at(bytes, stored, 0, &header) && header.size == block->size &&
            header.codec != SEALED_TABLE)
            status = sealed_block_open(reader->r->keys, reader->s->named, &header, bytes, out);
    } else {
        const block_header *header = block_valid(reader->s->image->crc_seed, bytes, stored, 0);
        if (header != NULL && header->size == block->size &&
            codec_decompress((enum codec)header->codec, bytes + BLOCK_HEADER_SIZE, header->stored,
                             out, header->size))
            status = TANSU_OK;
    }
    *valid = status == TANSU_OK;
    return status == TANSU_E_MEMORY ? error_memory(error) : TANSU_OK;
}

/* load -- the content of a block into the reader; zeros when it cannot be read any more. */
static tansu_status load(repair_block_reader *reader, const repair_block *block,
                         tansu_error *error) {
    if (reader->block == block)
        return TANSU_OK;
    uint64_t size =
        block->stored + (reader->r->keys != NULL ? SEALED_HEADER_SIZE : BLOCK_HEADER_SIZE);
    bool valid = false;
    reader->block = NULL;
    reader->bytes.size = 0;
    if (!buffer_reserve(&reader->bytes, block->size))
        return error_memory(error);
    tansu_status status = read_stored(reader, block, size, &valid, error);
    if (status == TANSU_OK && valid)
        status = decode(reader, block, size, reader->bytes.data, &valid, error);
    if (status != TANSU_OK)
        return status;
    if (!valid)
        memset(reader->bytes.data, 0, block->size);
    reader->block = block;
    return TANSU_OK;
}

/* copy_part -- copies what is both in the bytes at `from` of the image, `length` of them, and in the
 * part that is read. */
static void copy_part(const uint8_t *bytes, uint64_t from, uint64_t length, uint64_t offset,
                      uint64_t size, uint8_t *out) {
    uint64_t begin = from > offset ? from : offset;
    uint64_t end = from + length < offset + size ? from + length : offset + size;
    if (begin < end)
        memcpy(out + (begin - offset), bytes + (begin - from), (size_t)(end - begin));
}

tansu_status repair_image_read(repair_block_reader *reader, uint64_t offset, uint64_t size,
                               uint8_t *out, tansu_error *error) {
    const repair_image *image = reader->s->image;
    memset(out, 0, (size_t)size);
    copy_part((const uint8_t *)&image->header, 0, sizeof image->header, offset, size, out);
    size_t at = BISECT(image->blocks, image->count, repair_block, offset, offset);
    at -= at > 0; /* the one before may reach there */
    for (; at < image->count && image->blocks[at].offset < offset + size; at++) {
        const repair_block *block = &image->blocks[at];
        if ((uint64_t)block->offset + block->size <= offset)
            continue;
        tansu_status status = load(reader, block, error);
        if (status != TANSU_OK)
            return status;
        copy_part(reader->bytes.data, block->offset, block->size, offset, size, out);
    }
    return TANSU_OK;
}

void repair_block_reader_end(repair_block_reader *reader) {
    tansu_buffer_free(&reader->stored);
    tansu_buffer_free(&reader->bytes);
    reader->block = NULL;
}
