/*
 * support/model/update_model_location.c -- the paths of an update, and what they lead to in one
 * document. See update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/model/update_model_internal.h"

#include <string.h>

bool model_path_split(const char *path, place *p) {
    unsigned size = 0;
    p->count = 0;
    for (;; path++) {
        REQUIRE(p->count < MAX_PARTS && size + 1 < sizeof p->parts[0]);
        if (*path == '\\' && path[1] == '.') {
            p->parts[p->count][size++] = *++path;
        } else if (*path == '.' || *path == '\0') {
            p->parts[p->count++][size] = '\0';
            if (size == 0)
                return false;
            size = 0;
            if (*path == '\0')
                return true;
        } else {
            p->parts[p->count][size++] = *path;
        }
    }
}

/* place_compare -- the order in which new fields come. */
static int place_compare(const place *a, const place *b) {
    for (unsigned i = 0; i < a->count && i < b->count; i++) {
        long x = model_value_index(a->parts[i]), y = model_value_index(b->parts[i]);
        int order = strcmp(a->parts[i], b->parts[i]);
        if (x >= 0 && y >= 0)
            order = x < y ? -1 : x > y;
        else if (x >= 0 || y >= 0)
            order = x >= 0 ? -1 : 1;
        if (order != 0)
            return order;
    }
    return (int)a->count - (int)b->count;
}

void model_paths_sort(places *all) {
    for (unsigned i = 1; i < all->count; i++) {
        for (unsigned k = i; k > 0 && place_compare(&all->list[k - 1], &all->list[k]) > 0; k--) {
            place swap = all->list[k];
            all->list[k] = all->list[k - 1];
            all->list[k - 1] = swap;
        }
    }
}

/* within -- whether a place is another one, or in it. */
static bool within(const place *inner, const place *outer) {
    if (inner->count < outer->count)
        return false;
    for (unsigned i = 0; i < outer->count; i++) {
        if (strcmp(inner->parts[i], outer->parts[i]) != 0)
            return false;
    }
    return true;
}

bool model_paths_conflict(const places *all) {
    for (unsigned i = 0; i < all->count; i++) {
        for (unsigned k = 0; k < all->count; k++) {
            if (i != k && within(&all->list[i], &all->list[k]))
                return true;
        }
    }
    return false;
}

/* ---- `$`, `$[]` and `$[name]` ---- */

/* matches -- whether a document matches in the collation of the hints. */
static bool matches(bson_t *doc, const bson_t *query, const bson_t *hints) {
    bson_t only = BSON_INITIALIZER;
    bson_iter_t collation;
    size_t hit;
    if (hints != NULL && bson_iter_init_find(&collation, hints, "$collation"))
        bson_append_iter(&only, "$collation", -1, &collation);
    bool result = model_find(&doc, 1, query, &only, &hit) == 1;
    bson_destroy(&only);
    return result;
}

/* passes_filter -- whether an element meets the array filter of that name. */
static bool passes_filter(const value *element, const char *name, size_t size,
                          const update_model_case *c) {
    bson_iter_t list, each, first;
    bool result = false;
    REQUIRE(bson_iter_init_find(&list, c->hints, "$arrayFilters") &&
            bson_iter_recurse(&list, &each));
    while (bson_iter_next(&each)) {
        const uint8_t *data;
        uint32_t length;
        bson_t filter, doc = BSON_INITIALIZER;
        char key[32];
        bson_iter_document(&each, &length, &data);
        REQUIRE(bson_init_static(&filter, data, length) && bson_iter_init(&first, &filter) &&
                bson_iter_next(&first));
        snprintf(key, sizeof key, "%.*s", (int)size, name);
        const char *its = bson_iter_key(&first);
        if (strncmp(its, key, size) == 0 && (its[size] == '\0' || its[size] == '.')) {
            bson_t whole = BSON_INITIALIZER;
            model_value_append(element, key, &doc);
            model_compare_whole(&filter, "", &whole);
            result = matches(&doc, &whole, c->hints);
            bson_destroy(&whole);
        }
        bson_destroy(&doc);
    }
    return result;
}

/* append_under -- a document with nothing but a value at the first `count` parts of a place. */
static void append_under(bson_t *doc, const place *p, unsigned from, unsigned count,
                         const value *v) {
    bson_t inner;
    if (from + 1 == count) {
        model_value_append(v, p->parts[from], doc);
        return;
    }
    bson_append_document_begin(doc, p->parts[from], -1, &inner);
    append_under(&inner, p, from + 1, count, v);
    bson_append_document_end(doc, &inner);
}

/* first_match -- the element of the array at the first `depth` parts that makes the query match,
 * asked of documents that have nothing but that element there; -1: none, also when an empty
 * array matches, for then it is no element that does it. What the query says of other fields is
 * left out. */
static int first_match(const place *p, unsigned depth, const value *array,
                       const update_model_case *c) {
    bson_t about = BSON_INITIALIZER;
    bson_iter_t part;
    int result = -1;
    if (c->query == NULL || c->inserting)
        return -1;
    REQUIRE(bson_iter_init(&part, c->query));
    while (bson_iter_next(&part)) {
        place path;
        if (bson_iter_key(&part)[0] == '$' || !model_path_split(bson_iter_key(&part), &path))
            continue;
        bool same = path.count >= depth;
        for (unsigned i = 0; i < depth && same; i++)
            same = strcmp(path.parts[i], p->parts[i]) == 0;
        if (same)
            bson_append_iter(&about, bson_iter_key(&part), -1, &part);
    }
    for (unsigned i = 0; i <= array->count && result < 0 && !bson_empty(&about); i++) {
        value some = {.type = BSON_TYPE_ARRAY};
        bson_t doc = BSON_INITIALIZER;
        if (i != 0) {
            some.children = &array->children[i - 1];
            some.count = 1;
        }
        append_under(&doc, p, 0, depth, &some);
        bool found = matches(&doc, &about, c->hints);
        bson_destroy(&doc);
        if (found && i == 0)
            break;
        if (found)
            result = (int)i - 1;
    }
    bson_destroy(&about);
    return result;
}

/* value_at -- what the first `count` parts of a place lead to; NULL: nothing. */
static const value *value_at(const value *root, const place *p, unsigned count) {
    unsigned ignored;
    for (unsigned i = 0; i < count && root != NULL; i++)
        root = model_value_is_list(root) ? model_value_child(root, p->parts[i], &ignored) : NULL;
    return root;
}

/* position -- what `$` stands for: an element of the array in front of it, or, when the query
 * speaks of no such array, of the first array on its paths (as with two arrays side by side);
 * -1: nothing. */
static int position(const place *p, unsigned depth, const value *root, const update_model_case *c) {
    const value *array = value_at(root, p, depth);
    bson_iter_t part;
    int result = -1;
    if (array != NULL && array->type == BSON_TYPE_ARRAY)
        result = first_match(p, depth, array, c);
    if (c->query == NULL || !bson_iter_init(&part, c->query))
        return result;
    while (result < 0 && bson_iter_next(&part)) {
        place path;
        if (bson_iter_key(&part)[0] == '$' || !model_path_split(bson_iter_key(&part), &path))
            continue;
        for (unsigned i = 1; i <= path.count && result < 0; i++) {
            array = value_at(root, &path, i);
            if (array != NULL && array->type == BSON_TYPE_ARRAY)
                result = first_match(&path, i, array, c);
        }
    }
    return result;
}

/* expand -- from a depth on. */
static bool expand(const place *p, unsigned depth, const value *root, const update_model_case *c,
                   places *all) {
    while (depth < p->count && p->parts[depth][0] != '$')
        depth++;
    if (depth == p->count) {
        REQUIRE(all->count < MAX_PATHS);
        all->list[all->count++] = *p;
        return true;
    }
    const char *how = p->parts[depth];
    if (strcmp(how, "$") == 0) {
        place concrete = *p;
        int only = position(p, depth, root, c);
        snprintf(concrete.parts[depth], sizeof concrete.parts[0], "%d", only);
        return only >= 0 && expand(&concrete, depth + 1, root, c, all);
    }
    const value *array = value_at(root, p, depth);
    if (array == NULL || array->type != BSON_TYPE_ARRAY)
        return false;
    for (unsigned i = 0; i < array->count; i++) {
        place concrete = *p;
        if (how[2] != ']' && !passes_filter(array->children[i], how + 2, strlen(how) - 3, c))
            continue;
        snprintf(concrete.parts[depth], sizeof concrete.parts[0], "%u", i);
        if (!expand(&concrete, depth + 1, root, c, all))
            return false;
    }
    return true;
}

bool model_paths_expand(const place *p, const value *root, const update_model_case *c,
                        places *all) {
    return expand(p, 0, root, c, all);
}

bool model_path_find(value *root, const place *p, bool make, value **parent, unsigned *at,
                     value **result) {
    *result = root;
    for (unsigned i = 0; i < p->count; i++) {
        value *v = *result;
        long number = model_value_index(p->parts[i]);
        *parent = v;
        *result = NULL;
        if (v->type != BSON_TYPE_DOCUMENT && (v->type != BSON_TYPE_ARRAY || number < 0))
            return false;
        value *child = model_value_child(v, p->parts[i], at);
        if (child == NULL && !make)
            return true;
        if (child == NULL) {
            while (v->type == BSON_TYPE_ARRAY && (long)v->count < number)
                model_value_insert(v, v->count, model_value_null());
            child = model_value_new(i + 1 < p->count ? BSON_TYPE_DOCUMENT : BSON_TYPE_EOD);
            strcpy(child->key, p->parts[i]);
            model_value_insert(v, v->count, child);
        }
        *result = child;
    }
    return true;
}
