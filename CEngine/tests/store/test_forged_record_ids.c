/*
 * test_forged_record_ids.c -- the numbers of documents in a log: those that were passed over,
 * because insertions were rolled back or compaction left their documents out, are fine; those that
 * somebody has put far beyond, with valid checksums, are damage, and no call takes long or much
 * memory over them.
 */
#include "log/format.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "util/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define DOCUMENTS 1000
#define LEFT 100 /* of them, in a store that is compacted */

/* make_store -- some documents with an index; `compacted`: most were removed and are not in the
 * log any more. */
static void make_store(const char *path, bool compacted) {
    tansu_db *db = call_open(path);
    char text[64];
    for (int i = 0; i < DOCUMENTS; i++) {
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d}", i, i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, text), &call_error);
    }
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    if (compacted) {
        snprintf(text, sizeof text, "{'n': {'$lt': %d}}", DOCUMENTS - LEFT);
        CHECK_OK(call_remove(db, NULL, "c", text, NULL), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    call_close(db);
}

/* forge -- gives the last document of a segment another number. */
static void forge(const char *path, uint64_t rid) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    uint32_t seed = (uint32_t)crc32_z(0, ((segment_header *)(void *)bytes.data)->uuid, 16);
    uint64_t frame = 0, record = 0;
    for (uint64_t at = SEGMENT_HEADER_SIZE;
         at + FRAME_HEADER_SIZE < bytes.size && load_u32(bytes.data + at) == FRAME_MAGIC;
         at += load_u32(bytes.data + at + 8)) {
        uint64_t end = at + load_u32(bytes.data + at + 8);
        for (uint64_t r = at + FRAME_HEADER_SIZE; r < end; r += load_u32(bytes.data + r)) {
            if (bytes.data[r + 4] == RECORD_PUT) {
                frame = at;
                record = r;
            }
        }
    }
    REQUIRE(frame != 0);
    record_header *header = (record_header *)(void *)(bytes.data + record);
    header->where = record_where(record_collection(header), rid);
    uint32_t size = load_u32(bytes.data + frame + 8);
    store_u32(bytes.data + frame + 4, (uint32_t)crc32_z(seed, bytes.data + frame + 8, size - 8));
    file_write(path, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

/* segment_with_documents -- of a store. */
static const char *segment_with_documents(const char *path, bool compacted) {
    return folder_join(path, compacted ? "log/00000003.seg" : "log/00000001.seg");
}

static void numbers_beyond_those_given_out_are_damage(void) {
    static const uint64_t numbers[] = {((uint64_t)1 << 31),     ((uint64_t)1 << 34),
                                       ((uint64_t)1 << 35) - 1, ((uint64_t)1 << 35),
                                       ((uint64_t)1 << 40) - 2, ((uint64_t)1 << 40) - 1};
    char *folder = folder_new();
    const char *store = path_in(folder, "store"), *bad = path_in(folder, "bad");
    const char *to = path_in(folder, "to");
    for (int compacted = 0; compacted < 2; compacted++) {
        int documents = compacted ? LEFT : DOCUMENTS;
        make_store(store, compacted);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            folder_copy(store, bad);
            forge(segment_with_documents(bad, compacted), numbers[i]);
            CHECK(refused(bad, to));
            CHECK_OK(maintenance_repair(bad, to), &call_error);
            CHECK_INT(documents, maintenance_number("documents"));
            folder_remove(to);
            /* With index files the log is not read at opening; the document is where they do not
             * say. */
            tansu_options options = call_options(bad);
            tansu_db *db = call_open_with(&options);
            CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
            tansu_status status = tansu_compact(db, NULL, NULL, NULL, &call_error);
            CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
            CHECK_OK(backup(db, to, TANSU_BACKUP_FILE), &call_error);
            call_close(db);
            remove_at(to);
            folder_remove(path_in(bad, "index"));
            for (options.read_only = 0; options.read_only < 2; options.read_only++) {
                db = NULL;
                status = tansu_open(&options, &db, &call_error);
                if (!CHECK_STATUS(TANSU_E_CORRUPT, status))
                    check_note("    number %llx", (unsigned long long)numbers[i]);
                CHECK(call_error.offset > 0);
                CHECK(strstr(call_error.context, ".seg") != NULL);
                tansu_shutdown(db, NULL);
            }
            folder_remove(bad);
        }
        folder_remove(store);
    }
    folder_end(folder);
}

/* Numbers that may have been given out: the same store, with the document where it was forged to
 * be. */
static void numbers_that_may_be_right_are_taken(void) {
    static const uint64_t numbers[] = {DOCUMENTS, DOCUMENTS + 1, 5000000, (uint64_t)1 << 28};
    char *folder = folder_new();
    const char *path = path_in(folder, "db"), *to = path_in(folder, "to");
    for (int compacted = 0; compacted < 2; compacted++) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            make_store(path, compacted);
            forge(segment_with_documents(path, compacted), numbers[i]);
            folder_remove(path_in(path, "index"));
            CHECK_OK(restore(path, to), &call_error);
            tansu_db *db = call_open(path);
            CHECK(maintenance_clean(db));
            CHECK_INT(compacted ? LEFT : DOCUMENTS, call_count(db, NULL, "c", "{}"));
            CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 'new'}"), &call_error);
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
            call_close(db);
            db = call_open(path);
            CHECK(maintenance_clean(db));
            call_close(db);
            folder_remove(to);
            folder_remove(path);
        }
    }
    folder_end(folder);
}

/* insert -- this many documents from a number on. */
static void insert(tansu_db *db, tansu_txn *txn, int from, int count) {
    char text[64];
    for (int i = from; i < from + count; i++) {
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d}", i, i);
        CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, text), &call_error);
    }
}

/* Insertions that a savepoint took back leave no record, and their numbers are passed over: a
 * backup of such a database is as good as any. */
static void numbers_of_insertions_that_were_rolled_back(void) {
    char *folder = folder_new();
    const char *path = path_in(folder, "db"), *to = path_in(folder, "to");
    tansu_db *db = call_open(path);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 'first'}"), &call_error);
    for (int round = 0; round < 3; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
        insert(db, txn, 0, 3000);
        CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
        insert(db, txn, 10000 + round, 1);
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        for (int f = 0; f < 2; f++) {
            const char *from = path_in(folder, "backup");
            CHECK_OK(backup(db, from, backup_forms[f]), &call_error);
            CHECK_OK(restore(from, to), &call_error);
            for (int opened = 0; opened < (f == 0 ? 2 : 1) && check_failures() == 0; opened++) {
                tansu_db *copy = call_open(opened ? from : to);
                CHECK_INT(2 + round, call_count(copy, NULL, "c", "{}"));
                CHECK(maintenance_clean(copy));
                call_close(copy);
            }
            remove_at(from);
            folder_remove(to);
        }
    }
    call_close(db);
    folder_remove(path_in(path, "index"));
    db = call_open(path);
    CHECK_INT(4, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(numbers_beyond_those_given_out_are_damage);
    RUN(numbers_that_may_be_right_are_taken);
    RUN(numbers_of_insertions_that_were_rolled_back);
    return check_finish();
}
