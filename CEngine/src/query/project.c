/*
 * query/project.c -- $fields: which parts of a document come back.
 *
 * Include or exclude, never both (but `_id`, which comes unless it is excluded). Paths lead through
 * arrays as in MongoDB: an element that is a document (or an array of such) is projected as well;
 * an inclusion leaves the other elements out, an exclusion keeps them. Fields keep the order of the
 * document.
 *
 * Three forms take a part of an array. {path: {"$slice": n}} leaves the rest of the document as it
 * is unless something is included; {path: {"$elemMatch": {...}}} includes, unless something is
 * excluded; "path.$" includes. A slice of what is no array is the value itself, the other two leave
 * out an array that has no such element.
 */
#include "base/bytes.h"
#include "query/internal.h"
#include <stdio.h>

enum field_form { FORM_WHOLE, FORM_SLICE, FORM_ELEMENT, FORM_POSITION };

/* One key that the projection names; without children it means all that is below it. */
typedef struct field {
    keyset_item head; /* the name, by keyset_name() */
    keyset children;
    enum field_form form;
    int64_t skip; /* SLICE: from there, or if negative from so many before the end */
    int64_t count;
    const subcondition *condition; /* ELEMENT */
    const path *cut; /* POSITION, and every field above one: its own path; else NULL */
} field;

struct projection {
    bool exclude;
    bool keep_id; /* `_id` in an inclusion that does not name it */
    bool drop_id; /* `_id: 0` */
    keyset fields;
};

/* What the entries of $fields ask for, seen so far. */
typedef struct asked {
    bool include;
    bool exclude;
    bool slice;
    bool element;
    uint32_t positions;
} asked;

/* Paths "path.$" at most: for each all tests of the query are asked. */
#define MAX_POSITIONS 32

/* bad -- INVALID_QUERY at a path of $fields. */
static tansu_status bad(tansu_error *error, const char *place, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, place, "%s", message);
}

/* find_field -- the field of that name in a list, or NULL. */
static const field *find_field(const keyset *list, const char *name, uint32_t size) {
    return (const field *)keyset_name(list, name, size);
}

/* mark_cut -- notes a field's own path: the first of a path's so far. */
static tansu_status mark_cut(query *q, field *f, const path *path, uint32_t parts,
                             tansu_error *error) {
    struct path *own = arena_alloc(&q->memory, sizeof *own);
    if (!own)
        return error_memory(error);
    *own = *path;
    own->count = parts;
    f->cut = own;
    return TANSU_OK;
}

/* add_path -- puts a path into the tree; `leaf` is what stands at its end. */
static tansu_status add_path(query *q, projection *p, const path *path, const field *leaf,
                             const char *place, tansu_error *error) {
    keyset *list = &p->fields;
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        bool last = i + 1 == path->count, added;
        size_t memory = 0;
        field *found = (field *)keyset_add(list, &q->memory, (const uint8_t *)part->name,
                                           part->size + 1, sizeof *found, &added, &memory);
        if (!found)
            return error_memory(error);
        if (!added && (last || found->children.count == 0))
            return bad(error, place,
                       "Two of the paths name the same field, or one lies below "
                       "another: leave one out.");
        if (added && last) {
            keyset_item head = found->head;
            *found = *leaf;
            found->head = head;
        }
        if (leaf->form == FORM_POSITION && !found->cut) {
            tansu_status status = mark_cut(q, found, path, i + 1, error);
            if (status != TANSU_OK)
                return status;
        }
        list = &found->children;
    }
    return TANSU_OK;
}

/* ---- Reading ---- */

/* read_slice -- {"$slice": n} or {"$slice": [skip, n]}. */
static tansu_status read_slice(field *leaf, const doc_value *value, const char *place,
                               tansu_error *error) {
    static const char message[] = "$slice is a whole number, or an array of two: how many elements "
                                  "to skip, and how many to take (more than 0).";
    doc_iter iter;
    leaf->form = FORM_SLICE;
    if (doc_as_int64(value, &leaf->count)) {
        /* A negative number takes from the end. */
        leaf->skip = leaf->count < 0 ? leaf->count : 0;
        if (leaf->count < 0)
            leaf->count = INT64_MAX;
        return TANSU_OK;
    }
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        !doc_as_int64(&iter.value, &leaf->skip) || !doc_iter_next(&iter) ||
        !doc_as_int64(&iter.value, &leaf->count) || leaf->count <= 0 || doc_iter_next(&iter))
        return bad(error, place, message);
    return TANSU_OK;
}

/* read_form -- the operator that stands for a field. */
static tansu_status read_form(query *q, field *leaf, const doc_value *value, const char *place,
                              tansu_error *error) {
    doc_iter iter, rest;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        (rest = iter, doc_iter_next(&rest)))
        return bad(error, place,
                   "The value must be 1 (include), 0 (exclude), or one of $slice and "
                   "$elemMatch.");
    char inner[2 * sizeof error->context];
    snprintf(inner, sizeof inner, "%s.%.*s", place, (int)sizeof error->context - 1, iter.key);
    if (strcmp(iter.key, "$slice") == 0)
        return read_slice(leaf, &iter.value, inner, error);
    if (strcmp(iter.key, "$elemMatch") != 0)
        return bad(error, inner, "There is no such form of a projection.");
    if (iter.value.type != DOC_DOCUMENT)
        return bad(error, inner, "The operand must be a document.");
    subcondition *condition = NULL;
    leaf->form = FORM_ELEMENT;
    tansu_status status = subcondition_parse(q, &iter.value, inner, &condition, error);
    if (status == TANSU_OK)
        leaf->condition = condition;
    return status;
}

/* meets -- whether one of two paths leads to the other, positions in arrays aside. */
static bool meets(const path *a, const path *b) {
    uint32_t i = 0, j = 0;
    for (;;) {
        while (i > 0 && i < a->count && a->parts[i].index >= 0)
            i++;
        while (j > 0 && j < b->count && b->parts[j].index >= 0)
            j++;
        if (i == a->count || j == b->count)
            return true;
        const path_part *left = &a->parts[i++], *right = &b->parts[j++];
        if (left->size != right->size || memcmp(left->name, right->name, left->size) != 0)
            return false;
    }
}

/* speaks_of -- whether the selector has a test that an element at the path could meet. */
static bool speaks_of(const node *n, const path *path) {
    if (n->kind == NODE_TEST)
        return n->test->path && n->test->wild == WILD_NONE && meets(n->test->path, path);
    for (const node *child = n->first; child; child = child->next) {
        if (speaks_of(child, path))
            return true;
    }
    return false;
}

/* read_leaf -- what one entry of $fields asks for; *size is that of its path. */
static tansu_status read_leaf(query *q, const doc_iter *iter, const char *place, field *leaf,
                              bool *include, uint32_t *size, tansu_error *error) {
    bool position = iter->key_size > 2 && strcmp(iter->key + iter->key_size - 2, ".$") == 0;
    *size = position ? iter->key_size - 2 : iter->key_size;
    *leaf = (field){.form = position ? FORM_POSITION : FORM_WHOLE};
    *include = true;
    if (!doc_as_bool(&iter->value, include))
        return position ? bad(error, place, "The value must be 1.")
                        : read_form(q, leaf, &iter->value, place, error);
    if (position && !*include)
        return bad(error, place, "The matching element can't be excluded: the value must be 1.");
    return TANSU_OK;
}

/* read_field -- one entry of $fields. */
static tansu_status read_field(query *q, projection *p, const doc_iter *iter, asked *a,
                               tansu_error *error) {
    char place[sizeof error->context];
    snprintf(place, sizeof place, "hints.$fields.%s", iter->key);
    bool include;
    field leaf;
    uint32_t size;
    const path *path;
    tansu_status status = read_leaf(q, iter, place, &leaf, &include, &size, error);
    if (status == TANSU_OK)
        status = query_path(q, iter->key, size, place, &path, error);
    if (status != TANSU_OK)
        return status;
    bool id = path->count == 1 && strcmp(path->parts[0].name, "_id") == 0;
    if (id && leaf.form == FORM_WHOLE) {
        *(include ? &p->keep_id : &p->drop_id) = true;
        return TANSU_OK;
    }
    if (leaf.form == FORM_POSITION && ++a->positions > MAX_POSITIONS)
        return bad(error, place, "At most 32 paths may end in \".$\".");
    if (leaf.form == FORM_POSITION && !speaks_of(q->root, path))
        return bad(error, place,
                   "The query says nothing about this array, so that none of its "
                   "elements can be the matching one.");
    a->slice = a->slice || leaf.form == FORM_SLICE;
    a->element = a->element || leaf.form == FORM_ELEMENT;
    a->include = a->include || leaf.form == FORM_POSITION || (leaf.form == FORM_WHOLE && include);
    a->exclude = a->exclude || (leaf.form == FORM_WHOLE && !include);
    if (a->include && a->exclude)
        return bad(error, place, "Including and excluding fields may not be mixed.");
    return add_path(q, p, path, &leaf, place, error);
}

/* projection_parse -- see internal.h. */
tansu_status projection_parse(query *q, const doc_value *fields, projection **result,
                              tansu_error *error) {
    doc_iter iter;
    *result = NULL;
    if (fields->type != DOC_DOCUMENT || !doc_iter_value(&iter, fields))
        return bad(error, "hints.$fields", "The fields must be a document of paths, each 1 or 0.");
    projection *p = arena_alloc(&q->memory, sizeof *p);
    if (!p)
        return error_memory(error);
    asked a = {.positions = 0};
    bool any = false;
    while (doc_iter_next(&iter)) {
        any = true;
        tansu_status status = read_field(q, p, &iter, &a, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!any)
        return TANSU_OK;
    if (p->keep_id && p->drop_id)
        return bad(error, "hints.$fields._id", "`_id` is both included and excluded.");
    const field *id = find_field(&p->fields, "_id", 3);
    if (id && (p->keep_id || p->drop_id))
        return bad(error, "hints.$fields._id", "`_id` and a path below it are both named.");
    /* {_id: 1} alone includes nothing but the id; {_id: 0} alone excludes nothing but the id. */
    bool include = a.include || (!a.exclude && (a.element || p->keep_id));
    p->exclude = !include;
    p->keep_id = include && !p->drop_id && !id;
    *result = p;
    return TANSU_OK;
}

/* ---- Applying ---- */

/* One application: the document that matched, and what asking about its elements needs. */
typedef struct applying {
    const projection *p;
    const query *q;
    match_context *context;
    const uint8_t *stored;
    size_t stored_size;
    tansu_buffer *out;
} applying;

static bool apply_document(const applying *a, const keyset *fields, const uint8_t *doc, size_t size,
                           bool top);

/* open_value -- begins a document or an array; returns where, SIZE_MAX when memory is exhausted. */
static size_t open_value(tansu_buffer *out) {
    size_t start = out->size;
    return buffer_append(out, "\0\0\0\0", 4) ? start : SIZE_MAX;
}

/* close_value -- ends it. */
static bool close_value(tansu_buffer *out, size_t start) {
    if (!buffer_append_byte(out, 0))
        return false;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return true;
}

/* put_head -- an element's type and key. */
static bool put_head(tansu_buffer *out, uint8_t type, const char *key, size_t key_size) {
    return buffer_append_byte(out, type) && buffer_append(out, key, key_size) &&
           buffer_append_byte(out, 0);
}

/* put_element -- an element with all of its value; `key` replaces its own. */
static bool put_element(tansu_buffer *out, const char *key, size_t key_size,
                        const doc_value *value) {
    return put_head(out, value->type, key, key_size) &&
           buffer_append(out, value->data, value->size);
}

/* put_numbered -- an element of an array. */
static bool put_numbered(tansu_buffer *out, uint32_t number, const doc_value *value) {
    char key[12];
    int size = snprintf(key, sizeof key, "%u", number);
    return put_element(out, key, (size_t)size, value);
}

/* ---- A part of an array ---- */

/* count_elements -- how many elements an array has. */
static int64_t count_elements(const doc_value *array) {
    doc_iter iter;
    int64_t count = 0;
    for (bool valid = doc_iter_value(&iter, array); valid && doc_iter_next(&iter);)
        count++;
    return count;
}

/* put_slice -- an element whose value is some of an array's elements, numbered anew. */
static bool put_slice(const field *f, const doc_iter *element, tansu_buffer *out) {
    int64_t size = f->skip < 0 ? count_elements(&element->value) : 0;
    int64_t skip = f->skip >= 0 ? f->skip : size + f->skip < 0 ? 0 : size + f->skip;
    int64_t position = 0;
    uint32_t taken = 0;
    doc_iter iter;
    if (!put_head(out, DOC_ARRAY, element->key, element->key_size))
        return false;
    size_t start = open_value(out);
    bool valid = start != SIZE_MAX && doc_iter_value(&iter, &element->value);
    for (; valid && (int64_t)taken < f->count && doc_iter_next(&iter); position++) {
        if (position >= skip && !put_numbered(out, taken++, &iter.value))
            return false;
    }
    return start != SIZE_MAX && close_value(out, start);
}

/* put_one -- an element whose value is an array of one value. */
static bool put_one(const doc_iter *element, const doc_value *value, tansu_buffer *out) {
    if (!put_head(out, DOC_ARRAY, element->key, element->key_size))
        return false;
    size_t start = open_value(out);
    return start != SIZE_MAX && put_numbered(out, 0, value) && close_value(out, start);
}

/* put_matching -- the first element that meets a condition, in an array; nothing if none does. */
static bool put_matching(const applying *a, const field *f, const doc_iter *element) {
    doc_iter iter;
    bool valid = element->value.type == DOC_ARRAY && doc_iter_value(&iter, &element->value);
    while (valid && doc_iter_next(&iter)) {
        bool holds = subcondition_holds(f->condition, a->context, &iter.value);
        if (a->context->status != TANSU_OK)
            return true; /* the caller looks there */
        if (holds)
            return put_one(element, &iter.value, a->out);
    }
    return true;
}

/* put_position -- the element by which the query matched, in an array; nothing if there is none. */
static bool put_position(const applying *a, const field *f, const doc_iter *element) {
    uint32_t position;
    doc_iter iter;
    if (!query_first_element(a->q, a->context, a->stored, a->stored_size, f->cut, &position))
        return true;
    bool valid = doc_iter_value(&iter, &element->value);
    for (uint32_t i = 0; valid && doc_iter_next(&iter); i++) {
        if (i == position)
            return put_one(element, &iter.value, a->out);
    }
    return true;
}

/* ---- Documents ---- */

/* apply_array -- the elements of an array that a path leads through, numbered anew. */
static bool apply_array(const applying *a, const keyset *fields, const doc_value *array) {
    doc_iter iter;
    uint32_t index = 0;
    size_t start = open_value(a->out);
    if (start == SIZE_MAX)
        return false;
    bool valid = doc_iter_value(&iter, array);
    while (valid && doc_iter_next(&iter)) {
        bool inner = iter.value.type == DOC_DOCUMENT || iter.value.type == DOC_ARRAY;
        char key[12];
        if (!inner && !a->p->exclude)
            continue;
        int key_size = snprintf(key, sizeof key, "%u", index++);
        if (!inner) {
            if (!put_element(a->out, key, (size_t)key_size, &iter.value))
                return false;
            continue;
        }
        if (!put_head(a->out, iter.value.type, key, (size_t)key_size))
            return false;
        if (iter.value.type == DOC_ARRAY
                ? !apply_array(a, fields, &iter.value)
                : !apply_document(a, fields, iter.value.data, iter.value.size, false))
            return false;
    }
    return close_value(a->out, start);
}

/* apply_below -- an element of which only a part is named. Below "path.$" there is nothing in a
 * document, and no other array than the first on the way is cut. */
static bool apply_below(const applying *a, const field *f, const doc_iter *iter) {
    const doc_value *value = &iter->value;
    if (f->cut && value->type == DOC_ARRAY)
        return put_position(a, f, iter);
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return !a->p->exclude || put_element(a->out, iter->key, iter->key_size, value);
    if (!put_head(a->out, value->type, iter->key, iter->key_size))
        return false;
    return value->type == DOC_ARRAY
               ? apply_array(a, &f->children, value)
               : apply_document(a, &f->children, value->data, value->size, false);
}

/* apply_field -- an element that the projection names. */
static bool apply_field(const applying *a, const field *f, const doc_iter *iter) {
    if (f->children.count != 0 || f->form == FORM_POSITION)
        return apply_below(a, f, iter);
    if (f->form == FORM_ELEMENT)
        return put_matching(a, f, iter);
    if (f->form == FORM_SLICE && iter->value.type == DOC_ARRAY)
        return put_slice(f, iter, a->out);
    bool drop = f->form == FORM_WHOLE && a->p->exclude;
    return drop || put_element(a->out, iter->key, iter->key_size, &iter->value);
}

/* apply_document -- a document's elements, chosen by a list of fields. */
static bool apply_document(const applying *a, const keyset *fields, const uint8_t *doc, size_t size,
                           bool top) {
    const projection *p = a->p;
    doc_iter iter;
    size_t start = open_value(a->out);
    if (start == SIZE_MAX)
        return false;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && doc_iter_next(&iter)) {
        const field *f = find_field(fields, iter.key, iter.key_size);
        bool whole = p->exclude;
        if (top && !f && iter.key_size == 3 && memcmp(iter.key, "_id", 3) == 0)
            whole = p->exclude ? !p->drop_id : p->keep_id;
        if (f ? !apply_field(a, f, &iter)
              : whole && !put_element(a->out, iter.key, iter.key_size, &iter.value))
            return false;
    }
    return close_value(a->out, start);
}

/* projection_apply -- see internal.h. */
tansu_status projection_apply(const query *q, match_context *context, const tansu_document *stored,
                              const tansu_document *shown, tansu_buffer *out, tansu_error *error) {
    const projection *p = q->hints.fields;
    applying a = {.p = p,
                  .q = q,
                  .context = context,
                  .stored = stored->data,
                  .stored_size = stored->size,
                  .out = out};
    out->size = 0;
    if (!apply_document(&a, &p->fields, shown->data, shown->size, true))
        return error_memory(error);
    return match_context_status(context, error);
}

/* ---- Answers from an index ---- */

/* count_whole -- how many paths the fields name; UINT32_MAX when one of them takes a part of an
 * array. */
static uint32_t count_whole(const keyset *fields) {
    uint32_t count = 0;
    for (const keyset_item *item = fields->first; item; item = item->next) {
        const field *f = (const field *)item;
        uint32_t below = f->children.count != 0 ? count_whole(&f->children) : 1;
        if (f->form != FORM_WHOLE || f->cut || below == UINT32_MAX)
            return UINT32_MAX;
        count += below;
    }
    return count;
}

/* names -- whether a path, to its end, is one that the fields name. */
static bool names(const keyset *fields, const path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        const field *f = find_field(fields, path->parts[i].name, path->parts[i].size);
        if (!f || (i + 1 == path->count) != (f->children.count == 0))
            return false;
        fields = &f->children;
    }
    return true;
}

/* projection_within -- see internal.h. */
bool projection_within(const projection *p, const path *paths, uint32_t count, bool *shown) {
    uint32_t found = 0;
    bool id = false;
    if (p->exclude)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool own = p->keep_id && paths[i].count == 1 && strcmp(paths[i].parts[0].name, "_id") == 0;
        shown[i] = own || names(&p->fields, &paths[i]);
        id = id || own;
        found += shown[i] && !own;
    }
    return (id || !p->keep_id) && found == count_whole(&p->fields);
}
