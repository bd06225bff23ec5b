/*
 * query/expression/computed_fields.c -- the fields of $project, $addFields and $unset: a tree by the
 * parts of their paths, applied to a document.
 *
 * A path leads through arrays: each of their documents is treated so. Where a computed field has no
 * document to be in, one is made.
 */
#include "query/expression/computed_fields.h"
#include "query/expression/expression_internal.h"

#include "bson/number.h"
#include "query/util/key_set.h"
#include "util/error.h"

#include <stdio.h>
#include <string.h>

enum field_form { FIELD_NESTED, FIELD_WHOLE, FIELD_COMPUTED };

/* A part of a path. */
typedef struct computed_field {
    key_set_item head; /* its name, with the NUL */
    enum field_form form;
    key_set children;             /* NESTED */
    const expression *expression; /* COMPUTED */
    bool computes;                /* it, or one below it, is computed */
    uint32_t number;              /* among all of the tree */
} computed_field;

struct computed_fields {
    enum computed_kind kind;
    bool exclude;   /* the fields named are left out, and all others kept */
    bool drop_id;   /* "_id": 0 of an inclusion */
    bool keep_id;   /* an inclusion that does not name it */
    bool decided;   /* whether it is an exclusion is known */
    uint32_t count; /* of fields */
    computed_field root;
};

/* ---- Compiling ---- */

/* compile_field -- the expression of a field. */
static tansu_status compile_field(expression_compiler *c, const char *name, const doc_value *value,
                                  const expression **result) {
    tansu_status status = expression_compile(c, value, result);
    if (status != TANSU_OK)
        error_prefix(c->error, name);
    return status;
}

/* find_child -- the field of a name, added if there is none. */
static computed_field *find_child(expression_compiler *c, computed_field *parent, const char *name,
                                  size_t size, bool *added) {
    size_t used = 0;
    char *copy = arena_copy(c->memory, name, size);
    computed_field *child =
        copy ? (computed_field *)key_set_add(&parent->children, c->memory, (const uint8_t *)copy,
                                             size + 1, sizeof *child, added, &used)
             : NULL;
    if (!child)
        error_memory(c->error);
    return child;
}

/* add_path -- the field at a path below another one; all but the last part are nested. */
static tansu_status add_path(expression_compiler *c, computed_field *at, const char *text,
                             size_t size, computed_field **result) {
    const char *end = text + size;
    if (memchr(text, 0, size))
        return compile_error(c, NULL, "A path has a NUL");
    for (uint32_t depth = 1;; depth++) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        size_t part = (size_t)((dot ? dot : end) - text);
        bool added = false;
        if (part == 0 || field_name_is_dollar(text, part))
            return compile_error(c, text,
                                 part == 0 ? "A part of a path is empty"
                                           : "A part of a path begins with $");
        if (depth > TANSU_MAX_DEPTH)
            return compile_error(c, NULL, "A path is more than %d deep", TANSU_MAX_DEPTH);
        at = find_child(c, at, text, part, &added);
        if (!at)
            return TANSU_E_MEMORY;
        if (!added && (at->form != FIELD_NESTED || !dot))
            return compile_error(c, text,
                                 "This path and another one name the same field, or one "
                                 "within the other");
        if (!dot)
            break;
        at->form = FIELD_NESTED;
        text = dot + 1;
    }
    *result = at;
    return TANSU_OK;
}

/* decide -- the fields named so far are included, or excluded. */
static tansu_status decide(expression_compiler *c, computed_fields *f, bool exclude,
                           const char *name) {
    if (f->decided && f->exclude != exclude)
        return compile_error(
            c, name,
            "Fields are included (1) and left out (0) together; only \"_id\" can be "
            "left out beside fields that are included or computed");
    f->decided = true;
    f->exclude = exclude;
    return TANSU_OK;
}

/* is_flag -- whether a value includes or excludes a field. */
static bool is_flag(const computed_fields *f, const doc_value *value) {
    return f->kind == COMPUTE_PROJECT && (value->type == DOC_BOOL || doc_is_number(value));
}

/* is_operator -- whether a document is an expression. */
static bool is_operator(const doc_value *value) {
    doc_iter iter;
    return doc_iter_value(&iter, value) && doc_iter_next(&iter) && iter.key[0] == '$';
}

/* is_meta -- whether a document is {"$meta": …}. */
static bool is_meta(const doc_value *value) {
    doc_iter iter;
    return value->type == DOC_DOCUMENT && doc_iter_value(&iter, value) && doc_iter_next(&iter) &&
           strcmp(iter.key, "$meta") == 0;
}

static tansu_status add_fields(expression_compiler *c, computed_fields *f, computed_field *parent,
                               const doc_value *spec);

/* add_field -- one member. */
static tansu_status add_field(expression_compiler *c, computed_fields *f, computed_field *parent,
                              const doc_iter *member) {
    const doc_value *value = &member->value;
    computed_field *field;
    bool top_id = parent == &f->root && strcmp(member->key, "_id") == 0;
    if (top_id)
        f->keep_id = false;
    if (parent != &f->root && memchr(member->key, '.', member->key_size))
        return compile_error(c, member->key, "A field in a nested document has a dot in its name");
    if (is_flag(f, value) && top_id && !expression_is_true(value)) {
        /* Alone it is an exclusion. */
        f->drop_id = true;
        return TANSU_OK;
    }
    tansu_status status = add_path(c, parent, member->key, member->key_size, &field);
    if (status != TANSU_OK)
        return status;
    if (is_flag(f, value)) {
        field->form = FIELD_WHOLE;
        /* "_id": 1 says nothing of the others. */
        return top_id ? TANSU_OK : decide(c, f, !expression_is_true(value), member->key);
    }
    if (value->type == DOC_DOCUMENT && !is_operator(value)) {
        if (value->size > 5)
            return add_fields(c, f, field, value);
        if (f->kind == COMPUTE_PROJECT)
            return compile_error(c, member->key, "An empty document is no value of a field");
    }
    /* Metadata can be added to either. */
    if (f->kind == COMPUTE_PROJECT && !is_meta(value))
        status = decide(c, f, false, member->key);
    field->form = FIELD_COMPUTED;
    field->computes = true;
    return status == TANSU_OK ? compile_field(c, member->key, value, &field->expression) : status;
}

/* add_fields -- the members of a document. */
static tansu_status add_fields(expression_compiler *c, computed_fields *f, computed_field *parent,
                               const doc_value *spec) {
    doc_iter iter;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        tansu_status status = add_field(c, f, parent, &iter);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* mark_computing -- sets `computes` from below, and numbers the fields. */
static bool mark_computing(computed_field *f, uint32_t *count) {
    f->number = (*count)++;
    for (key_set_item *item = f->children.first; item; item = item->next)
        f->computes = mark_computing((computed_field *)item, count) || f->computes;
    return f->computes;
}

tansu_status computed_fields_compile(expression_compiler *c, const doc_value *spec,
                                     enum computed_kind kind, computed_fields **result) {
    computed_fields *f = *result = arena_alloc(c->memory, sizeof *f);
    bool added;
    if (!f)
        return error_memory(c->error);
    if (spec->type != DOC_DOCUMENT)
        return compile_error(c, NULL, "Takes a document of fields");
    const bool keeps_all = kind == COMPUTE_FIELDS;
    kind = keeps_all ? COMPUTE_PROJECT : kind;
    f->kind = kind;
    f->keep_id = kind == COMPUTE_PROJECT;
    if (kind == COMPUTE_PROJECT && spec->size <= 5)
        return compile_error(c, NULL, "Names no field");
    tansu_status status = add_fields(c, f, &f->root, spec);
    if (status != TANSU_OK)
        return status;
    f->exclude = f->exclude || (keeps_all && !f->decided && (f->keep_id || f->drop_id));
    if (kind == COMPUTE_PROJECT && f->drop_id && (!f->decided || f->exclude) &&
        (f->exclude || f->root.children.count == 0)) {
        computed_field *id = find_child(c, &f->root, "_id", 3, &added);
        if (!id)
            return TANSU_E_MEMORY;
        id->form = FIELD_WHOLE;
        f->exclude = true;
    }
    if (f->exclude && !f->drop_id && !f->keep_id) {
        /* "_id": 1 in an exclusion: it is not among those left out. */
        for (key_set_item *item = f->root.children.first; item; item = item->next) {
            if (item->key_size == 4 && memcmp(item->key, "_id", 4) == 0)
                ((computed_field *)item)->form = FIELD_NESTED;
        }
    }
    mark_computing(&f->root, &f->count);
    return TANSU_OK;
}

tansu_status computed_fields_exclude(expression_compiler *c, const doc_value *paths,
                                     computed_fields **result) {
    computed_fields *f = *result = arena_alloc(c->memory, sizeof *f);
    doc_iter iter;
    bool one = paths->type == DOC_STRING;
    if (!f)
        return error_memory(c->error);
    f->exclude = true;
    if (!one && (paths->type != DOC_ARRAY || paths->size <= 5))
        return compile_error(c, NULL, "Takes a path, or an array of at least one path");
    if (!one)
        doc_iter_value(&iter, paths);
    while (one || doc_iter_next(&iter)) {
        const doc_value *value = one ? paths : &iter.value;
        computed_field *field;
        size_t size;
        if (value->type != DOC_STRING)
            return compile_error(c, NULL, "A path must be a string");
        const char *text = doc_string(value, &size);
        tansu_status status = add_path(c, &f->root, text, size, &field);
        if (status != TANSU_OK)
            return status;
        field->form = FIELD_WHOLE;
        if (one)
            break;
    }
    return TANSU_OK;
}

/* ---- Applying ---- */

/* What is applied to one document. */
typedef struct applying {
    evaluation *ev;
    bool *written; /* by the number of the field: it is in the document that is being made */
    const computed_fields *f;
    writer *w;
    size_t start; /* of the document in its buffer */
    tansu_status status;
} applying;

/* mark_written -- a field is in the document that is being made. */
static void mark_written(applying *a, const computed_field *field) {
    if (a->written)
        a->written[field->number] = true;
}

static void apply_document(applying *a, computed_field *at, const doc_value *doc);

/* blame -- puts the name of a field before the context of the error of what is made for it. */
static void blame(const applying *a, const computed_field *field) {
    char name[sizeof a->ev->error->context];
    if (a->status != TANSU_E_INVALID_QUERY && a->status != TANSU_E_TOO_LARGE)
        return;
    snprintf(name, sizeof name, "%.*s", (int)field->head.key_size - 1,
             (const char *)field->head.key);
    error_prefix(a->ev->error, name);
}

/* put_computed -- a computed field; nothing when the value is missing. A field within arrays is
 * computed for each of their elements, so that the document may become much larger than a value. */
static void put_computed(applying *a, const computed_field *field) {
    const char *key = (const char *)field->head.key;
    doc_value value;
    if (a->status != TANSU_OK)
        return;
    a->status = expression_evaluate(a->ev, field->expression, &value);
    blame(a, field);
    if (a->status == TANSU_OK && value.type != DOC_MISSING)
        writer_element(a->w, key, field->head.key_size - 1, &value);
    if (a->status == TANSU_OK && a->w->out->size - a->start > TANSU_MAX_DOCUMENT_SIZE)
        a->status = error_set(a->ev->error, TANSU_E_TOO_LARGE, key,
                              "A document with the computed field exceeds %d MiB",
                              TANSU_MAX_DOCUMENT_SIZE / (1024 * 1024));
}

/* put_made -- a document of the computed fields below one, where the document has none. */
static void put_made(applying *a, computed_field *field) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    const doc_value none = {empty, sizeof empty, DOC_DOCUMENT};
    apply_document(a, field, &none);
}

/* apply_array -- the value of an array whose documents have the field's children. */
static void apply_array(applying *a, computed_field *field, const doc_value *array) {
    size_t start = writer_begin(a->w);
    uint32_t count = 0;
    doc_iter iter;
    bool keeps = a->f->exclude || a->f->kind == COMPUTE_ADD;
    for (doc_iter_value(&iter, array); a->status == TANSU_OK && doc_iter_next(&iter);) {
        if (iter.value.type == DOC_DOCUMENT || iter.value.type == DOC_ARRAY) {
            writer_index_head(a->w, iter.value.type, count++);
            if (iter.value.type == DOC_ARRAY)
                apply_array(a, field, &iter.value);
            else
                apply_document(a, field, &iter.value);
        } else if (field->computes) {
            writer_index_head(a->w, DOC_DOCUMENT, count++);
            put_made(a, field);
        } else if (keeps) {
            writer_index_value(a->w, count++, &iter.value);
        }
        if (a->status == TANSU_OK)
            a->status = evaluation_step(a->ev, 1);
    }
    writer_end(a->w, start);
}

/* apply_field -- an element of the document that the tree names. */
static void apply_field(applying *a, computed_field *field, const doc_iter *element) {
    const char *key = element->key;
    uint8_t type = element->value.type;
    if (field->form == FIELD_WHOLE) {
        if (!a->f->exclude)
            writer_copy(a->w, element);
        return;
    }
    if (field->form == FIELD_COMPUTED) {
        /* A computed field of $project is behind those that are included. */
        if (a->f->kind == COMPUTE_PROJECT)
            return;
        put_computed(a, field);
        mark_written(a, field);
        return;
    }
    if (type == DOC_DOCUMENT || type == DOC_ARRAY) {
        writer_head(a->w, type, key, element->key_size);
        if (type == DOC_ARRAY)
            apply_array(a, field, &element->value);
        else
            apply_document(a, field, &element->value);
        blame(a, field);
    } else if (field->computes) {
        writer_head(a->w, DOC_DOCUMENT, key, element->key_size);
        put_made(a, field);
        blame(a, field);
    } else if (a->f->exclude || a->f->kind == COMPUTE_ADD) {
        writer_copy(a->w, element);
    }
    mark_written(a, field);
}

/* apply_rest -- the computed fields that the document did not have. */
static void apply_rest(applying *a, computed_field *field) {
    if (field->form == FIELD_COMPUTED) {
        put_computed(a, field);
        return;
    }
    writer_head(a->w, DOC_DOCUMENT, (const char *)field->head.key, field->head.key_size - 1);
    put_made(a, field);
    blame(a, field);
}

/* apply_document -- the value of a document with the field's children. */
static void apply_document(applying *a, computed_field *at, const doc_value *doc) {
    const computed_fields *f = a->f;
    size_t start = writer_begin(a->w);
    doc_iter iter;
    bool top = at == &f->root, keeps = f->exclude || f->kind == COMPUTE_ADD;
    /* A computed `_id` is first. */
    computed_field *first = NULL;
    if (at->computes) {
        for (key_set_item *item = at->children.first; item; item = item->next)
            a->written[((computed_field *)item)->number] = false;
        if (top && f->kind == COMPUTE_PROJECT)
            first = (computed_field *)key_set_find_name(&at->children, "_id", 3);
        if (first && first->form == FIELD_COMPUTED) {
            put_computed(a, first);
            mark_written(a, first);
        }
    }
    for (doc_iter_value(&iter, doc); a->status == TANSU_OK && doc_iter_next(&iter);) {
        computed_field *field =
            (computed_field *)key_set_find_name(&at->children, iter.key, iter.key_size);
        if (field)
            apply_field(a, field, &iter);
        else if (keeps || (top && f->keep_id && strcmp(iter.key, "_id") == 0))
            writer_copy(a->w, &iter);
    }
    for (key_set_item *item = at->children.first; at->computes && item; item = item->next) {
        computed_field *field = (computed_field *)item;
        if (a->status == TANSU_OK && field->computes && !a->written[field->number])
            apply_rest(a, field);
    }
    writer_end(a->w, start);
}

tansu_status computed_fields_apply(evaluation *ev, const computed_fields *f, const doc_value *doc,
                                   writer *w) {
    applying a = {.ev = ev, .f = f, .w = w, .start = w->out->size};
    if (f->root.computes) {
        a.written = arena_alloc(&ev->memory, f->count * sizeof *a.written);
        if (!a.written)
            return evaluation_too_large(ev, NULL);
    }
    apply_document(&a, (computed_field *)&f->root, doc);
    return a.status;
}
