/*
 * api/load/load.h -- the state of a load: its options, its position, the current batch. Private to
 * api/load*.c.
 */
#ifndef TANSU_API_LOAD_LOAD_H
#define TANSU_API_LOAD_LOAD_H

#include "api/dump_format.h"
#include "api/handles.h"

/* Documents and bytes of one commit. */
#define LOAD_DOCUMENTS 4096u
#define LOAD_BYTES (4u * 1024u * 1024u)

typedef struct load {
    tansu_db *db;
    tansu_txn *txn; /* all of it is one; NULL: a commit a batch */
    line_source lines;
    tansu_progress progress;
    void *progress_context;

    char collection[TANSU_MAX_NAME + 1]; /* where documents go now; "": nowhere yet */
    tansu_save_mode mode;
    bool skip; /* what is there already */
    bool atomic;
    bool keeps_timestamps;

    bool dump;  /* it began with a dump's first line */
    bool ended; /* and its last one was read */
    uint64_t collection_line;
    uint64_t expected; /* documents of the collection, as its line says */
    uint64_t seen;     /* that were read */
    uint64_t all_seen; /* of all collections */
    uint64_t all_indexes;
    tansu_buffer indexes; /* of the collection: a BSON array, created after the documents */

    /* Documents that were read and not saved yet, one after the other. */
    tansu_buffer batch;
    uint32_t batch_count;
    uint64_t *batch_lines;
    tansu_buffer document;

    /* What was done. */
    uint64_t collections, documents, skipped, indexes_made;
} load;

/* load_at -- puts the line's number into an error that a line is to blame for; returns the
 * status. */
tansu_status load_at(uint64_t line, tansu_status status, tansu_error *error);

/* load_save -- saves what was gathered. After an error what came before it in the batch is kept,
 * unless the load is atomic. */
tansu_status load_save(load *l, tansu_error *error);

/* load_control -- a line whose first key begins with `$` (api/load/load_control.c). */
tansu_status load_control(load *l, const doc_iter *first, tansu_error *error);

/* load_end_collection -- the collection's documents have all been read: they are saved and counted,
 * and its indexes are made. */
tansu_status load_end_collection(load *l, tansu_error *error);

#endif
