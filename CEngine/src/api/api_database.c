/*
 * api/api_database.c -- opening, closing, syncing and checkpoints.
 */
#include "api/handles.h"
#include "api/session.h"
#include "bson/json/json.h"
#include "compact/compact.h"
#include "feed/feed.h"
#include "query/query_hooks.h"
#include "store/background/background.h"
#include "store/checkpoint/checkpoint.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/key_file.h"
#include "store/open/instances.h"
#include "store/open/open.h"
#include "store/write_lock.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void tansu_options_init(tansu_options *options) {
    if (options != NULL)
        options_set_defaults(options);
}

tansu_status tansu_open(const tansu_options *options, tansu_db **db, tansu_error *error) {
    if (options == NULL || db == NULL)
        return null_argument(db == NULL ? "db" : "options", error);
    *db = NULL;
    tansu_options whole;
    tansu_status status = options_complete(options, &whole, error);
    if (status == TANSU_OK)
        status = handle_open(&whole, &fs_system, &engine_query_hooks, db, error);
    if (status == TANSU_OK)
        background_enable(db_inner(*db));
    return status;
}

tansu_status tansu_open_path(const char *path, tansu_db **db, tansu_error *error) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = path;
    options.store = path == NULL ? TANSU_STORE_MEMORY : TANSU_STORE_PERSISTENT;
    return tansu_open(&options, db, error);
}

tansu_status tansu_shutdown(tansu_db *db, tansu_error *error) {
    if (db == NULL || handle_inherited(db_inner(db)))
        return TANSU_OK;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->mutex);
    uint64_t handles = d->instances.all == NULL ? d->handles.count : instances_handles(d);
    if (handles == 0)
        __atomic_store_n(&d->handles.closing, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->mutex);
    if (handles != 0)
        return error_set(error, TANSU_E_BUSY, d->files.folder,
                         "%llu transactions, cursors or feeds are open; end them first",
                         (unsigned long long)handles);
    if (d->instances.all == NULL)
        return database_close(d, error);
    instances_close(d);
    return TANSU_OK;
}

void tansu_close(tansu_db *db) {
    if (db == NULL || handle_inherited(db_inner(db)))
        return;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->mutex);
    d->handles.count++; /* so that the last handle of others does not free the database meanwhile */
    __atomic_store_n(&d->handles.closing, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->mutex);
    session_end_all(db);
    commit_wait_wake(d);
    if (d->instances.all != NULL)
        instances_close(d);
    handle_release(d);
}

tansu_status tansu_refresh(tansu_db *db, int *changed, uint64_t *sequence, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    bool newer = false;
    tansu_status status = instances_refresh(db_inner(db), &newer, sequence, error);
    if (changed != NULL)
        *changed = newer;
    return status;
}

tansu_status tansu_sync(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    database *d = db_inner(db);
    tansu_status status = handle_check_process(d, error);
    if (status != TANSU_OK || d->options.read_only)
        return status;
    status = folder_check(d, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire_head(d);
    uint64_t sequence = v->sequence;
    snapshot_release(d, v);
    if (log_failed(d->log))
        return error_set(error, TANSU_E_SYNC_FAILED, d->files.folder,
                         "An earlier sync failed; close the database and open it again");
    status = log_sync(d->log, sequence, error);
    /* Those who made these commits may not have got as far. */
    if (status == TANSU_OK)
        snapshot_make_visible(d, sequence);
    return status;
}

tansu_status tansu_checkpoint(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    tansu_status status = handle_check_process(db_inner(db), error);
    if (status == TANSU_OK)
        status = checkpoint_write(db_inner(db), error);
    if (status == TANSU_OK)
        compactor_request(db_inner(db));
    return status;
}

/* rekey -- tansu_rekey(), or with a new data key as well. */
static tansu_status rekey(tansu_db *db, const tansu_key *key, bool everything,
                          tansu_progress progress, void *context, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    user_key fresh;
    database *d = db_inner(db);
    tansu_status status = key_argument(key, &fresh, error);
    if (status == TANSU_OK)
        status = handle_acquire(d, error);
    if (status != TANSU_OK)
        return status;
    status = write_lock_check(d, error);
    if (status == TANSU_OK && d->keys == NULL)
        status = error_set(error, TANSU_E_INVALID_STATE, d->files.folder,
                           "The database is not encrypted, so it has no key");
    if (status == TANSU_OK && d->options.store == TANSU_STORE_PERSISTENT)
        status = everything ? compact_rekey(d, &fresh, progress, context, error)
                            : key_file_replace(d, &fresh, false, error);
    handle_release(d);
    return status;
}

tansu_status tansu_rekey(tansu_db *db, const tansu_key *key, tansu_error *error) {
    return rekey(db, key, false, NULL, NULL, error);
}

tansu_status tansu_rekey_everything(tansu_db *db, const tansu_key *key, tansu_progress progress,
                                    void *context, tansu_error *error) {
    return rekey(db, key, true, progress, context, error);
}

/* ---- Options in JSON form ---- */

/* A text of options may be this long, and objects in it this deep. */
#define OPTIONS_SIZE (1024u * 1024u)
#define OPTIONS_DEPTH 4

/* A member that is a whole number: where it goes, and how many bytes it has there. */
typedef struct number_member {
    const char *name;
    size_t offset;
    size_t size;
} number_member;

#define NUMBER(name, field) \
    { name, offsetof(tansu_options, field), sizeof((tansu_options){0}.field) }

static const number_member numbers[] = {
    NUMBER("intervalMs", interval_ms),
    NUMBER("busyTimeoutMs", busy_timeout_ms),
    NUMBER("segmentSize", segment_size),
    NUMBER("checkpointBytes", checkpoint_bytes),
    NUMBER("indexCacheBytes", index_cache_bytes),
    NUMBER("blockCacheBytes", block_cache_bytes),
    NUMBER("compactionPercent", compaction_percent),
    NUMBER("compactionShare", compaction_share),
    NUMBER("lockTimeoutMs", lock_timeout_ms),
    NUMBER("maxPinnedBytes", max_pinned_bytes),
    NUMBER("sortMemoryBytes", sort_memory_bytes),
    NUMBER("groupMemoryBytes", group_memory_bytes),
    NUMBER("transactionMemoryBytes", transaction_memory_bytes),
    NUMBER("keyIterations", key_iterations),
};

/* A text that stands for a value of an enumeration. */
typedef struct choice {
    const char *text;
    int value;
} choice;

static const choice stores[] = {{"persistent", TANSU_STORE_PERSISTENT},
                                {"temporary", TANSU_STORE_TEMPORARY},
                                {"memory", TANSU_STORE_MEMORY},
                                {NULL, 0}};
static const choice durabilities[] = {{"full", TANSU_DURABILITY_FULL},
                                      {"process", TANSU_DURABILITY_PROCESS},
                                      {"interval", TANSU_DURABILITY_INTERVAL},
                                      {NULL, 0}};
static const choice read_modes[] = {
    {"guarded", TANSU_READ_GUARDED}, {"unguarded", TANSU_READ_UNGUARDED}, {NULL, 0}};

/* wrong_value -- the error for a member whose value is not one of those that it may have. */
static tansu_status wrong_value(const char *name, const char *expected, tansu_error *error) {
    return error_set(error, TANSU_E_INVALID_ARGUMENT, name, "The option \"%s\" must be %s", name,
                     expected);
}

/* text_of -- the text of a value; NULL when it is none, or holds a NUL. */
static const char *text_of(const doc_value *value) {
    size_t size;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : NULL;
    return text != NULL && strlen(text) == size ? text : NULL;
}

/* read_choice -- the value of the text; false when it is none of the list. */
static bool read_choice(const doc_value *value, const choice *list, int *result) {
    const char *text = text_of(value);
    for (; text != NULL && list->text != NULL; list++) {
        if (strcmp(list->text, text) == 0) {
            *result = list->value;
            return true;
        }
    }
    return false;
}

/* read_number -- a whole number that fits the member. */
static bool read_number(const doc_value *value, const number_member *member,
                        tansu_options *options) {
    int64_t number;
    char *field = (char *)options + member->offset;
    if (value->type == DOC_BOOL || !doc_as_int64(value, &number) || number < 0 ||
        (member->size == sizeof(uint32_t) && number > UINT32_MAX))
        return false;
    if (member->size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = (uint64_t)number;
    return true;
}

/* read_key -- the key: binary of 32 bytes, or text. */
static tansu_status read_key(const char *name, const doc_value *value, bool passphrase,
                             tansu_options *options, tansu_error *error) {
    if (options->key != NULL)
        return wrong_value(name, "the only key", error);
    if (value->type != (passphrase ? DOC_STRING : DOC_BINARY))
        return wrong_value(name, passphrase ? "text" : "binary data of 32 bytes", error);
    if (passphrase)
        options->key = doc_string(value, &options->key_size);
    else {
        options->key = value->data + 5;
        options->key_size = value->size - 5;
    }
    options->key_kind = passphrase ? TANSU_KEY_PASSPHRASE : TANSU_KEY_BYTES;
    return TANSU_OK;
}

/* read_member -- one option. A path and a key are bytes of `value`. */
static tansu_status read_member(const char *name, const doc_value *value, tansu_options *options,
                                tansu_error *error) {
    int chosen = 0;
    if (strcmp(name, "path") == 0) {
        options->path = text_of(value);
        return options->path != NULL ? TANSU_OK : wrong_value(name, "text without NUL", error);
    }
    if (strcmp(name, "store") == 0) {
        if (!read_choice(value, stores, &chosen))
            return wrong_value(name, "\"persistent\", \"temporary\" or \"memory\"", error);
        options->store = (tansu_store)chosen;
        return TANSU_OK;
    }
    if (strcmp(name, "durability") == 0) {
        if (!read_choice(value, durabilities, &chosen))
            return wrong_value(name, "\"full\", \"process\" or \"interval\"", error);
        options->durability = (tansu_durability)chosen;
        return TANSU_OK;
    }
    if (strcmp(name, "readMode") == 0) {
        if (!read_choice(value, read_modes, &chosen))
            return wrong_value(name, "\"guarded\" or \"unguarded\"", error);
        options->read_mode = (tansu_read_mode)chosen;
        return TANSU_OK;
    }
    if (strcmp(name, "key") == 0 || strcmp(name, "passphrase") == 0)
        return read_key(name, value, name[0] == 'p', options, error);
    int *flag = strcmp(name, "readOnly") == 0      ? &options->read_only
                : strcmp(name, "allowWriter") == 0 ? &options->allow_writer
                : strcmp(name, "follow") == 0      ? &options->follow
                : strcmp(name, "mustExist") == 0   ? &options->must_exist
                                                   : NULL;
    if (flag != NULL && value->type != DOC_BOOL)
        return wrong_value(name, "true or false", error);
    if (flag != NULL) {
        *flag = doc_bool(value);
        return TANSU_OK;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        return read_number(value, &numbers[i], options)
                   ? TANSU_OK
                   : wrong_value(name, "a whole number in the range of the option", error);
    }
    return error_set(error, TANSU_E_INVALID_ARGUMENT, name,
                     "The option \"%s\" does not exist; see tansu_open_json() for their names",
                     name);
}

tansu_status options_parse(const uint8_t *doc, size_t size, tansu_options *options,
                           tansu_error *error) {
    tansu_status status = TANSU_OK;
    doc_iter iter;
    if (doc_iter_init(&iter, doc, size))
        while (status == TANSU_OK && doc_iter_next(&iter))
            status = read_member(iter.key, &iter.value, options, error);
    return status;
}

tansu_status tansu_open_json(const char *options, tansu_db **db, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    *db = NULL;
    if (options == NULL)
        options = "{}";
    tansu_options parsed;
    tansu_options_init(&parsed);
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_status status =
        json_parse(options, strlen(options), OPTIONS_SIZE, OPTIONS_DEPTH, &bson, error);
    if (status == TANSU_E_TOO_LARGE)
        error_set(error, status, "options",
                  "The options have more than %u bytes or %u levels; give tansu_open() a longer "
                  "passphrase",
                  OPTIONS_SIZE, OPTIONS_DEPTH);
    if (status == TANSU_OK)
        status = options_parse(bson.data, bson.size, &parsed, error);
    if (status == TANSU_OK)
        status = tansu_open(&parsed, db, error);
    if (bson.size != 0)
        crypt_wipe(bson.data, bson.size); /* it may have a key */
    tansu_buffer_free(&bson);
    return status;
}
