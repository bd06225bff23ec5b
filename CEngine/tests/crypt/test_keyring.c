/*
 * test_keyring.c -- what a database's keys sealed is opened with the same keys, at its place, and
 * not otherwise.
 */
#include "crypt/keyring.h"
#include "support/check.h"
#include "support/libraries.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define SIZE 100
#define THREADS 4
#define ROUNDS 3000
/* More than the keyring keeps keys of. */
#define SEALERS 400

static const uint8_t uuid[16] = "a database";

/* Something sealed, and what it was. */
typedef struct piece {
    seal_mark mark;
    uint8_t plain[SIZE], sealed[SIZE], tag[CRYPT_TAG_SIZE];
} piece;

/* keys_of -- a keyring with one data key, whose bytes are `fill`. */
static keyring *keys_of(const uint8_t id[16], uint32_t generation, uint8_t fill) {
    uint8_t key[CRYPT_KEY_SIZE];
    memset(key, fill, sizeof key);
    keyring *keys = keyring_new(id);
    REQUIRE(keys != NULL && keyring_add(keys, generation, key));
    return keys;
}

/* add -- another data key. */
static bool add(keyring *keys, uint32_t generation, uint8_t fill) {
    uint8_t key[CRYPT_KEY_SIZE];
    memset(key, fill, sizeof key);
    return keyring_add(keys, generation, key);
}

/* sealer_of -- a new sealer. */
static sealer *sealer_of(keyring *keys, enum seal_purpose purpose) {
    sealer *s = NULL;
    tansu_error error = {0};
    REQUIRE(CHECK_OK(sealer_new(keys, purpose, &s, &error), &error));
    return s;
}

/* make -- seals bytes that are `fill`, with the place "place". */
static void make(sealer *s, uint8_t fill, piece *p) {
    memset(p->plain, fill, SIZE);
    p->mark = sealer_next(s);
    CHECK(seal(s, &p->mark, "place", 5, p->plain, SIZE, p->sealed, p->tag));
}

/* opened -- what opening a piece comes to; the bytes are checked. */
static tansu_status opened(keyring *keys, enum seal_purpose purpose, const piece *p,
                           const char *place) {
    static const uint8_t zeros[SIZE];
    uint8_t out[SIZE];
    memset(out, 0xA5, sizeof out);
    tansu_status status =
        unseal(keys, purpose, &p->mark, place, strlen(place), p->sealed, SIZE, p->tag, out);
    CHECK(memcmp(out, status == TANSU_OK ? p->plain : zeros, SIZE) == 0);
    return status;
}

static void what_was_sealed_is_opened(void) {
    keyring *keys = keys_of(uuid, 1, 7);
    sealer *s = sealer_of(keys, SEAL_LOG);
    piece p[20];
    for (uint8_t i = 0; i < 20; i++) {
        make(s, i, &p[i]);
        CHECK_INT(i, p[i].mark.number);
        CHECK_INT(1, p[i].mark.generation);
        CHECK_INT(0, p[i].mark.reserved);
        CHECK(memcmp(p[i].mark.salt, p[0].mark.salt, SEAL_SALT_SIZE) == 0);
    }
    sealer_free(s);
    keyring *later = keys_of(uuid, 1, 7);
    for (int i = 19; i >= 0; i--) {
        CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &p[i], "place"));
        CHECK_STATUS(TANSU_OK, opened(later, SEAL_LOG, &p[i], "place"));
    }
    keyring_free(keys);
    keyring_free(later);
    keyring_free(NULL);
    sealer_free(NULL);
}

static void nothing_is_sealed_in_place_of_something_else(void) {
    keyring *keys = keys_of(uuid, 1, 7),
            *others = keys_of((const uint8_t *)"another database", 1, 7),
            *wrong = keys_of(uuid, 1, 8);
    sealer *s = sealer_of(keys, SEAL_LOG);
    piece good, other, p;
    make(s, 1, &good);
    make(s, 2, &other);
    CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &good, "place"));
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &good, "other"));
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &good, ""));
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_BLOCK_STORE, &good, "place"));
    CHECK_STATUS(TANSU_E_CORRUPT, opened(others, SEAL_LOG, &good, "place"));
    CHECK_STATUS(TANSU_E_CORRUPT, opened(wrong, SEAL_LOG, &good, "place"));
    p = good;
    p.mark = other.mark;
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &p, "place"));
    sealer_free(s);
    keyring_free(keys);
    keyring_free(others);
    keyring_free(wrong);
}

static void every_changed_bit_is_refused(void) {
    keyring *keys = keys_of(uuid, 1, 7);
    CHECK(add(keys, 3, 9));
    sealer *s = sealer_of(keys, SEAL_LOG);
    piece good, p;
    make(s, 1, &good);
    for (size_t bit = 0; bit < 8 * sizeof p; bit++) {
        size_t at = bit / 8;
        bool is_stored = at < offsetof(piece, plain) || (at >= offsetof(piece, sealed) &&
                                                         at < offsetof(piece, tag) + sizeof p.tag);
        p = good;
        ((uint8_t *)&p)[at] ^= (uint8_t)(1u << bit % 8);
        if (is_stored)
            CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &p, "place"));
    }
    sealer_free(s);
    keyring_free(keys);
}

static void the_newest_data_key_seals(void) {
    keyring *keys = keys_of(uuid, 1, 7);
    piece before, after;
    sealer *old = sealer_of(keys, SEAL_LOG);
    make(old, 1, &before);
    CHECK(add(keys, 2, 8));
    CHECK(!add(keys, 2, 9));
    CHECK(!add(keys, 1, 9));
    sealer *s = sealer_of(keys, SEAL_LOG);
    make(s, 2, &after);
    CHECK_INT(1, before.mark.generation);
    CHECK_INT(2, after.mark.generation);
    CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &before, "place"));
    CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &after, "place"));
    make(old, 3, &before);
    CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &before, "place"));
    after.mark.generation = 3;
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &after, "place"));
    after.mark.generation = 1;
    CHECK_STATUS(TANSU_E_CORRUPT, opened(keys, SEAL_LOG, &after, "place"));
    sealer_free(old);
    sealer_free(s);
    keyring_free(keys);
}

static void a_keyring_without_a_key_seals_nothing(void) {
    keyring *keys = keyring_new(uuid);
    REQUIRE(keys != NULL);
    sealer *s = NULL;
    uint8_t mac[32];
    CHECK_STATUS(TANSU_E_INVALID_STATE, sealer_new(keys, SEAL_LOG, &s, NULL));
    CHECK(s == NULL);
    CHECK(!keyring_mac(keys, "text", 4, mac));
    keyring_free(keys);
}

static void codes_depend_on_key_and_bytes(void) {
    uint8_t mac[5][32];
    keyring *keys[3] = {keys_of(uuid, 1, 7), keys_of(uuid, 1, 8),
                        keys_of((const uint8_t *)"another database", 1, 7)};
    for (int i = 0; i < 3; i++)
        CHECK(keyring_mac(keys[i], "text", 4, mac[i]));
    CHECK(keyring_mac(keys[0], "texts", 5, mac[3]));
    CHECK(keyring_mac(keys[0], "text", 4, mac[4]));
    CHECK(crypt_equal(mac[0], mac[4], 32));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            CHECK(!crypt_equal(mac[i], mac[j], 32));
    for (int i = 0; i < 3; i++)
        keyring_free(keys[i]);
}

/* More sealers than keys are kept of: each has a salt of its own, and all of them are opened. */
static void sealers_have_salts_of_their_own(void) {
    keyring *keys = keys_of(uuid, 1, 7);
    static piece p[SEALERS];
    for (int i = 0; i < SEALERS; i++) {
        sealer *s = sealer_of(keys, SEAL_LOG);
        make(s, 5, &p[i]);
        sealer_free(s);
        CHECK_INT(0, p[i].mark.number);
        for (int j = 0; j < i; j++) {
            CHECK(memcmp(p[i].mark.salt, p[j].mark.salt, SEAL_SALT_SIZE) != 0);
            CHECK(memcmp(p[i].sealed, p[j].sealed, SIZE) != 0);
        }
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < SEALERS; i++)
            CHECK_STATUS(TANSU_OK, opened(keys, SEAL_LOG, &p[i], "place"));
    keyring_free(keys);
}

/* What threads share. */
typedef struct shared {
    keyring *keys;
    const piece *pieces;
} shared;

/* work -- seals and opens, as one of several threads. */
static void *work(void *context) {
    const shared *all = context;
    sealer *s = sealer_of(all->keys, SEAL_TEMPORARY);
    for (int i = 0; i < ROUNDS; i++) {
        piece own;
        CHECK_STATUS(TANSU_OK, opened(all->keys, SEAL_LOG, &all->pieces[i % SEALERS], "place"));
        make(s, (uint8_t)i, &own);
        CHECK_STATUS(TANSU_OK, opened(all->keys, SEAL_TEMPORARY, &own, "place"));
    }
    sealer_free(s);
    return NULL;
}

static void threads_seal_and_open_together(void) {
    keyring *keys = keys_of(uuid, 1, 7);
    static piece p[SEALERS];
    sealer *s = NULL;
    for (int i = 0; i < SEALERS; i++) {
        /* Some have their key alone, others share one. */
        if (i % 4 < 2) {
            sealer_free(s);
            s = sealer_of(keys, SEAL_LOG);
        }
        make(s, (uint8_t)i, &p[i]);
    }
    sealer_free(s);
    shared all = {keys, p};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &all) == 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    keyring_free(keys);
}

int main(void) {
    if (!library_crypto()) {
        CHECK(!crypt_available());
        return check_finish();
    }
    RUN(what_was_sealed_is_opened);
    RUN(nothing_is_sealed_in_place_of_something_else);
    RUN(every_changed_bit_is_refused);
    RUN(the_newest_data_key_seals);
    RUN(a_keyring_without_a_key_seals_nothing);
    RUN(codes_depend_on_key_and_bytes);
    RUN(sealers_have_salts_of_their_own);
    RUN(threads_seal_and_open_together);
    return check_finish();
}
