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
#define MANIFEST_FORMAT 1u

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
    unsigned format = 0;
    char uuid[33], state[8], compacted[4], line[32];
    unsigned long long sequence;
    /* Before format 1 of the database there were development formats, without that word. */
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
        !parse_uuid(uuid, m->uuid)) {
        status = corrupt(path, error);
        goto end;
    }
    m->end_sequence = sequence;
    m->index_open = strcmp(state, "clean") != 0;
    m->index_damaged = strcmp(state, "damaged") == 0;
    m->compacted = strcmp(compacted, "yes") == 0;
end:
    tansu_buffer_free(&text);
    free(path);
    return status;
}

tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error) {
    char uuid[33], text[512];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", m->uuid[i]);
    int length = snprintf(text, sizeof text,
                          "tansu database %u\nuuid %s\nindex %s\nboot %s\nend %llu\ncompacted %s\n",
                          MANIFEST_FORMAT, uuid,
                          m->index_damaged ? "damaged"
                          : m->index_open  ? "open"
                                           : "clean",
                          m->boot[0] == 0 ? "-" : m->boot, (unsigned long long)m->end_sequence,
                          m->compacted ? "yes" : "no");
    uint32_t crc = checksum(0, text, length);
    length += snprintf(text + length, sizeof text - (size_t)length, "crc %08x\n", crc);
    return fs_write_file(calls, folder, MANIFEST_NAME, text, (size_t)length, error);
}

tansu_status manifest_mark_compacted(database *db, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&db->checkpoint_mutex);
    manifest m = db->manifest;
    m.compacted = true;
    if (!db->manifest.compacted && db->folder != NULL) {
        status = folder_check(db, error);
        if (status == TANSU_OK)
            status = manifest_write(db->calls, db->folder, &m, error);
    }
    if (status == TANSU_OK)
        db->manifest = m;
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}
