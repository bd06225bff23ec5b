/*
 * support/model/older_blocks.c -- stored blocks and chunks as releases with META format 2 wrote
 * them: pages as they are in memory, locations of eight bytes.
 */
#include "support/model/older_blocks.h"

#include "bson/writer.h"
#include "index/locations_stored.h"
#include "support/check.h"
#include "util/buffer.h"

#include <stdlib.h>

/* append -- bytes at the end of a record. */
static void append(tansu_buffer *record, const void *bytes, size_t size) {
    REQUIRE(buffer_append(record, bytes, size));
}

/* append_page -- a page without its gap. */
static void append_page(tansu_buffer *record, const tree_page *page) {
    uint32_t front = page_front(page);
    append(record, page, front);
    append(record, (const uint8_t *)page + page->capacity - page->heap, page->heap);
    store_u32(record->data + offsetof(tree_page, capacity), front + page->heap);
}

void older_block(tansu_buffer *record, const tree_content *content) {
    record->size = 0;
    if (content->level == 0) {
        append_page(record, &as_leaf(content)->page);
        return;
    }
    const tree_inner *inner = as_inner(content);
    append_page(record, &inner->keys);
    for (uint32_t i = 0; i < inner_children(inner); i++) {
        uint64_t number = atomic_load(&inner->child[i]->number);
        append(record, &number, sizeof number);
    }
    append(record, inner->count, inner_children(inner) * sizeof *inner->count);
}

void older_meta(block_store *bs, tansu_buffer *meta, int32_t format) {
    tansu_buffer record = TANSU_BUFFER_INIT, older = TANSU_BUFFER_INIT;
    tansu_error error;
    doc_value list;
    doc_iter iter;
    writer w = {.out = &older};
    CHECK_OK(block_store_get(bs, BLOCK_STORE_CATALOG, 0, &record, &error), &error);
    REQUIRE(doc_find(record.data, record.size, "collections", 11, &list));
    size_t document = writer_begin(&w);
    REQUIRE(doc_iter_init(&iter, meta->data, meta->size));
    while (doc_iter_next(&iter))
        if (strcmp(iter.key, "format") != 0 && strcmp(iter.key, "catalog") != 0)
            writer_element(&w, iter.key, iter.key_size, &iter.value);
    writer_int32(&w, "format", format);
    writer_element(&w, "collections", 11, &list);
    REQUIRE(writer_finish(&w, document));
    tansu_buffer_free(&record);
    tansu_buffer_free(meta);
    *meta = older;
}

/* put -- replaces a record. */
static void put(block_store *bs, enum block_store_kind kind, uint64_t number, const void *record,
                size_t size) {
    tansu_error error;
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, kind, number, record, size, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
}

/* rewrite_block -- a stored block. */
static void rewrite_block(block_store *bs, tree_store *store, uint64_t number,
                          tansu_buffer *record) {
    tansu_buffer older = TANSU_BUFFER_INIT;
    tree_content *content;
    const char *fault;
    REQUIRE(stored_decode(store, record->data, record->size, -1, &content, &fault, NULL) ==
            TANSU_OK);
    older_block(&older, content);
    stored_drop(store, content);
    put(bs, BLOCK_STORE_BLOCK, number, older.data, older.size);
    tansu_buffer_free(&older);
}

/* rewrite_chunk -- a stored chunk of the location table. */
static void rewrite_chunk(block_store *bs, uint64_t number, tansu_buffer *record) {
    uint64_t words[LOCATIONS_CHUNK];
    REQUIRE(locations_decode(words, record->data, record->size));
    put(bs, BLOCK_STORE_LOCATIONS, number, words, sizeof words);
}

size_t older_block_store(const char *path) {
    block_store *bs;
    tree_store *store;
    block_numbers blocks = {NULL, 0, 0}, chunks = {NULL, 0, 0};
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_error error;
    REQUIRE(block_store_open(&fs_system, path, 0, &bs, &error) == TANSU_OK);
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    CHECK_OK(block_store_numbers(bs, BLOCK_STORE_BLOCK, &blocks, &error), &error);
    CHECK_OK(block_store_numbers(bs, BLOCK_STORE_LOCATIONS, &chunks, &error), &error);
    for (size_t i = 0; i < blocks.count; i++) {
        CHECK_OK(block_store_get(bs, BLOCK_STORE_BLOCK, blocks.list[i], &record, &error), &error);
        rewrite_block(bs, store, blocks.list[i], &record);
    }
    for (size_t i = 0; i < chunks.count; i++) {
        CHECK_OK(block_store_get(bs, BLOCK_STORE_LOCATIONS, chunks.list[i], &record, &error),
                 &error);
        rewrite_chunk(bs, chunks.list[i], &record);
    }
    size_t rewritten = blocks.count + chunks.count;
    free(blocks.list);
    free(chunks.list);
    tansu_buffer_free(&record);
    tree_store_free(store);
    CHECK_OK(block_store_close(bs, &error), &error);
    return rewritten;
}
