/*
 * store/checkpoint/meta_write.c -- writing a snapshot's blocks, chunks and META record.
 */
#include "store/checkpoint/checkpoint_internal.h"

#include "store/checkpoint/log_state.h"
#include "store/database_internal.h"
#include "util/error.h"

#include <bson/bson.h>
#include <stdlib.h>

/* append_index -- one secondary index's part of the META. */
static bool append_index(bson_t *list, uint32_t number, const collection_index *index,
                         uint64_t block) {
    char key[16];
    const char *at;
    size_t length = bson_uint32_to_string(number, &at, key, sizeof key);
    bson_t one, keys_view, options_view;
    tansu_buffer keys = TANSU_BUFFER_INIT, options = TANSU_BUFFER_INIT;
    bool done = index_definition_keys(index->definition, &keys) &&
                index_definition_options(index->definition, &options) &&
                bson_init_static(&keys_view, keys.data, keys.size) &&
                bson_init_static(&options_view, options.data, options.size) &&
                bson_append_document_begin(list, at, (int)length, &one) &&
                BSON_APPEND_INT64(&one, "id", index->definition->id) &&
                BSON_APPEND_UTF8(&one, "name", index->definition->name) &&
                BSON_APPEND_DOCUMENT(&one, "keys", &keys_view) &&
                BSON_APPEND_DOCUMENT(&one, "options", &options_view) &&
                BSON_APPEND_BOOL(&one, "multikey", index->multikey) &&
                BSON_APPEND_INT32(&one, "entryRules", INDEX_ENTRY_RULES) &&
                BSON_APPEND_INT64(&one, "block", (int64_t)block) &&
                BSON_APPEND_INT64(&one, "count", (int64_t)index->entries.count) &&
                bson_append_document_end(list, &one);
    tansu_buffer_free(&keys);
    tansu_buffer_free(&options);
    return done;
}

/* append_bytes -- bytes under a key. */
static bool append_bytes(bson_t *part, const char *key, const tansu_buffer *bytes) {
    return bson_append_binary(part, key, -1, BSON_SUBTYPE_BINARY,
                              bytes->data == NULL ? (const uint8_t *)"" : bytes->data,
                              (uint32_t)bytes->size);
}

/* append_usage -- bytes by segment. */
static bool append_usage(bson_t *part, const char *key, segment_usage *u) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    bool done = segment_usage_encode(u, &bytes) && append_bytes(part, key, &bytes);
    tansu_buffer_free(&bytes);
    return done;
}

/* append_segments -- the numbers of the log's segments. */
static bool append_segments(bson_t *meta, struct log *log) {
    uint32_t count;
    uint32_t *numbers = log_numbers(log, &count);
    bson_t list;
    bool done = numbers != NULL && BSON_APPEND_ARRAY_BEGIN(meta, "segments", &list);
    for (uint32_t i = 0; done && i < count; i++) {
        char key[16];
        const char *at;
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        done = bson_append_int64(&list, at, (int)length, numbers[i]);
    }
    free(numbers);
    return done && bson_append_array_end(meta, &list);
}

/* write_collection -- a collection's changed blocks and chunks, and its part of the META. */
static tansu_status write_collection(database *db, const collection_state *state, bson_t *list,
                                     uint32_t number, tansu_error *error) {
    char key[16];
    const char *at;
    size_t length = bson_uint32_to_string(number, &at, key, sizeof key);
    bson_t one, indexes;
    uint64_t block, written;
    tansu_buffer gaps = TANSU_BUFFER_INIT;
    tansu_status status = tree_checkpoint(db->trees, &state->ids, &block, &written, error);
    if (status == TANSU_OK)
        status = locations_gaps_write(state->locations, state->next_rid, &gaps, error);
    if (status == TANSU_OK)
        status = locations_checkpoint(state->locations, &written, error);
    if (status != TANSU_OK) {
        tansu_buffer_free(&gaps);
        return status;
    }
    bool done =
        bson_append_document_begin(list, at, (int)length, &one) &&
        BSON_APPEND_INT64(&one, "id", state->id) && BSON_APPEND_UTF8(&one, "name", state->name) &&
        BSON_APPEND_BOOL(&one, "local", state->local) && append_bytes(&one, "gaps", &gaps) &&
        BSON_APPEND_INT64(&one, "nextDocno", (int64_t)state->next_rid) &&
        BSON_APPEND_INT64(&one, "count", (int64_t)state->count) &&
        BSON_APPEND_INT64(&one, "idsBlock", (int64_t)block) &&
        BSON_APPEND_INT64(&one, "idsCount", (int64_t)state->ids.count) &&
        append_usage(&one, "live", locations_live(state->locations)) &&
        BSON_APPEND_ARRAY_BEGIN(&one, "indexes", &indexes);
    tansu_buffer_free(&gaps);
    for (uint32_t i = 0; done && i < state->index_count; i++) {
        status = tree_checkpoint(db->trees, &state->indexes[i].entries, &block, &written, error);
        if (status != TANSU_OK)
            return status;
        done = append_index(&indexes, i, &state->indexes[i], block);
    }
    done = done && bson_append_array_end(&one, &indexes) && bson_append_document_end(list, &one);
    return done ? TANSU_OK : error_memory(error);
}

tansu_status meta_write(database *db, const snapshot *v, uint32_t next_collection,
                        uint32_t next_index, tansu_error *error) {
    bson_t meta = BSON_INITIALIZER, list;
    tansu_status status = TANSU_OK;
    if (!BSON_APPEND_INT32(&meta, "format", META_FORMAT) ||
        !BSON_APPEND_BINARY(&meta, "uuid", BSON_SUBTYPE_UUID, db->manifest.uuid, 16) ||
        !BSON_APPEND_INT64(&meta, "sequence", (int64_t)v->sequence) ||
        !BSON_APPEND_INT64(&meta, "position", (int64_t)v->position) ||
        !BSON_APPEND_INT64(&meta, "nextCollection", next_collection) ||
        !BSON_APPEND_INT64(&meta, "nextIndex", next_index) || !append_segments(&meta, db->log) ||
        !append_usage(&meta, "written", db->written) ||
        !BSON_APPEND_ARRAY_BEGIN(&meta, "collections", &list))
        status = error_memory(error);
    for (uint32_t i = 0; status == TANSU_OK && i < v->count; i++)
        status = write_collection(db, v->collections[i], &list, i, error);
    if (status == TANSU_OK &&
        (!bson_append_array_end(&meta, &list) || !log_state_append(db, v, &meta) ||
         !BSON_APPEND_INT64(&meta, "nextBlock", (int64_t)tree_store_next_block(db->trees))))
        status = error_memory(error);
    if (status == TANSU_OK)
        status =
            block_store_put(db->bs, BLOCK_STORE_META, 0, bson_get_data(&meta), meta.len, error);
    bson_destroy(&meta);
    return status;
}
