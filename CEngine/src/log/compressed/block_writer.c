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
    sealer *sealer; /* of sealed blocks; otherwise NULL */
    uint32_t segment;
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
    *w = (block_writer){.crc_seed = crc_seed,
                        .sink = sink,
                        .context = context,
                        .offset = IMAGE_BLOCKS,
                        .position = COMPRESSED_BLOCKS};
    if (!block_writer_use(w, codec)) {
        free(w);
        return NULL;
    }
    return w;
}

bool block_writer_use(block_writer *w, enum codec codec) {
    void *memory = malloc(codec_memory(codec) + 8);
    if (memory == NULL)
        return false;
    free(w->memory);
    w->memory = memory;
    w->codec = codec;
    return true;
}

tansu_status block_writer_seal(block_writer *w, keyring *keys, uint32_t segment,
                               tansu_error *error) {
    w->segment = segment;
    w->position = SEALED_BLOCKS;
    return sealer_new(keys, SEAL_LOG, &w->sealer, error);
}

void block_writer_free(block_writer *w) {
    if (w == NULL)
        return;
    if (w->sealer != NULL && w->block.data != NULL)
        crypt_wipe(w->block.data, w->block.capacity);
    sealer_free(w->sealer);
    tansu_buffer_free(&w->block);
    tansu_buffer_free(&w->stored);
    free(w->entries);
    free(w->memory);
    free(w);
}

/* pack -- compresses the current block, where that is wanted and worth decompressing: where it saves
 * an eighth. *made: the bytes at `out`, which is as large as the block. */
static enum codec pack(const block_writer *w, uint8_t *out, size_t *made) {
    size_t size = w->block.size;
    *made = w->wanted * 2 < size
                ? 0
                : codec_compress(w->codec, w->memory, w->block.data, size, out, size - size / 8);
    if (*made != 0)
        return w->codec;
    memcpy(out, w->block.data, size);
    *made = size;
    return CODEC_NONE;
}

/* dress -- the header of a plain block before its bytes, and the zeros after it. */
static void dress(const block_writer *w, enum codec codec, size_t made) {
    uint8_t *bytes = w->stored.data;
    block_header header = {.magic = BLOCK_MAGIC,
                           .offset = (uint32_t)w->offset,
                           .size = (uint32_t)w->block.size,
                           .stored = (uint32_t)made,
                           .codec = codec};
    memcpy(bytes, &header, sizeof header);
    memset(bytes + BLOCK_HEADER_SIZE + made, 0, align8(made) - made);
    store_u32(bytes + offsetof(block_header, crc),
              checksum(w->crc_seed, bytes + 8, BLOCK_HEADER_SIZE - 8 + made));
}

/* end_block -- writes the current block, if it has any bytes. */
static tansu_status end_block(block_writer *w, tansu_error *error) {
    size_t size = w->block.size, made;
    size_t front = w->sealer != NULL ? SEALED_HEADER_SIZE : BLOCK_HEADER_SIZE;
    if (size == 0)
        return TANSU_OK;
    w->stored.size = 0;
    if (!ARRAY_RESERVE(w->entries, w->count, w->capacity, 1) ||
        !buffer_reserve(&w->stored, front + align8(size) + 8))
        return error_memory(error);
    uint8_t *out = w->stored.data + front;
    enum codec codec = pack(w, out, &made);
    if (w->sealer == NULL)
        dress(w, codec, made);
    else if (!sealed_block_put(w->sealer, w->segment, codec, (uint32_t)w->offset, (uint32_t)size,
                               out, (uint32_t)made, w->stored.data))
        return error_memory(error);
    uint64_t whole = front + align8(made);
    tansu_status status = w->sink(w->context, w->stored.data, whole, error);
    if (status != TANSU_OK)
        return status;
    w->entries[w->count++] =
        (block_entry){.offset = (uint32_t)w->offset, .position = (uint32_t)(w->position / 8)};
    w->codecs |= (uint32_t)1 << codec;
    w->position += whole;
    w->offset += size;
    w->block.size = 0;
    w->wanted = 0;
    return TANSU_OK;
}

tansu_status block_writer_add(block_writer *w, const void *bytes, uint64_t size, bool wanted,
                              tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (w->block.size != 0 &&
        w->block.size + size > (w->sealer != NULL ? SEALED_BYTES : BLOCK_BYTES))
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

tansu_status block_writer_finish_sealed(block_writer *w, const void *header, tansu_error *error) {
    tansu_status status = end_block(w, error);
    if (status != TANSU_OK)
        return status;
    w->stored.size = 0;
    sealed_table table = {.end = (uint32_t)w->offset, .count = w->count, .codec = w->codec};
    memcpy(table.header, header, sizeof table.header);
    if (!sealed_table_put(w->sealer, w->segment, &table, w->entries, w->position, &w->stored))
        return error_memory(error);
    return w->sink(w->context, w->stored.data, w->stored.size, error);
}
