/*
 * store/checkpoint/meta_write.c -- writing a snapshot's blocks, chunks, records of collections
 * and META record.
 */
#include "store/checkpoint/checkpoint_internal.h"

#include "store/checkpoint/log_state.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/references/reference_list.h"
#include "store/timestamps/timestamp_fields.h"
#include "util/error.h"

#include <stdlib.h>

/* append_index -- one secondary index's part of the META. */
static void append_index(writer *w, uint32_t number, const collection_index *index,
                         uint64_t block) {
    size_t one = writer_open_index(w, number, DOC_DOCUMENT);
    writer_int64(w, "id", index->definition->id);
    index_definition_elements(index->definition, w);
    writer_bool(w, "multikey", index->multikey);
    writer_int64(w, "block", (int64_t)block);
    writer_int64(w, "count", (int64_t)index->entries.count);
    writer_end(w, one);
}

/* append_usage -- bytes by segment. */
static void append_usage(writer *w, const char *key, segment_usage *u) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    if (segment_usage_encode(u, &bytes))
        writer_binary(w, key, META_USAGE, bytes.data, bytes.size);
    else
        w->failed = true;
    tansu_buffer_free(&bytes);
}

/* append_segments -- the numbers of the log's segments. */
static void append_segments(writer *w, struct log *log) {
    uint32_t count;
    uint32_t *numbers = log_numbers(log, &count);
    if (numbers == NULL) {
        w->failed = true;
        return;
    }
    size_t list = writer_open(w, "segments", DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++)
        writer_index_int64(w, i, numbers[i]);
    writer_end(w, list);
    free(numbers);
}

/* append_collection -- a collection's part of the META, up to its indexes. */
static void append_collection(writer *w, const collection_state *state, const tansu_buffer *gaps,
                              uint64_t block) {
    writer_int64(w, "id", state->id);
    writer_string(w, "name", state->name);
    writer_bool(w, "local", state->local);
    if (state->codec != CODEC_NONE)
        writer_string(w, "compression", codec_name(state->codec));
    if (state->references != NULL)
        reference_list_write(state->references, w);
    if (state->timestamps != NULL)
        timestamp_fields_write(state->timestamps, w);
    writer_binary(w, "gaps", DOC_SUBTYPE_GENERIC, gaps->data, gaps->size);
    writer_int64(w, "nextDocno", (int64_t)state->next_rid);
    writer_int64(w, "count", (int64_t)state->count);
    writer_int64(w, "idsBlock", (int64_t)block);
    writer_int64(w, "idsCount", (int64_t)state->ids.count);
    append_usage(w, "live", locations_live(state->locations));
}

/* write_collection -- a collection's changed blocks and chunks, and its part of the META. */
static tansu_status write_collection(database *db, const collection_state *state, writer *w,
                                     uint32_t number, tansu_error *error) {
    uint64_t block, written;
    tansu_buffer gaps = TANSU_BUFFER_INIT;
    size_t one = writer_open_index(w, number, DOC_DOCUMENT);
    tansu_status status = tree_checkpoint(db->trees, &state->ids, &block, &written, error);
    if (status == TANSU_OK)
        status = locations_gaps_write(state->locations, state->next_rid, &gaps, error);
    if (status == TANSU_OK)
        status = locations_checkpoint(state->locations, &written, error);
    if (status == TANSU_OK)
        append_collection(w, state, &gaps, block);
    tansu_buffer_free(&gaps);
    size_t indexes = writer_open(w, "indexes", DOC_ARRAY);
    for (uint32_t i = 0; status == TANSU_OK && !w->failed && i < state->index_count; i++) {
        status = tree_checkpoint(db->trees, &state->indexes[i].entries, &block, &written, error);
        if (status == TANSU_OK)
            append_index(w, i, &state->indexes[i], block);
    }
    writer_end(w, indexes);
    writer_end(w, one);
    return status == TANSU_OK && w->failed ? error_memory(error) : status;
}

/* write_record -- the collections of a snapshot that are in one record of the stored catalog. */
static tansu_status write_record(database *db, const snapshot *v, uint32_t record,
                                 tansu_error *error) {
    tansu_buffer collections = TANSU_BUFFER_INIT;
    writer w = {.out = &collections, .limit = INT32_MAX};
    tansu_status status = TANSU_OK;
    uint32_t count = 0, first = record * STORED_CATALOG_COLLECTIONS;
    size_t document = writer_begin(&w), list = writer_open(&w, "collections", DOC_ARRAY);
    const collection_name *named;
    catalog_cursor all = catalog_from(&v->numbers, order_of_numbers, &first);
    while (status == TANSU_OK && (named = catalog_next(&all)) != NULL &&
           named->id - first < STORED_CATALOG_COLLECTIONS)
        status = write_collection(db, snapshot_collection(v, named->text), &w, count++, error);
    writer_end(&w, list);
    if (status == TANSU_OK && count == 0)
        status = block_store_remove(db->bs, BLOCK_STORE_CATALOG, record, error);
    else if (status == TANSU_OK)
        status = writer_finish(&w, document)
                     ? block_store_put(db->bs, BLOCK_STORE_CATALOG, record, collections.data,
                                       collections.size, error)
                     : error_memory(error);
    tansu_buffer_free(&collections);
    if (status == TANSU_OK)
        stored_catalog_set(db, record, count != 0);
    return status;
}

/* write_catalog -- the records of the stored catalog that changed. */
static tansu_status write_catalog(database *db, const snapshot *v, tansu_error *error) {
    uint32_t *records, count;
    tansu_status status = stored_catalog_changed(db, &records, &count, error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++)
        status = write_record(db, v, records[i], error);
    free(records);
    return status;
}

tansu_status meta_write(database *db, const snapshot *v, uint32_t next_collection,
                        uint32_t next_index, tansu_error *error) {
    tansu_buffer meta = TANSU_BUFFER_INIT;
    writer w = {.out = &meta, .limit = INT32_MAX};
    tansu_status status = write_catalog(db, v, error);
    size_t document = writer_begin(&w);
    writer_int32(&w, "format", META_FORMAT);
    writer_binary(&w, "uuid", DOC_SUBTYPE_UUID, db->manifest.uuid, 16);
    writer_int64(&w, "sequence", (int64_t)v->sequence);
    writer_int64(&w, "position", (int64_t)v->position);
    writer_int64(&w, "nextCollection", next_collection);
    writer_int64(&w, "nextIndex", next_index);
    append_segments(&w, db->log);
    append_usage(&w, "written", db->written);
    stored_catalog_append(db, &w);
    if (status == TANSU_OK) {
        log_state_append(db, v, &w);
        writer_int64(&w, "nextBlock", (int64_t)tree_store_next_block(db->trees));
        status = writer_finish(&w, document)
                     ? block_store_put(db->bs, BLOCK_STORE_META, 0, meta.data, meta.size, error)
                     : error_memory(error);
    }
    tansu_buffer_free(&meta);
    return status;
}
