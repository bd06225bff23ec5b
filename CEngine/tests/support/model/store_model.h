/*
 * support/model/store_model.h -- the reference model of a store, in a plain struct: a few
 * collections of documents {_id, n, u, s, tags, pad} with up to five indexes each. Random
 * operations change database and model alike. The same random source changes a model alone in the
 * same way, so that a test knows what a killed process had written.
 */
#ifndef SUPPORT_STORE_MODEL_H
#define SUPPORT_STORE_MODEL_H

#include "support/random/random.h"
#include "tansu.h"

#define STORE_MODEL_COLLECTIONS 4
#define STORE_MODEL_IDS 96
#define STORE_MODEL_INDEXES \
    5 /* {n: 1}, {u: 1} unique, {n: -1, s: 1}, {tags: 1}, {"**": 1} except pad */

typedef struct store_model_document {
    uint64_t order; /* of first insertion; 0: not there */
    int32_t n;
    int32_t u;
    int32_t pad; /* bytes of filling */
} store_model_document;

typedef struct store_model_collection {
    bool there;
    bool indexes[STORE_MODEL_INDEXES];
    uint64_t last_order;
    store_model_document documents[STORE_MODEL_IDS];
} store_model_collection;

/* Copying the struct copies the model. */
typedef struct store_model {
    store_model_collection collections[STORE_MODEL_COLLECTIONS];
    uint64_t commits; /* how many changed something: the database's sequence number */
    int32_t most_pad; /* bytes of filling of the largest documents; 0: little */
} store_model;

/*
 * store_model_step -- one commit (or one that is aborted or refused) on the model and, unless it is
 * NULL, on the database, whose statuses are checked. What it does depends on the source and the
 * model only.
 */
void store_model_step(store_model *m, random_source *source, tansu_db *db);

/* store_model_operation -- one call within a transaction (NULL: a commit of its own). True when
 * it changed something. */
bool store_model_operation(store_model *m, random_source *source, tansu_db *db, tansu_txn *txn);

/* store_model_check -- everything of the database is as the model says: collections, documents
 * in order and byte for byte, index definitions, and questions that indexes answer. `txn` may be
 * NULL. */
void store_model_check(const store_model *m, random_source *source, tansu_db *db, tansu_txn *txn);

/* store_model_count -- how many documents a collection has. */
uint64_t store_model_count(const store_model *m, unsigned collection);

#endif
