/*
 * support/workload/damaged_database.c -- building the database and examining it.
 */
#include "support/workload/damaged_database.h"

#include "log/compressed/sealed_block.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t key[33] = "thirty-two bytes of a random key";

damaged_database damaged;

tansu_options damaged_options(const char *at) {
    tansu_options options = call_options(at);
    options.key = key;
    options.key_size = 32;
    options.segment_size = 1024 * 1024;
    return options;
}

/* ---- The database ---- */

void damaged_save(tansu_db *db, int id, int n, int size) {
    char *json = malloc((size_t)size + 128);
    REQUIRE(json != NULL);
    int length = snprintf(json, 128, "{'_id': %d, 'n': %d, 'pad': '", id, n);
    for (int i = 0; i < size; i++)
        json[length + i] = (char)('a' + (id * 7 + i / 50 + n) % 26);
    strcpy(json + length + size, "'}");
    CHECK_OK(call_save(db, NULL, id % 3 == 0 ? "packed" : "c", TANSU_SAVE, json), &call_error);
    damaged.numbers[id] = n;
    free(json);
}

int damaged_size(int id) {
    return id % 40 == 1 ? damaged.large : 900;
}

void damaged_write(tansu_db *db, int from, int to, int n) {
    for (int id = from; id < to; id++)
        damaged_save(db, id, n + id, damaged_size(id));
    for (int id = from; id < to; id += 11) {
        char text[32];
        int removed;
        snprintf(text, sizeof text, "{'_id': %d}", id);
        CHECK_OK(call_remove_id(db, NULL, id % 3 == 0 ? "packed" : "c", text, &removed),
                 &call_error);
        damaged.numbers[id] = 0;
    }
}

/* build -- makes it; `older` gets copies of the folder on the way. */
static void build(bool closed) {
    tansu_options options = damaged_options(damaged.whole);
    tansu_db *db = call_open_with(&options);
    memset(damaged.numbers, 0, sizeof damaged.numbers);
    CHECK_OK(call_ensure(db, NULL, "packed", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'n': 1}", "{}"), &call_error);
    CHECK_OK(call_index(db, NULL, "packed", NULL, "{'n': 1}", "{}"), &call_error);
    for (int round = 0; round < 4; round++)
        damaged_write(db, 0, damaged.documents, 1000 * (round + 1));
    call_close(db);
    folder_copy(damaged.whole, damaged.older[0]);
    db = call_open_with(&options);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    folder_copy(damaged.whole, damaged.older[1]);
    db = call_open_with(&options);
    for (int round = 4; round < 8; round++)
        damaged_write(db, 0, damaged.documents, 1000 * (round + 1));
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    damaged_write(db, damaged.documents * 5 / 12, damaged.documents * 7 / 12, 9000);
    folder_copy(damaged.whole, damaged.older[2]);
    damaged_write(db, damaged.documents / 2, damaged.documents * 2 / 3, 10000);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    if (closed) {
        call_close(db);
        folder_copy(damaged.whole, damaged.home);
    } else {
        folder_copy(damaged.whole, damaged.home);
        call_close(db);
        folder_remove(damaged.whole);
        folder_copy(damaged.home, damaged.whole);
    }
}

/* ---- What is read of it ---- */

/* expected_of -- a collection's numbers, in order. */
static const char *expected_of(const char *collection) {
    static char text[DAMAGED_DOCUMENTS * 24];
    size_t length = 0;
    text[0] = 0;
    /* Later rounds have larger numbers, and in each they rise with the ids. */
    for (int n = 0; n < 20000; n++)
        for (int id = 0; id < damaged.documents; id++)
            if (damaged.numbers[id] != 0 && damaged.numbers[id] == n &&
                (strcmp(collection, "packed") == 0) == (id % 3 == 0))
                length += (size_t)snprintf(text + length, sizeof text - length, "%s{ \"n\" : %d }",
                                           length == 0 ? "" : " ", n);
    return text;
}

static char expected[2][DAMAGED_DOCUMENTS * 24];

/* is_right -- whether a document that was read is the one that was saved. */
static bool is_right(int id, const char *found) {
    char begin[64];
    if (damaged.numbers[id] == 0)
        return strcmp(found, "NOT_FOUND") == 0;
    int length = snprintf(begin, sizeof begin, "{ \"_id\" : %d, \"n\" : %d, \"pad\" : \"", id,
                          damaged.numbers[id]);
    if (strncmp(found, begin, (size_t)length) != 0)
        return false;
    for (int i = 0; i < damaged_size(id); i++)
        if (found[length + i] != (char)('a' + (id * 7 + i / 50 + damaged.numbers[id]) % 26))
            return false;
    return strcmp(found + length + damaged_size(id), "\" }") == 0;
}

/* typed -- whether an error is one of those for changed files, and says where. */
static bool typed(const char *what, tansu_status status) {
    bool good = (status == TANSU_E_CORRUPT || status == TANSU_E_VERSION) &&
                call_error.message[0] != 0 && call_error.context[0] != 0;
    if (!CHECK(good))
        check_note("    %s: %s, %s", what, tansu_status_name(status), call_error.message);
    return good;
}

/* read_all -- whether reading notices something; what it does not notice is right. */
static bool read_all(tansu_db *db, const char *what) {
    damaged.lost = 0;
    for (int id = 0; id < damaged.documents; id++) {
        char text[32];
        snprintf(text, sizeof text, "{'_id': %d}", id);
        const char *found = call_get(db, NULL, id % 3 == 0 ? "packed" : "c", text);
        if (strcmp(found, "CORRUPT") == 0)
            damaged.lost++;
        else if (!CHECK(is_right(id, found)))
            check_note("    %s: document %d is %.80s", what, id, found);
    }
    bool noticed = damaged.lost > 0;
    for (int i = 0; i < 2; i++) {
        const char *found = call_find(db, NULL, i == 0 ? "c" : "packed", "{'n': {'$gt': 0}}",
                                      "{'$orderby': {'n': 1}, '$fields': {'n': 1, '_id': 0}}");
        if (strcmp(found, "CORRUPT") == 0)
            noticed = true;
        else if (!CHECK(strcmp(found, expected[i]) == 0))
            check_note("    %s: %.200s", what, found);
    }
    return noticed;
}

bool damaged_examine(const char *what, bool reading) {
    tansu_options options = damaged_options(damaged.home);
    options.must_exist = 1;
    options.read_only = reading;
    damaged.lost = damaged.documents;
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status != TANSU_OK)
        return typed(what, status);
    bool noticed = read_all(db, what);
    status = maintenance_verify(db);
    if (status != TANSU_OK) {
        typed(what, status);
        CHECK(maintenance_number("problemCount") > 0);
        CHECK(maintenance_contains("\"file\""));
        CHECK(!maintenance_contains("compressed segment"));
    } else if (!CHECK(!noticed)) {
        check_note("    %s: verify did not notice it", what);
    }
    tansu_close(db);
    return noticed || status != TANSU_OK;
}

/* ---- Its files ---- */

static void list_folder(const char *prefix) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", damaged.home, prefix);
    DIR *all = opendir(path);
    REQUIRE(all != NULL);
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        char name[64];
        snprintf(name, sizeof name, "%.24s%.36s", prefix, entry->d_name);
        uint64_t size = entry->d_type == DT_REG ? file_size(folder_join(damaged.home, name)) : 0;
        if (size == 0)
            continue;
        REQUIRE(damaged.file_count < DAMAGED_FILES_MOST);
        snprintf(damaged.files[damaged.file_count].name, sizeof damaged.files[0].name, "%s", name);
        damaged.files[damaged.file_count++].size = size;
    }
    closedir(all);
}

/* by_name -- for sorting them. */
static int by_name(const void *a, const void *b) {
    return strcmp(((const damaged_file *)a)->name, ((const damaged_file *)b)->name);
}

static void list_files(void) {
    damaged.file_count = 0;
    list_folder("");
    list_folder("log/");
    list_folder("index/");
    qsort(damaged.files, (size_t)damaged.file_count, sizeof *damaged.files, by_name);
    for (int i = 0; i < 2; i++)
        snprintf(expected[i], sizeof expected[i], "%s", expected_of(i == 0 ? "c" : "packed"));
}

bool damaged_is_segment(const char *name) {
    return strstr(name, ".seg") != NULL;
}

void damaged_restore(void) {
    folder_remove(damaged.home);
    folder_copy(damaged.whole, damaged.home);
}

void damaged_restore_file(const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(damaged.whole, name), &bytes);
    file_write(folder_join(damaged.home, name), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

void damaged_begin(bool closed, int documents, int large) {
    damaged.documents = documents;
    damaged.large = large;
    damaged.folder = folder_new();
    snprintf(damaged.whole, sizeof damaged.whole, "%s/whole", damaged.folder);
    snprintf(damaged.home, sizeof damaged.home, "%s/db", damaged.folder);
    for (int i = 0; i < 3; i++)
        snprintf(damaged.older[i], sizeof damaged.older[i], "%s/older%d", damaged.folder, i);
    build(closed);
    list_files();
    CHECK(!damaged_examine("the whole database", true));
    CHECK(!damaged_examine("the whole database", false));
    damaged_restore();
}

void damaged_end(void) {
    folder_end(damaged.folder);
}

uint64_t damaged_blocks_end(const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    sealed_trailer trailer = {0};
    file_read(folder_join(damaged.whole, name), &bytes);
    if (bytes.size > sizeof trailer)
        memcpy(&trailer, bytes.data + bytes.size - sizeof trailer, sizeof trailer);
    bool closed = memcmp(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic) == 0;
    tansu_buffer_free(&bytes);
    return closed ? trailer.table : 0;
}
