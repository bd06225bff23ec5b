/*
 * store/checkpoint/meta.c -- writing a snapshot's blocks, chunks, records of collections
 * and META record.
 */
#include "bson/document.h"
#include "store/checkpoint/checkpoint_internal.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/collection.h"
#include "store/collection_options.h"
#include "store/database_internal.h"
#include "util/array.h"
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
    collection_write_options(state, w);
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
    writer_binary(&w, "uuid", DOC_SUBTYPE_UUID, db->manifest.known.uuid, 16);
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

/* ---- The snapshot that a META record describes ---- */

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
static bool usage_of(const uint8_t *doc, size_t size, const char *key, segment_usage *result) {
    doc_value value;
    if (!doc_find(doc, size, key, strlen(key), &value) || value.type != DOC_BINARY ||
        value.data[4] != META_USAGE)
        return false;
    return segment_usage_decode(result, value.data + 5, value.size - 5);
}

/* load_segments -- the numbers of the log's segments. */
static tansu_status load_segments(database *db, const uint8_t *meta, size_t size,
                                  tansu_error *error) {
    doc_value list;
    doc_iter iter;
    if (!doc_find(meta, size, "segments", 8, &list) || list.type != DOC_ARRAY)
        return TANSU_E_CORRUPT;
    free(db->checkpoints.segments);
    db->checkpoints.segment_count = 0;
    db->checkpoints.segments =
        malloc((size_t)list.size *
               sizeof *db->checkpoints.segments); /* an item takes more than one byte */
    if (db->checkpoints.segments == NULL)
        return error_memory(error);
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);) {
        int64_t number;
        if (!doc_as_int64(&iter.value, &number) || number <= 0 || number > UINT32_MAX)
            return TANSU_E_CORRUPT;
        db->checkpoints.segments[db->checkpoints.segment_count++] = (uint32_t)number;
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
    status = index_definition_compile(definition, db->hooks, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    *index = (collection_index){.definition = definition,
                                .multikey = bool_of(part->data, part->size, "multikey")};
    return tree_open(db->trees, block, count, &index->entries, error);
}

/* load_options -- the options of a collection; those without a member are not set. */
static tansu_status load_options(const doc_value *part, collection_state *state,
                                 tansu_error *error) {
    doc_value value;
    tansu_status status = TANSU_OK;
    for (int i = 0; status == TANSU_OK && i < OPTION_COUNT; i++) {
        const char *member = collection_options[i].name;
        void *option = NULL;
        if (doc_find(part->data, part->size, member, strlen(member), &value))
            status = collection_options[i].parse(&value, &option, error);
        state->options[i] = option;
    }
    return status == TANSU_E_MEMORY || status == TANSU_OK ? status : TANSU_E_CORRUPT;
}

/* What is loaded. */
typedef struct loading {
    database *db;
    snapshot *v;
    uint64_t next_collection;
} loading;

/* enter -- puts a state into the snapshot. The names and numbers of collections, by which they are
 * found, differ, and the numbers are below the one that the next collection gets. */
static tansu_status enter(const loading *l, uint32_t record, collection_state *state,
                          tansu_error *error) {
    const catalog_writer states = {.order = order_of_states}, numbers = {.order = order_of_numbers},
                         holders = {.order = order_of_holders};
    snapshot *v = l->v;
    if (state->id >= l->next_collection || snapshot_collection(v, state->name) != NULL ||
        catalog_find(&v->numbers, order_of_numbers, &state->id) != NULL)
        return TANSU_E_CORRUPT;
    bool entered = stored_catalog_reserve(l->db, state->id) &&
                   catalog_insert(&v->numbers, &numbers, &state->id, state->named) &&
                   (state->references == NULL ||
                    catalog_insert(&v->holders, &holders, state->name, state->named)) &&
                   catalog_insert(&v->states, &states, state->name, state);
    v->count += entered;
    v->expiring += entered ? collection_expiring(state) : 0;
    if (entered)
        collection_count(state, l->db->trees);
    if (entered && record == UINT32_MAX) /* it gets a record of its own */
        stored_catalog_mark(l->db, state->id, 1);
    return entered ? TANSU_OK : error_memory(error);
}

/* load_state -- what is stored of a collection, in a state whose arrays have space for it. */
static tansu_status load_state(database *db, const doc_value *part, const doc_value *gaps,
                               const doc_value *indexes, uint64_t block, uint64_t ids_count,
                               collection_state *state, tansu_error *error) {
    doc_iter iter;
    tansu_status status = load_options(part, state, error);
    if (status == TANSU_OK)
        status = locations_new(state->id, db->bs, state->next_rid, &state->locations, error);
    if (status == TANSU_OK)
        status = locations_gaps_read(state->locations, gaps->data + 5, gaps->size - 5, error);
    if (status == TANSU_OK &&
        !usage_of(part->data, part->size, "live", locations_live(state->locations)))
        status = TANSU_E_CORRUPT;
    if (status == TANSU_OK)
        status = tree_open(db->trees, block, ids_count, &state->ids, error);
    for (doc_iter_value(&iter, indexes); status == TANSU_OK && doc_iter_next(&iter);) {
        status = load_index(db, &iter.value, &state->indexes[state->index_count], error);
        if (state->indexes[state->index_count].definition != NULL)
            state->index_count++;
    }
    return status;
}

/* load_collection -- a stored_collection_visitor: adds it to the snapshot. */
static tansu_status load_collection(void *context, uint32_t record, const doc_value *part,
                                    tansu_error *error) {
    const loading *l = context;
    database *db = l->db;
    doc_value name, indexes, gaps;
    uint64_t id, next_rid, count, block, ids_count;
    if (part->type != DOC_DOCUMENT || !int_of(part->data, part->size, "id", &id) ||
        !int_of(part->data, part->size, "nextDocno", &next_rid) ||
        !int_of(part->data, part->size, "count", &count) ||
        !int_of(part->data, part->size, "idsBlock", &block) ||
        !int_of(part->data, part->size, "idsCount", &ids_count) ||
        !doc_find(part->data, part->size, "name", 4, &name) || name.type != DOC_STRING ||
        !doc_find(part->data, part->size, "indexes", 7, &indexes) || indexes.type != DOC_ARRAY ||
        !doc_find(part->data, part->size, "gaps", 4, &gaps) || gaps.type != DOC_BINARY ||
        next_rid > MAX_RID || next_rid > log_max_rid(db->log) || ids_count > next_rid || id == 0 ||
        id > RECORD_MAX_COLLECTION || id / STORED_CATALOG_COLLECTIONS != record)
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
    doc_value compression;
    size_t compression_length;
    if (doc_find(part->data, part->size, "compression", 11, &compression) &&
        compression.type == DOC_STRING)
        (void)codec_of_name(doc_string(&compression, &compression_length), &state->codec);
    state->next_rid = next_rid;
    state->count = count;
    collection_name *named = collection_name_new(state->id, text, length);
    if (named == NULL) {
        free(state);
        return error_memory(error);
    }
    collection_set_name(state, named);
    tansu_status status = load_state(db, part, &gaps, &indexes, block, ids_count, state, error);
    if (status == TANSU_OK)
        status = enter(l, record, state, error);
    if (status != TANSU_OK)
        collection_release(db->trees, state);
    return status;
}

/* add_tree -- CORRUPT without the members. */
static tansu_status add_tree(const doc_value *part, const char *block, const char *entries,
                             stored_trees *trees) {
    uint64_t number, count;
    if (part->type != DOC_DOCUMENT || !int_of(part->data, part->size, block, &number) ||
        !int_of(part->data, part->size, entries, &count))
        return TANSU_E_CORRUPT;
    if (!ARRAY_RESERVE(trees->list, trees->count, trees->capacity, 1))
        return TANSU_E_MEMORY;
    trees->list[trees->count].block = number;
    trees->list[trees->count++].entries = count;
    trees->entries += count;
    return TANSU_OK;
}

/* collection_trees -- a stored_collection_visitor: adds its trees. */
static tansu_status collection_trees(void *context, uint32_t record, const doc_value *part,
                                     tansu_error *error) {
    stored_trees *trees = context;
    doc_value indexes;
    doc_iter index;
    uint64_t next_rid;
    (void)record;
    (void)error;
    tansu_status status = add_tree(part, "idsBlock", "idsCount", trees);
    if (status != TANSU_OK)
        return status;
    if (!int_of(part->data, part->size, "nextDocno", &next_rid) ||
        !doc_find(part->data, part->size, "indexes", 7, &indexes) || indexes.type != DOC_ARRAY)
        return TANSU_E_CORRUPT;
    trees->other_records += (next_rid + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
    for (doc_iter_value(&index, &indexes); status == TANSU_OK && doc_iter_next(&index);)
        status = add_tree(&index.value, "block", "count", trees);
    return status;
}

tansu_status meta_trees(block_store *bs, const uint8_t *meta, size_t size, stored_trees *trees) {
    uint32_t record = 0;
    trees->other_records++; /* META */
    for (; (record = stored_catalog_next(meta, size, record)) != UINT32_MAX; record++)
        trees->other_records++;
    return stored_catalog_each(bs, meta, size, collection_trees, trees, NULL);
}

tansu_status meta_read(database *db, const uint8_t *meta, size_t size, snapshot **result,
                       tansu_error *error) {
    doc_value uuid;
    uint64_t format, sequence, position, next_collection, next_index, next_block;
    if (!meta_check(meta, size) || !int_of(meta, size, "format", &format) ||
        format != META_FORMAT || !int_of(meta, size, "sequence", &sequence) ||
        !int_of(meta, size, "position", &position) ||
        !int_of(meta, size, "nextCollection", &next_collection) ||
        !int_of(meta, size, "nextIndex", &next_index) ||
        !int_of(meta, size, "nextBlock", &next_block) || !doc_find(meta, size, "uuid", 4, &uuid) ||
        uuid.type != DOC_BINARY || uuid.size != 21 ||
        memcmp(uuid.data + 5, db->manifest.known.uuid, 16) != 0 ||
        next_collection > RECORD_MAX_COLLECTION + 1 || !log_state_matches(db, meta, size))
        return TANSU_E_CORRUPT;
    if (!usage_of(meta, size, "written", db->written))
        return TANSU_E_CORRUPT;
    tansu_status status = load_segments(db, meta, size, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_new();
    if (v == NULL)
        return error_memory(error);
    v->sequence = sequence;
    v->position = position;
    tree_store_attach(db->trees, db->bs, next_block);
    loading l = {.db = db, .v = v, .next_collection = next_collection};
    status = stored_catalog_read(db, meta, size, error);
    if (status == TANSU_OK)
        status = stored_catalog_each(db->bs, meta, size, load_collection, &l, error);
    if (status != TANSU_OK) {
        snapshot_discard(v, UINT64_MAX, collection_release, db->trees);
        return status;
    }
    db->writer.next_collection = (uint32_t)next_collection;
    db->writer.next_index = (uint32_t)next_index;
    db->checkpoints.sequence = sequence;
    *result = v;
    return TANSU_OK;
}
