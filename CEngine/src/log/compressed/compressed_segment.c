/*
 * log/compressed/compressed_segment.c -- opening compressed segments, and decompressing their
 * blocks.
 */
#include "log/compressed/compressed_segment.h"

#include "log/compressed/codec.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

/* ---- Opening ---- */

/* form -- how a segment that is read by blocks is called. */
static const char *form(const compressed_segment *s) {
    return s->keys != NULL ? "encrypted" : "compressed";
}

/* corrupt -- the error for a segment whose table, or the header of it, is invalid. */
static tansu_status corrupt(const compressed_segment *s, uint64_t offset, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, s->name, (int64_t)offset,
                    "The table of the %s segment \"%s\" is corrupt (offset %llu); restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    form(s), s->name, (unsigned long long)offset);
}

/* read_part -- reads bytes of the file. */
static tansu_status read_part(const compressed_segment *s, int fd, void *bytes, uint64_t size,
                              uint64_t offset, tansu_error *error) {
    for (uint64_t done = 0; done < size;) {
        errno = 0;
        ssize_t got = s->calls->read(fd, (uint8_t *)bytes + done, (size_t)(size - done),
                                     (off_t)(offset + done));
        if (got <= 0)
            return error_errno(error, s->name, "read", errno == 0 ? EIO : errno);
        done += (uint64_t)got;
    }
    return TANSU_OK;
}

/* header_read -- the header of the blocks, validated. */
static tansu_status header_read(const compressed_segment *s, int fd, uint64_t size,
                                compressed_header *header, tansu_error *error) {
    if (size < COMPRESSED_BLOCKS)
        return corrupt(s, IMAGE_BLOCKS, error);
    tansu_status status = read_part(s, fd, header, sizeof *header, IMAGE_BLOCKS, error);
    if (status != TANSU_OK)
        return status;
    compressed_header copy = *header;
    copy.crc = 0;
    if (header->crc != checksum(s->crc_seed, (const uint8_t *)&copy, sizeof copy) ||
        header->table < COMPRESSED_BLOCKS || header->table % 8 != 0 || header->table > size ||
        (size - header->table) / sizeof(block_entry) < header->count)
        return corrupt(s, IMAGE_BLOCKS, error);
    for (uint32_t codec = 0; codec < 32; codec++)
        if ((header->codecs >> codec & 1) != 0 && !codec_available((enum codec)codec))
            return codec_missing("The log", (enum codec)codec, error);
    return TANSU_OK;
}

/* table_valid -- whether the entries rise within the image and the file, in steps that blocks can
 * have: so no block takes much more memory than the file has bytes of it. */
static bool table_valid(const compressed_segment *s) {
    uint64_t begin = s->keys != NULL ? SEALED_BLOCKS : COMPRESSED_BLOCKS;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->table[i + 1].offset <= s->table[i].offset ||
            s->table[i + 1].position <= s->table[i].position ||
            compressed_stored(s, i) < BLOCK_HEADER_SIZE ||
            !block_plausible(s->table[i].offset, compressed_size(s, i),
                             compressed_stored(s, i) - BLOCK_HEADER_SIZE))
            return false;
    return s->table[0].offset == IMAGE_BLOCKS &&
           (s->count == 0 || (uint64_t)s->table[0].position * 8 == begin);
}

/* table_index -- the index of a table of `s->count` entries, to which it adds the end; *valid: they
 * can be those of the segment. Errors: MEMORY. */
static tansu_status table_index(compressed_segment *s, uint64_t end, bool *valid,
                                tansu_error *error) {
    s->unit = s->keys != NULL ? SEALED_UNIT : BLOCK_UNIT;
    uint64_t units = (s->end >> s->unit) + 1;
    s->table[s->count] = (block_entry){.offset = (uint32_t)s->end, .position = (uint32_t)(end / 8)};
    *valid = table_valid(s);
    s->first = malloc(units * sizeof *s->first);
    s->slots = calloc((size_t)s->count + 1, sizeof *s->slots);
    if (s->first == NULL || s->slots == NULL)
        return error_memory(error);
    uint32_t block = 0;
    for (uint64_t i = 0; *valid && i < units; i++) {
        while (block + 1 < s->count && s->table[block + 1].offset <= i << s->unit)
            block++;
        s->first[i] = block;
    }
    return TANSU_OK;
}

/* table_read -- the table, and the index of it. */
static tansu_status table_read(compressed_segment *s, int fd, const compressed_header *header,
                               tansu_error *error) {
    uint64_t size = (uint64_t)s->count * sizeof *s->table;
    bool valid;
    s->table = malloc(size + sizeof *s->table);
    if (s->table == NULL)
        return error_memory(error);
    tansu_status status = read_part(s, fd, s->table, size, header->table, error);
    if (status != TANSU_OK)
        return status;
    if (header->table_crc != checksum(s->crc_seed, (const uint8_t *)s->table, size))
        return corrupt(s, header->table, error);
    status = table_index(s, header->table, &valid, error);
    return status == TANSU_OK && !valid ? corrupt(s, header->table, error) : status;
}

tansu_status compressed_open(compressed_segment *s, int fd, uint64_t size, tansu_error *error) {
    compressed_header header;
    tansu_status status = header_read(s, fd, size, &header, error);
    if (status != TANSU_OK)
        return status;
    s->size = header.table;
    s->count = header.count;
    return table_read(s, fd, &header, error);
}

/* read_table_block -- the block of the table that a file ends with, decrypted, in new memory; NULL
 * when it does not end with one. Errors: IO, MEMORY. */
static tansu_status read_table_block(const compressed_segment *s, int fd, uint64_t size,
                                     uint64_t *position, uint8_t **table, uint32_t *table_size,
                                     tansu_error *error) {
    sealed_trailer trailer;
    *table = NULL;
    if (size < SEALED_BLOCKS + SEALED_HEADER_SIZE + sizeof trailer)
        return TANSU_OK;
    uint64_t end = size - sizeof trailer;
    tansu_status status = read_part(s, fd, &trailer, sizeof trailer, end, error);
    if (status != TANSU_OK ||
        memcmp(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic) != 0 ||
        trailer.table < SEALED_BLOCKS || trailer.table % 8 != 0 || trailer.table >= end ||
        end - trailer.table < SEALED_HEADER_SIZE)
        return status;
    sealed_header header;
    uint8_t *block = malloc((size_t)(end - trailer.table));
    if (block == NULL)
        return error_memory(error);
    status = read_part(s, fd, block, end - trailer.table, trailer.table, error);
    if (status == TANSU_OK && sealed_header_at(block, end - trailer.table, 0, &header) &&
        header.codec == SEALED_TABLE && sealed_size(header.stored) == end - trailer.table &&
        header.size >= sizeof(sealed_table)) {
        *table = malloc(header.size);
        status = *table == NULL ? TANSU_E_MEMORY
                                : sealed_block_open(s->keys, s->number, &header, block, *table);
        if (status == TANSU_E_MEMORY)
            error_memory(error);
        if (status != TANSU_OK) {
            free(*table);
            *table = NULL;
        }
        status = status == TANSU_E_CORRUPT ? TANSU_OK : status; /* no table of this segment */
        *position = trailer.table;
        *table_size = header.size;
    }
    free(block);
    return status;
}

tansu_status compressed_open_sealed(compressed_segment *s, int fd, uint64_t size,
                                    const void *header, bool *there, tansu_error *error) {
    uint8_t *bytes;
    uint32_t bytes_size = 0;
    uint64_t position = 0;
    *there = false;
    tansu_status status = read_table_block(s, fd, size, &position, &bytes, &bytes_size, error);
    if (status != TANSU_OK || bytes == NULL)
        return status;
    sealed_table table;
    memcpy(&table, bytes, sizeof table);
    uint64_t entries = (bytes_size - sizeof table) / sizeof *s->table;
    if (memcmp(table.header, header, sizeof table.header) == 0 && table.count == entries &&
        table.end >= IMAGE_BLOCKS) {
        s->size = position;
        s->stored = true;
        s->end = table.end;
        s->count = table.count;
        s->codec = (enum codec)table.codec;
        s->table = malloc(((size_t)entries + 1) * sizeof *s->table);
        if (s->table != NULL)
            memcpy(s->table, bytes + sizeof table, (size_t)entries * sizeof *s->table);
        status = s->table == NULL ? error_memory(error) : table_index(s, position, there, error);
    }
    free(bytes);
    return status;
}

tansu_status compressed_take_table(compressed_segment *s, block_entry *entries, uint32_t count,
                                   uint64_t position, tansu_error *error) {
    bool valid;
    s->table = entries;
    s->count = count;
    s->size = position;
    return table_index(s, position, &valid, error);
}

void compressed_free(compressed_segment *s) {
    if (s == NULL)
        return;
    if (s->slots != NULL)
        block_cache_forget(s->cache, s->slots, s->count);
    free(s->table);
    free(s->first);
    free(s->slots);
    free(s);
}

/* ---- Blocks ---- */

const block_header *block_header_at(const uint8_t *bytes, uint64_t size, uint64_t position) {
    if (position % 8 != 0 || position > size || size - position < BLOCK_HEADER_SIZE)
        return NULL;
    const block_header *header = (const block_header *)(const void *)(bytes + position);
    return header->magic == BLOCK_MAGIC && header->stored <= size - position - BLOCK_HEADER_SIZE &&
                   block_plausible(header->offset, header->size, header->stored)
               ? header
               : NULL;
}

const block_header *block_valid(uint32_t crc_seed, const uint8_t *bytes, uint64_t size,
                                uint64_t position) {
    const block_header *header = block_header_at(bytes, size, position);
    if (header == NULL)
        return NULL;
    uint32_t crc = checksum(crc_seed, bytes + position + 8, BLOCK_HEADER_SIZE - 8 + header->stored);
    return crc == header->crc ? header : NULL;
}

/* decode_group -- compressed_decode() of sealed blocks, which follow each other. */
static bool decode_group(const compressed_segment *s, uint32_t group, const uint8_t *stored,
                         uint8_t *out) {
    uint64_t size = compressed_stored(s, group), wanted = compressed_size(s, group), done = 0;
    for (uint64_t at = 0; done < wanted;) {
        sealed_header header;
        if (!sealed_header_at(stored, size, at, &header) || header.codec == SEALED_TABLE ||
            header.offset != s->table[group].offset + done || header.size > wanted - done ||
            sealed_block_open(s->keys, s->number, &header, stored + at, out + done) != TANSU_OK)
            return false;
        done += header.size;
        at += sealed_size(header.stored);
    }
    return true;
}

bool compressed_decode(const compressed_segment *s, uint32_t block, const uint8_t *stored,
                       bool checked, uint8_t *out) {
    if (s->keys != NULL)
        return decode_group(s, block, stored, out);
    uint64_t size = compressed_stored(s, block);
    const block_header *header =
        checked ? block_header_at(stored, size, 0) : block_valid(s->crc_seed, stored, size, 0);
    if (header == NULL)
        return false;
    /* What lies in a page that is lost after the checksum was tested changes once more. */
    block_header h = *header;
    return h.offset == s->table[block].offset && h.size == compressed_size(s, block) &&
           h.stored <= size - BLOCK_HEADER_SIZE &&
           codec_decompress((enum codec)h.codec, stored + BLOCK_HEADER_SIZE, h.stored, out, h.size);
}

tansu_status compressed_corrupt(const compressed_segment *s, uint32_t block, tansu_error *error) {
    uint64_t offset = (uint64_t)s->table[block].position * 8;
    return error_at(error, TANSU_E_CORRUPT, s->name, (int64_t)offset,
                    "A block of the %s segment \"%s\" is corrupt at offset %llu; restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    form(s), s->name, (unsigned long long)offset);
}

/* load -- decompresses a block into the cache and pins it; NULL when that fails, which is
 * counted. */
static const uint8_t *load(const compressed_segment *s, uint32_t block) {
    uint32_t size = compressed_size(s, block);
    uint64_t position = (uint64_t)s->table[block].position * 8;
    uint8_t *bytes = block_alloc(s->cache, size);
    tansu_status status = TANSU_E_MEMORY;
    /* The checksum takes half as long as decompressing. What matched once is trusted like the
     * records of other segments, which are read without one. */
    bool checked = block_checked(&s->slots[block]);
    if (bytes != NULL && !compressed_decode(s, block, s->file + position, checked, bytes)) {
        block_release(s->cache, bytes, size);
        bytes = NULL;
        status = TANSU_E_CORRUPT;
    }
    const uint8_t *added =
        bytes == NULL ? NULL : block_add(s->cache, &s->slots[block], bytes, size);
    if (added == NULL)
        block_failed(s->cache, status, s->number, position);
    return added;
}

/* ---- Records ---- */

static void unpin(log_pins *pins, uint32_t i) {
    if (pins->at[i].segment != NULL)
        block_slot_unpin(&pins->at[i].segment->slots[pins->at[i].block]);
    pins->at[i].segment = NULL;
}

void log_pins_release(log_pins *pins) {
    for (; pins->used > 0; pins->used--)
        unpin(pins, pins->used - 1);
    pins->next = 0;
    pins->newest = NULL;
}

/* pin -- the bytes of a block; NULL when they cannot be read. */
static const uint8_t *pin(const compressed_segment *s, log_pins *pins, uint32_t block) {
    const uint8_t *bytes = block_pin(&s->slots[block]);
    if (bytes == NULL)
        bytes = load(s, block);
    if (bytes == NULL)
        return NULL;
    unpin(pins, pins->next);
    pins->at[pins->next].segment = s;
    pins->at[pins->next].block = block;
    if (pins->used <= pins->next)
        pins->used = pins->next + 1;
    pins->next = (pins->next + 1) % LOG_PINS;
    return bytes;
}

const uint8_t *compressed_load(const compressed_segment *s, log_pins *pins, uint64_t offset,
                               uint64_t *room) {
    if (offset < IMAGE_BLOCKS || offset >= s->end) {
        block_failed(s->cache, TANSU_E_CORRUPT, s->number, IMAGE_BLOCKS);
        return NULL;
    }
    uint32_t block = compressed_find(s, offset);
    const uint8_t *bytes = pin(s, pins, block);
    if (bytes == NULL)
        return NULL;
    pins->newest = s;
    pins->bytes = bytes;
    pins->start = s->table[block].offset;
    pins->size = compressed_size(s, block);
    uint64_t at = offset - pins->start;
    *room = pins->size - at;
    return bytes + at;
}

void compressed_bad(const compressed_segment *s, uint64_t offset) {
    block_failed(s->cache, TANSU_E_CORRUPT, s->number,
                 (uint64_t)s->table[compressed_find(s, offset)].position * 8);
}
