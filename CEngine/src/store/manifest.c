/*
 * store/manifest.c -- reading and replacing the MANIFEST.
 */
#include "store/manifest.h"

#include "store/database_internal.h"
#include "store/files.h"
#include "util/checksum/checksum.h"
#include "util/error.h"
#include "util/hex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MANIFEST_NAME "MANIFEST"
#define CIPHER "aes-256-gcm"
#define MANIFEST_LIMIT 4096u
#define TEXT_MOST 512u

tansu_status manifest_new(manifest *m, tansu_error *error) {
    memset(m, 0, sizeof *m);
    return crypt_random(m->uuid, sizeof m->uuid, error);
}

/* corrupt -- the error for a MANIFEST that is invalid. */
static tansu_status corrupt(const char *path, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, path, 0,
                    "The file \"MANIFEST\" is corrupt; restore a backup or salvage what is "
                    "readable with \"tansu repair\"");
}

/* format_body -- what the code of an encrypted one is of, or the CRC of another; its length. */
static size_t format_body(const manifest *m, char text[TEXT_MOST]) {
    char uuid[33];
    hex_write(m->uuid, sizeof m->uuid, uuid);
    return (size_t)snprintf(
        text, TEXT_MOST,
        "tansu database %u\nuuid %s\nindex %s\nboot %s\nend %llu\ncompacted %s\n%s",
        MANIFEST_FORMAT, uuid,
        m->index_damaged ? "damaged"
        : m->index_open  ? "open"
                         : "clean",
        m->boot[0] == 0 ? "-" : m->boot, (unsigned long long)m->end_sequence,
        m->compacted ? "yes" : "no", m->encrypted ? "cipher " CIPHER "\n" : "");
}

/* format -- the text of a MANIFEST; its length. */
static size_t format(const manifest *m, char text[TEXT_MOST]) {
    size_t length = format_body(m, text);
    if (m->encrypted) {
        char mac[65];
        hex_write(m->mac, sizeof m->mac, mac);
        length += (size_t)snprintf(text + length, TEXT_MOST - length, "mac %s\n", mac);
    }
    uint32_t crc = checksum(0, text, length);
    return length + (size_t)snprintf(text + length, TEXT_MOST - length, "crc %08x\n", crc);
}

/* has_text_of -- whether that is the text of a MANIFEST. */
static bool has_text_of(const tansu_buffer *found, const manifest *m) {
    char text[TEXT_MOST];
    size_t length = format(m, text);
    return found->size == length && memcmp(found->data, text, length) == 0;
}

/* parse_cipher -- the lines of an encrypted one; all is as format() makes it, so that nothing is
 * left out of the code. */
static bool parse_cipher(const tansu_buffer *text, manifest *m) {
    char mac[65];
    const char *line = strstr((const char *)text->data, "\ncipher ");
    if (line == NULL)
        return true;
    m->encrypted = true;
    return sscanf(line, "\ncipher " CIPHER "\nmac %64[0-9a-f]\n", mac) == 1 &&
           hex_read(mac, m->mac, sizeof m->mac) && has_text_of(text, m);
}

tansu_status manifest_read(const fs *calls, const char *folder, manifest *m, tansu_error *error) {
    memset(m, 0, sizeof *m);
    char *path = fs_join(folder, MANIFEST_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_status status = fs_read_file(calls, path, MANIFEST_LIMIT, &text, error);
    if (status != TANSU_OK)
        goto end;
    const char *body = (const char *)text.data;
    const char *mark = strstr(body, "\ncrc ");
    unsigned format = 0;
    char uuid[33], state[8], compacted[4], line[32];
    unsigned long long sequence;
    /* Before the numbered formats of the database there were development formats, without that word. */
    bool known = sscanf(body, "tansu database %u\n", &format) == 1;
    if (strlen(body) != text.size || (!known && sscanf(body, "tansu %u\n", &format) != 1)) {
        status = corrupt(path, error);
        goto end;
    }
    if (!known || format != MANIFEST_FORMAT) {
        status = error_set(error, TANSU_E_VERSION, path,
                           "The database has %sformat %u and this library reads format %u; dump it "
                           "with the version of the library that wrote it and load the dump",
                           known ? "" : "development ", format, MANIFEST_FORMAT);
        goto end;
    }
    if (mark == NULL) {
        status = corrupt(path, error);
        goto end;
    }
    snprintf(line, sizeof line, "\ncrc %08x\n", checksum(0, text.data, (size_t)(mark + 1 - body)));
    if (strcmp(mark, line) != 0 ||
        sscanf(body,
               "tansu database %*u\nuuid %32s\nindex %7s\nboot %63[^\n]\nend %llu\ncompacted "
               "%3s\n",
               uuid, state, m->boot, &sequence, compacted) != 5 ||
        !hex_read(uuid, m->uuid, sizeof m->uuid)) {
        status = corrupt(path, error);
        goto end;
    }
    m->end_sequence = sequence;
    m->index_open = strcmp(state, "clean") != 0;
    m->index_damaged = strcmp(state, "damaged") == 0;
    m->compacted = strcmp(compacted, "yes") == 0;
    if (!parse_cipher(&text, m))
        status = corrupt(path, error);
end:
    tansu_buffer_free(&text);
    free(path);
    return status;
}

tansu_status manifest_seal(manifest *m, keyring *keys, tansu_error *error) {
    char text[TEXT_MOST];
    return !m->encrypted || keyring_mac(keys, text, format_body(m, text), m->mac)
               ? TANSU_OK
               : error_memory(error);
}

tansu_status manifest_authenticate(const manifest *m, const char *folder, keyring *keys,
                                   bool earlier, tansu_error *error) {
    char text[TEXT_MOST];
    tansu_status status = keyring_mac_check(keys, text, format_body(m, text), m->mac);
    if (status != TANSU_E_CORRUPT)
        return status == TANSU_OK ? TANSU_OK : error_memory(error);
    if (earlier)
        return error_set(
            error, TANSU_E_WRONG_KEY, folder,
            "The data key of the database was replaced, or its \"MANIFEST\" was changed "
            "by something that does not have it; close the database and open it again");
    return error_set(
        error, TANSU_E_CORRUPT, folder,
        "The file \"MANIFEST\" of the encrypted database was changed by something that "
        "does not have its key; restore a backup");
}

tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error) {
    char text[TEXT_MOST];
    size_t length = format(m, text);
    return fs_write_file(calls, folder, MANIFEST_NAME, text, length, error);
}

/* note_file -- remembers which file is there. When that can't be had, its text is compared. */
static void note_file(database *db) {
    if (fs_identify(db->files.calls, MANIFEST_NAME, &db->manifest.identity) != 0)
        memset(&db->manifest.identity, 0, sizeof db->manifest.identity);
}

void manifest_is_own(database *db) {
    pthread_mutex_lock(&db->manifest.mutex);
    db->manifest.tried = db->manifest.known;
    note_file(db);
    pthread_mutex_unlock(&db->manifest.mutex);
}

tansu_status manifest_replace(database *db, const manifest *m, tansu_error *error) {
    tansu_status status = folder_check(db, error);
    if (status != TANSU_OK)
        return status;
    manifest sealed = *m;
    status = manifest_seal(&sealed, db->keys, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&db->manifest.mutex);
    db->manifest.tried = sealed;
    status = manifest_write(db->files.calls, db->files.folder, &sealed, error);
    if (status == TANSU_OK)
        db->manifest.known = sealed;
    note_file(db);
    pthread_mutex_unlock(&db->manifest.mutex);
    return status;
}

/* look -- manifest_moved() with the mutex held. A file system may number its files anew; what is
 * written again is another file, whatever its text. */
static tansu_status look(database *db, bool *moved, tansu_error *error) {
    const fs_identity *known = &db->manifest.identity;
    fs_identity now;
    if (fs_identify(db->files.calls, MANIFEST_NAME, &now) != 0) {
        *moved = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        return TANSU_OK;
    }
    if (memcmp(&now, known, sizeof now) == 0)
        return TANSU_OK;
    *moved = known->inode != 0 &&
             (now.seconds != known->seconds || now.nanoseconds != known->nanoseconds);
    if (*moved)
        return TANSU_OK;
    tansu_buffer text = TANSU_BUFFER_INIT;
    char *path = fs_join(db->files.folder, MANIFEST_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = fs_read_file(db->files.calls, path, MANIFEST_LIMIT, &text, error);
    *moved = status == TANSU_E_NOT_FOUND || status == TANSU_E_TOO_LARGE ||
             (status == TANSU_OK && !has_text_of(&text, &db->manifest.known) &&
              !has_text_of(&text, &db->manifest.tried)); /* its write may have failed at the end */
    tansu_buffer_free(&text);
    free(path);
    if (status == TANSU_OK && !*moved)
        db->manifest.identity = now;
    return *moved ? TANSU_OK : status;
}

tansu_status manifest_moved(database *db, bool *moved, tansu_error *error) {
    *moved = false;
    if (pthread_mutex_trylock(&db->manifest.mutex) != 0)
        return TANSU_OK;
    tansu_status status = look(db, moved, error);
    pthread_mutex_unlock(&db->manifest.mutex);
    return status;
}

tansu_status manifest_mark_compacted(database *db, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&db->checkpoints.mutex);
    manifest m = db->manifest.known;
    m.compacted = true;
    if (db->files.folder == NULL)
        db->manifest.known = m;
    else if (!db->manifest.known.compacted)
        status = manifest_replace(db, &m, error);
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return status;
}
