/*
 * store/collection_options.h -- the options of a collection that are objects: how each is read,
 * compared, written and freed. Records of the catalog, checkpoints, dumps, copies, compaction and
 * repair treat all of them alike.
 */
#ifndef TANSU_STORE_COLLECTION_OPTIONS_H
#define TANSU_STORE_COLLECTION_OPTIONS_H

#include "bson/writer.h"
#include "store/snapshot.h"
#include "util/retire.h"

/* One kind of option. An object of it is immutable once made, since snapshots share it; NULL is an
 * option that is not set. */
typedef struct collection_option {
    const char *name; /* of the member that sets it */
    /* parse -- reads the member. Errors: INVALID_QUERY, INVALID_NAME, MEMORY. */
    tansu_status (*parse)(const doc_value *value, void **option, tansu_error *error);
    bool (*equal)(const void *a, const void *b);
    /* write -- appends the member. */
    void (*write)(const void *option, writer *w);
    retire_free free; /* NULL is allowed */
} collection_option;

extern const collection_option collection_options[OPTION_COUNT];

/* collection_options_write -- appends those that are set. */
void collection_options_write(const collection_state *state, writer *w);

/* collection_option_copy -- the option `number` of a collection, made anew. Errors: MEMORY. */
tansu_status collection_option_copy(const collection_state *state, enum option_number number,
                                    void **option, tansu_error *error);

#endif
