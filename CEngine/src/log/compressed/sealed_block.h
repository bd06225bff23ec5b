/*
 * log/compressed/sealed_block.h -- the blocks of the segments of an encrypted database
 * (docs/file-format.md).
 *
 * The file of such a segment has the segment's header, sealed blocks, and, when it is not written
 * any more, a table of them. A block has a part of the image: of one commit, or, in a compacted
 * segment, of several. All that a block says of itself is authenticated, and so are the database
 * and the segment, so that one that was moved, exchanged or changed is refused.
 *
 * Readers decrypt blocks by *groups*: those that begin in the same stretch of the image, each of
 * which an entry of the table names. A record lies in one block.
 */
#ifndef TANSU_LOG_COMPRESSED_SEALED_BLOCK_H
#define TANSU_LOG_COMPRESSED_SEALED_BLOCK_H

#include "crypt/keyring.h"
#include "log/compressed/codec.h"
#include "log/compressed/compressed_format.h"

/* All integers are little-endian; blocks begin at multiples of eight bytes. */
#define SEALED_MAGIC 0x31425354u /* "TSB1" */
typedef struct sealed_header {
    uint32_t magic;
    uint32_t stored; /* bytes that follow */
    uint32_t offset; /* in the image; of a table 0 */
    uint32_t size;   /* in the image; of a table that of what it contains */
    uint32_t codec;  /* how it was compressed before it was sealed; or SEALED_TABLE */
    uint32_t generation;
    uint64_t number;
    uint8_t salt[SEAL_SALT_SIZE];
    uint8_t tag[CRYPT_TAG_SIZE];
} sealed_header;
#define SEALED_HEADER_SIZE 64u
#define SEALED_TABLE 255u

/* Where the blocks begin in the file. */
#define SEALED_BLOCKS 64u

/* No more of the image is put into a group, unless one record is larger. */
#define SEALED_BYTES (16u * 1024u)
#define SEALED_UNIT 13u /* 2^13: half of that */

/* sealed_size -- bytes of the file that a block takes of which so many are stored. */
static inline uint64_t sealed_size(uint64_t stored) {
    return SEALED_HEADER_SIZE + align8(stored);
}

/* sealed_most -- as many bytes the blocks of a frame take at most. */
static inline uint64_t sealed_most(uint64_t size) {
    return size + (size / (SEALED_BYTES / 2) + 4) * (SEALED_HEADER_SIZE + 8);
}

/* sealed_block_put -- writes a block whose bytes are `stored` ones, and zeros after it. false: memory
 * is exhausted. */
bool sealed_block_put(sealer *s, uint32_t segment, uint32_t codec, uint32_t offset, uint32_t size,
                      const uint8_t *bytes, uint32_t stored, uint8_t *out);

/* sealed_header_at -- the header of the block at a position of a file's bytes if it may be one. */
bool sealed_header_at(const uint8_t *bytes, uint64_t size, uint64_t position,
                      sealed_header *header);

/* sealed_block_open -- decrypts and decompresses a block, of which header->stored bytes follow the
 * header at `block`, into header->size bytes. Errors (without a text): CORRUPT, MEMORY. */
tansu_status sealed_block_open(keyring *keys, uint32_t segment, const sealed_header *header,
                               const uint8_t *block, uint8_t *out);

/* sealed_block_renew -- seals a valid block, of which `size` bytes are there at most, anew in its place:
 * with the key of `s` instead of those of `keys`. *taken: bytes that it takes. Errors (without a
 * text): CORRUPT (there is no valid block, and nothing was changed), MEMORY. */
tansu_status sealed_block_renew(keyring *keys, sealer *s, uint32_t segment, uint8_t *block,
                                uint64_t size, uint64_t *taken);

/* ---- The table ---- */

/* What a table begins with; its entries follow: those of the groups. */
typedef struct sealed_table {
    uint8_t header[IMAGE_BLOCKS]; /* the segment's, as it is at the file's beginning */
    uint32_t end;                 /* of the image */
    uint32_t count;
    uint32_t codec;    /* that it was written with, whether or not a block was worth it */
    uint32_t reserved; /* zero */
} sealed_table;

/* The last bytes of the file. */
typedef struct sealed_trailer {
    uint64_t table; /* where it begins */
    uint8_t magic[8];
} sealed_trailer;
#define SEALED_TRAILER_MAGIC "TANSUTBL"

/* sealed_table_put -- appends the block of a table with those entries, and the trailer; `position`:
 * where they will lie in the file. false: memory is exhausted. */
bool sealed_table_put(sealer *s, uint32_t segment, const sealed_table *table,
                      const block_entry *entries, uint64_t position, tansu_buffer *out);

_Static_assert(sizeof(sealed_header) == SEALED_HEADER_SIZE, "sealed header layout");
_Static_assert(sizeof(sealed_table) == 80, "sealed table layout");
_Static_assert(sizeof(sealed_trailer) == 16, "sealed trailer layout");

#endif
