/*
 * test_copies_of_corruption.c -- dump, clone and backup read everything in order to copy it, and
 * check it: what is corrupt is an error that names the place, never a document that is different.
 */
#include "bson/document.h"
#include "log/format.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 60
#define DAMAGE 64

static int take(void *context, const void *bytes, size_t size) {
    tansu_buffer *out = context;
    out->data = realloc(out->data, out->size + size + 1);
    REQUIRE(out->data != NULL);
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
    return 1;
}

static tansu_status dump(tansu_db *db, tansu_txn *txn, tansu_document options, tansu_buffer *out) {
    out->size = 0;
    return tansu_dump(db, txn, take, out, options, NULL, NULL, NULL, &call_error);
}

static void save(tansu_db *db, tansu_txn *txn, const char *collection, int from) {
    for (int i = 0; i < DOCUMENTS; i++) {
        char json[400];
        snprintf(json, sizeof json, "{'_id': %d, 'text': '%0200d', 'list': [1, {'a': %d}]}",
                 from + i, i * 7919, i);
        CHECK_OK(call_save(db, txn, collection, TANSU_SAVE, json), &call_error);
    }
}

/* make -- a closed database: commits of one document, one of many, and a compacted, compressed
 * part. */
static char *make(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_ensure(db, NULL, "packed", "{'compression': 'lz4'}"), &call_error);
    save(db, NULL, "packed", 0);
    save(db, NULL, "packed", 0);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    save(db, NULL, "single", 0);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    save(db, txn, "many", 0);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    save(db, NULL, "single", 30);
    call_close(db);
    return folder;
}

/* copied -- the dump of a copy of the database; its status. */
static tansu_status clone_dump(tansu_db *db, tansu_buffer *out) {
    tansu_options options = call_options(NULL);
    options.store = TANSU_STORE_MEMORY;
    tansu_db *copy = NULL;
    tansu_status status = tansu_clone(db, &options, NULL, NULL, &copy, &call_error);
    if (status == TANSU_OK)
        CHECK_OK(dump(copy, NULL, TANSU_NO_DOCUMENT, out), &call_error);
    call_close(copy);
    return status;
}

/* same_or_corrupt -- a call that copied everything, or said that it could not. */
static bool same_or_corrupt(tansu_status status, const tansu_buffer *is, const tansu_buffer *was) {
    if (status == TANSU_OK)
        return CHECK_BYTES(was->data, was->size, is->data, is->size);
    return CHECK(status == TANSU_E_CORRUPT && call_error.context[0] != 0 &&
                 strstr(call_error.message, "tansu repair") != NULL);
}

static void what_is_corrupt_is_not_copied(void) {
    char *folder = make(), *work = folder_new();
    tansu_buffer was = TANSU_BUFFER_INIT, is = TANSU_BUFFER_INIT, bytes = TANSU_BUFFER_INIT;
    random_source random = random_start(1);
    tansu_db *db = call_open(folder);
    REQUIRE(dump(db, NULL, TANSU_NO_DOCUMENT, &was) == TANSU_OK);
    call_close(db);
    unsigned refused = 0;
    for (int round = 0; round < 60; round++) {
        char copy[512], segment[600];
        snprintf(copy, sizeof copy, "%s/copy", work);
        folder_copy(folder, copy);
        unsigned number = 1 + (unsigned)random_below(&random, 4);
        snprintf(segment, sizeof segment, "%s/log/%08u.seg", copy, number);
        if (file_exists(segment) && file_size(segment) > DAMAGE) {
            file_read(segment, &bytes);
            uint64_t at = random_below(&random, bytes.size - DAMAGE);
            for (uint64_t i = 0; i < DAMAGE; i++)
                bytes.data[at + i] ^= 0xFF;
            file_write(segment, bytes.data, bytes.size);
            if (tansu_open_path(copy, &db, NULL) == TANSU_OK) {
                tansu_status status = dump(db, NULL, TANSU_NO_DOCUMENT, &is);
                refused += status != TANSU_OK;
                if (!same_or_corrupt(status, &is, &was))
                    check_note("dump, segment %u at %llu: %s", number, (unsigned long long)at,
                               call_error.message);
                same_or_corrupt(clone_dump(db, &is), &is, &was);
                tansu_close(db);
            }
        }
        folder_remove(copy);
    }
    CHECK(refused > 5);
    tansu_buffer_free(&was);
    tansu_buffer_free(&is);
    tansu_buffer_free(&bytes);
    folder_end(work);
    folder_end(folder);
}

/* find -- where a text is in a file; ends the program when it is not. */
static uint64_t find(const tansu_buffer *bytes, const char *text) {
    for (uint64_t i = 0; i + strlen(text) <= bytes->size; i++)
        if (memcmp(bytes->data + i, text, strlen(text)) == 0)
            return i;
    REQUIRE(false);
    return 0;
}

static void the_error_names_the_collection_and_the_rest_can_be_dumped(void) {
    char *folder = folder_new(), *work = folder_new();
    tansu_db *db = call_open(folder);
    save(db, NULL, "good", 0);
    CHECK_OK(call_save(db, NULL, "bad", TANSU_SAVE, "{'_id': 1, 'text': 'MARK', 'n': 5}"),
             &call_error);
    save(db, NULL, "good", 100);
    call_close(db);
    const char *segment = folder_join(folder, "log/00000001.seg");
    tansu_buffer bytes = TANSU_BUFFER_INIT, out = TANSU_BUFFER_INIT;
    file_read(segment, &bytes);
    file_patch(segment, find(&bytes, "MARK"), "mark", 4);
    db = call_open(folder);
    for (int way = 0; way < 3; way++) {
        tansu_txn *txn =
            way == 0 ? NULL : call_begin(db, way == 1 ? TANSU_TXN_READ : TANSU_TXN_WRITE);
        if (way == 2)
            CHECK_OK(call_save(db, txn, "good", TANSU_SAVE, "{'_id': 'own'}"), &call_error);
        CHECK_STATUS(TANSU_E_CORRUPT, dump(db, txn, TANSU_NO_DOCUMENT, &out));
        CHECK(strstr(call_error.message, "\"bad\"") != NULL && call_error.offset > 0);
        CHECK_TEXT("log/00000001.seg", call_error.context);
        bson_t *options = BCON_NEW("collections", "[", "good", "]");
        CHECK_OK(dump(db, txn, document_of(options), &out), &call_error);
        bson_destroy(options);
        options = BCON_NEW("collections", "[", "bad", "]", "query", "{", "n", BCON_INT32(5), "}");
        CHECK_STATUS(TANSU_E_CORRUPT, dump(db, txn, document_of(options), &out));
        bson_destroy(options);
        tansu_txn_abort(txn);
    }
    CHECK_STATUS(TANSU_E_CORRUPT, clone_dump(db, &out));
    CHECK_STATUS(TANSU_E_CORRUPT, backup(db, path_in(work, "b"), TANSU_BACKUP_FILE));
    CHECK(nothing_at(path_in(work, "b")));
    call_close(db);
    tansu_buffer_free(&bytes);
    tansu_buffer_free(&out);
    folder_end(work);
    folder_end(folder);
}

static void a_malformed_document_under_a_valid_checksum_is_not_copied(void) {
    char *folder = folder_new(), *work = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "bad", TANSU_SAVE, "{'_id': 1, 'text': 'MARK', 'n': 5, 'm': 6}"),
             &call_error);
    call_close(db);
    const char *segment = folder_join(folder, "log/00000001.seg");
    tansu_buffer bytes = TANSU_BUFFER_INIT, out = TANSU_BUFFER_INIT;
    file_read(segment, &bytes);
    uint64_t at = find(&bytes, "MARK");
    bytes.data[at + 5] = 0x6E; /* the type of "n", which there is none of */
    segment_header header;
    memcpy(&header, bytes.data, sizeof header);
    uint32_t seed = checksum(0, header.uuid, sizeof header.uuid);
    for (uint64_t frame = SEGMENT_HEADER_SIZE; frame < bytes.size;) {
        frame_header f;
        memcpy(&f, bytes.data + frame, sizeof f);
        uint32_t crc = checksum(seed, bytes.data + frame + 8, f.size - 8);
        memcpy(bytes.data + frame + 4, &crc, sizeof crc);
        frame += f.size;
    }
    file_write(segment, bytes.data, bytes.size);
    db = call_open(folder);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_verify(db, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_CORRUPT, dump(db, NULL, TANSU_NO_DOCUMENT, &out));
    CHECK(strstr(call_error.message, "\"bad\"") != NULL);
    CHECK(strstr(call_error.message, "tansu repair") != NULL);
    CHECK_STATUS(TANSU_E_CORRUPT, clone_dump(db, &out));
    CHECK_STATUS(TANSU_E_CORRUPT, backup(db, path_in(work, "b"), TANSU_BACKUP_FOLDER));
    CHECK(nothing_at(path_in(work, "b")));
    call_close(db);
    tansu_buffer_free(&bytes);
    tansu_buffer_free(&out);
    folder_end(work);
    folder_end(folder);
}

static void a_transaction_checks_what_it_reads(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    save(db, NULL, "good", 0);
    CHECK_OK(call_save(db, NULL, "bad", TANSU_SAVE, "{'_id': 1, 'text': 'MARK', 'n': 5}"),
             &call_error);
    save(db, NULL, "good", 100);
    call_close(db);
    const char *segment = folder_join(folder, "log/00000001.seg");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment, &bytes);
    file_patch(segment, find(&bytes, "MARK"), "mark", 4);
    db = call_open(folder);
    for (int round = 0; round < 6; round++) {
        tansu_txn *txn = call_begin(db, round % 2 == 0 ? TANSU_TXN_READ : TANSU_TXN_WRITE);
        CHECK(strstr(call_find(db, txn, "bad", "{}", NULL), "mark") != NULL);
        CHECK_OK(tansu_txn_check_documents(txn, &call_error), &call_error);
        CHECK_TEXT("CORRUPT", call_find(db, txn, "bad", "{}", NULL));
        CHECK_TEXT("CORRUPT", call_find(db, txn, "bad", "{'_id': 1}", NULL));
        CHECK(strstr(call_error.message, "\"bad\"") != NULL && call_error.offset > 0);
        CHECK_TEXT("log/00000001.seg", call_error.context);
        bson_t *id = bson_from_text("{'_id': 1}");
        tansu_buffer found = TANSU_BUFFER_INIT;
        CHECK_STATUS(TANSU_E_CORRUPT,
                     tansu_get(db, txn, "bad", document_of(id), &found, &call_error));
        size_t next;
        CHECK_STATUS(TANSU_E_CORRUPT, tansu_get_many(db, txn, "bad", document_of(id), 0, &found,
                                                     &next, &call_error));
        CHECK_OK(tansu_get(db, txn, "good", document_of(id), &found, &call_error), &call_error);
        bson_destroy(id);
        tansu_buffer_free(&found);
        /* What was written since the segment was checked for the first time. */
        char json[64];
        for (int i = 0; i < round; i++) {
            snprintf(json, sizeof json, "{'_id': 'own%d'}", i);
            CHECK(strstr(call_find(db, txn, "good", json, NULL), "own") != NULL);
        }
        snprintf(json, sizeof json, "{'_id': 'own%d'}", round);
        if (round % 2 == 1) {
            CHECK_OK(call_save(db, txn, "good", TANSU_SAVE, json), &call_error);
            CHECK(strstr(call_find(db, txn, "good", json, NULL), "own") != NULL);
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        } else {
            tansu_txn_abort(txn);
            CHECK_OK(call_save(db, NULL, "good", TANSU_SAVE, json), &call_error);
        }
    }
    char *response = NULL;
    CHECK_OK(tansu_execute_json(db, "{\"op\": \"begin\", \"mode\": \"readChecked\"}", &response),
             NULL);
    CHECK_TEXT("{\"ok\": true, \"transaction\": 1}", response);
    tansu_free(response);
    CHECK_STATUS(TANSU_E_CORRUPT,
                 tansu_execute_json(db,
                                    "{\"op\": \"get\", \"collection\": \"bad\", \"id\": 1, "
                                    "\"transaction\": 1}",
                                    &response));
    tansu_free(response);
    CHECK_OK(tansu_execute_json(db, "{\"op\": \"abort\", \"transaction\": 1}", &response), NULL);
    tansu_free(response);
    tansu_txn *ended = NULL;
    CHECK_OK(tansu_txn_prepare(db, TANSU_TXN_READ, 0, &ended, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_txn_check_documents(ended, &call_error));
    tansu_txn_abort(ended);
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(folder);
}

/* check_all -- reads every document of a collection in a transaction that checks them. */
static void check_all(tansu_db *db, const char *collection, int64_t expected) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    CHECK_OK(tansu_txn_check_documents(txn, &call_error), &call_error);
    tansu_cursor *cursor = call_cursor(db, txn, collection, "{}", NULL);
    tansu_document document;
    tansu_status status;
    int64_t count = 0;
    while ((status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK)
        count++;
    CHECK_STATUS(TANSU_DONE, status);
    CHECK_INT(expected, count);
    tansu_cursor_close(cursor);
    tansu_txn_abort(txn);
}

static void intact_documents_pass_the_check_wherever_they_are(void) {
    char *folder = make();
    for (int memory = 0; memory < 2; memory++) {
        tansu_db *db = call_open(memory ? NULL : folder);
        for (int round = 0; round < 5; round++) {
            save(db, NULL, "single", 50 * round);
            check_all(db, "single", call_count(db, NULL, "single", "{}"));
            save(db, NULL, "single", 50 * round);
            if (round % 2 == 1)
                CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
            check_all(db, "single", call_count(db, NULL, "single", "{}"));
            check_all(db, "packed", call_count(db, NULL, "packed", "{}"));
            check_all(db, "many", call_count(db, NULL, "many", "{}"));
        }
        call_close(db);
    }
    folder_end(folder);
}

/* While a snapshot is dumped, the log may be compacted and appended to. */
static int disturb(void *context, uint64_t done, uint64_t total) {
    tansu_db *db = context;
    (void)total;
    if (done % 40 == 7) {
        save(db, NULL, "single", 200);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    return 1;
}

static void an_intact_snapshot_is_dumped_beside_writers_and_compactions(void) {
    char *folder = make();
    tansu_db *db = call_open(folder);
    tansu_buffer was = TANSU_BUFFER_INIT, is = TANSU_BUFFER_INIT;
    REQUIRE(dump(db, NULL, TANSU_NO_DOCUMENT, &was) == TANSU_OK);
    CHECK_OK(tansu_dump(db, NULL, take, &is, TANSU_NO_DOCUMENT, disturb, db, NULL, &call_error),
             &call_error);
    CHECK_BYTES(was.data, was.size, is.data, is.size);
    call_close(db);
    tansu_buffer_free(&was);
    tansu_buffer_free(&is);
    folder_end(folder);
}

/* The number of the commit of a document's newest record decides whether a version before it is
 * seen: one that is too large must not bring that back. */
static void a_newest_record_of_no_commit_brings_nothing_back(void) {
    for (int removed = 0; removed < 2; removed++) {
        for (uint64_t bit = 1; bit != 0; bit <<= 1) {
            char *folder = folder_new();
            tansu_db *db = call_open(folder);
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'text': 'old'}"),
                     &call_error);
            CHECK_OK(removed ? call_remove_id(db, NULL, "c", "{'_id': 1}", NULL)
                             : call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'text': 'new'}"),
                     &call_error);
            call_close(db);
            const char *segment = folder_join(folder, "log/00000001.seg");
            tansu_buffer bytes = TANSU_BUFFER_INIT, out = TANSU_BUFFER_INIT;
            file_read(segment, &bytes);
            const frame_header *frame = NULL;
            uint64_t at = SEGMENT_HEADER_SIZE;
            while (at < bytes.size) {
                frame = (const frame_header *)(const void *)(bytes.data + at);
                if (at + frame->size >= bytes.size)
                    break;
                at += frame->size;
            }
            at += FRAME_HEADER_SIZE + RECORD_INSERT_HEADER_SIZE;
            uint64_t number = load_u64(bytes.data + at) ^ bit;
            file_patch(segment, at, (const char *)&number, sizeof number);
            db = call_open(folder);
            CHECK_STATUS(TANSU_E_CORRUPT, dump(db, NULL, TANSU_NO_DOCUMENT, &out));
            CHECK_STATUS(TANSU_E_CORRUPT, clone_dump(db, &out));
            tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
            CHECK_OK(tansu_txn_check_documents(txn, &call_error), &call_error);
            call_get(db, txn, "c", "{'_id': 1}");
            if (!removed)
                CHECK_INT(TANSU_E_CORRUPT, call_error.code);
            tansu_txn_abort(txn);
            call_close(db);
            tansu_buffer_free(&bytes);
            tansu_buffer_free(&out);
            folder_end(folder);
        }
    }
}

int main(void) {
    if (!library_lz4())
        return check_finish();
    RUN(what_is_corrupt_is_not_copied);
    RUN(the_error_names_the_collection_and_the_rest_can_be_dumped);
    RUN(a_malformed_document_under_a_valid_checksum_is_not_copied);
    RUN(a_transaction_checks_what_it_reads);
    RUN(intact_documents_pass_the_check_wherever_they_are);
    RUN(an_intact_snapshot_is_dumped_beside_writers_and_compactions);
    RUN(a_newest_record_of_no_commit_brings_nothing_back);
    return check_finish();
}
