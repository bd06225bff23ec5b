/*
 * query/exec/project.c -- applies $fields to a document.
 *
 * Paths lead through arrays as in MongoDB: an element that is a document (or an array of these) is
 * projected as well; an inclusion drops other elements, an exclusion keeps them. Unlike there a
 * number in a path is also the position of an element. Fields keep the order of the document, but
 * those of $elemMatch come last. $slice and "path.$" return a value that is not an array as it is;
 * $elemMatch drops arrays without a matching element.
 */
#include "query/exec/project.h"

#include "bson/key_decode.h"
#include "bson/writer.h"
#include "index/definition.h"
#include "index/type_tag.h"
#include "query/match/first_element.h"
#include "query/match/match_value.h"
#include "query/parse/projection.h"
#include "util/error.h"

#include <stdio.h>

/* A projection of one document. */
typedef struct projecting {
    const projection *p;
    const query *q;
    match_context *context;
    const tansu_document *stored; /* the document that matched */
    bool cut;        /* within the element that "path.$" took: its arrays are not cut */
    uint32_t arrays; /* that project_array() is in */
    writer w;
} projecting;

static void project_document(projecting *a, const key_set *fields, const uint8_t *doc, size_t size,
                             bool top);
static void project_array(projecting *a, const field *f, const doc_value *array, bool positions);
static void project_field(projecting *a, const field *f, const doc_iter *iter);

/* ---- A part of an array ---- */

/* put_one -- an element with an array of one value. */
static void put_one(projecting *a, const doc_iter *element, const doc_value *value) {
    writer_head(&a->w, DOC_ARRAY, element->key, element->key_size);
    size_t start = writer_begin(&a->w);
    writer_index_value(&a->w, 0, value);
    writer_end(&a->w, start);
}

/* put_matching -- the first element that satisfies a condition, in an array; nothing if there is
 * none. */
static void put_matching(projecting *a, const field *f, const doc_iter *element) {
    doc_iter iter;
    bool valid = element->value.type == DOC_ARRAY && doc_iter_value(&iter, &element->value);
    while (valid && doc_iter_next(&iter)) {
        bool holds = subcondition_holds(f->condition, a->context, &iter.value);
        if (a->context->status != TANSU_OK)
            return;
        if (holds) {
            put_one(a, element, &iter.value);
            return;
        }
    }
}

/* has_below -- whether a path "path.$.below" leads through a field, or ends at it. */
static bool has_below(const field *f) {
    if (f->form == FORM_POSITION)
        return f->children.count != 0;
    for (const key_set_item *item = f->children.first; item; item = item->next) {
        if (((const field *)item)->array && has_below((const field *)item))
            return true;
    }
    return false;
}

/* fail_position -- ends the projection with an error at a path "path.$". */
static bool fail_position(projecting *a, const field *f, const char *message) {
    char where[256];
    snprintf(where, sizeof where, "hints.$fields.%.200s.$", f->array->text);
    return match_fail(a->context, TANSU_E_INVALID_QUERY, where, message);
}

/* find_position -- the position of the element by which the query matched: in this array, or
 * else in another one beside it. False, with the error, when no condition determines one. */
static bool find_position(projecting *a, const field *f, uint32_t *position) {
    const node *root = a->q->root;
    const tansu_document *doc = a->stored;
    if (match_first_element(root, a->context, doc->data, doc->size, f->array, false, position) ||
        match_any_element(root, a->context, doc->data, doc->size, root, position))
        return true;
    return fail_position(a, f,
                         "No condition of the query determines the element of a matching document; "
                         "add a condition on the array, or use \"$elemMatch\"");
}

/* put_taken -- the element that "path.$" takes, in an array; of "path.$.below" what the path names
 * below it. */
static void put_taken(projecting *a, const field *f, const doc_iter *array,
                      const doc_value *value) {
    if (!has_below(f)) {
        put_one(a, array, value);
        return;
    }
    writer_head(&a->w, DOC_ARRAY, array->key, array->key_size);
    size_t start = writer_begin(&a->w);
    a->cut = true;
    if (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY)
        writer_index_head(&a->w, value->type, 0);
    if (value->type == DOC_DOCUMENT)
        project_document(a, &f->children, value->data, value->size, false);
    else if (value->type == DOC_ARRAY)
        project_array(a, f, value, true);
    a->cut = false;
    writer_end(&a->w, start);
}

/* put_position -- the element by which the query matched, in an array. */
static void put_position(projecting *a, const field *f, const doc_iter *element) {
    uint32_t position;
    doc_iter iter;
    if (!find_position(a, f, &position))
        return;
    bool valid = doc_iter_value(&iter, &element->value);
    for (uint32_t i = 0; valid && doc_iter_next(&iter); i++) {
        if (i == position) {
            put_taken(a, f, element, &iter.value);
            return;
        }
    }
    fail_position(a, f,
                  "The array has no element at the position that matched in another array; use "
                  "\"$elemMatch\"");
}

/* ---- Documents ---- */

/* project_at -- an element that the projection names by its position; `number` is that in the
 * result. */
static void project_at(projecting *a, const field *f, const doc_value *value, uint32_t number) {
    char name[12];
    doc_iter element = {.key = name, .value = *value};
    element.key_size = (uint32_t)snprintf(name, sizeof name, "%u", number);
    project_field(a, f, &element);
}

/* names_key -- whether a document has a key that the fields name. */
static bool names_key(const key_set *fields, const doc_value *doc) {
    doc_iter iter;
    for (bool valid = doc_iter_value(&iter, doc); valid && doc_iter_next(&iter);) {
        if (projection_find(fields, iter.key, iter.key_size))
            return true;
    }
    return false;
}

/* at_position -- the field that names an element of an array by its position, or NULL. */
static const field *at_position(const field *array, uint32_t position) {
    char name[12];
    if (!array->has_positions)
        return NULL;
    int size = snprintf(name, sizeof name, "%u", position);
    return projection_find(&array->children, name, (uint32_t)size);
}

/* project_array -- the elements of an array that a path leads through, renumbered. Those that the
 * fields name by position are projected as such, unless they are documents with such a key; not
 * (`positions`) in an array within the array. What is deeper than allowed is empty; only arrays in
 * arrays can be, since all else is as deep as a path. */
static void project_array(projecting *a, const field *f, const doc_value *array, bool positions) {
    doc_iter iter;
    uint32_t index = 0, position = 0;
    size_t start = writer_begin(&a->w);
    bool valid = a->arrays++ < TANSU_MAX_DEPTH && doc_iter_value(&iter, array);
    for (; valid && doc_iter_next(&iter); position++) {
        const doc_value *value = &iter.value;
        const field *named = positions ? at_position(f, position) : NULL;
        bool document = value->type == DOC_DOCUMENT;
        bool keyed = document && f->has_positions && names_key(&f->children, value);
        if (named && !keyed) {
            size_t before = a->w.out->size;
            project_at(a, named, value, index);
            index += a->w.out->size != before;
            continue;
        }
        if (!document && value->type != DOC_ARRAY) {
            if (a->p->exclude)
                writer_index_value(&a->w, index++, value);
            continue;
        }
        /* Only positions are named, and this is none of them. */
        if (!a->p->exclude && !f->has_names && !keyed)
            continue;
        writer_index_head(&a->w, value->type, index++);
        if (document)
            project_document(a, &f->children, value->data, value->size, false);
        else
            project_array(a, f, value, false);
    }
    a->arrays--;
    writer_end(&a->w, start);
}

/* project_below -- an element of which the projection names a part. Of the path of "path.$" only
 * the first array is cut; at its end a document has nothing, and another value stays as it is. */
static void project_below(projecting *a, const field *f, const doc_iter *iter) {
    const doc_value *value = &iter->value;
    if (f->array && value->type == DOC_ARRAY && !a->cut) {
        put_position(a, f, iter);
    } else if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) {
        if (a->p->exclude || f->children.count == 0)
            writer_element(&a->w, iter->key, iter->key_size, value);
    } else {
        writer_head(&a->w, value->type, iter->key, iter->key_size);
        if (value->type == DOC_ARRAY)
            project_array(a, f, value, true);
        else
            project_document(a, &f->children, value->data, value->size, false);
    }
}

/* project_field -- an element that the projection names. */
static void project_field(projecting *a, const field *f, const doc_iter *iter) {
    const bool whole = f->form == FORM_POSITION && f->children.count == 0 && a->cut;
    if (!whole && (f->children.count != 0 || f->form == FORM_POSITION))
        project_below(a, f, iter);
    else if (f->form == FORM_ELEMENT)
        put_matching(a, f, iter);
    else if (f->form == FORM_SLICE && iter->value.type == DOC_ARRAY)
        write_slice(&a->w, &f->slice, iter);
    else if (f->form != FORM_WHOLE || !a->p->exclude)
        writer_element(&a->w, iter->key, iter->key_size, &iter->value);
}

/* project_document -- the elements of a document that a list of fields selects. */
static void project_document(projecting *a, const key_set *fields, const uint8_t *doc, size_t size,
                             bool top) {
    const projection *p = a->p;
    doc_iter iter;
    size_t start = writer_begin(&a->w);
    bool valid = doc_iter_init(&iter, doc, size);
    bool later = false;
    while (valid && doc_iter_next(&iter)) {
        const field *f = projection_find(fields, iter.key, iter.key_size);
        if (f && f->form == FORM_ELEMENT && !p->exclude) {
            later = true;
            continue;
        }
        bool whole = p->exclude;
        if (top && !f && iter.key_size == 3 && memcmp(iter.key, "_id", 3) == 0)
            whole = p->exclude ? !p->drop_id : p->keep_id;
        if (f)
            project_field(a, f, &iter);
        else if (whole)
            writer_copy(&a->w, &iter);
    }
    for (valid = later && doc_iter_init(&iter, doc, size); valid && doc_iter_next(&iter);) {
        const field *f = projection_find(fields, iter.key, iter.key_size);
        if (f && f->form == FORM_ELEMENT)
            put_matching(a, f, &iter);
    }
    writer_end(&a->w, start);
}

/* compute -- the projected document where some fields are computed. */
static tansu_status compute(const query *q, match_context *context, const tansu_document *document,
                            tansu_buffer *out, tansu_error *error) {
    const doc_value doc = {document->data, (uint32_t)document->size, DOC_DOCUMENT};
    writer w = {.out = out};
    expression_context *x = expression_context_of(context);
    tansu_error own;
    if (!x)
        return error_memory(error);
    x->ev->collation = q->collation;
    x->ev->deadline = context->deadline;
    x->ev->error = error ? error : &own;
    evaluation_document(x->ev, doc.data, doc.size);
    out->size = 0;
    tansu_status status = computed_fields_apply(x->ev, q->hints.fields->computed, &doc, &w);
    return status == TANSU_OK && w.failed ? error_memory(error) : status;
}

tansu_status project(const query *q, match_context *context, const tansu_document *stored,
                     const tansu_document *document, tansu_buffer *out, tansu_error *error) {
    const projection *p = q->hints.fields;
    if (p->computed)
        return compute(q, context, document, out, error);
    projecting a = {.p = p, .q = q, .context = context, .stored = stored, .w = {.out = out}};
    out->size = 0;
    project_document(&a, &p->fields, document->data, document->size, true);
    return a.w.failed ? error_memory(error) : match_context_status(context, error);
}

/* ---- Restores values from index entries and writes the projected document ---- */

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
