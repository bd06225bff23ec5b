/*
 * index/index_batch.c -- making the changes of a batch.
 */
#include "index/index_batch.h"

#include "index/text_entries.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

bool index_batch_add(index_batch *batch, const uint8_t *entry, uint32_t size, bool removes) {
    if (!ARRAY_RESERVE(batch->items, batch->count, batch->capacity, 1))
        return false;
    batch_item item = {
        .offset = (uint32_t)batch->bytes.size, .size = size & INT32_MAX, .removes = removes};
    if (!buffer_append(&batch->bytes, entry, size))
        return false;
    batch->items[batch->count++] = item;
    return true;
}

size_t index_batch_memory(const index_batch *batch) {
    return batch->bytes.size + batch->count * sizeof *batch->items;
}

/* A way through a sorted batch. */
typedef struct batch_walk {
    const index_batch *batch;
    size_t next;
} batch_walk;

/* walk_next -- for text_apply(). */
static bool walk_next(void *context, const uint8_t **entry, uint32_t *size, bool *removes) {
    batch_walk *walk = context;
    if (walk->next == walk->batch->count)
        return false;
    const batch_item *item = &walk->batch->items[walk->next++];
    *entry = walk->batch->bytes.data + item->offset;
    *size = item->size;
    *removes = item->removes;
    return true;
}

tansu_status index_batch_apply(index_batch *batch, const index_definition *definition,
                               tree_writer *writer, tree *t, tansu_error *error) {
    if (!batch_sort(batch->bytes.data, batch->items, batch->count, NULL))
        return error_memory(error);
    batch_walk walk = {.batch = batch};
    bool text = definition && definition->text;
    tansu_status status =
        text ? text_apply(definition, walk_next, &walk, writer, t, error) : TANSU_OK;
    for (size_t i = 0; !text && status == TANSU_OK && i < batch->count; i++) {
        const batch_item *item = &batch->items[i];
        const uint8_t *entry = batch->bytes.data + item->offset;
        status = item->removes ? tree_remove(writer, t, entry, item->size, NULL, error)
                               : tree_insert(writer, t, entry, item->size, NULL, error);
    }
    if (status == TANSU_OK)
        batch->count = batch->bytes.size = 0;
    return status;
}

void index_batch_free(index_batch *batch) {
    tansu_buffer_free(&batch->bytes);
    free(batch->items);
    *batch = (index_batch){.items = NULL};
}

/* ---- Sorting the entries of a batch ---- */

/*
 * Entries of one index begin alike: with the type of the value, often with the same characters. A
 * comparison of two goes to their bytes, which are in no cache, and its result cannot be predicted.
 * So the bytes are read once, in the order in which they are: for each entry the eight that follow
 * what all have in common. By the first four of these that differ anywhere the entries are
 * distributed, byte by byte from the last one, which compares nothing. What is equal in all four is
 * then sorted alone, by the bytes that follow, unless it is in order: entries come with rising
 * record ids, with which entries of one value end.
 */

/* That many neighbours are sorted by insertion. */
#define SORT_FEW 16u
/* From that many entries on they are distributed: the counters for each byte cost more before. */
#define DISTRIBUTE_FROM 128u
/* By so many bytes. */
#define DISTRIBUTE_BYTES 4u

/* item_before -- the same of entries in the same bytes. */
static inline bool item_before(const uint8_t *bytes, const batch_item *a, const batch_item *b) {
    return batch_item_before(bytes, a, bytes, b);
}

/* sort_few -- sorts a few items in place. */
static void sort_few(const uint8_t *bytes, batch_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        batch_item moved = items[i];
        size_t at = i;
        for (; at > 0 && item_before(bytes, &moved, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}

/* merge -- merges two sorted neighbours, the left one of `width` items, which go to `spare`. */
static void merge(const uint8_t *bytes, batch_item *items, size_t width, size_t count,
                  batch_item *spare) {
    if (!item_before(bytes, &items[width], &items[width - 1]))
        return;
    size_t left = 0, right = width, to = 0;
    memcpy(spare, items, width * sizeof *items);
    while (left < width && right < count) {
        if (item_before(bytes, &items[right], &spare[left]))
            items[to++] = items[right++];
        else
            items[to++] = spare[left++];
    }
    memcpy(items + to, spare + left, (width - left) * sizeof *items);
}

/* sort_merging -- sorts by comparisons; `spare` has room for the items. */
static void sort_merging(const uint8_t *bytes, batch_item *items, size_t count, batch_item *spare) {
    for (size_t from = 0; from < count; from += SORT_FEW)
        sort_few(bytes, items + from, count - from < SORT_FEW ? count - from : SORT_FEW);
    for (size_t width = SORT_FEW; width < count; width *= 2)
        for (size_t from = 0; from + width < count; from += 2 * width)
            merge(bytes, items + from, width, count - from < 2 * width ? count - from : 2 * width,
                  spare);
}

/* common_size -- with how many bytes all entries begin alike; that many are known: `known`. */
static size_t common_size(const uint8_t *bytes, const batch_item *items, size_t count,
                          size_t known) {
    const uint8_t *first = bytes + items[0].offset;
    size_t common = items[0].size;
    for (size_t i = 1; common > known && i < count; i++) {
        const uint8_t *entry = bytes + items[i].offset;
        size_t same = known;
        while (same < items[i].size && same < common && first[same] == entry[same])
            same++;
        common = same;
    }
    return common;
}

uint64_t batch_heads(const uint8_t *bytes, batch_item *items, size_t count, size_t common) {
    uint64_t differs = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = bytes + items[i].offset + common;
        size_t size = items[i].size - common;
        uint8_t last[8] = {0};
        if (size < sizeof last)
            entry = memcpy(last, entry, size);
        items[i].head = load_be64(entry);
        differs |= items[i].head ^ items[0].head;
    }
    return differs;
}

/* distribute -- sorts by one byte of the heads; what is equal in it stays in its order. */
static void distribute(const batch_item *from, batch_item *to, size_t count, unsigned shift) {
    size_t place[256] = {0}, before = 0;
    for (size_t i = 0; i < count; i++)
        place[from[i].head >> shift & 255]++;
    for (unsigned value = 0; value < 256; value++) {
        size_t here = place[value];
        place[value] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[from[i].head >> shift & 255]++] = from[i];
}

/* distribute_all -- sorts by the first bytes of the heads that differ; the bits that are equal in
 * what is not sorted yet. */
static uint64_t distribute_all(batch_item *items, size_t count, uint64_t differs,
                               batch_item *spare) {
    unsigned shifts[DISTRIBUTE_BYTES], chosen = 0;
    uint64_t mask = 0;
    for (unsigned shift = 64; shift != 0 && chosen < DISTRIBUTE_BYTES;) {
        shift -= 8;
        if ((differs >> shift & 255) == 0)
            continue;
        shifts[chosen++] = shift;
        mask |= (uint64_t)255 << shift;
    }
    batch_item *from = items, *to = spare;
    while (chosen != 0) {
        distribute(from, to, count, shifts[--chosen]);
        batch_item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    return mask;
}

/* sort_range -- sorts entries of which the first `known` bytes are the same. Each call for a part
 * of them knows at least one byte more, so they nest no deeper than an entry is long. */
static void sort_range(const uint8_t *bytes, batch_item *items, size_t count, size_t known,
                       batch_item *spare, const sort_check *check) {
    if (check && !check->goes_on(check->context, count))
        return;
    known = common_size(bytes, items, count, known);
    uint64_t differs = batch_heads(bytes, items, count, known);
    if (count < DISTRIBUTE_FROM || differs == 0) {
        sort_merging(bytes, items, count, spare);
        return;
    }
    uint64_t mask = distribute_all(items, count, differs, spare);
    for (size_t from = 0, to; from < count; from = to) {
        bool sorted = true;
        for (to = from + 1; to < count && ((items[to].head ^ items[from].head) & mask) == 0; to++)
            sorted = sorted && !item_before(bytes, &items[to], &items[to - 1]);
        if (!sorted)
            sort_range(bytes, items + from, to - from, known, spare, check);
    }
}

bool batch_sort(const uint8_t *bytes, batch_item *items, size_t count, const sort_check *check) {
    if (count < 2)
        return true;
    batch_item *spare = malloc(count * sizeof *spare);
    if (spare == NULL)
        return false;
    sort_range(bytes, items, count, 0, spare, check);
    free(spare);
    return true;
}
