/*
 * api/api_write.c -- saving and removing documents.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "query/update/update.h"
#include "rules/rules.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* check_save -- INVALID_ARGUMENT for a save without a collection or of an unknown mode. */
static tansu_status check_save(const char *collection, tansu_save_mode mode, tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    return (unsigned)mode <= TANSU_COPY
               ? TANSU_OK
               : error_set(error, TANSU_E_INVALID_ARGUMENT, "mode",
                           "The save mode is out of range; use a value of tansu_save_mode");
}

/* save_document -- saves one document of a call; *id is valid until the next. */
static tansu_status save_document(const write_call *w, const char *collection,
                                  tansu_document document, tansu_save_mode mode, doc_value *id,
                                  tansu_error *error) {
    if (document.data == NULL)
        return null_argument("document", error);
    return write_txn_save(w->wtxn, collection, document.data, document.size, mode,
                          mode == TANSU_COPY ? SAVE_COPY : 0, id, error);
}

/* save_one -- tansu_save_one() without the slow-operation log. */
static tansu_status save_one(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document document, tansu_save_mode mode, tansu_buffer *id,
                             tansu_error *error) {
    if (id != NULL)
        id->size = 0;
    tansu_status status = check_save(collection, mode, error);
    write_call w;
    if (status == TANSU_OK)
        status = write_call_begin_saves(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    doc_value saved;
    status = save_document(&w, collection, document, mode, &saved, error);
    if (status == TANSU_OK && id != NULL && !writer_single(id, "_id", &saved))
        status = error_memory(error);
    status = write_call_end(&w, status, error);
    if (status != TANSU_OK && id != NULL)
        id->size = 0;
    return status;
}

tansu_status tansu_save_one(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_document document, tansu_save_mode mode, tansu_buffer *id,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_SAVE,
                        save_one(db, txn, collection, document, mode, id, error), collection,
                        TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT);
}

/* save -- tansu_save() without the slow-operation log. */
static tansu_status save(tansu_db *db, tansu_txn *txn, const char *collection,
                         const tansu_document *documents, size_t count, tansu_save_mode mode,
                         tansu_buffer *ids, tansu_error *error) {
    tansu_status status = check_save(collection, mode, error);
    if (status == TANSU_OK && documents == NULL && count != 0)
        status = null_argument("documents", error);
    write_call w;
    if (status == TANSU_OK)
        status = write_call_begin_saves(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    writer out = {.out = ids, .limit = INT32_MAX};
    size_t document = 0, list = 0;
    if (ids != NULL) {
        ids->size = 0;
        document = writer_begin(&out);
        list = writer_open(&out, "ids", DOC_ARRAY);
    }
    for (size_t i = 0; status == TANSU_OK && i < count; i++) {
        doc_value id;
        status = save_document(&w, collection, documents[i], mode, &id, error);
        if (status == TANSU_OK && ids != NULL)
            writer_index_value(&out, (uint32_t)i, &id);
        if (out.failed)
            status = error_memory(error);
        if (status != TANSU_OK && error != NULL)
            error->offset = (int64_t)i;
    }
    if (status == TANSU_OK && ids != NULL) {
        writer_end(&out, list);
        status = writer_finish(&out, document) ? TANSU_OK : error_memory(error);
    }
    status = write_call_end(&w, status, error);
    if (status != TANSU_OK && ids != NULL)
        ids->size = 0;
    return status;
}

tansu_status tansu_save(tansu_db *db, tansu_txn *txn, const char *collection,
                        const tansu_document *documents, size_t count, tansu_save_mode mode,
                        tansu_buffer *ids, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_SAVE,
                        save(db, txn, collection, documents, count, mode, ids, error), collection,
                        TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT);
}

/* refuse_asking -- the error for hints by which a call asks and removes nothing. */
static tansu_status refuse_asking(tansu_document hints, tansu_error *error) {
    static const char *const asking[] = {"$explain", "$onlycount"};
    for (size_t i = 0; i < sizeof asking / sizeof *asking && hints.data != NULL; i++) {
        char context[32];
        doc_value value;
        bool asks;
        if (!doc_find(hints.data, hints.size, asking[i], strlen(asking[i]), &value) ||
            (doc_as_bool(&value, &asks) && !asks))
            continue;
        snprintf(context, sizeof context, "hints.%s", asking[i]);
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "The hint \"%s\" is not allowed in this call", asking[i]);
    }
    return TANSU_OK;
}

/* remove_matches -- tansu_remove() without the slow-operation log. */
static tansu_status remove_matches(tansu_db *db, tansu_txn *txn, const char *collection,
                                   tansu_document query_bson, tansu_document hints,
                                   int64_t *removed, tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    if (removed != NULL)
        *removed = 0;
    query *q;
    tansu_status status = refuse_asking(hints, error);
    if (status != TANSU_OK)
        return status;
    status = query_compile(query_bson.data, query_bson.size, hints.data, hints.size, txn_stop(txn),
                           &q, error);
    if (status != TANSU_OK)
        return status;
    write_call w;
    status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK) {
        query_free(q);
        return status;
    }
    uint64_t *rids = NULL;
    size_t count = 0;
    const deadline time = query_deadline(q, w.interrupt);
    const collection_state *state;
    status = snapshot_find(w.wtxn->next, collection, &state, error);
    if (state != NULL) {
        read_context v = write_call_read_context(&w);
        status = query_resolve(q, w.wtxn->next, &v, state, false, error);
        if (status == TANSU_OK)
            status = query_rids(q, &v, state, &rids, &count, error);
    }
    if (status == TANSU_OK)
        status = delete_rules_remove(w.wtxn, collection, rids, count, &time, error);
    if (status == TANSU_OK)
        status = deadline_check(&time, error);
    free(rids);
    query_free(q);
    status = write_call_end(&w, status, error);
    if (status == TANSU_OK && removed != NULL)
        *removed = (int64_t)count;
    return status;
}

tansu_status tansu_remove(tansu_db *db, tansu_txn *txn, const char *collection,
                          tansu_document query_bson, tansu_document hints, int64_t *removed,
                          tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_REMOVE,
                        remove_matches(db, txn, collection, query_bson, hints, removed, error),
                        collection, query_bson, hints);
}

/* remove_found -- removes one document, by the delete rules if there are some. */
static tansu_status remove_found(const write_call *w, const char *collection, uint64_t rid,
                                 tansu_error *error) {
    tansu_status status = write_call_check(w, error);
    if (status != TANSU_OK)
        return status;
    if (!delete_rules_concern(w->wtxn->next, collection))
        return write_txn_remove(w->wtxn, collection, rid, error);
    status = write_txn_flush(w->wtxn, error);
    const deadline time = deadline_begin(w->interrupt, 0);
    return status == TANSU_OK ? delete_rules_remove(w->wtxn, collection, &rid, 1, &time, error)
                              : status;
}

/* remove_id -- tansu_remove_id() without the slow-operation log. */
static tansu_status remove_id(tansu_db *db, tansu_txn *txn, const char *collection,
                              tansu_document id, int *removed, tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    if (removed != NULL)
        *removed = 0;
    doc_value value;
    tansu_status status = id_value(id, &value, error);
    if (status != TANSU_OK)
        return status;
    write_call w;
    status = write_call_begin_saves(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bool found = false;
    uint64_t rid;
    const collection_state *state;
    status = snapshot_find(w.wtxn->next, collection, &state, error);
    if (state != NULL)
        status = write_txn_look_up_id(w.wtxn, state, &value, &found, &rid, error);
    if (status == TANSU_OK && found)
        status = remove_found(&w, collection, rid, error);
    status = write_call_end(&w, status, error);
    if (status == TANSU_OK && removed != NULL)
        *removed = found;
    return status;
}

tansu_status tansu_remove_id(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document id, int *removed, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_REMOVE,
                        remove_id(db, txn, collection, id, removed, error), collection, id,
                        TANSU_NO_DOCUMENT);
}
