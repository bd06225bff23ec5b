/*
 * query/exec/join.c -- replaces ids by documents of other collections, and slices arrays.
 */
#include "bson/object_id.h"
#include "bson/value.h"
#include "log/log.h"
#include "query/exec/project.h"
#include "query/exec/run.h"
#include "store/index_backlog/index_backlog.h"
#include "util/error.h"

#define JOIN_STEP 64 /* ids looked up between two checks of the deadline */

typedef struct joining {
    const snapshot *snapshot;
    read_context rctx; /* with pins of its own: the outer document is in use */
    log_pins pins;
    const deadline *deadline;
    uint32_t looked_up;
    writer w;
    tansu_buffer key;
    tansu_status status;
    tansu_error *error;
} joining;

/* fail -- sets the status. Returns false. */
static bool fail(joining *j, tansu_status status) {
    j->status = status;
    return false;
}

/* find_document -- the document with an id, which *found says whether there is. */
static tansu_status find_document(joining *j, const join_spec *at,
                                  const collection_state *collection, const doc_value *id,
                                  bool *found, doc_value *result) {
    uint64_t rid;
    doc_ref ref;
    j->key.size = 0;
    if (!value_key(&j->key, id, false))
        return error_memory(j->error);
    tansu_status status = index_current(collection, 0, j->error);
    if (status == TANSU_OK)
        status = tree_find_prefix(j->rctx.trees, &collection->ids, j->key.data, j->key.size, found,
                                  &rid, j->error);
    if (status == TANSU_OK && *found)
        status = read_find(&j->rctx, collection, rid, &ref, j->error);
    if (status == TANSU_DONE)
        return error_set(j->error, TANSU_E_CORRUPT, at->collection,
                         "Index \"_id\" of collection \"%.120s\" has an entry for a document that "
                         "does not exist; verify the database",
                         at->collection);
    if (status == TANSU_OK && *found) {
        uint32_t size;
        const uint8_t *doc = read_document(&j->rctx, ref, &size);
        *result = (doc_value){doc, size, DOC_DOCUMENT};
    }
    return status;
}

/* read_hex -- the ObjectId that text of 24 hexadecimal digits stands for. */
static bool read_hex(const doc_value *id, uint8_t bytes[OBJECT_ID_SIZE], doc_value *result) {
    size_t size;
    if (id->type != DOC_STRING)
        return false;
    const char *text = doc_string(id, &size);
    *result = (doc_value){bytes, OBJECT_ID_SIZE, DOC_OID};
    return object_id_read(text, size, bytes);
}

/* look_up -- the document with an id; the id itself when there is none. Null refers to none. */
static bool look_up(joining *j, const join_spec *at, const doc_value *id, doc_value *result) {
    if (++j->looked_up % JOIN_STEP == 0) {
        tansu_status ended = deadline_check(j->deadline, j->error);
        if (ended != TANSU_OK)
            return fail(j, ended);
    }
    const collection_state *collection = snapshot_collection(j->snapshot, at->collection);
    bool found = false;
    *result = *id;
    if (!collection || id->type == DOC_NULL || doc_check_id(id, NULL) != TANSU_OK)
        return true;
    tansu_status status = find_document(j, at, collection, id, &found, result);
    uint8_t bytes[OBJECT_ID_SIZE];
    doc_value oid;
    if (status == TANSU_OK && !found && at->hex_ids && read_hex(id, bytes, &oid))
        status = find_document(j, at, collection, &oid, &found, result);
    return status == TANSU_OK || fail(j, status);
}

static bool join_elements(joining *j, const key_set *list, const doc_value *value);

/* join_ids -- an array of ids, each replaced by itself. */
static bool join_ids(joining *j, const join_spec *at, const doc_value *array) {
    size_t start = writer_begin(&j->w);
    doc_iter iter;
    doc_value found;
    bool valid = doc_iter_value(&iter, array);
    while (valid && !j->w.failed && doc_iter_next(&iter)) {
        if (!look_up(j, at, &iter.value, &found))
            return false;
        writer_element(&j->w, iter.key, iter.key_size, &found);
    }
    writer_end(&j->w, start);
    return true;
}

/* join_element -- an element that a path names: an id, an array of ids, an array to slice, or an
 * inner part of the path. */
static bool join_element(joining *j, const join_spec *at, const doc_iter *iter) {
    doc_value found;
    bool inner = iter->value.type == DOC_ARRAY || iter->value.type == DOC_DOCUMENT;
    if (at->sliced && iter->value.type == DOC_ARRAY) {
        write_slice(&j->w, &at->slice, iter);
        return true;
    }
    if (at->collection && iter->value.type != DOC_ARRAY) {
        if (!look_up(j, at, &iter->value, &found))
            return false;
        writer_element(&j->w, iter->key, iter->key_size, &found);
        return true;
    }
    if (at->sliced || (!at->collection && !inner)) {
        writer_copy(&j->w, iter);
        return true;
    }
    writer_head(&j->w, iter->value.type, iter->key, iter->key_size);
    return at->collection ? join_ids(j, at, &iter->value)
                          : join_elements(j, &at->children, &iter->value);
}

/* join_elements -- the elements of a document, or of an array that the path leads through: enters
 * each element that is a document. A key that is a position names that element. */
static bool join_elements(joining *j, const key_set *list, const doc_value *value) {
    size_t start = writer_begin(&j->w);
    doc_iter iter;
    bool good = true, valid = doc_iter_value(&iter, value);
    while (good && valid && !j->w.failed && doc_iter_next(&iter)) {
        const join_spec *at = (const join_spec *)key_set_find_name(list, iter.key, iter.key_size);
        if (at) {
            good = join_element(j, at, &iter);
        } else if (value->type != DOC_ARRAY || iter.value.type != DOC_DOCUMENT) {
            writer_copy(&j->w, &iter);
        } else {
            writer_head(&j->w, iter.value.type, iter.key, iter.key_size);
            good = join_elements(j, list, &iter.value);
        }
    }
    writer_end(&j->w, start);
    return good;
}

/* The result must have the depth of a valid document. */
tansu_status join_apply(const key_set *joins, const snapshot *snapshot, const read_context *rctx,
                        const deadline *deadline, const tansu_document *document, tansu_buffer *out,
                        tansu_error *error) {
    joining j = {.snapshot = snapshot,
                 .rctx = *rctx,
                 .deadline = deadline,
                 .w = {.out = out, .limit = TANSU_MAX_DOCUMENT_SIZE},
                 .error = error};
    j.rctx.pins = &j.pins;
    doc_value whole = {document->data, (uint32_t)document->size, DOC_DOCUMENT};
    out->size = 0;
    bool good = join_elements(&j, joins, &whole);
    tansu_buffer_free(&j.key);
    log_pins_release(&j.pins);
    if (!good)
        return j.status;
    if (j.w.over_limit)
        return error_set(error, TANSU_E_TOO_LARGE, "$do",
                         "Result with joined documents exceeds %d bytes; join fewer documents, or "
                         "remove \"$do\"",
                         TANSU_MAX_DOCUMENT_SIZE);
    if (j.w.failed)
        return error_memory(error);
    return doc_check(out->data, out->size, DOC_CHECK_BSON, error);
}

/* ---- Explain ---- */

/* explain_list -- all joins below a list of names. */
static void explain_list(const key_set *list, writer *w, uint32_t *number) {
    for (const key_set_item *item = list->first; item; item = item->next) {
        const join_spec *join = (const join_spec *)item;
        explain_list(&join->children, w, number);
        if (!join_is_leaf(join))
            continue;
        size_t one = writer_open_index(w, (*number)++, DOC_DOCUMENT);
        writer_string(w, "path", join->path);
        if (join->collection)
            writer_string(w, "collection", join->collection);
        else
            writer_int64(w, "skip", join->slice.skip);
        if (join->sliced && join->slice.count != INT64_MAX)
            writer_int64(w, "count", join->slice.count);
        writer_end(w, one);
    }
}

void join_explain(const key_set *joins, writer *w) {
    uint32_t number = 0;
    if (!joins)
        return;
    size_t array = writer_open(w, "joins", DOC_ARRAY);
    explain_list(joins, w, &number);
    writer_end(w, array);
}
