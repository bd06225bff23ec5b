/*
 * store/key_file.h -- the file KEY of an encrypted database: its data keys, each encrypted with a
 * key that is derived from the user's.
 *
 * Lines of text with a CRC, replaced as a whole (write new, sync, rename):
 *
 *   tansu key 1
 *   uuid 32 hex digits (of the database)
 *   kdf none | pbkdf2-hmac-sha512 iterations
 *   salt 32 hex digits
 *   key generation 120 hex digits (nonce, sealed data key, tag); one line for each data key
 *   copy 32 hex digits (a salt; only in a folder backup)
 *   crc 8 hex digits (of all before this line)
 *
 * The key-encryption key is HKDF-SHA-256 of the user's 32 bytes and the salt, or PBKDF2 of the
 * passphrase and the salt. The salt is drawn anew each time the file is written. The data keys are
 * sealed with AES-256-GCM; what comes before the first of them, and the generation, is
 * authenticated. With a line "copy" the data keys are derived from the sealed ones and its salt: so
 * the copy of a database has data keys of its own, and its file KEY is made without the user's key.
 */
#ifndef TANSU_STORE_KEY_FILE_H
#define TANSU_STORE_KEY_FILE_H

#include "crypt/keyring.h"
#include "store/database.h"
#include "util/fs.h"

#include <stdbool.h>

/* What the user opens a database with. */
typedef struct user_key {
    const void *bytes; /* NULL: none was given */
    size_t size;
    tansu_key_kind kind;
    uint32_t iterations; /* of a new key file; 0: the default */
    bool assumed;        /* not given by the user (user_key_given()) */
} user_key;

/* user_key_given -- the key itself. In the build that tests everything encrypted, one for who gives
 * none. */
user_key user_key_given(user_key key);

/* user_key_check -- rejects what cannot be a key; none is fine. Errors: INVALID_ARGUMENT,
 * UNSUPPORTED (this build has no ciphers). */
tansu_status user_key_check(const user_key *key, tansu_error *error);

/* key_file_new_keys -- a keyring with a random data key, for a new database. Errors: IO (no source
 * of random bytes), MEMORY. */
tansu_status key_file_new_keys(const uint8_t uuid[16], keyring **keys, tansu_error *error);

/* key_file_write -- replaces the file: it holds the data keys of `keys` for that user's key. After
 * an error the old file is there, or, if only syncing the folder failed, the new one. Errors: IO,
 * FULL, READ_ONLY, MEMORY. */
tansu_status key_file_write(const fs *calls, const char *folder, const uint8_t uuid[16],
                            keyring *keys, const user_key *key, tansu_error *error);

/* key_file_replace -- the same for a database that is open for writing, whose keys stay. Any thread.
 * `current`: the file gets only the data key that seals. Errors: those of key_file_write(), MOVED. */
tansu_status key_file_replace(database *db, const user_key *key, bool current, tansu_error *error);

/* ---- The content of the file, which a backup has as well ---- */

#define KEY_TEXT_MOST 1024u

/* key_text_make -- the content of a file with the data keys of `keys`, or with `current` the one that
 * seals, for that user's key. Errors: IO (no source of random bytes), MEMORY. */
tansu_status key_text_make(const uint8_t uuid[16], keyring *keys, bool current, const user_key *key,
                           tansu_buffer *text, tansu_error *error);

/* key_text_read -- the content of a folder's file; it is not validated. Errors: NOT_FOUND,
 * TOO_LARGE, IO, MEMORY. */
tansu_status key_text_read(const fs *calls, const char *folder, tansu_buffer *text,
                           tansu_error *error);

/* key_text_current -- the content of the file of a database that is open: it is valid and has the data key
 * of that generation. Errors: WRONG_KEY (another process has replaced that), CORRUPT (the file is
 * invalid or missing), VERSION, IO, MEMORY. */
tansu_status key_text_current(const fs *calls, const char *folder, uint32_t generation,
                              tansu_buffer *text, tansu_error *error);

/* key_text_copy -- the content for a copy of the database, from its own content, which
 * key_text_current() has read, and its data keys: the same user's key opens it, and the data keys are
 * others. Errors: IO (no source of random bytes), MEMORY. */
tansu_status key_text_copy(const tansu_buffer *own, keyring *keys, tansu_buffer *text,
                           keyring **copied, tansu_error *error);

/* key_text_write -- replaces the file by one with that content. Errors: IO, FULL, READ_ONLY,
 * MEMORY. */
tansu_status key_text_write(const fs *calls, const char *folder, const tansu_buffer *text,
                            tansu_error *error);

/* key_text_open -- the data keys in a content, which has a NUL after it or is empty, and whose uuid it
 * names. `what` ("database", "backup"): what is encrypted, and `path` where it lies, for messages.
 * Errors: WRONG_KEY, CORRUPT, VERSION, MEMORY. */
tansu_status key_text_open(const tansu_buffer *text, const char *what, const char *path,
                           const user_key *key, uint8_t uuid[16], keyring **keys,
                           tansu_error *error);

/* key_text_iterations -- with how many iterations a key is derived from a passphrase, by a content that
 * key_text_open() has accepted; 0: the key is none. */
uint32_t key_text_iterations(const tansu_buffer *text);

/* ---- Reading ---- */

/* key_file_identify -- of which database the file is, and with how many iterations the key is derived
 * from a passphrase (0: it is none). Errors: those of key_file_read() but WRONG_KEY. */
tansu_status key_file_identify(const fs *calls, const char *folder, uint8_t uuid[16],
                               uint32_t *iterations, tansu_error *error);

/* key_file_read -- the data keys. Errors: WRONG_KEY; CORRUPT (the file is invalid, missing, or of
 * another database), VERSION, IO, MEMORY. */
tansu_status key_file_read(const fs *calls, const char *folder, const uint8_t uuid[16],
                           const user_key *key, keyring **keys, tansu_error *error);

#endif
