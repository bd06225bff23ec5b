/*
 * api/api_storage.c -- what takes the space of a database.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "index/block_store/block_store.h"
#include "index/locations.h"
#include "log/log.h"
#include "store/handle.h"
#include "store/index_backlog/index_backlog.h"
#include "util/error.h"

#include <stdlib.h>

/* What the report is made from. */
typedef struct report {
    database *db;
    writer *w;
    segment_usage *live; /* of all collections */
    double block_bytes;  /* about what a block of an index takes */
    tansu_error *error;
} report;

/* block_bytes -- the average in the index file; a block of memory where there is none. */
static double block_bytes(database *db) {
    uint64_t records = db->bs == NULL ? 0 : block_store_records(db->bs);
    return records == 0 ? TREE_BLOCK_BYTES : (double)block_store_size(db->bs) / (double)records;
}

/* append_index -- one index of a collection; `definition` NULL: that of `_id`. */
static tansu_status append_index(report *r, uint32_t number, const index_definition *definition,
                                 const tree *entries) {
    size_t blocks;
    tansu_status status = tree_blocks(r->db->trees, entries, &blocks, r->error);
    if (status != TANSU_OK)
        return status;
    size_t one = writer_open_index(r->w, number, DOC_DOCUMENT);
    writer_string(r->w, "name", definition == NULL ? "_id" : definition->name);
    writer_int64(r->w, "entries", (int64_t)entries->count);
    writer_int64(r->w, "blocks", (int64_t)blocks);
    writer_int64(r->w, "bytes", (int64_t)((double)blocks * r->block_bytes));
    if (definition != NULL)
        writer_int64(r->w, "uses", (int64_t)index_definition_uses(definition));
    writer_end(r->w, one);
    return TANSU_OK;
}

/* append_collection -- one collection with its indexes; what is alive of it is added. */
static tansu_status append_collection(report *r, uint32_t number, const collection_state *state) {
    segment_usage *live = locations_live(state->locations);
    segment_usage_add_all(r->live, live);
    size_t one = writer_open_index(r->w, number, DOC_DOCUMENT);
    writer_string(r->w, "name", state->name);
    writer_int64(r->w, "documents", (int64_t)state->count);
    writer_int64(r->w, "bytes", (int64_t)segment_usage_sum(live));
    size_t list = writer_open(r->w, "indexes", DOC_ARRAY);
    tansu_status status = append_index(r, 0, NULL, &state->ids);
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++)
        status = append_index(r, i + 1, state->indexes[i].definition, &state->indexes[i].entries);
    writer_end(r->w, list);
    writer_end(r->w, one);
    return status;
}

/* append_segments -- the log. */
static tansu_status append_segments(report *r) {
    uint32_t count;
    log_segment_size *sizes = log_segment_sizes(r->db->log, &count);
    if (sizes == NULL)
        return error_memory(r->error);
    size_t list = writer_open(r->w, "segments", DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = sizes[i].number;
        size_t one = writer_open_index(r->w, i, DOC_DOCUMENT);
        writer_int64(r->w, "segment", number);
        writer_int64(r->w, "bytes", (int64_t)sizes[i].bytes);
        writer_int64(r->w, "liveBytes", (int64_t)segment_usage_get(r->live, number));
        writer_int64(r->w, "deadBytes",
                     (int64_t)segment_usage_dead(r->db->written, r->live, number));
        if (sizes[i].compressed != 0)
            writer_int64(r->w, "compressedFromBytes", (int64_t)sizes[i].compressed);
        writer_end(r->w, one);
    }
    writer_end(r->w, list);
    free(sizes);
    return TANSU_OK;
}

/* append_all -- the collections as of a snapshot, and the segments. */
static tansu_status append_all(report *r, const snapshot *v) {
    tansu_status status = snapshot_indexes_current(v, r->error);
    size_t list = writer_open(r->w, "collections", DOC_ARRAY);
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    for (uint32_t i = 0; status == TANSU_OK && (state = snapshot_next(&all)) != NULL; i++)
        status = append_collection(r, i, state);
    writer_end(r->w, list);
    return status == TANSU_OK ? append_segments(r) : status;
}

tansu_status tansu_storage(tansu_db *db, tansu_buffer *result, tansu_error *error) {
    if (db == NULL || result == NULL)
        return null_argument(db == NULL ? "db" : "result", error);
    read_call c;
    tansu_status status = read_call_begin(&c, db, NULL, error);
    if (status != TANSU_OK)
        return status;
    writer w = {.out = result};
    report r = {c.db, &w, segment_usage_new(), block_bytes(c.db), error};
    result->size = 0;
    size_t storage = writer_begin(&w);
    status = r.live == NULL ? error_memory(error) : append_all(&r, c.snapshot);
    if (!writer_finish(&w, storage) && status == TANSU_OK)
        status = error_memory(error);
    segment_usage_free(r.live);
    return read_call_end(&c, status, error);
}
