/*
 * log/compressed/codec.h -- how the blocks of compressed segments are compressed.
 *
 * The library LZ4 is optional when the engine is built (WITH_LIBLZ4). Without it nothing is
 * compressed, and segments that contain LZ4 blocks cannot be opened.
 */
#ifndef TANSU_LOG_COMPRESSED_CODEC_H
#define TANSU_LOG_COMPRESSED_CODEC_H

#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As stored in a block's header. */
enum codec {
    CODEC_NONE = 0, /* the bytes themselves */
    CODEC_LZ4 = 1,  /* an LZ4 block (no frame) */
};

/* codec_of_name -- the codec of an option's value ("none", "lz4"); false for other text. */
bool codec_of_name(const char *name, enum codec *codec);

/* codec_name -- the other way round. */
const char *codec_name(enum codec codec);

/* codec_available -- whether this build of the library has a codec. */
bool codec_available(enum codec codec);

/* codec_missing -- the error for one that it lacks: UNSUPPORTED. `what` begins the sentence. */
tansu_status codec_missing(const char *what, enum codec codec, tansu_error *error);

/* codec_memory -- bytes that codec_compress() works in. */
size_t codec_memory(enum codec codec);

/* codec_compress -- compresses `size` bytes into at most `room`; the size that they have then, or 0
 * when they do not fit. */
size_t codec_compress(enum codec codec, void *memory, const uint8_t *bytes, size_t size,
                      uint8_t *out, size_t room);

/* codec_decompress -- whether the stored bytes are those of exactly `size` bytes, which it writes.
 * Allocates nothing, and reads and writes nothing else whatever the bytes are. */
bool codec_decompress(enum codec codec, const uint8_t *stored, size_t stored_size, uint8_t *out,
                      size_t size);

#endif
