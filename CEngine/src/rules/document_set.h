/*
 * rules/document_set.h -- sets of documents of any collections, in the order in which they were
 * added.
 */
#ifndef TANSU_RULES_DOCUMENT_SET_H
#define TANSU_RULES_DOCUMENT_SET_H

#include "store/pending.h"

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

#endif
