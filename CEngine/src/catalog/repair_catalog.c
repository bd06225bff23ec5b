/*
 * catalog/repair_catalog.c -- what collections and indexes there were.
 */
#include "base/doc.h"
#include "base/error.h"
#include "catalog/collection.h"
#include "catalog/repair_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* by_commit -- for sorting the catalog's records. */
static int by_commit(const void *a, const void *b) {
    const repair_record *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* slot_of -- where a collection is in the list, or belongs. */
static size_t slot_of(const repair *r, uint32_t id) {
    size_t low = 0, high = r->collection_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->collections[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

repair_collection *repair_collection_of(const repair *r, uint32_t id) {
    size_t slot = slot_of(r, id);
    return slot < r->collection_count && r->collections[slot].id == id ? &r->collections[slot]
                                                                       : NULL;
}

/* collection_make -- the collection of that number, new if need be; NULL: memory. */
static repair_collection *collection_make(repair *r, uint32_t id) {
    repair_collection *found = repair_collection_of(r, id);
    if (found != NULL)
        return found;
    size_t slot = slot_of(r, id);
    repair_collection *list = realloc(r->collections, (r->collection_count + 1) * sizeof *list);
    if (list == NULL)
        return NULL;
    r->collections = list;
    memmove(list + slot + 1, list + slot, (r->collection_count - slot) * sizeof *list);
    list[slot] = (repair_collection){.id = id};
    r->collection_count++;
    return &list[slot];
}

/* text_of -- a name in a record's payload; NULL when there is none that could be one. */
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
}

/* index_find -- the index of that name, or NULL. */
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
        repair_index *list = realloc(c->indexes, (c->index_count + 1) * sizeof *list);
        if (list == NULL)
            return false;
        c->indexes = list;
        index = &list[c->index_count++];
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
    size_t behind = (size_t)(c->indexes + c->index_count - index - 1);
    memmove(index, index + 1, behind * sizeof *index);
    c->index_count--;
}

/* note -- a problem with a record of the catalog. */
static void note(repair *r, const repair_record *record, const char *message) {
    char name[64];
    repair_name(r, repair_number(record->place), name);
    finding where = {.file = name, .offset = (int64_t)repair_offset(record->place), .size = -1};
    findings_add(&r->problems, &where, "%s", message);
}

/* apply -- one record of the catalog. */
static tansu_status apply(repair *r, const repair_record *record, tansu_error *error) {
    const char *name = text_of(record, "name");
    if (name == NULL) {
        note(r, record, "a record of the catalog has no proper name and was left out");
        return TANSU_OK;
    }
    repair_collection *c = collection_make(r, record->collection);
    if (c == NULL)
        return error_memory(error);
    if ((record->place & PLACE_UNSURE) != 0) {
        char message[256];
        snprintf(message, sizeof message,
                 "what is said of %s '%s' is read from a record that no checksum protects",
                 record->type >= RECORD_INDEX_CREATE ? "the index" : "the collection", name);
        note(r, record, message);
    }
    doc_value local;
    const char *to;
    switch (record->type) {
    case RECORD_COLLECTION_CREATE:
        if (!c->named)
            set_name(c, name, record->sequence);
        c->local = doc_find(record->payload.data, record->payload.size, "local", 5, &local) &&
                   local.type == DOC_BOOL && doc_bool(&local);
        break;
    case RECORD_COLLECTION_DROP:
        /* One that no checksum protects must at least know what it drops. */
        if ((record->place & PLACE_UNSURE) != 0 && (!c->named || strcmp(c->name, name) != 0))
            note(r, record, "the dropping of a collection does not fit it and was left out");
        else
            c->dropped = true;
        break;
    case RECORD_COLLECTION_RENAME:
        if ((to = text_of(record, "to")) != NULL)
            set_name(c, to, record->sequence);
        break;
    case RECORD_INDEX_CREATE:
        if (!index_put(c, name, record))
            return error_memory(error);
        break;
    case RECORD_INDEX_DROP: index_remove(c, name); break;
    default: break;
    }
    return TANSU_OK;
}

/* name_taken -- whether a collection that is there has the name. */
static bool name_taken(const repair *r, const char *name) {
    for (size_t i = 0; i < r->collection_count; i++)
        if (r->collections[i].named && !r->collections[i].dropped &&
            strcmp(r->collections[i].name, name) == 0)
            return true;
    return false;
}

/* name_lost -- gives a collection a name of ours. */
static void name_lost(repair *r, repair_collection *c, const char *why) {
    char name[TANSU_MAX_NAME + 1];
    int length = snprintf(name, sizeof name, "recovered_%u", c->id);
    while (name_taken(r, name) && length < TANSU_MAX_NAME) {
        name[length++] = '_';
        name[length] = 0;
    }
    finding where = {.offset = -1, .size = -1, .collection = name};
    findings_add(&r->problems, &where, "collection number %u %s: it is called '%s'", c->id, why,
                 name);
    set_name(c, name, UINT64_MAX);
}

/* name_known -- gives a collection without a name the one that the index files have, if they do and it is free. */
static bool name_known(repair *r, repair_collection *c) {
    const repair_loss *known = repair_loss_of(r, c->id);
    if (known == NULL || known->name[0] == 0 || name_taken(r, known->name))
        return false;
    finding where = {.offset = -1, .size = -1, .collection = known->name};
    findings_add(&r->problems, &where,
                 "collection number %u has lost its name in the log: it is called '%s', as in the "
                 "index files",
                 c->id, known->name);
    set_name(c, known->name, UINT64_MAX);
    c->local = known->local;
    return true;
}

/* settle_names -- every collection has a name of its own. */
static void settle_names(repair *r) {
    for (size_t i = 0; i < r->collection_count; i++) {
        repair_collection *c = &r->collections[i];
        for (size_t k = 0; c->named && !c->dropped && k < r->collection_count; k++) {
            const repair_collection *other = &r->collections[k];
            if (other->named && !other->dropped && strcmp(other->name, c->name) == 0 &&
                (other->named_by > c->named_by || (other->named_by == c->named_by && k < i))) {
                c->named = false;
                name_lost(r, c, "has a name that a later one has, too");
            }
        }
    }
    for (size_t i = 0; i < r->collection_count; i++)
        if (!r->collections[i].named && !r->collections[i].dropped &&
            !name_known(r, &r->collections[i]))
            name_lost(r, &r->collections[i], "has lost its name");
}

tansu_status repair_catalog(repair *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (r->record_count > 1)
        qsort(r->records, r->record_count, sizeof *r->records, by_commit);
    for (size_t i = 0; status == TANSU_OK && i < r->record_count; i++)
        status = apply(r, &r->records[i], error);
    uint32_t last = 0;
    for (uint64_t i = 0; status == TANSU_OK && r->places.slots != NULL && i <= r->places.mask;
         i++) {
        const pending_slot *slot = &r->places.slots[i];
        uint32_t id = (uint32_t)(slot->where >> 40);
        if (slot->where == 0 || (slot->at & PLACE_DELETED) != 0 || id == last)
            continue;
        last = id;
        if (collection_make(r, id) == NULL)
            status = error_memory(error);
    }
    if (status == TANSU_OK)
        settle_names(r);
    return status;
}
