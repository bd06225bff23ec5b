/*
 * index/index_build.c -- building an index over existing documents.
 *
 * The entries of as many documents as fit into RUN_BYTES are one run. Each run is sorted. The first
 * one becomes the tree, from the leaves up; later runs are inserted in order, so that neighbouring
 * entries find their blocks in memory.
 */
#include "index/index_build.h"

#include "index/text_entries.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* Bytes of one run: the entries, and what sorting them takes. A test makes it smaller. */
#ifndef RUN_BYTES
#define RUN_BYTES ((size_t)256 * 1024 * 1024)
#endif

/* Up to that many items, moving each one down to its position beats counting. */
#define SORT_FEW 32
/* That many times eight bytes that are alike are examined; then whole entries are compared. */
#define SORT_LEVELS 16
/* That many entries are worked on between two questions whether to continue. */
#define CHECK_EVERY 4096

/* An entry of the run; the head saves going to its bytes in nearly all comparisons. */
typedef struct build_item {
    uint64_t head;   /* eight bytes from the offset that sorting has reached, missing ones zero */
    uint32_t offset; /* in the run's bytes */
    uint32_t size;
} build_item;

typedef struct build_run {
    tree_writer *writer;
    const index_definition *definition;
    const index_source *source;
    size_t steps;         /* entries worked on since the source was asked whether to continue, */
    tansu_status stopped; /* and its answer; once it is not OK, nothing more is done */
    tansu_error *error;
    tansu_buffer bytes; /* the entries one after the other */
    build_item *items;
    build_item *spare; /* as many, for sorting */
    size_t count;
    size_t capacity;
    tree tree;    /* of the runs before */
    bool started; /* the first run has become the tree */
    /* The progress of tree_build(). */
    size_t next;
    bool unique;
    bool repeated; /* a unique index already has the value */
    index_conflict *conflict;
} build_run;

/* going_on -- counts the work on that many entries; false when the build is to end. */
static inline bool going_on(build_run *run, size_t entries) {
    run->steps += entries;
    if (run->steps >= CHECK_EVERY && run->stopped == TANSU_OK) {
        run->steps = 0;
        run->stopped = run->source->check(run->source->context, run->error);
    }
    return run->stopped == TANSU_OK;
}

/* ---- Sorting: what is left when the build is to end is in no order ---- */

/* item_head -- the eight bytes of an entry from `depth` on. */
static inline uint64_t item_head(const uint8_t *bytes, uint32_t size, uint32_t depth) {
    if (size >= depth + 8)
        return load_be64(bytes + depth);
    uint64_t head = 0;
    for (uint32_t i = 0; i < 8; i++)
        head = head << 8 | (depth + i < size ? bytes[depth + i] : 0);
    return head;
}

/* item_before -- whether an item sorts before another with the same first `depth` bytes. */
static inline bool item_before(const uint8_t *bytes, const build_item *a, const build_item *b,
                               uint32_t depth) {
    if (a->head != b->head)
        return a->head < b->head;
    uint32_t common = a->size < b->size ? a->size : b->size;
    int order = 0;
    if (common > depth)
        order = memcmp(bytes + a->offset + depth, bytes + b->offset + depth, common - depth);
    return order != 0 ? order < 0 : a->size < b->size;
}

/* sort_few -- sorts a few items in place. */
static void sort_few(const uint8_t *bytes, build_item *items, size_t count, uint32_t depth) {
    for (size_t i = 1; i < count; i++) {
        build_item moved = items[i];
        size_t at = i;
        for (; at > 0 && item_before(bytes, &moved, &items[at - 1], depth); at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}

/* merge_pair -- merges two sorted neighbours, the left one of `width` items; false to end. */
static bool merge_pair(build_run *run, build_item *items, size_t width, size_t count,
                       uint32_t depth) {
    const uint8_t *bytes = run->bytes.data;
    build_item *spare = run->spare;
    size_t left = 0, right = width, to = 0;
    memcpy(spare, items, width * sizeof *items);
    while (left < width && right < count) {
        if (item_before(bytes, &items[right], &spare[left], depth))
            items[to++] = items[right++];
        else
            items[to++] = spare[left++];
        if (!going_on(run, 1))
            return false;
    }
    memcpy(items + to, spare + left, (width - left) * sizeof *items);
    return true;
}

/* sort_merge -- sorts by comparing whole entries, for those that are alike for long. */
static void sort_merge(build_run *run, build_item *items, size_t count, uint32_t depth) {
    for (size_t from = 0; from < count && going_on(run, SORT_FEW); from += SORT_FEW)
        sort_few(run->bytes.data, items + from, count - from < SORT_FEW ? count - from : SORT_FEW,
                 depth);
    for (size_t width = SORT_FEW; width < count; width *= 2) {
        for (size_t from = 0; from + width < count; from += 2 * width) {
            size_t both = count - from < 2 * width ? count - from : 2 * width;
            if (!merge_pair(run, items + from, width, both, depth))
                return;
        }
    }
}

/* sort_heads -- sorts by the heads alone, keeping the order of equal ones: by counting, from the
 * last byte to the first, without those bytes that are alike in all. */
static void sort_heads(build_run *run, build_item *items, size_t count) {
    uint32_t tally[8][256];
    memset(tally, 0, sizeof tally);
    bool sorted = true;
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t head = items[i].head;
        sorted = sorted && before <= head;
        before = head;
        for (unsigned byte = 0; byte < 8; byte++)
            tally[byte][head >> (8 * byte) & 0xFF]++;
    }
    if (sorted)
        return;
    build_item *from = items, *to = run->spare;
    for (unsigned byte = 0; byte < 8 && going_on(run, count); byte++) {
        if (tally[byte][before >> (8 * byte) & 0xFF] == count)
            continue;
        uint32_t location[256], sum = 0;
        for (unsigned value = 0; value < 256; value++) {
            location[value] = sum;
            sum += tally[byte][value];
        }
        for (size_t i = 0; i < count; i++)
            to[location[from[i].head >> (8 * byte) & 0xFF]++] = from[i];
        build_item *turned = from;
        from = to;
        to = turned;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

static void sort_items(build_run *run, build_item *items, size_t count, uint32_t depth,
                       unsigned level);

/* sort_alike -- sorts items whose entries agree in the eight bytes from `depth` on as well. */
static void sort_alike(build_run *run, build_item *items, size_t count, uint32_t depth,
                       unsigned level) {
    bool longer = level + 1 < SORT_LEVELS && count > SORT_FEW;
    for (size_t i = 0; longer && i < count; i++)
        longer = items[i].size > depth + 8;
    if (!longer) {
        sort_merge(run, items, count, depth);
        return;
    }
    for (size_t i = 0; i < count; i++)
        items[i].head = item_head(run->bytes.data + items[i].offset, items[i].size, depth + 8);
    sort_items(run, items, count, depth + 8, level + 1);
}

/* sort_items -- sorts items that agree up to `depth` and have their heads from there. */
static void sort_items(build_run *run, build_item *items, size_t count, uint32_t depth,
                       unsigned level) {
    if (count <= SORT_FEW) {
        sort_few(run->bytes.data, items, count, depth);
        return;
    }
    sort_heads(run, items, count);
    for (size_t from = 0, end; from < count && going_on(run, 1); from = end) {
        end = from + 1;
        while (end < count && items[end].head == items[from].head)
            end++;
        if (end - from > 1)
            sort_alike(run, items + from, end - from, depth, level);
    }
}

/* ---- Runs ---- */

/* run_add -- adds the entries of one document; false when memory is exhausted. */
static bool run_add(build_run *run, const index_entries *entries) {
    if (!ARRAY_RESERVE(run->items, run->count, run->capacity, entries->count))
        return false;
    uint32_t base = (uint32_t)run->bytes.size;
    if (!buffer_append(&run->bytes, entries->bytes.data, entries->bytes.size))
        return false;
    for (uint32_t i = 0; i < entries->count; i++) {
        uint32_t offset = entries->list[i].offset, size = entries->list[i].size;
        run->items[run->count++] =
            (build_item){item_head(entries->bytes.data + offset, size, 0), base + offset, size};
    }
    return true;
}

/* run_full -- whether a document's entries no longer fit into the run. */
static bool run_full(const build_run *run, const index_entries *entries) {
    size_t count = run->count + entries->count;
    return run->count > 0 &&
           run->bytes.size + entries->bytes.size + count * 2 * sizeof(build_item) > RUN_BYTES;
}

/* same_value -- whether two entries differ in their tails only. */
static bool same_value(const build_run *run, const build_item *a, const build_item *b) {
    return a->size == b->size && memcmp(run->bytes.data + a->offset, run->bytes.data + b->offset,
                                        a->size - RID_SUFFIX_SIZE) == 0;
}

/* run_next -- the next entry for tree_build(). */
static bool run_next(void *context, const uint8_t **key, size_t *size) {
    build_run *run = context;
    if (run->next == run->count || !going_on(run, 1))
        return false;
    const build_item *item = &run->items[run->next];
    if (run->unique && run->next > 0 && same_value(run, item - 1, item)) {
        run->repeated = true;
        return false;
    }
    run->next++;
    *key = run->bytes.data + item->offset;
    *size = item->size;
    return true;
}

/* not_unique -- the error for a value that two documents have, `item` being the later one's. */
static tansu_status not_unique(build_run *run, const build_item *item, tansu_error *error) {
    const uint8_t *entry = run->bytes.data + item->offset;
    if (run->conflict != NULL) {
        run->conflict->rid = suffix_rid(entry + item->size - RID_SUFFIX_SIZE);
        if (!buffer_set(&run->conflict->entry, entry, item->size))
            return error_memory(error);
    }
    return error_set(error, TANSU_E_NOT_UNIQUE, run->definition->name,
                     "Index \"%s\" can't be unique because two documents have the same value; "
                     "change one of them",
                     run->definition->name);
}

/* run_insert -- inserts a sorted run into the tree of those before. */
static tansu_status run_insert(build_run *run, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < run->count && going_on(run, 1); i++) {
        const uint8_t *key = run->bytes.data + run->items[i].offset;
        uint32_t size = run->items[i].size;
        bool found = false;
        uint64_t rid;
        if (run->unique)
            status = tree_find_prefix(run->writer->store, &run->tree, key, size - RID_SUFFIX_SIZE,
                                      &found, &rid, error);
        if (status == TANSU_OK && found)
            status = not_unique(run, &run->items[i], error);
        if (status == TANSU_OK)
            status = tree_insert(run->writer, &run->tree, key, size, NULL, error);
    }
    return status;
}

/* run_change -- the next entry for text_apply(). */
static bool run_change(void *context, const uint8_t **entry, uint32_t *size, bool *removes) {
    size_t key_size;
    bool more = run_next(context, entry, &key_size);
    *size = more ? (uint32_t)key_size : 0;
    *removes = false;
    return more;
}

/* run_flush -- sorts the run, brings it into the tree and empties it. */
static tansu_status run_flush(build_run *run, tansu_error *error) {
    if (run->count == 0)
        return TANSU_OK;
    run->spare = malloc(run->count * sizeof *run->spare);
    if (run->spare == NULL)
        return error_memory(error);
    sort_items(run, run->items, run->count, 0, 0);
    free(run->spare);
    tansu_status status = TANSU_OK;
    if (run->stopped == TANSU_OK && run->definition->text) {
        run->next = 0;
        status = text_apply(run->definition, run_change, run, run->writer, &run->tree, error);
    } else if (run->stopped == TANSU_OK && run->started) {
        status = run_insert(run, error);
    } else if (run->stopped == TANSU_OK) {
        run->next = 0;
        status = tree_build(run->writer, run_next, run, &run->tree, error);
        if (status == TANSU_OK && run->repeated)
            status = not_unique(run, &run->items[run->next], error);
        run->started = true;
    }
    run->bytes.size = 0;
    run->count = 0;
    return status == TANSU_OK ? run->stopped : status;
}

tansu_status index_build(tree_writer *writer, const index_definition *definition,
                         const index_source *source, tree *result, bool *multikey,
                         index_conflict *conflict, tansu_error *error) {
    build_run run = {.writer = writer,
                     .definition = definition,
                     .source = source,
                     .unique = definition->unique && !source->repeats,
                     .error = error,
                     .conflict = conflict};
    index_entries entries = {.list = NULL};
    bool arrays = false;
    tansu_status status;
    for (;;) {
        uint64_t rid;
        const uint8_t *doc;
        uint32_t size;
        status = source->next(source->context, &rid, &doc, &size, error);
        if (status != TANSU_OK)
            break;
        status = index_entries_make(&entries, definition, doc, size, rid, error);
        if (status == TANSU_OK && run_full(&run, &entries))
            status = run_flush(&run, error);
        if (status == TANSU_OK && !run_add(&run, &entries))
            status = error_memory(error);
        if (status != TANSU_OK)
            break;
        arrays = arrays || entries.multikey;
    }
    if (status == TANSU_DONE)
        status = run_flush(&run, error);
    index_entries_free(&entries);
    tansu_buffer_free(&run.bytes);
    free(run.items);
    if (status != TANSU_OK) {
        tree_discard(writer, &run.tree);
        *result = (tree){NULL, 0};
        return status;
    }
    *result = run.tree;
    *multikey = arrays;
    return TANSU_OK;
}
