/*
 * support/workload/record_inventory.h -- what a database holds and where each record lies in the
 * log's files: taken from an open database, and compared with one that was damaged or repaired.
 */
#ifndef SUPPORT_RECORD_INVENTORY_H
#define SUPPORT_RECORD_INVENTORY_H

#include "tansu.h"

#include <stdbool.h>

typedef struct inventory_record {
    char collection[TANSU_MAX_NAME + 1];
    uint32_t collection_number;
    bool removed; /* the last record is the deletion */
    uint32_t segment;
    uint64_t offset; /* of the record in the segment's file */
    uint64_t size;
    uint8_t *bson; /* the document, or {_id} of a removed one */
    uint32_t bson_size;
    uint8_t *id; /* {_id: …} */
    uint32_t id_size;
} inventory_record;

typedef struct inventory {
    inventory_record *documents;
    size_t count;
    size_t present; /* those that are not removed */
} inventory;

/* inventory_take -- everything of an open database, of which nobody writes. */
void inventory_take(inventory *l, tansu_db *db);
void inventory_free(inventory *l);

/* inventory_matches -- whether the database has exactly these documents in each collection of
 * the inventory, by look-up, by scan and in number; every call must succeed. */
bool inventory_matches(const inventory *l, tansu_db *db);

/* inventory_find -- the document as a database has it, or what its collection is called when its
 * name was lost; TANSU_E_NOT_FOUND when it is not there. */
tansu_status inventory_find(const inventory_record *d, tansu_db *db, tansu_buffer *found);

#endif
