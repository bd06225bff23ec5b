/*
 * toolkit/ledger.h -- what a database holds and where each document lies in the log's files: taken from an
 * open database, and held against one that was damaged or salvaged.
 */
#ifndef TOOLKIT_LEDGER_H
#define TOOLKIT_LEDGER_H

#include "tansu.h"

#include <stdbool.h>

typedef struct ledger_document {
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
} ledger_document;

typedef struct ledger {
    ledger_document *documents;
    size_t count;
    size_t present; /* those that are not removed */
} ledger;

/* ledger_take -- everything of an open database, of which nobody writes. */
void ledger_take(ledger *l, tansu_db *db);
void ledger_free(ledger *l);

/* ledger_same -- whether the database has exactly these documents in each collection of the ledger, by
 * look-up, by scan and in number; every call must succeed. */
bool ledger_same(const ledger *l, tansu_db *db);

/* ledger_find -- the document as a database has it, or what its collection is called when its name was
 * lost; TANSU_E_NOT_FOUND when it is not there. */
tansu_status ledger_find(const ledger_document *d, tansu_db *db, tansu_buffer *found);

#endif
