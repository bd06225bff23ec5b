/*
 * catalog/backup_format.h -- the layout of a backup in one file (docs/backup-format.md). Part catalog.
 *
 * A gzip member with the container below, and a second, empty one: the seal, whose extra field has
 * the size and the CRC-32 of all bytes before it. So there is no bit of the file that is not
 * watched over, and every gunzip reads it.
 */
#ifndef TANSU_CATALOG_BACKUP_FORMAT_H
#define TANSU_CATALOG_BACKUP_FORMAT_H

#include "tansu.h"

#define BACKUP_MAGIC "TANSUBAK"
#define BACKUP_FORMAT 1u

/* The container begins with this. */
typedef struct backup_header {
    uint8_t magic[8];
    uint32_t format;
    uint32_t crc; /* of the header with this field zero */
    uint8_t uuid[16];
    uint64_t sequence; /* of the last commit in it */
    uint8_t zero[24];
} backup_header;
#define BACKUP_HEADER_SIZE 64u

/* Then come items: this, and `size` bytes. */
typedef struct backup_item {
    uint32_t kind;
    uint32_t size;
    uint64_t number; /* 0 for the first item, then without gaps */
    uint32_t crc; /* of the item with this field zero and its bytes, begun with that of the uuid */
    uint32_t zero;
} backup_item;
#define BACKUP_ITEM_SIZE 24u
#define BACKUP_ITEM_MOST (1024u * 1024u) /* bytes of one item */

enum backup_kind {
    BACKUP_SEGMENT = 1,     /* a segment begins: its number */
    BACKUP_BYTES = 2,       /* bytes of it */
    BACKUP_SEGMENT_END = 3, /* its size */
    BACKUP_END = 4          /* number of segments, bytes of all segments */
};

_Static_assert(sizeof(backup_header) == BACKUP_HEADER_SIZE, "backup header layout");
_Static_assert(sizeof(backup_item) == BACKUP_ITEM_SIZE, "backup item layout");

/* backup_item_crc -- what an item's crc must be. */
uint32_t backup_item_crc(uint32_t seed, backup_item item, const void *bytes);

/* backup_header_crc -- the same for the header. */
uint32_t backup_header_crc(backup_header header);

/* backup_seal -- the second gzip member for a file of `size` bytes with that CRC-32. Returns its size;
 * 0 when memory is exhausted. */
#define BACKUP_SEAL_ROOM 128u
size_t backup_seal(uint64_t size, uint32_t crc, uint8_t seal[BACKUP_SEAL_ROOM]);

/* What the first member begins with: gzip, deflate, no name, no time, unknown system. */
#define BACKUP_GZIP_HEAD "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
#define BACKUP_GZIP_HEAD_SIZE 10u

#endif
