/*
 * rules/nullify.c -- taking references out of a document. The path is followed as path_walk() does.
 */
#include "rules/nullify.h"

#include "bson/writer.h"
#include "store/references/reference_list.h"
#include "util/error.h"

/* One document as it is rewritten by one reference. */
typedef struct rewriting {
    writer w;
    const nullifier *by;
    const path *path;
    const collection_state *target;
    uint64_t values; /* taken out */
    tansu_status status;
    tansu_error *error;
} rewriting;

static void rewrite_elements(rewriting *r, const doc_value *from, uint32_t part);

/* goes -- whether a value is to be taken out. */
static bool goes(rewriting *r, const doc_value *value) {
    bool is_one = false;
    if (r->status != TANSU_OK || value->type == DOC_NULL || value->type == DOC_UNDEFINED)
        return false;
    r->status = r->by->test(r->by->context, r->target, value, &is_one, r->error);
    r->values += is_one;
    return is_one;
}

/* rewrite_array_end -- an array at the end of the path. */
static void rewrite_array_end(rewriting *r, const doc_value *array) {
    doc_iter iter;
    uint32_t kept = 0;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);)
        if (!goes(r, &iter.value))
            writer_index_value(&r->w, kept++, &iter.value);
}

/* rewrite_array -- an array before the end: each document in it is entered. */
static void rewrite_array(rewriting *r, const doc_value *array, uint32_t part) {
    doc_iter iter;
    uint32_t number = 0;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter); number++) {
        if (iter.value.type != DOC_DOCUMENT) {
            writer_index_value(&r->w, number, &iter.value);
            continue;
        }
        size_t start = writer_open_index(&r->w, number, DOC_DOCUMENT);
        rewrite_elements(r, &iter.value, part);
        writer_end(&r->w, start);
    }
}

/* rewrite_value -- the value of the part before `part`. */
static void rewrite_value(rewriting *r, const doc_iter *at, uint32_t part) {
    const doc_value *value = &at->value;
    bool last = part == r->path->count;
    if (value->type == DOC_ARRAY || (value->type == DOC_DOCUMENT && !last)) {
        writer_head(&r->w, value->type, at->key, at->key_size);
        size_t start = writer_begin(&r->w);
        if (value->type == DOC_DOCUMENT)
            rewrite_elements(r, value, part);
        else if (last)
            rewrite_array_end(r, value);
        else
            rewrite_array(r, value, part);
        writer_end(&r->w, start);
    } else if (last && goes(r, value)) {
        writer_head(&r->w, DOC_NULL, at->key, at->key_size);
    } else {
        writer_copy(&r->w, at);
    }
}

/* rewrite_elements -- the elements of a document. */
static void rewrite_elements(rewriting *r, const doc_value *from, uint32_t part) {
    const path_part *name = &r->path->parts[part];
    doc_iter iter;
    for (doc_iter_value(&iter, from); doc_iter_next(&iter);) {
        if (iter.key_size == name->size && memcmp(iter.key, name->name, name->size) == 0)
            rewrite_value(r, &iter, part + 1);
        else
            writer_copy(&r->w, &iter);
    }
}

/* rewrite -- takes values out of `before`, by one reference. */
static tansu_status rewrite(nullifier *n, const snapshot *v, const reference *by, uint64_t *values,
                            tansu_error *error) {
    n->after.size = 0;
    rewriting r = {.w = {.out = &n->after},
                   .by = n,
                   .path = &by->path,
                   .target = snapshot_collection(v, by->to),
                   .error = error};
    const doc_value whole = {n->before.data, (uint32_t)n->before.size, DOC_DOCUMENT};
    size_t start = writer_begin(&r.w);
    rewrite_elements(&r, &whole, 0);
    if (!writer_finish(&r.w, start))
        return error_memory(error);
    if (r.status != TANSU_OK || r.values == 0)
        return r.status;
    const tansu_buffer swapped = n->before;
    n->before = n->after;
    n->after = swapped;
    *values += r.values;
    return TANSU_OK;
}

tansu_status nullify_document(nullifier *n, write_txn *wtxn, document_place place, uint64_t *values,
                              tansu_error *error) {
    const collection_state *state = snapshot_collection_by_id(wtxn->next, place.collection);
    const read_context v = write_txn_read_context(wtxn);
    doc_ref ref;
    uint32_t size;
    tansu_status status = read_find(&v, state, place.rid, &ref, error);
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    const uint8_t *doc = read_document(&v, ref, &size);
    if (!buffer_set(&n->before, doc, size))
        return error_memory(error);
    uint64_t taken = 0;
    for (uint32_t i = 0; status == TANSU_OK && i < state->references->count; i++)
        if (state->references->items[i].rule == DELETE_NULLIFY)
            status = rewrite(n, wtxn->next, &state->references->items[i], &taken, error);
    *values += taken;
    return status == TANSU_OK && taken != 0
               ? write_txn_save(wtxn, state->name, n->before.data, n->before.size, TANSU_REPLACE,
                                NULL, error)
               : status;
}

void nullifier_free(nullifier *n) {
    tansu_buffer_free(&n->before);
    tansu_buffer_free(&n->after);
}
