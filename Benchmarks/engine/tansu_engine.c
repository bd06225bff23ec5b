/*
 * tansu_engine.c -- Tansu through its public C API. Queries are built for each call, as SQLite's
 * values are bound for each call; everything else is ready-made.
 */
#include "bench.h"
#include "bson_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tansu.h>

#define COLLECTION "docs"
#define TANSU_BATCH 256

static const char *const index_names[FIELD_COUNT] = {"docs_name", "docs_city", "docs_age"};
static const char *const index_paths[FIELD_COUNT] = {"name", "address.city", "age"};

struct tansu_store_handle {
    struct store store;
    tansu_db *db;
    tansu_txn *txn; /* NULL: each write is a commit of its own */
    tansu_buffer buffer;
    tansu_error error;
};

/* tansu_check -- returns 0 for OK, or -1 and keeps the error's text. */
static int tansu_check(struct tansu_store_handle *self, tansu_status status) {
    if (status == TANSU_OK)
        return 0;
    snprintf(self->store.error, BENCH_ERROR_SIZE, "Tansu: %s: %.300s (%.100s)",
             tansu_status_name(status), self->error.message, self->error.context);
    return -1;
}

/* tansu_open_as -- opens or creates the database of a folder; `key` has 32 bytes, or is NULL. */
static int tansu_open_as(const struct engine *engine, const void *key, const char *folder,
                         const struct settings *settings, struct store **store, char *error) {
    char path[BENCH_PATH_SIZE + 16];
    tansu_options options;
    struct tansu_store_handle *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, BENCH_ERROR_SIZE, "Tansu: out of memory");
        return -1;
    }
    self->store.engine = engine;
    snprintf(path, sizeof path, "%s/bench.tansu", folder);
    tansu_options_init(&options);
    options.path = path;
    options.durability =
        settings->durability == DURABILITY_FULL ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
    options.allow_writer = options.follow = settings->follows;
    options.key = key;
    options.key_size = key != NULL ? 32 : 0;
    if (settings->cache_bytes > 0)
        options.index_cache_bytes = options.block_cache_bytes = settings->cache_bytes / 2;
    if (tansu_check(self, tansu_open(&options, &self->db, &self->error)) == 0 &&
        (settings->follows ||
         tansu_check(self, tansu_collection_ensure(self->db, NULL, COLLECTION, TANSU_NO_DOCUMENT,
                                                   &self->error)) == 0)) {
        *store = &self->store;
        return 0;
    }
    snprintf(error, BENCH_ERROR_SIZE, "%s", self->store.error);
    tansu_close(self->db);
    free(self);
    return -1;
}

/* tansu_engine_open -- opens or creates the database of a folder. */
static int tansu_engine_open(const char *folder, const struct settings *settings,
                             struct store **store, char *error) {
    return tansu_open_as(&tansu_engine, NULL, folder, settings, store, error);
}

/* tansu_engine_close -- shuts the database down cleanly. */
static int tansu_engine_close(struct store *store, char *error) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    tansu_txn_abort(self->txn);
    int result = tansu_check(self, tansu_shutdown(self->db, &self->error));
    if (result != 0)
        snprintf(error, BENCH_ERROR_SIZE, "%s", self->store.error);
    tansu_buffer_free(&self->buffer);
    free(self);
    return result;
}

/* tansu_engine_begin -- begins a write transaction. */
static int tansu_engine_begin(struct store *store) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    return tansu_check(self, tansu_txn_begin(self->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT,
                                             &self->txn, &self->error));
}

/* tansu_engine_commit -- commits it. */
static int tansu_engine_commit(struct store *store) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    tansu_txn *txn = self->txn;
    self->txn = NULL;
    return tansu_check(self, tansu_txn_commit(txn, NULL, &self->error));
}

/* tansu_engine_insert -- inserts documents, a few hundred a call. */
static int tansu_engine_insert(struct store *store, const struct document *documents,
                               size_t count) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    tansu_document batch[TANSU_BATCH];
    for (size_t done = 0; done < count;) {
        size_t n = 0;
        while (n < TANSU_BATCH && done + n < count) {
            batch[n].data = documents[done + n].bson;
            batch[n].size = documents[done + n].bson_size;
            n++;
        }
        if (tansu_check(self, tansu_save(self->db, self->txn, COLLECTION, batch, n, TANSU_INSERT,
                                         NULL, &self->error)) != 0)
            return -1;
        done += n;
    }
    return 0;
}

/* tansu_engine_replace -- replaces the document with the same id. */
static int tansu_engine_replace(struct store *store, const struct document *document) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    tansu_document input = {document->bson, document->bson_size};
    return tansu_check(self, tansu_save(self->db, self->txn, COLLECTION, &input, 1, TANSU_REPLACE,
                                        NULL, &self->error));
}

/* tansu_engine_remove -- deletes a document by id. */
static int tansu_engine_remove(struct store *store, int64_t id) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    struct bson_writer key;
    int removed = 0;
    bson_writer_begin(&key);
    bson_writer_int64(&key, "_id", id);
    bson_writer_close(&key);
    if (tansu_check(self, tansu_remove_id(self->db, self->txn, COLLECTION,
                                          (tansu_document){key.data, key.size}, &removed,
                                          &self->error)) != 0)
        return -1;
    if (removed == 1)
        return 0;
    snprintf(self->store.error, BENCH_ERROR_SIZE, "Tansu: a document is missing");
    return -1;
}

/* tansu_pour -- pours one BSON document, whose first element is an int64 `_id`, into the sink. */
static void tansu_pour(struct sink *sink, const void *data, size_t size) {
    const size_t id_offset = 4 + 1 + sizeof "_id";
    sink_take(sink, data, size);
    if (sink->identify) {
        const uint8_t *bytes = (const uint8_t *)data + id_offset;
        uint64_t id = 0;
        for (size_t i = 0; i < 8 && id_offset + i < size; i++)
            id |= (uint64_t)bytes[i] << (8 * i);
        sink_identify(sink, (int64_t)id);
    }
}

/* tansu_engine_get -- reads one document by id. */
static int tansu_engine_get(struct store *store, int64_t id, struct sink *sink) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    struct bson_writer key;
    bson_writer_begin(&key);
    bson_writer_int64(&key, "_id", id);
    bson_writer_close(&key);
    if (tansu_check(self,
                    tansu_get(self->db, self->txn, COLLECTION, (tansu_document){key.data, key.size},
                              &self->buffer, &self->error)) != 0)
        return -1;
    tansu_pour(sink, self->buffer.data, self->buffer.size);
    return 0;
}

/* write_ages -- writes the condition on the age. */
static void write_ages(const struct query *query, struct bson_writer *text) {
    bson_writer_open_document(text, "age");
    bson_writer_int32(text, "$gte", query->low);
    bson_writer_int32(text, "$lte", query->high);
    bson_writer_close(text);
}

/* write_query -- writes a query and its hints in BSON. */
static void write_query(const struct query *query, struct bson_writer *text,
                        struct bson_writer *hints) {
    bson_writer_begin(text);
    bson_writer_begin(hints);
    switch (query->kind) {
    case QUERY_NAME: bson_writer_text(text, "name", query->text); break;
    case QUERY_CITY: bson_writer_text(text, "address.city", query->text); break;
    case QUERY_ZIP: bson_writer_text(text, "address.zip", query->text); break;
    case QUERY_AGE: write_ages(query, text); break;
    case QUERY_NAMESAKES:
        bson_writer_open_document(text, "name");
        bson_writer_open_document(text, "$in");
        bson_writer_text(text, "$from", COLLECTION);
        bson_writer_text(text, "$field", "name");
        bson_writer_open_document(text, "$query");
        bson_writer_text(text, "address.city", query->text);
        write_ages(query, text);
        bson_writer_close(text);
        bson_writer_close(text);
        bson_writer_close(text);
        break;
    case QUERY_TOP_EMAIL:
        bson_writer_open_document(hints, "$orderby");
        bson_writer_int32(hints, "email", 1);
        bson_writer_close(hints);
        bson_writer_int32(hints, "$max", 10);
        break;
    case QUERY_ALL:
    case QUERY_KIND_COUNT: break;
    }
    bson_writer_close(text);
    bson_writer_close(hints);
}

/* tansu_engine_find -- runs a query and reads all its documents. */
static int tansu_engine_find(struct store *store, const struct query *query, struct sink *sink) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    struct bson_writer text, hints;
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_status status;
    write_query(query, &text, &hints);
    if (tansu_check(self, tansu_find(self->db, self->txn, COLLECTION,
                                     (tansu_document){text.data, text.size},
                                     (tansu_document){hints.data, hints.size}, &cursor,
                                     &self->error)) != 0)
        return -1;
    while ((status = tansu_cursor_next(cursor, &document, &self->error)) == TANSU_OK)
        tansu_pour(sink, document.data, document.size);
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? 0 : tansu_check(self, status);
}

/* tansu_engine_count -- counts what a query selects. */
static int tansu_engine_count(struct store *store, const struct query *query, int64_t *count) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    struct bson_writer text, hints;
    write_query(query, &text, &hints);
    return tansu_check(
        self, tansu_count(self->db, self->txn, COLLECTION, (tansu_document){text.data, text.size},
                          (tansu_document){hints.data, hints.size}, count, &self->error));
}

/* tansu_engine_index_create -- builds an index. */
static int tansu_engine_index_create(struct store *store, enum field field) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    struct bson_writer keys;
    bson_writer_begin(&keys);
    bson_writer_int32(&keys, index_paths[field], 1);
    bson_writer_close(&keys);
    return tansu_check(self, tansu_index_create(self->db, NULL, COLLECTION, index_names[field],
                                                (tansu_document){keys.data, keys.size},
                                                TANSU_NO_DOCUMENT, NULL, NULL, &self->error));
}

/* tansu_engine_index_drop -- drops it. */
static int tansu_engine_index_drop(struct store *store, enum field field) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    return tansu_check(
        self, tansu_index_drop(self->db, NULL, COLLECTION, index_names[field], &self->error));
}

/* tansu_engine_quiesce -- writes the indexes' changes into their files. */
static int tansu_engine_quiesce(struct store *store) {
    struct tansu_store_handle *self = (struct tansu_store_handle *)store;
    return tansu_check(self, tansu_checkpoint(self->db, &self->error));
}

/* What both engines have in common: all calls but open. */
#define TANSU_CALLS                                                                                \
    .version = tansu_version, .close = tansu_engine_close, .begin = tansu_engine_begin,            \
    .commit = tansu_engine_commit, .insert = tansu_engine_insert, .replace = tansu_engine_replace, \
    .remove = tansu_engine_remove, .get = tansu_engine_get, .find = tansu_engine_find,             \
    .count = tansu_engine_count, .index_create = tansu_engine_index_create,                        \
    .index_drop = tansu_engine_index_drop, .quiesce = tansu_engine_quiesce

const struct engine tansu_engine = {
    .name = "Tansu",
    .key = "tansu",
    .open = tansu_engine_open,
    TANSU_CALLS,
};

#ifdef BENCH_ENCRYPTION
/* encrypted_open -- the same, encrypted. */
static int encrypted_open(const char *folder, const struct settings *settings, struct store **store,
                          char *error) {
    static const char key[] = "32 bytes as a key of a database.";
    return tansu_open_as(&encrypted_engine, key, folder, settings, store, error);
}

const struct engine encrypted_engine = {
    .name = "Tansu-encrypted",
    .key = "encrypted",
    .open = encrypted_open,
    TANSU_CALLS,
};
#endif
