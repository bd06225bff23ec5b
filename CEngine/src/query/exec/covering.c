/*
 * query/exec/covering.c -- restores values from index entries and writes the projected document.
 */
#include "query/exec/covering.h"
#include "bson/key_decode.h"
#include "bson/writer.h"
#include "index/definition.h"
#include "index/type_tag.h"
#include "util/error.h"

bool covering_has_values(entry_bytes entry) {
    return entry.data && suffix_type_tag(entry.data + entry.size - RID_SUFFIX_SIZE) != 0;
}

/* A restored value: its position among the bytes. */
typedef struct restored_value {
    size_t offset, size;
    uint8_t type;
} restored_value;

/* restore_values -- restores the covered values of an entry; *order is the order of all values in
 * the document. */
static bool restore_values(const access_path *a, const bool *covered, entry_bytes entry,
                           tansu_buffer *bytes, restored_value *values, uint8_t *order) {
    const uint8_t *key = entry.data, *suffix = entry.data + entry.size - RID_SUFFIX_SIZE;
    type_tag_reader tag = type_tag_read(suffix_type_tag(suffix));
    for (uint32_t i = 0; i < a->path_count; i++) {
        size_t left = (size_t)(suffix - key), used;
        bool descending = a->descending[i];
        uint8_t number = DOC_INT32;
        if (left == 0)
            return false;
        if (value_key_is_number(key, descending))
            number = type_tag_number(&tag);
        values[i].offset = bytes->size;
        if (covered[i])
            used = value_key_decode(key, left, descending, number, &values[i].type, bytes);
        else
            used = value_key_size(key, left, descending);
        if (used == 0)
            return false;
        values[i].size = bytes->size - values[i].offset;
        key += used;
    }
    return type_tag_order(&tag, a->path_count, order);
}

/* A document that is being written: the nested documents that are open. */
typedef struct nested_writer {
    writer w;
    size_t starts[TANSU_MAX_DEPTH + 1];
    uint32_t depth;
    const path *path; /* its first parts lead to the innermost document */
} nested_writer;

/* common_depth -- how many of the open documents lead to a path. */
static uint32_t common_depth(const nested_writer *n, const path *path) {
    uint32_t count = 0;
    while (count < n->depth && count + 1 < path->count &&
           n->path->parts[count].size == path->parts[count].size &&
           memcmp(n->path->parts[count].name, path->parts[count].name, path->parts[count].size) ==
               0)
        count++;
    return count;
}

/* put_value -- an element at a path, and the documents that lead to it. */
static void put_value(nested_writer *n, const path *path, const doc_value *value) {
    for (uint32_t common = common_depth(n, path); n->depth > common; n->depth--)
        writer_end(&n->w, n->starts[n->depth]);
    n->path = path;
    while (n->depth + 1 < path->count) {
        const path_part *part = &path->parts[n->depth++];
        writer_head(&n->w, DOC_DOCUMENT, part->name, part->size);
        n->starts[n->depth] = writer_begin(&n->w);
    }
    writer_element(&n->w, path->parts[n->depth].name, path->parts[n->depth].size, value);
}

tansu_status covering_project(const access_path *a, const bool *covered, entry_bytes entry,
                              tansu_buffer *bytes, tansu_buffer *out, tansu_error *error) {
    restored_value values[TANSU_MAX_INDEX_PATHS];
    uint8_t order[TANSU_MAX_INDEX_PATHS];
    nested_writer n = {.w = {.out = out}};
    /* A value takes at most 16 bytes more than its key, so restoring cannot exhaust memory. */
    bytes->size = 0;
    if (!buffer_reserve(bytes, entry.size + 16 * (size_t)a->path_count))
        return error_memory(error);
    if (!restore_values(a, covered, entry, bytes, values, order))
        return error_set(error, TANSU_E_CORRUPT, a->name,
                         "Index \"%.120s\" has an unreadable entry; drop the index and create it "
                         "again",
                         a->name);
    out->size = 0;
    n.starts[0] = writer_begin(&n.w);
    for (uint32_t k = 0; k < a->path_count; k++) {
        uint32_t i = order[k];
        const doc_value value = {bytes->data + values[i].offset, (uint32_t)values[i].size,
                                 values[i].type};
        if (covered[i])
            put_value(&n, &a->paths[i], &value);
    }
    for (; n.depth > 0; n.depth--)
        writer_end(&n.w, n.starts[n.depth]);
    writer_end(&n.w, n.starts[0]);
    return n.w.failed ? error_memory(error) : TANSU_OK;
}
