/*
 * documents.h -- the documents of the soak and of the held snapshot: {_id, a, n, s, pad}, of 150 to 650 bytes, where all
 * follows from the id and from n, which grows with each change. So whoever reads one can tell whether it is right.
 */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H

#include "bson_writer.h"

#include <stdint.h>
#include <tansu.h>

#define COLLECTION "soak"
#define DOCUMENT_INDEXES 3

/* The paths that have an index. */
extern const char *const document_paths[DOCUMENT_INDEXES];

/* next_random -- xorshift; every thread has its own state, which is not 0. */
uint64_t next_random(uint64_t *state);

/* make_document -- that of an id after n changes. */
void make_document(struct bson_writer *w, int32_t id, int32_t n);

/* make_update -- the operators that make of the document after n - 1 changes that after n. */
void make_update(struct bson_writer *w, int32_t id, int32_t n);

/* make_id -- {"_id": id}. */
void make_id(struct bson_writer *w, int32_t id);

/* document_check -- whether it is a document as it should be; *id and *n are its own. 0 when it is not. */
int document_check(const void *data, size_t size, int32_t *id, int32_t *n);

/* create_indexes -- the first so many of them. */
tansu_status create_indexes(tansu_db *db, int count, tansu_error *error);

/* count_by_index -- how many documents an index holds. */
tansu_status count_by_index(tansu_db *db, tansu_txn *txn, const char *path, int64_t *count,
                            tansu_error *error);

/* A reading of everything: how many documents, and the sum of their n. */
struct census {
    int64_t documents, changes;
};

/* take_census -- reads and checks every document; for each calls `seen` (may be NULL). -1 after an error, which is
 * told on standard error. */
int take_census(tansu_db *db, tansu_txn *txn, struct census *c,
                void (*seen)(void *context, int32_t id, int32_t n), void *context);

#endif
