/*
 * generate.h -- generates BSON from a fuzzer's input, so that valid queries, hints, updates and
 * documents are frequent: every choice takes one byte, and after the last byte each choice is its
 * first. Built with libbson, so that it does not depend on the engine's own code.
 */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "tansu.h"

#include <bson/bson.h>
#include <stdbool.h>

/* The rest of the input. */
typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
} fuzz_bytes;

/* fuzz_require -- a promise that does not hold is a finding. */
void fuzz_require(bool holds, const char *what);

/* fuzz_choose -- 0 to n - 1. */
unsigned fuzz_choose(fuzz_bytes *bytes, unsigned n);

/* fuzz_take_document -- the bytes of a BSON document, by the length that they begin with and
 * unchanged: cut off at the end of the input, and all of the rest when the length is invalid. */
tansu_document fuzz_take_document(fuzz_bytes *bytes);

/* Each makes a new document that the caller ends with bson_destroy(). */
bson_t *fuzz_document(fuzz_bytes *bytes, int32_t id);
bson_t *fuzz_query(fuzz_bytes *bytes);
bson_t *fuzz_hints(fuzz_bytes *bytes);
bson_t *fuzz_update(fuzz_bytes *bytes);
bson_t *fuzz_index_keys(fuzz_bytes *bytes);
bson_t *fuzz_index_options(fuzz_bytes *bytes, bool unique);

/* fuzz_append_value -- appends a value of any kind. */
void fuzz_append_value(fuzz_bytes *bytes, bson_t *doc, const char *key);

/* fuzz_open -- an empty memory store. */
tansu_db *fuzz_open(void);

/* fuzz_close -- closes it; nothing may be open any more. */
void fuzz_close(tansu_db *db);

/* fuzz_save -- saves a document in the collection "c", if it may be stored. */
void fuzz_save(tansu_db *db, tansu_document document);

/* fuzz_find -- all documents in a result from "c", one after the other. `index` NULL: as the hints
 * say; otherwise the hint $index is added with that name. */
tansu_status fuzz_find(tansu_db *db, tansu_txn *txn, tansu_document query, tansu_document hints,
                       const char *index, tansu_buffer *answer);

/* fuzz_same -- whether two buffers hold the same. */
bool fuzz_same(const tansu_buffer *a, const tansu_buffer *b);

/* fuzz_of -- a libbson document as the engine takes it. */
tansu_document fuzz_of(const bson_t *doc);

#endif
