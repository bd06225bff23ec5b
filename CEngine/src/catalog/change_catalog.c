/*
 * catalog/change_catalog.c -- creating, dropping and renaming collections and indexes in a change.
 */
#include "catalog/change.h"

#include "base/error.h"
#include "catalog/collection.h"
#include "catalog/conflict.h"
#include "index/build.h"

#include <bson/bson.h>
#include <stdlib.h>

/* free_places -- a retire_free that also has the stored chunks removed from the cabinet. */
typedef struct dropped_collection {
    database *db;
    places *places;
    uint32_t id;
    uint64_t count;
} dropped_collection;

static void free_dropped(void *context, void *object) {
    (void)context;
    dropped_collection *dropped = object;
    database *db = dropped->db;
    pthread_mutex_lock(&db->version_mutex);
    if (db->dropped_count < db->dropped_room) /* the room was made when it was dropped */
        db->dropped[db->dropped_count++] =
            (dropped_places){.collection = dropped->id, .count = dropped->count};
    pthread_mutex_unlock(&db->version_mutex);
    places_free(dropped->places);
    free(dropped);
}

static void free_places(void *context, void *object) {
    (void)context;
    places_free(object);
}

static void free_definition(void *context, void *object) {
    (void)context;
    index_definition_free(object);
}

/* ---- Collections ---- */

tansu_status change_add_collection(change *c, uint32_t id, const char *name, bool local,
                                   tansu_error *error) {
    bool found;
    uint32_t slot = version_slot(c->next, name, &found);
    if (found)
        return error_set(error, TANSU_E_EXISTS, name, "collection '%s' exists", name);
    /* The array has no spare room: collections are made rarely. */
    collection_state **list = realloc(c->next->collections, (c->next->count + 1) * sizeof *list);
    if (list == NULL || !retire_reserve(&c->made, 1)) {
        if (list != NULL)
            c->next->collections = list;
        return error_memory(error);
    }
    c->next->collections = list;
    collection_state *state;
    tansu_status status = collection_new(id, name, local, c->db->cab, c->epoch, &state, error);
    if (status != TANSU_OK)
        return status;
    retire_add(&c->made, free_places, NULL, state->places);
    memmove(list + slot + 1, list + slot, (c->next->count - slot) * sizeof *list);
    list[slot] = state;
    c->next->count++;
    if (id >= c->next_collection)
        c->next_collection = id + 1;
    return TANSU_OK;
}

tansu_status change_collection_ensure(change *c, const char *name, bool local, bool any_options,
                                      tansu_error *error) {
    tansu_status status = name_check(name, "collection", error);
    if (status != TANSU_OK)
        return status;
    const collection_state *there = version_collection(c->next, name);
    if (there != NULL) {
        if (any_options && there->local != local)
            return error_set(error, TANSU_E_EXISTS, name,
                             "collection '%s' exists with other options", name);
        return TANSU_OK;
    }
    uint32_t id = c->next_collection;
    if (id > RECORD_MAX_COLLECTION)
        return error_set(error, TANSU_E_TOO_LARGE, name,
                         "the database has used up its collection numbers");
    if (!change_step_reserve(c))
        return error_memory(error);
    bson_t payload = BSON_INITIALIZER;
    if (!bson_append_utf8(&payload, "name", -1, name, -1) ||
        !bson_append_bool(&payload, "local", -1, local)) {
        bson_destroy(&payload);
        return error_memory(error);
    }
    uint64_t at, frame_size = c->frame_size;
    uint32_t records = c->records;
    status = change_record(c, RECORD_COLLECTION_CREATE, 0, id, 0, 0, bson_get_data(&payload),
                           payload.len, &at, error);
    bson_destroy(&payload);
    if (status != TANSU_OK)
        return status;
    status = change_add_collection(c, id, name, local, error);
    if (status != TANSU_OK) {
        c->frame_size = frame_size;
        c->records = records;
        c->changed = records != 0;
        log_shrink(c->db->log, frame_size, records);
        return status;
    }
    change_step_add(c, (change_step){.kind = STEP_CREATE_COLLECTION, .collection = id});
    return TANSU_OK;
}

/* drop_tree -- keeps a dropped index's tree until it is known how the transaction ends. */
static bool reserve_dropped(change *c, uint32_t more) {
    if (c->dropped_count + more <= c->dropped_room)
        return true;
    size_t room = (c->dropped_count + more) * 2;
    tree *list = realloc(c->dropped, room * sizeof *list);
    if (list == NULL)
        return false;
    c->dropped = list;
    c->dropped_room = room;
    return true;
}

/* reserve_dropped_places -- room for one more collection whose stored chunks are to be removed. */
static bool reserve_dropped_places(database *db) {
    pthread_mutex_lock(&db->version_mutex);
    /* One for each that waits on some retire list; so count what was ever reserved. */
    size_t room = db->dropped_room + 1;
    dropped_places *list = realloc(db->dropped, room * sizeof *list);
    if (list != NULL) {
        db->dropped = list;
        db->dropped_room = room;
    }
    pthread_mutex_unlock(&db->version_mutex);
    return list != NULL;
}

tansu_status change_remove_collection(change *c, const char *name, tansu_error *error) {
    collection_state *state;
    tansu_status status = change_collection(c, name, 0, &state, error);
    if (status != TANSU_OK || state == NULL)
        return status != TANSU_OK
                   ? status
                   : error_set(error, TANSU_E_NOT_FOUND, name, "there is no collection '%s'", name);
    dropped_collection *dropped = malloc(sizeof *dropped);
    if (dropped == NULL || !reserve_dropped(c, state->index_count + 1) ||
        !retire_reserve(&c->retired, state->index_count + 1) || !reserve_dropped_places(c->db)) {
        free(dropped);
        return error_memory(error);
    }
    *dropped = (dropped_collection){
        .db = c->db, .places = state->places, .id = state->id, .count = state->next_docno};
    if (!retire_reserve(&c->made, 1)) {
        free(dropped);
        return error_memory(error);
    }
    retire_add(&c->retired, free_dropped, NULL, dropped);
    retire_add(&c->made, retire_memory, NULL, dropped);
    c->dropped[c->dropped_count++] = state->ids;
    for (uint32_t i = 0; i < state->index_count; i++) {
        c->dropped[c->dropped_count++] = state->indexes[i].entries;
        retire_add(&c->retired, free_definition, NULL, (void *)state->indexes[i].definition);
    }
    bool found;
    uint32_t slot = version_slot(c->next, name, &found);
    c->next->count--;
    memmove(c->next->collections + slot, c->next->collections + slot + 1,
            (c->next->count - slot) * sizeof *c->next->collections);
    free(state);
    return TANSU_OK;
}

/* name_record -- a record whose payload is {"name": …} or {"name": …, "to": …}. */
static tansu_status name_record(change *c, enum record_type type, uint32_t collection,
                                const char *name, const char *to, tansu_error *error) {
    bson_t payload = BSON_INITIALIZER;
    tansu_status status;
    uint64_t at;
    if (!bson_append_utf8(&payload, "name", -1, name, -1) ||
        (to != NULL && !bson_append_utf8(&payload, "to", -1, to, -1)))
        status = error_memory(error);
    else
        status = change_record(c, type, 0, collection, 0, 0, bson_get_data(&payload), payload.len,
                               &at, error);
    bson_destroy(&payload);
    return status;
}

tansu_status change_collection_drop(change *c, const char *name, tansu_error *error) {
    const collection_state *state = version_collection(c->next, name);
    if (state == NULL)
        return error_set(error, TANSU_E_NOT_FOUND, name, "there is no collection '%s'", name);
    tansu_status status = name_record(c, RECORD_COLLECTION_DROP, state->id, name, NULL, error);
    if (status == TANSU_OK) {
        status = change_remove_collection(c, name, error);
        c->broken = c->broken || status != TANSU_OK;
    }
    return status;
}

tansu_status change_move_collection(change *c, const char *name, const char *to,
                                    tansu_error *error) {
    collection_state *state;
    tansu_status status = change_collection(c, name, 0, &state, error);
    if (status != TANSU_OK || state == NULL)
        return status != TANSU_OK
                   ? status
                   : error_set(error, TANSU_E_NOT_FOUND, name, "there is no collection '%s'", name);
    bool found;
    uint32_t slot = version_slot(c->next, name, &found);
    collection_state **list = c->next->collections;
    memmove(list + slot, list + slot + 1, (c->next->count - slot - 1) * sizeof *list);
    c->next->count--;
    memset(state->name, 0, sizeof state->name);
    memcpy(state->name, to, strnlen(to, TANSU_MAX_NAME));
    slot = version_slot(c->next, to, &found);
    memmove(list + slot + 1, list + slot, (c->next->count - slot) * sizeof *list);
    list[slot] = state;
    c->next->count++;
    return TANSU_OK;
}

tansu_status change_collection_rename(change *c, const char *name, const char *to,
                                      tansu_error *error) {
    tansu_status status = name_check(to, "collection", error);
    if (status != TANSU_OK)
        return status;
    const collection_state *state = version_collection(c->next, name);
    if (state == NULL)
        return error_set(error, TANSU_E_NOT_FOUND, name, "there is no collection '%s'", name);
    if (version_collection(c->next, to) != NULL)
        return error_set(error, TANSU_E_EXISTS, to, "collection '%s' exists", to);
    status = name_record(c, RECORD_COLLECTION_RENAME, state->id, name, to, error);
    if (status == TANSU_OK) {
        status = change_move_collection(c, name, to, error);
        c->broken = c->broken || status != TANSU_OK;
    }
    return status;
}

/* ---- Indexes ---- */

/* What an index is built of in a change. */
typedef struct build_source {
    view_scan scan;
    const index_definition *definition;
    index_entries *tried; /* NULL: every document must have entries */
    const interrupt *stop;
} build_source;

/* build_check -- whether the transaction was cancelled. */
static tansu_status build_check(void *context, tansu_error *error) {
    const build_source *source = context;
    if (!interrupt_asked(source->stop))
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, source->definition->name,
                     "The building of index '%s' was cancelled: abort the transaction.",
                     source->definition->name);
}

/* build_next -- shows a build the collection's documents one after the other. */
static tansu_status build_next(void *context, uint64_t *docno, const uint8_t **doc, uint32_t *size,
                               tansu_error *error) {
    build_source *source = context;
    doc_ref ref;
    for (;;) {
        tansu_status status = build_check(source, error);
        if (status == TANSU_OK)
            status = view_scan_next(&source->scan, docno, &ref, doc, size, error);
        if (status != TANSU_OK || source->tried == NULL)
            return status;
        /* A version that the index can't take was replaced before the index was made, by one that
         * compaction has left out because it was replaced, too. */
        status = index_entries_make(source->tried, source->definition, *doc, *size, *docno, error);
        if (status != TANSU_E_TOO_LARGE)
            return status;
    }
}

/* attach_index -- puts an index into the private version, which was given room for it. */
static void attach_index(change *c, collection_state *state, index_definition *definition,
                         const tree *entries, bool multikey) {
    retire_add(&c->made, free_definition, NULL, definition); /* there is room */
    state->indexes[state->index_count++] =
        (collection_index){.definition = definition, .entries = *entries, .multikey = multikey};
    if (definition->id >= c->next_index)
        c->next_index = definition->id + 1;
}

/* prepare_index -- the private state with room for one more index. */
static tansu_status prepare_index(change *c, const char *collection, collection_state **state,
                                  tansu_error *error) {
    if (!retire_reserve(&c->made, 1))
        return error_memory(error);
    return change_collection(c, collection, 1, state, error);
}

tansu_status change_add_index(change *c, const char *collection, index_definition *definition,
                              const interrupt *stop, tansu_error *error) {
    collection_state *state = NULL;
    tansu_status status = prepare_index(c, collection, &state, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    view v = change_view(c);
    build_source documents = {
        .definition = definition, .tried = c->lenient ? &c->old_entries : NULL, .stop = stop};
    const index_source source = {build_next, build_check, &documents};
    view_scan_init(&documents.scan, &v, state);
    tree entries;
    bool multikey = false;
    index_conflict conflict = {.docno = 0};
    /* In replay the places may be newer than the log so far: what they show is then made right by
     * the rest of the tail, but it may hold a value twice for the moment. */
    index_definition plain = *definition;
    plain.unique = definition->unique && !c->replay;
    status = index_build(&c->writer, &plain, &source, &entries, &multikey, &conflict, error);
    if (status == TANSU_E_NOT_UNIQUE)
        conflict_of_build(&v, state, definition, &conflict, error);
    tansu_buffer_free(&conflict.entry);
    if (status == TANSU_OK)
        attach_index(c, state, definition, &entries, multikey);
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
static tansu_status index_record(change *c, uint32_t collection, const index_definition *definition,
                                 tansu_error *error) {
    bson_t payload = BSON_INITIALIZER;
    tansu_buffer keys = TANSU_BUFFER_INIT, options = TANSU_BUFFER_INIT;
    bson_t keys_view, options_view;
    tansu_status status;
    uint64_t at;
    if (!index_definition_keys(definition, &keys) ||
        !index_definition_options(definition, &options) ||
        !bson_init_static(&keys_view, keys.data, keys.size) ||
        !bson_init_static(&options_view, options.data, options.size) ||
        !bson_append_int64(&payload, "id", -1, definition->id) ||
        !bson_append_utf8(&payload, "name", -1, definition->name, -1) ||
        !bson_append_document(&payload, "keys", -1, &keys_view) ||
        !bson_append_document(&payload, "options", -1, &options_view))
        status = error_memory(error);
    else
        status = change_record(c, RECORD_INDEX_CREATE, 0, collection, 0, 0, bson_get_data(&payload),
                               payload.len, &at, error);
    tansu_buffer_free(&keys);
    tansu_buffer_free(&options);
    bson_destroy(&payload);
    return status;
}

/* record_index -- writes the record and adds the index, built here, until `stop` is asked, or
 * (`entries`) before. Takes the definition over. */
static tansu_status record_index(change *c, const collection_state *state,
                                 index_definition *definition, const tree *entries, bool multikey,
                                 const interrupt *stop, tansu_error *error) {
    uint64_t frame_size = c->frame_size;
    uint32_t records = c->records, next_index = c->next_index;
    bool changed = c->changed;
    char name[TANSU_MAX_NAME + 1];
    memcpy(name, state->name, sizeof name);
    definition->id = c->next_index;
    tansu_status status = index_record(c, state->id, definition, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    collection_state *own = NULL;
    if (entries == NULL) {
        status = change_add_index(c, name, definition, stop, error);
    } else if ((status = prepare_index(c, name, &own, error)) == TANSU_OK) {
        attach_index(c, own, definition, entries, multikey);
    } else {
        index_definition_free(definition);
    }
    if (status != TANSU_OK) {
        c->frame_size = frame_size;
        c->records = records;
        c->changed = changed;
        c->next_index = next_index;
        log_shrink(c->db->log, frame_size, records);
    }
    return status;
}

tansu_status change_index_create(change *c, const char *collection, index_definition *definition,
                                 const interrupt *stop, tansu_error *error) {
    tansu_status status = change_collection_ensure(c, collection, false, false, error);
    const collection_state *state =
        status == TANSU_OK ? version_collection(c->next, collection) : NULL;
    if (status == TANSU_OK) {
        uint32_t i = find_index(state, definition->name);
        if (i != UINT32_MAX && index_definition_equal(state->indexes[i].definition, definition)) {
            index_definition_free(definition);
            return TANSU_OK;
        }
        if (i != UINT32_MAX)
            status = error_set(error, TANSU_E_EXISTS, definition->name,
                               "collection '%s' has an index '%s' with another definition: drop it "
                               "first or choose another name",
                               collection, definition->name);
        else if (state->index_count >= TANSU_MAX_INDEXES)
            status = error_set(error, TANSU_E_TOO_LARGE, definition->name,
                               "collection '%s' has %d indexes already, which is the most allowed",
                               collection, TANSU_MAX_INDEXES);
    }
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    return record_index(c, state, definition, NULL, false, stop, error);
}

tansu_status change_index_adopt(change *c, const char *collection, index_definition *definition,
                                const tree *entries, bool multikey, tansu_error *error) {
    return record_index(c, version_collection(c->next, collection), definition, entries, multikey,
                        NULL, error);
}

tansu_status change_remove_index(change *c, const char *collection, const char *name,
                                 tansu_error *error) {
    collection_state *state;
    tansu_status status = change_collection(c, collection, 0, &state, error);
    if (status != TANSU_OK)
        return status;
    uint32_t i = state == NULL ? UINT32_MAX : find_index(state, name);
    if (i == UINT32_MAX)
        return error_set(error, TANSU_E_NOT_FOUND, name, "collection '%s' has no index '%s'",
                         collection, name);
    if (!reserve_dropped(c, 1) || !retire_reserve(&c->retired, 1))
        return error_memory(error);
    c->dropped[c->dropped_count++] = state->indexes[i].entries;
    retire_add(&c->retired, free_definition, NULL, (void *)state->indexes[i].definition);
    state->index_count--;
    memmove(state->indexes + i, state->indexes + i + 1,
            (state->index_count - i) * sizeof state->indexes[0]);
    return TANSU_OK;
}

tansu_status change_index_drop(change *c, const char *collection, const char *name,
                               tansu_error *error) {
    const collection_state *state = version_collection(c->next, collection);
    if (state == NULL)
        return error_set(error, TANSU_E_NOT_FOUND, collection, "there is no collection '%s'",
                         collection);
    uint32_t i = find_index(state, name);
    if (i == UINT32_MAX)
        return error_set(error, TANSU_E_NOT_FOUND, name, "collection '%s' has no index '%s'",
                         collection, name);
    tansu_status status = name_record(c, RECORD_INDEX_DROP, state->id, name, NULL, error);
    if (status == TANSU_OK) {
        status = change_remove_index(c, collection, name, error);
        c->broken = c->broken || status != TANSU_OK;
    }
    return status;
}
