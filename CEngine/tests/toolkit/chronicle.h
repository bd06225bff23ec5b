/*
 * toolkit/chronicle.h -- a database of which every committed version of every document is known, and which of
 * them a folder of log files still holds in whole frames.
 *
 * Documents are {_id, c, v, pad}: `v` is another number in each version, so that bytes tell which it is.
 */
#ifndef TOOLKIT_CHRONICLE_H
#define TOOLKIT_CHRONICLE_H

#include "random.h"
#include "tansu.h"

#define CHRONICLE_COLLECTIONS 3
#define CHRONICLE_IDS 100

/* One commit of one document. */
typedef struct chronicle_version {
    uint64_t sequence;
    bool removed;
    bool anew;     /* the document before was removed in this commit, or there was none */
    uint8_t *bson; /* NULL when it was removed */
    uint32_t size;
    bool whole; /* a frame with it is whole, as chronicle_look() found */
    bool kept;  /* the original's log has it; compaction leaves out what nobody needs */
    bool dead;  /* a whole compacted segment covers its commit and has it not */
} chronicle_version;

typedef struct chronicle_document {
    chronicle_version *versions;
    size_t count;
} chronicle_document;

typedef struct chronicle {
    chronicle_document documents[CHRONICLE_COLLECTIONS][CHRONICLE_IDS];
    int32_t next_value;
    uint64_t last;    /* commit */
    bool *whole;      /* by commit: a whole frame of it was found */
    uint64_t highest; /* of those */
} chronicle;

/* chronicle_name -- of a collection. */
const char *chronicle_name(unsigned collection);

/* chronicle_step -- one commit of one document or several, of one collection or several, or one that is
 * aborted. */
void chronicle_step(chronicle *c, random_source *random, tansu_db *db);

/* chronicle_look -- finds the whole frames in the log folder of a database; `original` is the same database
 * before it was damaged. */
void chronicle_look(chronicle *c, const char *folder, const char *original);

/* chronicle_find -- the version that has these bytes; NULL when there never was one. */
const chronicle_version *chronicle_find(const chronicle *c, const void *bson, size_t size,
                                        unsigned *collection, unsigned *id);

void chronicle_free(chronicle *c);

#endif
