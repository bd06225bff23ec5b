/*
 * support/model/version_history.h -- every committed version of every document of a database, and
 * which of them a folder of log files still holds in whole frames.
 *
 * Documents are {_id, c, v, pad}. `v` is a different number in each version, so that the bytes
 * identify the version.
 */
#ifndef SUPPORT_VERSION_HISTORY_H
#define SUPPORT_VERSION_HISTORY_H

#include "support/random/random.h"
#include "tansu.h"

#define HISTORY_COLLECTIONS 3
#define HISTORY_IDS 100

/* One commit of one document. */
typedef struct history_version {
    uint64_t sequence;
    bool removed;
    bool inserted; /* the document before was removed in this commit, or there was none */
    uint8_t *bson; /* NULL when it was removed */
    uint32_t size;
    bool whole; /* a frame with it is whole, as history_find_whole_frames() found */
    bool kept;  /* the original's log has it; compaction leaves out what nobody needs */
    bool dead;  /* a whole compacted segment covers its commit and has it not */
} history_version;

typedef struct history_document {
    history_version *versions;
    size_t count;
} history_document;

typedef struct version_history {
    history_document documents[HISTORY_COLLECTIONS][HISTORY_IDS];
    int32_t next_value;
    uint64_t last;    /* commit */
    bool *whole;      /* by commit: a whole frame of it was found */
    uint64_t highest; /* of those */
} version_history;

/* history_collection_name -- of a collection. */
const char *history_collection_name(unsigned collection);

/* history_step -- one commit of one document or several, of one collection or several, or one
 * that is aborted. */
void history_step(version_history *c, random_source *random, tansu_db *db);

/* history_find_whole_frames -- finds the whole frames in the log folder of a database;
 * `original` is the same database before it was damaged. */
void history_find_whole_frames(version_history *c, const char *folder, const char *original);

/* history_find -- the version that has these bytes; NULL when there never was one. */
const history_version *history_find(const version_history *c, const void *bson, size_t size,
                                    unsigned *collection, unsigned *id);

void history_free(version_history *c);

#endif
