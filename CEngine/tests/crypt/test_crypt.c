/*
 * test_crypt.c -- the ciphers give what Wycheproof's cases say (vectors/wycheproof), and refuse what
 * was changed.
 */
#include "crypt/crypt.h"
#include "support/check.h"
#include "support/hex.h"
#include "support/libraries.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MOST 8

/* A case: its fields as bytes, and as texts for those that are decimal. */
typedef struct vector {
    bool valid;
    const char *text[FIELDS_MOST];
    uint8_t *bytes[FIELDS_MOST];
    size_t size[FIELDS_MOST];
    size_t count;
} vector;

/* each -- calls `check` for each case of a file. */
static void each(const char *name, void (*check)(const vector *v)) {
    char path[128];
    size_t size;
    snprintf(path, sizeof path, "CEngine/tests/vectors/wycheproof/%s", name);
    char *content = repo_file_read(path, &size), *next_line, *next;
    for (char *line = strtok_r(content, "\n", &next_line); line != NULL;
         line = strtok_r(NULL, "\n", &next_line)) {
        uint64_t failed = check_failures();
        const char *number = strtok_r(line, " ", &next);
        vector v = {.valid = strcmp(strtok_r(NULL, " ", &next), "valid") == 0};
        for (const char *field; (field = strtok_r(NULL, " ", &next)) != NULL; v.count++) {
            REQUIRE(v.count < FIELDS_MOST);
            v.text[v.count] = field;
            v.bytes[v.count] = bytes_from_hex(field[0] == '-' ? "" : field, &v.size[v.count]);
        }
        check(&v);
        if (check_failures() != failed)
            check_note("in case %s of %s", number, name);
        while (v.count > 0)
            free(v.bytes[--v.count]);
    }
    free(content);
}

/* is_zero -- whether bytes are all zero. */
static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

enum { KEY, NONCE, AAD, PLAIN, SEALED, TAG };

/* open_case -- opens what a case says; with `in_place`, over the ciphertext. */
static void open_case(crypt_gcm *gcm, const vector *v, bool in_place) {
    size_t size = v->size[SEALED];
    uint8_t *out = malloc(size + 1);
    REQUIRE(out != NULL);
    memset(out, 0xA5, size + 1);
    if (in_place)
        memcpy(out, v->bytes[SEALED], size);
    CHECK_STATUS(v->valid ? TANSU_OK : TANSU_E_CORRUPT,
                 crypt_gcm_open(gcm, v->bytes[NONCE], v->bytes[AAD], v->size[AAD],
                                in_place ? out : v->bytes[SEALED], size, v->bytes[TAG], out));
    if (v->valid)
        CHECK_BYTES(v->bytes[PLAIN], v->size[PLAIN], out, size);
    else
        CHECK(is_zero(out, size));
    CHECK(out[size] == 0xA5);
    free(out);
}

/* seal_case -- seals what a valid case says; with `in_place`, over the plaintext. */
static void seal_case(crypt_gcm *gcm, const vector *v, bool in_place) {
    size_t size = v->size[PLAIN];
    uint8_t *out = malloc(size + 1), tag[CRYPT_TAG_SIZE];
    REQUIRE(out != NULL);
    memcpy(out, v->bytes[PLAIN], size);
    CHECK(crypt_gcm_seal(gcm, v->bytes[NONCE], v->bytes[AAD], v->size[AAD],
                         in_place ? out : v->bytes[PLAIN], size, out, tag));
    CHECK_BYTES(v->bytes[SEALED], v->size[SEALED], out, size);
    CHECK_BYTES(v->bytes[TAG], v->size[TAG], tag, sizeof tag);
    free(out);
}

static void check_gcm(const vector *v) {
    REQUIRE(v->count == TAG + 1 && v->size[KEY] == CRYPT_KEY_SIZE &&
            v->size[NONCE] == CRYPT_NONCE_SIZE && v->size[TAG] == CRYPT_TAG_SIZE);
    crypt_gcm *gcm = crypt_gcm_new(v->bytes[KEY]);
    REQUIRE(gcm != NULL);
    for (int in_place = 0; in_place < 2; in_place++) {
        open_case(gcm, v, in_place);
        if (v->valid)
            seal_case(gcm, v, in_place);
    }
    crypt_gcm_free(gcm);
}

static void gcm_agrees_with_wycheproof(void) {
    each("aes-256-gcm.txt", check_gcm);
}

static void check_hkdf(const vector *v) {
    REQUIRE(v->count == 5);
    size_t size = (size_t)strtoul(v->text[3], NULL, 10);
    uint8_t *out = malloc(size + 1);
    REQUIRE(out != NULL);
    memset(out, 0xA5, size + 1);
    CHECK_INT(v->valid, crypt_hkdf(v->bytes[0], v->size[0], v->bytes[1], v->size[1], v->bytes[2],
                                   v->size[2], out, size));
    if (v->valid)
        CHECK_BYTES(v->bytes[4], v->size[4], out, size);
    else
        CHECK(is_zero(out, size));
    CHECK(out[size] == 0xA5);
    free(out);
}

static void hkdf_agrees_with_wycheproof(void) {
    each("hkdf-sha256.txt", check_hkdf);
}

static void check_hmac(const vector *v) {
    uint8_t mac[32];
    REQUIRE(v->count == 3);
    CHECK(crypt_hmac(v->bytes[0], v->size[0], v->bytes[1], v->size[1], mac));
    if (v->valid)
        CHECK_BYTES(v->bytes[2], v->size[2], mac, sizeof mac);
    else
        CHECK(memcmp(v->bytes[2], mac, sizeof mac) != 0);
    CHECK_INT(v->valid, crypt_equal(v->bytes[2], mac, sizeof mac));
}

static void hmac_agrees_with_wycheproof(void) {
    each("hmac-sha256.txt", check_hmac);
}

static void check_pbkdf2(const vector *v) {
    REQUIRE(v->count == 5);
    uint32_t iterations = (uint32_t)strtoul(v->text[2], NULL, 10);
    size_t size = (size_t)strtoul(v->text[3], NULL, 10);
    uint8_t *out = malloc(size + 1);
    REQUIRE(out != NULL);
    CHECK_INT(v->valid, crypt_pbkdf2(v->bytes[0], v->size[0], v->bytes[1], v->size[1], iterations,
                                     out, size));
    CHECK_BYTES(v->bytes[4], v->size[4], out, size);
    free(out);
}

static void pbkdf2_agrees_with_wycheproof(void) {
    each("pbkdf2-hmac-sha512.txt", check_pbkdf2);
}

/* No bit of nonce, additional data, ciphertext and tag can be changed. */
static void every_changed_bit_is_refused(void) {
    enum { SIZE = 40, AAD_AT = 12, SEALED_AT = 20, TAG_AT = SEALED_AT + SIZE, ALL = TAG_AT + 16 };
    static const uint8_t key[CRYPT_KEY_SIZE] = "a key of thirty-two bytes";
    uint8_t all[ALL] = "twelve bytes.seven..and what is encrypted", out[SIZE];
    crypt_gcm *gcm = crypt_gcm_new(key);
    REQUIRE(gcm != NULL);
    CHECK(crypt_gcm_seal(gcm, all, all + AAD_AT, SEALED_AT - AAD_AT, all + SEALED_AT, SIZE,
                         all + SEALED_AT, all + TAG_AT));
    for (size_t bit = 0; bit < 8 * sizeof all; bit++) {
        all[bit / 8] ^= (uint8_t)(1u << bit % 8);
        memset(out, 0xA5, sizeof out);
        CHECK_STATUS(TANSU_E_CORRUPT, crypt_gcm_open(gcm, all, all + AAD_AT, SEALED_AT - AAD_AT,
                                                     all + SEALED_AT, SIZE, all + TAG_AT, out));
        CHECK(is_zero(out, sizeof out));
        all[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK_STATUS(TANSU_OK, crypt_gcm_open(gcm, all, all + AAD_AT, SEALED_AT - AAD_AT,
                                          all + SEALED_AT, SIZE, all + TAG_AT, out));
    crypt_gcm_free(gcm);
    crypt_gcm_free(NULL);
}

static void random_bytes_differ(void) {
    uint8_t a[1000] = {0}, b[1000] = {0};
    CHECK_OK(crypt_random(a, sizeof a, NULL), NULL);
    CHECK_OK(crypt_random(b, sizeof b, NULL), NULL);
    CHECK(memcmp(a, b, sizeof a) != 0);
    for (size_t at = 0; at < sizeof a; at += 100)
        CHECK(!is_zero(a + at, 100));
    crypt_wipe(a, sizeof a);
    CHECK(is_zero(a, sizeof a));
}

static void a_library_without_ciphers_says_so(void) {
    tansu_error error;
    CHECK_STATUS(TANSU_E_UNSUPPORTED, crypt_missing("Opening this", &error));
    CHECK(strncmp(error.message, "Opening this needs AES-256-GCM", 30) == 0);
}

#ifndef WITH_LIBCRYPTO

/* ---- A cipher of the program: bytes and tag are those of key, nonce and data ---- */

static tansu_status host_seal(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                              uint8_t *tag) {
    for (size_t i = 0; i < size; i++)
        out[i] = plain[i] ^ key[0];
    memset(tag, nonce[0] ^ (aad_size == 0 ? 0 : *(const uint8_t *)aad), CRYPT_TAG_SIZE);
    return TANSU_OK;
}

static tansu_status host_open(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const uint8_t *sealed, size_t size,
                              const uint8_t *tag, uint8_t *out) {
    uint8_t expected[CRYPT_TAG_SIZE];
    host_seal(key, nonce, aad, aad_size, sealed, size, out, expected);
    return memcmp(tag, expected, sizeof expected) == 0 ? TANSU_OK : TANSU_E_CORRUPT;
}

static void the_ciphers_of_the_program_are_used(void) {
    static const uint8_t key[CRYPT_KEY_SIZE] = {5}, nonce[CRYPT_NONCE_SIZE] = {3};
    const tansu_platform platform = {.gcm_seal = host_seal, .gcm_open = host_open};
    uint8_t bytes[4] = {1, 2, 3, 4}, tag[CRYPT_TAG_SIZE];
    CHECK(crypt_gcm_new(key) == NULL);
    crypt_platform_set(&platform);
    crypt_gcm *gcm = crypt_gcm_new(key);
    REQUIRE(gcm != NULL);
    CHECK(crypt_gcm_seal(gcm, nonce, "\1", 1, bytes, 4, bytes, tag));
    CHECK_BYTES("\4\7\6\1", 4, bytes, 4);
    CHECK_INT(2, tag[15]);
    CHECK_STATUS(TANSU_OK, crypt_gcm_open(gcm, nonce, "\1", 1, bytes, 4, tag, bytes));
    CHECK_BYTES("\1\2\3\4", 4, bytes, 4);
    CHECK_STATUS(TANSU_E_CORRUPT, crypt_gcm_open(gcm, nonce, "\2", 1, bytes, 4, tag, bytes));
    CHECK(is_zero(bytes, sizeof bytes));
    crypt_gcm_free(gcm);
}

#endif

int main(void) {
    /* Cases use their nonces again (.ci/check-nonces). */
    unsetenv("TANSU_RECORD_NONCES");
    RUN(random_bytes_differ);
    RUN(a_library_without_ciphers_says_so);
    CHECK_INT(library_crypto(), crypt_available());
#ifndef WITH_LIBCRYPTO
    RUN(the_ciphers_of_the_program_are_used);
#endif
    if (!crypt_available())
        return check_finish();
    RUN(gcm_agrees_with_wycheproof);
    RUN(hkdf_agrees_with_wycheproof);
    RUN(hmac_agrees_with_wycheproof);
    RUN(pbkdf2_agrees_with_wycheproof);
    RUN(every_changed_bit_is_refused);
    return check_finish();
}
