/*
 * test_repair_encrypted.c -- repairing encrypted databases: with which key, from which of the files,
 * and that each block that is intact is salvaged, whatever became of the rest of its segment.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 40

static const uint8_t key[33] = "thirty-two bytes of a random key";
static const uint8_t other_key[33] = "thirty-two bytes of another one!";

/* Where a test works, the database in it, and the repaired copy. */
static char *folder;
static char home[512], to[512];

static tansu_options with_bytes(const char *at, const uint8_t bytes[32]) {
    tansu_options options = call_options(at);
    options.key = bytes;
    options.key_size = 32;
    return options;
}

/* fill -- saves the documents, each in a commit of its own. */
static void fill(tansu_db *db) {
    char json[512];
    for (int i = 1; i <= DOCUMENTS; i++) {
        snprintf(json, sizeof json, "{'_id': %d, 'text': 'a secret that nobody may read %0200d'}",
                 i, i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, json), &call_error);
    }
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'text': 1}", "{}"), &call_error);
}

static void begin(void) {
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
    snprintf(to, sizeof to, "%s/to", folder);
    tansu_options options = with_bytes(home, key);
    tansu_db *db = call_open_with(&options);
    fill(db);
    call_close(db);
}

static void end(void) {
    folder_end(folder);
}

static tansu_buffer report;

static tansu_status repair_with(const void *bytes, size_t size, tansu_key_kind kind) {
    folder_remove(to);
    report.size = 0;
    const tansu_key given = {.bytes = bytes, .size = size, .kind = kind};
    return bytes == NULL
               ? tansu_repair(home, to, NULL, NULL, &report, &call_error)
               : tansu_repair_encrypted(home, to, &given, NULL, NULL, &report, &call_error);
}

static tansu_status repair(const uint8_t bytes[32]) {
    return repair_with(bytes, 32, TANSU_KEY_BYTES);
}

/* is_secret -- whether a file of the repaired copy holds no text of a document. */
static bool is_secret(const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    bool found = false;
    if (file_exists(folder_join(to, name)))
        file_read(folder_join(to, name), &bytes);
    for (size_t i = 0; i + 8 <= bytes.size && !found; i++)
        found = memcmp(bytes.data + i, "secret t", 8) == 0;
    tansu_buffer_free(&bytes);
    return !found;
}

/* counted -- how many documents the repaired copy has, which opens with the key; each is right, and
 * verify finds nothing. */
static int counted(void) {
    tansu_options options = with_bytes(to, key);
    tansu_db *db = call_open_with(&options);
    int count = 0;
    for (int i = 1; i <= DOCUMENTS; i++) {
        char id[32], expected[512];
        snprintf(id, sizeof id, "{'_id': %d}", i);
        snprintf(expected, sizeof expected,
                 "{ \"_id\" : %d, \"text\" : \"a secret that nobody may read %0200d\" }", i, i);
        const char *found = call_get(db, NULL, "c", id);
        count += strcmp(found, expected) == 0;
        if (strcmp(found, "NOT_FOUND") != 0)
            CHECK_TEXT(expected, found);
    }
    CHECK_INT(count, call_count(db, NULL, "c", "{}"));
    maintenance_clean(db);
    call_close(db);
    CHECK(is_secret("log/00000001.seg") && is_secret("index/blocks.tch"));
    return count;
}

/* check_all -- repairs, and nothing is lost. */
static void check_all(void) {
    CHECK_OK(repair(key), &call_error);
    CHECK_INT(DOCUMENTS, counted());
}

static const char *segment_path_of(int number) {
    static char path[2][600];
    snprintf(path[number % 2], sizeof path[0], "%s/log/%08d.seg", home, number);
    return path[number % 2];
}

/* ---- Keys ---- */

static void the_key_is_needed(void) {
    begin();
    CHECK_STATUS(TANSU_E_ENCRYPTED, tansu_repair(home, to, NULL, NULL, NULL, &call_error));
    CHECK_STATUS(TANSU_E_ENCRYPTED, repair_with(NULL, 0, TANSU_KEY_BYTES));
    CHECK_STATUS(TANSU_E_WRONG_KEY, repair(other_key));
    CHECK_STATUS(TANSU_E_WRONG_KEY, repair_with("text", 4, TANSU_KEY_PASSPHRASE));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, repair_with(key, 31, TANSU_KEY_BYTES));
    CHECK(!file_exists(to));
    check_all();
    CHECK(file_exists(folder_join(to, "KEY")));
    end();
}

static void passphrases_keep_their_work(void) {
    begin();
    folder_remove(home);
    tansu_options options = call_options(home);
    options.key = "correct horse";
    options.key_size = 13;
    options.key_kind = TANSU_KEY_PASSPHRASE;
    options.key_iterations = 256001;
    tansu_db *db = call_open_with(&options);
    fill(db);
    call_close(db);
    CHECK_OK(repair_with("correct horse", 13, TANSU_KEY_PASSPHRASE), &call_error);
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(to, "KEY"), &text);
    CHECK(strstr((char *)text.data, "\nkdf pbkdf2-hmac-sha512 256001\n") != NULL);
    tansu_buffer_free(&text);
    options.path = to;
    db = call_open_with(&options);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
    call_close(db);
    end();
}

static void plain_databases_take_no_key(void) {
    begin();
    folder_remove(home);
    tansu_db *db = call_open(home);
    fill(db);
    call_close(db);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, repair(key));
    CHECK(!file_exists(to));
    end();
}

static void the_manifest_is_not_needed(void) {
    begin();
    char manifest[600];
    snprintf(manifest, sizeof manifest, "%s/MANIFEST", home);
    for (uint64_t i = 0; i < file_size(manifest); i += 7) {
        file_flip(manifest, i, 1);
        check_all();
        file_flip(manifest, i, 1);
    }
    CHECK(remove(manifest) == 0);
    CHECK_STATUS(TANSU_E_ENCRYPTED, repair_with(NULL, 0, TANSU_KEY_BYTES));
    check_all();
    CHECK(remove(folder_join(home, "KEY")) == 0);
    CHECK_STATUS(TANSU_E_ENCRYPTED, repair_with(NULL, 0, TANSU_KEY_BYTES)); /* by the segments */
    CHECK_STATUS(TANSU_E_CORRUPT, repair(key));
    CHECK(strstr(call_error.message, "\"KEY\"") != NULL);
    CHECK(!file_exists(to));
    end();
}

static void the_keys_are_needed(void) {
    begin();
    char file[600], other[600];
    snprintf(file, sizeof file, "%s/KEY", home);
    snprintf(other, sizeof other, "%s/other", folder);
    file_flip(file, 60, 1);
    CHECK_STATUS(TANSU_E_CORRUPT, repair(key));
    tansu_options options = with_bytes(other, key);
    call_close(call_open_with(&options));
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(other, "KEY"), &text);
    file_write(file, text.data, text.size);
    CHECK_STATUS(TANSU_E_CORRUPT, repair(key));
    CHECK(strstr(call_error.message, "another database") != NULL);
    CHECK(!file_exists(to));
    tansu_buffer_free(&text);
    end();
}

/* ---- Damage ---- */

/* Each block is of one commit; some are of the catalog. */
static void what_is_intact_is_salvaged(void) {
    begin();
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment_path_of(1), &bytes);
    uint64_t at = SEALED_BLOCKS;
    int blocks = 0, lost = 0;
    sealed_header header;
    while (sealed_header_at(bytes.data, bytes.size, at, &header) && header.codec != SEALED_TABLE) {
        uint64_t size = sealed_size(header.stored);
        file_flip(segment_path_of(1), at + (blocks % 2 == 0 ? size / 2 : 12), 3);
        CHECK_OK(repair(key), &call_error);
        int count = counted();
        CHECK(count >= DOCUMENTS - 1);
        lost += DOCUMENTS - count;
        file_write(segment_path_of(1), bytes.data, bytes.size);
        at += size;
        blocks++;
    }
    CHECK_INT(DOCUMENTS, lost);
    CHECK(blocks > DOCUMENTS && header.codec == SEALED_TABLE);
    file_flip(segment_path_of(1), at + 70, 0); /* the table */
    check_all();
    file_cut(segment_path_of(1), at + 70);
    check_all();
    file_flip(segment_path_of(1), 20, 0);
    check_all();
    static const uint8_t zeros[SEGMENT_HEADER_SIZE];
    file_patch(segment_path_of(1), 0, zeros, sizeof zeros);
    check_all();
    tansu_buffer_free(&bytes);
    end();
}

static void shifted_and_copied_blocks(void) {
    begin();
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment_path_of(1), &bytes);
    /* All blocks elsewhere in the file. */
    static const uint8_t junk[4096] = "junk";
    file_patch(segment_path_of(1), SEALED_BLOCKS, junk, sizeof junk);
    file_patch(segment_path_of(1), SEALED_BLOCKS + sizeof junk, bytes.data + SEALED_BLOCKS,
               bytes.size - SEALED_BLOCKS);
    check_all();
    /* The first part over the beginning of the second one: what lies there is lost. */
    uint64_t half = bytes.size / 2 / 8 * 8;
    file_write(segment_path_of(1), bytes.data, bytes.size);
    file_patch(segment_path_of(1), half, bytes.data, 1024);
    CHECK_OK(repair(key), &call_error);
    int count = counted();
    CHECK(count >= DOCUMENTS - 6 && count < DOCUMENTS);
    /* A later part over the first: the blocks between are not lost. */
    file_write(segment_path_of(1), bytes.data, bytes.size);
    file_patch(segment_path_of(1), half, bytes.data + half + 2048, 1024);
    CHECK_OK(repair(key), &call_error);
    CHECK(counted() >= DOCUMENTS - 6);
    tansu_buffer_free(&bytes);
    end();
}

/* exchange -- the contents of two files. */
static void exchange(const char *a, const char *b) {
    tansu_buffer x = TANSU_BUFFER_INIT, y = TANSU_BUFFER_INIT;
    file_read(a, &x);
    file_read(b, &y);
    file_write(a, y.data, y.size);
    file_write(b, x.data, x.size);
    tansu_buffer_free(&x);
    tansu_buffer_free(&y);
}

static void segments_under_each_others_names(void) {
    begin();
    tansu_options options = with_bytes(home, key);
    options.segment_size = 1024 * 1024;
    tansu_db *db = call_open_with(&options);
    size_t size = 400 * 1000;
    char *json = malloc(size + 64);
    REQUIRE(json != NULL);
    for (int i = 0; i < 6; i++) {
        int length = snprintf(json, 64, "{'_id': %d, 'x': '", i);
        memset(json + length, 'x', size);
        snprintf(json + length + size, 8, "'}");
        CHECK_OK(call_save(db, NULL, "d", TANSU_INSERT, json), &call_error);
    }
    free(json);
    call_close(db);
    REQUIRE(file_exists(segment_path_of(3)));
    exchange(segment_path_of(1), segment_path_of(2));
    check_all();
    end();
}

/* What nobody with the key wrote is not taken for a part of the database. */
static void plain_segments_are_left_out(void) {
    begin();
    char plain[600];
    snprintf(plain, sizeof plain, "%s/plain", folder);
    tansu_db *db = call_open(plain);
    CHECK_OK(call_save(db, NULL, "evil", TANSU_INSERT, "{'_id': 1}"), &call_error);
    call_close(db);
    tansu_buffer manifest = TANSU_BUFFER_INIT, segment = TANSU_BUFFER_INIT;
    file_read(segment_path_of(1), &manifest);
    file_read(folder_join(plain, "log/00000001.seg"), &segment);
    memcpy(segment.data + 16, manifest.data + 16, 16); /* the uuid */
    file_write(segment_path_of(2), segment.data, segment.size);
    check_all();
    file_write(segment_path_of(1), segment.data, segment.size);
    CHECK_OK(repair(key), &call_error);
    CHECK_INT(0, counted());
    tansu_buffer_free(&manifest);
    tansu_buffer_free(&segment);
    end();
}

/* After a crash the last segment has no table. */
static void crashed_databases(void) {
    begin();
    char copy[600];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    folder_remove(home);
    tansu_options options = with_bytes(home, key);
    tansu_db *db = call_open_with(&options);
    fill(db);
    folder_copy(home, copy);
    call_close(db);
    folder_remove(home);
    CHECK(rename(copy, home) == 0);
    check_all();
    end();
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(the_key_is_needed);
    RUN(passphrases_keep_their_work);
    RUN(plain_databases_take_no_key);
    RUN(the_manifest_is_not_needed);
    RUN(the_keys_are_needed);
    RUN(what_is_intact_is_salvaged);
    RUN(shifted_and_copied_blocks);
    RUN(segments_under_each_others_names);
    RUN(plain_segments_are_left_out);
    RUN(crashed_databases);
    tansu_buffer_free(&report);
    return check_finish();
}
