/*
 * query/project.c -- $fields: which parts of a document come back.
 *
 * Include or exclude, never both (but `_id`, which comes unless it is excluded). Paths lead through
 * arrays as in MongoDB: an element that is a document (or an array of such) is projected as well;
 * an inclusion leaves the other elements out, an exclusion keeps them. Fields keep the order of the
 * document.
 */
#include "base/bytes.h"
#include "query/internal.h"
#include <stdio.h>

/* One key that the projection names; without children it means all that is below it. */
typedef struct field {
    const char *name;
    uint32_t size;
    struct field *children;
    struct field *next;
} field;

struct projection {
    bool exclude;
    bool keep_id; /* `_id` in an inclusion that does not name it */
    bool drop_id; /* `_id: 0` */
    field *fields;
};

/* bad -- INVALID_QUERY at a path of $fields. */
static tansu_status bad(tansu_error *error, const char *place, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, place, "%s", message);
}

/* find_field -- the field of that name in a list, or NULL. */
static field *find_field(field *list, const char *name, uint32_t size) {
    while (list && (list->size != size || memcmp(list->name, name, size) != 0))
        list = list->next;
    return list;
}

/* add_path -- puts a path into the tree. */
static tansu_status add_path(query *q, projection *p, const path *path, const char *place,
                             tansu_error *error) {
    field **list = &p->fields;
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        bool last = i + 1 == path->count;
        field *found = find_field(*list, part->name, part->size);
        if (found && (last || !found->children))
            return bad(error, place,
                       "Two of the paths name the same field, or one lies below "
                       "another: leave one out.");
        if (!found) {
            found = arena_alloc(&q->memory, sizeof *found);
            if (!found)
                return error_memory(error);
            *found = (field){part->name, part->size, NULL, *list};
            *list = found;
        }
        list = &found->children;
    }
    return TANSU_OK;
}

/* read_choice -- whether a field's value includes or excludes it. */
static tansu_status read_choice(const doc_iter *iter, const char *place, bool *include,
                                tansu_error *error) {
    doc_iter inner;
    if (doc_as_bool(&iter->value, include))
        return TANSU_OK;
    if (iter->value.type == DOC_DOCUMENT && doc_iter_value(&inner, &iter->value) &&
        doc_iter_next(&inner) &&
        (strcmp(inner.key, "$slice") == 0 || strcmp(inner.key, "$elemMatch") == 0))
        return error_set(error, TANSU_E_UNSUPPORTED, place,
                         "The projection %s is not in this version of the library yet.", inner.key);
    return bad(error, place, "The value must be 1 (include) or 0 (exclude).");
}

/* read_field -- one entry of $fields; *mode is -1 until the first entry that tells. */
static tansu_status read_field(query *q, projection *p, const doc_iter *iter, int *mode,
                               tansu_error *error) {
    char place[sizeof error->context];
    snprintf(place, sizeof place, "hints.$fields.%s", iter->key);
    bool include;
    tansu_status status = read_choice(iter, place, &include, error);
    if (status != TANSU_OK)
        return status;
    if (iter->key_size > 2 && strcmp(iter->key + iter->key_size - 2, ".$") == 0)
        return error_set(error, TANSU_E_UNSUPPORTED, place,
                         "The positional projection .$ is not in this version yet.");
    const path *path;
    status = query_path(q, iter->key, iter->key_size, place, &path, error);
    if (status != TANSU_OK)
        return status;
    bool id = path->count == 1 && strcmp(path->parts[0].name, "_id") == 0;
    if (id && !include) {
        p->drop_id = true;
        return TANSU_OK;
    }
    if (!id) {
        if (*mode != -1 && *mode != include)
            return bad(error, place, "Including and excluding fields may not be mixed.");
        *mode = include;
    } else {
        p->keep_id = true;
        return TANSU_OK;
    }
    return add_path(q, p, path, place, error);
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
    int mode = -1;
    bool any = false;
    while (doc_iter_next(&iter)) {
        any = true;
        tansu_status status = read_field(q, p, &iter, &mode, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!any)
        return TANSU_OK;
    if (p->keep_id && p->drop_id)
        return bad(error, "hints.$fields._id", "`_id` is both included and excluded.");
    field *id = find_field(p->fields, "_id", 3);
    if (id && (p->keep_id || p->drop_id))
        return bad(error, "hints.$fields._id", "`_id` and a path below it are both named.");
    /* {_id: 1} alone includes nothing but the id; {_id: 0} alone excludes nothing but the id. */
    p->exclude = mode == 0 || (mode == -1 && p->drop_id);
    p->keep_id = !p->exclude && !p->drop_id && !id;
    *result = p;
    return TANSU_OK;
}

static bool apply_document(const projection *p, const field *fields, const uint8_t *doc,
                           size_t size, tansu_buffer *out, bool top);

/* put_element -- an element with all of its value; `key` replaces its own. */
static bool put_element(tansu_buffer *out, const char *key, size_t key_size,
                        const doc_value *value) {
    return buffer_append_byte(out, value->type) && buffer_append(out, key, key_size) &&
           buffer_append_byte(out, 0) && buffer_append(out, value->data, value->size);
}

/* apply_array -- the elements of an array that a path leads through, numbered anew. */
static bool apply_array(const projection *p, const field *fields, const doc_value *array,
                        tansu_buffer *out) {
    size_t start = out->size;
    doc_iter iter;
    uint32_t index = 0;
    if (!buffer_append(out, "\0\0\0\0", 4))
        return false;
    bool valid = doc_iter_value(&iter, array);
    while (valid && doc_iter_next(&iter)) {
        bool inner = iter.value.type == DOC_DOCUMENT || iter.value.type == DOC_ARRAY;
        char key[12];
        if (!inner && !p->exclude)
            continue;
        int key_size = snprintf(key, sizeof key, "%u", index++);
        if (!inner) {
            if (!put_element(out, key, (size_t)key_size, &iter.value))
                return false;
            continue;
        }
        if (!buffer_append_byte(out, iter.value.type) ||
            !buffer_append(out, key, (size_t)key_size + 1))
            return false;
        if (iter.value.type == DOC_ARRAY
                ? !apply_array(p, fields, &iter.value, out)
                : !apply_document(p, fields, iter.value.data, iter.value.size, out, false))
            return false;
    }
    if (!buffer_append_byte(out, 0))
        return false;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return true;
}

/* apply_below -- an element of which only a part is named. */
static bool apply_below(const projection *p, const field *f, const doc_iter *iter,
                        tansu_buffer *out) {
    const doc_value *value = &iter->value;
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return !p->exclude || put_element(out, iter->key, iter->key_size, value);
    if (!buffer_append_byte(out, value->type) || !buffer_append(out, iter->key, iter->key_size + 1))
        return false;
    return value->type == DOC_ARRAY
               ? apply_array(p, f->children, value, out)
               : apply_document(p, f->children, value->data, value->size, out, false);
}

/* apply_document -- a document's elements, chosen by a list of fields. */
static bool apply_document(const projection *p, const field *fields, const uint8_t *doc,
                           size_t size, tansu_buffer *out, bool top) {
    size_t start = out->size;
    doc_iter iter;
    if (!buffer_append(out, "\0\0\0\0", 4))
        return false;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && doc_iter_next(&iter)) {
        const field *f = find_field((field *)fields, iter.key, iter.key_size);
        bool whole = f ? !f->children && !p->exclude : p->exclude;
        if (top && !f && iter.key_size == 3 && memcmp(iter.key, "_id", 3) == 0)
            whole = p->exclude ? !p->drop_id : p->keep_id;
        if (f && f->children ? !apply_below(p, f, &iter, out)
                             : whole && !put_element(out, iter.key, iter.key_size, &iter.value))
            return false;
    }
    if (!buffer_append_byte(out, 0))
        return false;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return true;
}

/* projection_apply -- see internal.h. */
bool projection_apply(const projection *p, const uint8_t *doc, size_t size, tansu_buffer *out) {
    out->size = 0;
    return apply_document(p, p->fields, doc, size, out, true);
}
