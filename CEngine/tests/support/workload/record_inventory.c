/*
 * support/workload/record_inventory.c -- takes an inventory and compares databases with it.
 */
#include "support/workload/record_inventory.h"

#include "api/handles.h"
#include "store/snapshot.h"
#include "support/calls/call.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* copy_id -- {_id: …} of a document, in new memory. */
static void copy_id(inventory_record *d) {
    bson_t view, one = BSON_INITIALIZER;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&view, d->bson, d->bson_size) &&
            bson_iter_init_find(&iter, &view, "_id"));
    BSON_APPEND_VALUE(&one, "_id", bson_iter_value(&iter));
    d->id = bson_destroy_with_steal(&one, true, &d->id_size);
}

void inventory_take(inventory *l, tansu_db *db) {
    *l = (inventory){.count = 0};
    database *inner = db_inner(db);
    snapshot *v = snapshot_acquire(inner);
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while ((state = snapshot_next(&all)) != NULL) {
        for (uint64_t rid = 0; rid < state->next_rid; rid++) {
            uint64_t place;
            REQUIRE(locations_get(state->locations, rid, &place, &call_error) == TANSU_OK);
            if (place == 0)
                continue;
            log_pins pins = {.next = 0};
            uint64_t room;
            const record_header *record = log_record(inner->log, &pins, place, &room);
            l->documents = realloc(l->documents, (l->count + 1) * sizeof *l->documents);
            REQUIRE(l->documents != NULL);
            inventory_record *d = &l->documents[l->count++];
            *d = (inventory_record){.collection_number = state->id,
                                    .removed = (place & LOCATION_DELETED) != 0,
                                    .segment = (uint32_t)(place >> 32),
                                    .offset = (uint32_t)place & LOCATION_MASK,
                                    .size = record->size};
            snprintf(d->collection, sizeof d->collection, "%s", state->name);
            const uint8_t *payload = record_payload(record);
            memcpy(&d->bson_size, payload, 4);
            d->bson = malloc(d->bson_size);
            REQUIRE(d->bson != NULL);
            memcpy(d->bson, payload, d->bson_size);
            copy_id(d);
            log_pins_release(&pins);
            l->present += !d->removed;
        }
    }
    snapshot_release(inner, v);
}

void inventory_free(inventory *l) {
    for (size_t i = 0; i < l->count; i++) {
        free(l->documents[i].bson);
        bson_free(l->documents[i].id);
    }
    free(l->documents);
}

/* find_anywhere -- the document in whichever collection has it as it was: of a damaged name one
 * letter may have become another. */
static tansu_status find_anywhere(const inventory_record *d, tansu_db *db, tansu_buffer *found) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t view;
    bson_iter_t iter, one, name;
    tansu_status status = TANSU_E_NOT_FOUND;
    CHECK_OK(tansu_collection_list(db, NULL, &list, &call_error), &call_error);
    REQUIRE(bson_init_static(&view, list.data, list.size) &&
            bson_iter_init_find(&iter, &view, "collections") && bson_iter_recurse(&iter, &one));
    while (status == TANSU_E_NOT_FOUND && bson_iter_next(&one)) {
        REQUIRE(bson_iter_recurse(&one, &name) && bson_iter_find(&name, "name"));
        status = tansu_get(db, NULL, bson_iter_utf8(&name, NULL),
                           (tansu_document){d->id, d->id_size}, found, &call_error);
        if (status == TANSU_OK &&
            (found->size != d->bson_size || memcmp(found->data, d->bson, found->size) != 0))
            status = TANSU_E_NOT_FOUND;
    }
    tansu_buffer_free(&list);
    return status;
}

tansu_status inventory_find(const inventory_record *d, tansu_db *db, tansu_buffer *found) {
    bson_t view;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&view, d->id, d->id_size) && bson_iter_init(&iter, &view) &&
            bson_iter_next(&iter));
    /* A later collection may have had the name of an earlier one, and lost it. */
    char name[64];
    snprintf(name, sizeof name, "recovered_%u", d->collection_number);
    tansu_status status =
        tansu_get(db, NULL, name, (tansu_document){d->id, d->id_size}, found, &call_error);
    if (status != TANSU_E_NOT_FOUND)
        return status;
    status =
        tansu_get(db, NULL, d->collection, (tansu_document){d->id, d->id_size}, found, &call_error);
    bool same = status == TANSU_OK && found->size == d->bson_size &&
                memcmp(found->data, d->bson, found->size) == 0;
    if (same || (status != TANSU_OK && status != TANSU_E_NOT_FOUND))
        return status;
    /* Where a renaming was lost, the name may be an earlier collection's. */
    tansu_status anywhere = find_anywhere(d, db, found);
    return anywhere == TANSU_OK || status != TANSU_OK
               ? anywhere
               : tansu_get(db, NULL, d->collection, (tansu_document){d->id, d->id_size}, found,
                           &call_error);
}

/* same_scan -- whether a scan of one collection gives its documents in the inventory's order. */
static bool same_scan(const inventory *l, size_t *at, tansu_db *db) {
    const char *collection = l->documents[*at].collection;
    tansu_cursor *cursor = call_cursor(db, NULL, collection, "{}", NULL);
    bool same = true;
    for (; *at < l->count && strcmp(l->documents[*at].collection, collection) == 0; ++*at) {
        const inventory_record *d = &l->documents[*at];
        tansu_document doc;
        if (d->removed)
            continue;
        same = same && tansu_cursor_next(cursor, &doc, &call_error) == TANSU_OK &&
               doc.size == d->bson_size && memcmp(doc.data, d->bson, doc.size) == 0;
    }
    tansu_document doc;
    same = same && tansu_cursor_next(cursor, &doc, &call_error) == TANSU_DONE;
    tansu_cursor_close(cursor);
    return same;
}

bool inventory_matches(const inventory *l, tansu_db *db) {
    bool same = true;
    tansu_buffer found = TANSU_BUFFER_INIT;
    for (size_t i = 0; same && i < l->count; i++) {
        const inventory_record *d = &l->documents[i];
        if (d->removed)
            continue;
        same = tansu_get(db, NULL, d->collection, (tansu_document){d->id, d->id_size}, &found,
                         &call_error) == TANSU_OK &&
               found.size == d->bson_size && memcmp(found.data, d->bson, found.size) == 0;
    }
    tansu_buffer_free(&found);
    for (size_t at = 0; same && at < l->count;)
        same = same_scan(l, &at, db);
    return same;
}
