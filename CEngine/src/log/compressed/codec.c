/*
 * log/compressed/codec.c -- compressing and decompressing blocks.
 *
 * LZ4's slow compressor (HC) makes the same format as the fast one, and smaller; blocks are written
 * once, by compactions, and read many times.
 */
#include "log/compressed/codec.h"

#include "util/error.h"

#include <string.h>
#ifdef WITH_LIBLZ4
#include <lz4.h>
#include <lz4hc.h>
#endif

/* Higher levels take much longer and gain less than one percent. */
#define LZ4_LEVEL 6

bool codec_of_name(const char *name, enum codec *codec) {
    *codec = strcmp(name, "lz4") == 0 ? CODEC_LZ4 : CODEC_NONE;
    return *codec != CODEC_NONE || strcmp(name, "none") == 0;
}

const char *codec_name(enum codec codec) {
    return codec == CODEC_LZ4 ? "lz4" : "none";
}

bool codec_available(enum codec codec) {
#ifdef WITH_LIBLZ4
    return codec == CODEC_NONE || codec == CODEC_LZ4;
#else
    return codec == CODEC_NONE;
#endif
}

tansu_status codec_missing(const char *what, enum codec codec, tansu_error *error) {
    return error_set(error, TANSU_E_UNSUPPORTED, codec_name(codec),
                     "%s needs %s, which this build of the library does not have; use a library "
                     "that was built with liblz4",
                     what, codec == CODEC_LZ4 ? "LZ4" : "another compression");
}

size_t codec_memory(enum codec codec) {
#ifdef WITH_LIBLZ4
    if (codec == CODEC_LZ4)
        return (size_t)LZ4_sizeofStateHC();
#else
    (void)codec;
#endif
    return 0;
}

size_t codec_compress(enum codec codec, void *memory, const uint8_t *bytes, size_t size,
                      uint8_t *out, size_t room) {
#ifdef WITH_LIBLZ4
    if (codec == CODEC_LZ4 && size <= LZ4_MAX_INPUT_SIZE) {
        int made = LZ4_compress_HC_extStateHC(memory, (const char *)bytes, (char *)out, (int)size,
                                              (int)room, LZ4_LEVEL);
        return made > 0 ? (size_t)made : 0;
    }
#else
    (void)codec, (void)memory, (void)bytes, (void)size, (void)out, (void)room;
#endif
    return 0;
}

bool codec_decompress(enum codec codec, const uint8_t *stored, size_t stored_size, uint8_t *out,
                      size_t size) {
    if (codec == CODEC_NONE) {
        if (stored_size != size)
            return false;
        memcpy(out, stored, size);
        return true;
    }
#ifdef WITH_LIBLZ4
    if (codec == CODEC_LZ4 && stored_size <= INT32_MAX && size <= INT32_MAX)
        return LZ4_decompress_safe((const char *)stored, (char *)out, (int)stored_size,
                                   (int)size) == (int)size;
#endif
    return false;
}
