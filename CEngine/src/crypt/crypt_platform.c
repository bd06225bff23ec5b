/*
 * crypt/crypt_platform.c -- without libcrypto: AES-256-GCM by functions of the program
 * (tansu_platform_set()), and the rest by CommonCrypto, which Apple's systems have.
 */
#include "crypt/crypt.h"

#ifndef WITH_LIBCRYPTO

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <CommonCrypto/CommonCrypto.h>
#endif

/* The functions belong to the process. They are set once, and read without a lock. */
enum { PLATFORM_NONE, PLATFORM_COPYING, PLATFORM_SET };
static atomic_int platform_state;
static tansu_platform platform;

void crypt_platform_set(const tansu_platform *given) {
    int none = PLATFORM_NONE;
    if (given->gcm_seal == NULL || given->gcm_open == NULL ||
        !atomic_compare_exchange_strong(&platform_state, &none, PLATFORM_COPYING))
        return;
    platform = *given;
    atomic_store_explicit(&platform_state, PLATFORM_SET, memory_order_release);
}

/* is_set -- whether there are functions. */
static bool is_set(void) {
    return atomic_load_explicit(&platform_state, memory_order_acquire) == PLATFORM_SET;
}

/* ---- Hashes ---- */

#ifdef __APPLE__

bool crypt_available(void) {
    return is_set();
}

bool crypt_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size,
                uint8_t out[32]) {
    CCHmac(kCCHmacAlgSHA256, key, key_size, bytes, size, out);
    return true;
}

bool crypt_pbkdf2(const void *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size, uint32_t iterations, uint8_t *out, size_t out_size) {
    return CCKeyDerivationPBKDF(kCCPBKDF2, passphrase, passphrase_size, salt, salt_size,
                                kCCPRFHmacAlgSHA512, iterations, out, out_size) == kCCSuccess;
}

#else

bool crypt_available(void) {
    return false;
}

bool crypt_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size,
                uint8_t out[32]) {
    (void)key, (void)key_size, (void)bytes, (void)size, (void)out;
    return false;
}

bool crypt_pbkdf2(const void *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size, uint32_t iterations, uint8_t *out, size_t out_size) {
    (void)passphrase, (void)passphrase_size, (void)salt, (void)salt_size, (void)iterations;
    (void)out, (void)out_size;
    return false;
}

#endif

/* ---- AES-256-GCM ---- */

struct crypt_gcm {
    uint8_t key[CRYPT_KEY_SIZE];
};

crypt_gcm *crypt_gcm_new(const uint8_t key[CRYPT_KEY_SIZE]) {
    crypt_gcm *gcm = is_set() ? malloc(sizeof *gcm) : NULL;
    if (gcm != NULL)
        memcpy(gcm->key, key, sizeof gcm->key);
    return gcm;
}

void crypt_gcm_free(crypt_gcm *gcm) {
    if (gcm == NULL)
        return;
    crypt_wipe(gcm, sizeof *gcm);
    free(gcm);
}

bool crypt_gcm_seal(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                    size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                    uint8_t tag[CRYPT_TAG_SIZE]) {
    return platform.gcm_seal(gcm->key, nonce, aad, aad_size, plain, size, out, tag) == TANSU_OK;
}

tansu_status crypt_gcm_open(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                            size_t aad_size, const uint8_t *sealed, size_t size,
                            const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out) {
    tansu_status status = platform.gcm_open(gcm->key, nonce, aad, aad_size, sealed, size, tag, out);
    if (status == TANSU_OK)
        return TANSU_OK;
    crypt_wipe(out, size);
    return status == TANSU_E_MEMORY ? TANSU_E_MEMORY : TANSU_E_CORRUPT;
}

#endif
