/*
 * query/parse/join_spec.c -- parses $do.
 */
#include "query/parse/join_spec.h"
#include "store/name_check.h"
#include "util/error.h"
#include <stdio.h>

/* bad -- INVALID_QUERY with a context. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* add_join -- adds a path and its collection to the tree. New ones go last: explain lists them in
 * the order given. */
static tansu_status add_join(query *q, const path *path, const char *collection,
                             const char *context, tansu_error *error) {
    if (!q->hints.joins)
        q->hints.joins = arena_alloc(&q->memory, sizeof *q->hints.joins);
    key_set *list = q->hints.joins;
    if (!list)
        return error_memory(error);
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        bool last = i + 1 == path->count, added;
        size_t used = 0;
        join_spec *found = (join_spec *)key_set_add(list, &q->memory, (const uint8_t *)part->name,
                                                    part->size + 1, sizeof *found, &added, &used);
        if (!found)
            return error_memory(error);
        if (!added && (last || found->collection))
            return bad(
                error, context,
                "Two joins have the same path, or one is below the other; remove one of them");
        if (last) {
            found->collection = collection;
            found->path = path->text;
        }
        list = &found->children;
    }
    return TANSU_OK;
}

/* read_join -- parses {"$join": "collection"}. */
static tansu_status read_join(query *q, const doc_iter *entry, const char *context,
                              tansu_error *error) {
    char inner[sizeof error->context];
    snprintf(inner, sizeof inner, "%s.%s", context, entry->key);
    doc_iter iter, rest;
    if (entry->value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &entry->value) ||
        !doc_iter_next(&iter) || strcmp(iter.key, "$join") != 0 ||
        (rest = iter, doc_iter_next(&rest)))
        return bad(error, inner, "Value of a path in \"$do\" must be {\"$join\": collection}");
    if (iter.value.type != DOC_STRING)
        return bad(error, inner, "\"$join\" must be the name of a collection");
    size_t size;
    const char *name = doc_string(&iter.value, &size);
    if (strlen(name) != size || name_check(name, "collection", NULL) != TANSU_OK)
        return bad(error, inner,
                   "\"$join\" must be the name of a collection: 1 to 120 bytes, no control "
                   "character, and no $ at the front");
    const path *path;
    tansu_status status = query_path(q, entry->key, entry->key_size, inner, &path, error);
    const char *copy = status == TANSU_OK ? arena_copy(&q->memory, name, size) : NULL;
    if (status == TANSU_OK && !copy)
        status = error_memory(error);
    return status == TANSU_OK ? add_join(q, path, copy, inner, error) : status;
}

tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, context,
                   "\"$do\" must be a document {path: {\"$join\": collection}, ...}");
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_join(q, &iter, context, error);
    return status;
}
