/*
 * test_forged_meta.c -- a META whose numbers contradict its collections.
 */
#include "index/block_store/block_store.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/apart.h"
#include "support/workload/forged_document.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_STORE_FILE "index/blocks.tch"

static void save_in_a_new_collection(const char *folder) {
    tansu_options options = call_options(folder);
    tansu_db *db;
    if (tansu_open(&options, &db, &call_error) != TANSU_OK)
        return;
    call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 2}");
    call_save(db, NULL, "new", TANSU_SAVE, "{'_id': 1}");
    call_save(db, NULL, "new", TANSU_SAVE, "{'_id': 2}");
    maintenance_verify(db);
    tansu_shutdown(db, NULL);
}

/* sample -- a closed database whose locations take several chunks. */
static char *sample(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 3000; i++) {
        char text[40];
        snprintf(text, sizeof text, "{'_id': %d}", i);
        CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, text), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    call_close(db);
    return folder;
}

/* forge -- another number in META (`collection`: in the first collection). */
static void forge(const char *folder, bool collection, const char *key, uint64_t number) {
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT;
    enum block_store_kind kind = collection ? BLOCK_STORE_CATALOG : BLOCK_STORE_META;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, BLOCK_STORE_FILE), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_get(bs, kind, 0, &meta, &call_error), &call_error);
    doc_value doc = {meta.data, (uint32_t)meta.size, DOC_DOCUMENT};
    if (collection)
        doc = forged_first(meta.data, meta.size, "collections");
    forged_set(&doc, key, number);
    CHECK_OK(block_store_begin(bs, &call_error), &call_error);
    CHECK_OK(block_store_put(bs, kind, 0, meta.data, meta.size, &call_error), &call_error);
    CHECK_OK(block_store_commit(bs, &call_error), &call_error);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    tansu_buffer_free(&meta);
}

/* The number that a new collection gets is that of the one which is there: its documents go to the
 * location table of the other one, which has no memory for them. */
static void the_next_collection_may_be_one_that_is_there(void) {
    char *folder = sample();
    forge(folder, false, "nextCollection", 1);
    CHECK(apart(save_in_a_new_collection, folder));
    folder_end(folder);
}

/* insert -- some documents, or none where META is refused. */
static void insert(const char *folder) {
    tansu_options options = call_options(folder);
    tansu_db *db;
    if (tansu_open(&options, &db, &call_error) != TANSU_OK)
        return;
    call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 'a'}");
    call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 'b'}");
    tansu_shutdown(db, NULL);
}

/* The record ids that new documents get are those of others. The log was intact: what it has must
 * still be there when the index files are made from it again. */
static void the_next_record_id_may_be_one_that_is_there(void) {
    char *folder = sample();
    forge(folder, true, "nextDocno", 5);
    insert(folder);
    folder_remove(folder_join(folder, "index"));
    tansu_options options = call_options(folder);
    tansu_db *db;
    if (CHECK_OK(tansu_open(&options, &db, &call_error), &call_error)) {
        CHECK_TEXT("{ \"_id\" : 5 }", call_get(db, NULL, "c", "{'_id': 5}"));
        CHECK_TEXT("{ \"_id\" : 6 }", call_get(db, NULL, "c", "{'_id': 6}"));
        CHECK(maintenance_clean(db));
        call_close(db);
    }
    folder_end(folder);
}

/* verify -- all of the database. */
static void verify(const char *folder) {
    tansu_options options = call_options(folder);
    tansu_db *db;
    if (tansu_open(&options, &db, &call_error) != TANSU_OK)
        return;
    maintenance_verify(db);
    tansu_shutdown(db, NULL);
}

/* renumber -- the log's only segment gets a greater number, from which follows how many record ids
 * there may be. */
static void renumber(const char *folder, uint64_t number) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, "log/00000001.seg"), &bytes);
    segment_header header;
    memcpy(&header, bytes.data, sizeof header);
    header.number = number;
    header.crc = 0;
    header.crc = checksum(0, &header, sizeof header);
    memcpy(bytes.data, &header, sizeof header);
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", (unsigned)number);
    file_write(folder_join(folder, name), bytes.data, bytes.size);
    REQUIRE(unlink(folder_join(folder, "log/00000001.seg")) == 0);
    folder_remove(folder_join(folder, "index"));
    tansu_buffer_free(&bytes);
    call_close(call_open(folder));
}

/* Nothing is stored of all these record ids: each of 2^25 chunks of locations is asked for. */
static void there_may_be_as_many_record_ids_as_a_collection_can_have(void) {
    char *folder = sample();
    renumber(folder, 512);
    forge(folder, true, "nextDocno", ((uint64_t)1 << 35) - 1);
    CHECK(apart(verify, folder));
    folder_end(folder);
}

int main(void) {
    RUN(the_next_collection_may_be_one_that_is_there);
    RUN(the_next_record_id_may_be_one_that_is_there);
    RUN(there_may_be_as_many_record_ids_as_a_collection_can_have);
    return check_finish();
}
