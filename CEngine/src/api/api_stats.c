/*
 * api/api_stats.c -- statistics of a database.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "compact/compact.h"
#include "feed/feed.h"
#include "log/follow/follow.h"
#include "query/plan/partial_filter.h"
#include "store/checkpoint/checkpoint.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/index_backlog/index_backlog.h"
#include "store/open/instances.h"
#include "store/readers/reader_registry.h"
#include "store/write_lock.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

/* append_collections -- every collection with its indexes. */
static void append_collections(writer *w, const snapshot *v) {
    size_t list = writer_open(w, "collections", DOC_ARRAY);
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    for (uint32_t i = 0; (state = snapshot_next(&all)) != NULL; i++) {
        size_t one = writer_open_index(w, i, DOC_DOCUMENT);
        writer_string(w, "name", state->name);
        writer_int64(w, "documents", (int64_t)state->count);
        collection_write_options(state, w);
        size_t indexes = writer_open(w, "indexes", DOC_ARRAY);
        for (uint32_t k = 0; k < state->index_count; k++) {
            size_t index = writer_open_index(w, k, DOC_DOCUMENT);
            writer_string(w, "name", state->indexes[k].definition->name);
            /* One that cannot be brought up to date is corrupt. */
            uint64_t entries = index_waits(state, k + 1) ? 0 : state->indexes[k].entries.count;
            writer_int64(w, "entries", (int64_t)entries);
            writer_end(w, index);
        }
        writer_end(w, indexes);
        writer_end(w, one);
    }
    writer_end(w, list);
}

/* append_snapshots -- how many older snapshots are in use, the commit of the oldest, and what they
 * keep of what was compacted. */
static void append_snapshots(writer *w, database *db) {
    uint64_t oldest;
    uint32_t count = snapshot_count_acquired(db, &oldest);
    writer_int64(w, "snapshots", count);
    if (count != 0)
        writer_int64(w, "oldestSnapshot", (int64_t)oldest);
    writer_int64(w, "pinnedBytes", (int64_t)log_pinned(db->log, UINT64_MAX));
}

/* A list of readers that is being written. */
typedef struct reader_list {
    writer *w;
    uint64_t removals;
    uint32_t count;
    size_t list;
} reader_list;

/* append_reader -- a reader_visitor. */
static void append_reader(void *context, const reader_report *reader) {
    reader_list *l = context;
    if (l->count == 0)
        l->list = writer_open(l->w, "readers", DOC_ARRAY);
    size_t one = writer_open_index(l->w, l->count++, DOC_DOCUMENT);
    writer_int64(l->w, "process", (int64_t)reader->process);
    uint8_t opened[8];
    store_u64(opened, (uint64_t)reader->opened);
    writer_value(l->w, "openedAt", &(doc_value){opened, sizeof opened, DOC_DATE});
    writer_int64(l->w, "sequence", (int64_t)reader->commit);
    writer_int64(l->w, "pinnedBytes", (int64_t)reader_pinned(reader, l->removals));
    writer_end(l->w, one);
}

/* append_readers -- who reads the database beside its writer, if somebody does. */
static void append_readers(writer *w, const database *db) {
    if (db->options.store != TANSU_STORE_PERSISTENT)
        return;
    reader_list l = {.w = w, .removals = log_follow_removals(db->log).bytes};
    readers_list(db->files.calls, db->files.folder, append_reader, &l);
    if (l.count != 0)
        writer_end(w, l.list);
}

/* append_counter -- a number that other threads change meanwhile. */
static void append_counter(writer *w, const char *key, const aligned_u64 *counter) {
    writer_int64(w, key, (int64_t)__atomic_load_n(counter, __ATOMIC_RELAXED));
}

tansu_status tansu_stats(tansu_db *db, tansu_buffer *result, tansu_error *error) {
    if (db == NULL || result == NULL)
        return null_argument(db == NULL ? "db" : "result", error);
    static const char *const stores[] = {"persistent", "temporary", "memory"};
    static const char *const levels[] = {"default", "full", "process", "interval"};
    database *d;
    tansu_status status = handle_check_process(db_inner(db), error);
    if (status == TANSU_OK)
        status = database_enter(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(d);
    status = snapshot_indexes_current(v, error);
    if (status != TANSU_OK && status != TANSU_E_CORRUPT) {
        snapshot_release(d, v);
        return status;
    }
    log_statistics log = log_measure(d->log);
    writer w = {.out = result};
    result->size = 0;
    size_t stats = writer_begin(&w);
    if (d->files.folder != NULL)
        writer_string(&w, "path", d->files.folder);
    writer_string(&w, "store", stores[d->options.store]);
    writer_string(&w, "durability", levels[d->options.durability]);
    writer_bool(&w, "readOnly", d->options.read_only);
    if (d->options.concurrent) {
        instances_statistics counted = instances_measure(db_inner(db));
        writer_bool(&w, "allowWriter", true);
        writer_bool(&w, "follow", db_inner(db)->options.follow);
        writer_int64(&w, "refreshes", (int64_t)counted.refreshes);
        writer_int64(&w, "reopenings", (int64_t)counted.replacements);
    }
    writer_binary(&w, "uuid", DOC_SUBTYPE_UUID, d->manifest.known.uuid, 16);
    if (d->keys != NULL)
        writer_string(&w, "encrypted", "aes-256-gcm");
    writer_int32(&w, "format", LOG_FORMAT);
    writer_int64(&w, "sequence", (int64_t)v->sequence);
    append_counter(&w, "checkpointSequence", &d->checkpoints.sequence);
    append_collections(&w, v);
    writer_int64(&w, "logBytes", (int64_t)log.bytes);
    writer_int64(&w, "logSegments", log.segments);
    if (log.compressed != 0) {
        writer_int64(&w, "compressedBytes", (int64_t)log.compressed);
        writer_int64(&w, "compressedFromBytes", (int64_t)log.images);
    }
    writer_int64(&w, "deadBytes", (int64_t)compact_dead(d));
    append_counter(&w, "compactions", &d->compactor.compactions);
    writer_int64(&w, "indexFileBytes", d->bs == NULL ? 0 : (int64_t)block_store_size(d->bs));
    writer_int64(&w, "indexMemoryBytes", (int64_t)tree_store_memory(d->trees));
    writer_int64(&w, "indexDirtyBytes", (int64_t)tree_store_dirty(d->trees));
    append_counter(&w, "validationWarnings", &d->validation_warnings);
    append_counter(&w, "writeStalls", &d->eviction.write_stalls);
    append_counter(&w, "writeStallMicroseconds", &d->eviction.write_stall_us);
    append_snapshots(&w, d);
    append_readers(&w, d);
    if (d->checkpoints.rebuilt[0] != 0)
        writer_string(&w, "indexesRebuilt", d->checkpoints.rebuilt);
    if (index_files_damaged(d))
        writer_bool(&w, "indexesDamaged", true);
    bool done = writer_finish(&w, stats);
    snapshot_release(d, v);
    database_leave(d);
    return done ? TANSU_OK : error_memory(error);
}
