/*
 * rules/rules_internal.h -- sets of documents of any collections, in the order in which they were
 * added.
 */
#ifndef TANSU_RULES_RULES_INTERNAL_H
#define TANSU_RULES_RULES_INTERNAL_H

#include "query/util/deadline.h"
#include "store/pending.h"
#include "store/read_context.h"
#include "store/references/reference_list.h"
#include "store/write_txn/write_txn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct document_place {
    uint32_t collection; /* its number */
    uint64_t rid;
} document_place;

/* Zero-initialised, it is empty. */
typedef struct document_set {
    document_place *items;
    size_t count;
    size_t capacity;
    pending members;
} document_set;

/* document_set_add -- adds a document unless it is there. False when memory is exhausted. */
bool document_set_add(document_set *set, document_place place);

bool document_set_has(const document_set *set, document_place place);

void document_set_free(document_set *set);

/* ---- Nullify ---- */

/*
 * Taking references out of a stored document: by the rule "nullify" a value at
 * the path of a reference becomes null, and an element of an array at its end is taken out.
 */

/* Says in *goes whether a value, which refers to a document of `target` (NULL: there is no such
 * collection), is to be taken out. */
typedef tansu_status (*nullify_test)(void *context, const collection_state *target,
                                     const doc_value *value, bool *goes, tansu_error *error);

/* Zero-initialised but for the test and its context. */
typedef struct nullifier {
    nullify_test test;
    void *context;
    tansu_buffer before;
    tansu_buffer after;
} nullifier;

/* nullify_document -- takes the values out of one document, by all references of its collection
 * that have the rule, and saves it if there was one. *values grows by their number. Errors: those
 * of the test and of a save. */
tansu_status nullify_document(nullifier *n, write_txn *wtxn, document_place place, uint64_t *values,
                              tansu_error *error);

/* nullifier_free -- ends what it holds. */
void nullifier_free(nullifier *n);

/* ---- Finding the documents that refer to given documents ---- */

/* referrers_find -- the record ids of the documents of a collection that have one of `ids`, a BSON
 * array, at the path of a reference; by an index where there is one. The caller frees *rids.
 * Errors: those of a query. */
tansu_status referrers_find(const reference *r, const collection_state *holder,
                            const read_context *rctx, const tansu_buffer *ids, uint64_t **rids,
                            size_t *count, tansu_error *error);

/* ---- The error for documents whose removal a reference denies ---- */

/* A document that refers to one that is removed, by a reference with the rule "deny". */
typedef struct denial {
    document_place place;
    const reference *by;
} denial;

/* deny_check -- REFERENCED if one of the documents is not removed, too. The message names the first
 * of them that are of one collection. Otherwise OK. */
tansu_status deny_check(const denial *denials, size_t count, const document_set *removed,
                        const snapshot *v, const read_context *rctx, tansu_error *error);

#endif
