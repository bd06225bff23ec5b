/*
 * util/checksum/md5.h -- the digest MD5 (RFC 1321), for values that others compute with it. It is
 * not safe against anybody who looks for two texts with one digest.
 */
#ifndef TANSU_UTIL_CHECKSUM_MD5_H
#define TANSU_UTIL_CHECKSUM_MD5_H

#include <stddef.h>
#include <stdint.h>

/* A digest that is being computed. */
typedef struct md5 {
    uint32_t state[4];
    uint64_t size;
    uint8_t block[64]; /* the last bytes, when they are no whole block */
} md5;

void md5_begin(md5 *m);

/* md5_add -- the next bytes. */
void md5_add(md5 *m, const void *bytes, size_t size);

/* md5_end -- the digest of all bytes. */
void md5_end(md5 *m, uint8_t digest[16]);

#endif
