/*
 * query/join.c -- see join.h.
 */
#include "query/join.h"
#include <stdio.h>

/* One key on the way to an id; the last has the collection. */
typedef struct join_spec {
    keyset_item head; /* the name, by keyset_name() */
    keyset children;
    const char *collection; /* NULL: the way goes on */
    const char *path;       /* of the whole way, for people */
} join_spec;

/* ---- Reading ---- */

/* bad -- INVALID_QUERY at a place. */
static tansu_status bad(tansu_error *error, const char *place, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, place, "%s", message);
}

/* add_join -- puts a path and its collection into the tree. New ones go last: explain shows them in
 * the order given. */
static tansu_status add_join(query *q, const path *path, const char *collection, const char *place,
                             tansu_error *error) {
    if (!q->hints.joins)
        q->hints.joins = arena_alloc(&q->memory, sizeof *q->hints.joins);
    keyset *list = q->hints.joins;
    if (!list)
        return error_memory(error);
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        bool last = i + 1 == path->count, added;
        size_t memory = 0;
        join_spec *found = (join_spec *)keyset_add(list, &q->memory, (const uint8_t *)part->name,
                                                   part->size + 1, sizeof *found, &added, &memory);
        if (!found)
            return error_memory(error);
        if (!added && (last || found->collection))
            return bad(error, place,
                       "Two of the joins are at the same path, or one lies below "
                       "another: leave one out.");
        if (last) {
            found->collection = collection;
            found->path = path->text;
        }
        list = &found->children;
    }
    return TANSU_OK;
}

/* read_join -- {"$join": "collection"}. */
static tansu_status read_join(query *q, const doc_iter *entry, const char *context,
                              tansu_error *error) {
    char place[sizeof error->context];
    snprintf(place, sizeof place, "%s.%s", context, entry->key);
    doc_iter iter, rest;
    if (entry->value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &entry->value) ||
        !doc_iter_next(&iter) || strcmp(iter.key, "$join") != 0 ||
        (rest = iter, doc_iter_next(&rest)))
        return bad(error, place,
                   "What is done at a path is {\"$join\": collection}, and nothing "
                   "else.");
    if (iter.value.type != DOC_STRING)
        return bad(error, place, "$join takes the name of a collection.");
    size_t size;
    const char *name = doc_string(&iter.value, &size);
    if (size == 0 || size > TANSU_MAX_NAME || strlen(name) != size)
        return bad(error, place, "$join takes the name of a collection, 1 to 120 bytes.");
    const path *path;
    tansu_status status = query_path(q, entry->key, entry->key_size, place, &path, error);
    const char *copy = status == TANSU_OK ? arena_copy(&q->memory, name, size) : NULL;
    if (status == TANSU_OK && !copy)
        status = error_memory(error);
    return status == TANSU_OK ? add_join(q, path, copy, place, error) : status;
}

/* join_parse -- see join.h. */
tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, context, "$do is a document {path: {\"$join\": collection}, ...}.");
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_join(q, &iter, context, error);
    return status;
}

/* ---- Applying ---- */

typedef struct joining {
    const version *version;
    const view *view;
    tansu_buffer *out;
    tansu_buffer key;
    tansu_status status;
    tansu_error *error;
} joining;

/* fail -- notes what went wrong; false. */
static bool fail(joining *j, tansu_status status) {
    j->status = status;
    return false;
}

/* put -- appends bytes; false when memory is exhausted, or the result becomes too large. */
static bool put(joining *j, const void *bytes, size_t size) {
    if (size > TANSU_MAX_DOCUMENT_SIZE || j->out->size > TANSU_MAX_DOCUMENT_SIZE - size)
        return fail(j, error_set(j->error, TANSU_E_TOO_LARGE, "$do",
                                 "With the documents that it names the result is over %d bytes.",
                                 TANSU_MAX_DOCUMENT_SIZE));
    return buffer_append(j->out, bytes, size) || fail(j, error_memory(j->error));
}

/* put_element -- an element with its key as it is. */
static bool put_element(joining *j, const doc_iter *iter, const doc_value *value) {
    return put(j, &value->type, 1) && put(j, iter->key, iter->key_size + 1) &&
           put(j, value->data, value->size);
}

/* look_up -- the document that an id names; the id itself when there is none. */
static bool look_up(joining *j, const join_spec *at, const doc_value *id, doc_value *result) {
    const collection_state *collection = version_collection(j->version, at->collection);
    uint64_t docno;
    doc_ref ref;
    bool found = false;
    *result = *id;
    if (!collection || doc_check_id(id, NULL) != TANSU_OK)
        return true;
    j->key.size = 0;
    if (!value_key(&j->key, id, false))
        return fail(j, error_memory(j->error));
    tansu_status status = tree_find_prefix(j->view->trees, &collection->ids, j->key.data,
                                           j->key.size, &found, &docno, j->error);
    if (status == TANSU_OK && found)
        status = view_find(j->view, collection, docno, &ref, j->error);
    if (status == TANSU_DONE)
        status = error_set(j->error, TANSU_E_CORRUPT, at->collection,
                           "The index of `_id` has an entry of a document that does not exist.");
    if (status != TANSU_OK)
        return fail(j, status);
    if (found) {
        uint32_t size;
        const uint8_t *doc = view_document(j->view, ref, &size);
        *result = (doc_value){doc, size, DOC_DOCUMENT};
    }
    return true;
}

static bool join_elements(joining *j, const keyset *list, const doc_value *value);

/* join_ids -- an array of ids, each by itself. */
static bool join_ids(joining *j, const join_spec *at, const doc_value *array) {
    size_t start = j->out->size;
    doc_iter iter;
    doc_value found;
    bool good = put(j, "\0\0\0\0", 4), valid = doc_iter_value(&iter, array);
    while (good && valid && doc_iter_next(&iter))
        good = look_up(j, at, &iter.value, &found) && put_element(j, &iter, &found);
    good = good && put(j, "", 1);
    if (good)
        store_u32(j->out->data + start, (uint32_t)(j->out->size - start));
    return good;
}

/* join_element -- an element that is named: an id, an array of ids, or something on the way. */
static bool join_element(joining *j, const join_spec *at, const doc_iter *iter) {
    doc_value found;
    bool inner = iter->value.type == DOC_ARRAY || iter->value.type == DOC_DOCUMENT;
    if (at->collection && iter->value.type != DOC_ARRAY)
        return look_up(j, at, &iter->value, &found) && put_element(j, iter, &found);
    if (!at->collection && !inner)
        return put_element(j, iter, &iter->value);
    if (!put(j, &iter->value.type, 1) || !put(j, iter->key, iter->key_size + 1))
        return false;
    return at->collection ? join_ids(j, at, &iter->value)
                          : join_elements(j, &at->children, &iter->value);
}

/* join_elements -- the elements of a document, or of an array that the way leads through: there each
 * that is a document is entered, and a key that is a position names that element. */
static bool join_elements(joining *j, const keyset *list, const doc_value *value) {
    size_t start = j->out->size;
    doc_iter iter;
    bool good = put(j, "\0\0\0\0", 4), valid = doc_iter_value(&iter, value);
    while (good && valid && doc_iter_next(&iter)) {
        const join_spec *at = (const join_spec *)keyset_name(list, iter.key, iter.key_size);
        if (at)
            good = join_element(j, at, &iter);
        else if (value->type != DOC_ARRAY || iter.value.type != DOC_DOCUMENT)
            good = put_element(j, &iter, &iter.value);
        else
            good = put(j, &iter.value.type, 1) && put(j, iter.key, iter.key_size + 1) &&
                   join_elements(j, list, &iter.value);
    }
    good = good && put(j, "", 1);
    if (good)
        store_u32(j->out->data + start, (uint32_t)(j->out->size - start));
    return good;
}

/* join_apply -- see join.h. The result is a document like any other: it is held against the same
 * bounds of depth. */
tansu_status join_apply(const keyset *joins, const version *version, const view *v,
                        const tansu_document *document, tansu_buffer *out, tansu_error *error) {
    joining j = {.version = version, .view = v, .out = out, .error = error};
    doc_value whole = {document->data, (uint32_t)document->size, DOC_DOCUMENT};
    out->size = 0;
    bool good = join_elements(&j, joins, &whole);
    tansu_buffer_free(&j.key);
    return good ? doc_check(out->data, out->size, DOC_CHECK_BSON, error) : j.status;
}

/* ---- Explaining ---- */

/* explain_list -- all collections below a list of names. */
static void explain_list(const keyset *list, writer *w, uint32_t *number) {
    for (const keyset_item *item = list->first; item; item = item->next) {
        const join_spec *join = (const join_spec *)item;
        explain_list(&join->children, w, number);
        if (!join->collection)
            continue;
        char key[12];
        size_t one = writer_open(w, writer_index_key(key, (*number)++), DOC_DOCUMENT);
        writer_string(w, "path", join->path);
        writer_string(w, "collection", join->collection);
        writer_end(w, one);
    }
}

/* join_explain -- see join.h. */
void join_explain(const keyset *joins, writer *w) {
    uint32_t number = 0;
    if (!joins)
        return;
    size_t array = writer_open(w, "joins", DOC_ARRAY);
    explain_list(joins, w, &number);
    writer_end(w, array);
}
