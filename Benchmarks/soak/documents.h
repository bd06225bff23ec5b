/*
 * documents.h -- the documents of the soak and of the held snapshot: {_id, a, n, s, pad}, of 150 to
 * 650 bytes. All values follow from the id and from n, the number of changes, so every document
 * that is read can be checked.
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

/* make_document -- the document with an id after n changes. */
void make_document(struct bson_writer *w, int32_t id, int32_t n);

/* make_update -- the update operators that change a document from n - 1 to n changes. */
void make_update(struct bson_writer *w, int32_t id, int32_t n);

/* make_id -- {"_id": id}. */
void make_id(struct bson_writer *w, int32_t id);

/* document_check -- whether it is a valid document; *id and *n are its own. 0 when it is not. */
int document_check(const void *data, size_t size, int32_t *id, int32_t *n);

/* create_indexes -- creates the first `count` of them. */
tansu_status create_indexes(tansu_db *db, int count, tansu_error *error);

/* insert_documents -- those with the ids below `count`, after no change, a thousand a commit. */
tansu_status insert_documents(tansu_db *db, uint64_t count, tansu_error *error);

/* count_by_index -- the number of documents in an index. */
tansu_status count_by_index(tansu_db *db, tansu_txn *txn, const char *path, int64_t *count,
                            tansu_error *error);

/* Totals over all documents: how many there are, and the sum of their n. */
struct totals {
    int64_t documents, changes;
};

/* scan_totals -- reads and checks every document and calls `seen` for each (may be NULL). -1 after
 * an error, which is printed on standard error. */
int scan_totals(tansu_db *db, tansu_txn *txn, struct totals *c,
                void (*seen)(void *context, int32_t id, int32_t n), void *context);

#endif
