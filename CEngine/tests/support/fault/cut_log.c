/*
 * support/fault/cut_log.c -- saves, cuts and reads the documents.
 */
#include "support/fault/cut_log.h"
#include "support/calls/document_of.h"

#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tansu_status cut_log_save(tansu_db *db, tansu_txn *txn, int number) {
    uint8_t filling[CUT_LOG_FILLING];
    memset(filling, number % 251 + 1, sizeof filling);
    bson_t *doc = BCON_NEW("_id", BCON_INT32(number), "n", BCON_INT32(number % 100), "b",
                           BCON_BIN(BSON_SUBTYPE_BINARY, filling, CUT_LOG_FILLING));
    tansu_status status = call_save_bson(db, txn, "c", TANSU_SAVE, doc);
    bson_destroy(doc);
    return status;
}

void cut_log_check_document(const void *data, size_t size, int number) {
    bson_t doc;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&doc, data, size));
    CHECK(bson_iter_init_find(&iter, &doc, "_id") && bson_iter_int32(&iter) == number);
    CHECK(bson_iter_init_find(&iter, &doc, "n") && bson_iter_int32(&iter) == number % 100);
    REQUIRE(bson_iter_init_find(&iter, &doc, "b") && BSON_ITER_HOLDS_BINARY(&iter));
    bson_subtype_t kind;
    uint32_t length;
    const uint8_t *bytes;
    bson_iter_binary(&iter, &kind, &length, &bytes);
    REQUIRE(length == CUT_LOG_FILLING);
    for (uint32_t i = 0; i < length; i++)
        if (bytes[i] != number % 251 + 1) {
            CHECK_INT(number % 251 + 1, bytes[i]);
            return;
        }
}

char *cut_log_database(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < CUT_LOG_DOCUMENTS; i++)
        REQUIRE(CHECK_OK(cut_log_save(db, NULL, i), &call_error));
    call_close(db);
    REQUIRE(file_exists(folder_join(folder, "log/00000004.seg")));
    return folder;
}

tansu_db *cut_log_open(const char *folder, const char *segment, uint64_t at) {
    tansu_db *db = call_open(folder);
    REQUIRE(file_size(folder_join(folder, segment)) > at + 100000);
    REQUIRE(truncate(folder_join(folder, segment), (off_t)at) == 0);
    return db;
}

tansu_status cut_log_get(tansu_db *db, tansu_txn *txn, int number, tansu_buffer *result) {
    bson_t *id = BCON_NEW("_id", BCON_INT32(number));
    tansu_status status = tansu_get(db, txn, "c", document_of(id), result, &call_error);
    bson_destroy(id);
    if (status == TANSU_OK)
        cut_log_check_document(result->data, result->size, number);
    return status;
}

int cut_log_count_lost(tansu_db *db, tansu_txn *txn) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    int lost = 0;
    for (int i = 0; i < CUT_LOG_DOCUMENTS; i++) {
        tansu_status status = cut_log_get(db, txn, i, &result);
        if (status != TANSU_OK) {
            CHECK_STATUS(TANSU_E_IO, status);
            CHECK_INT(EIO, call_error.sys_errno);
            CHECK_TEXT(CUT_LOG_SEGMENT, call_error.context);
            CHECK(call_error.offset >= CUT_LOG_AT);
            lost++;
        }
    }
    tansu_buffer_free(&result);
    return lost;
}
