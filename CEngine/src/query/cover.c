/*
 * query/cover.c -- see cover.h.
 */
#include "query/cover.h"
#include "base/value_unkey.h"
#include "index/definition.h"
#include "index/form.h"

/* cover_tells -- see cover.h. */
bool cover_tells(entry_bytes entry) {
    return entry.data && tail_form(entry.data + entry.size - INDEX_TAIL_SIZE) != 0;
}

/* probe -- looks at an entry in the midst of the ranges: *tells, whether it gives back its values. Where
 * it does not, most won't, and reading whole entries would be in vain. Its document's size is noted:
 * the larger it is, the more is saved. */
static tansu_status probe(planner *p, const access *a, bool *tells) {
    const key_range *range = &a->ranges[a->range_count / 2];
    tree_cursor cursor;
    tansu_buffer key = TANSU_BUFFER_INIT;
    doc_ref ref;
    bool valid;
    *tells = true;
    tree_cursor_init(&cursor, p->view->trees, a->entries);
    tansu_status status = tree_cursor_seek(&cursor, range->low, range->low_size, &valid, p->error);
    if (status != TANSU_OK || !valid)
        return status;
    uint64_t docno = tree_cursor_docno(&cursor);
    bool copied = tree_cursor_key(&cursor, &key);
    tree_cursor_end(&cursor);
    if (!copied)
        return error_memory(p->error);
    *tells = cover_tells((entry_bytes){key.data, key.size});
    tansu_buffer_free(&key);
    status = view_find(p->view, p->collection, docno, &ref, p->error);
    if (status == TANSU_OK)
        (void)view_document(p->view, ref, &p->document_size);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* cover_find -- see cover.h. */
tansu_status cover_find(planner *p, const access *a, const bool **result) {
    *result = NULL;
    if (p->purpose != PLAN_PROJECTED || !a->exact || a->range_count == 0)
        return TANSU_OK;
    bool *shown = arena_alloc(p->memory.arena, a->path_count * sizeof *shown);
    bool tells;
    if (!shown)
        return error_memory(p->error);
    if (!projection_within(p->q->hints.fields, a->paths, a->path_count, shown))
        return TANSU_OK;
    tansu_status status = probe(p, a, &tells);
    if (status == TANSU_OK && tells)
        *result = shown;
    return status;
}

/* A value that was read back: where it lies among the bytes. */
typedef struct cover_value {
    size_t offset, size;
    uint8_t type;
} cover_value;

/* read_values -- all values of an entry that are shown; *order is that of all values in the
 * document. */
static bool read_values(const access *a, const bool *shown, entry_bytes entry, tansu_buffer *bytes,
                        cover_value *values, uint8_t *order) {
    const uint8_t *key = entry.data, *tail = entry.data + entry.size - INDEX_TAIL_SIZE;
    form_reader form = form_read(tail_form(tail));
    for (uint32_t i = 0; i < a->path_count; i++) {
        size_t left = (size_t)(tail - key), used;
        bool descending = a->descending[i];
        uint8_t number = DOC_INT32;
        if (left == 0)
            return false;
        if (value_key_is_number(key, descending))
            number = form_number(&form);
        values[i].offset = bytes->size;
        if (shown[i])
            used = value_unkey(key, left, descending, number, &values[i].type, bytes);
        else
            used = value_key_size(key, left, descending);
        if (used == 0)
            return false;
        values[i].size = bytes->size - values[i].offset;
        key += used;
    }
    return form_order(&form, a->path_count, order);
}

/* What is being written: the documents that are open, one inside the other. */
typedef struct cover_writer {
    tansu_buffer *out;
    size_t starts[TANSU_MAX_DEPTH + 1];
    uint32_t depth;
    const path *path; /* whose leading parts lead to the innermost */
} cover_writer;

/* begin -- opens a document. */
static bool begin(cover_writer *w) {
    w->starts[w->depth] = w->out->size;
    return buffer_append(w->out, "\0\0\0\0", 4);
}

/* finish -- closes the innermost. */
static bool finish(cover_writer *w) {
    size_t start = w->starts[w->depth];
    if (!buffer_append_byte(w->out, 0))
        return false;
    store_u32(w->out->data + start, (uint32_t)(w->out->size - start));
    return true;
}

/* put_head -- an element's type and key. */
static bool put_head(cover_writer *w, uint8_t type, const path_part *part) {
    return buffer_append_byte(w->out, type) && buffer_append(w->out, part->name, part->size) &&
           buffer_append_byte(w->out, 0);
}

/* shared -- how many documents on the way to a path are open. */
static uint32_t shared(const cover_writer *w, const path *path) {
    uint32_t count = 0;
    while (count < w->depth && count + 1 < path->count &&
           w->path->parts[count].size == path->parts[count].size &&
           memcmp(w->path->parts[count].name, path->parts[count].name, path->parts[count].size) ==
               0)
        count++;
    return count;
}

/* put_value -- an element at a path, and the documents on the way to it. */
static bool put_value(cover_writer *w, const path *path, uint8_t type, const uint8_t *data,
                      size_t size) {
    for (uint32_t common = shared(w, path); w->depth > common; w->depth--) {
        if (!finish(w))
            return false;
    }
    w->path = path;
    while (w->depth + 1 < path->count) {
        if (!put_head(w, DOC_DOCUMENT, &path->parts[w->depth]))
            return false;
        w->depth++;
        if (!begin(w))
            return false;
    }
    return put_head(w, type, &path->parts[w->depth]) && buffer_append(w->out, data, size);
}

/* cover_write -- see cover.h. */
tansu_status cover_write(const access *a, const bool *shown, entry_bytes entry, tansu_buffer *bytes,
                         tansu_buffer *out, tansu_error *error) {
    cover_value values[TANSU_MAX_INDEX_PATHS];
    uint8_t order[TANSU_MAX_INDEX_PATHS];
    cover_writer w = {.out = out};
    /* A value takes at most so much more than its key; so reading it can't want memory. */
    bytes->size = 0;
    if (!buffer_reserve(bytes, entry.size + 16 * (size_t)a->path_count))
        return error_memory(error);
    if (!read_values(a, shown, entry, bytes, values, order))
        return error_set(error, TANSU_E_CORRUPT, a->name,
                         "An entry of the index can't be read: drop the index and make it anew.");
    out->size = 0;
    bool done = begin(&w);
    for (uint32_t n = 0; done && n < a->path_count; n++) {
        uint32_t i = order[n];
        const cover_value *value = &values[i];
        if (shown[i])
            done =
                put_value(&w, &a->paths[i], value->type, bytes->data + value->offset, value->size);
    }
    for (; done && w.depth > 0; w.depth--)
        done = finish(&w);
    return done && finish(&w) ? TANSU_OK : error_memory(error);
}
