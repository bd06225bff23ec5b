/*
 * util/crc/crc.h -- the CRC-32 of zlib, by the instructions that processors have for it.
 */
#ifndef TANSU_UTIL_CRC_CRC_H
#define TANSU_UTIL_CRC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* crc_of -- the CRC-32 of bytes that follow those whose CRC is `crc` (0: of none). The same number
 * as crc32_z() of zlib on every machine, 0 for NULL included: files are the same wherever they are
 * written. */
uint32_t crc_of(uint32_t crc, const void *bytes, size_t size);

#endif
