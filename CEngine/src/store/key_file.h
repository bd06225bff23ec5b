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
 *   crc 8 hex digits (of all before this line)
 *
 * The key-encryption key is HKDF-SHA-256 of the user's 32 bytes and the salt, or PBKDF2 of the
 * passphrase and the salt. The salt is drawn anew each time the file is written. The data keys are
 * sealed with AES-256-GCM; what comes before the first of them, and the generation, is
 * authenticated.
 */
#ifndef TANSU_STORE_KEY_FILE_H
#define TANSU_STORE_KEY_FILE_H

#include "crypt/keyring.h"
#include "store/database.h"
#include "util/fs.h"

/* What the user opens a database with. */
typedef struct user_key {
    const void *bytes; /* NULL: none was given */
    size_t size;
    tansu_key_kind kind;
    uint32_t iterations; /* of a new key file; 0: the default */
} user_key;

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

/* key_file_read -- the data keys. Errors: WRONG_KEY; CORRUPT (the file is invalid, missing, or of
 * another database), VERSION, IO, MEMORY. */
tansu_status key_file_read(const fs *calls, const char *folder, const uint8_t uuid[16],
                           const user_key *key, keyring **keys, tansu_error *error);

#endif
