/*
 * support/fault/crashed_database.c -- makes them in a child process that exits.
 */
#include "support/fault/crashed_database.h"

#include "store/manifest.h"
#include "store/open/open.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_SEGMENTS 64

/* work -- what the other process does. */
static int work(const char *folder, bool synced, int documents) {
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    char pad[2048];
    options.checkpoint_bytes = (uint64_t)1 << 40;
    if (tansu_open(&options, &db, NULL) != TANSU_OK)
        return 1;
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (int i = 0; i < documents; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "pad", BCON_UTF8(pad));
        tansu_status status = call_save_bson(db, NULL, "c", TANSU_INSERT, doc);
        bson_destroy(doc);
        if (status == TANSU_OK && synced && (i % 100 == 99 || i + 1 == documents))
            status = tansu_sync(db, NULL);
        if (status != TANSU_OK)
            return 1;
    }
    return 0;
}

char *crashed_database(bool synced, int documents) {
    char *folder = folder_new();
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(work(folder, synced, documents));
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return folder;
}

/* by_name -- ascending. */
static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* segments -- the names of the segments, in order; how many. */
static unsigned segments(const char *folder, char names[MOST_SEGMENTS][32]) {
    unsigned count = 0;
    DIR *log = opendir(folder_join(folder, "log"));
    struct dirent *entry;
    REQUIRE(log != NULL);
    while ((entry = readdir(log)) != NULL)
        if (strlen(entry->d_name) == 12 && strcmp(entry->d_name + 8, ".seg") == 0) {
            REQUIRE(count < MOST_SEGMENTS);
            snprintf(names[count++], 32, "log/%.12s", entry->d_name);
        }
    closedir(log);
    qsort(names, count, 32, by_name);
    return count;
}

const char *crashed_segment(const char *folder, unsigned before) {
    char names[MOST_SEGMENTS][32];
    unsigned count = segments(folder, names);
    REQUIRE(before < count);
    return path_in(folder, names[count - 1 - before]);
}

uint64_t crashed_data_end(const char *path) {
    tansu_buffer b = TANSU_BUFFER_INIT;
    file_read(path, &b);
    uint64_t end = b.size;
    while (end > 0 && b.data[end - 1] == 0)
        end--;
    tansu_buffer_free(&b);
    return (end + 7) / 8 * 8;
}

/* seal_manifest -- makes the code of an encrypted database's MANIFEST anew. */
static void seal_manifest(const char *folder) {
    tansu_options options = call_options(folder);
    const user_key key = options_key(&options);
    keyring *keys = NULL;
    manifest m;
    if (manifest_read(&fs_system, folder, &m, NULL) != TANSU_OK || !m.encrypted)
        return;
    CHECK_OK(key_file_read(&fs_system, folder, m.uuid, &key, &keys, &call_error), &call_error);
    CHECK_OK(manifest_seal(&m, keys, NULL), NULL);
    CHECK_OK(manifest_write(&fs_system, folder, &m, NULL), NULL);
    keyring_free(keys);
}

void crashed_set_manifest(const char *folder, const char *line, const char *value) {
    const char *path = folder_join(folder, "MANIFEST");
    char text[1024] = "", crc[32];
    size_t used = 0, length = strlen(line);
    tansu_buffer b = TANSU_BUFFER_INIT;
    file_read(path, &b);
    const char *at = (const char *)b.data, *end = at + b.size;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        REQUIRE(next != NULL);
        if (strncmp(at, line, length) == 0 && at[length] == ' ')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s\n", line, value);
        else if (strncmp(at, "crc ", 4) != 0)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%.*s\n", (int)(next - at), at);
        REQUIRE(used < sizeof text - sizeof crc);
        at = next + 1;
    }
    tansu_buffer_free(&b);
    used += (size_t)snprintf(text + used, sizeof text - used, "crc %08lx\n",
                             crc32(0, (const Bytef *)text, (uInt)used));
    file_write(path, text, used);
    seal_manifest(folder);
}

void crashed_before_restart(const char *folder) {
    crashed_set_manifest(folder, "boot", "01234567-0000-4000-8000-0123456789ab");
    tail_file_lose_power(folder_join(folder, "log"), false);
}

uint64_t crashed_checksum(const char *folder) {
    char names[MOST_SEGMENTS][32];
    unsigned count = segments(folder, names);
    uint64_t sum = count;
    for (unsigned i = 0; i <= count; i++) {
        const char *name = i < count ? names[i] : "MANIFEST";
        tansu_buffer b = TANSU_BUFFER_INIT;
        file_read(folder_join(folder, name), &b);
        uLong crc = crc32(crc32(0, (const Bytef *)name, (uInt)strlen(name)), b.data, (uInt)b.size);
        sum = sum * 1000003u + b.size + ((uint64_t)crc << 20);
        tansu_buffer_free(&b);
    }
    return sum;
}

bool crashed_recovers_prefix(const char *folder, int least, int most) {
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    char query[64];
    options.must_exist = 1;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return false;
    int64_t count = call_count(db, NULL, "c", "{}");
    bool right = CHECK(count >= least && count <= most);
    snprintf(query, sizeof query, "{'_id': {'$gte': 0, '$lt': %d}}", (int)count);
    right &= CHECK_INT(count, call_count(db, NULL, "c", query));
    right &= CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': -1}"), &call_error);
    right &= maintenance_clean(db);
    right &= CHECK_INT(count + 1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    return right;
}
