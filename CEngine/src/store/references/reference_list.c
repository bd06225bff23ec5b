/*
 * store/references/reference_list.c -- parsing, writing and copying the references of a collection.
 */
#include "store/references/reference_list.h"

#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const rule_names[] = {
    [DELETE_IGNORE] = "ignore",
    [DELETE_NULLIFY] = "nullify",
    [DELETE_CASCADE] = "cascade",
    [DELETE_DENY] = "deny",
};

const char *delete_rule_name(delete_rule rule) {
    return rule_names[rule];
}

/* bad -- INVALID_QUERY at a member of a reference. */
static tansu_status bad(tansu_error *error, uint32_t number, const char *member,
                        const char *message) {
    char where[64];
    snprintf(where, sizeof where, "references.%u%s%.40s", number, member[0] != 0 ? "." : "",
             member);
    return error_set(error, TANSU_E_INVALID_QUERY, where, "%s", message);
}

/* list_new -- an empty one with that capacity; NULL when memory is exhausted. */
static reference_list *list_new(uint32_t capacity) {
    return calloc(1, sizeof(reference_list) + capacity * sizeof(reference));
}

/* ---- Reading ---- */

/* read_rule -- the rule of that name. */
static bool read_rule(const doc_value *value, delete_rule *rule) {
    size_t length;
    if (value->type != DOC_STRING)
        return false;
    const char *name = doc_string(value, &length);
    for (size_t i = 0; i < sizeof rule_names / sizeof *rule_names; i++) {
        if (strlen(rule_names[i]) == length && memcmp(rule_names[i], name, length) == 0) {
            *rule = (delete_rule)i;
            return true;
        }
    }
    return false;
}

/* read_path -- the path of reference `number`. */
static tansu_status read_path(const doc_value *value, uint32_t number, reference *r,
                              tansu_error *error) {
    size_t length;
    if (value->type != DOC_STRING)
        return bad(error, number, "path", "The path of a reference must be a string");
    const char *text = doc_string(value, &length);
    if (path_has_wildcard(text, length))
        return bad(error, number, "path", "The path of a reference cannot have a wildcard");
    tansu_error fault;
    tansu_status status = path_parse(&r->path, NULL, text, length, &fault);
    if (status == TANSU_E_MEMORY)
        return error_memory(error);
    if (status != TANSU_OK)
        return bad(error, number, "path", fault.message);
    for (uint32_t i = 0; i < r->path.count; i++)
        if (r->path.parts[i].size != 0 && r->path.parts[i].name[0] == '$')
            return bad(error, number, "path",
                       "The path of a reference cannot have a part that begins with \"$\"");
    return path_has_positions(&r->path)
               ? bad(error, number, "path",
                     "The path of a reference cannot have an array position; every element of an "
                     "array is followed")
               : TANSU_OK;
}

/* read_target -- the collection of reference `number`. */
static tansu_status read_target(const doc_value *value, uint32_t number, reference *r,
                                tansu_error *error) {
    size_t length = 0;
    const char *name = value->type == DOC_STRING ? doc_string(value, &length) : NULL;
    if (name == NULL || length == 0 || length > TANSU_MAX_NAME || memchr(name, 0, length) != NULL)
        return bad(error, number, "to", "The target of a reference must be a collection's name");
    memcpy(r->to, name, length);
    return TANSU_OK;
}

/* read_reference -- one of them. */
static tansu_status read_reference(const doc_value *value, uint32_t number, reference *r,
                                   tansu_error *error) {
    doc_iter iter;
    bool path = false, to = false;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, number, "",
                   "A reference must be {\"path\": ..., \"to\": ..., \"onDelete\": ...}");
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        if (strcmp(iter.key, "path") == 0 && !path) {
            status = read_path(&iter.value, number, r, error);
            path = true;
        } else if (strcmp(iter.key, "to") == 0 && !to) {
            status = read_target(&iter.value, number, r, error);
            to = true;
        } else if (strcmp(iter.key, "onDelete") != 0) {
            status = bad(error, number, iter.key,
                         "Unknown or repeated member of a reference; use \"path\", \"to\" and "
                         "\"onDelete\"");
        } else if (!read_rule(&iter.value, &r->rule)) {
            status = bad(error, number, "onDelete",
                         "The delete rule must be \"ignore\", \"nullify\", \"cascade\" or "
                         "\"deny\"");
        }
    }
    if (status != TANSU_OK)
        return status;
    if (!path || !to)
        return bad(error, number, path ? "to" : "path", "The reference lacks this member");
    const path_part *first = &r->path.parts[0];
    if (r->rule == DELETE_NULLIFY && first->size == 3 && memcmp(first->name, "_id", 3) == 0)
        return bad(error, number, "onDelete",
                   "An \"_id\" cannot become null; use \"cascade\", \"deny\" or \"ignore\"");
    return TANSU_OK;
}

/* is_repeated -- whether the path of the last reference is that of another one, too. */
static bool is_repeated(const reference_list *list) {
    for (uint32_t i = 0; i + 1 < list->count; i++)
        if (path_equal(&list->items[i].path, &list->items[list->count - 1].path))
            return true;
    return false;
}

tansu_status reference_list_parse(const doc_value *array, void **result, tansu_error *error) {
    *result = NULL;
    doc_iter iter;
    uint32_t count = 0;
    if (array->type != DOC_ARRAY)
        return error_set(error, TANSU_E_INVALID_QUERY, "references",
                         "The option \"references\" must be an array");
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);)
        count++;
    if (count == 0)
        return TANSU_OK;
    if (count > REFERENCES_MAX)
        return error_set(error, TANSU_E_INVALID_QUERY, "references",
                         "A collection can have %d references; there are %u", REFERENCES_MAX,
                         count);
    reference_list *list = list_new(count);
    if (list == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (doc_iter_value(&iter, array); status == TANSU_OK && doc_iter_next(&iter);) {
        list->count++;
        status = read_reference(&iter.value, list->count - 1, &list->items[list->count - 1], error);
        if (status == TANSU_OK && is_repeated(list))
            status = bad(error, list->count - 1, "path", "Two references have the same path");
    }
    if (status == TANSU_OK)
        *result = list;
    else
        reference_list_free(list);
    return status;
}

/* ---- Copies ---- */

reference_list *reference_list_renamed(const reference_list *list, const char *from,
                                       const char *to) {
    reference_list *copy = list_new(list->count);
    if (copy == NULL)
        return NULL;
    for (; copy->count < list->count; copy->count++) {
        const reference *model = &list->items[copy->count];
        reference *r = &copy->items[copy->count];
        const char *name = strcmp(model->to, from) == 0 ? to : model->to;
        if (path_parse(&r->path, NULL, model->path.text, strlen(model->path.text), NULL) !=
            TANSU_OK) {
            reference_list_free(copy);
            return NULL;
        }
        memcpy(r->to, name, strnlen(name, TANSU_MAX_NAME));
        r->rule = model->rule;
    }
    return copy;
}

void reference_list_write(const void *option, writer *w) {
    const reference_list *list = option;
    size_t array = writer_open(w, "references", DOC_ARRAY);
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const reference *r = &list->items[i];
        size_t one = writer_open_index(w, i, DOC_DOCUMENT);
        writer_string(w, "path", r->path.text);
        writer_string(w, "to", r->to);
        writer_string(w, "onDelete", delete_rule_name(r->rule));
        writer_end(w, one);
    }
    writer_end(w, array);
}

bool reference_list_names(const reference_list *list, const char *to) {
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (strcmp(list->items[i].to, to) == 0)
            return true;
    return false;
}

bool reference_list_equal(const void *left, const void *right) {
    const reference_list *a = left, *b = right;
    if (a == NULL || b == NULL)
        return a == b;
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const reference *x = &a->items[i], *y = &b->items[i];
        if (x->rule != y->rule || strcmp(x->to, y->to) != 0 || !path_equal(&x->path, &y->path))
            return false;
    }
    return true;
}

void reference_list_free(reference_list *list) {
    if (list == NULL)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        path_free(&list->items[i].path);
    free(list);
}

void reference_list_retire(void *context, void *list) {
    (void)context;
    reference_list_free(list);
}
