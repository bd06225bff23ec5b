/*
 * rules/nullify.h -- taking references out of a stored document: by the rule "nullify" a value at
 * the path of a reference becomes null, and an element of an array at its end is taken out.
 */
#ifndef TANSU_RULES_NULLIFY_H
#define TANSU_RULES_NULLIFY_H

#include "rules/document_set.h"
#include "store/write_txn/write_txn.h"

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

#endif
