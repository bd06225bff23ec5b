/*
 * query/parse/projection.c -- parses $fields.
 */
#include "query/parse/projection.h"

#include "bson/number.h"
#include "query/parse/selector.h"
#include "util/error.h"

#include <stdio.h>

/* The kinds of entries seen so far. */
typedef struct entry_kinds {
    bool include;
    bool exclude;
    bool element;
    uint32_t positions;
} entry_kinds;

/* Limit of paths "path.$" and "path.$.below": each evaluates all tests of the query. */
#define MAX_POSITIONS 32

/* bad -- INVALID_QUERY at a path of $fields. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* set_array_path -- sets the path of a field: the first parts of a path. */
static tansu_status set_array_path(query *q, field *f, const path *path, uint32_t parts,
                                   tansu_error *error) {
    struct path *own = arena_alloc(&q->memory, sizeof *own);
    if (!own)
        return error_memory(error);
    *own = *path;
    own->count = parts;
    f->array = own;
    return TANSU_OK;
}

/* note_child -- notes what kind of name a child has. */
static void note_child(field *f, const path_part *child) {
    *(child->index >= 0 ? &f->has_positions : &f->has_names) = true;
}

/* add_path -- adds a path to a list of fields; `leaf` is its last field, *end the one in the tree.
 * Paths below the same "path.$" share it. */
static tansu_status add_path(query *q, key_set *list, const path *path, const field *leaf,
                             bool shared, const char *context, field **end, tansu_error *error) {
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        bool last = i + 1 == path->count, added;
        size_t used = 0;
        field *found = (field *)key_set_add(list, &q->memory, (const uint8_t *)part->name,
                                            part->size + 1, sizeof *found, &added, &used);
        if (!found)
            return error_memory(error);
        bool both = last && shared && found->form == FORM_POSITION && found->children.count != 0;
        if (!added && !both && (last || found->form != FORM_WHOLE || found->children.count == 0))
            return bad(
                error, context,
                "Two paths name the same field, or one is below the other; remove one of them");
        if (added && last) {
            key_set_item head = found->head;
            *found = *leaf;
            found->head = head;
        }
        if (leaf->form == FORM_POSITION && !found->array) {
            tansu_status status = set_array_path(q, found, path, i + 1, error);
            if (status != TANSU_OK)
                return status;
        }
        list = &found->children;
        if (!last)
            note_child(found, &part[1]);
        *end = found;
    }
    return TANSU_OK;
}

/* add_entry -- adds the path of an entry, and below it the path after "$", if there is one. */
static tansu_status add_entry(query *q, projection *p, const path *path, const struct path *below,
                              const field *leaf, const char *context, tansu_error *error) {
    static const field whole = {.form = FORM_WHOLE};
    field *end;
    tansu_status status = add_path(q, &p->fields, path, leaf, below != NULL, context, &end, error);
    if (status != TANSU_OK || !below)
        return status;
    note_child(end, &below->parts[0]);
    return add_path(q, &end->children, below, &whole, false, context, &end, error);
}

/* read_form -- parses the operator of a field. */
static tansu_status read_form(query *q, field *leaf, const doc_value *value, const char *context,
                              tansu_error *error) {
    doc_iter iter, rest;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        (rest = iter, doc_iter_next(&rest)))
        return bad(error, context,
                   "Value must be 1 (include), 0 (exclude), {\"$slice\": ...}, "
                   "{\"$elemMatch\": ...} or a document of paths below this one");
    char inner[2 * sizeof error->context];
    snprintf(inner, sizeof inner, "%s.%.*s", context, (int)sizeof error->context - 1, iter.key);
    if (strcmp(iter.key, "$slice") == 0) {
        leaf->form = FORM_SLICE;
        return array_slice_parse(&leaf->slice, &iter.value, inner, error);
    }
    if (strcmp(iter.key, "$elemMatch") != 0)
        return bad(error, inner, "Unknown projection operator; use \"$slice\" or \"$elemMatch\"");
    if (iter.value.type != DOC_DOCUMENT)
        return bad(error, inner, "Operand must be a document");
    subcondition *condition = NULL;
    leaf->form = FORM_ELEMENT;
    tansu_status status = subcondition_parse(q, &iter.value, inner, &condition, error);
    if (status == TANSU_OK)
        leaf->condition = condition;
    return status;
}

/* is_negative -- whether a value is a number below 0: some languages exclude a field by -1, others
 * include it. */
static bool is_negative(const doc_value *value) {
    int64_t number;
    return number_whole(value, FRACTION_CUT, &number) && number < 0;
}

/* position_part -- where ".$" is in a path, as its last part or before others; NULL if nowhere. */
static const char *position_part(const doc_iter *entry) {
    const char *at = entry->key_size > 0 ? strstr(entry->key + 1, ".$") : NULL;
    while (at && at[2] != '\0' && at[2] != '.')
        at = strstr(at + 2, ".$");
    return at;
}

/* read_leaf -- parses the value of an entry of $fields; *size is the size of its path, up to "$".
 */
static tansu_status read_leaf(query *q, const doc_iter *iter, const char *context, field *leaf,
                              bool *include, uint32_t *size, tansu_error *error) {
    const char *position = position_part(iter);
    *size = position ? (uint32_t)(position - iter->key) : iter->key_size;
    *leaf = (field){.form = position ? FORM_POSITION : FORM_WHOLE};
    *include = true;
    if (!doc_as_bool(&iter->value, include))
        return position ? bad(error, context, "Value must be 1")
                        : read_form(q, leaf, &iter->value, context, error);
    if (is_negative(&iter->value))
        return bad(error, context,
                   "Value must not be negative; use 0 to exclude the field, 1 to include it");
    if (position && !*include)
        return bad(error, context, "Matching element cannot be excluded; set the value to 1");
    return TANSU_OK;
}

static tansu_status read_field(query *q, projection *p, const doc_iter *iter, entry_kinds *kinds,
                               tansu_error *error);

/* is_nested -- whether the value of an entry is a document of paths below its own. */
static bool is_nested(const doc_value *value) {
    doc_iter iter;
    return value->type == DOC_DOCUMENT && doc_iter_value(&iter, value) && doc_iter_next(&iter) &&
           iter.key[0] != '$';
}

/* read_nested -- parses the entries below a path. The depth of the document bounds the
 * recursion. */
static tansu_status read_nested(query *q, projection *p, const doc_iter *outer, entry_kinds *kinds,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    doc_iter inner;
    doc_iter_value(&inner, &outer->value);
    while (status == TANSU_OK && doc_iter_next(&inner)) {
        doc_iter whole = inner;
        whole.key_size = outer->key_size + 1 + inner.key_size;
        char *text = arena_alloc(&q->memory, (size_t)whole.key_size + 1);
        if (!text)
            return error_memory(error);
        memcpy(text, outer->key, outer->key_size);
        text[outer->key_size] = '.';
        memcpy(text + outer->key_size + 1, inner.key, inner.key_size);
        whole.key = text;
        status = read_field(q, p, &whole, kinds, error);
    }
    return status;
}

/* read_field -- parses an entry of $fields. */
static tansu_status read_field(query *q, projection *p, const doc_iter *iter, entry_kinds *kinds,
                               tansu_error *error) {
    char context[sizeof error->context];
    snprintf(context, sizeof context, "hints.$fields.%s", iter->key);
    bool include;
    field leaf;
    uint32_t size;
    const path *path, *below = NULL;
    if (is_nested(&iter->value))
        return read_nested(q, p, iter, kinds, error);
    tansu_status status = read_leaf(q, iter, context, &leaf, &include, &size, error);
    if (status == TANSU_OK)
        status = query_path(q, iter->key, size, context, &path, error);
    const uint32_t after = size + (uint32_t)strlen(".$."); /* of a path that goes on after "$" */
    if (status == TANSU_OK && leaf.form == FORM_POSITION && iter->key_size >= after)
        status = query_path(q, iter->key + after, iter->key_size - after, context, &below, error);
    if (status != TANSU_OK)
        return status;
    bool id = path->count == 1 && strcmp(path->parts[0].name, "_id") == 0;
    if (id && leaf.form == FORM_WHOLE) {
        *(include ? &p->keep_id : &p->drop_id) = true;
        return TANSU_OK;
    }
    if (leaf.form == FORM_POSITION && ++kinds->positions > MAX_POSITIONS)
        return bad(error, context, "More than 32 paths have \".$\"; remove some");
    kinds->element = kinds->element || leaf.form == FORM_ELEMENT;
    kinds->include =
        kinds->include || leaf.form == FORM_POSITION || (leaf.form == FORM_WHOLE && include);
    kinds->exclude = kinds->exclude || (leaf.form == FORM_WHOLE && !include);
    if (kinds->include && kinds->exclude)
        return bad(error, context,
                   "Projection both includes and excludes fields; use only 1 or only 0 (\"_id\" "
                   "excepted)");
    return add_entry(q, p, path, below, &leaf, context, error);
}

/* has_other -- whether an array has anything but numbers. */
static bool has_other(doc_iter *array) {
    while (doc_iter_next(array)) {
        if (!doc_is_number(&array->value))
            return true;
    }
    return false;
}

/* is_computed -- whether the value of an entry is an expression, or has one in it. $slice with
 * numbers and $elemMatch are none. The depth of the document bounds the recursion. */
static bool is_computed(const doc_value *value) {
    doc_iter iter;
    if (value->type == DOC_BOOL || doc_is_number(value))
        return false;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter))
        return value->type != DOC_DOCUMENT;
    if (strcmp(iter.key, "$slice") == 0) {
        doc_iter first;
        return iter.value.type == DOC_ARRAY && doc_iter_value(&first, &iter.value) &&
               has_other(&first);
    }
    if (iter.key[0] == '$')
        return strcmp(iter.key, "$elemMatch") != 0;
    do {
        if (is_computed(&iter.value))
            return true;
    } while (doc_iter_next(&iter));
    return false;
}

/* is_special -- whether an entry takes a part of an array, which fields that are computed cannot
 * stand beside. */
static bool is_special(const doc_iter *entry) {
    doc_iter iter;
    if (position_part(entry))
        return true;
    if (entry->value.type != DOC_DOCUMENT || is_computed(&entry->value))
        return false;
    for (doc_iter_value(&iter, &entry->value); doc_iter_next(&iter);) {
        if (iter.key[0] == '$' || is_special(&iter))
            return true;
    }
    return false;
}

/* parse_computed -- $fields of which some are computed. */
static tansu_status parse_computed(query *q, const doc_value *fields, projection *p,
                                   tansu_error *error) {
    expression_compiler c;
    computed_fields *computed = NULL;
    doc_iter iter;
    for (doc_iter_value(&iter, fields); doc_iter_next(&iter);) {
        if (is_special(&iter))
            return error_set(error, TANSU_E_UNSUPPORTED, "hints.$fields",
                             "\"%.60s\" takes a part of an array beside a field that is computed; "
                             "compute it by the expression $slice or $filter",
                             iter.key);
    }
    tansu_status status =
        expression_compiler_init(&c, &q->memory, &q->regexes, q->collation, &q->deadline, error);
    expression_scope(&c, q->scope);
    c.score = q->text ? SCORE_THERE : SCORE_NOWHERE;
    if (status == TANSU_OK)
        status = computed_fields_compile(&c, fields, COMPUTE_FIELDS, &computed);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(error, "hints.$fields");
    expression_compiler_free(&c);
    q->scored = q->scored || c.reads_score;
    p->computed = computed;
    p->exclude = true;
    return status;
}

tansu_status projection_parse(query *q, const doc_value *fields, projection **result,
                              tansu_error *error) {
    doc_iter iter;
    *result = NULL;
    if (fields->type != DOC_DOCUMENT || !doc_iter_value(&iter, fields))
        return bad(error, "hints.$fields",
                   "\"$fields\" must be a document of paths, each 1 (include) or 0 (exclude)");
    projection *p = arena_alloc(&q->memory, sizeof *p);
    if (!p)
        return error_memory(error);
    entry_kinds kinds = {.positions = 0};
    bool any = false;
    for (doc_iter all = iter; doc_iter_next(&all);) {
        if (!is_computed(&all.value) || position_part(&all))
            continue;
        *result = p;
        return parse_computed(q, fields, p, error);
    }
    while (doc_iter_next(&iter)) {
        any = true;
        tansu_status status = read_field(q, p, &iter, &kinds, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!any)
        return TANSU_OK;
    if (p->keep_id && p->drop_id)
        return bad(error, "hints.$fields._id",
                   "Projection both includes and excludes \"_id\"; remove one of them");
    const field *id = projection_find(&p->fields, "_id", 3);
    if (id && (p->keep_id || p->drop_id))
        return bad(error, "hints.$fields._id",
                   "Projection names \"_id\" and a path below it; remove one of them");
    /* {_id: 1} alone includes nothing but the id; {_id: 0} alone excludes nothing but the id. */
    bool include = kinds.include || (!kinds.exclude && (kinds.element || p->keep_id));
    p->exclude = !include;
    p->keep_id = include && !p->drop_id && !id;
    *result = p;
    return TANSU_OK;
}

/* ---- Covering indexes ---- */

/* count_whole -- the number of paths that the fields name; UINT32_MAX when one of them selects a
 * part of an array. */
static uint32_t count_whole(const key_set *fields) {
    uint32_t count = 0;
    for (const key_set_item *item = fields->first; item; item = item->next) {
        const field *f = (const field *)item;
        uint32_t below = f->children.count != 0 ? count_whole(&f->children) : 1;
        if (f->form != FORM_WHOLE || f->array || below == UINT32_MAX)
            return UINT32_MAX;
        count += below;
    }
    return count;
}

/* names -- whether the fields name exactly this path. */
static bool names(const key_set *fields, const path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        const field *f = projection_find(fields, path->parts[i].name, path->parts[i].size);
        if (!f || (i + 1 == path->count) != (f->children.count == 0))
            return false;
        fields = &f->children;
    }
    return true;
}

bool projection_covered(const projection *p, const path *paths, uint32_t count, bool *included) {
    uint32_t found = 0;
    bool id = false;
    if (p->exclude)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool own = p->keep_id && paths[i].count == 1 && strcmp(paths[i].parts[0].name, "_id") == 0;
        included[i] = own || names(&p->fields, &paths[i]);
        id = id || own;
        found += included[i] && !own;
    }
    return (id || !p->keep_id) && found == count_whole(&p->fields);
}

/* ---- Parses the operand of $slice ---- */

tansu_status array_slice_parse(array_slice *slice, const doc_value *value, const char *context,
                               tansu_error *error) {
    doc_iter iter;
    if (number_whole(value, FRACTION_HALF_EVEN, &slice->count)) {
        /* A negative number counts from the end. */
        slice->skip = slice->count < 0 ? slice->count : 0;
        if (slice->count < 0)
            slice->count = INT64_MAX;
        return TANSU_OK;
    }
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        !number_whole(&iter.value, FRACTION_HALF_EVEN, &slice->skip) || !doc_iter_next(&iter) ||
        !number_whole(&iter.value, FRACTION_HALF_EVEN, &slice->count) || slice->count <= 0 ||
        doc_iter_next(&iter))
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "\"$slice\" must be a number, or an array [skip, count] with a count "
                         "greater than 0");
    return TANSU_OK;
}
