/*
 * log/compressed/sealed_block.c -- sealing and opening blocks.
 */
#include "log/compressed/sealed_block.h"

#include "util/buffer.h"

#include <stddef.h>
#include <stdlib.h>

/* What is authenticated beside the bytes: the header without the tag, and the segment. */
typedef struct sealed_place {
    uint8_t header[offsetof(sealed_header, tag)];
    uint32_t segment;
} sealed_place;

/* place_of -- of a block. */
static sealed_place place_of(const sealed_header *header, uint32_t segment) {
    sealed_place place = {.segment = segment};
    memcpy(place.header, header, sizeof place.header);
    return place;
}

bool sealed_block_put(sealer *s, uint32_t segment, uint32_t codec, uint32_t offset, uint32_t size,
                      const uint8_t *bytes, uint32_t stored, uint8_t *out) {
    seal_mark mark = sealer_next(s);
    sealed_header header = {.magic = SEALED_MAGIC,
                            .stored = stored,
                            .offset = offset,
                            .size = size,
                            .codec = codec,
                            .generation = mark.generation,
                            .number = mark.number};
    memcpy(header.salt, mark.salt, sizeof header.salt);
    sealed_place place = place_of(&header, segment);
    if (!seal(s, &mark, &place, sizeof place, bytes, stored, out + SEALED_HEADER_SIZE, header.tag))
        return false;
    memset(out + SEALED_HEADER_SIZE + stored, 0, align8(stored) - stored);
    memcpy(out, &header, sizeof header);
    return true;
}

bool sealed_header_at(const uint8_t *bytes, uint64_t size, uint64_t position,
                      sealed_header *header) {
    if (position % 8 != 0 || position > size || size - position < SEALED_HEADER_SIZE)
        return false;
    memcpy(header, bytes + position, sizeof *header);
    if (header->magic != SEALED_MAGIC || header->stored > size - position - SEALED_HEADER_SIZE)
        return false;
    if (header->codec == SEALED_TABLE || header->codec == CODEC_NONE)
        return header->stored == header->size;
    return block_plausible(header->offset, header->size, header->stored);
}

/* open_stored -- decrypts header->stored bytes, as they were before sealing. */
static tansu_status open_stored(keyring *keys, uint32_t segment, const sealed_header *header,
                                const uint8_t *block, uint8_t *out) {
    seal_mark mark = {.generation = header->generation, .number = header->number};
    memcpy(mark.salt, header->salt, sizeof mark.salt);
    sealed_place place = place_of(header, segment);
    return unseal(keys, SEAL_LOG, &mark, &place, sizeof place, block + SEALED_HEADER_SIZE,
                  header->stored, header->tag, out);
}

tansu_status sealed_block_open(keyring *keys, uint32_t segment, const sealed_header *header,
                               const uint8_t *block, uint8_t *out) {
    if (header->codec == CODEC_NONE || header->codec == SEALED_TABLE)
        return open_stored(keys, segment, header, block, out);
    uint8_t *bytes = malloc((size_t)header->stored + 1);
    if (bytes == NULL)
        return TANSU_E_MEMORY;
    tansu_status status = open_stored(keys, segment, header, block, bytes);
    if (status == TANSU_OK &&
        !codec_decompress((enum codec)header->codec, bytes, header->stored, out, header->size))
        status = TANSU_E_CORRUPT;
    crypt_wipe(bytes, header->stored);
    free(bytes);
    return status;
}

tansu_status sealed_block_renew(keyring *keys, sealer *s, uint32_t segment, uint8_t *block,
                                uint64_t size, uint64_t *taken) {
    sealed_header header;
    if (!sealed_header_at(block, size, 0, &header) || sealed_size(header.stored) > size)
        return TANSU_E_CORRUPT;
    uint8_t *bytes = malloc((size_t)header.stored + 1);
    if (bytes == NULL)
        return TANSU_E_MEMORY;
    tansu_status status = open_stored(keys, segment, &header, block, bytes);
    if (status == TANSU_OK && !sealed_block_put(s, segment, header.codec, header.offset,
                                                header.size, bytes, header.stored, block))
        status = TANSU_E_MEMORY;
    *taken = sealed_size(header.stored);
    crypt_wipe(bytes, header.stored);
    free(bytes);
    return status;
}

bool sealed_table_put(sealer *s, uint32_t segment, const sealed_table *table,
                      const block_entry *entries, uint64_t position, tansu_buffer *out) {
    uint64_t size = sizeof *table + (uint64_t)table->count * sizeof *entries;
    sealed_trailer trailer = {.table = position};
    memcpy(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic);
    uint8_t *bytes = malloc((size_t)size);
    if (bytes == NULL || size > UINT32_MAX / 2 ||
        !buffer_reserve(out, sealed_size(size) + sizeof trailer)) {
        free(bytes);
        return false;
    }
    memcpy(bytes, table, sizeof *table);
    if (table->count != 0)
        memcpy(bytes + sizeof *table, entries, (size_t)table->count * sizeof *entries);
    bool sealed = sealed_block_put(s, segment, SEALED_TABLE, 0, (uint32_t)size, bytes,
                                   (uint32_t)size, out->data + out->size);
    if (sealed) {
        memcpy(out->data + out->size + sealed_size(size), &trailer, sizeof trailer);
        out->size += sealed_size(size) + sizeof trailer;
    }
    free(bytes);
    return sealed;
}
