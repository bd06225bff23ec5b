/*
 * test_forged_trees.c -- trees that somebody has made circles or enormous with a few bytes: the
 * buckets of the block store's file, and stored blocks whose children are all the same.
 */
#include "index/block_store/block_store.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/apart.h"
#include "support/workload/forged_document.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_STORE_FILE "index/blocks.tch"
#define HEAD 256
#define HEAD_BUCKETS 40
#define HEAD_RECORDS 48
#define HEAD_SIZE 56

static char *sample(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    call_close(db);
    return folder;
}

/* ---- What is done ---- */

static void drop_an_index(const char *folder) {
    tansu_db *db = call_open(folder);
    tansu_index_drop(db, NULL, "c", "n", &call_error);
    tansu_checkpoint(db, &call_error);
    tansu_shutdown(db, NULL);
}

static void save(const char *folder) {
    tansu_db *db = call_open(folder);
    call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}");
    tansu_checkpoint(db, &call_error);
    tansu_shutdown(db, NULL);
}

static void verify(const char *folder) {
    tansu_db *db = call_open(folder);
    maintenance_verify(db);
    tansu_shutdown(db, NULL);
}

/* query -- all of the index, both ways. */
static void query(const char *folder) {
    tansu_db *db = call_open(folder);
    call_find(db, NULL, "c", "{'x': 1}", "{'$index': 'n', '$orderby': {'n': 1}}");
    call_find(db, NULL, "c", "{'x': 1}", "{'$index': 'n', '$orderby': {'n': -1}}");
    tansu_shutdown(db, NULL);
}

/* ---- Buckets ---- */

/* many_records -- the head counts more records than any file has. */
static void many_records(const char *folder) {
    uint8_t word[8];
    store_be64(word, (uint64_t)1 << 60);
    file_patch(folder_join(folder, BLOCK_STORE_FILE), HEAD_RECORDS, word, sizeof word);
}

#define ENLARGED ((uint64_t)1 << 30)

/* enlarge -- the file gets a long end of zeros, which takes no space on the disk, and the head
 * counts as many records as it could have then. */
static void enlarge(const char *folder) {
    const char *path = folder_join(folder, BLOCK_STORE_FILE);
    uint8_t words[16];
    REQUIRE(truncate(path, (off_t)ENLARGED) == 0);
    store_be64(words, ENLARGED / 64 - 4096);
    store_be64(words + 8, ENLARGED);
    file_patch(path, HEAD_RECORDS, words, sizeof words);
}

/* make_circle -- the children of a record are the record itself. */
static void make_circle(const char *folder) {
    tansu_buffer file = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, BLOCK_STORE_FILE), &file);
    uint64_t bucket = 0;
    REQUIRE(load_be64(file.data + HEAD_BUCKETS) == 8191); /* the byte order of new files */
    while (load_be64(file.data + HEAD + 8 * bucket) == 0)
        bucket++;
    uint64_t word = load_be64(file.data + HEAD + 8 * bucket);
    uint8_t *record = file.data + word * 64;
    store_be64(record + 2, word);
    store_be64(record + 10, word);
    file_write(folder_join(folder, BLOCK_STORE_FILE), file.data, file.size);
    tansu_buffer_free(&file);
}

static void a_bucket_may_be_a_circle(void) {
    static void (*const changes[])(const char *folder) = {many_records, enlarge};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *folder = sample();
        make_circle(folder);
        changes[i](folder);
        CHECK(apart(drop_an_index, folder));
        folder_end(folder);
    }
}

/* ---- Blocks ---- */

#define CHILDREN 64 /* of each block */
#define HEIGHT 7
#define NUMBER 100 /* of the leaf */

/* A leaf of three entries (docs/file-format.md). */
static const uint8_t leaf[] = {0x80, 5, 3, 1, 0x15, 0x10, 0x61, 0, 0x41, 1, 1, 1, 0x42, 0x87};

static void put_varint(tansu_buffer *bytes, uint64_t number) {
    for (; number >= 128; number >>= 7)
        buffer_append_byte(bytes, (uint8_t)(number | 128));
    buffer_append_byte(bytes, (uint8_t)number);
}

/* put_inner -- a block of that level, all children of which are one, of `count` entries. */
static void put_inner(block_store *bs, unsigned level, uint64_t count) {
    tansu_buffer block = TANSU_BUFFER_INIT;
    buffer_append_byte(&block, (uint8_t)(0x80 + level));
    buffer_append_byte(&block, 5);
    put_varint(&block, CHILDREN - 1);
    put_varint(&block, 0);
    put_varint(&block, (CHILDREN - 1) * 6);
    for (unsigned i = 0; i + 1 < CHILDREN; i++)
        buffer_append_byte(&block, 0x80);
    for (unsigned i = 0; i < CHILDREN; i++) {
        put_varint(&block, i == 0 ? 2 * (NUMBER + level - 1) : 0);
        put_varint(&block, count);
    }
    CHECK_OK(
        block_store_put(bs, BLOCK_STORE_BLOCK, NUMBER + level, block.data, block.size, &call_error),
        &call_error);
    tansu_buffer_free(&block);
}

/* forge_blocks -- the index gets a root whose tree has 64^7 leaves. */
static void forge_blocks(const char *folder) {
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT, collections = TANSU_BUFFER_INIT;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, BLOCK_STORE_FILE), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_begin(bs, &call_error), &call_error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, NUMBER, leaf, sizeof leaf, &call_error),
             &call_error);
    uint64_t count = 3;
    for (unsigned level = 1; level <= HEIGHT; level++, count *= CHILDREN)
        put_inner(bs, level, count);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_META, 0, &meta, &call_error), &call_error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_CATALOG, 0, &collections, &call_error), &call_error);
    doc_value all = {meta.data, (uint32_t)meta.size, DOC_DOCUMENT};
    doc_value collection = forged_first(collections.data, collections.size, "collections");
    doc_value index = forged_first(collection.data, collection.size, "indexes");
    forged_set(&all, "nextBlock", NUMBER + HEIGHT + 1);
    forged_set(&index, "block", NUMBER + HEIGHT);
    forged_set(&index, "count", count);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_META, 0, meta.data, meta.size, &call_error),
             &call_error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_CATALOG, 0, collections.data, collections.size,
                             &call_error),
             &call_error);
    tansu_buffer_free(&collections);
    CHECK_OK(block_store_commit(bs, &call_error), &call_error);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    tansu_buffer_free(&meta);
}

static void all_children_of_a_block_may_be_one(void) {
    static void (*const uses[])(const char *folder) = {verify, drop_an_index, query, save};
    char *folder = sample(), *copy = folder_new();
    forge_blocks(folder);
    for (size_t i = 0; i < 2 * sizeof uses / sizeof uses[0]; i++) {
        folder_remove(copy);
        folder_copy(folder, copy);
        if (i % 2 == 1) /* then the number of records is no limit */
            enlarge(copy);
        CHECK(apart(uses[i / 2], copy));
    }
    folder_end(copy);
    folder_end(folder);
}

int main(void) {
    RUN(a_bucket_may_be_a_circle);
    RUN(all_children_of_a_block_may_be_one);
    return check_finish();
}
