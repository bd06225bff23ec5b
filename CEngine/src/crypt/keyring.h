/*
 * crypt/keyring.h -- the data keys of an open database, and sealing bytes with them.
 *
 * No data key encrypts anything itself. Each writer of a file (a *sealer*) draws a random salt, and
 * derives a key of its own from the data key, the salt, the purpose and the database's uuid
 * (HKDF-SHA-256). It numbers what it seals from 0 on: that number is the nonce. So no nonce is used
 * twice with a key, whatever is written again after a crash, a failed sync or a rollback
 * (docs/encryption.md). What is sealed says with which data key, salt and number.
 */
#ifndef TANSU_CRYPT_KEYRING_H
#define TANSU_CRYPT_KEYRING_H

#include "crypt/crypt.h"

#define SEAL_SALT_SIZE 16u

/* Data keys: one, and during a change of it two. */
#define KEYRING_MOST 4u

typedef struct keyring keyring;
typedef struct sealer sealer;

/* What a sealer is for: keys of different purposes differ. Stored nowhere. */
enum seal_purpose {
    SEAL_LOG = 1,         /* segments */
    SEAL_BLOCK_STORE = 2, /* values of the block store */
    SEAL_TEMPORARY = 3,   /* temporary files */
    SEAL_BACKUP = 4       /* backup files */
};

/* With what something was sealed: as it is stored. */
typedef struct seal_mark {
    uint32_t generation; /* of the data key: 1 is the first of a database */
    uint32_t reserved;   /* zero */
    uint8_t salt[SEAL_SALT_SIZE];
    uint64_t number; /* of what this salt's sealer has sealed, from 0 on */
} seal_mark;

/* What sealing adds to bytes where mark and tag lie before them. */
#define SEAL_OVERHEAD (sizeof(seal_mark) + CRYPT_TAG_SIZE)

/* keyring_new -- without a key yet. NULL when memory is exhausted. */
keyring *keyring_new(const uint8_t uuid[16]);

/* keyring_free -- wipes it; fine on NULL. Its sealers were freed before. */
void keyring_free(keyring *keys);

/* keyring_add -- adds a data key. The one with the highest generation seals from now on. false:
 * memory is exhausted, or there is one of that generation. Not while others use the keyring, except
 * to open and to seal with what exists. */
bool keyring_add(keyring *keys, uint32_t generation, const uint8_t key[CRYPT_KEY_SIZE]);

/* keyring_derive -- replaces each data key of a keyring that nobody uses yet by one that is derived from
 * it and a salt, for the copy of a database. false: memory is exhausted. */
bool keyring_derive(keyring *keys, const uint8_t salt[SEAL_SALT_SIZE]);

/* keyring_copy -- a keyring for a copy of the database: the data keys up to the one that seals, derived
 * with a salt; from those that `keys` itself was derived from, if `again`. NULL when memory is
 * exhausted. */
keyring *keyring_copy(keyring *keys, bool again, const uint8_t salt[SEAL_SALT_SIZE]);

/* keyring_get -- the data key at an index among those that were not retired, in the order in which they
 * were added, which the caller wipes. false: there are no more. */
bool keyring_get(keyring *keys, uint32_t index, uint32_t *generation, uint8_t key[CRYPT_KEY_SIZE]);

/* keyring_renew -- adds a random data key, which seals nothing before keyring_switch(). Errors: IO (no
 * source of random bytes), INVALID_STATE (there are KEYRING_MOST). */
tansu_status keyring_renew(keyring *keys, tansu_error *error);

/* keyring_switch -- the newest data key seals from now on; with `forget` one that keyring_renew() has
 * added, and that seals nothing yet, is dropped instead. */
void keyring_switch(keyring *keys, bool forget);

/* keyring_retire -- no file that is needed after this process is encrypted with any data key but the
 * one that seals: the others stay for what is read now. */
void keyring_retire(keyring *keys);

/* keyring_full -- whether keyring_renew() would be refused. keyring_forget -- drops all data keys but
 * the one that seals: nothing is encrypted with them any more, on the disk or in what is mapped. */
bool keyring_full(keyring *keys);
void keyring_forget(keyring *keys);

/* keyring_mac_check -- whether a code is that of keyring_mac() with any of the data keys. Errors
 * (without a text): CORRUPT, MEMORY. */
tansu_status keyring_mac_check(keyring *keys, const void *bytes, size_t size,
                               const uint8_t mac[32]);

/* keyring_mac -- a code that only who has the newest data key can make for those bytes
 * (HMAC-SHA-256 under a key derived for it). false: memory is exhausted. */
bool keyring_mac(keyring *keys, const void *bytes, size_t size, uint8_t mac[32]);

/* sealer_new -- a new salt, and its key. Errors: IO (no source of random bytes), MEMORY,
 * INVALID_STATE (the keyring has no key). */
tansu_status sealer_new(keyring *keys, enum seal_purpose purpose, sealer **result,
                        tansu_error *error);

/* sealer_renew -- makes *s a sealer of the data key that seals now, unless it is one; NULL: there was
 * none. Errors: as sealer_new(). */
tansu_status sealer_renew(keyring *keys, enum seal_purpose purpose, sealer **s, tansu_error *error);

/* keyring_current -- the generation of the data key that seals. */
uint32_t keyring_current(const keyring *keys);

/* sealer_free -- fine on NULL. */
void sealer_free(sealer *s);

/* sealer_next -- with what the next bytes are sealed, and that is used up then. Of one thread at a
 * time, with the seal() that follows. */
seal_mark sealer_next(sealer *s);

/* seal -- encrypts `size` bytes into `out`, which may be `plain` and otherwise does not overlap it.
 * `aad`: what is not encrypted and authenticated as well: the place of the bytes. false: memory is
 * exhausted. */
bool seal(sealer *s, const seal_mark *mark, const void *aad, size_t aad_size, const uint8_t *plain,
          size_t size, uint8_t *out, uint8_t tag[CRYPT_TAG_SIZE]);

/* unseal -- the reverse, with the keyring alone; any thread. CORRUPT when anything was changed, and
 * when there is no data key of that generation: then `out` is of zeros. Errors (without a text):
 * CORRUPT, MEMORY. */
tansu_status unseal(keyring *keys, enum seal_purpose purpose, const seal_mark *mark,
                    const void *aad, size_t aad_size, const uint8_t *sealed, size_t size,
                    const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out);

#endif
