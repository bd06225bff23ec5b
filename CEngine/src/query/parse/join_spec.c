/*
 * query/parse/join_spec.c -- parses $do.
 */
#include "query/parse/join_spec.h"
#include "query/parse/projection.h"
#include "store/collection.h"
#include "util/error.h"
#include <stdio.h>

/* bad -- INVALID_QUERY with a context. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* add_join -- adds a path and what is done there to the tree. New ones go last: explain lists them
 * in the order given. */
static tansu_status add_join(query *q, const path *path, const join_spec *leaf, const char *context,
                             tansu_error *error) {
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
        if (!added && (last || join_is_leaf(found)))
            return bad(error, context,
                       "Two entries of \"$do\" have the same path, or one is below the other; "
                       "remove one of them");
        if (last) {
            key_set_item head = found->head;
            *found = *leaf;
            found->head = head;
            found->path = path->text;
        }
        list = &found->children;
    }
    return TANSU_OK;
}

/* read_collection -- parses the operand of $join. */
static tansu_status read_collection(query *q, const doc_value *value, const char *context,
                                    join_spec *leaf, tansu_error *error) {
    if (value->type != DOC_STRING)
        return bad(error, context, "\"$join\" must be the name of a collection");
    size_t size;
    const char *name = doc_string(value, &size);
    if (strlen(name) != size || name_check(name, "collection", NULL) != TANSU_OK)
        return bad(error, context,
                   "\"$join\" must be the name of a collection: 1 to 120 bytes, no control "
                   "character, and no $ at the front");
    leaf->collection = arena_copy(&q->memory, name, size);
    return leaf->collection ? TANSU_OK : error_memory(error);
}

/* read_action -- parses a member of an entry: "$join", its "$hexIds", or "$slice". */
static tansu_status read_action(query *q, const doc_iter *member, const char *context,
                                join_spec *leaf, tansu_error *error) {
    if (strcmp(member->key, "$join") == 0 && !join_is_leaf(leaf))
        return read_collection(q, &member->value, context, leaf, error);
    if (strcmp(member->key, "$slice") == 0 && !join_is_leaf(leaf)) {
        leaf->sliced = true;
        return array_slice_parse(&leaf->slice, &member->value, context, error);
    }
    if (strcmp(member->key, "$hexIds") == 0 && leaf->collection) {
        if (!doc_as_bool(&member->value, &leaf->hex_ids))
            return bad(error, context, "\"$hexIds\" must be true or false");
        return TANSU_OK;
    }
    return bad(error, context,
               "Value of a path in \"$do\" must be {\"$join\": collection}, with \"$hexIds\" after "
               "it if needed, or {\"$slice\": n}");
}

/* read_entry -- parses {"$join": "collection", "$hexIds": true} or {"$slice": n}. */
static tansu_status read_entry(query *q, const doc_iter *entry, const char *context,
                               tansu_error *error) {
    char inner[sizeof error->context];
    snprintf(inner, sizeof inner, "%s.%s", context, entry->key);
    doc_iter iter;
    join_spec leaf = {.sliced = false};
    tansu_status status = TANSU_OK;
    if (entry->value.type == DOC_DOCUMENT && doc_iter_value(&iter, &entry->value)) {
        while (status == TANSU_OK && doc_iter_next(&iter))
            status = read_action(q, &iter, inner, &leaf, error);
    }
    if (status == TANSU_OK && !join_is_leaf(&leaf))
        return bad(error, inner,
                   "Value of a path in \"$do\" must be {\"$join\": collection} or {\"$slice\": n}");
    const path *path;
    if (status == TANSU_OK)
        status = query_path(q, entry->key, entry->key_size, inner, &path, error);
    return status == TANSU_OK ? add_join(q, path, &leaf, inner, error) : status;
}

tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(
            error, context,
            "\"$do\" must be a document {path: {\"$join\": collection} or {\"$slice\": n}, ...}");
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_entry(q, &iter, context, error);
    return status;
}

/* ---- With a projection ---- */

/* check_below -- the joins and the fields of one level of the document. */
static tansu_status check_below(const key_set *joins, const key_set *fields, tansu_error *error) {
    for (const key_set_item *item = joins->first; item; item = item->next) {
        const join_spec *join = (const join_spec *)item;
        const field *f =
            projection_find(fields, (const char *)item->key, (uint32_t)item->key_size - 1);
        if (!f || !f->array)
            continue;
        if (join->sliced)
            return bad(error, "$do",
                       "A path of \"$fields\" with \".$\" has an array that \"$do\" slices; remove "
                       "one of them");
        tansu_status status = check_below(&join->children, &f->children, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

tansu_status join_check_projection(const query *q, tansu_error *error) {
    const hints *h = &q->hints;
    return h->joins && h->fields ? check_below(h->joins, &h->fields->fields, error) : TANSU_OK;
}
