/*
 * toolkit/mirror.h -- what a database is to hold, in a plain struct: a few collections of documents
 * {_id, n, u, s, tags, pad} with up to four indexes each. Random operations change database and
 * mirror alike; the same random source changes a mirror alone in the same way, which is how a test
 * knows what a killed process had written.
 */
#ifndef TOOLKIT_MIRROR_H
#define TOOLKIT_MIRROR_H

#include "random.h"
#include "tansu.h"

#define MIRROR_COLLECTIONS 4
#define MIRROR_IDS 96
#define MIRROR_INDEXES 4 /* {n: 1}, {u: 1} unique, {n: -1, s: 1}, {tags: 1} */

typedef struct mirror_document {
    uint64_t order; /* of first insertion; 0: not there */
    int32_t n;
    int32_t u;
    int32_t pad; /* bytes of filling */
} mirror_document;

typedef struct mirror_collection {
    bool there;
    bool indexes[MIRROR_INDEXES];
    uint64_t last_order;
    mirror_document documents[MIRROR_IDS];
} mirror_collection;

/* Copying the struct copies the mirror. */
typedef struct mirror {
    mirror_collection collections[MIRROR_COLLECTIONS];
    uint64_t commits; /* how many changed something: the database's sequence number */
    int32_t most_pad; /* bytes of filling of the largest documents; 0: little */
} mirror;

/*
 * mirror_step -- one commit (or one that is aborted or refused) on the mirror and, unless it is NULL,
 * on the database, whose statuses are checked. What it does depends on the source and the mirror only.
 */
void mirror_step(mirror *m, random_source *source, tansu_db *db);

/* mirror_operation -- one call within a transaction (NULL: a commit of its own). True when it changed
 * something. */
bool mirror_operation(mirror *m, random_source *source, tansu_db *db, tansu_txn *txn);

/* mirror_check -- everything of the database is as the mirror says: collections, documents in order and
 * byte for byte, index definitions, and questions that indexes answer. `txn` may be NULL. */
void mirror_check(const mirror *m, random_source *source, tansu_db *db, tansu_txn *txn);

/* mirror_count -- how many documents a collection has. */
uint64_t mirror_count(const mirror *m, unsigned collection);

#endif
