/*
 * support/model/query_model_path.c -- the model's paths: rules 2 and 4 and the paths "*", "**" and
 * "**.name".
 */
#include "support/model/query_model_internal.h"

#include <stdlib.h>
#include <string.h>

void model_add(model_finds *f, const bson_iter_t *value) {
    if (f->count == MODEL_VALUES)
        abort();
    f->list[f->count].there = value != NULL;
    if (value)
        f->list[f->count].value = *value;
    f->count++;
}

/* next_part -- the rest of a dotted path after its first part, or NULL. */
static const char *next_part(const char *path) {
    const char *dot = strchr(path, '.');
    return dot ? dot + 1 : NULL;
}

/* is_part -- whether the path's first part is a name. */
static bool is_part(const char *path, const char *name) {
    size_t size = strcspn(path, ".");
    return strlen(name) == size && strncmp(path, name, size) == 0;
}

static void find_in_array(bson_iter_t array, const char *path, model_finds *f);

/* find_in_document -- follows a path from the document whose elements the iterator walks. */
static void find_in_document(bson_iter_t elements, const char *path, model_finds *f) {
    while (bson_iter_next(&elements)) {
        if (!is_part(path, bson_iter_key(&elements)))
            continue;
        const char *rest = next_part(path);
        bson_iter_t inside;
        if (!rest) {
            model_add(f, &elements);
        } else if (BSON_ITER_HOLDS_DOCUMENT(&elements)) {
            bson_iter_recurse(&elements, &inside);
            find_in_document(inside, rest, f);
        } else if (BSON_ITER_HOLDS_ARRAY(&elements)) {
            bson_iter_recurse(&elements, &inside);
            find_in_array(inside, rest, f);
        } else {
            model_add(f, NULL);
        }
        return;
    }
    model_add(f, NULL);
}

/* find_in_array -- into each element that is a document, and to the one that the path numbers. */
static void find_in_array(bson_iter_t array, const char *path, model_finds *f) {
    while (bson_iter_next(&array)) {
        bson_iter_t inside;
        const char *rest = next_part(path);
        if (BSON_ITER_HOLDS_DOCUMENT(&array)) {
            bson_iter_recurse(&array, &inside);
            find_in_document(inside, path, f);
        }
        if (!is_part(path, bson_iter_key(&array)))
            continue;
        if (!rest) {
            model_add(f, &array);
        } else if (BSON_ITER_HOLDS_DOCUMENT(&array)) {
            bson_iter_recurse(&array, &inside);
            find_in_document(inside, rest, f);
        } else if (BSON_ITER_HOLDS_ARRAY(&array)) {
            bson_iter_recurse(&array, &inside);
            find_in_array(inside, rest, f);
        }
    }
}

void model_path(const bson_t *doc, const char *path, model_finds *f) {
    bson_iter_t elements;
    f->count = 0;
    bson_iter_init(&elements, doc);
    find_in_document(elements, path, f);
}

void model_path_positions(const bson_t *doc, const char *path, model_finds *f) {
    size_t kept = 0;
    model_path(doc, path, f);
    if (strpbrk(strchr(path, '.') ? strchr(path, '.') : "", "0123456789") == NULL)
        return;
    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i].there)
            f->list[kept++] = f->list[i];
    }
    f->count = kept;
}

/* add_below -- what is inside a value, at any depth. */
static void add_below(const bson_iter_t *value, model_finds *f) {
    bson_iter_t inside;
    if (!BSON_ITER_HOLDS_DOCUMENT(value) && !BSON_ITER_HOLDS_ARRAY(value))
        return;
    bson_iter_recurse(value, &inside);
    while (bson_iter_next(&inside)) {
        model_add(f, &inside);
        add_below(&inside, f);
    }
}

/* add_named -- the values of the fields of a name, in a document or an array, at any depth. */
static void add_named(bson_iter_t elements, bool array, const char *name, model_finds *f) {
    bson_iter_t inside;
    while (bson_iter_next(&elements)) {
        bool is_array = BSON_ITER_HOLDS_ARRAY(&elements);
        if (!array && strcmp(bson_iter_key(&elements), name) == 0)
            model_add(f, &elements);
        if (!is_array && !BSON_ITER_HOLDS_DOCUMENT(&elements))
            continue;
        bson_iter_recurse(&elements, &inside);
        add_named(inside, is_array, name, f);
    }
}

void model_path_named(const bson_t *doc, const char *name, model_finds *f) {
    bson_iter_t elements;
    f->count = 0;
    bson_iter_init(&elements, doc);
    add_named(elements, false, name, f);
}

void model_path_all(const bson_t *doc, bool deep, model_finds *f) {
    bson_iter_t elements;
    f->count = 0;
    bson_iter_init(&elements, doc);
    while (bson_iter_next(&elements)) {
        model_add(f, &elements);
        if (deep)
            add_below(&elements, f);
    }
}
