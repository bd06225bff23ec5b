/*
 * index/index_build.h -- building an index over existing documents: entries are sorted, then become
 * a tree from the leaves up.
 */
#ifndef TANSU_INDEX_INDEX_BUILD_H
#define TANSU_INDEX_INDEX_BUILD_H

#include "index/definition.h"
#include "index/tree/tree.h"

/* What an index is built of. */
typedef struct index_source {
    /* Gives the next document; TANSU_DONE at the end. */
    tansu_status (*next)(void *context, uint64_t *rid, const uint8_t **doc, uint32_t *size,
                         tansu_error *error);
    /* Asked now and then between the documents, when much is sorted and put in order: another
     * status than OK ends the build. */
    tansu_status (*check)(void *context, tansu_error *error);
    void *context;
    /* Replay: the locations may be newer than the log so far, so that a unique index temporarily
     * has a value twice. That is no error. */
    bool repeats;
} index_source;

/* Two documents that have one value of a unique index: the later one, and its entry. */
typedef struct index_conflict {
    uint64_t rid;
    tansu_buffer entry; /* to be freed by the caller; empty when there was no conflict */
} index_conflict;

/*
 * index_build -- collects the entries of all documents, sorts them and builds the tree from below;
 * beyond a bound on memory in runs that are inserted one after the other. On an error nothing is
 * left of the tree. Errors: NOT_UNIQUE (context names the index; `conflict`, which may be NULL,
 * says more), TOO_LARGE, MEMORY, and the source's.
 */
tansu_status index_build(tree_writer *writer, const index_definition *definition,
                         const index_source *source, tree *result, bool *multikey,
                         index_conflict *conflict, tansu_error *error);

#endif
