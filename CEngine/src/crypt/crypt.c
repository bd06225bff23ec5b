/*
 * crypt/crypt.c -- what of the ciphers does not depend on where they come from.
 */
#include "crypt/crypt.h"

#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
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

#define HASH_SIZE 32u

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
