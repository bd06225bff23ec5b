/*
 * api/documents.c -- saving and removing documents.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "query/update.h"

#include <stdio.h>
#include <stdlib.h>

/* ids_begin -- opens {"ids": [ in `ids`. */
static bool ids_begin(tansu_buffer *ids) {
    static const uint8_t head[] = {0, 0, 0, 0, DOC_ARRAY, 'i', 'd', 's', 0, 0, 0, 0, 0};
    ids->size = 0;
    return buffer_append(ids, head, sizeof head);
}

/* ids_add -- one more `_id`. */
static bool ids_add(tansu_buffer *ids, size_t number, const doc_value *id) {
    char key[24];
    int length = snprintf(key, sizeof key, "%zu", number);
    return buffer_append_byte(ids, id->type) && buffer_append(ids, key, (size_t)length + 1) &&
           buffer_append(ids, id->data, id->size);
}

/* ids_end -- closes both levels and writes their sizes. */
static bool ids_end(tansu_buffer *ids) {
    if (!buffer_append(ids, "\0", 2))
        return false;
    store_u32(ids->data, (uint32_t)ids->size);
    store_u32(ids->data + 9, (uint32_t)(ids->size - 9 - 1));
    return true;
}

tansu_status tansu_save(tansu_db *db, tansu_txn *txn, const char *collection,
                        const tansu_document *documents, size_t count, tansu_save_mode mode,
                        tansu_buffer *ids, tansu_error *error) {
    if (collection == NULL || (documents == NULL && count != 0))
        return misuse(collection == NULL ? "collection" : "documents", error);
    if ((unsigned)mode > TANSU_REPLACE)
        return error_set(error, TANSU_E_MISUSE, "mode", "the save mode is not a tansu_save_mode");
    writing w;
    tansu_status status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    if (ids != NULL && !ids_begin(ids))
        status = error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < count; i++) {
        doc_value id;
        if (documents[i].data == NULL)
            status = misuse("document", error);
        else
            status = change_save(w.change, collection, documents[i].data, documents[i].size, mode,
                                 &id, error);
        if (status == TANSU_OK && ids != NULL && !ids_add(ids, i, &id))
            status = error_memory(error);
        if (status != TANSU_OK && error != NULL)
            error->offset = (int64_t)i;
    }
    if (status == TANSU_OK && ids != NULL && !ids_end(ids))
        status = error_memory(error);
    status = writing_end(&w, status, error);
    if (status != TANSU_OK && ids != NULL)
        ids->size = 0;
    return status;
}

tansu_status tansu_remove(tansu_db *db, tansu_txn *txn, const char *collection,
                          const void *query_bson, size_t query_size, const void *hints,
                          size_t hints_size, int64_t *removed, tansu_error *error) {
    if (collection == NULL)
        return misuse("collection", error);
    if (removed != NULL)
        *removed = 0;
    query *q;
    tansu_status status =
        query_compile(query_bson, query_size, hints, hints_size, txn_stop(txn), &q, error);
    if (status != TANSU_OK)
        return status;
    writing w;
    status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK) {
        query_free(q);
        return status;
    }
    uint64_t *docnos = NULL;
    size_t count = 0;
    const watch time = query_watch(q, w.interrupt);
    const collection_state *state = version_collection(w.change->next, collection);
    if (state != NULL) {
        view v = writing_view(&w);
        status = query_docnos(q, &v, state, &docnos, &count, error);
    }
    for (size_t i = 0; status == TANSU_OK && i < count; i++) {
        status = writing_check(&w, error);
        if (status == TANSU_OK && i % CHANGE_STEP == 0)
            status = watch_check(&time, error);
        if (status == TANSU_OK)
            status = change_remove(w.change, collection, docnos[i], error);
    }
    free(docnos);
    query_free(q);
    status = writing_end(&w, status, error);
    if (status == TANSU_OK && removed != NULL)
        *removed = (int64_t)count;
    return status;
}

/* first_value -- the `_id` that a call names: the first value of a document. */
static tansu_status first_value(const void *bson, size_t size, doc_value *id, tansu_error *error) {
    tansu_status status = check_bson(bson, size, false, "id", error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    if (!doc_iter_init(&iter, bson, size) || !doc_iter_next(&iter))
        return error_set(error, TANSU_E_INVALID_ID, "_id",
                         "the id document is empty: pass one like {\"_id\": 7}");
    *id = iter.value;
    return doc_check_id(id, error);
}

tansu_status tansu_remove_id(tansu_db *db, tansu_txn *txn, const char *collection, const void *id,
                             size_t id_size, int *removed, tansu_error *error) {
    if (collection == NULL)
        return misuse("collection", error);
    if (removed != NULL)
        *removed = 0;
    doc_value value;
    tansu_status status = first_value(id, id_size, &value, error);
    if (status != TANSU_OK)
        return status;
    writing w;
    status = writing_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bool found = false;
    uint64_t docno;
    const collection_state *state = version_collection(w.change->next, collection);
    if (state != NULL)
        status = change_find_id(w.change->db->trees, state, &value, &w.change->key, &found, &docno,
                                error);
    if (status == TANSU_OK && found)
        status = change_remove(w.change, collection, docno, error);
    status = writing_end(&w, status, error);
    if (status == TANSU_OK && removed != NULL)
        *removed = found;
    return status;
}

tansu_status tansu_get(tansu_db *db, tansu_txn *txn, const char *collection, const void *id,
                       size_t id_size, tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || result == NULL)
        return misuse(result == NULL ? "result" : "collection", error);
    result->size = 0;
    doc_value value;
    tansu_status status = first_value(id, id_size, &value, error);
    if (status != TANSU_OK)
        return status;
    reading r;
    status = reading_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bool found = false;
    uint64_t docno;
    const collection_state *state = version_collection(r.version, collection);
    if (state != NULL) {
        /* The result's memory serves for the key first: a call that is used again and again then
         * allocates nothing. */
        status = change_find_id(r.view.trees, state, &value, result, &found, &docno, error);
        result->size = 0;
    }
    doc_ref ref;
    if (status == TANSU_OK && found)
        view_prefetch(&r.view, state, &docno, 1, 0); /* the lines behind the record's first */
    if (status == TANSU_OK)
        status = found ? view_find(&r.view, state, docno, &ref, error) : TANSU_DONE;
    if (status == TANSU_OK) {
        uint32_t size;
        const uint8_t *doc = view_document(&r.view, ref, &size);
        if (!buffer_set(result, doc, size))
            status = error_memory(error);
    } else if (status == TANSU_DONE) {
        status = error_set(error, TANSU_E_NOT_FOUND, "_id", "'%s' has no document with this `_id`",
                           collection);
    }
    return reading_end(&r, status, error);
}
