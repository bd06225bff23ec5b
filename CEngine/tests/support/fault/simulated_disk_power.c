/*
 * support/fault/simulated_disk_power.c -- the states of the simulated disk after power loss.
 */
#include "store/manifest.h"
#include "support/check.h"
#include "support/fault/simulated_disk_internal.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512u

/* surviving_bytes -- one of the contents that a file may have. */
static void surviving_bytes(random_source *source, const disk_file *f, tansu_buffer *bytes) {
    uint64_t most = f->size > f->durable_size ? f->size : f->durable_size;
    unsigned kind = (unsigned)random_below(source, 6);
    uint64_t size = kind == 0                   ? f->durable_size
                    : kind == 1                 ? f->size
                    : random_chance(source, 50) ? f->size
                                                : f->durable_size;
    uint64_t sectors = (most + SECTOR - 1) / SECTOR;
    uint64_t border = random_below(source, sectors + 1);
    unsigned share = (unsigned)random_below(source, 101);
    uint8_t *data = realloc(bytes->data, sectors * SECTOR + 1);
    REQUIRE(data != NULL);
    *bytes = (tansu_buffer){data, size, sectors * SECTOR + 1};
    for (uint64_t i = 0; i < sectors; i++) {
        bool fresh = kind == 0   ? false
                     : kind == 1 ? true
                     : kind == 2 ? i < border
                     : kind == 3 ? i >= border
                                 : random_chance(source, share);
        uint64_t at = i * SECTOR;
        memset(data + at, 0, SECTOR);
        fresh = fresh && disk_is_dirty(f, at / PAGE);
        const uint8_t *from = fresh ? f->cache : f->durable;
        uint64_t end = fresh ? f->size : f->durable_size;
        if (at < end)
            memcpy(data + at, from + at, end - at < SECTOR ? end - at : SECTOR);
    }
}

/* surviving_names -- one of the lists of names that there may be. */
static void surviving_names(random_source *source, name_list *names) {
    *names = disk.durable;
    bool any = random_chance(source, 30);
    uint64_t first =
        random_chance(source, 30) ? disk.change_count : random_below(source, disk.change_count + 1);
    for (unsigned i = 0; i < disk.change_count; i++)
        if (any ? random_chance(source, 50) : i < first)
            disk_apply(names, &disk.changes[i]);
}

/* seal_manifest -- makes the code of an encrypted database's MANIFEST anew. */
static void seal_manifest(const char *folder, manifest *m) {
    keyring *keys = NULL;
#ifdef TANSU_TEST_ENCRYPT
    static const uint8_t usual[CRYPT_KEY_SIZE];
    const user_key key = {.bytes = usual, .size = sizeof usual};
    (void)key_file_read(&fs_system, folder, m->uuid, &key, &keys, NULL);
#endif
    for (unsigned i = 0; keys == NULL && i < disk.key_count; i++)
        (void)key_file_read(&fs_system, folder, m->uuid, &disk.keys[i], &keys, NULL);
    if (CHECK(keys != NULL))
        CHECK_OK(manifest_seal(m, keys, NULL), NULL);
    keyring_free(keys);
}

/* other_cache -- makes MANIFEST and TAIL name another start of the machine, or of another mount,
 * if they are whole. *clean: the MANIFEST says that the block store is. */
static void other_cache(random_source *source, const char *folder, bool *clean) {
    manifest m;
    char name[64], path[300];
    fs_boot_id(name);
    if (random_chance(source, 50))
        snprintf(name, sizeof name, "before the power failed");
    else
        snprintf(name + strlen(name), sizeof name - strlen(name), " %016x", 77);
    snprintf(path, sizeof path, "%s/log", folder);
    if (file_exists(path))
        tail_file_set_cache(path, name);
    *clean = false;
    if (manifest_read(&fs_system, folder, &m, NULL) != TANSU_OK)
        return;
    *clean = !m.index_open;
    snprintf(m.boot, sizeof m.boot, "%s", name);
    if (m.encrypted)
        seal_manifest(folder, &m);
    CHECK_OK(manifest_write(&fs_system, folder, &m, NULL), NULL);
}

/* spoil_block_store -- what is left of the index file on a disk that loses more than it may:
 * garbage, a part or nothing. */
static void spoil_block_store(random_source *source, const char *path) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    unsigned kind = (unsigned)random_below(source, 3);
    for (size_t i = 0; kind == 0 && i < bytes.size; i++)
        bytes.data[i] = (uint8_t)random_next(source);
    if (kind == 1)
        bytes.size = (size_t)random_below(source, bytes.size + 1);
    unlink(path);
    if (kind != 2)
        file_write(path, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

/* write_out -- the state that was drawn, as real files. */
static void write_out(random_source *source, const name_list *names, const char *to) {
    char path[400];
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    size_t length = strlen(disk.root);
    REQUIRE(mkdir(to, 0755) == 0);
    for (int folders = 1; folders >= 0; folders--) {
        for (unsigned i = 0; i < names->count; i++) {
            const disk_name *name = &names->names[i];
            if (name->path[length] == 0 || (name->file < 0) != (folders == 1))
                continue;
            snprintf(path, sizeof path, "%s%s", to, name->path + length);
            if (folders == 1) {
                REQUIRE(mkdir(path, 0755) == 0);
                continue;
            }
            /* A file in a folder that did not survive did not either. */
            surviving_bytes(source, &disk.files[name->file], &bytes);
            char *slash = strrchr(path, '/');
            *slash = 0;
            bool there = file_exists(path);
            *slash = '/';
            if (there)
                file_write(path, bytes.data, bytes.size);
        }
    }
    tansu_buffer_free(&bytes);
}

bool disk_lose_power(random_source *source, const char *to) {
    pthread_mutex_lock(&disk.mutex);
    static name_list names;
    surviving_names(source, &names);
    bool there = disk_find(&names, disk.root) != NULL;
    if (there) {
        bool clean;
        write_out(source, &names, to);
        other_cache(source, to, &clean);
        char path[256];
        snprintf(path, sizeof path, "%s/index/blocks.tch", to);
        if (!clean && random_chance(source, 5) && file_exists(path))
            spoil_block_store(source, path);
    }
    pthread_mutex_unlock(&disk.mutex);
    return there;
}
