/*
 * crypt/crypt.c -- the ciphers by libcrypto.
 */
#include "crypt/crypt.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif
#ifdef WITH_LIBCRYPTO
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif

/* One call of the system gives no more. */
#define RANDOM_STEP 256u

tansu_status crypt_random(void *bytes, size_t size, tansu_error *error) {
    for (size_t done = 0; done < size; done += RANDOM_STEP) {
        size_t step = size - done < RANDOM_STEP ? size - done : RANDOM_STEP;
        if (getentropy((uint8_t *)bytes + done, step) != 0)
            return error_errno(error, NULL, "get random bytes for", errno);
    }
    return TANSU_OK;
}

void crypt_wipe(void *bytes, size_t size) {
    memset(bytes, 0, size);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

void *crypt_secret_new(size_t size) {
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    /* Both as far as the system lets us. */
    (void)mlock(bytes, size);
#ifdef MADV_DONTDUMP
    (void)madvise(bytes, size, MADV_DONTDUMP);
#endif
    return bytes;
}

void crypt_secret_free(void *bytes, size_t size) {
    if (bytes == NULL)
        return;
    crypt_wipe(bytes, size);
    (void)munmap(bytes, size);
}

bool crypt_equal(const uint8_t *a, const uint8_t *b, size_t size) {
    uint8_t differ = 0;
    for (size_t i = 0; i < size; i++)
        differ |= a[i] ^ b[i];
    return differ == 0;
}

tansu_status crypt_missing(const char *what, tansu_error *error) {
    return error_set(error, TANSU_E_UNSUPPORTED, NULL,
                     "%s needs AES-256-GCM, which this build of the library does not have; use a "
                     "library that was built with libcrypto",
                     what);
}

/* ---- A record of all nonces, in a build for tests ---- */

#ifdef TANSU_RECORD_NONCES

/* The key and the nonce of one message: what .ci/check-nonces reads. */
typedef struct nonce_record {
    uint8_t key[CRYPT_KEY_SIZE], nonce[CRYPT_NONCE_SIZE];
} nonce_record;

/* record_key -- the key that all messages of a context have. */
static void record_key(nonce_record *record, const uint8_t *key) {
    memcpy(record->key, key, sizeof record->key);
}

/* record_nonce -- appends one to the file that the environment names, before anything is sealed with
 * it: should the process be killed then, it is there. */
static void record_nonce(nonce_record *record, const uint8_t *nonce) {
    const char *path = getenv("TANSU_RECORD_NONCES");
    if (path == NULL)
        return;
    memcpy(record->nonce, nonce, sizeof record->nonce);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, record, sizeof *record) != sizeof *record) {
        perror(path);
        abort();
    }
    close(fd);
}

#else

typedef struct nonce_record {
    char none;
} nonce_record;

#define record_key(record, key) ((void)(record), (void)(key))
#define record_nonce(record, nonce) ((void)(record), (void)(nonce))

#endif

#ifdef WITH_LIBCRYPTO

#define HASH_SIZE 32u

bool crypt_available(void) {
    return true;
}

bool crypt_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size,
                uint8_t out[32]) {
    unsigned length = 0;
    return HMAC(EVP_sha256(), key, (int)key_size, bytes, size, out, &length) != NULL &&
           length == HASH_SIZE;
}

/* hmac -- the same of up to three pieces. */
static bool hmac(const uint8_t *key, size_t key_size, const uint8_t *const pieces[3],
                 const size_t sizes[3], uint8_t out[HASH_SIZE]) {
    size_t size = sizes[0] + sizes[1] + sizes[2], at = 0;
    uint8_t *all = malloc(size + 1);
    if (all == NULL)
        return false;
    for (int i = 0; i < 3; i++) {
        if (sizes[i] != 0)
            memcpy(all + at, pieces[i], sizes[i]);
        at += sizes[i];
    }
    bool made = crypt_hmac(key, key_size, all, size, out);
    crypt_wipe(all, size);
    free(all);
    return made;
}

bool crypt_hkdf(const uint8_t *key, size_t key_size, const uint8_t *salt, size_t salt_size,
                const uint8_t *info, size_t info_size, uint8_t *out, size_t out_size) {
    static const uint8_t zeros[HASH_SIZE];
    uint8_t secret[HASH_SIZE], block[HASH_SIZE];
    bool first = salt_size == 0;
    bool made = hmac(first ? zeros : salt, first ? sizeof zeros : salt_size,
                     (const uint8_t *const[3]){key}, (const size_t[3]){key_size}, secret);
    size_t made_before = 0;
    uint8_t count = 1;
    for (size_t at = 0; made && at < out_size; count++) {
        made = count != 0 &&
               hmac(secret, sizeof secret, (const uint8_t *const[3]){block, info, &count},
                    (const size_t[3]){made_before, info_size, 1}, block);
        made_before = sizeof block;
        size_t step = out_size - at < sizeof block ? out_size - at : sizeof block;
        if (made)
            memcpy(out + at, block, step);
        at += step;
    }
    crypt_wipe(secret, sizeof secret);
    crypt_wipe(block, sizeof block);
    if (!made)
        crypt_wipe(out, out_size);
    return made;
}

bool crypt_pbkdf2(const void *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size, uint32_t iterations, uint8_t *out, size_t out_size) {
    return PKCS5_PBKDF2_HMAC(passphrase, (int)passphrase_size, salt, (int)salt_size,
                             (int)iterations, EVP_sha512(), (int)out_size, out) == 1;
}

/* A context serves both directions, which use the same expanded key. */
struct crypt_gcm {
    EVP_CIPHER_CTX *context;
    nonce_record record;
};

crypt_gcm *crypt_gcm_new(const uint8_t key[CRYPT_KEY_SIZE]) {
    crypt_gcm *gcm = calloc(1, sizeof *gcm);
    if (gcm == NULL)
        return NULL;
    gcm->context = EVP_CIPHER_CTX_new();
    if (gcm->context == NULL ||
        EVP_CipherInit_ex(gcm->context, EVP_aes_256_gcm(), NULL, key, NULL, 1) != 1) {
        crypt_gcm_free(gcm);
        return NULL;
    }
    record_key(&gcm->record, key);
    return gcm;
}

void crypt_gcm_free(crypt_gcm *gcm) {
    if (gcm == NULL)
        return;
    EVP_CIPHER_CTX_free(gcm->context); /* wipes it */
    free(gcm);
}

/* GCM's limit for one message is larger; libcrypto counts in int. */
#define PIECE ((size_t)1 << 30)

/* begin -- the nonce and the additional data of a message; `seals`: the direction. */
static bool begin(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                  size_t aad_size, int seals) {
    int n = 0;
    return EVP_CipherInit_ex(gcm->context, NULL, NULL, NULL, nonce, seals) == 1 &&
           (aad_size == 0 || EVP_CipherUpdate(gcm->context, NULL, &n, aad, (int)aad_size) == 1);
}

/* transform -- encrypts or decrypts bytes. */
static bool transform(crypt_gcm *gcm, const uint8_t *from, size_t size, uint8_t *to) {
    int n = 0;
    for (size_t at = 0; at < size; at += PIECE)
        if (EVP_CipherUpdate(gcm->context, to + at, &n, from + at,
                             (int)(size - at < PIECE ? size - at : PIECE)) != 1)
            return false;
    return true;
}

bool crypt_gcm_seal(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                    size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                    uint8_t tag[CRYPT_TAG_SIZE]) {
    int n = 0;
    uint8_t rest[CRYPT_TAG_SIZE]; /* nothing: GCM has no padding */
    record_nonce(&gcm->record, nonce);
    return begin(gcm, nonce, aad, aad_size, 1) && transform(gcm, plain, size, out) &&
           EVP_CipherFinal_ex(gcm->context, rest, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_GCM_GET_TAG, CRYPT_TAG_SIZE, tag) == 1;
}

tansu_status crypt_gcm_open(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                            size_t aad_size, const uint8_t *sealed, size_t size,
                            const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out) {
    int n = 0;
    uint8_t expected[CRYPT_TAG_SIZE], rest[CRYPT_TAG_SIZE];
    memcpy(expected, tag, sizeof expected); /* libcrypto takes it without const */
    bool ready =
        begin(gcm, nonce, aad, aad_size, 0) && transform(gcm, sealed, size, out) &&
        EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_GCM_SET_TAG, CRYPT_TAG_SIZE, expected) == 1;
    if (ready && EVP_CipherFinal_ex(gcm->context, rest, &n) == 1)
        return TANSU_OK;
    crypt_wipe(out, size);
    return ready ? TANSU_E_CORRUPT : TANSU_E_MEMORY;
}

#else

bool crypt_available(void) {
    return false;
}

bool crypt_hkdf(const uint8_t *key, size_t key_size, const uint8_t *salt, size_t salt_size,
                const uint8_t *info, size_t info_size, uint8_t *out, size_t out_size) {
    (void)key, (void)key_size, (void)salt, (void)salt_size, (void)info, (void)info_size;
    (void)out, (void)out_size;
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

crypt_gcm *crypt_gcm_new(const uint8_t key[CRYPT_KEY_SIZE]) {
    (void)key;
    return NULL;
}

void crypt_gcm_free(crypt_gcm *gcm) {
    (void)gcm;
}

bool crypt_gcm_seal(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                    size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                    uint8_t tag[CRYPT_TAG_SIZE]) {
    (void)gcm, (void)nonce, (void)aad, (void)aad_size, (void)plain, (void)size, (void)out;
    (void)tag;
    return false;
}

tansu_status crypt_gcm_open(crypt_gcm *gcm, const uint8_t nonce[CRYPT_NONCE_SIZE], const void *aad,
                            size_t aad_size, const uint8_t *sealed, size_t size,
                            const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out) {
    (void)gcm, (void)nonce, (void)aad, (void)aad_size, (void)sealed, (void)tag;
    memset(out, 0, size);
    return TANSU_E_MEMORY;
}

#endif
