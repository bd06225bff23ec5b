/*
 * test_forged_log.c -- a log and stored locations that somebody has written over. A database with
 * whole index files does not read its log at opening, so that every call may find anything there:
 * it returns a status, and never reads outside a segment or forever.
 */
#include "index/block_store/block_store.h"
#include "index/locations.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/forged_use.h"
#include "util/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_FILE "log/00000001.seg"
#define BLOCK_STORE_FILE "index/blocks.tch"

/* sample -- a closed database: documents of one version and of several, and deletions. */
static char *sample(void) {
    char *folder = folder_new();
    tansu_options options = forged_options(folder);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < 9; i++) {
        char text[64];
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'a': [{'b': 'text'}]}", i % 6, i);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 4}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 'last', 'n': 10}"), &call_error);
    call_close(db);
    return folder;
}

/* use_log -- the database with another log. */
static void use_log(const char *folder, const char *copy, const tansu_buffer *bytes) {
    folder_copy(folder, copy);
    file_write(folder_join(copy, LOG_FILE), bytes->data, bytes->size);
    forged_use(copy);
    folder_remove(copy);
}

/* next_record -- the offset of a record's successor, in its frame or the next. */
static uint64_t next_record(const tansu_buffer *bytes, uint64_t at, uint64_t *frame_end) {
    at = at == 0 ? SEGMENT_HEADER_SIZE : at + load_u32(bytes->data + at);
    if (at < *frame_end)
        return at;
    if (at + FRAME_HEADER_SIZE > bytes->size || load_u32(bytes->data + at) != FRAME_MAGIC)
        return 0;
    *frame_end = at + load_u32(bytes->data + at + 8);
    return at + FRAME_HEADER_SIZE;
}

/* Where a link, or a stored location, may lead: no segment, none of that number, the end of the
 * segment's memory, the middle of a record, a header, far outside. */
static const uint64_t places[] = {0,
                                  8,
                                  (uint64_t)1 << 32,
                                  (uint64_t)1 << 32 | SEGMENT_HEADER_SIZE,
                                  (uint64_t)1 << 32 | (SEGMENT_HEADER_SIZE + 64),
                                  ((uint64_t)1 << 32 | ((1 << 20) - 8)),
                                  ((uint64_t)1 << 32 | ((1 << 20) - 24)),
                                  ((uint64_t)1 << 32 | 0x10000 | 1),
                                  (uint64_t)1 << 32 | 0x7ffffff8,
                                  (uint64_t)2 << 32 | 56,
                                  (uint64_t)4096 << 32 | 56,
                                  (uint64_t)0x1000000 << 32 | 56,
                                  UINT64_MAX - 7,
                                  UINT64_MAX};
#define PLACES (sizeof places / sizeof places[0])

static void a_link_to_an_older_version_may_lead_anywhere(void) {
    char *folder = sample(), *copy = folder_new();
    folder_remove(copy);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, LOG_FILE), &bytes);
    uint64_t frame_end = 0;
    unsigned links = 0;
    for (uint64_t at = 0; (at = next_record(&bytes, at, &frame_end)) != 0;) {
        record_header *record = (record_header *)(void *)(bytes.data + at);
        if (record_is_insert(record) || record->type > RECORD_DELETE)
            continue;
        uint8_t whole[16];
        memcpy(whole, bytes.data + at + 16, sizeof whole);
        /* A commit that no snapshot sees, so that the link is followed; itself, so that it does
         * not end. */
        for (size_t i = 0; i <= PLACES; i++) {
            store_u64(bytes.data + at + 16, UINT64_MAX >> 1);
            store_u64(bytes.data + at + 24, i < PLACES ? places[i] : (uint64_t)1 << 32 | at);
            use_log(folder, copy, &bytes);
            links++;
        }
        memcpy(bytes.data + at + 16, whole, sizeof whole);
    }
    CHECK(links >= 3 * PLACES);
    tansu_buffer_free(&bytes);
    free(copy);
    folder_end(folder);
}

static void a_record_may_say_that_it_is_as_long_as_it_likes(void) {
    char *folder = sample(), *copy = folder_new();
    folder_remove(copy);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, LOG_FILE), &bytes);
    static const uint32_t sizes[] = {0, 5, 24, 65536, 1 << 20, 1 << 28, 1 << 30, UINT32_MAX - 7};
    uint64_t frame_end = 0;
    for (uint64_t at = 0; (at = next_record(&bytes, at, &frame_end)) != 0;) {
        record_header *record = (record_header *)(void *)(bytes.data + at);
        uint32_t front = record_front(record), doc = load_u32(bytes.data + at + front);
        uint32_t size = record->size;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            /* The document has the same size, so that nothing contradicts; then alone. */
            record->size = sizes[i];
            store_u32(bytes.data + at + front, sizes[i] - front);
            use_log(folder, copy, &bytes);
            record->size = size;
            use_log(folder, copy, &bytes);
            store_u32(bytes.data + at + front, doc);
        }
        uint16_t extra = record->extra;
        record->extra = UINT16_MAX;
        use_log(folder, copy, &bytes);
        record->extra = extra;
        record->flags ^= RECORD_INSERT;
        use_log(folder, copy, &bytes);
        record->flags ^= RECORD_INSERT;
    }
    tansu_buffer_free(&bytes);
    free(copy);
    folder_end(folder);
}

static void any_word_of_the_log_may_be_anything(void) {
    static const uint64_t words[] = {0, UINT64_MAX, 0x7fffffff7fffffff, 0x0304020110001000};
    char *folder = sample(), *copy = folder_new();
    folder_remove(copy);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, LOG_FILE), &bytes);
    for (uint64_t at = 0; at + 8 <= bytes.size; at += 8) {
        uint64_t whole = load_u64(bytes.data + at);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            store_u64(bytes.data + at, words[i]);
            use_log(folder, copy, &bytes);
            store_u64(bytes.data + at, whole);
        }
    }
    tansu_buffer_free(&bytes);
    free(copy);
    folder_end(folder);
}

/* forge_location -- gives one document another location in the stored table. */
static void forge_location(const char *folder, uint64_t rid, uint64_t location) {
    static const uint64_t collection = 1;
    block_store *bs;
    tansu_buffer record = TANSU_BUFFER_INIT;
    uint64_t words[LOCATIONS_CHUNK] = {0};
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, BLOCK_STORE_FILE), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_LOCATIONS, collection << 40, &record, &call_error),
             &call_error);
    REQUIRE(locations_decode(words, record.data, record.size) && words[rid] != 0);
    words[rid] = location;
    CHECK_OK(block_store_begin(bs, &call_error), &call_error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_LOCATIONS, collection << 40, words, sizeof words,
                             &call_error),
             &call_error);
    CHECK_OK(block_store_commit(bs, &call_error), &call_error);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    tansu_buffer_free(&record);
}

static void a_stored_location_may_lead_anywhere(void) {
    char *folder = sample(), *copy = folder_new();
    folder_remove(copy);
    for (uint64_t rid = 0; rid < 7; rid++) {
        for (size_t i = 0; i < PLACES; i++) {
            folder_copy(folder, copy);
            forge_location(copy, rid, places[i]);
            forged_use(copy);
            folder_remove(copy);
        }
    }
    free(copy);
    folder_end(folder);
}

int main(void) {
    RUN(a_link_to_an_older_version_may_lead_anywhere);
    RUN(a_record_may_say_that_it_is_as_long_as_it_likes);
    RUN(any_word_of_the_log_may_be_anything);
    RUN(a_stored_location_may_lead_anywhere);
    return check_finish();
}
