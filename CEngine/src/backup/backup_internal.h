/*
 * backup/backup_internal.h -- the parts of a backup and of a restore, and the layout of a backup in one
 * file.
 */
#ifndef TANSU_BACKUP_BACKUP_INTERNAL_H
#define TANSU_BACKUP_BACKUP_INTERNAL_H

#include "backup/backup.h"
#include "log/compressed/compressed_segment.h"
#include "log/format.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "tansu.h"
#include "util/staging/staging.h"

/* ---- What a copy is encrypted with ---- */

/* Zeroed: nothing. */
typedef struct copy_keys {
    keyring *keys; /* NULL: the copy is not encrypted */
    bool owned;
    tansu_buffer text; /* of its file KEY */
} copy_keys;

/* copy_keys_new -- a new data key, which that user's key opens. Errors: IO (no source of random
 * bytes), MEMORY. */
tansu_status copy_keys_new(copy_keys *k, const uint8_t uuid[16], const user_key *key,
                           tansu_error *error);

/* copy_keys_renew -- the same for what is copied of a backup that the key has opened, with the content
 * `text` of a file KEY: a passphrase's iterations are those of there. */
tansu_status copy_keys_renew(copy_keys *k, const uint8_t uuid[16], const tansu_buffer *text,
                             const user_key *key, tansu_error *error);

/* copy_keys_free -- fine on a zeroed one. */
void copy_keys_free(copy_keys *k);

/* ---- A backup in one file ---- */

/* What a backup is made of. */
typedef struct backup_source {
    database *db;
    const snapshot *snapshot;
    manifest manifest; /* the copy's */
    const copy_keys *keys;
    task *progress;
} backup_source;

/* backup_file_write -- writes the log up to the snapshot to the staged file. Errors: CANCELLED,
 * FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_file_write(const staging *staged, const backup_source *source, uint64_t *bytes,
                               tansu_error *error);

/* ---- A backup that is a database folder ---- */

/* backup_folder_write -- writes the log up to the snapshot, the keys and the MANIFEST to the staged
 * folder. Errors: CANCELLED, FULL, IO, MEMORY, CORRUPT. */
tansu_status backup_folder_write(const staging *staged, const backup_source *source,
                                 uint64_t *bytes, tansu_error *error);

/* copy_files_write -- the files KEY and MANIFEST of a copied log, the latter last: it makes the folder
 * a database. Errors: FULL, IO, MEMORY. */
tansu_status copy_files_write(const staging *staged, const manifest *m, const copy_keys *keys,
                              tansu_error *error);

/* ---- Reading a backup in one file ---- */

/* Where a backup is read. */
typedef struct restore_source {
    const char *from;
    int fd; /* of a file; -1: it is a folder */
    const user_key *key;
    task *progress;
} restore_source;

/* restore_key_missing -- the error for an encrypted backup without a key. */
tansu_status restore_key_missing(const restore_source *from, tansu_error *error);

/* restore_check_plain -- a backup that is not encrypted is not restored for who expects that it is.
 * Errors: INVALID_ARGUMENT. */
tansu_status restore_check_plain(const restore_source *from, tansu_error *error);

/* restore_file -- writes the backup's segments to the staged folder, and fills in its MANIFEST and
 * its keys, which are new ones. Errors: CORRUPT, VERSION, ENCRYPTED, WRONG_KEY, INVALID_ARGUMENT, CANCELLED, FULL, IO,
 * MEMORY. */
tansu_status restore_file(const staging *staged, const restore_source *from, manifest *m,
                          copy_keys *keys, tansu_error *error);

/* ---- Reading a backup that is a database folder ---- */

/* restore_folder -- the same of a folder. Errors: also NOT_FOUND, LOCKED. */
tansu_status restore_folder(const staging *staged, const restore_source *from, manifest *m,
                            copy_keys *keys, tansu_error *error);

/* ---- Writing a segment of a copied log ---- */

/*
 * Of a backup that is a folder, or of a restored database; then its number, its size and its frames
 * come from the backup, and are validated.
 */

/* A segment file being written. Zeroed but for the first two members and `fd`, -1. */
typedef struct backup_segment {
    const staging *staged;
    keyring *keys; /* the file has sealed blocks; NULL: the bytes as they are */
    char *path;
    int fd;          /* -1: none */
    uint64_t taken;  /* bytes of the segment */
    uint64_t offset; /* in the file */
    /* With keys: */
    block_writer *blocks;
    segment_header header; /* of the file, once `taken` is beyond it */
    tansu_buffer
        unit; /* the header of the segment or of a frame, or a record, as far as it is known */
    uint64_t frame_left; /* bytes of the frame after what is in blocks */
} backup_segment;

/* backup_segment_begin, _bytes, _end -- create log/NNNNNNNN.seg in the staged folder, append to
 * it, and sync it. Errors: CORRUPT (an invalid number, or one that was used before, or too many
 * bytes, or, with keys, invalid ones), FULL, IO, MEMORY. */
tansu_status backup_segment_begin(backup_segment *s, uint64_t number, tansu_error *error);
tansu_status backup_segment_bytes(backup_segment *s, const void *bytes, size_t size,
                                  tansu_error *error);
tansu_status backup_segment_end(backup_segment *s, tansu_error *error);

/* An offset has 32 bits. */
#define BACKUP_SEGMENT_MOST ((uint64_t)UINT32_MAX)

/* backup_segment_too_large -- the error for more bytes: CORRUPT. */
tansu_status backup_segment_too_large(tansu_error *error);

/* backup_segment_drop -- closes the file, if one is open, and frees. */
void backup_segment_drop(backup_segment *s);

/* ---- Validating restored segments before they are opened as a log ---- */

/* restore_check -- validates every frame and document of the staged segments, and notes in the
 * MANIFEST whether one is compacted. Errors: CORRUPT (context: file, offset), IO, MEMORY. */
tansu_status restore_check(const staging *staged, manifest *m, keyring *keys, tansu_error *error);

/* ---- The layout of a backup in one file ---- */

/*
 * The file is a gzip member with the container below, followed by a second, empty member: the seal,
 * whose extra field has the size and the CRC-32 of all bytes before it. So a checksum covers every
 * bit of the file, and every gunzip reads it. An encrypted one is the content of an envelope
 * (backup/envelope.h).
 */

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

/* Then come items: this, followed by `size` bytes. */
typedef struct backup_item {
    uint32_t kind;
    uint32_t size;
    uint64_t number; /* 0, 1, 2, … */
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

/* backup_item_crc -- the `crc` of an item. */
uint32_t backup_item_crc(uint32_t seed, backup_item item, const void *bytes);

/* backup_header_crc -- the `crc` of the header. */
uint32_t backup_header_crc(backup_header header);

/* backup_seal -- the second gzip member, after `size` bytes with that CRC-32. Returns its size; 0
 * when memory is exhausted. */
#define BACKUP_SEAL_CAPACITY 128u
size_t backup_seal(uint64_t size, uint32_t crc, uint8_t seal[BACKUP_SEAL_CAPACITY]);

/* What the first member begins with: gzip, deflate, no name, no time, unknown system. */
#define BACKUP_GZIP_HEAD "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
#define BACKUP_GZIP_HEAD_SIZE 10u

/* Three quarters of what zlib's best level gains, at twice the speed of its default. */
#define BACKUP_LEVEL 3
#define BACKUP_GZIP_WINDOW (15 + 16) /* zlib's way of asking for a gzip wrapper */
#define BACKUP_GZIP_SYSTEM 255       /* unknown */

#endif
