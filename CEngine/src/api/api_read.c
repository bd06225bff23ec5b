/*
 * api/api_read.c -- reading documents: by id, with a cursor, counting them, explaining a query.
 */
#include "api/handles.h"
#include "bson/value.h"
#include "bson/writer.h"
#include "query/util/deadline.h"
#include "store/handle.h"
#include "store/index_backlog/index_backlog.h"
#include "store/open/instances.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One document ---- */

/* get -- tansu_get() without the slow-operation log. */
static tansu_status get(tansu_db *db, tansu_txn *txn, const char *collection, tansu_document id,
                        tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || result == NULL)
        return null_argument(result == NULL ? "result" : "collection", error);
    result->size = 0;
    doc_value value;
    tansu_status status = id_value(id, &value, error);
    if (status != TANSU_OK)
        return status;
    read_call r;
    status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    bool found = false;
    uint64_t rid;
    const collection_state *state;
    status = snapshot_find(r.snapshot, collection, &state, error);
    if (state != NULL) {
        /* The result's memory serves for the key first: a call that is used again and again then
         * allocates nothing. */
        status = write_txn_find_id(r.rctx.trees, state, &value, result, &found, &rid, error);
        result->size = 0;
    }
    doc_ref ref;
    const uint8_t *doc;
    uint32_t size;
    if (status == TANSU_OK)
        status =
            found ? read_find_document(&r.rctx, state, rid, &ref, &doc, &size, error) : TANSU_DONE;
    if (status == TANSU_OK) {
        if (!buffer_set(result, doc, size))
            status = error_memory(error);
    } else if (status == TANSU_DONE) {
        status = error_set(error, TANSU_E_NOT_FOUND, "_id",
                           "Collection \"%s\" has no document with this \"_id\"", collection);
    }
    return read_call_end(&r, status, error);
}

tansu_status tansu_get(tansu_db *db, tansu_txn *txn, const char *collection, tansu_document id,
                       tansu_buffer *result, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_GET, get(db, txn, collection, id, result, error),
                        collection, id, TANSU_NO_DOCUMENT);
}

/* ---- Cursors ---- */

/* cursor_check -- the status of a step, or IO when a page that it read was lost. */
static tansu_status cursor_check(tansu_cursor *c, tansu_status status, tansu_error *error) {
    const log *l = c->db->log;
    if (log_faults(l) == c->faults)
        return status;
    c->faults = log_faults(l);
    return log_read_error(l, error);
}

tansu_status cursor_begin(tansu_cursor *c, tansu_db *db, tansu_txn *txn, read_call *r,
                          tansu_error *error) {
    *r = (read_call){0};
    tansu_status status = read_call_begin(r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = handle_acquire(r->db, error);
    if (status != TANSU_OK) {
        read_call_end(r, status, NULL);
        return status;
    }
    c->db = r->db;
    c->snapshot = r->held;
    if (r->entered)
        database_leave(r->db);
    c->rctx = r->rctx;
    if (r->held != NULL || txn->wtxn == NULL) /* otherwise they end with the transaction */
        c->rctx.pins = &c->pins;
    c->interrupt.outer = r->rctx.interrupt;
    c->rctx.interrupt = &c->interrupt;
    c->faults = r->faults;
    return TANSU_OK;
}

tansu_status cursor_open(tansu_cursor *c, tansu_txn *txn, tansu_status status,
                         tansu_cursor **cursor, tansu_error *error) {
    status = cursor_check(c, status, error);
    if (status != TANSU_OK) {
        tansu_cursor_close(c);
        return status;
    }
    if (txn != NULL) {
        c->txn = txn;
        c->number = ++txn->opened;
        c->next = txn->first;
        if (c->next != NULL)
            c->next->previous = c;
        txn->first = c;
        txn->cursors++;
    }
    *cursor = c;
    return TANSU_OK;
}

/* keep -- a copy of a document, which may be {NULL, 0}. */
static bool keep(tansu_buffer *copy, tansu_document document) {
    return document.data == NULL || buffer_set(copy, document.data, document.size);
}

tansu_status cursor_log(const slow_log *timer, tansu_log_kind kind, tansu_status status,
                        const char *collection, tansu_document query_bson, tansu_document hints,
                        tansu_cursor **cursor, tansu_error *error) {
    if (timer->function == NULL)
        return status;
    if (status != TANSU_OK)
        return slow_log_end(timer, kind, status, collection, query_bson, hints);
    tansu_cursor *c = *cursor;
    c->collection = collection != NULL ? strdup(collection) : NULL;
    if ((c->collection == NULL && collection != NULL) || !keep(&c->query_bson, query_bson) ||
        !keep(&c->hints_bson, hints)) {
        tansu_cursor_close(c);
        *cursor = NULL;
        return error_memory(error);
    }
    c->log_kind = kind;
    c->slow_log = *timer;
    c->nanoseconds = clock_now() - timer->began;
    return TANSU_OK;
}

/* find -- tansu_find() without the slow-operation log. */
static tansu_status find(tansu_db *db, tansu_txn *txn, const char *collection,
                         tansu_document query_bson, tansu_document hints, tansu_cursor **cursor,
                         tansu_error *error) {
    if (collection == NULL || cursor == NULL)
        return null_argument(cursor == NULL ? "cursor" : "collection", error);
    *cursor = NULL;
    if (db == NULL)
        return null_argument("db", error);
    tansu_cursor *c = zeroed_alloc(sizeof *c);
    if (c == NULL)
        return error_memory(error);
    read_call r;
    tansu_status status = query_compile(query_bson.data, query_bson.size, hints.data, hints.size,
                                        txn_stop(txn), &c->query, error);
    if (status == TANSU_OK)
        status = cursor_begin(c, db, txn, &r, error);
    if (status != TANSU_OK) {
        query_free(c->query);
        free(c);
        return status;
    }
    const collection_state *state;
    status = snapshot_find(r.snapshot, collection, &state, error);
    if (status == TANSU_OK)
        status = query_resolve(c->query, r.snapshot, &c->rctx, state, false, error);
    if (status == TANSU_OK)
        status = query_start(c->query, r.snapshot, &c->rctx, state, &c->run, error);
    return cursor_open(c, txn, status, cursor, error);
}

tansu_status tansu_find(tansu_db *db, tansu_txn *txn, const char *collection,
                        tansu_document query_bson, tansu_document hints, tansu_cursor **cursor,
                        tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    tansu_status status = find(db, txn, collection, query_bson, hints, cursor, error);
    return cursor_log(&timer, TANSU_LOG_FIND, status, collection, query_bson, hints, cursor, error);
}

/* cursor_step -- tansu_cursor_next() without the slow-operation log. Inline, since it is called for
 * each document. */
static inline __attribute__((always_inline)) tansu_status
cursor_step(tansu_cursor *cursor, tansu_document *document, tansu_error *error) {
    if (cursor == NULL || document == NULL)
        return null_argument(cursor == NULL ? "cursor" : "document", error);
    if (fork_happened(cursor->db->opened_in))
        return handle_check_process(cursor->db, error);
    if (cursor->txn != NULL && cursor->txn->ended)
        return error_set(error, TANSU_E_INVALID_STATE, "cursor",
                         "The transaction of the cursor has ended; open a new cursor");
    if (cursor->undone)
        return error_set(error, TANSU_E_INVALID_STATE, "cursor",
                         "The savepoint of the cursor was rolled back; open a new cursor");
    if (interrupt_asked(&cursor->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "cursor", "The cursor was cancelled");
    tansu_status status = instance_pins_check(
        cursor->db, cursor->txn != NULL ? cursor->txn->snapshot : cursor->snapshot, error);
    if (status != TANSU_OK)
        return cursor->done ? TANSU_DONE : status;
    status = cursor->run != NULL ? query_next(cursor->run, document, error)
                                 : pipeline_next(cursor->pipeline, document, error);
    /* The frame of a write transaction may move at its next write, and the document in it. */
    if (status == TANSU_OK && cursor->txn != NULL && cursor->txn->wtxn != NULL) {
        if (!buffer_set(&cursor->copy, document->data, document->size))
            return error_memory(error);
        document->data = cursor->copy.data;
    } else if (status == TANSU_OK) {
        guard_touch(document->data, document->size);
    } else {
        cursor->done = cursor->done || status == TANSU_DONE;
    }
    return cursor_check(cursor, status, error);
}

/* measured_step -- a step for the slow-operation log. */
static __attribute__((noinline)) tansu_status
measured_step(tansu_cursor *cursor, tansu_document *document, tansu_error *error) {
    clock_time began = clock_now();
    cursor->status = cursor_step(cursor, document, error);
    cursor->nanoseconds += clock_now() - began;
    return cursor->status;
}

tansu_status tansu_cursor_next(tansu_cursor *cursor, tansu_document *document, tansu_error *error) {
    if (cursor != NULL && cursor->slow_log.function != NULL)
        return measured_step(cursor, document, error);
    return cursor_step(cursor, document, error);
}

void tansu_cursor_cancel(tansu_cursor *cursor) {
    if (cursor != NULL)
        interrupt_ask(&cursor->interrupt);
}

void tansu_cursor_end_timeout(tansu_cursor *cursor) {
    if (cursor == NULL || handle_inherited(cursor->db))
        return;
    if (cursor->run != NULL)
        query_end_timeout(cursor->run);
    else
        pipeline_end_timeout(cursor->pipeline);
}

void tansu_cursor_close(tansu_cursor *cursor) {
    if (cursor == NULL || handle_inherited(cursor->db))
        return;
    database *db = cursor->db;
    query_end(cursor->run);
    query_free(cursor->query);
    pipeline_free(cursor->pipeline);
    buffer_free(&cursor->copy);
    log_pins_release(&cursor->pins);
    if (cursor->snapshot != NULL)
        snapshot_release(db, cursor->snapshot);
    tansu_txn *txn = cursor->txn;
    if (cursor->next != NULL)
        cursor->next->previous = cursor->previous;
    if (cursor->previous != NULL)
        cursor->previous->next = cursor->next;
    else if (txn != NULL)
        txn->first = cursor->next;
    if (cursor->slow_log.function != NULL)
        slow_log_report(&cursor->slow_log, cursor->nanoseconds, cursor->log_kind, cursor->status,
                        cursor->collection,
                        (tansu_document){cursor->query_bson.data, cursor->query_bson.size},
                        (tansu_document){cursor->hints_bson.data, cursor->hints_bson.size});
    free(cursor->collection);
    buffer_free(&cursor->query_bson);
    buffer_free(&cursor->hints_bson);
    free(cursor);
    if (txn != NULL && --txn->cursors == 0 && txn->ended) {
        /* The transaction was aborted before: this was the last that knew of it. */
        if (txn->snapshot != NULL)
            snapshot_release(db, txn->snapshot);
        free(txn);
        handle_release(db);
    }
    handle_release(db);
}

/* with_query -- compiles, begins reading and hands over to `user`. `explained`: of subqueries. */
typedef tansu_status (*query_user)(void *context, const query *q, const read_context *v,
                                   const collection_state *collection, tansu_error *error);

static tansu_status with_query(tansu_db *db, tansu_txn *txn, const char *collection,
                               tansu_document query_bson, tansu_document hints, bool explained,
                               query_user user, void *context, tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    query *q;
    tansu_status status = query_compile(query_bson.data, query_bson.size, hints.data, hints.size,
                                        txn_stop(txn), &q, error);
    if (status != TANSU_OK)
        return status;
    read_call r;
    status = read_call_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        const collection_state *state;
        status = snapshot_find(r.snapshot, collection, &state, error);
        if (status == TANSU_OK)
            status = query_resolve(q, r.snapshot, &r.rctx, state, explained, error);
        if (status == TANSU_OK)
            status = user(context, q, &r.rctx, state, error);
        status = read_call_end(&r, status, error);
    }
    query_free(q);
    return status;
}

static tansu_status count_user(void *context, const query *q, const read_context *v,
                               const collection_state *collection, tansu_error *error) {
    return query_count(q, v, collection, context, error);
}

/* count_documents -- tansu_count() without the slow-operation log. */
static tansu_status count_documents(tansu_db *db, tansu_txn *txn, const char *collection,
                                    tansu_document query_bson, tansu_document hints, int64_t *count,
                                    tansu_error *error) {
    if (count == NULL)
        return null_argument("count", error);
    *count = 0;
    return with_query(db, txn, collection, query_bson, hints, false, count_user, count, error);
}

tansu_status tansu_count(tansu_db *db, tansu_txn *txn, const char *collection,
                         tansu_document query_bson, tansu_document hints, int64_t *count,
                         tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_COUNT,
                        count_documents(db, txn, collection, query_bson, hints, count, error),
                        collection, query_bson, hints);
}

static tansu_status explain_user(void *context, const query *q, const read_context *v,
                                 const collection_state *collection, tansu_error *error) {
    return query_explain(q, v, collection, context, error);
}

/* explain -- tansu_explain() without the slow-operation log. */
static tansu_status explain(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_document query_bson, tansu_document hints, tansu_buffer *result,
                            tansu_error *error) {
    if (result == NULL)
        return null_argument("result", error);
    result->size = 0;
    return with_query(db, txn, collection, query_bson, hints, true, explain_user, result, error);
}

tansu_status tansu_explain(tansu_db *db, tansu_txn *txn, const char *collection,
                           tansu_document query_bson, tansu_document hints, tansu_buffer *result,
                           tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_EXPLAIN,
                        explain(db, txn, collection, query_bson, hints, result, error), collection,
                        query_bson, hints);
}

/* ---- Reading the documents with several ids in one call ---- */

/* A result ends with the document with which it exceeds this. */
#define BATCH_BYTES ((size_t)16 << 20)

/* Documents between two checks of whether the call is cancelled. */
#define BATCH_STEP 64

/* One id of a batch. */
typedef struct wanted {
    const uint8_t *key; /* value_key() */
    uint32_t size;
    uint32_t number;
    uint64_t rid;
} wanted;

/* The ids of a batch and what is read for them. */
typedef struct batch {
    wanted *ids;
    size_t count;
    size_t capacity;
    tansu_buffer keys;
    uint64_t *rids; /* of the documents that there are, in the order of the ids */
    size_t found;
} batch;

static void batch_free(batch *b) {
    free(b->ids);
    free(b->rids);
    tansu_buffer_free(&b->keys);
}

/* by_key -- for qsort(). */
static int by_key(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    int order = memcmp(x->key, y->key, x->size < y->size ? x->size : y->size);
    return order != 0 ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* by_number -- the same. */
static int by_number(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* batch_read_ids -- the keys of the ids from number `first` on. */
static tansu_status batch_read_ids(batch *b, tansu_document ids, size_t first, tansu_error *error) {
    tansu_status status = check_bson(ids, false, "ids", error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    size_t number = 0;
    for (doc_iter_init(&iter, ids.data, ids.size); doc_iter_next(&iter); number++) {
        if (number < first)
            continue;
        status = doc_check_id(&iter.value, error);
        if (status != TANSU_OK) {
            char context[24];
            snprintf(context, sizeof context, "%zu", number);
            error_prefix(error, context);
            return status;
        }
        const size_t start = b->keys.size;
        if (!ARRAY_RESERVE(b->ids, b->count, b->capacity, 1) ||
            !value_key(&b->keys, &iter.value, false))
            return error_memory(error);
        b->ids[b->count++] = (wanted){
            .size = (uint32_t)(b->keys.size - start), .number = (uint32_t)number, .rid = NO_RID};
    }
    if (first > number)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "first",
                         "The first id is number %zu, and there are %zu", first, number);
    const uint8_t *key = b->keys.data;
    for (size_t i = 0; i < b->count; key += b->ids[i++].size)
        b->ids[i].key = key;
    return TANSU_OK;
}

/* batch_find -- looks the ids up. In the order of the index its blocks stay in the caches of the
 * processor. */
static tansu_status batch_find(batch *b, const read_call *r, const collection_state *state,
                               const deadline *time, tansu_error *error) {
    bool sorted = true;
    for (size_t i = 1; sorted && i < b->count; i++)
        sorted = by_key(&b->ids[i - 1], &b->ids[i]) <= 0;
    if (!sorted)
        qsort(b->ids, b->count, sizeof *b->ids, by_key);
    tansu_status status = index_current(state, 0, error);
    for (size_t i = 0; status == TANSU_OK && i < b->count; i++) {
        bool found = false;
        uint64_t rid;
        if (i % BATCH_STEP == 0)
            status = deadline_check(time, error);
        if (status == TANSU_OK)
            status = tree_find_prefix(r->rctx.trees, &state->ids, b->ids[i].key, b->ids[i].size,
                                      &found, &rid, error);
        if (status == TANSU_OK && found)
            b->ids[i].rid = rid;
    }
    if (!sorted)
        qsort(b->ids, b->count, sizeof *b->ids, by_number);
    if (status != TANSU_OK)
        return status;
    b->rids = malloc((b->count + 1) * sizeof *b->rids);
    if (b->rids == NULL)
        return error_memory(error);
    for (size_t i = 0; i < b->count; i++)
        if (b->ids[i].rid != NO_RID)
            b->rids[b->found++] = b->ids[i].rid;
    return TANSU_OK;
}

/* batch_copy -- the documents. `state` is NULL when there are none. */
static tansu_status batch_copy(const batch *b, const read_call *r, const collection_state *state,
                               const deadline *time, writer *w, size_t *answered,
                               tansu_error *error) {
    tansu_status status = TANSU_OK;
    size_t at = 0, i = 0; /* among the documents, among the ids */
    for (; status == TANSU_OK && i < b->count && w->out->size <= BATCH_BYTES; i++) {
        doc_value value = {.type = DOC_NULL};
        doc_ref ref;
        if (i % BATCH_STEP == 0)
            status = deadline_check(time, error);
        if (status == TANSU_OK && state != NULL && b->ids[i].rid != NO_RID) {
            read_prefetch(&r->rctx, state, b->rids, b->found, at++);
            status = read_find_document(&r->rctx, state, b->ids[i].rid, &ref, &value.data,
                                        &value.size, error);
            if (status == TANSU_OK)
                value.type = DOC_DOCUMENT;
            else if (status == TANSU_DONE)
                status = TANSU_OK;
        }
        writer_index_value(w, (uint32_t)i, &value);
    }
    *answered = i;
    return status;
}

/* get_many -- tansu_get_many() without the slow-operation log. */
static tansu_status get_many(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document ids, size_t first, tansu_buffer *result, size_t *next,
                             tansu_error *error) {
    if (collection == NULL || result == NULL || next == NULL)
        return null_argument(result == NULL ? "result"
                             : next == NULL ? "next"
                                            : "collection",
                             error);
    result->size = 0;
    *next = first;
    batch b = {.count = 0};
    tansu_status status = batch_read_ids(&b, ids, first, error);
    read_call r;
    if (status == TANSU_OK)
        status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK) {
        batch_free(&b);
        return status;
    }
    const collection_state *state;
    size_t answered = 0;
    const deadline time = deadline_begin(r.rctx.interrupt, 0);
    status = snapshot_find(r.snapshot, collection, &state, error);
    if (state != NULL)
        status = batch_find(&b, &r, state, &time, error);
    writer w = {.out = result, .limit = INT32_MAX};
    size_t document = writer_begin(&w), list = writer_open(&w, "documents", DOC_ARRAY);
    if (status == TANSU_OK)
        status = batch_copy(&b, &r, state, &time, &w, &answered, error);
    writer_end(&w, list);
    if (status == TANSU_OK && !writer_finish(&w, document))
        status = error_memory(error);
    batch_free(&b);
    status = read_call_end(&r, status, error);
    if (status == TANSU_OK)
        *next = first + answered;
    else
        result->size = 0;
    return status;
}

tansu_status tansu_get_many(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_document ids, size_t first, tansu_buffer *result, size_t *next,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_GET,
                        get_many(db, txn, collection, ids, first, result, next, error), collection,
                        TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT);
}
