/*
 * support/model/update_model_value.c -- documents as lists of lists. See update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/model/update_model_internal.h"

#include <stdlib.h>
#include <string.h>

void model_value_free(value *v) {
    if (v == NULL)
        return;
    for (unsigned i = 0; i < v->count; i++)
        model_value_free(v->children[i]);
    free(v->children);
    if (v->scalar != NULL)
        bson_destroy(v->scalar);
    free(v);
}

value *model_value_new(bson_type_t type) {
    value *v = calloc(1, sizeof *v);
    REQUIRE(v != NULL);
    v->type = type;
    return v;
}

value *model_value_null(void) {
    value *v = model_value_new(BSON_TYPE_NULL);
    v->scalar = bson_new();
    bson_append_null(v->scalar, "v", 1);
    return v;
}

bool model_value_is_list(const value *v) {
    return v->type == BSON_TYPE_DOCUMENT || v->type == BSON_TYPE_ARRAY;
}

void model_value_insert(value *list, unsigned at, value *v) {
    REQUIRE(at <= list->count);
    if (list->count == list->room) {
        list->room = list->room * 2 + 4;
        list->children = realloc(list->children, list->room * sizeof *list->children);
        REQUIRE(list->children != NULL);
    }
    memmove(list->children + at + 1, list->children + at,
            (list->count - at) * sizeof *list->children);
    list->children[at] = v;
    list->count++;
}

value *model_value_take(value *list, unsigned at) {
    value *v = list->children[at];
    list->count--;
    memmove(list->children + at, list->children + at + 1,
            (list->count - at) * sizeof *list->children);
    return v;
}

/* fill -- the children from what an iterator walks. */
static void fill(value *v, bson_iter_t *child) {
    while (bson_iter_next(child)) {
        value *one = model_value_from(child);
        REQUIRE(strlen(bson_iter_key(child)) < sizeof one->key);
        strcpy(one->key, bson_iter_key(child));
        model_value_insert(v, v->count, one);
    }
}

value *model_value_from(const bson_iter_t *iter) {
    value *v = model_value_new(bson_iter_type(iter));
    bson_iter_t child;
    if (model_value_is_list(v)) {
        REQUIRE(bson_iter_recurse(iter, &child));
        fill(v, &child);
    } else {
        v->scalar = bson_new();
        bson_append_iter(v->scalar, "v", 1, iter);
    }
    return v;
}

value *model_value_from_document(const bson_t *doc) {
    value *v = model_value_new(BSON_TYPE_DOCUMENT);
    bson_iter_t child;
    REQUIRE(bson_iter_init(&child, doc));
    fill(v, &child);
    return v;
}

/* append_children -- what is in a document or array. */
static void append_children(const value *v, bson_t *doc) {
    for (unsigned i = 0; i < v->count; i++) {
        char number[12];
        snprintf(number, sizeof number, "%u", i);
        model_value_append(v->children[i],
                           v->type == BSON_TYPE_ARRAY ? number : v->children[i]->key, doc);
    }
}

void model_value_append(const value *v, const char *key, bson_t *doc) {
    bson_t inner;
    bson_iter_t iter;
    if (v->type == BSON_TYPE_DOCUMENT) {
        bson_append_document_begin(doc, key, -1, &inner);
        append_children(v, &inner);
        bson_append_document_end(doc, &inner);
    } else if (v->type == BSON_TYPE_ARRAY) {
        bson_append_array_begin(doc, key, -1, &inner);
        append_children(v, &inner);
        bson_append_array_end(doc, &inner);
    } else {
        REQUIRE(bson_iter_init_find(&iter, v->scalar, "v"));
        bson_append_iter(doc, key, -1, &iter);
    }
}

bson_t *model_value_document(const value *v) {
    bson_t *doc = bson_new();
    append_children(v, doc);
    return doc;
}

bool model_value_number(const value *v, bson_iter_t *number) {
    return v->scalar != NULL && bson_iter_init_find(number, v->scalar, "v") &&
           (BSON_ITER_HOLDS_NUMBER(number) || BSON_ITER_HOLDS_DECIMAL128(number));
}

/* compare_shallow -- two values by the other model, documents and arrays as if they were empty. */
static int compare_shallow(const value *a, const value *b, const bson_t *hints) {
    bson_t pair = BSON_INITIALIZER;
    bson_iter_t left, right;
    value empty_a = {.type = a->type}, empty_b = {.type = b->type};
    model_value_append(model_value_is_list(a) ? &empty_a : a, "a", &pair);
    model_value_append(model_value_is_list(b) ? &empty_b : b, "b", &pair);
    REQUIRE(bson_iter_init_find(&left, &pair, "a") && bson_iter_init_find(&right, &pair, "b"));
    int order =
        hints != NULL ? model_compare_in(&left, &right, hints) : model_compare(&left, &right);
    bson_destroy(&pair);
    return order;
}

/* is_like -- whether both are of one kind. */
static bool is_like(const value *a, const value *b) {
    bson_iter_t x, y;
    return a->type == b->type || (model_value_number(a, &x) && model_value_number(b, &y));
}

int model_value_compare(const value *a, const value *b, const bson_t *hints) {
    bson_iter_t x, y;
    if (model_value_number(a, &x) && model_value_number(b, &y))
        return model_number_compare(&x, &y);
    if (!model_value_is_list(a) || a->type != b->type)
        return compare_shallow(a, b, hints);
    for (unsigned i = 0; i < a->count && i < b->count; i++) {
        const value *l = a->children[i], *r = b->children[i];
        int order = 0;
        if (!is_like(l, r))
            order = compare_shallow(l, r, hints);
        if (order == 0 && a->type == BSON_TYPE_DOCUMENT)
            order = strcmp(l->key, r->key);
        if (order == 0)
            order = model_value_compare(l, r, hints);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

void model_value_become(value *v, value *other) {
    char key[sizeof v->key];
    memcpy(key, v->key, sizeof key);
    for (unsigned i = 0; i < v->count; i++)
        model_value_free(v->children[i]);
    free(v->children);
    if (v->scalar != NULL)
        bson_destroy(v->scalar);
    *v = *other;
    memcpy(v->key, key, sizeof key);
    free(other);
}

long model_value_index(const char *part) {
    char *end;
    if (*part < '0' || *part > '9' || (*part == '0' && part[1] != '\0'))
        return -1;
    long number = strtol(part, &end, 10);
    return *end == '\0' ? number : -1;
}

value *model_value_child(const value *v, const char *part, unsigned *at) {
    for (*at = 0; *at < v->count; ++*at) {
        if (v->type == BSON_TYPE_ARRAY ? model_value_index(part) == (long)*at
                                       : strcmp(v->children[*at]->key, part) == 0)
            return v->children[*at];
    }
    return NULL;
}

void model_compare_whole(const bson_t *selector, const char *front, bson_t *to) {
    bson_iter_t field, first;
    REQUIRE(bson_iter_init(&field, selector));
    while (bson_iter_next(&field)) {
        char path[128];
        bson_t inner;
        snprintf(path, sizeof path, "%s%s", front, bson_iter_key(&field));
        bool bare = BSON_ITER_HOLDS_DOCUMENT(&field) && bson_iter_recurse(&field, &first) &&
                    bson_iter_next(&first) && bson_iter_key(&first)[0] != '$';
        if (bare) {
            bson_append_document_begin(to, path, -1, &inner);
            bson_append_iter(&inner, "$eq", -1, &field);
            bson_append_document_end(to, &inner);
        } else {
            bson_append_iter(to, path, -1, &field);
        }
    }
}
