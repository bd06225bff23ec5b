/*
 * store/manifest.c -- reading and replacing the MANIFEST.
 */
#include "store/manifest.h"

#include "store/database_internal.h"
#include "store/folder_check.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#define MANIFEST_NAME "MANIFEST"
#define MANIFEST_LIMIT 4096u
#define MANIFEST_ADDED \
    (MANIFEST_FORMAT_WILDCARD + MANIFEST_FORMAT_REFERENCES + MANIFEST_FORMAT_TIMESTAMPS)
#define MANIFEST_NEWEST (MANIFEST_FORMAT_COMPRESSED + MANIFEST_ADDED)

tansu_status manifest_new(manifest *m, tansu_error *error) {
    memset(m, 0, sizeof *m);
    if (getentropy(m->uuid, sizeof m->uuid) != 0)
        return error_errno(error, MANIFEST_NAME, "create a uuid for", errno);
    return TANSU_OK;
}

/* corrupt -- the error for a MANIFEST that is invalid. */
static tansu_status corrupt(const char *path, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, path, 0,
                    "The file \"MANIFEST\" is corrupt; restore a backup or salvage what is "
                    "readable with \"tansu repair\"");
}

/* parse_uuid -- 32 hex digits. */
static bool parse_uuid(const char *text, uint8_t uuid[16]) {
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        int length = 0;
        if (sscanf(text + 2 * i, "%2x%n", &byte, &length) != 1 || length != 2)
            return false;
        uuid[i] = (uint8_t)byte;
    }
    return true;
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
    unsigned format;
    char uuid[33], state[8], line[32];
    unsigned long long sequence;
    if (mark == NULL || strlen(body) != text.size || sscanf(body, "tansu %u\n", &format) != 1) {
        status = corrupt(path, error);
        goto end;
    }
    unsigned base = format & ~MANIFEST_ADDED;
    if (base > MANIFEST_FORMAT_COMPRESSED || (base == 0 && format != 0)) {
        status = error_set(
            error, TANSU_E_VERSION, path,
            "The database has format %u and this library reads up to %u; use a newer library",
            format, MANIFEST_NEWEST);
        goto end;
    }
    snprintf(line, sizeof line, "\ncrc %08x\n", checksum(0, text.data, (size_t)(mark + 1 - body)));
    if (strcmp(mark, line) != 0 ||
        sscanf(body, "tansu %*u\nuuid %32s\nindex %7s\nboot %63[^\n]\nend %llu\n", uuid, state,
               m->boot, &sequence) != 4 ||
        !parse_uuid(uuid, m->uuid)) {
        status = corrupt(path, error);
        goto end;
    }
    m->end_sequence = sequence;
    m->index_open = strcmp(state, "clean") != 0;
    m->index_damaged = strcmp(state, "damaged") == 0;
    m->wildcard = (format & MANIFEST_FORMAT_WILDCARD) != 0;
    m->references = (format & MANIFEST_FORMAT_REFERENCES) != 0;
    m->timestamps = (format & MANIFEST_FORMAT_TIMESTAMPS) != 0;
    m->compacted = base >= MANIFEST_FORMAT_COMPACTED;
    m->compressed = base >= MANIFEST_FORMAT_COMPRESSED;
end:
    tansu_buffer_free(&text);
    free(path);
    return status;
}

/* format_of -- the lowest format that says all that the database may hold. */
static unsigned format_of(const manifest *m) {
    unsigned format = m->compressed  ? MANIFEST_FORMAT_COMPRESSED
                      : m->compacted ? MANIFEST_FORMAT_COMPACTED
                                     : MANIFEST_FORMAT;
    return format + (m->wildcard ? MANIFEST_FORMAT_WILDCARD : 0) +
           (m->references ? MANIFEST_FORMAT_REFERENCES : 0) +
           (m->timestamps ? MANIFEST_FORMAT_TIMESTAMPS : 0);
}

tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error) {
    char uuid[33], text[512];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", m->uuid[i]);
    int length = snprintf(text, sizeof text, "tansu %u\nuuid %s\nindex %s\nboot %s\nend %llu\n",
                          format_of(m), uuid,
                          m->index_damaged ? "damaged"
                          : m->index_open  ? "open"
                                           : "clean",
                          m->boot[0] == 0 ? "-" : m->boot, (unsigned long long)m->end_sequence);
    uint32_t crc = checksum(0, text, length);
    length += snprintf(text + length, sizeof text - (size_t)length, "crc %08x\n", crc);
    return fs_write_file(calls, folder, MANIFEST_NAME, text, (size_t)length, error);
}

/* mark -- replaces a database's MANIFEST by one with more marks of what it may hold. */
static tansu_status mark(database *db, const manifest *marks, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&db->checkpoint_mutex);
    manifest m = db->manifest;
    m.compacted = m.compacted || marks->compacted;
    m.compressed = m.compressed || marks->compressed;
    m.wildcard = m.wildcard || marks->wildcard;
    m.references = m.references || marks->references;
    m.timestamps = m.timestamps || marks->timestamps;
    if (m.compacted != db->manifest.compacted || m.compressed != db->manifest.compressed ||
        m.wildcard != db->manifest.wildcard || m.references != db->manifest.references ||
        m.timestamps != db->manifest.timestamps) {
        if (db->folder != NULL)
            status = folder_check(db, error);
        if (db->folder != NULL && status == TANSU_OK)
            status = manifest_write(db->calls, db->folder, &m, error);
        if (status == TANSU_OK)
            db->manifest = m;
    }
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

tansu_status manifest_mark_compacted(database *db, tansu_error *error) {
    return mark(db, &(manifest){.compacted = true}, error);
}

tansu_status manifest_mark_compressed(database *db, tansu_error *error) {
    return mark(db, &(manifest){.compacted = true, .compressed = true}, error);
}

tansu_status manifest_mark_references(database *db, tansu_error *error) {
    return mark(db, &(manifest){.references = true}, error);
}

tansu_status manifest_mark_timestamps(database *db, tansu_error *error) {
    return mark(db, &(manifest){.timestamps = true}, error);
}

tansu_status manifest_mark_wildcard(database *db, tansu_error *error) {
    return mark(db, &(manifest){.wildcard = true}, error);
}
