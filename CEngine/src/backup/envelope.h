/*
 * backup/envelope.h -- bytes that are encrypted as one stream: a backup in one file, or a dump
 * (docs/backup-format.md).
 *
 * A readable head has the data key, encrypted with the user's key as in the file KEY of a database.
 * Chunks of the content follow. Each is authenticated with the head, its number, and whether it is
 * the last one: so chunks that were changed, left out, repeated, exchanged, or added are noticed,
 * and so is a stream that was cut off.
 */
#ifndef TANSU_BACKUP_ENVELOPE_H
#define TANSU_BACKUP_ENVELOPE_H

#include "crypt/keyring.h"
#include "store/key_file.h"
#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the content is. */
enum envelope_content { ENVELOPE_BACKUP = 1, ENVELOPE_DUMP = 2 };

#define ENVELOPE_MAGIC "TANSUENC"
#define ENVELOPE_MAGIC_SIZE 8u
#define ENVELOPE_FORMAT 1u

/* The stream begins with this; integers are little-endian. */
typedef struct envelope_head {
    uint8_t magic[ENVELOPE_MAGIC_SIZE];
    uint32_t format;
    uint32_t crc; /* of the head with this field zero, and of the keys' text */
    uint32_t content;
    uint32_t text_size;  /* of the keys' text, which follows: a file KEY's */
    uint32_t generation; /* of the data key */
    uint32_t zero;
    uint8_t salt[SEAL_SALT_SIZE]; /* with which the chunks are sealed */
    uint8_t zeros[16];
} envelope_head;
#define ENVELOPE_HEAD_SIZE 64u

/* Bytes of the content in each chunk but the last, which has no more. A chunk is stored as its
 * ciphertext and a tag. */
#define ENVELOPE_CHUNK ((size_t)64 * 1024)
#define ENVELOPE_STORED (ENVELOPE_CHUNK + CRYPT_TAG_SIZE)

_Static_assert(sizeof(envelope_head) == ENVELOPE_HEAD_SIZE, "envelope head layout");

/* What each chunk is authenticated with. */
typedef struct envelope_place {
    envelope_head head;
    uint64_t number; /* 0, 1, 2, ... */
    uint64_t last;   /* 1 in the last chunk; otherwise 0 */
} envelope_place;

/* ---- Writing ---- */

/* Takes the bytes of the stream. */
typedef tansu_status (*envelope_sink)(void *context, const uint8_t *bytes, size_t size,
                                      tansu_error *error);

/* Zeroed, it is for envelope_writer_free(). */
typedef struct envelope_writer {
    sealer *sealer;
    seal_mark mark; /* of the next chunk */
    envelope_sink sink;
    void *context;
    envelope_place place; /* of the next chunk */
    uint8_t *chunk;
    size_t filled; /* bytes of it */
} envelope_writer;

/* envelope_begin -- writes the head. `text`: with the keys' newest data key. Errors: IO, MEMORY, the
 * sink's. */
tansu_status envelope_begin(envelope_writer *w, enum envelope_content content, keyring *keys,
                            const tansu_buffer *text, envelope_sink sink, void *context,
                            tansu_error *error);

/* envelope_write -- appends to the content. Errors: MEMORY, the sink's. */
tansu_status envelope_write(envelope_writer *w, const void *bytes, size_t size, tansu_error *error);

/* envelope_finish -- writes the last chunk. Errors: MEMORY, the sink's. */
tansu_status envelope_finish(envelope_writer *w, tansu_error *error);

/* envelope_writer_free -- wipes it. */
void envelope_writer_free(envelope_writer *w);

/* ---- Reading ---- */

/* Reads `capacity` bytes of the stream; *got is less only at its end. */
typedef tansu_status (*envelope_source)(void *context, uint8_t *bytes, size_t capacity, size_t *got,
                                        tansu_error *error);

/* Zeroed, it is for envelope_reader_free(). */
typedef struct envelope_reader {
    keyring *keys;
    uint8_t uuid[16];  /* that the keys' text names */
    tansu_buffer text; /* the keys' */
    envelope_source source;
    void *context;
    const char *what; /* "backup" or "dump", and its path or NULL: for messages */
    const char *path;
    envelope_place place; /* of the next chunk */
    bool ended;
    uint8_t *stored; /* a chunk and a byte of the next one, which may be there already */
    size_t ahead;
    uint8_t *chunk;
} envelope_reader;

/* envelope_open -- reads the head, and decrypts the data key. Errors: WRONG_KEY, CORRUPT, VERSION,
 * MEMORY, the source's. */
tansu_status envelope_open(envelope_reader *r, enum envelope_content content, const char *what,
                           const char *path, const user_key *key, envelope_source source,
                           void *context, tansu_error *error);

/* envelope_next -- the next bytes of the content; *size 0: there are none, and the stream is whole.
 * Valid until the next call. Errors: CORRUPT, MEMORY, the source's. */
tansu_status envelope_next(envelope_reader *r, const uint8_t **bytes, size_t *size,
                           tansu_error *error);

/* envelope_reader_free -- wipes it. */
void envelope_reader_free(envelope_reader *r);

#endif
