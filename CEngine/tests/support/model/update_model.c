/*
 * support/model/update_model.c -- operators on one document, and the one that an upsert begins
 * with. See update_model.h.
 */
#include "support/check.h"
#include "support/model/update_model_internal.h"

#include <stdlib.h>
#include <string.h>

/* read_places -- the places as they are written (`root` NULL), or as they are in the document. */
static bool read_places(const bson_t *operations, const value *root, const update_model_case *c,
                        places *all) {
    bson_iter_t operators, field;
    all->count = 0;
    REQUIRE(bson_iter_init(&operators, operations));
    while (bson_iter_next(&operators)) {
        REQUIRE(bson_iter_recurse(&operators, &field));
        while (bson_iter_next(&field)) {
            place p = {.operand = field, .operator_name = bson_iter_key(&operators)};
            REQUIRE(model_path_split(bson_iter_key(&field), &p) && all->count + 2 < MAX_PATHS);
            if (strcmp(p.operator_name, "$rename") == 0) {
                p.source = true;
                all->list[all->count++] = p;
                p.source = false;
                REQUIRE(model_path_split(bson_iter_utf8(&field, NULL), &p));
            }
            if (root == NULL)
                all->list[all->count++] = p;
            else if ((strcmp(p.operator_name, "$setOnInsert") != 0 || c->inserting) &&
                     !model_paths_expand(&p, root, c, all))
                return false;
        }
    }
    return true;
}

/* keep_id -- puts the document's `_id` back as it was. False when it would be another. */
static bool keep_id(value *root, const bson_t *doc) {
    bson_iter_t iter;
    unsigned at;
    if (!bson_iter_init_find(&iter, doc, "_id"))
        return true;
    value *before = model_value_from(&iter), *now = model_value_child(root, "_id", &at);
    if (now == NULL || model_value_compare(before, now, NULL) != 0) {
        model_value_free(before);
        return false;
    }
    model_value_become(now, before);
    return true;
}

/* mentions_id -- whether any place is the `_id` or in it. */
static bool mentions_id(const places *all) {
    for (unsigned i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].parts[0], "_id") == 0)
            return true;
    }
    return false;
}

bool update_model_is_good(const update_model_case *c, const bson_t *operations) {
    places *all = calloc(1, sizeof *all);
    bson_iter_t iter;
    bson_t filters;
    const uint8_t *data;
    uint32_t size;
    bool filtered = c->hints != NULL && bson_iter_init_find(&iter, c->hints, "$arrayFilters");
    REQUIRE(all != NULL);
    if (filtered) {
        bson_iter_array(&iter, &size, &data);
        REQUIRE(bson_init_static(&filters, data, size));
    }
    bool good = model_statement_is_good(operations, filtered ? &filters : NULL) &&
                read_places(operations, NULL, c, all) && !model_paths_conflict(all);
    free(all);
    return good;
}

bson_t *update_model(const update_model_case *c, const bson_t *operations, uint64_t *problems) {
    places *all = calloc(1, sizeof *all);
    bson_t *result = NULL;
    REQUIRE(all != NULL);
    value *root = model_value_from_document(c->doc);
    bool done = read_places(operations, root, c, all) && !model_paths_conflict(all);
    model_paths_sort(all);
    for (unsigned i = 0; done && i < all->count; i++)
        done = model_operator_apply(root, &all->list[i], c);
    if (done && keep_id(root, c->doc))
        result = model_value_document(root);
    else if (done)
        *problems |= UPDATE_MODEL_REFUSES(TANSU_E_INVALID_ID);
    else
        *problems |= UPDATE_MODEL_REFUSES(TANSU_E_INVALID_QUERY) |
                     (mentions_id(all) ? UPDATE_MODEL_REFUSES(TANSU_E_INVALID_ID) : 0);
    model_value_free(root);
    free(all);
    return result;
}

/* ---- Seeds ---- */

static bool seed_from(value *root, const char *prefix, const bson_iter_t *fields);

/* seed_value -- puts an equality in; false when another value is there, or something is in the
 * way. */
static bool seed_value(value *root, const char *path, const bson_iter_t *equal) {
    place p = {.count = 0};
    value *parent, *v, *given = model_value_from(equal);
    unsigned at;
    REQUIRE(model_path_split(path, &p));
    bool fits = model_path_find(root, &p, true, &parent, &at, &v);
    if (fits && v->type == BSON_TYPE_EOD) {
        model_value_become(v, given);
    } else {
        fits = fits && model_value_compare(v, given, NULL) == 0;
        model_value_free(given);
    }
    return fits;
}

/* only_one -- the only element of an array; false when it has none or more. */
static bool only_one(const bson_iter_t *array, bson_iter_t *element) {
    bson_iter_t more;
    if (!BSON_ITER_HOLDS_ARRAY(array) || !bson_iter_recurse(array, &more) || !bson_iter_next(&more))
        return false;
    *element = more;
    return !bson_iter_next(&more);
}

/* seed_field -- what the query says of one path. */
static bool seed_field(value *root, const char *path, const bson_iter_t *condition) {
    bson_iter_t inner, one;
    if (!BSON_ITER_HOLDS_DOCUMENT(condition) || !bson_iter_recurse(condition, &one) ||
        !bson_iter_next(&one))
        return BSON_ITER_HOLDS_REGEX(condition) || seed_value(root, path, condition);
    REQUIRE(bson_iter_recurse(condition, &inner));
    if (bson_iter_key(&one)[0] != '$')
        return seed_from(root, path, &inner);
    while (bson_iter_next(&inner)) {
        if (strcmp(bson_iter_key(&inner), "$eq") == 0 && !seed_value(root, path, &inner))
            return false;
        if (strcmp(bson_iter_key(&inner), "$in") == 0 && only_one(&inner, &one) &&
            !seed_value(root, path, &one))
            return false;
    }
    return true;
}

/* seed_from -- what the fields of a query, or of a query within at a path, say. */
static bool seed_from(value *root, const char *prefix, const bson_iter_t *fields) {
    bson_iter_t field = *fields, list, each;
    while (bson_iter_next(&field)) {
        const char *key = bson_iter_key(&field);
        if (strcmp(key, "$and") == 0 || (strcmp(key, "$or") == 0 && only_one(&field, &each))) {
            REQUIRE(bson_iter_recurse(&field, &list));
            while (bson_iter_next(&list)) {
                REQUIRE(bson_iter_recurse(&list, &each));
                if (!seed_from(root, prefix, &each))
                    return false;
            }
        } else if (key[0] != '$') {
            char *path =
                *prefix != '\0' ? bson_strdup_printf("%s.%s", prefix, key) : bson_strdup(key);
            bool done = seed_field(root, path, &field);
            bson_free(path);
            if (!done)
                return false;
        }
    }
    return true;
}

bson_t *update_model_seed(const bson_t *query) {
    value *root = model_value_new(BSON_TYPE_DOCUMENT);
    bson_iter_t fields;
    bson_t *result = NULL;
    REQUIRE(bson_iter_init(&fields, query));
    if (seed_from(root, "", &fields))
        result = model_value_document(root);
    model_value_free(root);
    return result;
}
