/*
 * test_forged_blocks.c -- stored index blocks, locations and META that somebody has written over,
 * with valid checksums: every call returns, with any status, and what is rebuilt from the log is
 * right.
 */
#include "index/block_store/block_store.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/forged_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_STORE_FILE "index/blocks.tch"
#define DOCUMENTS 1200

/* sample -- a closed database whose trees have several levels. */
static char *sample(void) {
    char *folder = folder_new();
    tansu_options options = forged_options(folder);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "a", "{'a.b': -1, 'n': 1}", "{'unique': true}"),
             &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "{'_id': %d, 'n': %d, 'a': [{'b': 'text that is not the same %d %d'}]}", i, i % 40,
                 i * 7919 % DOCUMENTS, i);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 7}", NULL), &call_error);
    call_close(db);
    return folder;
}

/* change -- other bytes, some of them, fewer or more. */
static void change(tansu_buffer *record, random_source *random) {
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    uint64_t count = 1 + random_below(random, 4);
    for (uint64_t i = 0; i < count && record->size > 0; i++) {
        uint64_t at = random_chance(random, 30)
                          ? random_below(random, record->size < 16 ? record->size : 16)
                          : random_below(random, record->size);
        uint8_t *byte = (uint8_t *)record->data + at;
        switch (random_below(random, 3)) {
        case 0: *byte = bytes[random_below(random, sizeof bytes)]; break;
        case 1: *byte ^= (uint8_t)(1u << random_below(random, 8)); break;
        default: *byte = (uint8_t)random_next(random);
        }
    }
    if (random_chance(random, 10))
        record->size = random_below(random, record->size + 1);
}

/* forge -- one record of the block store; which kind. */
static enum block_store_kind forge(const char *folder, random_source *random) {
    static const enum block_store_kind kinds[] = {BLOCK_STORE_BLOCK, BLOCK_STORE_BLOCK,
                                                  BLOCK_STORE_BLOCK, BLOCK_STORE_LOCATIONS,
                                                  BLOCK_STORE_META,  BLOCK_STORE_CATALOG};
    enum block_store_kind kind = kinds[random_below(random, sizeof kinds / sizeof kinds[0])];
    block_store *bs;
    block_numbers numbers = {0};
    tansu_buffer record = TANSU_BUFFER_INIT;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, BLOCK_STORE_FILE), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_numbers(bs, kind, &numbers, &call_error), &call_error);
    REQUIRE(numbers.count > 0);
    uint64_t number = numbers.list[random_below(random, numbers.count)];
    CHECK_OK(block_store_get(bs, kind, number, &record, &call_error), &call_error);
    change(&record, random);
    CHECK_OK(block_store_begin(bs, &call_error), &call_error);
    CHECK_OK(block_store_put(bs, kind, number, record.data, record.size, &call_error), &call_error);
    CHECK_OK(block_store_commit(bs, &call_error), &call_error);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    free(numbers.list);
    tansu_buffer_free(&record);
    return kind;
}

/* contradicts -- whether the log has what was written because of a forged record: META and the
 * records of collections say which collections and documents there are; a tree that does not show a
 * document lets another one with its `_id` in. */
static bool contradicts(tansu_db *db, enum block_store_kind kind) {
    if (maintenance_verify(db) == TANSU_OK)
        return false;
    return kind == BLOCK_STORE_META || kind == BLOCK_STORE_CATALOG ||
           strstr(maintenance_text(), "has a value that another document has as well") != NULL;
}

/* check_log -- the log opens without the index files, and the indexes can be made from it; or
 * repair makes a database of it. */
static void check_log(const char *path, const char *to, enum block_store_kind kind) {
    folder_remove(folder_join(path, "index"));
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    bool forged = kind == BLOCK_STORE_META || kind == BLOCK_STORE_CATALOG;
    if (status == TANSU_OK ? contradicts(db, kind) : forged) {
        call_close(db);
        CHECK_OK(maintenance_repair(path, to), &call_error);
        db = call_open(to);
    } else {
        CHECK_OK(status, &call_error);
    }
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_remove(to);
}

static void stored_blocks_may_hold_anything(void) {
    char *folder = sample(), *copy = folder_new(), *to = folder_new();
    folder_remove(copy);
    folder_remove(to);
    random_source random = random_start(1);
    for (uint64_t rounds = random_rounds("TANSU_ROUNDS", 150); rounds > 0; rounds--) {
        folder_copy(folder, copy);
        enum block_store_kind kind = forge(copy, &random);
        forged_use(copy);
        check_log(copy, to, kind);
        folder_remove(copy);
    }
    free(copy);
    free(to);
    folder_end(folder);
}

int main(void) {
    RUN(stored_blocks_may_hold_anything);
    return check_finish();
}
