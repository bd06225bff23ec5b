/*
 * util/checksum/checksum.c -- CRC-32 by libdeflate, where the engine is built with it, or by zlib.
 *
 * Both give the same numbers. libdeflate multiplies polynomials with the processor's instructions
 * and needs about a tenth of the time of zlib's portable code; CEngine/dependencies says how a
 * build chooses.
 */
#include "util/checksum/checksum.h"

#ifdef WITH_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

uint32_t checksum(uint32_t before, const void *bytes, size_t size) {
#ifdef WITH_LIBDEFLATE
    return libdeflate_crc32(before, bytes, size);
#else
    return (uint32_t)crc32_z(before, bytes, size);
#endif
}
