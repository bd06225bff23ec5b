/*
 * test_feed_corruption.c -- a feed over bytes that are damaged, or that somebody made to do harm:
 * it says which file and where, and never reads what it should not.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/feed_model.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WHOLE "{'before': true, 'after': true}"

/* make_database -- two segments at least, of which the first has every kind of record; closed
 * again, so that opening reads none of it. */
static char *make_database(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "ants", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "bees", TANSU_SAVE, "{'_id': 1, 'n': 3}"), &call_error);
    CHECK_OK(call_save(db, txn, "ants", TANSU_SAVE, "{'_id': 1, 'n': 4}"), &call_error);
    CHECK_OK(call_remove(db, txn, "ants", "{'_id': 1}", NULL), &call_error);
    CHECK_OK(tansu_collection_rename(db, txn, "bees", "cats", &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_OK(call_index(db, NULL, "cats", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "ants", &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "cats", TANSU_SAVE, "{'_id': 1, 'n': 5}"), &call_error);
    call_close(db);
    return folder;
}

/* read_feed -- what a feed over all of it comes to. */
static tansu_status read_feed(const char *folder, uint64_t since, const char *options) {
    tansu_db *db = NULL;
    tansu_options how = call_options(folder);
    how.read_only = 1;
    tansu_status status = tansu_open(&how, &db, &call_error);
    if (status != TANSU_OK)
        return status;
    tansu_feed *feed = NULL;
    bson_t *bson = bson_from_text(options);
    status = tansu_feed_open(db, since, document_of(bson), &feed, &call_error);
    bson_destroy(bson);
    tansu_change change;
    tansu_change_init(&change);
    size_t sum = 0;
    while (status == TANSU_OK &&
           (status = tansu_feed_next(feed, 0, &change, &call_error)) == TANSU_OK) {
        const tansu_document *shown[] = {&change.id, &change.before, &change.after};
        for (int i = 0; i < 3; i++)
            for (size_t k = 0; k < shown[i]->size; k++)
                sum += ((const uint8_t *)shown[i]->data)[k];
        sum += strlen(change.collection);
    }
    CHECK(sum < SIZE_MAX);
    tansu_feed_close(feed);
    call_close(db);
    return status;
}

static void corruption_is_reported_with_its_offset(void) {
    char *folder = make_database();
    const char *file = folder_join(folder, "log/00000001.seg");
    char *path = strdup(file);
    REQUIRE(path != NULL);
    uint64_t size = file_size(path);
    CHECK_STATUS(TANSU_DONE, read_feed(folder, 0, WHOLE));
    int reported = 0;
    for (uint64_t at = SEGMENT_HEADER_SIZE; at < size; at++) {
        file_flip(path, at, (unsigned)(at % 8));
        for (uint64_t since = 0; since < 7; since += 3) {
            tansu_status status = read_feed(folder, since, WHOLE);
            if (since == 0 && CHECK_STATUS(TANSU_E_CORRUPT, status)) {
                reported++;
                CHECK(strstr(call_error.context, "00000001.seg") != NULL);
                CHECK(call_error.offset >= 0 && call_error.offset <= (int64_t)at);
            }
            CHECK(status == TANSU_E_CORRUPT || status == TANSU_DONE);
        }
        file_flip(path, at, (unsigned)(at % 8));
    }
    CHECK(reported > 100);
    CHECK_STATUS(TANSU_DONE, read_feed(folder, 0, WHOLE));
    free(path);
    folder_end(folder);
}

/* sign -- makes the CRCs of all frames right again, as far as their sizes lead. */
static void sign(uint8_t *bytes, uint64_t size) {
    uint32_t seed = (uint32_t)crc32(0, bytes + 16, 16);
    for (uint64_t at = SEGMENT_HEADER_SIZE; at + FRAME_HEADER_SIZE <= size;) {
        frame_header header;
        memcpy(&header, bytes + at, sizeof header);
        if (header.magic != FRAME_MAGIC || header.size < FRAME_HEADER_SIZE ||
            header.size > size - at)
            return;
        header.crc = (uint32_t)crc32_z(seed, bytes + at + 8, header.size - 8);
        memcpy(bytes + at, &header, sizeof header);
        at += header.size;
    }
}

static void nonsense_with_the_right_checksums_does_no_harm(void) {
    char *folder = make_database();
    char *path = strdup(folder_join(folder, "log/00000001.seg"));
    REQUIRE(path != NULL);
    tansu_buffer whole = TANSU_BUFFER_INIT;
    file_read(path, &whole);
    random_source random = random_start(1);
    uint8_t *bytes = malloc(whole.size);
    REQUIRE(bytes != NULL);
    int rounds = (int)random_rounds("TANSU_ROUNDS", 1500), refused = 0;
    for (int i = 0; i < rounds; i++) {
        memcpy(bytes, whole.data, whole.size);
        int64_t changes = random_between(&random, 1, 3);
        while (changes-- > 0) {
            uint64_t at =
                SEGMENT_HEADER_SIZE + random_below(&random, whole.size - SEGMENT_HEADER_SIZE);
            bytes[at] = random_chance(&random, 50) ? (uint8_t)random_next(&random)
                                                   : (uint8_t)(bytes[at] + 8);
        }
        sign(bytes, whole.size);
        file_write(path, bytes, whole.size);
        tansu_status status = read_feed(folder, random_below(&random, 4), WHOLE);
        CHECK(status == TANSU_E_CORRUPT || status == TANSU_DONE);
        refused += status == TANSU_E_CORRUPT;
    }
    CHECK(refused > rounds / 10);
    free(bytes);
    tansu_buffer_free(&whole);
    free(path);
    folder_end(folder);
}

int main(void) {
    RUN(corruption_is_reported_with_its_offset);
    RUN(nonsense_with_the_right_checksums_does_no_harm);
    return check_finish();
}
