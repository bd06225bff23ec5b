/*
 * crypt/keyring.c -- data keys, and the keys that are derived from them.
 *
 * Deriving a key takes longer than decrypting a block: the last ones that were used are kept, each
 * with the contexts of the threads that were done with it.
 */
#include "crypt/keyring.h"

#include "util/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Derived keys that are kept: a table of sets, which a salt's first byte selects, of that many each.
 * And contexts of each key. */
#define SETS 64u
#define WAYS 4u
#define CONTEXTS_MOST 4u

/* Beside those of seal_purpose: deriving the data key of a copy. */
#define COPY_PURPOSE 5u

typedef struct derived_key {
    bool used;
    uint8_t purpose;
    uint32_t generation;
    uint8_t salt[SEAL_SALT_SIZE];
    uint8_t key[CRYPT_KEY_SIZE];
    crypt_gcm *ready[CONTEXTS_MOST];
    uint32_t ready_count;
    uint64_t last; /* when it was used last, counted in uses */
} derived_key;

struct keyring {
    pthread_mutex_t mutex;
    uint8_t uuid[16];
    struct {
        uint32_t generation;
        bool retired;
        uint8_t key[CRYPT_KEY_SIZE];
        uint8_t origin[CRYPT_KEY_SIZE]; /* from which the key is derived; without that the same */
    } data[KEYRING_MOST];
    uint32_t count;
    uint32_t current; /* the generation that seals; atomic */
    derived_key derived[SETS][WAYS];
    uint64_t uses;
};

struct sealer {
    crypt_gcm *gcm;
    seal_mark next;
};

keyring *keyring_new(const uint8_t uuid[16]) {
    keyring *keys = crypt_secret_new(sizeof *keys);
    if (keys == NULL)
        return NULL;
    if (pthread_mutex_init(&keys->mutex, NULL) != 0) {
        crypt_secret_free(keys, sizeof *keys);
        return NULL;
    }
    memcpy(keys->uuid, uuid, sizeof keys->uuid);
    return keys;
}

/* derived_free -- wipes a derived key. */
static void derived_free(derived_key *d) {
    while (d->ready_count > 0)
        crypt_gcm_free(d->ready[--d->ready_count]);
    crypt_wipe(d, sizeof *d);
}

void keyring_free(keyring *keys) {
    if (keys == NULL)
        return;
    for (uint32_t i = 0; i < SETS * WAYS; i++)
        derived_free(&keys->derived[i / WAYS][i % WAYS]);
    pthread_mutex_destroy(&keys->mutex);
    crypt_secret_free(keys, sizeof *keys);
}

/* newest -- the index of the newest data key; the mutex is held, and there is one. */
static uint32_t newest(const keyring *keys) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < keys->count; i++)
        if (keys->data[i].generation > keys->data[best].generation)
            best = i;
    return best;
}

bool keyring_add(keyring *keys, uint32_t generation, const uint8_t key[CRYPT_KEY_SIZE]) {
    pthread_mutex_lock(&keys->mutex);
    bool added = keys->count < KEYRING_MOST;
    for (uint32_t i = 0; i < keys->count; i++)
        added = added && keys->data[i].generation != generation;
    if (added) {
        keys->data[keys->count].generation = generation;
        keys->data[keys->count].retired = false;
        memcpy(keys->data[keys->count].origin, key, CRYPT_KEY_SIZE);
        memcpy(keys->data[keys->count++].key, key, CRYPT_KEY_SIZE);
        if (generation > keys->current)
            __atomic_store_n(&keys->current, generation, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&keys->mutex);
    return added;
}

uint32_t keyring_current(const keyring *keys) {
    return __atomic_load_n(&keys->current, __ATOMIC_ACQUIRE);
}

tansu_status keyring_renew(keyring *keys, tansu_error *error) {
    uint8_t key[CRYPT_KEY_SIZE];
    tansu_status status = crypt_random(key, sizeof key, error);
    pthread_mutex_lock(&keys->mutex);
    if (status == TANSU_OK && keys->count == KEYRING_MOST)
        status =
            error_set(error, TANSU_E_INVALID_STATE, NULL,
                      "Snapshots from before three changes of the data key are being read; end "
                      "them and try again");
    if (status == TANSU_OK) {
        keys->data[keys->count].generation = keys->data[newest(keys)].generation + 1;
        keys->data[keys->count].retired = false;
        memcpy(keys->data[keys->count].origin, key, CRYPT_KEY_SIZE);
        memcpy(keys->data[keys->count++].key, key, CRYPT_KEY_SIZE);
    }
    pthread_mutex_unlock(&keys->mutex);
    crypt_wipe(key, sizeof key);
    return status;
}

/* sealing -- the index of the data key that seals; the mutex is held, and there is one. */
static uint32_t sealing(const keyring *keys) {
    uint32_t index = 0;
    while (keys->data[index].generation != keys->current)
        index++;
    return index;
}

bool keyring_full(keyring *keys) {
    pthread_mutex_lock(&keys->mutex);
    bool full = keys->count == KEYRING_MOST;
    pthread_mutex_unlock(&keys->mutex);
    return full;
}

void keyring_retire(keyring *keys) {
    pthread_mutex_lock(&keys->mutex);
    for (uint32_t i = 0; i < keys->count; i++)
        keys->data[i].retired = keys->data[i].generation != keys->current;
    pthread_mutex_unlock(&keys->mutex);
}

void keyring_forget(keyring *keys) {
    pthread_mutex_lock(&keys->mutex);
    uint32_t kept = sealing(keys);
    keys->data[0] = keys->data[kept];
    for (; keys->count > 1; keys->count--)
        crypt_wipe(&keys->data[keys->count - 1], sizeof keys->data[0]);
    pthread_mutex_unlock(&keys->mutex);
}

void keyring_switch(keyring *keys, bool forget) {
    pthread_mutex_lock(&keys->mutex);
    if (forget && keys->data[keys->count - 1].generation > keys->current)
        crypt_wipe(&keys->data[--keys->count], sizeof keys->data[0]);
    __atomic_store_n(&keys->current, keys->data[newest(keys)].generation, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&keys->mutex);
}

bool keyring_get(keyring *keys, uint32_t index, uint32_t *generation, uint8_t key[CRYPT_KEY_SIZE]) {
    pthread_mutex_lock(&keys->mutex);
    uint32_t at = 0;
    while (at < keys->count && (keys->data[at].retired || index-- > 0))
        at++;
    bool found = at < keys->count;
    if (found) {
        *generation = keys->data[at].generation;
        memcpy(key, keys->data[at].key, CRYPT_KEY_SIZE);
    }
    pthread_mutex_unlock(&keys->mutex);
    return found;
}

/* derive -- a key from the data key at an index; the mutex is held. */
static bool derive(const keyring *keys, uint32_t index, uint8_t purpose, const uint8_t *salt,
                   uint8_t out[CRYPT_KEY_SIZE]) {
    uint8_t info[8 + 1 + 16] = "tansu 1";
    info[8] = purpose;
    memcpy(info + 9, keys->uuid, 16);
    return crypt_hkdf(keys->data[index].key, CRYPT_KEY_SIZE, salt, SEAL_SALT_SIZE, info,
                      sizeof info, out, CRYPT_KEY_SIZE);
}

bool keyring_derive(keyring *keys, const uint8_t salt[SEAL_SALT_SIZE]) {
    uint8_t key[CRYPT_KEY_SIZE];
    bool made = true;
    pthread_mutex_lock(&keys->mutex);
    for (uint32_t i = 0; made && i < keys->count; i++) {
        made = derive(keys, i, COPY_PURPOSE, salt, key);
        memcpy(keys->data[i].key, key, sizeof key);
    }
    pthread_mutex_unlock(&keys->mutex);
    crypt_wipe(key, sizeof key);
    return made;
}

keyring *keyring_copy(keyring *keys, bool again, const uint8_t salt[SEAL_SALT_SIZE]) {
    keyring *copy = keyring_new(keys->uuid);
    if (copy == NULL)
        return NULL;
    bool made = true;
    pthread_mutex_lock(&keys->mutex);
    for (uint32_t i = 0; made && i < keys->count; i++)
        if (keys->data[i].generation <= keys->current)
            made = keyring_add(copy, keys->data[i].generation,
                               again ? keys->data[i].origin : keys->data[i].key);
    pthread_mutex_unlock(&keys->mutex);
    if (made && keyring_derive(copy, salt))
        return copy;
    keyring_free(copy);
    return NULL;
}

/* mac_of -- keyring_mac() with the data key at an index. */
static bool mac_of(keyring *keys, uint32_t index, const void *bytes, size_t size, uint8_t mac[32]) {
    static const uint8_t salt[SEAL_SALT_SIZE];
    uint8_t key[CRYPT_KEY_SIZE];
    pthread_mutex_lock(&keys->mutex);
    bool made = index < keys->count && derive(keys, index, 0, salt, key);
    pthread_mutex_unlock(&keys->mutex);
    made = made && crypt_hmac(key, sizeof key, bytes, size, mac);
    crypt_wipe(key, sizeof key);
    return made;
}

bool keyring_mac(keyring *keys, const void *bytes, size_t size, uint8_t mac[32]) {
    pthread_mutex_lock(&keys->mutex);
    uint32_t index = keys->count == 0 ? 0 : sealing(keys);
    pthread_mutex_unlock(&keys->mutex);
    return mac_of(keys, index, bytes, size, mac);
}

tansu_status keyring_mac_check(keyring *keys, const void *bytes, size_t size,
                               const uint8_t mac[32]) {
    uint8_t own[32];
    pthread_mutex_lock(&keys->mutex);
    uint32_t count = keys->count;
    pthread_mutex_unlock(&keys->mutex);
    for (uint32_t i = 0; i < count; i++) {
        if (!mac_of(keys, i, bytes, size, own))
            return TANSU_E_MEMORY;
        if (crypt_equal(own, mac, sizeof own))
            return TANSU_OK;
    }
    return TANSU_E_CORRUPT;
}

/* ---- Sealing ---- */

/* sealer_key -- derives the key of a new sealer, whose salt is set. */
static tansu_status sealer_key(keyring *keys, enum seal_purpose purpose, sealer *s,
                               tansu_error *error) {
    uint8_t key[CRYPT_KEY_SIZE];
    bool made = false;
    pthread_mutex_lock(&keys->mutex);
    bool any = keys->count != 0;
    if (any) {
        uint32_t index = sealing(keys);
        s->next.generation = keys->data[index].generation;
        made = derive(keys, index, (uint8_t)purpose, s->next.salt, key);
    }
    pthread_mutex_unlock(&keys->mutex);
    if (!any)
        return error_set(error, TANSU_E_INVALID_STATE, NULL,
                         "There is no data key to encrypt with");
    s->gcm = made ? crypt_gcm_new(key) : NULL;
    crypt_wipe(key, sizeof key);
    return s->gcm == NULL ? error_memory(error) : TANSU_OK;
}

tansu_status sealer_new(keyring *keys, enum seal_purpose purpose, sealer **result,
                        tansu_error *error) {
    sealer *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    tansu_status status = crypt_random(s->next.salt, sizeof s->next.salt, error);
    if (status == TANSU_OK)
        status = sealer_key(keys, purpose, s, error);
    if (status != TANSU_OK) {
        sealer_free(s);
        return status;
    }
    *result = s;
    return TANSU_OK;
}

tansu_status sealer_renew(keyring *keys, enum seal_purpose purpose, sealer **s,
                          tansu_error *error) {
    if (*s != NULL && (*s)->next.generation == keyring_current(keys))
        return TANSU_OK;
    sealer *fresh = NULL;
    tansu_status status = sealer_new(keys, purpose, &fresh, error);
    if (status == TANSU_OK) {
        sealer_free(*s);
        *s = fresh;
    }
    return status;
}

void sealer_free(sealer *s) {
    if (s == NULL)
        return;
    crypt_gcm_free(s->gcm);
    free(s);
}

seal_mark sealer_next(sealer *s) {
    seal_mark mark = s->next;
    s->next.number++;
    return mark;
}

/* nonce_of -- the nonce of a mark. */
static void nonce_of(const seal_mark *mark, uint8_t nonce[CRYPT_NONCE_SIZE]) {
    memset(nonce, 0, CRYPT_NONCE_SIZE);
    memcpy(nonce + CRYPT_NONCE_SIZE - sizeof mark->number, &mark->number, sizeof mark->number);
}

bool seal(sealer *s, const seal_mark *mark, const void *aad, size_t aad_size, const uint8_t *plain,
          size_t size, uint8_t *out, uint8_t tag[CRYPT_TAG_SIZE]) {
    uint8_t nonce[CRYPT_NONCE_SIZE];
    nonce_of(mark, nonce);
    return crypt_gcm_seal(s->gcm, nonce, aad, aad_size, plain, size, out, tag);
}

/* ---- Unsealing ---- */

/* derived_find -- the derived key of a mark, kept; NULL: there is none. The mutex is held. */
static derived_key *derived_find(keyring *keys, uint8_t purpose, const seal_mark *mark) {
    derived_key *set = keys->derived[mark->salt[0] % SETS];
    for (uint32_t i = 0; i < WAYS; i++) {
        derived_key *d = &set[i];
        if (d->used && d->purpose == purpose && d->generation == mark->generation &&
            memcmp(d->salt, mark->salt, sizeof d->salt) == 0)
            return d;
    }
    return NULL;
}

/* derived_add -- derives the key of a mark, instead of the one of its set that was not used for
 * longest; the mutex is held. Errors: CORRUPT (no such data key), MEMORY. */
static tansu_status derived_add(keyring *keys, uint8_t purpose, const seal_mark *mark,
                                derived_key **result) {
    uint32_t index = 0;
    while (index < keys->count && keys->data[index].generation != mark->generation)
        index++;
    if (index == keys->count)
        return TANSU_E_CORRUPT;
    derived_key *set = keys->derived[mark->salt[0] % SETS], *d = set;
    for (uint32_t i = 1; i < WAYS; i++)
        if (set[i].last < d->last) /* 0: unused */
            d = &set[i];
    derived_free(d);
    if (!derive(keys, index, purpose, mark->salt, d->key))
        return TANSU_E_MEMORY;
    d->used = true;
    d->purpose = purpose;
    d->generation = mark->generation;
    memcpy(d->salt, mark->salt, sizeof d->salt);
    *result = d;
    return TANSU_OK;
}

/* context_take -- a context of the key of a mark, which nobody else uses. */
static tansu_status context_take(keyring *keys, uint8_t purpose, const seal_mark *mark,
                                 crypt_gcm **gcm) {
    uint8_t key[CRYPT_KEY_SIZE];
    tansu_status status = TANSU_OK;
    *gcm = NULL;
    pthread_mutex_lock(&keys->mutex);
    derived_key *d = derived_find(keys, purpose, mark);
    if (d == NULL)
        status = derived_add(keys, purpose, mark, &d);
    if (status == TANSU_OK) {
        d->last = ++keys->uses;
        if (d->ready_count > 0)
            *gcm = d->ready[--d->ready_count];
        memcpy(key, d->key, sizeof key);
    }
    pthread_mutex_unlock(&keys->mutex);
    if (status == TANSU_OK && *gcm == NULL)
        *gcm = crypt_gcm_new(key);
    crypt_wipe(key, sizeof key);
    return status == TANSU_OK && *gcm == NULL ? TANSU_E_MEMORY : status;
}

/* context_return -- keeps a context for the next. */
static void context_return(keyring *keys, uint8_t purpose, const seal_mark *mark, crypt_gcm *gcm) {
    pthread_mutex_lock(&keys->mutex);
    derived_key *d = derived_find(keys, purpose, mark);
    bool kept = d != NULL && d->ready_count < CONTEXTS_MOST;
    if (kept)
        d->ready[d->ready_count++] = gcm;
    pthread_mutex_unlock(&keys->mutex);
    if (!kept)
        crypt_gcm_free(gcm);
}

tansu_status unseal(keyring *keys, enum seal_purpose purpose, const seal_mark *mark,
                    const void *aad, size_t aad_size, const uint8_t *sealed, size_t size,
                    const uint8_t tag[CRYPT_TAG_SIZE], uint8_t *out) {
    crypt_gcm *gcm = NULL;
    uint8_t nonce[CRYPT_NONCE_SIZE];
    tansu_status status =
        mark->reserved != 0 ? TANSU_E_CORRUPT : context_take(keys, (uint8_t)purpose, mark, &gcm);
    if (status != TANSU_OK) {
        crypt_wipe(out, size);
        return status;
    }
    nonce_of(mark, nonce);
    status = crypt_gcm_open(gcm, nonce, aad, aad_size, sealed, size, tag, out);
    context_return(keys, (uint8_t)purpose, mark, gcm);
    return status;
}
