/*
 * catalog/version.h -- what a database is as of one commit: an immutable value that readers hold.
 * Part catalog; may call index, log and base.
 *
 * A commit makes a new version that shares everything unchanged with the one before. Readers hold a
 * version by reference count, so they need no locks while they read. What a commit replaced hangs on
 * the newest version that can see it. When that version is let go, what the next older one cannot see
 * either is freed, and the rest goes over to that one: a version that is held for long keeps what
 * it sees itself, and nothing that came and went after it.
 */
#ifndef TANSU_CATALOG_VERSION_H
#define TANSU_CATALOG_VERSION_H

#include "index/definition.h"
#include "index/places.h"
#include "index/tree.h"

/* One secondary index as of a version. */
typedef struct collection_index {
    const index_definition *definition;
    tree entries;
    bool multikey; /* some document ever made more than one entry, or met an array on a path */
} collection_index;

/* One collection as of a version. Immutable once published. */
typedef struct collection_state {
    uint64_t epoch; /* the writer that made this copy */
    uint32_t id;    /* unique in the database, never used again */
    bool local;     /* never replicated */
    char name[TANSU_MAX_NAME + 1];
    places *places;      /* shared by all versions of the collection */
    uint64_t next_docno; /* docnos 0 … next_docno - 1 have been given out */
    uint64_t count;      /* documents */
    tree ids;            /* value_key(_id) and docno */
    uint32_t index_count;
    collection_index indexes[]; /* in order of creation */
} collection_state;

typedef struct version {
    uint64_t sequence; /* number of the commit that made it */
    uint64_t position; /* end of that commit in the log (log_position()) */
    uint32_t count;
    collection_state **collections; /* sorted by name */
    uint64_t epoch;                 /* of the change that made it: rises from version to version */
    /* The following are guarded by the version list's mutex. */
    uint64_t holders;
    struct version *previous, *next; /* the versions that are still there before and after it */
    retire_list retired;             /* what it sees and no later version does */
    struct version *more;            /* versions that ended and whose `retired` belongs here, too:
                                        there was no memory to join the lists */
} version;

/* version_collection -- the collection of that name, or NULL. */
const collection_state *version_collection(const version *v, const char *name);

/* version_collection_by_id -- the collection of that number, or NULL. */
const collection_state *version_collection_by_id(const version *v, uint32_t id);

#endif
