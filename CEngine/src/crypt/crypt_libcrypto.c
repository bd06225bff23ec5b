/*
 * crypt/crypt_libcrypto.c -- the ciphers by libcrypto.
 */
#include "crypt/crypt.h"

#ifdef WITH_LIBCRYPTO

#include <openssl/evp.h>
#ifdef TANSU_RECORD_NONCES
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#endif
#include <stdlib.h>
#include <string.h>

bool crypt_available(void) {
    return true;
}

void crypt_platform_set(const tansu_platform *platform) {
    (void)platform; /* libcrypto goes on */
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

/* append -- writes a record in one piece, whatever limit a test has set for the size of files. */
static bool append(int fd, const nonce_record *record) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    const struct rlimit none = {limit.rlim_max, limit.rlim_max};
    bool limited = limit.rlim_cur != limit.rlim_max;
    if (limited && setrlimit(RLIMIT_FSIZE, &none) != 0)
        return false;
    bool done = write(fd, record, sizeof *record) == sizeof *record;
    return (!limited || setrlimit(RLIMIT_FSIZE, &limit) == 0) && done;
}

/* record_nonce -- appends one to the file that the environment names, before anything is sealed with
 * it: should the process be killed then, it is there. */
static void record_nonce(nonce_record *record, const uint8_t *nonce) {
    const char *path = getenv("TANSU_RECORD_NONCES");
    if (path == NULL)
        return;
    memcpy(record->nonce, nonce, sizeof record->nonce);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EMFILE) /* a test that has taken all descriptors */
        return;
    if (fd < 0 || !append(fd, record)) {
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

/* The block of SHA-256. */
#define HASH_BLOCK 64u

/* half -- the hash of a key, of which each byte is changed by `pad`, and a text. `type`: NULL is that of
 * the call before. */
static bool half(EVP_MD_CTX *context, const EVP_MD *type, const uint8_t key[HASH_BLOCK],
                 uint8_t pad, const void *bytes, size_t size, uint8_t out[32]) {
    uint8_t padded[HASH_BLOCK];
    for (size_t i = 0; i < sizeof padded; i++)
        padded[i] = key[i] ^ pad;
    bool made = EVP_DigestInit_ex(context, type, NULL) == 1 &&
                EVP_DigestUpdate(context, padded, sizeof padded) == 1 &&
                EVP_DigestUpdate(context, bytes, size) == 1 &&
                EVP_DigestFinal_ex(context, out, NULL) == 1;
    crypt_wipe(padded, sizeof padded);
    return made;
}

/* RFC 2104 with one context: HMAC() looks for algorithms by their names at each call, which takes ten
 * times as long, and opening a database derives some keys. */
bool crypt_hmac(const uint8_t *key, size_t key_size, const void *bytes, size_t size,
                uint8_t out[32]) {
    uint8_t block[HASH_BLOCK] = {0}, inner[32];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool made =
        context != NULL && (key_size <= sizeof block ||
                            EVP_Digest(key, key_size, block, NULL, EVP_sha256(), NULL) == 1);
    if (key_size != 0 && key_size <= sizeof block)
        memcpy(block, key, key_size);
    made = made && half(context, EVP_sha256(), block, 0x36, bytes, size, inner) &&
           half(context, NULL, block, 0x5c, inner, sizeof inner, out);
    EVP_MD_CTX_free(context);
    crypt_wipe(block, sizeof block);
    crypt_wipe(inner, sizeof inner);
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

#endif
