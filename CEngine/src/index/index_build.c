/*
 * index/index_build.c -- building an index over existing documents.
 *
 * The entries of as many documents as fit into RUN_BYTES are one run. Each run is sorted. The first
 * one becomes the tree, from the leaves up; later runs are inserted in order, so that neighbouring
 * entries find their blocks in memory.
 *
 * Where entries are costly to make, those of words, the documents are dealt out, a part to each
 * processor: making entries and sorting them is nearly all of that work. The run is then merged from
 * the sorted parts.
 */
#include "index/index_build.h"

#include "index/index_batch.h"
#include "index/text_entries.h"
#include "util/buffer.h"
#include "util/error.h"

#include <pthread.h>
#include <unistd.h>

/* Bytes of one run: the entries, and what sorting them takes. A test makes it smaller. */
#ifndef RUN_BYTES
#define RUN_BYTES ((size_t)256 * 1024 * 1024)
#endif
/* Bytes of documents that a part gets at a time: a thread is started for them. */
#ifndef PART_BYTES
#define PART_BYTES ((size_t)1024 * 1024)
#endif
#ifndef PROCESSORS
#define PROCESSORS sysconf(_SC_NPROCESSORS_ONLN)
#endif
#define PARTS_MAX 4
/* Whether making the entries of a document costs more than copying it. */
#ifndef IS_COSTLY
#define IS_COSTLY(definition) ((definition)->text != NULL)
#endif
/* That many entries are worked on between two questions whether to continue. */
#ifndef CHECK_EVERY
#define CHECK_EVERY 4096
#endif

/* Before the bytes of a document that was dealt out. */
typedef struct part_document {
    uint64_t rid;
    uint32_t size;
} part_document;

typedef struct index_builder index_builder;

/* What one thread works on. */
typedef struct build_part {
    index_builder *builder;
    tansu_buffer documents; /* part_document and bytes of each */
    size_t used;            /* bytes of the documents whose entries are made */
    index_entries made;     /* of one document */
    index_batch entries;    /* in order once they are sorted */
    size_t next;            /* the first entry that is not merged yet */
    bool full;              /* the entries are as many as fit */
    bool multikey;
    tansu_status status;
    tansu_error error;
} build_part;

struct index_builder {
    tree_writer *writer;
    const index_definition *definition;
    const index_source *source;
    build_part parts[PARTS_MAX];
    uint32_t part_count;
    bool ended;           /* the source has no more documents */
    size_t steps;         /* entries worked on since the source was asked whether to continue, */
    tansu_status stopped; /* and its answer; once it is not OK, nothing more is done */
    tansu_error *error;
    tree tree;    /* of the runs before */
    bool started; /* the first run has become the tree */
    bool unique;
    index_conflict *conflict;
    /* The merging of the parts: those that have entries, in the order of the first ones. */
    build_part *merged[PARTS_MAX];
    uint32_t merged_count;
    const uint8_t *last; /* the entry before, NULL at the beginning */
    size_t last_size;
    bool repeated; /* a unique index already has the value of the last one */
};

/* going_on -- counts the work on that many entries; false when the build is to end. */
static inline bool going_on(index_builder *b, size_t entries) {
    b->steps += entries;
    if (b->steps >= CHECK_EVERY && b->stopped == TANSU_OK) {
        b->steps = 0;
        tansu_status answer = b->source->check(b->source->context, b->error);
        __atomic_store_n(&b->stopped, answer, __ATOMIC_RELAXED);
    }
    return b->stopped == TANSU_OK;
}

/* ---- Parts ---- */

/* part_add -- gathers the entries that were made of one document; false when memory is exhausted. */
static bool part_add(build_part *part) {
    part->multikey = part->multikey || part->made.multikey;
    for (uint32_t i = 0; i < part->made.count; i++) {
        if (!index_batch_add(&part->entries, part->made.bytes.data + part->made.list[i].offset,
                             part->made.list[i].size, false)) {
            part->status = error_memory(&part->error);
            return false;
        }
    }
    return true;
}

/* part_memory -- of the entries with those of one more document, and for sorting them. */
static size_t part_memory(const build_part *part) {
    return part->entries.bytes.size + part->made.bytes.size +
           (part->entries.count + part->made.count) * 2 * sizeof(batch_item);
}

/* part_take -- makes and gathers the entries of a document. False when they do not fit, and when
 * that fails. */
static bool part_take(build_part *part, uint64_t rid, const uint8_t *doc, uint32_t size) {
    const index_builder *b = part->builder;
    part->status = index_entries_make(&part->made, b->definition, doc, size, rid, &part->error);
    part->full = part->entries.count > 0 && part_memory(part) > RUN_BYTES / b->part_count;
    return part->status == TANSU_OK && !part->full && part_add(part);
}

/* part_make -- makes the entries of the documents of a part, up to as many as fit. */
static void part_make(build_part *part) {
    while (part->used < part->documents.size) {
        part_document head;
        memcpy(&head, part->documents.data + part->used, sizeof head);
        if (!part_take(part, head.rid, part->documents.data + part->used + sizeof head, head.size))
            return;
        part->used += sizeof head + head.size;
    }
    part->documents.size = part->used = 0;
}

/* part_goes_on -- asked while a part is sorted: the first one is by the thread that builds. */
static bool part_goes_on(void *context, size_t entries) {
    build_part *part = context;
    index_builder *b = part->builder;
    return part == b->parts ? going_on(b, entries)
                            : __atomic_load_n(&b->stopped, __ATOMIC_RELAXED) == TANSU_OK;
}

/* part_sort -- puts the entries of a part in order, and their heads, if there is anything to merge
 * them with, to the first bytes. What is left when the build is to end is in no order. */
static void part_sort(build_part *part) {
    const sort_check check = {part_goes_on, part};
    index_batch *entries = &part->entries;
    part->next = 0;
    if (!batch_sort(entries->bytes.data, entries->items, entries->count, &check))
        part->status = error_memory(&part->error);
    if (part->builder->part_count > 1)
        batch_heads(entries->bytes.data, entries->items, entries->count, 0);
}

/* part_status -- that of a part, whose error becomes that of the build. */
static tansu_status part_status(const build_part *part) {
    if (part->status != TANSU_OK && part->builder->error)
        *part->builder->error = part->error;
    return part->status;
}

/* A thread's work. */
typedef struct part_work {
    void (*run)(build_part *);
    build_part *part;
} part_work;

static void *part_run(void *context) {
    const part_work *work = context;
    work->run(work->part);
    return NULL;
}

/* parts_run -- works on all parts, the first one in this thread. Returns the status of the first
 * that failed. */
static tansu_status parts_run(index_builder *b, void (*run)(build_part *)) {
    pthread_t threads[PARTS_MAX];
    part_work works[PARTS_MAX];
    bool running[PARTS_MAX] = {false};
    for (uint32_t i = 1; i < b->part_count; i++) {
        build_part *part = &b->parts[i];
        works[i] = (part_work){run, part};
        running[i] = (part->documents.size != 0 || part->entries.count != 0) &&
                     pthread_create(&threads[i], NULL, part_run, &works[i]) == 0;
    }
    run(&b->parts[0]);
    for (uint32_t i = 1; i < b->part_count; i++) {
        if (running[i])
            pthread_join(threads[i], NULL);
        else
            run(&b->parts[i]);
    }
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < b->part_count; i++)
        status = part_status(&b->parts[i]);
    return status;
}

/* parts_fill -- deals documents out to the parts that have none. */
static tansu_status parts_fill(index_builder *b) {
    for (uint32_t i = 0; i < b->part_count; i++) {
        build_part *part = &b->parts[i];
        while (!b->ended && part->used == 0 && part->documents.size < PART_BYTES) {
            part_document head;
            const uint8_t *doc;
            tansu_status status =
                b->source->next(b->source->context, &head.rid, &doc, &head.size, b->error);
            b->ended = status == TANSU_DONE;
            if (b->ended)
                break;
            if (status != TANSU_OK)
                return status;
            if (!buffer_reserve(&part->documents, sizeof head + head.size))
                return error_memory(b->error);
            memcpy(part->documents.data + part->documents.size, &head, sizeof head);
            memcpy(part->documents.data + part->documents.size + sizeof head, doc, head.size);
            part->documents.size += sizeof head + head.size;
        }
    }
    return TANSU_OK;
}

/* ---- Runs ---- */

/* part_before -- whether the next entry of a part comes before that of another. */
static bool part_before(const build_part *a, const build_part *b) {
    return batch_item_before(a->entries.bytes.data, &a->entries.items[a->next],
                             b->entries.bytes.data, &b->entries.items[b->next]);
}

/* merge_settle -- moves a part to its position among those behind it. */
static void merge_settle(index_builder *b, uint32_t at) {
    build_part *moved = b->merged[at];
    for (; at + 1 < b->merged_count && part_before(b->merged[at + 1], moved); at++)
        b->merged[at] = b->merged[at + 1];
    b->merged[at] = moved;
}

/* merge_begin -- begins to merge the parts. */
static void merge_begin(index_builder *b) {
    b->merged_count = 0;
    b->last = NULL;
    for (uint32_t i = 0; i < b->part_count; i++)
        if (b->parts[i].entries.count != 0)
            b->merged[b->merged_count++] = &b->parts[i];
    for (uint32_t i = b->merged_count; i-- > 0;)
        merge_settle(b, i);
}

/* merge_next -- the next entry of the run, for tree_build(): false at its end, when the build is to
 * end, or where a unique index has a value twice. */
static bool merge_next(void *context, const uint8_t **key, size_t *size) {
    index_builder *b = context;
    if (b->merged_count == 0 || !going_on(b, 1))
        return false;
    build_part *part = b->merged[0];
    const batch_item *item = &part->entries.items[part->next++];
    *key = part->entries.bytes.data + item->offset;
    *size = item->size;
    b->repeated = b->unique && b->last && b->last_size == *size &&
                  memcmp(b->last, *key, *size - RID_SUFFIX_SIZE) == 0;
    b->last = *key;
    b->last_size = *size;
    if (part->next < part->entries.count)
        merge_settle(b, 0);
    else
        memmove(b->merged, b->merged + 1, --b->merged_count * sizeof *b->merged);
    return !b->repeated;
}

/* merge_change -- the same for text_apply(). */
static bool merge_change(void *context, const uint8_t **entry, uint32_t *size, bool *removes) {
    size_t key_size;
    bool more = merge_next(context, entry, &key_size);
    *size = more ? (uint32_t)key_size : 0;
    *removes = false;
    return more;
}

/* not_unique -- the error for a value that two documents have, the last entry being the later
 * one's. */
static tansu_status not_unique(index_builder *b) {
    if (b->conflict != NULL) {
        b->conflict->rid = suffix_rid(b->last + b->last_size - RID_SUFFIX_SIZE);
        if (!buffer_set(&b->conflict->entry, b->last, b->last_size))
            return error_memory(b->error);
    }
    return error_set(b->error, TANSU_E_NOT_UNIQUE, b->definition->name,
                     "Index \"%s\" can't be unique because two documents have the same value; "
                     "change one of them",
                     b->definition->name);
}

/* run_insert -- inserts a run into the tree of those before. */
static tansu_status run_insert(index_builder *b) {
    tansu_status status = TANSU_OK;
    const uint8_t *key;
    size_t size;
    while (status == TANSU_OK && merge_next(b, &key, &size)) {
        bool found = false;
        uint64_t rid;
        if (b->unique)
            status = tree_find_prefix(b->writer->store, &b->tree, key, size - RID_SUFFIX_SIZE,
                                      &found, &rid, b->error);
        b->repeated = found;
        if (status == TANSU_OK && found)
            break;
        if (status == TANSU_OK)
            status = tree_insert(b->writer, &b->tree, key, size, NULL, b->error);
    }
    return status;
}

/* run_flush -- brings the entries of all parts, if there are any, into the tree, and empties them. */
static tansu_status run_flush(index_builder *b) {
    tansu_status status = parts_run(b, part_sort);
    if (status != TANSU_OK || b->stopped != TANSU_OK)
        return status != TANSU_OK ? status : b->stopped;
    merge_begin(b);
    if (b->merged_count == 0)
        return TANSU_OK;
    b->repeated = false;
    if (b->definition->text)
        status = text_apply(b->definition, merge_change, b, b->writer, &b->tree, b->error);
    else if (b->started)
        status = run_insert(b);
    else
        status = tree_build(b->writer, merge_next, b, &b->tree, b->error);
    if (status == TANSU_OK && b->repeated)
        status = not_unique(b);
    b->started = true;
    for (uint32_t i = 0; i < b->part_count; i++) {
        b->parts[i].entries.count = b->parts[i].entries.bytes.size = 0;
        b->parts[i].full = false;
    }
    return status == TANSU_OK ? b->stopped : status;
}

/* build_dealt -- all runs, of documents that are dealt out. */
static tansu_status build_dealt(index_builder *b) {
    for (;;) {
        tansu_status status = parts_fill(b);
        if (status == TANSU_OK)
            status = parts_run(b, part_make);
        bool full = false, left = false;
        for (uint32_t i = 0; i < b->part_count; i++) {
            full = full || b->parts[i].full;
            left = left || b->parts[i].documents.size != 0;
        }
        bool last = b->ended && !left;
        if (status == TANSU_OK && (full || last))
            status = run_flush(b);
        if (status != TANSU_OK || last)
            return status;
    }
}

/* build_alone -- all runs, by this thread, which copies no document. */
static tansu_status build_alone(index_builder *b) {
    build_part *part = &b->parts[0];
    for (;;) {
        uint64_t rid;
        const uint8_t *doc;
        uint32_t size;
        tansu_status status = b->source->next(b->source->context, &rid, &doc, &size, b->error);
        if (status == TANSU_DONE)
            return run_flush(b);
        if (status == TANSU_OK && !part_take(part, rid, doc, size) && part->full) {
            status = run_flush(b);
            if (status == TANSU_OK)
                (void)part_add(part);
        }
        if (status == TANSU_OK)
            status = part_status(part);
        if (status != TANSU_OK)
            return status;
    }
}

tansu_status index_build(tree_writer *writer, const index_definition *definition,
                         const index_source *source, tree *result, bool *multikey,
                         index_conflict *conflict, tansu_error *error) {
    long processors = IS_COSTLY(definition) ? PROCESSORS : 1;
    index_builder b = {.writer = writer,
                       .definition = definition,
                       .source = source,
                       .part_count = processors < 1           ? 1
                                     : processors < PARTS_MAX ? (uint32_t)processors
                                                              : PARTS_MAX,
                       .error = error,
                       .unique = definition->unique && !source->repeats,
                       .conflict = conflict};
    for (uint32_t i = 0; i < b.part_count; i++)
        b.parts[i].builder = &b;
    tansu_status status = b.part_count == 1 ? build_alone(&b) : build_dealt(&b);
    bool arrays = false;
    for (uint32_t i = 0; i < b.part_count; i++) {
        arrays = arrays || b.parts[i].multikey;
        tansu_buffer_free(&b.parts[i].documents);
        index_entries_free(&b.parts[i].made);
        index_batch_free(&b.parts[i].entries);
    }
    if (status != TANSU_OK) {
        tree_discard(writer, &b.tree);
        *result = (tree){NULL, 0};
        return status;
    }
    *result = b.tree;
    *multikey = arrays;
    return TANSU_OK;
}
