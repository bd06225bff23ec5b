/*
 * store/write_txn/write_txn_catalog.c -- creating, dropping and renaming collections and indexes in
 * a transaction.
 */
#include "bson/writer.h"
#include "index/index_build.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/collection.h"
#include "store/collection_options.h"
#include "store/database_internal.h"
#include "store/declared_indexes.h"
#include "store/references/reference_list.h"
#include "store/tracking/change_tracking.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* free_places -- a retire_free that also has the stored chunks removed from the block store. */
typedef struct dropped_collection {
    database *db;
    locations *locations;
    uint32_t id;
    uint64_t count;
} dropped_collection;

static void free_dropped(void *context, void *object) {
    (void)context;
    dropped_collection *dropped = object;
    database *db = dropped->db;
    pthread_mutex_lock(&db->snapshots.mutex);
    if (db->dropped.count < db->dropped.capacity) /* reserved when it was dropped */
        db->dropped.items[db->dropped.count++] =
            (dropped_locations){.collection = dropped->id, .count = dropped->count};
    pthread_mutex_unlock(&db->snapshots.mutex);
    locations_free(dropped->locations);
    free(dropped);
}

static void free_locations(void *context, void *object) {
    (void)context;
    locations_free(object);
}

static void free_definition(void *context, void *object) {
    (void)context;
    index_definition_free(object);
}

/* ---- Collections ---- */

/* enter -- puts a collection's state, whose name is its own, into the private snapshot. False when
 * memory is exhausted; if something was changed, the transaction is broken. */
static bool enter(write_txn *wtxn, collection_state *state) {
    snapshot *next = wtxn->next;
    const catalog_writer states = write_txn_catalog(wtxn, order_of_states),
                         numbers = write_txn_catalog(wtxn, order_of_numbers),
                         holders = write_txn_catalog(wtxn, order_of_holders);
    if (!catalog_insert(&next->numbers, &numbers, &state->id, state->named))
        return false;
    bool entered = (state->references == NULL ||
                    catalog_insert(&next->holders, &holders, state->name, state->named)) &&
                   catalog_insert(&next->states, &states, state->name, state);
    next->count += entered;
    next->expiring += entered ? collection_expiring(state) : 0;
    wtxn->broken = wtxn->broken || !entered;
    return entered;
}

/* leave -- takes a collection out of the private snapshot. False when memory is exhausted: the
 * transaction is broken. */
static bool leave(write_txn *wtxn, const collection_state *state) {
    snapshot *next = wtxn->next;
    const catalog_writer states = write_txn_catalog(wtxn, order_of_states),
                         numbers = write_txn_catalog(wtxn, order_of_numbers),
                         holders = write_txn_catalog(wtxn, order_of_holders);
    bool left =
        (state->references == NULL || catalog_remove(&next->holders, &holders, state->name)) &&
        catalog_remove(&next->numbers, &numbers, &state->id) &&
        catalog_remove(&next->states, &states, state->name);
    next->count -= left;
    next->expiring -= left ? collection_expiring(state) : 0;
    wtxn->broken = wtxn->broken || !left;
    return left;
}

tansu_status write_txn_add_collection(write_txn *wtxn, uint32_t id, const char *name, bool local,
                                      tansu_error *error) {
    if (snapshot_collection(wtxn->next, name) != NULL)
        return error_set(error, TANSU_E_EXISTS, name,
                         "Collection \"%s\" exists; choose another name", name);
    if (!retire_reserve(&wtxn->made, 2) || !stored_catalog_reserve(wtxn->db, id))
        return error_memory(error);
    collection_state *state = NULL;
    tansu_status status = collection_new(id, name, local, wtxn->db->bs, wtxn->epoch, &state, error);
    if (status != TANSU_OK)
        return status;
    if (!enter(wtxn, state)) {
        collection_release(wtxn->db->trees, state);
        return error_memory(error);
    }
    retire_add(&wtxn->made, free_locations, NULL, state->locations);
    retire_add(&wtxn->made, retire_memory, NULL, state->named);
    stored_catalog_mark(wtxn->db, id, wtxn->epoch);
    collection_count(state, wtxn->db->trees);
    if (id >= wtxn->next_collection)
        wtxn->next_collection = id + 1;
    return TANSU_OK;
}

/* create_declared -- creates the declared indexes of a new collection. The step that creates the
 * collection undoes them, too. */
static tansu_status create_declared(write_txn *wtxn, const char *collection, tansu_error *error) {
    index_definition *definition;
    tansu_status status;
    uint32_t at = 0;
    while ((status = declared_indexes_next(&wtxn->db->declared, wtxn->db->hooks, collection, &at,
                                           &definition, error)) == TANSU_OK) {
        status = write_txn_index_create(wtxn, collection, definition, NULL, error);
        if (status != TANSU_OK)
            return status;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status write_txn_collection_ensure(write_txn *wtxn, const char *name, bool local,
                                         bool any_options, tansu_error *error) {
    tansu_status status = name_check(name, "collection", error);
    if (status != TANSU_OK)
        return status;
    const collection_state *there = snapshot_collection(wtxn->next, name);
    if (there != NULL) {
        if (any_options && there->local != local)
            return error_set(
                error, TANSU_E_EXISTS, name,
                "Collection \"%s\" exists with other options; drop it first or choose another name",
                name);
        return TANSU_OK;
    }
    uint32_t id = wtxn->next_collection;
    if (id > RECORD_MAX_COLLECTION)
        return error_set(error, TANSU_E_TOO_LARGE, name,
                         "The database has used up its collection numbers; clone it");
    if (!write_txn_step_reserve(wtxn))
        return error_memory(error);
    uint64_t frame_size = wtxn->frame_size;
    uint32_t records = wtxn->records;
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", name);
    writer_bool(&w, "local", local);
    status = write_txn_put_document(wtxn, RECORD_COLLECTION_CREATE, id, &w, document, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_add_collection(wtxn, id, name, local, error);
    if (status != TANSU_OK) {
        wtxn->frame_size = frame_size;
        wtxn->records = records;
        wtxn->changed = records != 0;
        log_shrink(wtxn->db->log, frame_size, records);
        return status;
    }
    write_txn_step_add(wtxn, (write_txn_step){.kind = STEP_CREATE_COLLECTION, .collection = id});
    return create_declared(wtxn, name, error);
}

/* reserve_dropped -- capacity for more trees of dropped indexes. */
static bool reserve_dropped(write_txn *wtxn, uint32_t more) {
    return ARRAY_RESERVE(wtxn->dropped, wtxn->dropped_count, wtxn->dropped_capacity, more);
}

/* reserve_dropped_locations -- capacity for one more collection whose stored chunks must be
 * removed. */
static bool reserve_dropped_locations(database *db) {
    pthread_mutex_lock(&db->snapshots.mutex);
    bool reserved = ARRAY_RESERVE(db->dropped.items, db->dropped.reserved, db->dropped.capacity, 1);
    db->dropped.reserved += reserved;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return reserved;
}

tansu_status write_txn_remove_collection(write_txn *wtxn, const char *name, tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_flush(wtxn, error);
    if (status == TANSU_OK)
        status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status != TANSU_OK)
        return status;
    if (state == NULL)
        return snapshot_missing(name, error);
    dropped_collection *dropped = malloc(sizeof *dropped);
    if (dropped == NULL || !reserve_dropped(wtxn, state->index_count + 1) ||
        !retire_reserve(&wtxn->retired,
                        state->index_count + 2 + OPTION_COUNT + 3 * CATALOG_REPLACED) ||
        !retire_reserve(&wtxn->made, 1) || !reserve_dropped_locations(wtxn->db) ||
        !leave(wtxn, state)) {
        free(dropped);
        return error_memory(error);
    }
    *dropped = (dropped_collection){
        .db = wtxn->db, .locations = state->locations, .id = state->id, .count = state->next_rid};
    wtxn->dropped_bytes += segment_usage_sum(locations_live(state->locations));
    retire_add(&wtxn->retired, free_dropped, NULL, dropped);
    retire_add(&wtxn->made, retire_memory, NULL, dropped);
    wtxn->dropped[wtxn->dropped_count++] = state->ids;
    for (uint32_t i = 0; i < state->index_count; i++) {
        wtxn->dropped[wtxn->dropped_count++] = state->indexes[i].entries;
        retire_add(&wtxn->retired, free_definition, NULL, (void *)state->indexes[i].definition);
    }
    for (int i = 0; i < OPTION_COUNT; i++)
        if (state->options[i] != NULL)
            retire_add(&wtxn->retired, collection_options[i].free, NULL, (void *)state->options[i]);
    retire_add(&wtxn->retired, retire_memory, NULL, state->named);
    free(state);
    return TANSU_OK;
}

/* name_record -- a record whose payload is {"name": …} or {"name": …, "to": …}. */
static tansu_status name_record(write_txn *wtxn, enum record_type type, uint32_t collection,
                                const char *name, const char *to, tansu_error *error) {
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", name);
    if (to != NULL)
        writer_string(&w, "to", to);
    return write_txn_put_document(wtxn, type, collection, &w, document, error);
}

tansu_status write_txn_collection_drop(write_txn *wtxn, const char *name, tansu_error *error) {
    const collection_state *state = snapshot_collection(wtxn->next, name);
    if (state == NULL)
        return snapshot_missing(name, error);
    tansu_status status = name_record(wtxn, RECORD_COLLECTION_DROP, state->id, name, NULL, error);
    if (status == TANSU_OK) {
        status = write_txn_remove_collection(wtxn, name, error);
        wtxn->broken = wtxn->broken || status != TANSU_OK;
    }
    return status;
}

tansu_status write_txn_move_collection(write_txn *wtxn, const char *name, const char *to,
                                       tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status != TANSU_OK || state == NULL)
        return status != TANSU_OK ? status : snapshot_missing(name, error);
    if (!retire_reserve(&wtxn->made, 1) ||
        !retire_reserve(&wtxn->retired, 1 + 6 * CATALOG_REPLACED))
        return error_memory(error);
    collection_name *renamed = collection_name_new(state->id, to, strlen(to));
    if (renamed == NULL)
        return error_memory(error);
    retire_add(&wtxn->made, retire_memory, NULL, renamed);
    if (!leave(wtxn, state))
        return error_memory(error);
    retire_add(&wtxn->retired, retire_memory, NULL, state->named);
    collection_set_name(state, renamed);
    if (enter(wtxn, state))
        return TANSU_OK;
    wtxn->broken = true;
    write_txn_discard_state(wtxn, state);
    return error_memory(error);
}

tansu_status write_txn_collection_rename(write_txn *wtxn, const char *name, const char *to,
                                         tansu_error *error) {
    tansu_status status = name_check(to, "collection", error);
    if (status != TANSU_OK)
        return status;
    const collection_state *state = snapshot_collection(wtxn->next, name);
    if (state == NULL)
        return snapshot_missing(name, error);
    if (snapshot_collection(wtxn->next, to) != NULL)
        return error_set(error, TANSU_E_EXISTS, to, "Collection \"%s\" exists; choose another name",
                         to);
    if (state->tracking != NULL && strcmp(state->tracking->to, to) == 0)
        return error_set(error, TANSU_E_INVALID_NAME, to,
                         "Collection \"%s\" notes its changes in \"%s\"; choose another name", name,
                         to);
    status = name_record(wtxn, RECORD_COLLECTION_RENAME, state->id, name, to, error);
    if (status == TANSU_OK) {
        status = write_txn_move_collection(wtxn, name, to, error);
        if (status == TANSU_OK)
            status = write_txn_move_references(wtxn, name, to, error);
        wtxn->broken = wtxn->broken || status != TANSU_OK;
    }
    return status;
}

/* ---- Indexes ---- */

/* What an index is built of in a change. */
typedef struct build_source {
    table_scan scan;
    const index_definition *definition;
    index_entries *tried;               /* NULL: every document must have entries */
    const index_build_control *control; /* may be NULL */
    uint64_t done;                      /* documents read */
    uint64_t total;
} build_source;

/* Documents between two calls of the progress function. */
#define PROGRESS_EVERY 512

/* build_check -- calls the progress function; whether the build was cancelled. */
static tansu_status build_check(void *context, tansu_error *error) {
    const build_source *source = context;
    const index_build_control *control = source->control;
    if (control == NULL || (!interrupt_asked(control->stop) &&
                            (control->progress == NULL ||
                             control->progress(control->context, source->done, source->total))))
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, source->definition->name,
                     "The building of index \"%s\" was cancelled; roll back the transaction",
                     source->definition->name);
}

/* build_next -- shows a build the collection's documents one after the other. */
static tansu_status build_next(void *context, uint64_t *rid, const uint8_t **doc, uint32_t *size,
                               tansu_error *error) {
    build_source *source = context;
    doc_ref ref;
    for (;;) {
        const index_build_control *control = source->control;
        bool due = source->done % PROGRESS_EVERY == 0 ||
                   (control != NULL && interrupt_asked(control->stop));
        tansu_status status = due ? build_check(source, error) : TANSU_OK;
        if (status == TANSU_OK)
            status = table_scan_next(&source->scan, rid, &ref, doc, size, error);
        source->done++;
        if (status != TANSU_OK || source->tried == NULL)
            return status;
        /* A version that the index can't take was replaced before the index was made, by one that
         * compaction has left out because it was replaced, too. */
        status = index_entries_make(source->tried, source->definition, *doc, *size, *rid, error);
        if (status != TANSU_E_TOO_LARGE)
            return status;
    }
}

/* attach_index -- adds an index to the private snapshot, which has capacity for it. */
static void attach_index(write_txn *wtxn, collection_state *state, index_definition *definition,
                         const tree *entries, bool multikey) {
    retire_add(&wtxn->made, free_definition, NULL, definition); /* the capacity is reserved */
    state->indexes[state->index_count++] =
        (collection_index){.definition = definition, .entries = *entries, .multikey = multikey};
    if (definition->id >= wtxn->next_index)
        wtxn->next_index = definition->id + 1;
    wtxn->next->expiring += definition->expires;
}

/* prepare_index -- the private state with capacity for one more index. */
static tansu_status prepare_index(write_txn *wtxn, const char *collection, collection_state **state,
                                  tansu_error *error) {
    if (!retire_reserve(&wtxn->made, 1))
        return error_memory(error);
    tansu_status status = write_txn_flush(wtxn, error);
    return status == TANSU_OK ? write_txn_collection(wtxn, collection, 1, state, error) : status;
}

tansu_status write_txn_add_index(write_txn *wtxn, const char *collection,
                                 index_definition *definition, const index_build_control *control,
                                 tansu_error *error) {
    collection_state *state = NULL;
    tansu_status status = prepare_index(wtxn, collection, &state, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    read_context v = write_txn_read_context(wtxn);
    build_source documents = {.definition = definition,
                              .tried = wtxn->lenient ? &wtxn->old_entries : NULL,
                              .control = control,
                              .total = state->count};
    const index_source source = {
        .next = build_next, .check = build_check, .context = &documents, .repeats = wtxn->replay};
    table_scan_init(&documents.scan, &v, state);
    tree entries;
    bool multikey = false;
    index_conflict conflict = {.rid = 0};
    status = index_build(&wtxn->writer, definition, &source, &entries, &multikey, &conflict, error);
    if (status == TANSU_E_NOT_UNIQUE)
        unique_conflict_of_build(&v, state, definition, &conflict, error);
    tansu_buffer_free(&conflict.entry);
    if (status == TANSU_OK)
        attach_index(wtxn, state, definition, &entries, multikey);
    else
        index_definition_free(definition);
    return status;
}

/* find_index -- the number of a collection's index, or UINT32_MAX. */
static uint32_t find_index(const collection_state *state, const char *name) {
    for (uint32_t i = 0; i < state->index_count; i++)
        if (strcmp(state->indexes[i].definition->name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* index_record -- the record of a new index. */
static tansu_status index_record(write_txn *wtxn, uint32_t collection,
                                 const index_definition *definition, tansu_error *error) {
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_int64(&w, "id", definition->id);
    index_definition_elements(definition, &w);
    return write_txn_put_document(wtxn, RECORD_INDEX_CREATE, collection, &w, document, error);
}

/* record_index -- writes the record and adds the index, built here, until `control` cancels it, or
 * (`entries`) before. Takes the definition over. */
static tansu_status record_index(write_txn *wtxn, const collection_state *state,
                                 index_definition *definition, const tree *entries, bool multikey,
                                 const index_build_control *control, tansu_error *error) {
    uint64_t frame_size = wtxn->frame_size, frame_documents = wtxn->frame_documents;
    uint32_t records = wtxn->records, next_index = wtxn->next_index;
    bool changed = wtxn->changed;
    const char *name = state->name; /* a copy of the state has the same */
    definition->id = wtxn->next_index;
    tansu_status status = index_record(wtxn, state->id, definition, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    collection_state *own = NULL;
    if (entries == NULL) {
        status = write_txn_add_index(wtxn, name, definition, control, error);
    } else if ((status = prepare_index(wtxn, name, &own, error)) == TANSU_OK) {
        attach_index(wtxn, own, definition, entries, multikey);
    } else {
        index_definition_free(definition);
    }
    if (status != TANSU_OK) {
        wtxn->frame_size = frame_size;
        wtxn->frame_documents = frame_documents;
        wtxn->records = records;
        wtxn->changed = changed;
        wtxn->next_index = next_index;
        log_shrink(wtxn->db->log, frame_size, records);
    }
    return status;
}

tansu_status write_txn_index_create(write_txn *wtxn, const char *collection,
                                    index_definition *definition,
                                    const index_build_control *control, tansu_error *error) {
    tansu_status status = write_txn_collection_ensure(wtxn, collection, false, false, error);
    const collection_state *state =
        status == TANSU_OK ? snapshot_collection(wtxn->next, collection) : NULL;
    if (status == TANSU_OK) {
        uint32_t i = find_index(state, definition->name);
        if (i != UINT32_MAX && index_definition_equal(state->indexes[i].definition, definition)) {
            index_definition_free(definition);
            return TANSU_OK;
        }
        if (i != UINT32_MAX)
            status = error_set(error, TANSU_E_EXISTS, definition->name,
                               "Collection \"%s\" has an index \"%s\" with another definition; "
                               "drop it first or choose another name",
                               collection, definition->name);
        else if (definition->text != NULL && collection_words(state) != 0)
            status = error_set(
                error, TANSU_E_INVALID_INDEX, definition->name,
                "Collection \"%s\" has an index of words already, \"%s\", and can have one; drop "
                "it first, and name all fields in the new one",
                collection, state->indexes[collection_words(state) - 1].definition->name);
        else if (state->index_count >= TANSU_MAX_INDEXES)
            status = error_set(
                error, TANSU_E_TOO_LARGE, definition->name,
                "Collection \"%s\" already has %d indexes, which is the limit; drop one first",
                collection, TANSU_MAX_INDEXES);
    }
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    return record_index(wtxn, state, definition, NULL, false, control, error);
}

tansu_status write_txn_index_attach(write_txn *wtxn, const char *collection,
                                    index_definition *definition, const tree *entries,
                                    bool multikey, tansu_error *error) {
    return record_index(wtxn, snapshot_collection(wtxn->next, collection), definition, entries,
                        multikey, NULL, error);
}

tansu_status write_txn_remove_index(write_txn *wtxn, const char *collection, const char *name,
                                    tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_flush(wtxn, error);
    if (status == TANSU_OK)
        status = write_txn_collection(wtxn, collection, 0, &state, error);
    if (status != TANSU_OK)
        return status;
    uint32_t i = state == NULL ? UINT32_MAX : find_index(state, name);
    if (i == UINT32_MAX)
        return error_set(error, TANSU_E_NOT_FOUND, name,
                         "Collection \"%s\" has no index \"%s\"; list its indexes", collection,
                         name);
    if (!reserve_dropped(wtxn, 1) || !retire_reserve(&wtxn->retired, 1))
        return error_memory(error);
    wtxn->dropped[wtxn->dropped_count++] = state->indexes[i].entries;
    retire_add(&wtxn->retired, free_definition, NULL, (void *)state->indexes[i].definition);
    wtxn->next->expiring -= state->indexes[i].definition->expires;
    state->index_count--;
    memmove(state->indexes + i, state->indexes + i + 1,
            (state->index_count - i) * sizeof state->indexes[0]);
    return TANSU_OK;
}

tansu_status write_txn_index_drop(write_txn *wtxn, const char *collection, const char *name,
                                  tansu_error *error) {
    const collection_state *state = snapshot_collection(wtxn->next, collection);
    uint32_t i = state != NULL ? find_index(state, name) : UINT32_MAX;
    /* A declared index can be missing: its collection was not created, or its creation was rolled
     * back. */
    bool declared = declared_indexes_suspend(&wtxn->db->declared, collection, name);
    wtxn->drops_declared = wtxn->drops_declared || declared;
    if (i == UINT32_MAX && declared)
        return TANSU_OK;
    if (state == NULL)
        return snapshot_missing(collection, error);
    if (i == UINT32_MAX)
        return error_set(error, TANSU_E_NOT_FOUND, name,
                         "Collection \"%s\" has no index \"%s\"; list its indexes", collection,
                         name);
    tansu_status status = name_record(wtxn, RECORD_INDEX_DROP, state->id, name, NULL, error);
    if (status == TANSU_OK) {
        status = write_txn_remove_index(wtxn, collection, name, error);
        wtxn->broken = wtxn->broken || status != TANSU_OK;
    }
    return status;
}

/* ---- Write txn options ---- */

/*
 * The options of collections in a transaction.
 */

tansu_status write_txn_set_codec(write_txn *wtxn, const char *name, enum codec codec,
                                 tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status == TANSU_OK && state == NULL)
        return snapshot_missing(name, error);
    if (status == TANSU_OK)
        state->codec = codec;
    return status;
}

tansu_status write_txn_collection_compress(write_txn *wtxn, const char *name, enum codec codec,
                                           tansu_error *error) {
    const collection_state *there = snapshot_collection(wtxn->next, name);
    if (there == NULL)
        return snapshot_missing(name, error);
    if (there->codec == codec)
        return TANSU_OK;
    if (!codec_available(codec))
        return codec_missing("The compression of a collection", codec, error);
    /* Makes the private copy first: what follows the record cannot fail. */
    tansu_status status = write_txn_set_codec(wtxn, name, there->codec, error);
    if (status != TANSU_OK)
        return status;
    there = snapshot_collection(wtxn->next, name);
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", name);
    writer_string(&w, "compression", codec_name(codec));
    status =
        write_txn_put_document(wtxn, RECORD_COLLECTION_OPTIONS, there->id, &w, document, error);
    return status == TANSU_OK ? write_txn_set_codec(wtxn, name, codec, error) : status;
}

/* note_holder -- whether the collection has references, for the catalog. False when memory is
 * exhausted. */
static bool note_holder(write_txn *wtxn, const collection_state *state, bool holds) {
    const catalog_writer writer = write_txn_catalog(wtxn, order_of_holders);
    if ((state->references != NULL) == holds)
        return true;
    return holds ? catalog_insert(&wtxn->next->holders, &writer, state->name, state->named)
                 : catalog_remove(&wtxn->next->holders, &writer, state->name);
}

tansu_status write_txn_set_option(write_txn *wtxn, const char *name, enum option_number number,
                                  void *option, tansu_error *error) {
    const collection_option *kind = &collection_options[number];
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status == TANSU_OK && state == NULL)
        status = snapshot_missing(name, error);
    if (status == TANSU_OK &&
        (!retire_reserve(&wtxn->made, 1) || !retire_reserve(&wtxn->retired, 1 + CATALOG_REPLACED) ||
         (number == OPTION_REFERENCES && !note_holder(wtxn, state, option != NULL))))
        status = error_memory(error);
    if (status != TANSU_OK) {
        kind->free(NULL, option);
        return status;
    }
    if (state->options[number] != NULL)
        retire_add(&wtxn->retired, kind->free, NULL, (void *)state->options[number]);
    if (option != NULL)
        retire_add(&wtxn->made, kind->free, NULL, option);
    state->options[number] = option;
    return TANSU_OK;
}

/* put_option -- records an option, and sets it. Owns it. */
static tansu_status put_option(write_txn *wtxn, const collection_state *state,
                               enum option_number number, void *option, tansu_error *error) {
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", state->name);
    collection_options[number].write(option, &w);
    tansu_status status =
        write_txn_put_document(wtxn, RECORD_COLLECTION_OPTIONS, state->id, &w, document, error);
    if (status != TANSU_OK) {
        collection_options[number].free(NULL, option);
        return status;
    }
    status = write_txn_set_option(wtxn, state->name, number, option, error);
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

/* check_names -- whether the collections that an option names can exist. */
static tansu_status check_names(const char *name, enum option_number number, const void *option,
                                tansu_error *error) {
    const reference_list *list = number == OPTION_REFERENCES ? option : NULL;
    const change_tracking *tracking = number == OPTION_TRACKING ? option : NULL;
    tansu_status status =
        tracking == NULL ? TANSU_OK : name_check(tracking->to, "collection", error);
    if (status == TANSU_OK && tracking != NULL && strcmp(tracking->to, name) == 0)
        return error_set(error, TANSU_E_INVALID_QUERY, "changeTracking",
                         "Collection \"%s\" cannot note its changes in itself; name another one",
                         name);
    for (uint32_t i = 0; status == TANSU_OK && list != NULL && i < list->count; i++)
        status = name_check(list->items[i].to, "collection", error);
    return status;
}

tansu_status write_txn_collection_option(write_txn *wtxn, const char *name,
                                         enum option_number number, void *option,
                                         tansu_error *error) {
    const collection_option *kind = &collection_options[number];
    const collection_state *there = snapshot_collection(wtxn->next, name);
    tansu_status status =
        there == NULL ? snapshot_missing(name, error) : check_names(name, number, option, error);
    if (status == TANSU_OK && !kind->equal(there->options[number], option))
        return put_option(wtxn, there, number, option, error);
    kind->free(NULL, option);
    return status;
}

tansu_status write_txn_move_references(write_txn *wtxn, const char *name, const char *to,
                                       tansu_error *error) {
    const collection_state *state;
    catalog_cursor holders = catalog_from(&wtxn->next->holders, order_of_holders, NULL);
    while ((state = snapshot_next_holder(wtxn->next, &holders)) != NULL) {
        if (!reference_list_names(state->references, name))
            continue;
        reference_list *list = reference_list_renamed(state->references, name, to);
        tansu_status status = list == NULL
                                  ? error_memory(error)
                                  : put_option(wtxn, state, OPTION_REFERENCES, list, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}
