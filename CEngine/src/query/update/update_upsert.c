/*
 * query/update/update_upsert.c -- the initial document of an upsert: the equalities of the query,
 * or the document of EJDB's $upsert.
 */
#include "bson/value.h"
#include "query/exec/project.h"
#include "query/update/update.h"
#include "query/update/update_internal.h"
#include "util/error.h"

/* A document that is made of equalities. */
typedef struct seed {
    update *paths; /* owns the memory of the paths */
    item *root;
    tansu_error *error;
} seed;

/* put -- sets a path; another value at the path contradicts it. */
static tansu_status put(seed *s, const char *text, size_t size, const doc_value *value) {
    const path *at;
    item *target;
    bool is_new;
    tansu_status status = update_path(s->paths, text, size, text, &at, s->error);
    if (status == TANSU_OK)
        status = target_create(&s->paths->memory, s->root, at->parts, at->count, text, &target,
                               &is_new, s->error);
    if (status != TANSU_OK)
        return status;
    doc_value before;
    if (!item_raw(&s->paths->memory, target, &before))
        return error_memory(s->error);
    if (!is_new && value_compare(&before, value) != 0)
        return bad_context(s->error, text,
                           "Query requires two different values at \"%.100s\", so an upsert cannot "
                           "insert a document; remove one of them",
                           text);
    if (is_new)
        item_set(target, value);
    return TANSU_OK;
}

/* equality -- the only value that satisfies a condition; false when there may be several. */
static bool equality(const doc_value *condition, doc_value *value) {
    doc_iter iter, list;
    *value = *condition;
    if (condition->type == DOC_REGEX)
        return false;
    if (condition->type != DOC_DOCUMENT)
        return true;
    doc_iter_value(&iter, condition);
    if (!doc_iter_next(&iter) || iter.key[0] != '$' || strcmp(iter.key, "$ref") == 0)
        return true;
    do {
        if (strcmp(iter.key, "$eq") == 0) {
            *value = iter.value;
            return true;
        }
        if ((strcmp(iter.key, "$in") == 0 || strcmp(iter.key, "$all") == 0) &&
            iter.value.type == DOC_ARRAY) {
            doc_iter_value(&list, &iter.value);
            if (!doc_iter_next(&list) || list.value.type == DOC_REGEX)
                continue;
            *value = list.value;
            if (!doc_iter_next(&list) && !(value->type == DOC_DOCUMENT && iter.key[1] == 'a'))
                return true;
        }
    } while (doc_iter_next(&iter));
    return false;
}

/* has_operators -- whether a document has operators at any depth: then it is a sub-query and not a
 * value. */
static bool has_operators(const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT)
        return false;
    doc_iter_value(&iter, value);
    while (doc_iter_next(&iter)) {
        if (iter.key[0] == '$' && strcmp(iter.key, "$ref") != 0 && strcmp(iter.key, "$id") != 0 &&
            strcmp(iter.key, "$db") != 0)
            return true;
        if (iter.value.type == DOC_REGEX || has_operators(&iter.value))
            return true;
    }
    return false;
}

/* take_selector -- the equalities of a selector; `front` is the path before its keys. The depth of
 * the selector bounds the recursion. */
static tansu_status take_selector(seed *s, const doc_value *selector, const char *front,
                                  size_t front_size);

/* take_field -- the equality of a field of a selector. */
static tansu_status take_field(seed *s, const doc_iter *iter, const char *front,
                               size_t front_size) {
    doc_value value;
    size_t size = front_size + iter->key_size;
    char *text = arena_alloc(&s->paths->memory, size + 2);
    if (text == NULL)
        return error_memory(s->error);
    memcpy(text, front, front_size);
    memcpy(text + front_size, iter->key, iter->key_size);
    /* A wildcard names no field. */
    if (strcmp(text, "*") == 0 || strcmp(text, "**") == 0 || strncmp(text, "**.", 3) == 0)
        return TANSU_OK;
    if (!equality(&iter->value, &value))
        return TANSU_OK;
    if (value.data != iter->value.data || !has_operators(&value))
        return put(s, text, size, &value);
    text[size] = '.';
    return take_selector(s, &value, text, size + 1);
}

/* take_branches -- $and, and $or with one branch. */
static tansu_status take_branches(seed *s, const doc_iter *iter, const char *front,
                                  size_t front_size) {
    doc_iter list, first;
    if (iter->value.type != DOC_ARRAY)
        return TANSU_OK;
    doc_iter_value(&list, &iter->value);
    if (strcmp(iter->key, "$or") == 0) {
        first = list;
        if (!doc_iter_next(&first) || doc_iter_next(&first))
            return TANSU_OK;
    }
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && doc_iter_next(&list)) {
        if (list.value.type == DOC_DOCUMENT)
            status = take_selector(s, &list.value, front, front_size);
    }
    return status;
}

static tansu_status take_selector(seed *s, const doc_value *selector, const char *front,
                                  size_t front_size) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    doc_iter_value(&iter, selector);
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        if (strcmp(iter.key, "$and") == 0 || strcmp(iter.key, "$or") == 0)
            status = take_branches(s, &iter, front, front_size);
        else if (iter.key[0] != '$')
            status = take_field(s, &iter, front, front_size);
    }
    return status;
}

/* take_document -- the fields of EJDB's $upsert, in order. */
static tansu_status take_document(seed *s, const doc_value *document) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    doc_iter_value(&iter, document);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = put(s, iter.key, iter.key_size, &iter.value);
    return status;
}

/* take_id -- of the equalities, only that of the `_id`. */
static tansu_status take_id(seed *s, const seed *all) {
    for (uint32_t i = 0; i < all->root->count; i++) {
        item *child = all->root->children[i];
        if (child->key_size == 3 && memcmp(child->key, "_id", 3) == 0)
            return item_insert(&s->paths->memory, s->root, 0, child) ? TANSU_OK
                                                                     : error_memory(s->error);
    }
    return TANSU_OK;
}

tansu_status update_insert(const update *u, const uint8_t *selector, size_t selector_size,
                           const update_case *how, tansu_buffer *out, tansu_error *error) {
    static const uint8_t empty[5] = {5};
    const doc_value nothing = {empty, sizeof empty, DOC_DOCUMENT};
    doc_value query_value = {selector, (uint32_t)selector_size, DOC_DOCUMENT};
    update paths = {.memory = {.limit = UPDATE_MEMORY}};
    seed all = {.paths = &paths, .error = error}, id_only = all;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    all.root = item_new(&paths.memory, &nothing);
    id_only.root = item_new(&paths.memory, &nothing);
    if (all.root == NULL || id_only.root == NULL || !item_open(&paths.memory, all.root) ||
        !item_open(&paths.memory, id_only.root))
        status = error_memory(error);
    if (status == TANSU_OK && selector != NULL)
        status = take_selector(&all, &query_value, "", 0);
    /* With a given document, only the `_id` of the equalities is used. */
    bool given = u->facts.replaces || u->facts.upsert.type != DOC_MISSING;
    if (status == TANSU_OK && given)
        status = take_id(&id_only, &all);
    if (status == TANSU_OK && u->facts.upsert.type != DOC_MISSING)
        status = take_document(&id_only, &u->facts.upsert);
    if (status == TANSU_OK)
        status = item_write(given ? id_only.root : all.root, &bytes, error);
    if (status == TANSU_OK)
        status = update_apply(u, bytes.data, bytes.size, how, out, error);
    tansu_buffer_free(&bytes);
    arena_free(&paths.memory);
    return status;
}

/* ---- What updates and removals need of a query besides its matches ---- */

void query_limit_to_one(query *q) {
    if (q->hints.max > 1)
        q->hints.max = 1;
}

deadline query_deadline(const query *q, const interrupt *stop) {
    deadline d = deadline_begin(stop, q->hints.max_milliseconds);
    deadline_shorten(&d, q->spent);
    return d;
}

tansu_status query_project(const query *q, match_context *context, const uint8_t *doc, size_t size,
                           tansu_buffer *out, tansu_error *error) {
    tansu_document document = {doc, size};
    if (q->hints.fields != NULL)
        return project(q, context, &document, &document, out, error);
    return buffer_set(out, doc, size) ? TANSU_OK : error_memory(error);
}
