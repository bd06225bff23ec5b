/*
 * api/api_stats.c -- statistics of a database.
 */
#include "api/handles.h"
#include "compact/compact.h"
#include "feed/feed.h"
#include "query/plan/partial_filter.h"
#include "store/checkpoint/checkpoint.h"
#include "store/commit_wait.h"
#include "store/handle.h"
#include "store/index_files.h"
#include "store/open/options.h"
#include "util/buffer.h"
#include "util/error.h"

#include <bson/bson.h>
/* append_collections -- every collection with its indexes. */
static bool append_collections(bson_t *stats, const snapshot *v) {
    bson_t list, one, indexes, index;
    char key[16];
    const char *at;
    bool done = BSON_APPEND_ARRAY_BEGIN(stats, "collections", &list);
    for (uint32_t i = 0; done && i < v->count; i++) {
        const collection_state *state = v->collections[i];
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        done = bson_append_document_begin(&list, at, (int)length, &one) &&
               BSON_APPEND_UTF8(&one, "name", state->name) &&
               BSON_APPEND_INT64(&one, "documents", (int64_t)state->count) &&
               BSON_APPEND_ARRAY_BEGIN(&one, "indexes", &indexes);
        for (uint32_t k = 0; done && k < state->index_count; k++) {
            length = bson_uint32_to_string(k, &at, key, sizeof key);
            done = bson_append_document_begin(&indexes, at, (int)length, &index) &&
                   BSON_APPEND_UTF8(&index, "name", state->indexes[k].definition->name) &&
                   BSON_APPEND_INT64(&index, "entries", (int64_t)state->indexes[k].entries.count) &&
                   bson_append_document_end(&indexes, &index);
        }
        done =
            done && bson_append_array_end(&one, &indexes) && bson_append_document_end(&list, &one);
    }
    return done && bson_append_array_end(stats, &list);
}

/* append_snapshots -- how many older snapshots are in use, and the commit of the oldest. */
static bool append_snapshots(bson_t *stats, database *db) {
    uint64_t oldest;
    uint32_t count = snapshot_count_acquired(db, &oldest);
    return BSON_APPEND_INT64(stats, "snapshots", count) &&
           (count == 0 || BSON_APPEND_INT64(stats, "oldestSnapshot", (int64_t)oldest));
}

tansu_status tansu_stats(tansu_db *db, tansu_buffer *result, tansu_error *error) {
    if (db == NULL || result == NULL)
        return null_argument(db == NULL ? "db" : "result", error);
    static const char *const stores[] = {"persistent", "temporary", "memory"};
    static const char *const levels[] = {"default", "full", "process", "interval"};
    database *d = db_inner(db);
    tansu_status status = handle_check_process(d, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(d);
    bson_t stats = BSON_INITIALIZER;
    log_statistics log = log_measure(d->log);
    bool done =
        (d->folder == NULL || BSON_APPEND_UTF8(&stats, "path", d->folder)) &&
        BSON_APPEND_UTF8(&stats, "store", stores[d->store]) &&
        BSON_APPEND_UTF8(&stats, "durability", levels[d->durability]) &&
        BSON_APPEND_BOOL(&stats, "readOnly", d->read_only) &&
        BSON_APPEND_INT32(&stats, "format", LOG_FORMAT) &&
        BSON_APPEND_INT64(&stats, "sequence", (int64_t)v->sequence) &&
        BSON_APPEND_INT64(&stats, "checkpointSequence",
                          (int64_t)__atomic_load_n(&d->checkpoint_sequence, __ATOMIC_RELAXED)) &&
        append_collections(&stats, v) &&
        BSON_APPEND_INT64(&stats, "logBytes", (int64_t)log.bytes) &&
        BSON_APPEND_INT64(&stats, "logSegments", log.segments) &&
        BSON_APPEND_INT64(&stats, "deadBytes", (int64_t)compact_dead(d)) &&
        BSON_APPEND_INT64(&stats, "compactions",
                          (int64_t)__atomic_load_n(&d->compactions, __ATOMIC_RELAXED)) &&
        BSON_APPEND_INT64(&stats, "indexFileBytes",
                          d->bs == NULL ? 0 : (int64_t)block_store_size(d->bs)) &&
        BSON_APPEND_INT64(&stats, "indexMemoryBytes", (int64_t)tree_store_memory(d->trees)) &&
        BSON_APPEND_INT64(&stats, "indexDirtyBytes", (int64_t)tree_store_dirty(d->trees)) &&
        BSON_APPEND_INT64(&stats, "writeStalls",
                          (int64_t)__atomic_load_n(&d->write_stalls, __ATOMIC_RELAXED)) &&
        BSON_APPEND_INT64(&stats, "writeStallMicroseconds",
                          (int64_t)__atomic_load_n(&d->write_stall_us, __ATOMIC_RELAXED)) &&
        append_snapshots(&stats, d) &&
        (d->rebuilt[0] == 0 || BSON_APPEND_UTF8(&stats, "indexesRebuilt", d->rebuilt)) &&
        (!index_files_damaged(d) || BSON_APPEND_BOOL(&stats, "indexesDamaged", true)) &&
        buffer_set(result, bson_get_data(&stats), stats.len);
    bson_destroy(&stats);
    snapshot_release(d, v);
    return done ? TANSU_OK : error_memory(error);
}
