/*
 * query/exec/project.c -- applies $fields to a document.
 *
 * Paths lead through arrays as in MongoDB: an element that is a document (or an array of these) is
 * projected as well; an inclusion drops other elements, an exclusion keeps them. Other than there,
 * a number in a path is also the position of an element. Fields keep the order of the document.
 * $slice returns a value that is not an array as it is; $elemMatch and "path.$" drop arrays without
 * a matching element.
 */
#include "query/exec/project.h"
#include "bson/writer.h"
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
    writer w;
} projecting;

static void project_document(projecting *a, const key_set *fields, const uint8_t *doc, size_t size,
                             bool top);
static void project_field(projecting *a, const field *f, const doc_iter *iter);

/* ---- A part of an array ---- */

/* count_elements -- how many elements an array has. */
static int64_t count_elements(const doc_value *array) {
    doc_iter iter;
    int64_t count = 0;
    for (bool valid = doc_iter_value(&iter, array); valid && doc_iter_next(&iter);)
        count++;
    return count;
}

/* put_slice -- an element with some elements of an array, renumbered. */
static void put_slice(projecting *a, const field *f, const doc_iter *element) {
    int64_t size = f->skip < 0 ? count_elements(&element->value) : 0;
    int64_t skip = f->skip >= 0 ? f->skip : size + f->skip < 0 ? 0 : size + f->skip;
    uint32_t taken = 0;
    doc_iter iter;
    writer_head(&a->w, DOC_ARRAY, element->key, element->key_size);
    size_t start = writer_begin(&a->w);
    bool valid = doc_iter_value(&iter, &element->value);
    for (int64_t i = 0; valid && (int64_t)taken < f->count && doc_iter_next(&iter); i++) {
        if (i >= skip)
            writer_index_value(&a->w, taken++, &iter.value);
    }
    writer_end(&a->w, start);
}

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

/* put_position -- the element by which the query matched, in an array; nothing if there is none. */
static void put_position(projecting *a, const field *f, const doc_iter *element) {
    uint32_t position;
    doc_iter iter;
    if (!match_first_element(a->q->root, a->context, a->stored->data, a->stored->size, f->array,
                             &position))
        return;
    bool valid = doc_iter_value(&iter, &element->value);
    for (uint32_t i = 0; valid && doc_iter_next(&iter); i++) {
        if (i == position) {
            put_one(a, element, &iter.value);
            return;
        }
    }
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
 * (`positions`) in an array within the array. */
static void project_array(projecting *a, const field *f, const doc_value *array, bool positions) {
    doc_iter iter;
    uint32_t index = 0, position = 0;
    size_t start = writer_begin(&a->w);
    bool valid = doc_iter_value(&iter, array);
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
    writer_end(&a->w, start);
}

/* project_below -- an element of which the projection names a part. Below "path.$" a document has
 * nothing, and only the first array on the path is cut. */
static void project_below(projecting *a, const field *f, const doc_iter *iter) {
    const doc_value *value = &iter->value;
    if (f->array && value->type == DOC_ARRAY) {
        put_position(a, f, iter);
    } else if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) {
        if (a->p->exclude)
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
    if (f->children.count != 0 || f->form == FORM_POSITION)
        project_below(a, f, iter);
    else if (f->form == FORM_ELEMENT)
        put_matching(a, f, iter);
    else if (f->form == FORM_SLICE && iter->value.type == DOC_ARRAY)
        put_slice(a, f, iter);
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
    while (valid && doc_iter_next(&iter)) {
        const field *f = projection_find(fields, iter.key, iter.key_size);
        bool whole = p->exclude;
        if (top && !f && iter.key_size == 3 && memcmp(iter.key, "_id", 3) == 0)
            whole = p->exclude ? !p->drop_id : p->keep_id;
        if (f)
            project_field(a, f, &iter);
        else if (whole)
            writer_copy(&a->w, &iter);
    }
    writer_end(&a->w, start);
}

tansu_status project(const query *q, match_context *context, const tansu_document *stored,
                     const tansu_document *document, tansu_buffer *out, tansu_error *error) {
    const projection *p = q->hints.fields;
    projecting a = {.p = p, .q = q, .context = context, .stored = stored, .w = {.out = out}};
    out->size = 0;
    project_document(&a, &p->fields, document->data, document->size, true);
    return a.w.failed ? error_memory(error) : match_context_status(context, error);
}
