/*
 * query/exec/rid_list.h -- lists of record ids that are read from index ranges and turned into
 * sets.
 *
 * A list may keep the index entries. Each item then has its record id in the upper bits, and in the
 * lower bits the offset of its entry in `entries`, 0 when the entry was not kept.
 */
#ifndef TANSU_QUERY_EXEC_RID_LIST_H
#define TANSU_QUERY_EXEC_RID_LIST_H

#include "query/exec/cursor.h"
#include "query/plan/plan.h"

/* Zero-initialised, it is empty. */
typedef struct rid_list {
    uint64_t *items;
    size_t count;
    size_t capacity;
    bool keep_entries;
    bool full;    /* there were more than the limit allows: what it holds is of no use */
    size_t limit; /* bytes that items and entries may take while they are sorted; 0: no limit */
    tansu_buffer entries; /* an unused byte; then each entry, after its size (4 bytes) */
} rid_list;

/* Limit of the entries that are kept, in bytes. */
#define MAX_ENTRY_BYTES ((size_t)64 * 1024 * 1024)

/* The bytes of an index entry. */
typedef struct entry_bytes {
    const uint8_t *data; /* NULL: none */
    size_t size;
} entry_bytes;

/* rid_list_at -- the record id of an item. */
static inline uint64_t rid_list_at(const rid_list *list, size_t at) {
    return list->keep_entries ? list->items[at] >> TREE_POSITION_BITS : list->items[at];
}

/* rid_list_entry -- the entry of an item. */
static inline entry_bytes rid_list_entry(const rid_list *list, size_t at) {
    size_t offset = list->keep_entries ? list->items[at] & TREE_POSITION_MAX : 0;
    if (offset == 0)
        return (entry_bytes){NULL, 0};
    const uint8_t *entry = list->entries.data + offset;
    return (entry_bytes){entry + 4, load_u32(entry)};
}

#define PREFETCH_ENTRIES 12

/* rid_list_next_entry -- the same for reading all entries in record id order, where they are
 * scattered: prefetches one ahead. */
static inline entry_bytes rid_list_next_entry(const rid_list *list, size_t at) {
    if (at + PREFETCH_ENTRIES < list->count)
        __builtin_prefetch(list->entries.data +
                           (list->items[at + PREFETCH_ENTRIES] & TREE_POSITION_MAX));
    return rid_list_entry(list, at);
}

/* rid_list_clear -- empties a list and its entries. False when memory is exhausted. */
bool rid_list_clear(rid_list *list);

void rid_list_free(rid_list *list);

/* rid_list_reserve -- ensures capacity for `more` items. False when memory is exhausted. */
bool rid_list_reserve(rid_list *list, size_t more);

/* rid_list_add_range -- appends the record ids of all entries in a range, or sets `full`. Errors:
 * MEMORY, IO, CORRUPT, and those of run_check(). */
tansu_status rid_list_add_range(rid_list *list, const query_run *run, const access_path *a,
                                const key_range *range, tansu_error *error);

/* rid_list_add_access -- rid_list_add_range() for all ranges of an access path. */
tansu_status rid_list_add_access(rid_list *list, const query_run *run, const access_path *a,
                                 tansu_error *error);

/* rid_list_sort -- sorts by record id and removes duplicates. False when memory is exhausted. */
bool rid_list_sort(rid_list *list);

/* rid_list_intersect -- retains what is in the other list too. Both are sorted and have no
 * entries. */
void rid_list_intersect(rid_list *list, const rid_list *other);

#endif
