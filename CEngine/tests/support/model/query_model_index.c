/*
 * support/model/query_model_index.c -- the model's unique indexes: which documents can't stand
 * together. Said as plainly as for matching: two documents collide when, for every path, they have
 * a value in common.
 */
#include "support/model/query_model_internal.h"

#include <string.h>

/* flag -- an option that is true or false. */
static bool flag(const bson_t *options, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, options, name) && bson_iter_as_bool(&iter);
}

bool model_is_unique(const bson_t *options) {
    return flag(options, "unique");
}

/* is_in -- whether the index has the document at all. */
static bool is_in(const bson_t *doc, const bson_t *keys, const bson_t *options) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, options, "partialFilter")) {
        const uint8_t *data;
        uint32_t size;
        bson_t filter;
        bson_iter_document(&iter, &size, &data);
        bson_init_static(&filter, data, size);
        if (!model_matches(doc, &filter))
            return false;
    }
    if (!flag(options, "sparse"))
        return true;
    bson_iter_init(&iter, keys);
    while (bson_iter_next(&iter)) {
        model_finds f;
        model_path(doc, bson_iter_key(&iter), &f);
        for (size_t i = 0; i < f.count; i++) {
            if (f.list[i].there)
                return true;
        }
    }
    return false;
}

/* index_values -- what a path finds, and the elements of arrays there. */
static void index_values(const bson_t *doc, const char *path, model_finds *f) {
    model_path_positions(doc, path, f);
    if (f->count == 0)
        model_path(doc, path, f);
    for (size_t i = 0, count = f->count; i < count; i++) {
        bson_iter_t each;
        if (!f->list[i].there || !BSON_ITER_HOLDS_ARRAY(&f->list[i].value))
            continue;
        bson_iter_recurse(&f->list[i].value, &each);
        while (bson_iter_next(&each))
            model_add(f, &each);
    }
}

/* share -- whether two documents have a value in common at a path. Where it finds nothing at all
 * (in an array without documents) is a value of its own, other than null. */
static bool share(const bson_t *a, const bson_t *b, const char *path) {
    model_finds x, y;
    index_values(a, path, &x);
    index_values(b, path, &y);
    if (x.count == 0 || y.count == 0)
        return x.count == y.count;
    for (size_t i = 0; i < x.count; i++) {
        for (size_t k = 0; k < y.count; k++) {
            if (model_compare(x.list[i].there ? &x.list[i].value : NULL,
                              y.list[k].there ? &y.list[k].value : NULL) == 0)
                return true;
        }
    }
    return false;
}

bool model_collide(const bson_t *a, const bson_t *b, const bson_t *keys, const bson_t *options) {
    bson_iter_t key;
    model_now = (model_mode){false, false, false, NULL};
    if (!is_in(a, keys, options) || !is_in(b, keys, options))
        return false;
    bool all = true;
    model_now.feed_model = flag(options, "caseInsensitive");
    bson_iter_init(&key, keys);
    while (all && bson_iter_next(&key))
        all = share(a, b, bson_iter_key(&key));
    model_now = (model_mode){false, false, false, NULL};
    return all;
}
