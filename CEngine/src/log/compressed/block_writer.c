/*
 * log/compressed/block_writer.c -- cutting an image into blocks.
 */
#include "log/compressed/compressed_segment.h"

#include "util/array.h"
#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct block_writer {
    enum codec codec;
    void *memory; /* that the codec works in */
    uint32_t crc_seed;
    block_sink sink;
    void *context;
    tansu_buffer block;  /* the current one */
    uint64_t wanted;     /* bytes of it that are to be compressed */
    tansu_buffer stored; /* as it is stored */
    uint64_t offset;     /* of the current block in the image */
    uint64_t position;   /* in the file */
    uint32_t codecs;
    block_entry *entries;
    uint32_t count, capacity;
};

block_writer *block_writer_new(enum codec codec, uint32_t crc_seed, block_sink sink,
                               void *context) {
    block_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    *w = (block_writer){.codec = codec,
                        .crc_seed = crc_seed,
                        .sink = sink,
                        .context = context,
                        .offset = IMAGE_BLOCKS,
                        .position = COMPRESSED_BLOCKS};
    w->memory = malloc(codec_memory(codec) + 8);
    if (w->memory == NULL) {
        free(w);
        return NULL;
    }
    return w;
}

void block_writer_free(block_writer *w) {
    if (w == NULL)
        return;
    tansu_buffer_free(&w->block);
    tansu_buffer_free(&w->stored);
    free(w->entries);
    free(w->memory);
    free(w);
}

/* end_block -- writes the current block, if it has any bytes. */
static tansu_status end_block(block_writer *w, tansu_error *error) {
    size_t size = w->block.size;
    if (size == 0)
        return TANSU_OK;
    w->stored.size = 0;
    if (!ARRAY_RESERVE(w->entries, w->count, w->capacity, 1) ||
        !buffer_reserve(&w->stored, BLOCK_HEADER_SIZE + align8(size) + 8))
        return error_memory(error);
    uint8_t *out = w->stored.data + BLOCK_HEADER_SIZE;
    block_header header = {.magic = BLOCK_MAGIC,
                           .offset = (uint32_t)w->offset,
                           .size = (uint32_t)size,
                           .codec = w->codec};
    /* What saves less than an eighth is not worth decompressing. */
    size_t made = w->wanted * 2 < size ? 0
                                       : codec_compress(w->codec, w->memory, w->block.data, size,
                                                        out, size - size / 8);
    if (made == 0) {
        header.codec = CODEC_NONE;
        memcpy(out, w->block.data, size);
        made = size;
    }
    header.stored = (uint32_t)made;
    uint64_t whole = align8(BLOCK_HEADER_SIZE + made);
    memcpy(w->stored.data, &header, sizeof header);
    memset(out + made, 0, whole - BLOCK_HEADER_SIZE - made);
    store_u32(w->stored.data + offsetof(block_header, crc),
              checksum(w->crc_seed, w->stored.data + 8, BLOCK_HEADER_SIZE - 8 + made));
    tansu_status status = w->sink(w->context, w->stored.data, whole, error);
    if (status != TANSU_OK)
        return status;
    w->entries[w->count++] =
        (block_entry){.offset = (uint32_t)w->offset, .position = (uint32_t)(w->position / 8)};
    w->codecs |= (uint32_t)1 << header.codec;
    w->position += whole;
    w->offset += size;
    w->block.size = 0;
    w->wanted = 0;
    return TANSU_OK;
}

tansu_status block_writer_add(block_writer *w, const void *bytes, uint64_t size, bool wanted,
                              tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (w->block.size != 0 && w->block.size + size > BLOCK_BYTES)
        status = end_block(w, error);
    if (status == TANSU_OK && !buffer_append(&w->block, bytes, (size_t)size))
        status = error_memory(error);
    w->wanted += wanted ? size : 0;
    return status;
}

tansu_status block_writer_finish(block_writer *w, compressed_header *header, tansu_error *error) {
    tansu_status status = end_block(w, error);
    if (status != TANSU_OK)
        return status;
    uint64_t size = (uint64_t)w->count * sizeof *w->entries;
    *header = (compressed_header){.count = w->count, .table = w->position, .codecs = w->codecs};
    header->table_crc = checksum(w->crc_seed, (const uint8_t *)w->entries, size);
    header->crc = checksum(w->crc_seed, (const uint8_t *)header, sizeof *header);
    return size == 0 ? TANSU_OK : w->sink(w->context, w->entries, size, error);
}
