/*
 * rules/document_set.c -- sets of documents. The table of a transaction's changed documents serves
 * as the index: its keys are the same.
 */
#include "rules/document_set.h"

#include "log/format.h"
#include "util/array.h"

#include <stdlib.h>

bool document_set_has(const document_set *set, document_place place) {
    return pending_find(&set->members, record_where(place.collection, place.rid)) != 0;
}

bool document_set_add(document_set *set, document_place place) {
    if (document_set_has(set, place))
        return true;
    if (!ARRAY_RESERVE(set->items, set->count, set->capacity, 1) || !pending_reserve(&set->members))
        return false;
    set->items[set->count++] = place;
    pending_set(&set->members, record_where(place.collection, place.rid), set->count);
    return true;
}

void document_set_free(document_set *set) {
    free(set->items);
    pending_free(&set->members);
}
