/*
 * test_convert.c -- tansu_encrypt() and tansu_decrypt(): the other form is there at once or not at
 * all, and nothing of the old one is left.
 */
#include "api/handles.h"
#include "backup/convert.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/libraries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCUMENTS 200

static const char secret[] = "thirty-two bytes of a random key";
static const tansu_key key = {.bytes = secret, .size = 32, .kind = TANSU_KEY_BYTES};
static const user_key inner_key = {.bytes = secret, .size = 32, .kind = TANSU_KEY_BYTES};
static const user_key no_key = {.bytes = NULL};

static tansu_options options_of(const char *path, bool encrypted) {
    tansu_options options = call_options(path);
    options.must_exist = 1;
    options.key = encrypted ? secret : NULL;
    options.key_size = encrypted ? 32 : 0;
    options.key_kind = TANSU_KEY_BYTES;
    return options;
}

/* make -- a plain database with an index and removals. */
static void make(const char *path) {
    tansu_db *db = call_open(path);
    CHECK_OK(call_index(db, NULL, "people", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'text': 'PLAINTEXT PLAINTEXT'}", i,
                 i % 7);
        CHECK_OK(call_save(db, NULL, "people", TANSU_SAVE, text), &call_error);
    }
    call_close(db);
}

/* holds -- whether it opens in that form, with every document. */
static bool holds(const char *path, bool encrypted) {
    tansu_options options = options_of(path, encrypted);
    tansu_db *db = NULL;
    if (tansu_open(&options, &db, &call_error) != TANSU_OK)
        return false;
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "people", "{}"));
    CHECK_INT((DOCUMENTS + 6) / 7, call_count(db, NULL, "people", "{'n': 0}"));
    CHECK_INT(TANSU_OK, maintenance_verify(db));
    tansu_close(db);
    return true;
}

/* mentions -- whether a file below a folder has that text. */
static bool mentions(const char *folder, const char *text) {
    char command[1200];
    snprintf(command, sizeof command, "grep -rqa '%s' %s", text, folder);
    return system(command) == 0;
}

/* Where a test works, and the database in it. */
static char *folder;
static char place[512], other[600];

static void begin(void) {
    folder = folder_new();
    snprintf(place, sizeof place, "%s/db", folder);
    snprintf(other, sizeof other, "%s.tansu-converted", place);
    make(place);
}

static void end(void) {
    folder_end(folder);
}

static void a_database_is_encrypted_and_decrypted(void) {
    begin();
    CHECK(mentions(folder, "PLAINTEXT"));
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    CHECK(!mentions(folder, "PLAINTEXT") && !file_exists(other));
    CHECK(holds(place, true) && !holds(place, false));
    CHECK_STATUS(TANSU_E_ENCRYPTED, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK_OK(tansu_decrypt(place, &key, NULL, NULL, &call_error), &call_error);
    CHECK(mentions(folder, "PLAINTEXT") && !file_exists(other));
    CHECK(holds(place, false) && !holds(place, true));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_decrypt(place, &key, NULL, NULL, &call_error));
    end();
}

static void what_cannot_be_converted_is_left_alone(void) {
    begin();
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_encrypt(other, &key, NULL, NULL, &call_error));
    CHECK_STATUS(TANSU_E_EXISTS, tansu_encrypt(folder, &key, NULL, NULL, &call_error));
    tansu_db *db = call_open(place);
    CHECK_STATUS(TANSU_E_LOCKED, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    call_close(db);
    tansu_key short_key = {.bytes = secret, .size = 31, .kind = TANSU_KEY_BYTES};
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_encrypt(place, &short_key, NULL, NULL, &call_error));
    char aside[600], file[700];
    snprintf(aside, sizeof aside, "%s/set-aside", place);
    snprintf(file, sizeof file, "%s/00000001.seg", aside);
    REQUIRE(mkdir(aside, 0755) == 0);
    file_write(file, "x", 1);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK(file_exists(file) && holds(place, false) && !file_exists(other));
    end();
}

static void a_path_through_a_link_leaves_nothing_where_it_leads(void) {
    begin();
    char link[600];
    snprintf(link, sizeof link, "%s/link", folder);
    REQUIRE(symlink(place, link) == 0);
    CHECK_OK(tansu_encrypt(link, &key, NULL, NULL, &call_error), &call_error);
    CHECK(!mentions(folder, "PLAINTEXT"));
    CHECK(holds(link, true) && holds(place, true));
    end();
}

/* Killed after the exchange: the old files are still there. */
static void the_next_call_removes_what_an_interrupted_one_left(void) {
    begin();
    char copy[600];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    folder_copy(place, copy);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    REQUIRE(rename(copy, other) == 0);
    CHECK(mentions(folder, "PLAINTEXT"));
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    CHECK(!mentions(folder, "PLAINTEXT") && holds(place, true));
    end();
}

static void a_file_that_was_put_beside_what_is_left_stays(void) {
    begin();
    char copy[600], file[700];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    folder_copy(place, copy);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    REQUIRE(rename(copy, other) == 0);
    snprintf(file, sizeof file, "%s/precious", other);
    file_write(file, "x", 1);
    CHECK(holds(place, true));
    CHECK_STATUS(TANSU_E_EXISTS, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK(file_exists(file));
    end();
}

static void opening_with_a_key_removes_the_plain_form_that_was_left(void) {
    begin();
    char copy[600];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    folder_copy(place, copy);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    REQUIRE(rename(copy, other) == 0);
    CHECK(mentions(folder, "PLAINTEXT"));
    CHECK(holds(place, true) && !mentions(folder, "PLAINTEXT") && !file_exists(other));
    end();
}

/* leave_part -- what a decryption leaves that is killed while it copies. */
static void leave_part(char part[700], const char *copy) {
    char file[800];
    snprintf(part, 700, "%s.tansu-part", other);
    folder_copy(copy, part);
    snprintf(file, sizeof file, "%s/MANIFEST", part);
    REQUIRE(unlink(file) == 0);
    CHECK(mentions(part, "PLAINTEXT"));
}

static void a_plain_copy_that_was_not_completed_is_removed(void) {
    begin();
    char copy[600], part[700], file[800];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    folder_copy(place, copy);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    leave_part(part, copy);
    CHECK(holds(place, true) && !file_exists(part));
    leave_part(part, copy);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    CHECK(holds(place, true) && !file_exists(part));
    leave_part(part, copy);
    snprintf(file, sizeof file, "%s/precious", part);
    file_write(file, "x", 1);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_decrypt(place, &key, NULL, NULL, &call_error));
    CHECK(holds(place, true) && file_exists(file));
    end();
}

static void what_is_somebody_elses_is_not_removed(void) {
    char file[700];
    begin();
    snprintf(file, sizeof file, "%s/precious", other);
    REQUIRE(mkdir(other, 0755) == 0);
    file_write(file, "x", 1);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK(file_exists(file) && holds(place, false));
    REQUIRE(unlink(file) == 0 && rmdir(other) == 0);
    tansu_db *db = call_open(other);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    call_close(db);
    CHECK(file_exists(other) && holds(place, false));
    end();
    begin();
    file_write(other, "x", 1);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK(file_exists(other) && holds(place, false));
    end();
}

/* put -- a file of that name in the database's folder, and its path. */
static void put(char path[700], const char *name) {
    const char *const folders[] = {"readers", "index"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, 700, "%s/%s", place, folders[i]);
        (void)mkdir(path, 0755);
    }
    snprintf(path, 700, "%s/%s", place, name);
    file_write(path, "x", 1);
}

/* The old folder is removed: nothing of it may be the user's. */
static void a_file_of_the_user_is_not_removed(void) {
    static const char *const names[] = {
        "notes.txt", "log/00000001.txt",     "log/1.seg", "index/mine", "readers/mine",
        "LOCK.old",  "index/blocks.tch.mine"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        begin();
        char file[700];
        put(file, names[i]);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_encrypt(place, &key, NULL, NULL, &call_error));
        if (!CHECK(strstr(call_error.message, names[i]) != NULL))
            check_note("    the message is: %s", call_error.message);
        CHECK(file_exists(file) && holds(place, false) && !file_exists(other));
        REQUIRE(unlink(file) == 0);
        CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
        put(file, names[i]);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_decrypt(place, &key, NULL, NULL, &call_error));
        CHECK(file_exists(file) && holds(place, true) && !file_exists(other));
        end();
    }
}

/* A reader keeps the old files, which are not gone before it is, and sees no new commits. */
static void a_database_that_others_read_is_not_converted(void) {
    begin();
    tansu_options options = options_of(place, false);
    tansu_db *reader = NULL;
    options.allow_writer = 1;
    CHECK_OK(tansu_open(&options, &reader, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_LOCKED, tansu_encrypt(place, &key, NULL, NULL, &call_error));
    CHECK(holds(place, false) && !file_exists(other));
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    tansu_close(reader);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    CHECK(!mentions(folder, "PLAINTEXT") && holds(place, true));
    end();
}

static void the_folder_keeps_its_permissions(void) {
    struct stat state;
    begin();
    REQUIRE(chmod(place, 0700) == 0);
    CHECK_OK(tansu_encrypt(place, &key, NULL, NULL, &call_error), &call_error);
    REQUIRE(stat(place, &state) == 0);
    CHECK_INT(0700, state.st_mode & 0777);
    CHECK_OK(tansu_decrypt(place, &key, NULL, NULL, &call_error), &call_error);
    REQUIRE(stat(place, &state) == 0);
    CHECK_INT(0700, state.st_mode & 0777);
    end();
}

/* with_fault -- a conversion with a failing call: the database has one form or the other. */
static unsigned with_fault(fault_kind kind, unsigned nth, bool lasting) {
    begin();
    task progress = {.progress = NULL};
    fault_start(kind, nth, lasting, EIO);
    tansu_status status = database_convert(place, &no_key, &inner_key, &fault_fs,
                                           &engine_query_hooks, &progress, &call_error);
    unsigned calls = fault_stop();
    bool plain = holds(place, false), encrypted = holds(place, true);
    CHECK(plain != encrypted);
    CHECK(status != TANSU_OK || encrypted);
    tansu_status again = tansu_encrypt(place, &key, NULL, NULL, &call_error);
    CHECK(again == TANSU_OK || (encrypted && again == TANSU_E_ENCRYPTED));
    CHECK(holds(place, true) && !file_exists(other) && !mentions(folder, "PLAINTEXT"));
    end();
    return calls;
}

static void one_form_or_the_other_whatever_fails(void) {
    for (int kind = FAULT_FILES; kind <= FAULT_MEMORY; kind++) {
        if (kind == FAULT_MEMORY && !fault_has_memory())
            continue;
        unsigned calls = with_fault(kind, 0, false), step = calls / 60 + 1;
        CHECK(calls > 10);
        for (unsigned n = 1; n <= calls; n += step)
            with_fault(kind, n, n % 2 == 0);
    }
}

int main(void) {
    if (!library_crypto())
        return check_finish();
    RUN(a_database_is_encrypted_and_decrypted);
    RUN(what_cannot_be_converted_is_left_alone);
    RUN(a_path_through_a_link_leaves_nothing_where_it_leads);
    RUN(the_next_call_removes_what_an_interrupted_one_left);
    RUN(a_file_that_was_put_beside_what_is_left_stays);
    RUN(opening_with_a_key_removes_the_plain_form_that_was_left);
    RUN(a_plain_copy_that_was_not_completed_is_removed);
    RUN(what_is_somebody_elses_is_not_removed);
    RUN(a_file_of_the_user_is_not_removed);
    RUN(a_database_that_others_read_is_not_converted);
    RUN(the_folder_keeps_its_permissions);
    RUN(one_form_or_the_other_whatever_fails);
    return check_finish();
}
