/*
 * test_record_headers.c -- the headers of records: what is written of each kind, who sees an insert
 * that has no sequence number, and what becomes of each byte that is damaged.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/record_inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT "log/00000001.seg"

/* ---- The fields ---- */

static void a_header_has_what_was_put_into_it(void) {
    random_source source = random_start(31);
    for (int i = 0; i < 2000; i++) {
        uint8_t bytes[48];
        memset(bytes, 0xA5, sizeof bytes);
        bool insert = random_chance(&source, 50);
        uint64_t commit = random_next(&source) >> (1 + random_below(&source, 60));
        uint64_t previous = insert ? 0 : random_next(&source) << 3;
        uint32_t collection = (uint32_t)random_below(&source, RECORD_MAX_COLLECTION + 1);
        uint64_t rid = random_next(&source) >> 24;
        record_header start = {.size = 48,
                               .type = RECORD_PUT,
                               .flags = insert ? RECORD_INSERT : RECORD_REPLACES,
                               .where = record_where(collection, rid)};
        record_header_put(bytes, &start, commit, previous);
        const record_header *record = (const record_header *)bytes;
        CHECK_INT(insert ? RECORD_INSERT_HEADER_SIZE : RECORD_HEADER_SIZE, record_front(record));
        CHECK(bytes[record_front(record)] == 0xA5);
        CHECK(record_collection(record) == collection && record_rid(record) == rid);
        CHECK(record_visible_from(record) == (insert ? 0 : commit));
        CHECK(record_previous(record) == previous);
        CHECK(record_is_of(record, commit) && !record_is_of(record, commit + 1));
        CHECK(record_is_of(record, commit + 65536) == insert);
        uint64_t below = random_below(&source, 65536);
        if (below <= commit)
            CHECK(record_commit(record, commit - below) == commit);
        CHECK(record_same_commit(record, record));
    }
}

/* ---- Snapshots ---- */

static void a_snapshot_sees_no_later_insert(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    tansu_txn *snapshots[20];
    for (int i = 0; i < 20; i++) {
        char text[64];
        snapshots[i] = call_begin(db, TANSU_TXN_READ);
        CHECK_INT(i, call_count(db, snapshots[i], "c", "{}"));
        snprintf(text, sizeof text, "{'_id': %d, 'n': 1}", i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, text), &call_error);
        /* The earlier ones are replaced, and the first is removed in the end. */
        snprintf(text, sizeof text, "{'_id': %d, 'n': 2}", i / 2);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 0}", NULL), &call_error);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 20; i++) {
            char text[64], expected[64];
            CHECK_INT(i, call_count(db, snapshots[i], "c", "{}"));
            CHECK_INT(i, call_count(db, snapshots[i], "c", "{'n': {'$gt': 0}}"));
            CHECK_INT((i + 1) / 2, call_count(db, snapshots[i], "c", "{'n': 2}"));
            snprintf(text, sizeof text, "{'_id': %d}", i);
            CHECK_TEXT("NOT_FOUND", call_get(db, snapshots[i], "c", text));
            if (i == 0)
                continue;
            snprintf(text, sizeof text, "{'_id': %d}", i - 1);
            snprintf(expected, sizeof expected, "{ \"_id\" : %d, \"n\" : %d }", i - 1,
                     i == 1 ? 2 : 1);
            CHECK_TEXT(expected, call_get(db, snapshots[i], "c", text));
        }
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    for (int i = 0; i < 20; i++)
        tansu_txn_abort(snapshots[i]);
    CHECK_INT(19, call_count(db, NULL, "c", "{}"));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Damage ---- */

static void each_damaged_byte_of_an_insert_is_noticed(void) {
    char *folder = folder_new(), *other = folder_new();
    char *bare = strdup(folder_join(other, "bare"));
    REQUIRE(bare != NULL);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'text': 'some text'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2, 'text': 'some text'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'text': 'some text'}"), &call_error);
    inventory l;
    inventory_take(&l, db);
    REQUIRE(l.count == 3);
    call_close(db);
    folder_copy(folder, bare);
    folder_remove(folder_join(bare, "index"));
    uint64_t record = l.documents[1].offset;
    for (uint64_t byte = 0; byte < RECORD_INSERT_HEADER_SIZE; byte++)
        for (unsigned bit = 0; bit < 8; bit++) {
            file_flip(folder_join(folder, SEGMENT), record + byte, bit);
            db = call_open(folder);
            const char *found = call_get(db, NULL, "c", "{'_id': 2}");
            CHECK(strcmp(found, "CORRUPT") == 0 ||
                  strcmp(found, "{ \"_id\" : 2, \"text\" : \"some text\" }") == 0);
            CHECK_TEXT("{ \"_id\" : 3, \"text\" : \"some text\" }",
                       call_get(db, NULL, "c", "{'_id': 3}"));
            CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
            call_close(db);
            file_flip(folder_join(folder, SEGMENT), record + byte, bit);
            if (bit != byte % 8)
                continue;
            file_flip(folder_join(bare, SEGMENT), record + byte, bit);
            CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(bare));
            file_flip(folder_join(bare, SEGMENT), record + byte, bit);
        }
    inventory_free(&l);
    free(bare);
    folder_end(folder);
    folder_end(other);
}

int main(void) {
    RUN(a_header_has_what_was_put_into_it);
    RUN(a_snapshot_sees_no_later_insert);
    RUN(each_damaged_byte_of_an_insert_is_noticed);
    return check_finish();
}
