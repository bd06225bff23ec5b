/*
 * store/manifest.h -- the MANIFEST file: the identity of a database and the known state of its
 * files.
 *
 * A few lines of text with a CRC, replaced as a whole (write new, sync, rename):
 *
 *   tansu 1 | 2 | 4
 *   uuid 32 hex digits
 *   index clean | open | damaged
 *   boot text
 *   end sequence
 *   crc 8 hex digits (of all before this line)
 */
#ifndef TANSU_STORE_MANIFEST_H
#define TANSU_STORE_MANIFEST_H

#include "store/database.h"

typedef struct manifest {
    uint8_t uuid[16];
    bool compacted;     /* the log may hold compacted segments: format 2 */
    bool compressed;    /* it may hold compressed segments, and options of collections: format 4 */
    bool wildcard;      /* it may hold wildcard indexes: 8 more than the format without them */
    bool references;    /* collections may have references: 16 more */
    bool timestamps;    /* collections may have timestamps: 32 more */
    bool index_open;    /* index files were being written and may not be whole on the disk */
    bool index_damaged; /* they were found to be damaged: the next opening rebuilds them */
    char boot[64];      /* of the machine's start when they were */
    uint64_t end_sequence; /* the log is on the disk up to this commit */
} manifest;

/* 1 as long as the log has never been compacted: earlier releases of the library can't read it
 * then. */
#define MANIFEST_FORMAT 1u
#define MANIFEST_FORMAT_COMPACTED 2u
#define MANIFEST_FORMAT_COMPRESSED 4u
#define MANIFEST_FORMAT_WILDCARD 8u    /* added to one of the others */
#define MANIFEST_FORMAT_REFERENCES 16u /* the same */
#define MANIFEST_FORMAT_TIMESTAMPS 32u /* the same */

/* manifest_read -- Errors: NOT_FOUND, CORRUPT, VERSION, IO. */
tansu_status manifest_read(const fs *calls, const char *folder, manifest *m, tansu_error *error);

/* manifest_write -- replaces it. Errors: IO, FULL, READ_ONLY. */
tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error);

/* manifest_new -- a fresh one with a random uuid. Errors: IO (no source of random bytes). */
tansu_status manifest_new(manifest *m, tansu_error *error);

/* manifest_mark_compacted -- records in a database's MANIFEST that compaction runs, or ran: the log
 * may hold compacted segments, and their numbers have gaps. Errors: FULL, IO. */
tansu_status manifest_mark_compacted(database *db, tansu_error *error);

/* manifest_mark_wildcard -- records that there may be wildcard indexes. Errors: FULL, IO. */
tansu_status manifest_mark_wildcard(database *db, tansu_error *error);

/* manifest_mark_references -- records that collections may have references, whose delete rules an
 * earlier release would not keep. Errors: FULL, IO. */
tansu_status manifest_mark_references(database *db, tansu_error *error);

/* manifest_mark_timestamps -- records that collections may have timestamps, which an earlier
 * release would not set. Errors: FULL, IO. */
tansu_status manifest_mark_timestamps(database *db, tansu_error *error);

/* manifest_mark_compressed -- records that collections may be compressed. Errors: FULL, IO. */
tansu_status manifest_mark_compressed(database *db, tansu_error *error);

#endif
