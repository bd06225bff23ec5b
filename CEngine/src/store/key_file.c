/*
 * store/key_file.c -- reading and replacing the file KEY.
 */
#include "store/key_file.h"

#include "store/database_internal.h"
#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"
#include "util/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_NAME "KEY"
#define KEY_FORMAT 1u
#define TEXT_MOST KEY_TEXT_MOST

/* SQLCipher 4's, and what takes half a minute. */
#define ITERATIONS_LEAST 256000u
#define ITERATIONS_MOST 10000000u

#define PASSPHRASE_MOST ((size_t)1024 * 1024)

#define SALT_SIZE 16u

/* A data key as it is stored. */
typedef struct sealed_key {
    uint32_t generation;
    uint8_t nonce[CRYPT_NONCE_SIZE];
    uint8_t key[CRYPT_KEY_SIZE];
    uint8_t tag[CRYPT_TAG_SIZE];
} sealed_key;

#define SEALED_SIZE (CRYPT_NONCE_SIZE + CRYPT_KEY_SIZE + CRYPT_TAG_SIZE)

typedef struct key_file {
    uint8_t uuid[16];
    uint32_t iterations; /* 0: the user's key is not a passphrase */
    uint8_t salt[SALT_SIZE];
    sealed_key keys[KEYRING_MOST];
    uint32_t count;
    bool copied; /* the data keys are derived from these ones with the salt `copy` */
    uint8_t copy[SEAL_SALT_SIZE];
} key_file;

user_key user_key_given(user_key key) {
#ifdef TANSU_TEST_ENCRYPT
    static const uint8_t test_key[CRYPT_KEY_SIZE];
    if (key.bytes == NULL)
        return (user_key){.bytes = test_key, .size = sizeof test_key, .assumed = true};
#endif
    return key;
}

tansu_status user_key_check(const user_key *key, tansu_error *error) {
    const char *wrong = NULL;
    if (key->bytes == NULL && key->size == 0)
        return TANSU_OK;
    if (key->bytes == NULL)
        wrong = "The key is NULL, and its size is not 0";
    else if ((unsigned)key->kind > TANSU_KEY_PASSPHRASE)
        wrong = "The kind of the key is invalid; use a value of tansu_key_kind";
    else if (key->kind == TANSU_KEY_BYTES && key->size != CRYPT_KEY_SIZE)
        wrong = "A key of bytes has 32 of them; a passphrase may have any length";
    else if (key->size == 0 || key->size > PASSPHRASE_MOST)
        wrong = "A passphrase has 1 to 1048576 bytes";
    else if (key->kind == TANSU_KEY_PASSPHRASE && memchr(key->bytes, 0, key->size) != NULL)
        wrong = "A passphrase contains no NUL"; /* PBKDF2 does not tell one at the end from none */
    else if (key->iterations != 0 &&
             (key->iterations < ITERATIONS_LEAST || key->iterations > ITERATIONS_MOST))
        wrong = "The iterations for a key must be from 256000 to 10000000";
    if (wrong != NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "key", "%s", wrong);
    return crypt_available() ? TANSU_OK : crypt_missing("An encrypted database", error);
}

/* ---- The text ---- */

/* append -- prints at the end of a text. */
static size_t append(char text[TEXT_MOST], size_t length, const char *name, const uint8_t *bytes,
                     size_t size) {
    char digits[2 * SEALED_SIZE + 1];
    hex_write(bytes, size, digits);
    return length + (size_t)snprintf(text + length, TEXT_MOST - length, "%s %s\n", name, digits);
}

/* format_head -- what comes before the data keys; its length. */
static size_t format_head(const key_file *f, char text[TEXT_MOST]) {
    size_t length = (size_t)snprintf(text, TEXT_MOST, "tansu key %u\n", KEY_FORMAT);
    length = append(text, length, "uuid", f->uuid, sizeof f->uuid);
    length += (size_t)(f->iterations == 0
                           ? snprintf(text + length, TEXT_MOST - length, "kdf none\n")
                           : snprintf(text + length, TEXT_MOST - length,
                                      "kdf pbkdf2-hmac-sha512 %" PRIu32 "\n", f->iterations));
    return append(text, length, "salt", f->salt, sizeof f->salt);
}

/* format -- the text of the file; its length. */
static size_t format(const key_file *f, char text[TEXT_MOST]) {
    size_t length = format_head(f, text);
    for (uint32_t i = 0; i < f->count; i++) {
        const sealed_key *k = &f->keys[i];
        uint8_t bytes[SEALED_SIZE];
        char name[24];
        memcpy(bytes, k->nonce, sizeof k->nonce);
        memcpy(bytes + sizeof k->nonce, k->key, sizeof k->key);
        memcpy(bytes + sizeof k->nonce + sizeof k->key, k->tag, sizeof k->tag);
        snprintf(name, sizeof name, "key %" PRIu32, k->generation);
        length = append(text, length, name, bytes, sizeof bytes);
    }
    if (f->copied)
        length = append(text, length, "copy", f->copy, sizeof f->copy);
    uint32_t crc = checksum(0, text, length);
    return length + (size_t)snprintf(text + length, TEXT_MOST - length, "crc %08" PRIx32 "\n", crc);
}

/* parse_key -- the part of a line "key ..." behind its name. */
static bool parse_key(const char *line, sealed_key *k) {
    char digits[2 * SEALED_SIZE + 1];
    uint8_t bytes[SEALED_SIZE];
    if (sscanf(line, "%" SCNu32 " %120[0-9a-f]\n", &k->generation, digits) != 2 ||
        !hex_read(digits, bytes, sizeof bytes))
        return false;
    memcpy(k->nonce, bytes, sizeof k->nonce);
    memcpy(k->key, bytes + sizeof k->nonce, sizeof k->key);
    memcpy(k->tag, bytes + sizeof k->nonce + sizeof k->key, sizeof k->tag);
    return true;
}

/* parse -- false when the text is not exactly what format() makes of a file. */
static bool parse(const char *text, size_t size, key_file *f) {
    char uuid[33], kdf[32], salt[33], again[TEXT_MOST];
    *f = (key_file){.count = 0};
    if (sscanf(text, "tansu key %*u\nuuid %32s\nkdf %31[^\n]\nsalt %32s\n", uuid, kdf, salt) != 3 ||
        !hex_read(uuid, f->uuid, sizeof f->uuid) || !hex_read(salt, f->salt, sizeof f->salt))
        return false;
    if (strcmp(kdf, "none") != 0 &&
        (sscanf(kdf, "pbkdf2-hmac-sha512 %" SCNu32, &f->iterations) != 1 ||
         f->iterations < ITERATIONS_LEAST || f->iterations > ITERATIONS_MOST))
        return false;
    for (const char *line = text; (line = strstr(line, "\nkey ")) != NULL; f->count++) {
        line += strlen("\nkey ");
        if (f->count == KEYRING_MOST || !parse_key(line, &f->keys[f->count]) ||
            (f->count != 0 && f->keys[f->count].generation <= f->keys[f->count - 1].generation))
            return false;
    }
    const char *copy = strstr(text, "\ncopy ");
    f->copied = copy != NULL;
    if (f->copied &&
        (sscanf(copy, "\ncopy %32[0-9a-f]", salt) != 1 || !hex_read(salt, f->copy, sizeof f->copy)))
        return false;
    return f->count != 0 && format(f, again) == size && memcmp(text, again, size) == 0;
}

/* ---- Encrypting the data keys ---- */

/* derive -- the key-encryption key. */
static tansu_status derive(const key_file *f, const user_key *key, uint8_t out[CRYPT_KEY_SIZE],
                           tansu_error *error) {
    static const uint8_t info[] = "tansu key 1";
    bool made = f->iterations == 0 ? crypt_hkdf(key->bytes, key->size, f->salt, sizeof f->salt,
                                                info, sizeof info, out, CRYPT_KEY_SIZE)
                                   : crypt_pbkdf2(key->bytes, key->size, f->salt, sizeof f->salt,
                                                  f->iterations, out, CRYPT_KEY_SIZE);
    return made ? TANSU_OK : error_memory(error);
}

/* context_of -- the cipher under the key-encryption key. */
static tansu_status context_of(const key_file *f, const user_key *key, crypt_gcm **gcm,
                               tansu_error *error) {
    uint8_t wrapping[CRYPT_KEY_SIZE];
    tansu_status status = derive(f, key, wrapping, error);
    if (status == TANSU_OK && (*gcm = crypt_gcm_new(wrapping)) == NULL)
        status = error_memory(error);
    crypt_wipe(wrapping, sizeof wrapping);
    return status;
}

/* authenticated -- what is authenticated with a data key; its length. */
static size_t authenticated(const key_file *f, uint32_t generation, char text[TEXT_MOST]) {
    size_t length = format_head(f, text);
    return length + (size_t)snprintf(text + length, TEXT_MOST - length, "key %" PRIu32, generation);
}

/* seal_keys -- encrypts the data keys of a keyring into the file; `current`: the one that seals. */
static tansu_status seal_keys(key_file *f, keyring *keys, bool current, crypt_gcm *gcm,
                              tansu_error *error) {
    uint8_t key[CRYPT_KEY_SIZE];
    char aad[TEXT_MOST];
    tansu_status status = TANSU_OK;
    f->count = 0;
    for (uint32_t i = 0; status == TANSU_OK; i++) {
        sealed_key *k = &f->keys[f->count];
        if (!keyring_get(keys, i, &k->generation, key))
            break;
        if (current && k->generation != keyring_current(keys))
            continue;
        status = crypt_random(k->nonce, sizeof k->nonce, error);
        if (status == TANSU_OK &&
            !crypt_gcm_seal(gcm, k->nonce, aad, authenticated(f, k->generation, aad), key,
                            sizeof key, k->key, k->tag))
            status = error_memory(error);
        f->count += status == TANSU_OK;
    }
    crypt_wipe(key, sizeof key);
    return status;
}

/* wrong_key -- the error for a key that the data keys are not encrypted with. */
static tansu_status wrong_key(const key_file *f, const user_key *key, const char *what,
                              const char *path, tansu_error *error) {
    bool passphrase = f->iterations != 0;
    if (passphrase != (key->kind == TANSU_KEY_PASSPHRASE))
        return error_set(error, TANSU_E_WRONG_KEY, path,
                         passphrase ? "The %s is encrypted with a passphrase, and 32 bytes were "
                                      "given as its key"
                                    : "The %s is encrypted with a key of 32 bytes, and a "
                                      "passphrase was given",
                         what);
    return error_set(error, TANSU_E_WRONG_KEY, path, "The %s is not that of the %s",
                     passphrase ? "passphrase" : "key", what);
}

/* open_keys -- decrypts the data keys of the file into a keyring. Errors: WRONG_KEY (without a
 * text), MEMORY. */
static tansu_status open_keys(const key_file *f, crypt_gcm *gcm, keyring *keys) {
    uint8_t key[CRYPT_KEY_SIZE];
    char aad[TEXT_MOST];
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < f->count; i++) {
        const sealed_key *k = &f->keys[i];
        status = crypt_gcm_open(gcm, k->nonce, aad, authenticated(f, k->generation, aad), k->key,
                                sizeof k->key, k->tag, key);
        if (status == TANSU_E_CORRUPT)
            status = TANSU_E_WRONG_KEY;
        if (status == TANSU_OK && !keyring_add(keys, k->generation, key))
            status = TANSU_E_MEMORY;
    }
    crypt_wipe(key, sizeof key);
    return status;
}

/* ---- The interface ---- */

tansu_status key_file_new_keys(const uint8_t uuid[16], keyring **keys, tansu_error *error) {
    uint8_t key[CRYPT_KEY_SIZE];
    tansu_status status = crypt_random(key, sizeof key, error);
    if (status != TANSU_OK)
        return status;
    keyring *made = keyring_new(uuid);
    if (made == NULL || !keyring_add(made, 1, key)) {
        keyring_free(made);
        made = NULL;
        status = error_memory(error);
    }
    crypt_wipe(key, sizeof key);
    *keys = made;
    return status;
}

tansu_status key_text_make(const uint8_t uuid[16], keyring *keys, bool current, const user_key *key,
                           tansu_buffer *text, tansu_error *error) {
    key_file f = {.count = 0};
    crypt_gcm *gcm = NULL;
    char made[TEXT_MOST];
    memcpy(f.uuid, uuid, sizeof f.uuid);
    if (key->kind == TANSU_KEY_PASSPHRASE)
        f.iterations = key->iterations != 0 ? key->iterations : ITERATIONS_LEAST;
    tansu_status status = crypt_random(f.salt, sizeof f.salt, error);
    if (status == TANSU_OK)
        status = context_of(&f, key, &gcm, error);
    if (status == TANSU_OK)
        status = seal_keys(&f, keys, current, gcm, error);
    crypt_gcm_free(gcm);
    if (status == TANSU_OK && !buffer_set(text, made, format(&f, made)))
        status = error_memory(error);
    return status;
}

tansu_status key_text_write(const fs *calls, const char *folder, const tansu_buffer *text,
                            tansu_error *error) {
    return fs_write_file(calls, folder, KEY_NAME, text->data, text->size, error);
}

tansu_status key_text_read(const fs *calls, const char *folder, tansu_buffer *text,
                           tansu_error *error) {
    char *path = fs_join(folder, KEY_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = fs_read_file(calls, path, TEXT_MOST, text, error);
    free(path);
    return status;
}

tansu_status key_file_write(const fs *calls, const char *folder, const uint8_t uuid[16],
                            keyring *keys, const user_key *key, tansu_error *error) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_status status = key_text_make(uuid, keys, false, key, &text, error);
    if (status == TANSU_OK)
        status = key_text_write(calls, folder, &text, error);
    tansu_buffer_free(&text);
    return status;
}

tansu_status key_file_replace(database *db, const user_key *key, bool current, tansu_error *error) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_status status =
        key_text_make(db->manifest.known.uuid, db->keys, current, key, &text, error);
    if (status == TANSU_OK)
        status = folder_check(db, error);
    if (status == TANSU_OK) {
        pthread_mutex_lock(&db->manifest.mutex); /* one thread at a time writes the file */
        status = key_text_write(db->files.calls, db->files.folder, &text, error);
        pthread_mutex_unlock(&db->manifest.mutex);
    }
    tansu_buffer_free(&text);
    return status;
}

/* read_text -- the content, parsed. Errors: CORRUPT, VERSION. */
static tansu_status read_text(const tansu_buffer *text, const char *what, const char *path,
                              key_file *f, tansu_error *error) {
    const char *content = text->size == 0 ? "" : (const char *)text->data;
    unsigned number = KEY_FORMAT;
    if (sscanf(content, "tansu key %u\n", &number) == 1 && number != KEY_FORMAT)
        return error_set(error, TANSU_E_VERSION, path,
                         "The keys of the encrypted %s have format %u and this library reads "
                         "format %u; use a newer version of the library",
                         what, number, KEY_FORMAT);
    return parse(content, text->size, f)
               ? TANSU_OK
               : error_set(error, TANSU_E_CORRUPT, path,
                           "The file \"KEY\" of the encrypted %s is corrupt, and its data cannot "
                           "be read without it; restore the file or a backup",
                           what);
}

/* unlock -- the data keys of a parsed file. */
static tansu_status unlock(const key_file *f, const user_key *key, const char *what,
                           const char *path, keyring **keys, tansu_error *error) {
    crypt_gcm *gcm = NULL;
    if ((f->iterations != 0) != (key->kind == TANSU_KEY_PASSPHRASE))
        return wrong_key(f, key, what, path, error);
    tansu_status status = context_of(f, key, &gcm, error);
    if (status != TANSU_OK)
        return status;
    keyring *made = keyring_new(f->uuid);
    status = made == NULL ? TANSU_E_MEMORY : open_keys(f, gcm, made);
    crypt_gcm_free(gcm);
    if (status == TANSU_OK && f->copied && !keyring_derive(made, f->copy))
        status = TANSU_E_MEMORY;
    if (status == TANSU_OK) {
        *keys = made;
        return TANSU_OK;
    }
    keyring_free(made);
    return status == TANSU_E_WRONG_KEY ? wrong_key(f, key, what, path, error) : error_memory(error);
}

tansu_status key_text_open(const tansu_buffer *text, const char *what, const char *path,
                           const user_key *key, uint8_t uuid[16], keyring **keys,
                           tansu_error *error) {
    key_file f;
    tansu_status status = read_text(text, what, path, &f, error);
    if (status != TANSU_OK)
        return status;
    memcpy(uuid, f.uuid, sizeof f.uuid);
    return unlock(&f, key, what, path, keys, error);
}

uint32_t key_text_iterations(const tansu_buffer *text) {
    key_file f;
    return parse((const char *)text->data, text->size, &f) ? f.iterations : 0;
}

/* read_file -- the file, and parsed. Errors: CORRUPT, VERSION, IO, MEMORY. */
static tansu_status read_file(const fs *calls, const char *folder, const char *path,
                              tansu_buffer *text, key_file *f, tansu_error *error) {
    tansu_status status = key_text_read(calls, folder, text, error);
    if (status == TANSU_E_NOT_FOUND)
        status = error_set(error, TANSU_E_CORRUPT, path,
                           "The file \"KEY\" of the encrypted database is missing, and its data "
                           "cannot be read without it; restore the file or a backup");
    else if (status == TANSU_OK || status == TANSU_E_TOO_LARGE) /* then it has nothing of it */
        status = read_text(text, "database", path, f, error);
    return status;
}

tansu_status key_text_current(const fs *calls, const char *folder, uint32_t generation,
                              tansu_buffer *text, tansu_error *error) {
    key_file f;
    char *path = fs_join(folder, KEY_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = read_file(calls, folder, path, text, &f, error);
    free(path);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; i < f.count; i++)
        if (f.keys[i].generation == generation)
            return TANSU_OK;
    return error_set(error, TANSU_E_WRONG_KEY, folder,
                     "The data key of the database was replaced; close the database and open it "
                     "again");
}

tansu_status key_text_copy(const tansu_buffer *own, keyring *keys, tansu_buffer *text,
                           keyring **copied, tansu_error *error) {
    key_file f;
    char made[TEXT_MOST];
    if (!parse((const char *)own->data, own->size, &f))
        return error_set(error, TANSU_E_CORRUPT, KEY_NAME, "The file \"KEY\" is corrupt");
    bool again = f.copied;
    tansu_status status = crypt_random(f.copy, sizeof f.copy, error);
    if (status != TANSU_OK)
        return status;
    f.copied = true;
    *copied = keyring_copy(keys, again, f.copy);
    return *copied != NULL && buffer_set(text, made, format(&f, made)) ? TANSU_OK
                                                                       : error_memory(error);
}

tansu_status key_file_identify(const fs *calls, const char *folder, uint8_t uuid[16],
                               uint32_t *iterations, tansu_error *error) {
    key_file f;
    tansu_buffer text = TANSU_BUFFER_INIT;
    char *path = fs_join(folder, KEY_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = read_file(calls, folder, path, &text, &f, error);
    tansu_buffer_free(&text);
    free(path);
    if (status != TANSU_OK)
        return status;
    memcpy(uuid, f.uuid, sizeof f.uuid);
    *iterations = f.iterations;
    return TANSU_OK;
}

tansu_status key_file_read(const fs *calls, const char *folder, const uint8_t uuid[16],
                           const user_key *key, keyring **keys, tansu_error *error) {
    key_file f;
    tansu_buffer text = TANSU_BUFFER_INIT;
    char *path = fs_join(folder, KEY_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = read_file(calls, folder, path, &text, &f, error);
    tansu_buffer_free(&text);
    if (status == TANSU_OK && memcmp(f.uuid, uuid, sizeof f.uuid) != 0)
        status = error_set(error, TANSU_E_CORRUPT, path,
                           "The file \"KEY\" is that of another database, and the data cannot be "
                           "read without its own; restore the file or a backup");
    if (status == TANSU_OK)
        status = unlock(&f, key, "database", path, keys, error);
    free(path);
    return status;
}
