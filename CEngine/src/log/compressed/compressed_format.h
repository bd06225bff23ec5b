/*
 * log/compressed/compressed_format.h -- the layout of a compressed segment (docs/file-format.md).
 *
 * A compressed segment stores the bytes of a compacted one, its *image*, in blocks: offsets of the
 * image are what locations name. The file has the segment's header, a
 * header of its own, the blocks, and a table of them. All integers are little-endian.
 */
#ifndef TANSU_LOG_COMPRESSED_COMPRESSED_FORMAT_H
#define TANSU_LOG_COMPRESSED_COMPRESSED_FORMAT_H

#include "util/bytes.h"

#include <stdbool.h>

/* After the segment's header. */
typedef struct compressed_header {
    uint32_t crc;    /* of this header with this field zero, begun with the CRC of the uuid */
    uint32_t count;  /* blocks */
    uint64_t table;  /* where the table begins in the file */
    uint32_t codecs; /* bit n: some block has codec n */
    uint32_t table_crc;
    uint32_t reserved[10]; /* zero */
} compressed_header;
#define COMPRESSED_HEADER_SIZE 64u

/* Where the image's first block begins in it, and where that header begins in the file. */
#define IMAGE_BLOCKS 64u

/* Where the blocks begin in the file. */
#define COMPRESSED_BLOCKS (IMAGE_BLOCKS + COMPRESSED_HEADER_SIZE)

/* One block: a header, and what is stored of it. */
#define BLOCK_MAGIC 0x314b4254u /* "TBK1" */
typedef struct block_header {
    uint32_t magic;
    uint32_t crc;    /* of the rest of the header and of what is stored, as in a frame */
    uint32_t offset; /* in the image */
    uint32_t size;   /* in the image */
    uint32_t stored; /* bytes that follow */
    uint32_t codec;
} block_header;
#define BLOCK_HEADER_SIZE 24u

/* One entry of the table; they rise, and the image has no bytes between two blocks. */
typedef struct block_entry {
    uint32_t offset;   /* in the image */
    uint32_t position; /* in the file, in eights of bytes */
} block_entry;

/* No more of the image is put into a block, unless one record is larger. */
#define BLOCK_UNIT 15u
#define BLOCK_BYTES (1u << BLOCK_UNIT)

/* No record, and so no block, is larger: a document has at most 16 MiB. */
#define BLOCK_BYTES_MOST (32u * 1024u * 1024u)

/* What a stored byte becomes at most, and some bytes more: an LZ4 block has no more. */
#define BLOCK_RATIO_MOST 255u
#define BLOCK_MORE 64u

/* block_plausible -- whether that many bytes of the image, from that offset on, can be a block of
 * which so many bytes are stored. Records begin at multiples of eight. */
static inline bool block_plausible(uint64_t offset, uint64_t size, uint64_t stored) {
    return offset % 8 == 0 && size % 8 == 0 && size != 0 && size <= BLOCK_BYTES_MOST &&
           size <= stored * BLOCK_RATIO_MOST + BLOCK_MORE;
}

_Static_assert(sizeof(compressed_header) == COMPRESSED_HEADER_SIZE, "compressed header layout");
_Static_assert(sizeof(block_header) == BLOCK_HEADER_SIZE, "block header layout");
_Static_assert(sizeof(block_entry) == 8, "block entry layout");

#endif
