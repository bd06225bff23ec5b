/*
 * backup/backup_format.c -- checksums of a backup in one file.
 */
#include "backup/backup_format.h"

#include "util/bytes.h"
#include "util/checksum/checksum.h"

#include <stdbool.h>
#include <zlib.h>

uint32_t backup_item_crc(uint32_t seed, backup_item item, const void *bytes) {
    item.crc = 0;
    uint32_t crc = checksum(seed, &item, sizeof item);
    return checksum(crc, bytes, item.size);
}

uint32_t backup_header_crc(backup_header header) {
    header.crc = 0;
    return checksum(0, &header, sizeof header);
}

size_t backup_seal(uint64_t size, uint32_t crc, uint8_t seal[BACKUP_SEAL_CAPACITY]) {
    uint8_t extra[16] = {'T', 'B', 12, 0}; /* a gzip extra field: two letters, its size, 12 bytes */
    store_u64(extra + 4, size);
    store_u32(extra + 12, crc);
    gz_header head = {.extra = extra, .extra_len = sizeof extra, .os = BACKUP_GZIP_SYSTEM};
    z_stream z = {0};
    if (deflateInit2(&z, BACKUP_LEVEL, Z_DEFLATED, BACKUP_GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return 0;
    z.next_out = seal;
    z.avail_out = BACKUP_SEAL_CAPACITY;
    bool done = deflateSetHeader(&z, &head) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = BACKUP_SEAL_CAPACITY - z.avail_out;
    deflateEnd(&z);
    return done ? length : 0;
}
