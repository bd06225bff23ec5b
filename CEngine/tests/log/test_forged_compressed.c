/*
 * test_forged_compressed.c -- a compressed segment that somebody has made, with valid checksums:
 * blocks that begin within eight bytes, and blocks that say they are enormous.
 */
#include "log/compressed/codec.h"
#include "log/compressed/compressed_format.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/workload/apart.h"
#include "support/workload/forged_use.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 1500
#define SEGMENT_FILE "log/00000003.seg"

/* sample -- a closed database, of which nearly all is in a compressed segment. */
static char *sample(void) {
    char *folder = folder_new();
    tansu_options options = forged_options(folder);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "{'_id': %d, 'n': %d, 'a': [{'b': 'text that is like others'}]}", i, i % 40);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 7}", NULL), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    REQUIRE(file_exists(folder_join(folder, SEGMENT_FILE)));
    return folder;
}

/* A compressed segment that is being made. */
typedef struct making {
    segment_header header;
    tansu_buffer blocks, table;
    uint32_t count, codecs;
} making;

static uint32_t seed_of(const making *m) {
    return checksum(0, m->header.uuid, sizeof m->header.uuid);
}

static void put_block(making *m, uint32_t offset, uint32_t size, const void *stored,
                      uint32_t stored_size, uint32_t codec) {
    static const uint8_t zeros[8];
    block_entry entry = {.offset = offset,
                         .position = (uint32_t)((COMPRESSED_BLOCKS + m->blocks.size) / 8)};
    block_header header = {.magic = BLOCK_MAGIC,
                           .offset = offset,
                           .size = size,
                           .stored = stored_size,
                           .codec = codec};
    size_t at = m->blocks.size;
    buffer_append(&m->table, &entry, sizeof entry);
    buffer_append(&m->blocks, &header, sizeof header);
    buffer_append(&m->blocks, stored, stored_size);
    store_u32(m->blocks.data + at + 4,
              checksum(seed_of(m), m->blocks.data + at + 8, m->blocks.size - at - 8));
    buffer_append(&m->blocks, zeros, (8 - m->blocks.size % 8) % 8);
    m->count++;
    m->codecs |= 1u << codec;
}

static void finish(making *m, const char *path) {
    compressed_header header = {
        .table = COMPRESSED_BLOCKS + m->blocks.size, .count = m->count, .codecs = m->codecs};
    header.table_crc = checksum(seed_of(m), m->table.data, m->table.size);
    header.crc = checksum(seed_of(m), &header, sizeof header);
    m->header.crc = 0;
    m->header.crc = checksum(0, &m->header, sizeof m->header);
    tansu_buffer all = TANSU_BUFFER_INIT;
    buffer_append(&all, &m->header, sizeof m->header);
    buffer_append(&all, &header, sizeof header);
    buffer_append(&all, m->blocks.data, m->blocks.size);
    buffer_append(&all, m->table.data, m->table.size);
    file_write(path, all.data, all.size);
    tansu_buffer_free(&all);
    tansu_buffer_free(&m->blocks);
    tansu_buffer_free(&m->table);
}

/* image_of -- what the segment is made of; its header in *m. */
static uint8_t *image_of(const char *path, making *m) {
    tansu_buffer file = TANSU_BUFFER_INIT;
    file_read(path, &file);
    *m = (making){.count = 0};
    memcpy(&m->header, file.data, sizeof m->header);
    compressed_header header;
    memcpy(&header, file.data + IMAGE_BLOCKS, sizeof header);
    uint8_t *image = calloc(1, m->header.end);
    for (uint32_t i = 0; i < header.count; i++) {
        block_entry entry;
        block_header block;
        memcpy(&entry, file.data + header.table + i * sizeof entry, sizeof entry);
        memcpy(&block, file.data + (uint64_t)entry.position * 8, sizeof block);
        REQUIRE(codec_decompress((enum codec)block.codec,
                                 file.data + (uint64_t)entry.position * 8 + BLOCK_HEADER_SIZE,
                                 block.stored, image + block.offset, block.size));
    }
    tansu_buffer_free(&file);
    return image;
}

/* put_image -- all of an image, in blocks that begin at multiples of `step` and `odd` bytes. */
static void put_image(making *m, const uint8_t *image, uint32_t step, uint32_t odd) {
    for (uint32_t at = IMAGE_BLOCKS, to; at < m->header.end; at = to) {
        to = at / step * step + step + odd;
        if (to > m->header.end)
            to = (uint32_t)m->header.end;
        put_block(m, at, to - at, image + at, to - at, CODEC_NONE);
    }
}

static void blocks_may_begin_anywhere(void) {
    char *folder = sample();
    making m;
    uint8_t *image = image_of(folder_join(folder, SEGMENT_FILE), &m);
    put_image(&m, image, 16384, 4);
    finish(&m, folder_join(folder, SEGMENT_FILE));
    CHECK(apart(forged_use, folder));
    free(image);
    folder_end(folder);
}

#define ENORMOUS (((uint32_t)1 << 31) - 64)

static void a_block_may_say_that_it_is_enormous(void) {
    char *folder = sample();
    making m;
    uint8_t *image = image_of(folder_join(folder, SEGMENT_FILE), &m);
    uint32_t end = (uint32_t)m.header.end;
    put_image(&m, image, 16384, 0);
    put_block(&m, end, ENORMOUS, "abc", 3, CODEC_NONE);
    m.header.end = end + (uint64_t)ENORMOUS;
    finish(&m, folder_join(folder, SEGMENT_FILE));
    CHECK(apart(forged_use, folder));
    free(image);
    folder_end(folder);
}

/* zeros_of -- so many zeros as an LZ4 block: one is a literal, then one copy of it, and five
 * literals at the end. */
static void zeros_of(tansu_buffer *block, uint32_t size) {
    uint32_t more = size - 1 - 5 - 19;
    buffer_append(block, "\x1f\0\1\0", 4);
    for (; more >= 255; more -= 255)
        buffer_append_byte(block, 255);
    buffer_append_byte(block, (uint8_t)more);
    buffer_append(block, "\x50\0\0\0\0\0", 6);
}

static void a_block_may_be_enormous(void) {
    char *folder = sample();
    making m;
    tansu_buffer zeros = TANSU_BUFFER_INIT;
    uint8_t *image = image_of(folder_join(folder, SEGMENT_FILE), &m);
    uint32_t end = (uint32_t)m.header.end;
    put_image(&m, image, 16384, 0);
    zeros_of(&zeros, ENORMOUS);
    put_block(&m, end, ENORMOUS, zeros.data, (uint32_t)zeros.size, CODEC_LZ4);
    m.header.end = end + (uint64_t)ENORMOUS;
    finish(&m, folder_join(folder, SEGMENT_FILE));
    CHECK(apart(forged_use, folder));
    tansu_buffer_free(&zeros);
    free(image);
    folder_end(folder);
}

int main(void) {
    if (!library_lz4())
        return check_finish();
    RUN(blocks_may_begin_anywhere);
    RUN(a_block_may_say_that_it_is_enormous);
    RUN(a_block_may_be_enormous);
    return check_finish();
}
