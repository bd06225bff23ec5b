/*
 * query/docnos.c -- see docnos.h.
 */
#include "query/docnos.h"
#include "query/run.h"
#include <stdlib.h>

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)
#define BATCH 4096 /* entries read between two looks at whether to stop */
#define FEW 96     /* up to here insertion sort beats clearing the radix counters */

/* docno_list_free -- the list is then empty. */
void docno_list_free(docno_list *list) {
    free(list->items);
    tansu_buffer_free(&list->kept);
    *list = (docno_list){.items = NULL};
}

/* docno_list_clear -- see docnos.h. */
bool docno_list_clear(docno_list *list) {
    list->count = 0;
    list->kept.size = 0;
    return !list->keeps || buffer_append_byte(&list->kept, 0);
}

/* docno_list_reserve -- grows by doubling. */
bool docno_list_reserve(docno_list *list, size_t more) {
    if (list->capacity - list->count >= more)
        return true;
    size_t capacity = list->capacity == 0 ? 32 : list->capacity * 2;
    if (capacity < list->count + more)
        capacity = list->count + more;
    if (capacity > SIZE_MAX / sizeof *list->items)
        return false;
    uint64_t *items = realloc(list->items, capacity * sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

/* add_unique -- the one entry, if any, of a whole key in a unique index: one descent, no cursor. */
static tansu_status add_unique(docno_list *list, const view *v, const access *a,
                               const key_range *range, tansu_error *error) {
    bool found;
    uint64_t docno;
    tansu_status status =
        tree_find_prefix(v->trees, a->entries, range->low, range->low_size, &found, &docno, error);
    if (status != TANSU_OK || !found)
        return status;
    if (!docno_list_reserve(list, 1))
        return error_memory(error);
    list->items[list->count++] = docno;
    return TANSU_OK;
}

/* add_batch -- some entries from the cursor on, kept as long as there is room for them; *done: the
 * range is done. */
static tansu_status add_batch(docno_list *list, tree_cursor *cursor, const key_range *range,
                              size_t room, bool *done, tansu_error *error) {
    uint64_t *items = list->items + list->count;
    size_t count;
    tansu_status status;
    if (list->keeps && list->kept.size < MAX_KEPT) {
        status = tree_cursor_entries(cursor, range->high, range->high_size, items, room,
                                     &list->kept, MAX_KEPT, &count, done, error);
    } else {
        status =
            tree_cursor_docnos(cursor, range->high, range->high_size, items, room, &count, error);
        *done = count < room;
        for (size_t i = 0; list->keeps && i < count; i++)
            items[i] <<= TREE_PLACE_BITS;
    }
    if (status == TANSU_OK)
        list->count += count;
    return status;
}

/* docno_list_add_range -- see docnos.h. */
tansu_status docno_list_add_range(docno_list *list, const query_run *run, const access *a,
                                  const key_range *range, tansu_error *error) {
    const view *v = &run->view;
    if (a->unique && a->all_points && !list->keeps)
        return add_unique(list, v, a, range, error);
    tree_cursor cursor;
    bool valid;
    tree_cursor_init(&cursor, v->trees, a->entries);
    tansu_status status = tree_cursor_seek(&cursor, range->low, range->low_size, &valid, error);
    for (size_t room = 32; status == TANSU_OK && valid;) {
        if (!docno_list_reserve(list, room)) {
            status = error_memory(error);
            break;
        }
        room = list->capacity - list->count < BATCH ? list->capacity - list->count : BATCH;
        bool done;
        status = add_batch(list, &cursor, range, room, &done, error);
        valid = !done;
        if (status == TANSU_OK && valid && run->watched)
            status = run_check(run, error);
    }
    tree_cursor_end(&cursor);
    return status;
}

/* docno_list_add_access -- range after range. */
tansu_status docno_list_add_access(docno_list *list, const query_run *run, const access *a,
                                   tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < a->range_count; i++)
        status = docno_list_add_range(list, run, a, &a->ranges[i], error);
    return status;
}

/* insertion_sort -- for few. */
static void insertion_sort(uint64_t *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* radix_sort -- least digit first; `most` is the greatest item. False when memory is exhausted. */
static bool radix_sort(docno_list *list, uint64_t most) {
    uint32_t first = list->keeps ? TREE_PLACE_BITS : 0;
    uint64_t *from = list->items;
    uint64_t *to = malloc(list->count * sizeof *to);
    if (!to)
        return false;
    for (uint32_t shift = first; shift < 64 && most >> shift != 0; shift += RADIX_BITS) {
        size_t places[RADIX_SIZE] = {0};
        for (size_t i = 0; i < list->count; i++)
            places[from[i] >> shift & (RADIX_SIZE - 1)]++;
        size_t sum = 0;
        for (uint32_t d = 0; d < RADIX_SIZE; d++) {
            size_t here = places[d];
            places[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < list->count; i++)
            to[places[from[i] >> shift & (RADIX_SIZE - 1)]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != list->items) {
        memcpy(to, from, list->count * sizeof *to);
        to = from;
    }
    free(to);
    return true;
}

/* docno_list_sort -- see docnos.h. One look tells whether there is anything to do. */
bool docno_list_sort(docno_list *list) {
    uint64_t *items = list->items;
    uint64_t most = 0, before = 0;
    bool ascending = true;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t docno = docno_list_at(list, i);
        ascending = ascending && (i == 0 || docno > before);
        before = docno;
        if (items[i] > most)
            most = items[i];
    }
    if (ascending)
        return true;
    if (list->count <= FEW)
        insertion_sort(items, list->count);
    else if (!radix_sort(list, most))
        return false;
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (docno_list_at(list, i) != docno_list_at(list, kept - 1))
            items[kept++] = items[i];
    }
    list->count = kept;
    return true;
}

/* docno_list_retain -- see docnos.h. */
void docno_list_retain(docno_list *list, const docno_list *other) {
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < list->count && k < other->count;) {
        uint64_t a = list->items[i], b = other->items[k];
        if (a == b)
            list->items[kept++] = a;
        i += a <= b;
        k += b <= a;
    }
    list->count = kept;
}
