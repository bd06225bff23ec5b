/*
 * check/repair/repair_catalog.c -- the collections and indexes of the new database, by the
 * catalog's records. A collection that has lost its name gets one.
 */
#include "check/repair/repair_catalog.h"

#include "bson/document.h"
#include "check/repair/repair_index_files.h"
#include "log/scan.h"
#include "store/collection.h"
#include "store/name_check.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* by_commit -- for sorting the catalog's records. */
static int by_commit(const void *a, const void *b) {
    const repair_record *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* slot_of -- the index of a collection in the list, or where it belongs. */
static size_t slot_of(const repair *r, uint32_t id) {
    return BISECT(r->collections, r->collection_count, repair_collection, id, id);
}

repair_collection *repair_find_collection(const repair *r, uint32_t id) {
    size_t slot = slot_of(r, id);
    return slot < r->collection_count && r->collections[slot].id == id ? &r->collections[slot]
                                                                       : NULL;
}

/* collection_make -- the collection with an id, which is added if need be; NULL: memory. */
static repair_collection *collection_make(repair *r, uint32_t id) {
    repair_collection *found = repair_find_collection(r, id);
    if (found != NULL)
        return found;
    size_t slot = slot_of(r, id);
    if (!ARRAY_RESERVE(r->collections, r->collection_count, r->collection_capacity, 1))
        return NULL;
    repair_collection *list = r->collections;
    memmove(list + slot + 1, list + slot, (r->collection_count - slot) * sizeof *list);
    list[slot] = (repair_collection){.id = id};
    r->collection_count++;
    return &list[slot];
}

/* text_of -- a name in a record's payload; NULL when there is no valid one. */
static const char *text_of(const repair_record *record, const char *key) {
    doc_value value;
    if (!doc_find(record->payload.data, record->payload.size, key, strlen(key), &value) ||
        value.type != DOC_STRING)
        return NULL;
    size_t length;
    const char *text = doc_string(&value, &length);
    return strlen(text) == length && name_check(text, "collection", NULL) == TANSU_OK ? text : NULL;
}

/* set_name -- gives a collection its name. */
static void set_name(repair_collection *c, const char *name, uint64_t sequence) {
    snprintf(c->name, sizeof c->name, "%s", name);
    c->named = true;
    c->named_by = sequence;
    c->doubtful = false;
}

/* name_by -- gives a collection the name in a record. */
static void name_by(repair_collection *c, const char *name, const repair_record *record) {
    set_name(c, name, record->sequence);
    c->doubtful = (record->location & LOCATION_UNPROTECTED) != 0;
}

/* index_find -- the index with a name, or NULL. */
static repair_index *index_find(const repair_collection *c, const char *name) {
    for (size_t i = 0; i < c->index_count; i++)
        if (strcmp(c->indexes[i].name, name) == 0)
            return &c->indexes[i];
    return NULL;
}

/* index_put -- an index that was created. False when memory is exhausted. */
static bool index_put(repair_collection *c, const char *name, const repair_record *record) {
    repair_index *index = index_find(c, name);
    if (index == NULL) {
        if (!ARRAY_RESERVE(c->indexes, c->index_count, c->index_capacity, 1))
            return false;
        index = &c->indexes[c->index_count++];
        snprintf(index->name, sizeof index->name, "%s", name);
    }
    index->record = record;
    return true;
}

/* index_remove -- an index that was dropped. */
static void index_remove(repair_collection *c, const char *name) {
    repair_index *index = index_find(c, name);
    if (index == NULL)
        return;
    size_t rest = (size_t)(c->indexes + c->index_count - index - 1);
    memmove(index, index + 1, rest * sizeof *index);
    c->index_count--;
}

/* note -- a problem of a record of the catalog. */
static void note(repair *r, const repair_record *record, const char *message) {
    char name[64];
    repair_segment_name(r, repair_number(record->location), name);
    problem_location where = {
        .file = name, .offset = (int64_t)repair_offset(record->location), .size = -1};
    problem_list_add(&r->problems, &where, "%s", message);
}

/* apply -- applies a record of the catalog. */
static tansu_status apply(repair *r, const repair_record *record, tansu_error *error) {
    const char *name = text_of(record, "name");
    if (name == NULL) {
        note(r, record, "A record of the catalog has no valid name and was left out");
        return TANSU_OK;
    }
    repair_collection *c = collection_make(r, record->collection);
    if (c == NULL)
        return error_memory(error);
    if ((record->location & LOCATION_UNPROTECTED) != 0) {
        char message[256];
        snprintf(message, sizeof message,
                 "The definition of %s \"%s\" is read from a record that no checksum protects",
                 record->type == RECORD_INDEX_CREATE || record->type == RECORD_INDEX_DROP
                     ? "the index"
                     : "the collection",
                 name);
        note(r, record, message);
    }
    doc_value local, option;
    const char *to;
    switch (record->type) {
    case RECORD_COLLECTION_CREATE:
        if (!c->named)
            name_by(c, name, record);
        c->local = doc_find(record->payload.data, record->payload.size, "local", 5, &local) &&
                   local.type == DOC_BOOL && doc_bool(&local);
        break;
    case RECORD_COLLECTION_DROP:
        /* One that no checksum protects must at least have the name of what it drops. */
        if ((record->location & LOCATION_UNPROTECTED) != 0 &&
            (!c->named || strcmp(c->name, name) != 0))
            note(r, record, "An inconsistent record that drops a collection was left out");
        else
            c->dropped = true;
        break;
    case RECORD_COLLECTION_RENAME:
        if ((to = text_of(record, "to")) != NULL)
            name_by(c, to, record);
        break;
    case RECORD_INDEX_CREATE:
        if (!index_put(c, name, record))
            return error_memory(error);
        break;
    case RECORD_INDEX_DROP: index_remove(c, name); break;
    case RECORD_COLLECTION_OPTIONS:
        if ((to = text_of(record, "compression")) != NULL)
            (void)codec_of_name(to, &c->codec);
        if (doc_find(record->payload.data, record->payload.size, "references", 10, &option))
            c->references = record;
        if (doc_find(record->payload.data, record->payload.size, "timestamps", 10, &option))
            c->timestamps = record;
        break;
    default: break;
    }
    return TANSU_OK;
}

/* by_name -- the order of r->names. */
static int by_name(const void *item, const void *key) {
    return strcmp(((const repair_collection *)item)->name, key);
}

/* with_name -- the collection that has the name; NULL: none. */
static repair_collection *with_name(const repair *r, const char *name) {
    return catalog_find(&r->names, by_name, name);
}

/* enter_name -- notes that a collection has its name, unless another one has it. */
static void enter_name(repair *r, repair_collection *c) {
    const catalog_writer writer = {.order = by_name};
    if (with_name(r, c->name) == NULL)
        catalog_insert(&r->names, &writer, c->name, c);
}

/* leave_name -- before a collection gets another name, or none. */
static void leave_name(repair *r, repair_collection *c) {
    retire_list none = {NULL, 0, 0};
    const catalog_writer writer = {.order = by_name, .retired = &none};
    if (with_name(r, c->name) == c)
        catalog_remove(&r->names, &writer, c->name);
    retire_forget(&none);
    c->named = false;
}

/* make_name -- gives a collection a generated name; `why` follows its number. */
static void make_name(repair *r, repair_collection *c, const char *why) {
    char name[TANSU_MAX_NAME + 1];
    int length = snprintf(name, sizeof name, "recovered_%u", c->id);
    while (with_name(r, name) != NULL && length < TANSU_MAX_NAME) {
        name[length++] = '_';
        name[length] = 0;
    }
    problem_location where = {.offset = -1, .size = -1, .collection = name};
    problem_list_add(&r->problems, &where, "Collection number %u %s; its name is now \"%s\"", c->id,
                     why, name);
    leave_name(r, c);
    set_name(c, name, UINT64_MAX);
    enter_name(r, c);
}

/* take_known_name -- gives a collection without a name the one that the index files have, if they
 * do and no other has it. `why` follows its number. */
static bool take_known_name(repair *r, repair_collection *c, const char *why) {
    const repair_known_collection *known = repair_known_collection_find(r, c->id);
    if (known == NULL || known->name[0] == 0 || with_name(r, known->name) != NULL)
        return false;
    problem_location where = {.offset = -1, .size = -1, .collection = known->name};
    problem_list_add(&r->problems, &where,
                     "Collection number %u %s; its name is now \"%s\", as in the index files",
                     c->id, why, known->name);
    leave_name(r, c);
    set_name(c, known->name, UINT64_MAX);
    enter_name(r, c);
    c->local = known->local;
    return true;
}

/* take_current_name -- gives a collection whose name no checksum protects the one that the index
 * files have as of a later commit. */
static void take_current_name(repair *r, repair_collection *c) {
    const repair_known_collection *known = repair_known_collection_find(r, c->id);
    if (!c->doubtful || known == NULL || c->named_by > r->checkpoint ||
        strcmp(known->name, c->name) == 0)
        return;
    (void)take_known_name(r, c, "has a corrupt name in the log");
}

/* part_names -- of two collections with one name, which the second one has noted, the later one
 * keeps it. */
static void part_names(repair *r, repair_collection *c, repair_collection *noted) {
    bool wins = c->named_by > noted->named_by || (c->named_by == noted->named_by && c < noted);
    if (wins)
        leave_name(r, noted);
    enter_name(r, c);
    make_name(r, wins ? noted : c, "has the name of a later collection");
}

/* settle_names -- gives every collection a name of its own. */
static void settle_names(repair *r) {
    for (size_t i = 0; i < r->collection_count; i++)
        if (r->collections[i].named && !r->collections[i].dropped)
            enter_name(r, &r->collections[i]);
    for (size_t i = 0; i < r->collection_count; i++)
        if (r->collections[i].named && !r->collections[i].dropped)
            take_current_name(r, &r->collections[i]);
    for (size_t i = 0; i < r->collection_count; i++) {
        repair_collection *c = &r->collections[i];
        repair_collection *noted = c->named && !c->dropped ? with_name(r, c->name) : c;
        if (noted == NULL)
            enter_name(r, c);
        else if (noted != c)
            part_names(r, c, noted);
    }
    for (size_t i = 0; i < r->collection_count; i++)
        if (!r->collections[i].named && !r->collections[i].dropped &&
            !take_known_name(r, &r->collections[i], "has no name in the log"))
            make_name(r, &r->collections[i], "has no name");
}

tansu_status repair_build_catalog(repair *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (r->record_count > 1)
        qsort(r->records, r->record_count, sizeof *r->records, by_commit);
    for (size_t i = 0; status == TANSU_OK && i < r->record_count; i++)
        status = apply(r, &r->records[i], error);
    uint32_t last = 0;
    for (uint64_t i = 0; status == TANSU_OK && r->locations.slots != NULL && i <= r->locations.mask;
         i++) {
        const pending_slot *slot = &r->locations.slots[i];
        uint32_t id = where_collection(slot->where);
        if (slot->where == 0 || (slot->at & LOCATION_DELETED) != 0 || id == last)
            continue;
        last = id;
        if (collection_make(r, id) == NULL)
            status = error_memory(error);
    }
    if (status == TANSU_OK)
        settle_names(r);
    return status;
}
