/*
 * index/entries.c -- the entries that a document has in an index.
 */
#include "index/definition.h"

#include "bson/case_fold.h"
#include "bson/value.h"
#include "index/text_entries.h"
#include "index/type_tag.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* All entries of one document together may have that many bytes: with several arrays, each value's
 * key is repeated in many entries. */
#define MAX_ENTRY_BYTES ((size_t)4 * TANSU_MAX_DOCUMENT_SIZE)

typedef struct index_entry index_entry;

/* index_entries_free -- frees a set's memory and zeroes it. */
void index_entries_free(index_entries *entries) {
    tansu_buffer_free(&entries->bytes);
    tansu_buffer_free(&entries->scratch);
    tansu_buffer_free(&entries->folded);
    tansu_buffer_free(&entries->path);
    free(entries->list);
    free(entries->keys);
    text_scratch_free(entries->text);
    *entries = (index_entries){.list = NULL};
}

/* compare_keys -- the memcmp order of two byte strings in one buffer. */
static inline int compare_keys(const uint8_t *bytes, index_entry a, index_entry b) {
    uint32_t common = a.size < b.size ? a.size : b.size;
    int order = memcmp(bytes + a.offset, bytes + b.offset, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* sink -- moves the root of a heap (the greatest on top) down to its position. */
static void sink(const uint8_t *bytes, index_entry *list, uint32_t root, uint32_t count) {
    index_entry moved = list[root];
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare_keys(bytes, list[child], list[child + 1]) < 0)
            child++;
        if (compare_keys(bytes, moved, list[child]) >= 0)
            break;
        list[root] = list[child];
    }
    list[root] = moved;
}

/* sort_keys -- sorts by memcmp. qsort() has no context argument for the buffer that the offsets
 * refer to. */
static void sort_keys(const uint8_t *bytes, index_entry *list, uint32_t count) {
    if (count > 16) {
        for (uint32_t root = count / 2; root-- > 0;)
            sink(bytes, list, root, count);
        for (uint32_t last = count - 1; last > 0; last--) {
            index_entry greatest = list[0];
            list[0] = list[last];
            list[last] = greatest;
            sink(bytes, list, 0, last);
        }
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        index_entry moved = list[i];
        uint32_t at = i;
        for (; at > 0 && compare_keys(bytes, moved, list[at - 1]) < 0; at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* remove_repeats -- keeps one of equal neighbours; returns how many are left. */
static uint32_t remove_repeats(const uint8_t *bytes, index_entry *list, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || compare_keys(bytes, list[kept - 1], list[i]) != 0)
            list[kept++] = list[i];
    }
    return kept;
}

/* put_key -- appends a value's key in an index. */
static bool put_key(index_entries *entries, const index_definition *definition, tansu_buffer *key,
                    const doc_value *value, bool descending) {
    doc_value folded;
    if (!definition->fold)
        return value_key(key, value, descending);
    return fold_value(&entries->folded, value, &folded) && value_key(key, &folded, descending);
}

/* What the visitor of one path gathers. */
typedef struct gathering {
    index_entries *entries;
    const index_definition *definition;
    bool descending;
    bool present; /* a value was found that is not missing */
    bool failed;  /* out of memory */
} gathering;

/* gather_key -- adds one value's key to the scratch buffer and the list of keys. */
static bool gather_key(gathering *gathering, const doc_value *value) {
    index_entries *entries = gathering->entries;
    size_t offset = entries->scratch.size;
    if (!put_key(entries, gathering->definition, &entries->scratch, value, gathering->descending) ||
        entries->scratch.size > UINT32_MAX ||
        !ARRAY_RESERVE(entries->keys, entries->key_count, entries->key_capacity, 1)) {
        gathering->failed = true;
        return false;
    }
    entries->keys[entries->key_count++] =
        (index_entry){(uint32_t)offset, (uint32_t)(entries->scratch.size - offset)};
    return true;
}

/* gather -- adds a value that a path shows and, of an array, its elements. */
static bool gather(void *context, const doc_value *value) {
    gathering *gathering = context;
    gathering->present = gathering->present || value->type != DOC_MISSING;
    if (!gather_key(gathering, value))
        return false;
    if (value->type != DOC_ARRAY)
        return true;
    gathering->entries->multikey = true;
    doc_iter iter;
    doc_iter_value(&iter, value);
    while (doc_iter_next(&iter)) {
        if (!gather_key(gathering, &iter.value))
            return false;
    }
    return true;
}

/* too_many -- the error for a document with too many entries. */
static tansu_status too_many(const index_definition *definition, tansu_error *error) {
    if (definition->wildcard)
        return error_set(error, TANSU_E_TOO_LARGE, definition->name,
                         "The document would make more than %u entries, or more than %zu bytes of "
                         "them, in this wildcard index; leave paths out with the option "
                         "\"except\", or have more entries with \"maxEntries\", up to %d",
                         definition->max_entries, MAX_ENTRY_BYTES, TANSU_MAX_INDEX_ENTRIES);
    return error_set(error, TANSU_E_TOO_LARGE, definition->name,
                     "The document's arrays would make more than %u entries, or more than %zu "
                     "bytes of them, in this index; an index can have more with the option "
                     "\"maxEntries\", up to %d",
                     definition->max_entries, MAX_ENTRY_BYTES, TANSU_MAX_INDEX_ENTRIES);
}

/* The keys of one path: a run in entries->keys, sorted, no two alike. */
typedef struct key_run {
    uint32_t first;
    uint32_t count;
} key_run;

/* gather_path -- makes the run of one path. */
static tansu_status gather_path(index_entries *entries, const index_definition *definition,
                                uint32_t at, const uint8_t *doc, size_t size, key_run *run,
                                bool *present, tansu_error *error) {
    gathering gathering = {
        .entries = entries, .definition = definition, .descending = definition->descending[at]};
    bool through_array = false;
    run->first = entries->key_count;
    /* Where each value may be there once, a position has the value of that element only. */
    if (definition->unique)
        path_walk_positions(&definition->paths[at], doc, size, gather, &gathering, &through_array);
    if (entries->key_count == run->first && !gathering.failed)
        path_walk(&definition->paths[at], doc, size, gather, &gathering, &through_array);
    entries->multikey = entries->multikey || through_array;
    *present = *present || gathering.present;
    if (!gathering.failed && entries->key_count == run->first) {
        uint8_t kind = KIND_NOTHING;
        size_t offset = entries->scratch.size;
        if (gathering.descending)
            kind = (uint8_t)~kind;
        gathering.failed =
            !buffer_append_byte(&entries->scratch, kind) ||
            !ARRAY_RESERVE(entries->keys, entries->key_count, entries->key_capacity, 1);
        if (!gathering.failed)
            entries->keys[entries->key_count++] = (index_entry){(uint32_t)offset, 1};
    }
    if (gathering.failed)
        return error_memory(error);
    index_entry *keys = entries->keys + run->first;
    uint32_t count = entries->key_count - run->first;
    sort_keys(entries->scratch.data, keys, count);
    run->count = remove_repeats(entries->scratch.data, keys, count);
    entries->key_count = run->first + run->count;
    return run->count > definition->max_entries ? too_many(definition, error) : TANSU_OK;
}

/* add_entry -- closes the entry that begins at `start` with its suffix. */
static bool add_entry(index_entries *entries, size_t start, uint64_t rid, uint32_t tag) {
    uint8_t suffix[RID_SUFFIX_SIZE];
    suffix_put(suffix, rid, tag);
    if (!buffer_append(&entries->bytes, suffix, sizeof suffix) ||
        !ARRAY_RESERVE(entries->list, entries->count, entries->capacity, 1))
        return false;
    entries->list[entries->count++] =
        (index_entry){(uint32_t)start, (uint32_t)(entries->bytes.size - start)};
    return true;
}

/* combine -- makes the entries of all combinations, the last path changing fastest. Because each
 * run is sorted and no key is the beginning of another, they come out sorted, all different. */
static bool combine(index_entries *entries, const key_run *runs, uint32_t paths, uint64_t rid) {
    uint32_t at[TANSU_MAX_INDEX_PATHS] = {0};
    for (;;) {
        size_t start = entries->bytes.size;
        for (uint32_t i = 0; i < paths; i++) {
            index_entry key = entries->keys[runs[i].first + at[i]];
            if (!buffer_append(&entries->bytes, entries->scratch.data + key.offset, key.size))
                return false;
        }
        if (!add_entry(entries, start, rid, 0))
            return false;
        uint32_t turn = paths;
        while (turn > 0 && ++at[turn - 1] == runs[turn - 1].count)
            at[--turn] = 0;
        if (turn == 0)
            return true;
    }
}

/* within_bounds -- whether all combinations stay within the bounds on number and bytes. */
static bool within_bounds(const index_entries *entries, const index_definition *definition,
                          const key_run *runs) {
    const uint32_t paths = definition->path_count;
    size_t count = 1;
    size_t longest = RID_SUFFIX_SIZE;
    for (uint32_t i = 0; i < paths; i++) {
        uint32_t most = 0;
        for (uint32_t k = 0; k < runs[i].count; k++) {
            uint32_t size = entries->keys[runs[i].first + k].size;
            most = size > most ? size : most;
        }
        longest += most;
        count *= runs[i].count;
        if (count > definition->max_entries)
            return false;
    }
    if (longest <= MAX_ENTRY_BYTES / count)
        return true;
    /* The longest of each path together may be rare: sum up exactly. */
    size_t bytes = count * RID_SUFFIX_SIZE;
    for (uint32_t i = 0; i < paths; i++) {
        size_t own = 0;
        for (uint32_t k = 0; k < runs[i].count; k++)
            own += entries->keys[runs[i].first + k].size;
        bytes += own * (count / runs[i].count);
    }
    return bytes <= MAX_ENTRY_BYTES;
}

/* add_plain -- the one entry of a document with these values of the paths; none in a sparse index
 * where all are missing. False: memory is exhausted. */
static inline bool add_plain(index_entries *entries, const index_definition *definition,
                             const doc_value *values, uint64_t rid) {
    bool present = false;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        present = present || values[i].type != DOC_MISSING;
        if (!put_key(entries, definition, &entries->bytes, &values[i], definition->descending[i]))
            return false;
    }
    if (definition->sparse && !present)
        return true;
    uint32_t tag = definition->fold ? 0 : type_tag_make(values, definition->path_count);
    return add_entry(entries, 0, rid, tag);
}

/* make_plain -- the one entry of a document without an array at or before the end of any path;
 * false when it has one (or memory is exhausted: *failed). */
static bool make_plain(index_entries *entries, const index_definition *definition,
                       const uint8_t *doc, size_t size, uint64_t rid, bool *failed) {
    doc_value values[TANSU_MAX_INDEX_PATHS];
    for (uint32_t i = 0; i < definition->path_count; i++)
        if (!path_get(&definition->paths[i], doc, size, &values[i]) || values[i].type == DOC_ARRAY)
            return false;
    *failed = !add_plain(entries, definition, values, rid);
    return !*failed;
}

/* ---- Wildcard indexes ---- */

/* What a walk through a document gathers. The path that it is at is in entries->path. */
typedef struct leaf_walk {
    index_entries *entries;
    const index_definition *definition;
    uint64_t rid;
    bool scoped; /* not all paths have entries */
    bool failed; /* out of memory */
    bool full;   /* more bytes of entries than are allowed */
} leaf_walk;

static bool walk_fields(leaf_walk *w, const uint8_t *doc, size_t size, uint32_t depth);

/* add_leaf -- the entry of a value at the current path; NULL: that an array is there. */
static bool add_leaf(leaf_walk *w, const doc_value *value) {
    index_entries *entries = w->entries;
    size_t start = entries->bytes.size;
    w->full = start > MAX_ENTRY_BYTES;
    if (w->full)
        return false;
    bool added = buffer_append(&entries->bytes, entries->path.data, entries->path.size) &&
                 buffer_append_byte(&entries->bytes, value ? WILDCARD_VALUE : WILDCARD_ARRAY) &&
                 (!value || put_key(entries, w->definition, &entries->bytes, value, false)) &&
                 add_entry(entries, start, w->rid, 0);
    w->failed = !added;
    return added;
}

/* has_leaf -- whether values at the current path have entries. */
static bool has_leaf(const leaf_walk *w) {
    const tansu_buffer *path = &w->entries->path;
    return !w->scoped || wildcard_has(&w->definition->scope, path->data, path->size, false);
}

/* is_empty -- whether a document has no fields. */
static bool is_empty(const doc_value *value) {
    return value->size == 5;
}

/* walk_array -- the array at the current path, whose elements are at the same path. */
static bool walk_array(leaf_walk *w, const doc_value *array, uint32_t depth) {
    index_entries *entries = w->entries;
    size_t before = entries->path.size;
    doc_iter iter;
    entries->multikey = true;
    if (!add_leaf(w, NULL))
        return false;
    if (depth >= TANSU_MAX_DEPTH || !doc_iter_value(&iter, array))
        return true;
    bool leaf = has_leaf(w);
    while (doc_iter_next(&iter)) {
        const doc_value *element = &iter.value;
        if (element->type == DOC_ARRAY) {
            w->failed = !wildcard_put_element(&entries->path);
            if (w->failed || !walk_array(w, element, depth + 1))
                return false;
            entries->path.size = before;
        } else if (element->type == DOC_DOCUMENT && !is_empty(element)) {
            if (!walk_fields(w, element->data, element->size, depth + 1))
                return false;
        } else if (leaf && !add_leaf(w, element)) {
            return false;
        }
    }
    return true;
}

/* walk_fields -- the fields of a document at the current path, down to the allowed depth. */
static bool walk_fields(leaf_walk *w, const uint8_t *doc, size_t size, uint32_t depth) {
    index_entries *entries = w->entries;
    size_t before = entries->path.size;
    doc_iter iter;
    if (depth >= TANSU_MAX_DEPTH || !doc_iter_init(&iter, doc, size))
        return true;
    for (; doc_iter_next(&iter); entries->path.size = before) {
        const doc_value *value = &iter.value;
        bool nested = value->type == DOC_ARRAY || (value->type == DOC_DOCUMENT && !is_empty(value));
        if (before == 0 && !nested && !w->definition->fold && strcmp(iter.key, "_id") == 0)
            continue;
        w->failed = !wildcard_put_key(&entries->path, iter.key, iter.key_size);
        if (w->failed)
            return false;
        if (w->scoped &&
            !wildcard_leads_to(&w->definition->scope, entries->path.data, entries->path.size))
            continue;
        if (!nested                    ? has_leaf(w) && !add_leaf(w, value)
            : value->type == DOC_ARRAY ? !walk_array(w, value, depth + 1)
                                       : !walk_fields(w, value->data, value->size, depth + 1))
            return false;
    }
    return true;
}

/* make_wildcard -- the entries of one document in a wildcard index. */
static tansu_status make_wildcard(index_entries *entries, const index_definition *definition,
                                  const uint8_t *doc, size_t size, uint64_t rid,
                                  tansu_error *error) {
    leaf_walk w = {.entries = entries,
                   .definition = definition,
                   .rid = rid,
                   .scoped = !wildcard_has_all(&definition->scope)};
    entries->path.size = 0;
    if (!walk_fields(&w, doc, size, 0))
        return w.failed ? error_memory(error) : too_many(definition, error);
    sort_keys(entries->bytes.data, entries->list, entries->count);
    entries->count = remove_repeats(entries->bytes.data, entries->list, entries->count);
    return entries->count > definition->max_entries ? too_many(definition, error) : TANSU_OK;
}

/* index_entries_make -- the entries of one document in one index. */
tansu_status index_entries_make(index_entries *entries, const index_definition *definition,
                                const uint8_t *doc, size_t size, uint64_t rid, tansu_error *error) {
    entries->bytes.size = 0;
    entries->count = 0;
    entries->multikey = false;
    bool failed = false, present = false;
    if (definition->filter != NULL &&
        !definition->hooks->filter_matches(definition->filter, doc, size))
        return TANSU_OK;
    if (definition->text)
        return text_entries_make(entries, definition, doc, size, rid, error);
    if (definition->wildcard)
        return make_wildcard(entries, definition, doc, size, rid, error);
    if (make_plain(entries, definition, doc, size, rid, &failed))
        return TANSU_OK;
    if (failed)
        return error_memory(error);

    key_run runs[TANSU_MAX_INDEX_PATHS];
    entries->bytes.size = 0;
    entries->scratch.size = 0;
    entries->key_count = 0;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        tansu_status status =
            gather_path(entries, definition, i, doc, size, &runs[i], &present, error);
        if (status != TANSU_OK)
            return status;
    }
    if (definition->sparse && !present) {
        entries->multikey = false; /* says something about the documents in the index only */
        return TANSU_OK;
    }
    if (!within_bounds(entries, definition, runs))
        return too_many(definition, error);
    if (!combine(entries, runs, definition->path_count, rid))
        return error_memory(error);
    return TANSU_OK;
}

tansu_status index_entries_make_id(index_entries *entries, const uint8_t *doc, size_t size,
                                   uint64_t rid, tansu_error *error) {
    doc_value id;
    entries->bytes.size = 0;
    entries->count = 0;
    entries->multikey = false;
    doc_find_id(doc, size, &id);
    return value_key(&entries->bytes, &id, false) &&
                   add_entry(entries, 0, rid, type_tag_make(&id, 1))
               ? TANSU_OK
               : error_memory(error);
}

/* key_successor -- the smallest byte string greater than everything that begins with a key. */
bool key_successor(tansu_buffer *key) {
    while (key->size > 0 && key->data[key->size - 1] == 0xFF)
        key->size--;
    if (key->size == 0)
        return false;
    key->data[key->size - 1]++;
    return true;
}
