/*
 * log/compressed/block_writer.h -- cutting the image of a compressed segment into
 * blocks, and compressing them.
 */
#ifndef TANSU_LOG_COMPRESSED_BLOCK_WRITER_H
#define TANSU_LOG_COMPRESSED_BLOCK_WRITER_H

#include "log/compressed/codec.h"
#include "log/compressed/compressed_format.h"

typedef struct block_writer block_writer;

/* Takes what is written, in the order of the file. */
typedef tansu_status (*block_sink)(void *context, const void *bytes, uint64_t size,
                                   tansu_error *error);

/* block_writer_new -- `crc_seed` is the CRC of the uuid.
 * NULL when memory is exhausted. */
block_writer *block_writer_new(enum codec codec, uint32_t crc_seed, block_sink sink, void *context);
void block_writer_free(block_writer *w);

/* block_writer_add -- the next bytes of the image, which stay in one block: a record, or the header
 * of a frame. A block is compressed if at least half of it is `wanted` to be. Errors: MEMORY, and
 * the sink's. */
tansu_status block_writer_add(block_writer *w, const void *bytes, uint64_t size, bool wanted,
                              tansu_error *error);

/* block_writer_finish -- writes the last block and the table. *header is what belongs after the
 * segment's header. Errors: as block_writer_add(), TOO_LARGE. */
tansu_status block_writer_finish(block_writer *w, compressed_header *header, tansu_error *error);

#endif
