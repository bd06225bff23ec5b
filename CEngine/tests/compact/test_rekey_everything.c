/*
 * test_rekey_everything.c -- a new data key: all that was encrypted with the old one is encrypted
 * anew, and a change that was interrupted loses nothing.
 */
#include "api/handles.h"
#include "log/compressed/sealed_block.h"
#include "query/query_hooks.h"
#include "store/open/open.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/libraries.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 3000
#define SMALL 60

static const uint8_t key[33] = "thirty-two bytes of a random key";
static const uint8_t other_key[33] = "thirty-two bytes of another one!";

/* options_with -- of a database with small segments. */
static tansu_options options_with(const char *folder, const uint8_t bytes[32]) {
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    options.key = bytes;
    options.key_size = 32;
    options.key_kind = TANSU_KEY_BYTES;
    return options;
}

/* save_some -- documents of half a KiB, each in its own commit or all in one. */
static void save_some(tansu_db *db, int from, int to, int round) {
    for (int i = from; i < to; i++) {
        char text[600];
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'round': %d, 'text': '%0500d'}", i,
                 i % 50, round, i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
}

/* make -- a database with several segments, some of them compacted, and an index. */
static void make(const char *folder, int documents) {
    tansu_options options = options_with(folder, key);
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    save_some(db, 0, documents, 0);
    save_some(db, 0, documents / 2, 1);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    save_some(db, documents, documents + 20, 0);
    tansu_close(db);
}

/* holds_all -- whether that key opens the database and every document is there. */
static bool holds_all(const char *folder, const uint8_t bytes[32], int documents) {
    tansu_options options = options_with(folder, bytes);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status == TANSU_E_WRONG_KEY)
        return false;
    if (!CHECK_OK(status, &call_error))
        return false;
    CHECK_INT(documents + 20, call_count(db, NULL, "c", "{}"));
    CHECK_INT(documents / 2, call_count(db, NULL, "c", "{'round': 1}"));
    CHECK_INT(call_count(db, NULL, "c", "{'n': {'$gte': 25}, 'round': {'$gte': 0}}"),
              call_count(db, NULL, "c", "{'n': {'$gte': 25}}"));
    CHECK_INT(TANSU_OK, maintenance_verify(db));
    tansu_close(db);
    return true;
}

/* old_blocks -- how many sealed blocks of another generation than that the segments have. */
static int old_blocks(const char *folder, uint32_t generation) {
    char path[600];
    int old = 0, all = 0;
    snprintf(path, sizeof path, "%s/log", folder);
    DIR *log = opendir(path);
    for (const struct dirent *e; log != NULL && (e = readdir(log)) != NULL;) {
        if (strstr(e->d_name, ".seg") == NULL)
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        snprintf(path, sizeof path, "%s/log/%s", folder, e->d_name);
        file_read(path, &bytes);
        sealed_header header;
        for (uint64_t at = SEALED_BLOCKS; sealed_header_at(bytes.data, bytes.size, at, &header);
             at += sealed_size(header.stored), all++)
            old += header.generation != generation;
        tansu_buffer_free(&bytes);
    }
    closedir(log);
    CHECK(all > 0);
    return old;
}

/* key_lines -- how many data keys the file KEY has. */
static int key_lines(const char *folder) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, "KEY"), &text);
    int lines = 0;
    for (const char *at = (const char *)text.data; (at = strstr(at, "\nkey ")) != NULL; at++)
        lines++;
    tansu_buffer_free(&text);
    return lines;
}

static tansu_status rekey(tansu_db *db, const uint8_t bytes[32]) {
    const tansu_key fresh = {bytes, 32, TANSU_KEY_BYTES, 0};
    return tansu_rekey_everything(db, &fresh, NULL, NULL, &call_error);
}

static void everything_is_encrypted_anew(void) {
    char *folder = folder_new();
    make(folder, DOCUMENTS);
    tansu_options options = options_with(folder, key);
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    for (uint32_t generation = 2; generation <= 3; generation++) {
        CHECK_OK(rekey(db, other_key), &call_error);
        CHECK_INT(1, key_lines(folder));
        CHECK_INT(0, old_blocks(folder, generation));
    }
    tansu_close(db);
    CHECK_INT(0, old_blocks(folder, 3));
    CHECK(!holds_all(folder, key, DOCUMENTS));
    CHECK(holds_all(folder, other_key, DOCUMENTS));
    folder_end(folder);
}

static void readers_are_told_to_open_again(void) {
    char *folder = folder_new();
    make(folder, SMALL);
    tansu_options options = options_with(folder, key), reading = options;
    tansu_db *db = NULL, *reader = NULL;
    reading.allow_writer = 1;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    REQUIRE(CHECK_OK(tansu_open(&reading, &reader, &call_error), &call_error));
    save_some(db, SMALL + 20, SMALL + 30, 0);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_INT(SMALL + 30, call_count(reader, NULL, "c", "{}"));
    CHECK_OK(rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
    save_some(db, SMALL + 30, SMALL + 40, 0);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_INT(SMALL + 40, call_count(reader, NULL, "c", "{}"));
    CHECK_OK(rekey(db, key), &call_error);
    save_some(db, SMALL + 40, SMALL + 50, 0);
    CHECK_STATUS(TANSU_E_WRONG_KEY, tansu_refresh(reader, NULL, NULL, &call_error));
    CHECK_INT(SMALL + 40, call_count(reader, NULL, "c", "{}"));
    tansu_close(reader);
    REQUIRE(CHECK_OK(tansu_open(&reading, &reader, &call_error), &call_error));
    CHECK_INT(SMALL + 50, call_count(reader, NULL, "c", "{}"));
    tansu_close(reader);
    tansu_close(db);
    folder_end(folder);
}

/* with_fault -- the change with a failing call: a process that is killed then leaves a database that
 * one of the keys opens, and the next change completes it. */
static unsigned with_fault(const char *made, fault_kind kind, unsigned nth, bool lasting) {
    char *folder = folder_new(), copy[600];
    folder_remove(folder);
    folder_copy(made, folder);
    snprintf(copy, sizeof copy, "%s.copy", folder);
    tansu_options options = options_with(folder, key);
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, &fault_fs, &engine_query_hooks, &db, &call_error),
                     &call_error));
    fault_start(kind, nth, lasting, EIO);
    tansu_status status = rekey(db, other_key);
    unsigned calls = fault_stop();
    CHECK(status != TANSU_OK || key_lines(folder) == 1);
    folder_copy(folder, copy);
    bool old = holds_all(copy, key, SMALL), new = holds_all(copy, other_key, SMALL);
    CHECK(old != new);
    CHECK(status != TANSU_OK || new);
    folder_remove(copy);
    tansu_close(db);
    options = options_with(folder, new ? other_key : key);
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    CHECK_OK(rekey(db, key), &call_error);
    CHECK_INT(1, key_lines(folder));
    tansu_close(db);
    CHECK(holds_all(folder, key, SMALL));
    folder_end(folder);
    return calls;
}

static void a_change_that_fails_is_completed_by_the_next(void) {
    char *made = folder_new();
    make(made, SMALL);
    for (int kind = FAULT_FILES; kind <= FAULT_MEMORY; kind++) {
        if (kind == FAULT_MEMORY && !fault_has_memory())
            continue;
        unsigned calls = with_fault(made, kind, 0, false), step = calls / 100 + 1;
        CHECK(calls > 10);
        for (unsigned n = 1; n <= calls; n += step)
            with_fault(made, kind, n, n % 2 == 0);
    }
    folder_end(made);
}

static int refuse(void *context, uint64_t done, uint64_t total) {
    (void)context, (void)done, (void)total;
    return 0;
}

/* More often than the file KEY has places, and more often in one session. */
static void interrupted_changes_do_not_add_up(void) {
    char *folder = folder_new();
    make(folder, SMALL);
    const tansu_key fresh = {other_key, 32, TANSU_KEY_BYTES, 0};
    tansu_options options = options_with(folder, key);
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    for (int i = 0; i < 7; i++) {
        tansu_status status = tansu_rekey_everything(db, &fresh, refuse, NULL, &call_error);
        CHECK_STATUS(TANSU_E_CANCELLED, status);
        if (i % 2 == 0) {
            tansu_close(db);
            options = options_with(folder, other_key);
            REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
        }
        CHECK(key_lines(folder) <= 4);
    }
    for (int i = 0; i < 7; i++) {
        CHECK_OK(tansu_rekey_everything(db, &fresh, NULL, NULL, &call_error), &call_error);
        CHECK_INT(1, key_lines(folder));
    }
    tansu_close(db);
    CHECK(holds_all(folder, other_key, SMALL));
    folder_end(folder);
}

/* A snapshot of before keeps the data key that its segments are encrypted with. */
static void snapshots_of_before_can_be_read(void) {
    char *folder = folder_new();
    make(folder, DOCUMENTS);
    tansu_options options = options_with(folder, key);
    tansu_db *db = NULL;
    options.block_cache_bytes = 1;
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &call_error), &call_error));
    tansu_txn *before = call_begin(db, TANSU_TXN_READ);
    CHECK_OK(rekey(db, other_key), &call_error);
    CHECK_OK(rekey(db, other_key), &call_error);
    CHECK_INT(DOCUMENTS / 2, call_count(db, before, "c", "{'round': 1}"));
    CHECK_OK(rekey(db, other_key), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, rekey(db, other_key));
    CHECK_INT(DOCUMENTS / 2, call_count(db, before, "c", "{'round': 1}"));
    /* Nothing but the snapshot needs the old data keys: a new key opens the newest one only. */
    CHECK_INT(1, key_lines(folder));
    CHECK_OK(rekey_with(db, key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
    CHECK_INT(1, key_lines(folder));
    CHECK_INT(DOCUMENTS / 2, call_count(db, before, "c", "{'round': 1}"));
    tansu_txn_abort(before);
    save_some(db, DOCUMENTS, DOCUMENTS + 20, 0);
    CHECK_OK(rekey(db, key), &call_error);
    tansu_close(db);
    CHECK(holds_all(folder, key, DOCUMENTS));
    folder_end(folder);
}

/* A transaction that outgrows its segment twice leaves one without a commit, which no compaction has a
 * reason to rewrite. */
static void segments_without_a_commit_need_no_old_key(void) {
    char *folder = folder_new();
    tansu_options options = options_with(folder, key);
    tansu_db *db = call_open_with(&options);
    save_some(db, 0, SMALL, 0);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 2 * DOCUMENTS; i++) {
        char text[600];
        snprintf(text, sizeof text, "{'_id': %d, 'text': '%0500d'}", i, i);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(rekey(db, i == 0 ? other_key : key), &call_error);
        maintenance_clean(db);
    }
    call_close(db);
    db = call_open_with(&options);
    maintenance_clean(db);
    CHECK_INT(2 * DOCUMENTS, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    if (!library_crypto())
        return check_finish();
    RUN(everything_is_encrypted_anew);
    RUN(readers_are_told_to_open_again);
    RUN(interrupted_changes_do_not_add_up);
    RUN(snapshots_of_before_can_be_read);
    RUN(a_change_that_fails_is_completed_by_the_next);
    RUN(segments_without_a_commit_need_no_old_key);
    return check_finish();
}
