/*
 * test_encryption_keys.c -- what cannot be a key, and a folder that has nothing but a key.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEAST_ITERATIONS 256000u

static const uint8_t key[33] = "thirty-two bytes of a random key";

/* Where a test works, and the database in it. */
static char *folder;
static char home[512];

static void begin(void) {
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
}

static void end(void) {
    folder_end(folder);
}

static tansu_options with_key(const void *bytes, size_t size, tansu_key_kind kind) {
    tansu_options options = call_options(home);
    options.key = bytes;
    options.key_size = size;
    options.key_kind = kind;
    return options;
}

static tansu_options with_passphrase(const char *text) {
    return with_key(text, strlen(text), TANSU_KEY_PASSPHRASE);
}

/* try_options -- the status of opening, closed again at once. */
static tansu_status try_options(const tansu_options *options) {
    tansu_db *db = NULL;
    tansu_status status = tansu_open(options, &db, &call_error);
    tansu_close(db);
    return status;
}

static void invalid_keys(void) {
    begin();
    tansu_options good = with_key(key, 32, TANSU_KEY_BYTES), bad;
    bad = good, bad.key_size = 31;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = good, bad.key_size = 33;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = good, bad.key = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = good, bad.key_kind = (tansu_key_kind)2;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = with_passphrase("");
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = with_passphrase("x"), bad.key_size = 1024 * 1024 + 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = with_passphrase("x"), bad.key_iterations = LEAST_ITERATIONS - 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad.key_iterations = 10000001;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    bad = good, bad.key = NULL, bad.key_size = 0, bad.key_iterations = LEAST_ITERATIONS;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    /* HMAC fills keys up with zeros: these two would be the same one. */
    bad = with_key("x", 2, TANSU_KEY_PASSPHRASE);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_options(&bad));
    CHECK(strstr(call_error.message, "NUL") != NULL);
    CHECK(!file_exists(home));
    end();
}

/* Options as text have less room than a passphrase may. */
static void a_passphrase_that_is_too_long_for_json(void) {
    static char json[1100000];
    int at = snprintf(json, sizeof json, "{\"passphrase\": \"");
    memset(json + at, 'x', 1024 * 1024);
    strcpy(json + at + 1024 * 1024, "\"}");
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_open_json(json, &db, &call_error));
    CHECK(db == NULL && strstr(call_error.message, "The options") != NULL);
}

/* left_alone -- a folder that has only the file KEY of a database, or its index and an
 * empty log as well, does not open, and stays as it is. */
static void left_alone(bool folders) {
    tansu_buffer before = TANSU_BUFFER_INIT, after = TANSU_BUFFER_INIT;
    char kept[600];
    snprintf(kept, sizeof kept, "%s/kept", folder);
    const tansu_options options = with_key(key, 32, TANSU_KEY_BYTES);
    CHECK_OK(try_options(&options), &call_error);
    REQUIRE(rename(home, kept) == 0 && mkdir(home, 0755) == 0);
    REQUIRE(rename(folder_join(kept, "KEY"), folder_join(home, "KEY")) == 0);
    if (folders)
        REQUIRE(rename(folder_join(kept, "index"), folder_join(home, "index")) == 0 &&
                mkdir(folder_join(home, "log"), 0755) == 0);
    file_read(folder_join(home, "KEY"), &before);
    CHECK_STATUS(TANSU_E_CORRUPT, try_options(&options));
    CHECK(strstr(call_error.message, "no file \"MANIFEST\"") != NULL);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(home));
    file_read(folder_join(home, "KEY"), &after);
    CHECK_BYTES(before.data, before.size, after.data, after.size);
    CHECK(!file_exists(folder_join(home, "LOCK")) &&
          file_exists(folder_join(home, "log")) == folders);
    tansu_buffer_free(&before);
    tansu_buffer_free(&after);
    folder_remove(kept);
    folder_remove(home);
}

static void a_key_without_a_database_is_no_new_one(void) {
    begin();
    left_alone(false);
    left_alone(true);
    end();
}

int main(void) {
    if (!library_crypto())
        return check_finish();
    RUN(invalid_keys);
    RUN(a_passphrase_that_is_too_long_for_json);
    RUN(a_key_without_a_database_is_no_new_one);
    return check_finish();
}
