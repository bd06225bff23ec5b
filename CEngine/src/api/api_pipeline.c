/*
 * api/api_pipeline.c -- pipelines, and writing what $out and $merge name.
 */
#include "api/handles.h"
#include "bson/value.h"
#include "bson/writer.h"
#include "query/pipeline/pipeline.h"
#include "query/util/key_set.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* open_cursor -- a cursor over a compiled pipeline, which it takes. */
static tansu_status open_cursor(tansu_db *db, tansu_txn *txn, pipeline *p, tansu_cursor **cursor,
                                tansu_error *error) {
    read_call r;
    tansu_cursor *c = zeroed_alloc(sizeof *c);
    if (c == NULL) {
        pipeline_free(p);
        return error_memory(error);
    }
    c->pipeline = p;
    tansu_status status = cursor_begin(c, db, txn, &r, error);
    if (status != TANSU_OK) {
        pipeline_free(p);
        free(c);
        return status;
    }
    status = pipeline_start(p, r.snapshot, &c->rctx, error);
    return cursor_open(c, txn, status, cursor, error);
}

/* open_empty -- a cursor that has no documents. */
static tansu_status open_empty(tansu_db *db, tansu_txn *txn, tansu_cursor **cursor,
                               tansu_error *error) {
    tansu_buffer stages = TANSU_BUFFER_INIT;
    writer w = {.out = &stages};
    pipeline *p = NULL;
    size_t start = writer_begin(&w);
    size_t stage = writer_open_index(&w, 0, DOC_DOCUMENT);
    writer_end(&w, writer_open(&w, "$documents", DOC_ARRAY));
    writer_end(&w, stage);
    writer_end(&w, start);
    tansu_status status = w.failed
                              ? error_memory(error)
                              : pipeline_compile(NULL, (pipeline_text){stages.data, stages.size},
                                                 (pipeline_text){NULL, 0}, NULL, &p, error);
    tansu_buffer_free(&stages);
    return status == TANSU_OK ? open_cursor(db, txn, p, cursor, error) : status;
}

/* ---- $out and $merge ---- */

/* Writing the documents of a pipeline. */
typedef struct writing {
    tansu_db *db;
    tansu_txn *txn;
    const pipeline_output *to;
    pipeline *pipeline;
    tansu_error *error;
    tansu_buffer query;
    tansu_buffer existing;
    tansu_buffer made;
    tansu_buffer piped;
    tansu_buffer key;
    arena memory;
    key_set written; /* of $out: the `_id`s */
} writing;

/* document_of -- a buffer as a document. */
static tansu_document document_of(const tansu_buffer *buffer) {
    return (tansu_document){buffer->data, buffer->size};
}

/* has_fields -- whether the keys of an index are the fields of "on", in any order. */
static bool has_fields(const pipeline_output *to, const doc_value *keys) {
    doc_iter iter;
    uint32_t count = 0;
    for (doc_iter_value(&iter, keys); doc_iter_next(&iter); count++) {
        bool known = false;
        for (uint32_t i = 0; i < to->on_count; i++)
            known = known || strcmp(to->on[i], iter.key) == 0;
        if (!known)
            return false;
    }
    return count == to->on_count;
}

/* check_unique -- whether "on" is the `_id` or has a unique index of all documents. */
static tansu_status check_unique(const writing *w) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    doc_value indexes, keys, value;
    doc_iter iter;
    bool found = w->to->on_count == 1 && strcmp(w->to->on[0], "_id") == 0;
    if (found)
        return TANSU_OK;
    tansu_status status = tansu_index_list(w->db, w->txn, w->to->collection, &list, w->error);
    if (status == TANSU_E_NOT_FOUND)
        status = TANSU_OK;
    if (status == TANSU_OK && list.size != 0 &&
        doc_find(list.data, list.size, "indexes", 7, &indexes)) {
        for (doc_iter_value(&iter, &indexes); !found && doc_iter_next(&iter);) {
            const doc_value *index = &iter.value;
            bool unique = doc_find(index->data, index->size, "unique", 6, &value) &&
                          value.type == DOC_BOOL && doc_bool(&value) &&
                          !doc_find(index->data, index->size, "partialFilter", 13, &value);
            found = unique && doc_find(index->data, index->size, "keys", 4, &keys) &&
                    has_fields(w->to, &keys);
        }
    }
    tansu_buffer_free(&list);
    if (status == TANSU_OK && !found)
        status = error_set(w->error, TANSU_E_INVALID_QUERY, "$merge.on",
                           "Collection \"%s\" has no unique index on the fields of \"on\"; create "
                           "one",
                           w->to->collection);
    return status;
}

/* put_on -- the query for the existing document. TANSU_DONE: the document has no `_id`, so there is
 * none. */
static tansu_status put_on(writing *w, tansu_document document) {
    const pipeline_output *to = w->to;
    writer q = {.out = &w->query};
    w->query.size = 0;
    size_t start = writer_begin(&q);
    for (uint32_t i = 0; i < to->on_count; i++) {
        doc_value at = {document.data, (uint32_t)document.size, DOC_DOCUMENT};
        for (const char *name = to->on[i]; at.type == DOC_DOCUMENT;) {
            size_t size = strcspn(name, ".");
            doc_find(at.data, at.size, name, size, &at);
            if (name[size] == '\0')
                break;
            name += size + 1;
            if (at.type != DOC_DOCUMENT && at.type != DOC_ARRAY)
                at.type = DOC_MISSING;
        }
        bool id = strcmp(to->on[i], "_id") == 0;
        if (at.type == DOC_MISSING && id)
            return TANSU_DONE;
        if (at.type == DOC_MISSING || (at.type == DOC_NULL && !id) || at.type == DOC_UNDEFINED ||
            at.type == DOC_ARRAY)
            return error_set(w->error, TANSU_E_INVALID_QUERY, to->on[i],
                             "A document to merge has no value here, or null, or an array");
        size_t field = writer_open(&q, to->on[i], DOC_DOCUMENT);
        writer_value(&q, "$eq", &at);
        writer_end(&q, field);
    }
    writer_end(&q, start);
    return q.failed ? error_memory(w->error) : TANSU_OK;
}

/* find_existing -- the document that is the same by "on", in w->existing. TANSU_DONE: none. */
static tansu_status find_existing(writing *w, tansu_document document) {
    tansu_cursor *cursor;
    tansu_document found;
    tansu_status status = put_on(w, document);
    if (status == TANSU_OK)
        status = tansu_find(w->db, w->txn, w->to->collection, document_of(&w->query),
                            TANSU_NO_DOCUMENT, &cursor, w->error);
    if (status != TANSU_OK)
        return status;
    status = tansu_cursor_next(cursor, &found, w->error);
    if (status == TANSU_OK && !buffer_set(&w->existing, found.data, found.size))
        status = error_memory(w->error);
    tansu_cursor_close(cursor);
    return status;
}

/* put_merged -- the fields of the existing document, and those of the other instead or after. */
static bool put_merged(writing *w, tansu_document document) {
    writer out = {.out = &w->made};
    doc_iter iter;
    doc_value value;
    w->made.size = 0;
    size_t start = writer_begin(&out);
    for (doc_iter_init(&iter, w->existing.data, w->existing.size); doc_iter_next(&iter);) {
        if (doc_find(document.data, document.size, iter.key, iter.key_size, &value))
            writer_element(&out, iter.key, iter.key_size, &value);
        else
            writer_copy(&out, &iter);
    }
    for (doc_iter_init(&iter, document.data, document.size); doc_iter_next(&iter);) {
        if (!doc_find(w->existing.data, w->existing.size, iter.key, iter.key_size, &value))
            writer_copy(&out, &iter);
    }
    writer_end(&out, start);
    return !out.failed;
}

/* save_made -- w->made in the place of the existing document, whose `_id` it must keep. */
static tansu_status save_made(writing *w) {
    doc_value before, after;
    bool is = doc_find_id(w->existing.data, w->existing.size, &before) &&
              doc_find_id(w->made.data, w->made.size, &after);
    if (!is || before.size != after.size || before.type != after.type ||
        memcmp(before.data, after.data, before.size) != 0)
        return error_set(w->error, TANSU_E_INVALID_ID, "$merge",
                         "A document would change the \"_id\" of the one that it is merged into; "
                         "leave it out by $unset");
    return tansu_save_one(w->db, w->txn, w->to->collection, document_of(&w->made), TANSU_SAVE, NULL,
                          w->error);
}

/* merge -- one document of $merge. */
static tansu_status merge(writing *w, tansu_document document) {
    tansu_status status = find_existing(w, document);
    if (status == TANSU_DONE) {
        switch (w->to->when_not_matched) {
        case NOT_MATCHED_DISCARD: return TANSU_OK;
        case NOT_MATCHED_FAIL:
            return error_set(w->error, TANSU_E_NOT_FOUND, "$merge.whenNotMatched",
                             "A document has no match in collection \"%s\"", w->to->collection);
        case NOT_MATCHED_INSERT: break;
        }
        return tansu_save_one(w->db, w->txn, w->to->collection, document, TANSU_INSERT, NULL,
                              w->error);
    }
    if (status != TANSU_OK)
        return status;
    switch (w->to->when_matched) {
    case MATCHED_KEEP: return TANSU_OK;
    case MATCHED_FAIL:
        return error_set(w->error, TANSU_E_EXISTS, "$merge.whenMatched",
                         "A document has a match in collection \"%s\"", w->to->collection);
    case MATCHED_PIPELINE:
        status = pipeline_merge_matched(w->pipeline, document, document_of(&w->existing), &w->piped,
                                        w->error);
        if (status == TANSU_OK &&
            !writer_keep_id(&w->made, document_of(&w->piped), document_of(&w->existing)))
            status = error_memory(w->error);
        break;
    case MATCHED_REPLACE:
        status = writer_keep_id(&w->made, document, document_of(&w->existing))
                     ? TANSU_OK
                     : error_memory(w->error);
        break;
    case MATCHED_MERGE: status = put_merged(w, document) ? TANSU_OK : error_memory(w->error); break;
    }
    return status == TANSU_OK ? save_made(w) : status;
}

/* is_new -- whether an `_id` is not yet among those that were written, to which it is added. */
static tansu_status is_new(writing *w, const doc_value *id, bool add, bool *fresh) {
    size_t used = 0;
    w->key.size = 0;
    if (!value_key(&w->key, id, false))
        return error_memory(w->error);
    if (!add) {
        *fresh = key_set_find_key(&w->written, w->key.data, w->key.size) == NULL;
        return TANSU_OK;
    }
    return key_set_add(&w->written, &w->memory, w->key.data, w->key.size, sizeof(key_set_item),
                       fresh, &used) != NULL
               ? TANSU_OK
               : error_memory(w->error);
}

/* put -- one document of $out. What is there of the same `_id` is replaced, so that references to it
 * hold. */
static tansu_status put(writing *w, tansu_document document) {
    doc_value id;
    bool fresh = false;
    tansu_status status =
        tansu_save_one(w->db, w->txn, w->to->collection, document, TANSU_SAVE, &w->made, w->error);
    if (status != TANSU_OK)
        return status;
    doc_find_id(w->made.data, w->made.size, &id);
    status = is_new(w, &id, true, &fresh);
    if (status == TANSU_OK && !fresh)
        status = error_set(w->error, TANSU_E_EXISTS, "$out", "Two documents have one \"_id\"");
    return status;
}

/* remove_others -- removes what the collection of $out has besides. */
static tansu_status remove_others(writing *w) {
    tansu_cursor *cursor;
    tansu_document document;
    tansu_status status = tansu_find(w->db, w->txn, w->to->collection, TANSU_NO_DOCUMENT,
                                     TANSU_NO_DOCUMENT, &cursor, w->error);
    if (status != TANSU_OK)
        return status;
    while ((status = tansu_cursor_next(cursor, &document, w->error)) == TANSU_OK) {
        doc_value id;
        bool other = false;
        doc_find_id(document.data, document.size, &id);
        status = is_new(w, &id, false, &other);
        if (status == TANSU_OK)
            status = pipeline_check(w->pipeline, w->error);
        if (status == TANSU_OK && other) {
            if (!writer_single(&w->query, "_id", &id))
                status = error_memory(w->error);
            else
                status = tansu_remove_id(w->db, w->txn, w->to->collection, document_of(&w->query),
                                         NULL, w->error);
        }
        if (status != TANSU_OK)
            break;
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* write_all -- reads the pipeline to its end, and writes. */
static tansu_status write_all(writing *w, tansu_cursor *cursor) {
    tansu_document document;
    const char *collection = w->to->collection;
    tansu_status status = w->to->kind == OUTPUT_MERGE ? check_unique(w) : TANSU_OK;
    tansu_status first = TANSU_DONE;
    if (status == TANSU_OK)
        first = tansu_cursor_next(cursor, &document, w->error);
    if (status == TANSU_OK && first != TANSU_OK && first != TANSU_DONE)
        status = first;
    if (status == TANSU_OK && w->to->kind == OUTPUT_REPLACE)
        status = tansu_collection_ensure(w->db, w->txn, collection, TANSU_NO_DOCUMENT, w->error);
    for (; status == TANSU_OK && first == TANSU_OK;) {
        status = w->to->kind == OUTPUT_MERGE ? merge(w, document) : put(w, document);
        if (status == TANSU_OK)
            first = tansu_cursor_next(cursor, &document, w->error);
        if (first != TANSU_OK && first != TANSU_DONE)
            status = first;
    }
    if (status == TANSU_OK && w->to->kind == OUTPUT_REPLACE)
        status = remove_others(w);
    return status;
}

/* run_output -- runs a pipeline that writes, in the transaction or in one of its own. */
static tansu_status run_output(tansu_db *db, tansu_txn *txn, pipeline *p, tansu_error *error) {
    tansu_txn *own = NULL;
    tansu_cursor *cursor = NULL;
    tansu_status status = TANSU_OK;
    if (txn == NULL)
        status = tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &own, error);
    if (status != TANSU_OK) {
        pipeline_free(p);
        return status;
    }
    writing w = {.db = db,
                 .txn = txn != NULL ? txn : own,
                 .to = pipeline_get_output(p),
                 .pipeline = p,
                 .error = error};
    /* In a transaction of the caller an error undoes this call alone. */
    if (own == NULL)
        status = tansu_savepoint_begin(txn, error);
    if (status == TANSU_OK)
        status = open_cursor(db, w.txn, p, &cursor, error);
    else
        pipeline_free(p);
    if (status == TANSU_OK)
        status = write_all(&w, cursor);
    tansu_cursor_close(cursor);
    tansu_buffer_free(&w.query);
    tansu_buffer_free(&w.existing);
    tansu_buffer_free(&w.made);
    tansu_buffer_free(&w.piped);
    tansu_buffer_free(&w.key);
    arena_free(&w.memory);
    if (own == NULL && status == TANSU_OK)
        return tansu_savepoint_release(txn, error);
    if (own == NULL)
        tansu_savepoint_roll_back(txn, NULL);
    else if (status == TANSU_OK)
        return tansu_txn_commit(own, NULL, error);
    else
        tansu_txn_abort(own);
    return status;
}

/* run -- tansu_pipeline() without the slow-operation log. */
static tansu_status run(tansu_db *db, tansu_txn *txn, const char *collection, tansu_document stages,
                        tansu_document hints, tansu_cursor **cursor, tansu_error *error) {
    pipeline *p;
    if (cursor == NULL)
        return null_argument("cursor", error);
    *cursor = NULL;
    if (db == NULL || stages.data == NULL)
        return null_argument(db == NULL ? "db" : "stages", error);
    tansu_status status =
        pipeline_compile(collection, (pipeline_text){stages.data, stages.size},
                         (pipeline_text){hints.data, hints.size}, txn_stop(txn), &p, error);
    if (status != TANSU_OK)
        return status;
    if (pipeline_get_output(p) == NULL)
        return open_cursor(db, txn, p, cursor, error);
    status = run_output(db, txn, p, error);
    return status == TANSU_OK ? open_empty(db, txn, cursor, error) : status;
}

tansu_status tansu_pipeline(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_document stages, tansu_document hints, tansu_cursor **cursor,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    tansu_status status = run(db, txn, collection, stages, hints, cursor, error);
    return cursor_log(&timer, TANSU_LOG_PIPELINE, status, collection, stages, hints, cursor, error);
}
