/*
 * util/checksum/checksum.h -- the checksum of everything that is stored: CRC-32 as in zlib, gzip
 * and PNG.
 */
#ifndef TANSU_UTIL_CHECKSUM_CHECKSUM_H
#define TANSU_UTIL_CHECKSUM_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* checksum -- that of all bytes so far, when `before` is that of those before these; 0: there are
 * none. `bytes` is not NULL. */
uint32_t checksum(uint32_t before, const void *bytes, size_t size);

#endif
