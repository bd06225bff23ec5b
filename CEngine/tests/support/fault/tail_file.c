/*
 * support/fault/tail_file.c -- the file TAIL, with valid checksums.
 */
#include "support/fault/tail_file.h"
#include "log/tail.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>

/* path_of -- the file's path, without disturbing a test that holds others of folder_join(). */
static const char *path_of(const char *log_folder) {
    static char path[400];
    REQUIRE(snprintf(path, sizeof path, "%s/%s", log_folder, TAIL_NAME) < (int)sizeof path);
    return path;
}

/* load -- the file as it is. */
static bool load(const char *log_folder, tail_file *file) {
    const char *path = path_of(log_folder);
    if (!file_exists(path))
        return false;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    bool whole = bytes.size >= sizeof *file;
    if (whole)
        memcpy(file, bytes.data, sizeof *file);
    tansu_buffer_free(&bytes);
    return whole && memcmp(file->magic, TAIL_MAGIC, sizeof file->magic) == 0 &&
           file->crc == tail_crc(file);
}

/* number_of -- what a mark says; 0 when it does not check out. */
static uint64_t number_of(const tail_file *file, size_t field, uint64_t mark) {
    return tail_mark(file->crc, field, mark >> 16) == mark ? mark >> 16 : 0;
}

bool tail_file_read(const char *log_folder, uint64_t *written, uint64_t *synced, uint64_t *state) {
    tail_file file;
    if (!load(log_folder, &file))
        return false;
    *written = number_of(&file, offsetof(tail_file, written), file.written);
    *synced = number_of(&file, offsetof(tail_file, synced), file.synced);
    *state = number_of(&file, offsetof(tail_file, state), file.state);
    return true;
}

/* change -- writes the file with another name of a page cache and another mark of syncs. */
static void change(const char *log_folder, const char *cache, bool keep_synced) {
    tail_file file;
    uint64_t written, synced, state;
    if (!load(log_folder, &file) || !tail_file_read(log_folder, &written, &synced, &state))
        return;
    memset(file.cache, 0, sizeof file.cache);
    REQUIRE(snprintf(file.cache, sizeof file.cache, "%s", cache) < (int)sizeof file.cache);
    file.crc = tail_crc(&file);
    file.written = tail_mark(file.crc, offsetof(tail_file, written), written);
    file.synced = tail_mark(file.crc, offsetof(tail_file, synced), keep_synced ? synced : 0);
    file.state = tail_mark(file.crc, offsetof(tail_file, state), state);
    file_patch(path_of(log_folder), 0, &file, sizeof file);
}

void tail_file_set_cache(const char *log_folder, const char *cache) {
    change(log_folder, cache, true);
}

void tail_file_lose_power(const char *log_folder, bool synced) {
    change(log_folder, "another start of the machine", synced);
}

void tail_file_set_state(const char *log_folder, uint64_t state) {
    tail_file file;
    REQUIRE(load(log_folder, &file));
    file.state = tail_mark(file.crc, offsetof(tail_file, state), state);
    file_patch(path_of(log_folder), 0, &file, sizeof file);
}

void tail_file_set_written(const char *log_folder, uint64_t written) {
    tail_file file;
    REQUIRE(load(log_folder, &file));
    file.written = tail_mark(file.crc, offsetof(tail_file, written), written);
    file_patch(path_of(log_folder), 0, &file, sizeof file);
}

uint64_t tail_file_resets(const char *log_folder) {
    tail_file file;
    REQUIRE(load(log_folder, &file));
    return file.resets;
}

void tail_file_add_reset(const char *log_folder) {
    tail_file file;
    REQUIRE(load(log_folder, &file));
    file.resets++;
    file_patch(path_of(log_folder), offsetof(tail_file, resets), &file.resets, sizeof file.resets);
}
