/*
 * crypt/crypt.h -- the ciphers: AES-256-GCM, HKDF and PBKDF2, by libcrypto or the platform.
 *
 * The library libcrypto is optional when the engine is built (WITH_LIBCRYPTO). Without it, and
 * without a platform that has them, encrypted databases are UNSUPPORTED.
 */
#ifndef TANSU_CRYPT_CRYPT_H
#define TANSU_CRYPT_CRYPT_H

#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRYPT_KEY_SIZE 32u
#define CRYPT_NONCE_SIZE 12u
#define CRYPT_TAG_SIZE 16u

/* crypt_available -- whether this build of the library can encrypt. */
bool crypt_available(void);

/* crypt_platform_set -- makes the functions of a program the ones to use, where the library has no
 * ciphers itself and they are not NULL: a part of tansu_platform_set(). */
void crypt_platform_set(const tansu_platform *platform);

/* crypt_missing -- the error when it cannot: UNSUPPORTED. `what` begins the sentence. */
tansu_status crypt_missing(const char *what, tansu_error *error);

/* crypt_random -- random bytes of the system. Errors: IO. */
tansu_status crypt_random(void *bytes, size_t size, tansu_error *error);

/* crypt_wipe -- overwrites a secret, which no compiler leaves out. */
void crypt_wipe(void *bytes, size_t size);

/* crypt_secret_new -- zeroed memory for keys, of whole pages: it is not swapped out and in no core
 * dump, where the system can (mlock() may be refused). NULL when memory is exhausted. */
void *crypt_secret_new(size_t size);

/* crypt_secret_free -- wipes it; fine on NULL. */
void crypt_secret_free(void *bytes, size_t size);

/* crypt_equal -- whether two codes are the same, in a time that does not tell how far they are. */
bool crypt_equal(const uint8_t *a, const uint8_t *b, size_t size);

/* crypt_hkdf -- a key from another one: HKDF-SHA-256 (RFC 5869), at most 8160 bytes. false: memory is
 * exhausted, or more was asked for; then `out` is of zeros. */
bool crypt_hkdf(const uint8_t *key, size_t key_size, const uint8_t *salt, size_t salt_size,
                const uint8_t *info, size_t info_size, uint8_t *out, size_t out_size);

/* crypt_hmac -- HMAC-SHA-256 (RFC 2104). false: memory is exhausted. */
bool crypt_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size,
                uint8_t out[32]);

/* crypt_pbkdf2 -- a key from a passphrase: PBKDF2-HMAC-SHA-512 (RFC 8018). false: memory is
 * exhausted. */
bool crypt_pbkdf2(const void *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size, uint32_t iterations, uint8_t *out, size_t out_size);

/* AES-256-GCM under one key; of one thread at a time. */
typedef struct crypt_gcm crypt_gcm;

/* crypt_gcm_new -- NULL when memory is exhausted. */
crypt_gcm *crypt_gcm_new(const uint8_t key[CRYPT_KEY_SIZE]);

/* crypt_gcm_free -- wipes it; fine on NULL. */
void crypt_gcm_free(crypt_gcm *gcm);

/* crypt_gcm_seal -- encrypts into `out`, which may be `plain` and otherwise does not overlap it, and
 * makes the tag of that and of `aad`. The nonce must never be used twice with one key. false: memory
 * is exhausted. */
bool crypt_gcm_seal(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                    size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                    uint8_t tag[CRYPT_TAG_SIZE]);

/* crypt_gcm_open -- the reverse. CORRUPT when the tag does not match: then `out` is of zeros. Errors
 * (without a text): CORRUPT, MEMORY. */
tansu_status crypt_gcm_open(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                            size_t aad_size, const uint8_t *sealed, size_t size,
                            const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out);

#endif
