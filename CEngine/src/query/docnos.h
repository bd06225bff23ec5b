/*
 * query/docnos.h -- growing lists of docnos, taken from index ranges and made into sets. Part
 * query; may call index and catalog.
 *
 * A list may keep the entries that the docnos came from. Each item then has its docno in the upper
 * bits, and below it the place of its entry in `kept`, 0 when there was no more room.
 */
#ifndef TANSU_QUERY_DOCNOS_H
#define TANSU_QUERY_DOCNOS_H

#include "query/plan.h"
#include "query/query.h"

/* Zeroed, it is empty. */
typedef struct docno_list {
    uint64_t *items;
    size_t count;
    size_t capacity;
    bool keeps;
    tansu_buffer kept; /* a byte that nothing begins at, and each entry behind its size (4 bytes) */
} docno_list;

/* Entries are kept up to so many bytes. */
#define MAX_KEPT ((size_t)64 * 1024 * 1024)

/* Bytes of an entry of an index. */
typedef struct entry_bytes {
    const uint8_t *data; /* NULL: none */
    size_t size;
} entry_bytes;

/* docno_list_at -- a docno, whatever stands below it. */
static inline uint64_t docno_list_at(const docno_list *list, size_t at) {
    return list->keeps ? list->items[at] >> TREE_PLACE_BITS : list->items[at];
}

/* docno_list_entry -- the entry that an item came from. */
static inline entry_bytes docno_list_entry(const docno_list *list, size_t at) {
    size_t place = list->keeps ? list->items[at] & TREE_PLACE_MAX : 0;
    if (place == 0)
        return (entry_bytes){NULL, 0};
    const uint8_t *kept = list->kept.data + place;
    return (entry_bytes){kept + 4, load_u32(kept)};
}

/* Entries ahead that are asked for early. */
#define ENTRIES_AHEAD 12

/* docno_list_entry_ahead -- the same, when all entries are looked at one after the other: in docno order
 * they lie anywhere. */
static inline entry_bytes docno_list_entry_ahead(const docno_list *list, size_t at) {
    if (at + ENTRIES_AHEAD < list->count)
        __builtin_prefetch(list->kept.data + (list->items[at + ENTRIES_AHEAD] & TREE_PLACE_MAX));
    return docno_list_entry(list, at);
}

/* docno_list_clear -- empties a list and what it keeps; false when memory is exhausted. */
bool docno_list_clear(docno_list *list);

void docno_list_free(docno_list *list);

/* docno_list_reserve -- room for `more` behind those there; false when memory is exhausted. */
bool docno_list_reserve(docno_list *list, size_t more);

/* docno_list_add_range -- appends the docnos of all entries in a range. Errors: MEMORY, IO,
 * CORRUPT, and those of run_check(), which is asked now and then. */
tansu_status docno_list_add_range(docno_list *list, const query_run *run, const access *a,
                                  const key_range *range, tansu_error *error);

/* docno_list_add_access -- of all of an access's ranges. */
tansu_status docno_list_add_access(docno_list *list, const query_run *run, const access *a,
                                   tansu_error *error);

/* docno_list_sort -- ascending and each docno once; false when memory is exhausted. */
bool docno_list_sort(docno_list *list);

/* docno_list_retain -- keeps what is in the other list as well; both are sorted, and keep no
 * entries. */
void docno_list_retain(docno_list *list, const docno_list *other);

#endif
