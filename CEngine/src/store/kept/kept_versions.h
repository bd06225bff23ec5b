/*
 * store/kept/kept_versions.h -- the versions of documents that older snapshots see, kept with them
 * while a compaction removes segments that are newer than they are.
 *
 * A snapshot reaches its version of a document by the links from the newest record back, and those
 * lead through segments that were written after it. So that it does not keep these segments, each
 * document in them is looked up once, and its version noted (snapshot.kept). Then the snapshot
 * needs only the segments that have a commit that it sees.
 */
#ifndef TANSU_STORE_KEPT_KEPT_VERSIONS_H
#define TANSU_STORE_KEPT_KEPT_VERSIONS_H

#include "log/log.h"
#include "store/snapshot.h"

/* With more snapshots, or more versions of one, the segments stay as long as the snapshots. */
#define KEPT_SNAPSHOTS 64
#define KEPT_VERSIONS (1u << 20)

typedef struct kept_versions {
    database *db;
    struct {
        snapshot *snapshot;
        const collection_state *last; /* found last */
    } held[KEPT_SNAPSHOTS];
    uint32_t count;
    bool incomplete;
} kept_versions;

/* kept_begin -- holds the snapshots that see no commit from `first` on. */
void kept_begin(kept_versions *k, database *db, uint64_t first);

/* kept_note -- keeps the versions of the document that a record of the removed segments is of. */
void kept_note(kept_versions *k, const record_header *record);

/* kept_birth -- the epoch from which on snapshots need the removed segments; 0: all do. */
uint64_t kept_birth(const kept_versions *k);

/* kept_end -- releases the snapshots. */
void kept_end(kept_versions *k);

#endif
