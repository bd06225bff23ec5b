/*
 * api/open.c -- opening, closing, syncing, figures.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/compact.h"
#include "catalog/feed.h"
#include "query/filter.h"

#include <bson/bson.h>

void tansu_options_init(tansu_options *options) {
    if (options == NULL)
        return;
    *options = (tansu_options){.struct_size = sizeof *options,
                               .store = TANSU_STORE_PERSISTENT,
                               .durability = TANSU_DURABILITY_FULL,
                               .interval_ms = 100,
                               .busy_timeout_ms = 60000,
                               .segment_size = (uint64_t)64 << 20,
                               .checkpoint_bytes = (uint64_t)64 << 20,
                               .index_cache_bytes = (uint64_t)64 << 20,
                               .compaction_percent = 50,
                               .compaction_share = 25};
}

/* The options of the first version of the library ended before this field. */
#define OPTIONS_LEAST offsetof(tansu_options, compaction_percent)

/* take_options -- a whole struct: fields that the caller's header did not have get their defaults. */
static tansu_status take_options(const tansu_options *given, tansu_options *whole,
                                 tansu_error *error) {
    tansu_options_init(whole);
    if (given->struct_size < OPTIONS_LEAST)
        return error_set(error, TANSU_E_MISUSE, "options",
                         "the options were not filled in by tansu_options_init()");
    if (given->struct_size > sizeof *whole)
        return error_set(error, TANSU_E_MISUSE, "options",
                         "the options are of a newer header than this library: use a newer one");
    memcpy(whole, given, given->struct_size);
    whole->struct_size = sizeof *whole;
    return TANSU_OK;
}

tansu_status tansu_open(const tansu_options *options, tansu_db **db, tansu_error *error) {
    if (options == NULL || db == NULL)
        return misuse(db == NULL ? "db" : "options", error);
    *db = NULL;
    tansu_options whole;
    tansu_status status = take_options(options, &whole, error);
    return status != TANSU_OK
               ? status
               : database_open(&whole, &fs_system, &query_filters, (database **)db, error);
}

tansu_status tansu_open_path(const char *path_utf8, tansu_db **db) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = path_utf8;
    options.store = path_utf8 == NULL ? TANSU_STORE_MEMORY : TANSU_STORE_PERSISTENT;
    return tansu_open(&options, db, NULL);
}

tansu_status tansu_shutdown(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return TANSU_OK;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->state_mutex);
    uint64_t handles = d->handles;
    if (handles == 0)
        __atomic_store_n(&d->closing, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->state_mutex);
    if (handles != 0)
        return error_set(error, TANSU_E_BUSY, d->folder,
                         "%llu transactions, cursors or feeds are still open: end them first",
                         (unsigned long long)handles);
    return database_close(d, error);
}

void tansu_close(tansu_db *db) {
    if (db == NULL)
        return;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->state_mutex);
    bool now = d->handles == 0;
    __atomic_store_n(&d->closing, true, __ATOMIC_RELAXED);
    if (!now) /* with the mutex held: the last handle can't end the database meanwhile */
        feed_wake(d);
    pthread_mutex_unlock(&d->state_mutex);
    if (now)
        database_close(d, NULL);
}

tansu_status tansu_sync(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    database *d = db_inner(db);
    version *v = database_hold_head(d);
    uint64_t sequence = v->sequence;
    database_release(d, v);
    if (d->read_only)
        return TANSU_OK;
    if (log_failed(d->log))
        return error_set(error, TANSU_E_FAILED, d->folder,
                         "an earlier sync failed: close the database and open it again");
    return log_sync(d->log, sequence, error);
}

tansu_status tansu_checkpoint(tansu_db *db, tansu_error *error) {
    return db == NULL ? misuse("db", error) : checkpoint_write(db_inner(db), error);
}

/* append_collections -- every collection with its indexes. */
static bool append_collections(bson_t *stats, const version *v) {
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

/* append_snapshots -- how many versions are kept beside the newest, and which is the oldest. */
static bool append_snapshots(bson_t *stats, database *db) {
    uint64_t oldest;
    uint32_t count = database_count_held(db, &oldest);
    return BSON_APPEND_INT64(stats, "snapshots", count) &&
           (count == 0 || BSON_APPEND_INT64(stats, "oldestSnapshot", (int64_t)oldest));
}

tansu_status tansu_stats(tansu_db *db, tansu_buffer *result, tansu_error *error) {
    if (db == NULL || result == NULL)
        return misuse(db == NULL ? "db" : "result", error);
    static const char *const stores[] = {"persistent", "temporary", "memory"};
    static const char *const levels[] = {"default", "full", "process", "interval"};
    database *d = db_inner(db);
    version *v = database_hold(d);
    bson_t stats = BSON_INITIALIZER;
    log_figures figures = log_measure(d->log);
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
        BSON_APPEND_INT64(&stats, "logBytes", (int64_t)figures.bytes) &&
        BSON_APPEND_INT64(&stats, "logSegments", figures.segments) &&
        BSON_APPEND_INT64(&stats, "deadBytes", (int64_t)compact_dead(d)) &&
        BSON_APPEND_INT64(&stats, "compactions",
                          (int64_t)__atomic_load_n(&d->compactions, __ATOMIC_RELAXED)) &&
        BSON_APPEND_INT64(&stats, "cabinetBytes",
                          d->cab == NULL ? 0 : (int64_t)cabinet_size(d->cab)) &&
        BSON_APPEND_INT64(&stats, "indexMemoryBytes", (int64_t)tree_store_memory(d->trees)) &&
        BSON_APPEND_INT64(&stats, "indexDirtyBytes", (int64_t)tree_store_dirty(d->trees)) &&
        BSON_APPEND_INT64(&stats, "writeStalls",
                          (int64_t)__atomic_load_n(&d->write_stalls, __ATOMIC_RELAXED)) &&
        BSON_APPEND_INT64(&stats, "writeStallMicroseconds",
                          (int64_t)__atomic_load_n(&d->write_stall_us, __ATOMIC_RELAXED)) &&
        append_snapshots(&stats, d) &&
        (d->rebuilt[0] == 0 || BSON_APPEND_UTF8(&stats, "indexesRebuilt", d->rebuilt)) &&
        (!checkpoint_doubted(d) || BSON_APPEND_BOOL(&stats, "indexesDamaged", true)) &&
        buffer_set(result, bson_get_data(&stats), stats.len);
    bson_destroy(&stats);
    database_release(d, v);
    return done ? TANSU_OK : error_memory(error);
}
