/*
 * query/docnos.h -- growing lists of docnos, taken from index ranges and made into sets. Part
 * query; may call index and catalog.
 */
#ifndef TANSU_QUERY_DOCNOS_H
#define TANSU_QUERY_DOCNOS_H

#include "query/plan.h"

/* Zeroed, it is empty. */
typedef struct docno_list {
    uint64_t *items;
    size_t count;
    size_t capacity;
} docno_list;

void docno_list_free(docno_list *list);

/* docno_list_reserve -- room for `more` behind those there; false when memory is exhausted. */
bool docno_list_reserve(docno_list *list, size_t more);

/* docno_list_add_range -- appends the docnos of all entries in a range. Errors: MEMORY, IO,
 * CORRUPT. */
tansu_status docno_list_add_range(docno_list *list, const view *v, const access *a,
                                  const key_range *range, tansu_error *error);

/* docno_list_add_access -- of all of an access's ranges. */
tansu_status docno_list_add_access(docno_list *list, const view *v, const access *a,
                                   tansu_error *error);

/* docno_list_sort -- ascending and each once; false when memory is exhausted. */
bool docno_list_sort(docno_list *list);

/* docno_list_retain -- keeps what is in the other list as well; both are sorted. */
void docno_list_retain(docno_list *list, const docno_list *other);

#endif
