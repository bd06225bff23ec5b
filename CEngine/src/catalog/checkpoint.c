/*
 * catalog/checkpoint.c -- the indexes' way into the cabinet and back.
 *
 * The cabinet's META record says what version its blocks make up: the commit's number, its end in the
 * log, and the catalog with the root block of every index. Everything of one checkpoint, META
 * included, is one cabinet transaction.
 */
#include "catalog/database.h"

#include "base/doc.h"
#include "base/error.h"
#include "base/size_limit.h"
#include "catalog/collection.h"
#include "catalog/manifest.h"
#include "catalog/memory.h"
#include "catalog/witness.h"

#include <bson/bson.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define INDEX_FOLDER "index"
#define CABINET_NAME INDEX_FOLDER "/blocks.tch"
/* 2: the tails of entries have forms. A cabinet of another format is made anew from the log. */
#define META_FORMAT 2

/* ---- Writing ---- */

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
static bool append_usage(bson_t *part, const char *key, usage *u) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    bool done = usage_encode(u, &bytes) && append_bytes(part, key, &bytes);
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
        status = places_gaps_give(state->places, state->next_docno, &gaps, error);
    if (status == TANSU_OK)
        status = places_checkpoint(state->places, &written, error);
    if (status != TANSU_OK) {
        tansu_buffer_free(&gaps);
        return status;
    }
    bool done =
        bson_append_document_begin(list, at, (int)length, &one) &&
        BSON_APPEND_INT64(&one, "id", state->id) && BSON_APPEND_UTF8(&one, "name", state->name) &&
        BSON_APPEND_BOOL(&one, "local", state->local) && append_bytes(&one, "gaps", &gaps) &&
        BSON_APPEND_INT64(&one, "nextDocno", (int64_t)state->next_docno) &&
        BSON_APPEND_INT64(&one, "count", (int64_t)state->count) &&
        BSON_APPEND_INT64(&one, "idsBlock", (int64_t)block) &&
        BSON_APPEND_INT64(&one, "idsCount", (int64_t)state->ids.count) &&
        append_usage(&one, "live", places_live(state->places)) &&
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

/* write_version -- everything of one version, within the cabinet transaction. */
static tansu_status write_version(database *db, const version *v, uint32_t next_collection,
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
        (!bson_append_array_end(&meta, &list) || !witness_append(db, v, &meta) ||
         !BSON_APPEND_INT64(&meta, "nextBlock", (int64_t)tree_store_next_block(db->trees))))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = cabinet_put(db->cab, CABINET_META, 0, bson_get_data(&meta), meta.len, error);
    bson_destroy(&meta);
    return status;
}

/* remove_dead -- what no version refers to any more, out of the cabinet. */
static tansu_status remove_dead(database *db, const uint64_t *blocks, size_t block_count,
                                const dropped_places *dropped, size_t dropped_count,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < block_count; i++)
        status = cabinet_remove(db->cab, CABINET_BLOCK, blocks[i], error);
    for (size_t i = 0; status == TANSU_OK && i < dropped_count; i++)
        status = places_remove_stored(db->cab, dropped[i].collection, dropped[i].count, error);
    return status;
}

/* mark_open -- says in the MANIFEST, before the first write to the cabinet, that it may not be whole
 * should the machine stop. */
static tansu_status mark_open(database *db, tansu_error *error) {
    manifest m = db->manifest;
    m.index_open = true;
    m.index_damaged = false; /* that was before they were made anew */
    fs_cache_id(db->folder, m.boot);
    if (db->manifest.index_open && !db->manifest.index_damaged &&
        strcmp(db->manifest.boot, m.boot) == 0)
        return TANSU_OK;
    tansu_status status = manifest_write(db->calls, db->folder, &m, error);
    if (status == TANSU_OK)
        db->manifest = m;
    return status;
}

/* copy_dropped -- the dropped collections so far, for this checkpoint. */
static tansu_status copy_dropped(database *db, dropped_places **list, size_t *count,
                                 tansu_error *error) {
    pthread_mutex_lock(&db->version_mutex);
    *count = db->dropped_count;
    *list = malloc((*count + 1) * sizeof **list);
    if (*list != NULL && *count != 0)
        memcpy(*list, db->dropped, *count * sizeof **list);
    pthread_mutex_unlock(&db->version_mutex);
    return *list == NULL ? error_memory(error) : TANSU_OK;
}

/* write_locked -- checkpoint_write() with the checkpoint mutex held and a version at hand. */
static tansu_status write_locked(database *db, const version *v, uint32_t next_collection,
                                 uint32_t next_index, tansu_error *error) {
    uint64_t *blocks = NULL;
    size_t block_count = 0, dropped_count = 0;
    dropped_places *dropped = NULL;
    tansu_status status = mark_open(db, error);
    if (status == TANSU_OK)
        status = copy_dropped(db, &dropped, &dropped_count, error);
    if (status == TANSU_OK)
        status = tree_store_take_free(db->trees, &blocks, &block_count, error);
    if (status != TANSU_OK) {
        free(dropped);
        return status;
    }
    status = cabinet_begin(db->cab, error);
    if (status == TANSU_OK) {
        status = write_version(db, v, next_collection, next_index, error);
        if (status == TANSU_OK)
            status = remove_dead(db, blocks, block_count, dropped, dropped_count, error);
        /* Nothing may be in the cabinet that power loss could still take out of the log. */
        if (status == TANSU_OK && db->store == TANSU_STORE_PERSISTENT)
            status =
                log_sync(db->log, __atomic_load_n(&db->log->appended, __ATOMIC_ACQUIRE), error);
        if (status == TANSU_OK)
            status = cabinet_commit(db->cab, error);
        else
            cabinet_abort(db->cab);
    }
    if (status == TANSU_OK) {
        tree_checkpoint_done(db->trees);
        pthread_mutex_lock(&db->version_mutex);
        db->dropped_count -= dropped_count;
        if (db->dropped_count != 0)
            memmove(db->dropped, db->dropped + dropped_count,
                    db->dropped_count * sizeof *db->dropped);
        pthread_mutex_unlock(&db->version_mutex);
        __atomic_store_n(&db->checkpoint_sequence, v->sequence, __ATOMIC_RELAXED);
    } else {
        tree_checkpoint_failed(db->trees);
        for (uint32_t i = 0; i < v->count; i++)
            places_checkpoint_failed(v->collections[i]->places);
        tree_store_give_free(db->trees, blocks, block_count);
    }
    free(blocks);
    free(dropped);
    return status;
}

/* write_visible -- the visible version, if the cabinet does not have it yet. */
static tansu_status write_visible(database *db, tansu_error *error) {
    tansu_status status = checkpoint_check_doubt(db, error);
    if (status != TANSU_OK)
        return status;
    version *v = database_hold(db);
    /* Numbers given out later than the version's are skipped, which does no harm. */
    uint32_t next_collection = __atomic_load_n(&db->next_collection, __ATOMIC_RELAXED);
    uint32_t next_index = __atomic_load_n(&db->next_index, __ATOMIC_RELAXED);
    if (v->sequence < db->installed_sequence)
        status = error_set(error, TANSU_E_FAILED, db->folder,
                           "an earlier sync failed: close the database and open it again");
    else if (v->sequence != db->checkpoint_sequence) {
        limit_guard guard;
        limit_enter(&guard);
        tree_store_freeze(db->trees, v->epoch);
        status = write_locked(db, v, next_collection, next_index, error);
        tree_store_freeze(db->trees, 0);
        limit_leave(&guard);
    }
    if (status == TANSU_OK)
        log_discard(db->log);
    database_release(db, v);
    return status;
}

tansu_status checkpoint_write_locked(database *db, tansu_error *error) {
    if (db->store == TANSU_STORE_MEMORY) {
        log_discard(db->log);
        return TANSU_OK;
    }
    memory_checkpoint_begun(db);
    tansu_status status = write_visible(db, error);
    memory_checkpoint_ended(db, status == TANSU_OK);
    memory_relieve(db);
    return status;
}

tansu_status checkpoint_write(database *db, tansu_error *error) {
    if (db->read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->folder, "the database is open read-only");
    if (db->store == TANSU_STORE_MEMORY)
        return TANSU_OK;
    pthread_mutex_lock(&db->checkpoint_mutex);
    tansu_status status = checkpoint_write_locked(db, error);
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

tansu_status checkpoint_shrink(database *db, tansu_error *error) {
    pthread_mutex_lock(&db->checkpoint_mutex);
    tansu_status status = checkpoint_check_doubt(db, error);
    if (status == TANSU_OK && db->cab != NULL && cabinet_wasteful(db->cab)) {
        status = mark_open(db, error);
        limit_guard guard;
        limit_enter(&guard);
        if (status == TANSU_OK)
            status = cabinet_shrink(db->cab, error);
        limit_leave(&guard);
    }
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

/* ---- Reading ---- */

/* int_of -- a whole number of the META; false without one. */
static bool int_of(const uint8_t *doc, size_t size, const char *key, uint64_t *result) {
    doc_value value;
    int64_t number;
    if (!doc_find(doc, size, key, strlen(key), &value) || !doc_as_int64(&value, &number))
        return false;
    *result = (uint64_t)number;
    return true;
}

/* bool_of -- a bool of the META; false without one. */
static bool bool_of(const uint8_t *doc, size_t size, const char *key) {
    doc_value value;
    return doc_find(doc, size, key, strlen(key), &value) && value.type == DOC_BOOL &&
           doc_bool(&value);
}

/* usage_of -- a usage of the META; false without one. */
static bool usage_of(const uint8_t *doc, size_t size, const char *key, usage *result) {
    doc_value value;
    return doc_find(doc, size, key, strlen(key), &value) && value.type == DOC_BINARY &&
           value.size >= 5 && usage_decode(result, value.data + 5, value.size - 5);
}

/* load_segments -- the numbers of the log's segments. */
static tansu_status load_segments(database *db, const uint8_t *meta, size_t size,
                                  tansu_error *error) {
    doc_value list;
    doc_iter iter;
    if (!doc_find(meta, size, "segments", 8, &list) || list.type != DOC_ARRAY)
        return TANSU_E_CORRUPT;
    free(db->named);
    db->named_count = 0;
    db->named =
        malloc((size_t)list.size * sizeof *db->named); /* an item takes more than one byte */
    if (db->named == NULL)
        return error_memory(error);
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);) {
        int64_t number;
        if (!doc_as_int64(&iter.value, &number) || number <= 0 || number > UINT32_MAX)
            return TANSU_E_CORRUPT;
        db->named[db->named_count++] = (uint32_t)number;
    }
    return TANSU_OK;
}

/* load_index -- one secondary index. */
static tansu_status load_index(database *db, const doc_value *part, collection_index *index,
                               tansu_error *error) {
    doc_value name, keys, options;
    uint64_t id, block, count;
    size_t length;
    if (part->type != DOC_DOCUMENT || !int_of(part->data, part->size, "id", &id) ||
        !int_of(part->data, part->size, "block", &block) ||
        !int_of(part->data, part->size, "count", &count) ||
        !doc_find(part->data, part->size, "name", 4, &name) || name.type != DOC_STRING ||
        !doc_find(part->data, part->size, "keys", 4, &keys) || keys.type != DOC_DOCUMENT ||
        !doc_find(part->data, part->size, "options", 7, &options) || options.type != DOC_DOCUMENT)
        return TANSU_E_CORRUPT;
    index_definition *definition;
    tansu_status status = index_definition_parse(doc_string(&name, &length), keys.data, keys.size,
                                                 options.data, options.size, &definition, error);
    if (status != TANSU_OK)
        return status;
    definition->id = (uint32_t)id;
    status = index_definition_compile(definition, db->filters, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    *index = (collection_index){.definition = definition,
                                .multikey = bool_of(part->data, part->size, "multikey")};
    return tree_open(db->trees, block, count, &index->entries, error);
}

/* load_collection -- one collection, appended to the version. */
static tansu_status load_collection(database *db, version *v, const doc_value *part,
                                    tansu_error *error) {
    doc_value name, indexes, gaps;
    uint64_t id, next_docno, count, block, ids_count;
    if (part->type != DOC_DOCUMENT || !int_of(part->data, part->size, "id", &id) ||
        !int_of(part->data, part->size, "nextDocno", &next_docno) ||
        !int_of(part->data, part->size, "count", &count) ||
        !int_of(part->data, part->size, "idsBlock", &block) ||
        !int_of(part->data, part->size, "idsCount", &ids_count) ||
        !doc_find(part->data, part->size, "name", 4, &name) || name.type != DOC_STRING ||
        !doc_find(part->data, part->size, "indexes", 7, &indexes) || indexes.type != DOC_ARRAY ||
        !doc_find(part->data, part->size, "gaps", 4, &gaps) || gaps.type != DOC_BINARY ||
        next_docno > INDEX_MAX_DOCNO || next_docno > log_docnos_most(db->log) || id == 0 ||
        id > RECORD_MAX_COLLECTION)
        return TANSU_E_CORRUPT;
    size_t length;
    const char *text = doc_string(&name, &length);
    uint32_t index_count = 0;
    doc_iter iter;
    for (doc_iter_value(&iter, &indexes); doc_iter_next(&iter);)
        index_count++;
    collection_state *state = calloc(1, sizeof *state + index_count * sizeof(collection_index));
    if (state == NULL)
        return error_memory(error);
    state->id = (uint32_t)id;
    state->local = bool_of(part->data, part->size, "local");
    state->next_docno = next_docno;
    state->count = count;
    memcpy(state->name, text, length < TANSU_MAX_NAME ? length : TANSU_MAX_NAME);
    v->collections[v->count++] = state;
    tansu_status status = places_new(state->id, db->cab, next_docno, &state->places, error);
    if (status == TANSU_OK)
        status = places_gaps_take(state->places, gaps.data + 5, gaps.size - 5, error);
    if (status == TANSU_OK && !usage_of(part->data, part->size, "live", places_live(state->places)))
        status = TANSU_E_CORRUPT;
    if (status == TANSU_OK)
        status = tree_open(db->trees, block, ids_count, &state->ids, error);
    for (doc_iter_value(&iter, &indexes); status == TANSU_OK && doc_iter_next(&iter);) {
        status = load_index(db, &iter.value, &state->indexes[state->index_count], error);
        if (state->indexes[state->index_count].definition != NULL)
            state->index_count++;
    }
    return status;
}

/* load_version -- the version that the META describes. */
static tansu_status load_version(database *db, const uint8_t *meta, size_t size, version **result,
                                 tansu_error *error) {
    doc_value uuid, list;
    uint64_t format, sequence, position, next_collection, next_index, next_block;
    if (doc_check(meta, size, DOC_CHECK_BSON, error) != TANSU_OK ||
        !int_of(meta, size, "format", &format) || format != META_FORMAT ||
        !int_of(meta, size, "sequence", &sequence) || !int_of(meta, size, "position", &position) ||
        !int_of(meta, size, "nextCollection", &next_collection) ||
        !int_of(meta, size, "nextIndex", &next_index) ||
        !int_of(meta, size, "nextBlock", &next_block) || !doc_find(meta, size, "uuid", 4, &uuid) ||
        uuid.type != DOC_BINARY || uuid.size != 21 ||
        memcmp(uuid.data + 5, db->manifest.uuid, 16) != 0 ||
        !doc_find(meta, size, "collections", 11, &list) || list.type != DOC_ARRAY ||
        !witness_holds(db, meta, size))
        return TANSU_E_CORRUPT;
    /* A checkpoint that does not tell of the log's segments is an earlier version's. */
    if (!usage_of(meta, size, "written", db->written))
        return TANSU_E_CORRUPT;
    tansu_status status = load_segments(db, meta, size, error);
    if (status != TANSU_OK)
        return status;
    uint32_t count = 0;
    doc_iter iter;
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);)
        count++;
    version *v = version_new(count);
    if (v == NULL)
        return error_memory(error);
    v->sequence = sequence;
    v->position = position;
    tree_store_attach(db->trees, db->cab, next_block);
    for (doc_iter_value(&iter, &list); status == TANSU_OK && doc_iter_next(&iter);)
        status = load_collection(db, v, &iter.value, error);
    if (status != TANSU_OK) {
        for (uint32_t i = 0; i < v->count; i++)
            collection_release(db->trees, v->collections[i]);
        version_free(v);
        return status;
    }
    db->next_collection = (uint32_t)next_collection;
    db->next_index = (uint32_t)next_index;
    db->checkpoint_sequence = sequence;
    *result = v;
    return TANSU_OK;
}

/* cabinet_flags_of -- how the database opens its cabinet. */
static unsigned cabinet_flags_of(const database *db) {
    return (db->read_only ? CABINET_READ_ONLY : 0) |
           (db->store == TANSU_STORE_TEMPORARY ? CABINET_PASSING : 0);
}

tansu_status checkpoint_discard(database *db, tansu_error *error) {
    cabinet_close(db->cab, NULL);
    db->cab = NULL;
    tree_store_attach(db->trees, NULL, 1);
    db->next_collection = db->next_index = 1;
    db->checkpoint_sequence = 0;
    usage_decode(db->written, NULL, 0);
    if (db->read_only)
        return TANSU_OK;
    /* How far the log went must not be forgotten with them, or a log that lost its end would be refused
     * once and then taken for a shorter one. */
    manifest m = db->manifest;
    m.end_sequence = db->log->witnessed;
    if (m.end_sequence > db->manifest.end_sequence) {
        tansu_status kept = manifest_write(db->calls, db->folder, &m, error);
        if (kept != TANSU_OK)
            return kept;
    }
    char *path = fs_join(db->folder, CABINET_NAME);
    char *folder = fs_join(db->folder, INDEX_FOLDER); /* it may have been deleted */
    tansu_status status = path == NULL || folder == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK && db->calls->mkdir(folder, 0755) != 0 && errno != EEXIST)
        status = error_errno(error, folder, "make the folder", errno);
    free(folder);
    if (status == TANSU_OK)
        status = cabinet_delete(db->calls, path, error);
    if (status == TANSU_OK)
        status =
            cabinet_open(db->calls, path, cabinet_flags_of(db) | CABINET_CREATE, &db->cab, error);
    free(path);
    if (status == TANSU_OK)
        tree_store_attach(db->trees, db->cab, 1);
    return status;
}

/* stopped -- whether the machine may have stopped while the index files were written. */
static bool stopped(const database *db) {
    const manifest *m = &db->manifest;
    char boot[64];
    fs_cache_id(db->folder, boot);
    return m->index_open && (boot[0] == 0 || strcmp(boot, m->boot) != 0);
}

/* note_rebuilt -- why the index files are made anew, for tansu_stats(). */
static void note_rebuilt(database *db, tansu_status status, const tansu_error *found) {
    if (status == TANSU_E_NOT_FOUND && db->cab == NULL)
        snprintf(db->rebuilt, sizeof db->rebuilt, "they were missing");
    else if (status != TANSU_E_NOT_FOUND || db->manifest.index_open ||
             db->manifest.end_sequence != 0)
        snprintf(db->rebuilt, sizeof db->rebuilt, "%.250s",
                 found->message[0] != 0 ? found->message : "they did not check out");
}

tansu_status checkpoint_load(database *db, version **v, tansu_error *error) {
    *v = NULL;
    bool lost = stopped(db);
    db->log->unbroken = db->manifest.index_open && !db->manifest.index_damaged && !lost;
    tansu_status status = TANSU_E_NOT_FOUND;
    if (db->manifest.index_damaged) {
        snprintf(db->rebuilt, sizeof db->rebuilt, "they were found to be damaged");
    } else {
        tansu_error found = {.message = ""};
        char *path = fs_join(db->folder, CABINET_NAME);
        if (path == NULL)
            return error_memory(error);
        status = cabinet_open(db->calls, path, cabinet_flags_of(db) | (lost ? CABINET_LOST : 0),
                              &db->cab, &found);
        free(path);
        tansu_buffer meta = TANSU_BUFFER_INIT;
        if (status == TANSU_OK)
            status = cabinet_get(db->cab, CABINET_META, 0, &meta, &found);
        if (status == TANSU_OK)
            status = load_version(db, meta.data, meta.size, v, &found);
        tansu_buffer_free(&meta);
        if (status == TANSU_OK)
            return TANSU_OK;
        if (status == TANSU_E_MEMORY)
            return error_memory(error);
        note_rebuilt(db, status, &found);
    }
    /* Whatever was wrong with it, the log makes a new one. */
    return checkpoint_discard(db, error);
}

tansu_status checkpoint_settle(database *db, tansu_error *error) {
    if (db->cab == NULL)
        return TANSU_OK;
    bool doubted = checkpoint_doubted(db);
    tansu_status status = cabinet_close(db->cab, doubted ? NULL : error);
    db->cab = NULL;
    if (doubted)
        status = TANSU_OK;
    if (db->read_only || status != TANSU_OK)
        return status;
    manifest m = db->manifest;
    m.end_sequence = db->head->sequence;
    m.index_open = m.index_damaged = doubted;
    if (doubted)
        m.boot[0] = 0;
    else if (m.end_sequence == db->manifest.end_sequence && !db->manifest.index_open)
        return TANSU_OK;
    return manifest_write(db->calls, db->folder, &m, error);
}
