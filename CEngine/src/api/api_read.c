/*
 * api/api_read.c -- reading documents: by id, with a cursor, counting them, explaining a query.
 */
#include "api/slow_log.h"
#include "store/handle.h"
#include "store/open/state_pins.h"
#include "store/open/states.h"
#include "util/arena.h"
#include "util/buffer.h"
#include "util/error.h"

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
                        collection, id);
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

/* measure_steps -- keeps what the slow-operation log is to show when the cursor is closed. */
static tansu_status measure_steps(tansu_cursor *c, const slow_log *timer, const char *collection,
                                  tansu_document query, tansu_error *error) {
    c->collection = strdup(collection);
    if (c->collection == NULL ||
        (query.data != NULL && !buffer_set(&c->query_bson, query.data, query.size)))
        return error_memory(error);
    c->slow_log = *timer;
    return TANSU_OK;
}

tansu_status tansu_find(tansu_db *db, tansu_txn *txn, const char *collection,
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
    const slow_log timer = slow_log_begin(db);
    read_call r = {0};
    tansu_status status = query_compile(query_bson.data, query_bson.size, hints.data, hints.size,
                                        txn_stop(txn), &c->query, error);
    if (status == TANSU_OK)
        status = read_call_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        status = handle_acquire(r.db, error);
        if (status != TANSU_OK)
            read_call_end(&r, status, NULL);
    }
    if (status != TANSU_OK) {
        query_free(c->query);
        free(c);
        return status;
    }
    c->db = r.db;
    c->snapshot = r.held;
    if (r.entered)
        database_leave(r.db);
    if (timer.function != NULL)
        status = measure_steps(c, &timer, collection, query_bson, error);
    if (status == TANSU_OK) {
        c->rctx = r.rctx;
        if (r.held != NULL || txn->wtxn == NULL) /* otherwise they end with the transaction */
            c->rctx.pins = &c->pins;
        c->interrupt.outer = r.rctx.interrupt;
        c->rctx.interrupt = &c->interrupt;
        c->faults = r.faults;
        const collection_state *state;
        status = snapshot_find(r.snapshot, collection, &state, error);
        if (status == TANSU_OK)
            status = query_resolve(c->query, r.snapshot, &c->rctx, state, false, error);
        if (status == TANSU_OK)
            status = query_start(c->query, r.snapshot, &c->rctx, state, &c->run, error);
        status = cursor_check(c, status, error);
    }
    c->status = status;
    if (timer.function != NULL)
        c->nanoseconds = clock_now() - timer.began;
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
    tansu_status status = state_pins_check(
        cursor->db, cursor->txn != NULL ? cursor->txn->snapshot : cursor->snapshot, error);
    if (status != TANSU_OK)
        return cursor->done ? TANSU_DONE : status;
    status = query_next(cursor->run, document, error);
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

void tansu_cursor_close(tansu_cursor *cursor) {
    if (cursor == NULL || handle_inherited(cursor->db))
        return;
    database *db = cursor->db;
    query_end(cursor->run);
    query_free(cursor->query);
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
        slow_log_report(&cursor->slow_log, cursor->nanoseconds, TANSU_LOG_FIND, cursor->status,
                        cursor->collection,
                        (tansu_document){cursor->query_bson.data, cursor->query_bson.size});
    free(cursor->collection);
    buffer_free(&cursor->query_bson);
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
                        collection, query_bson);
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
                        query_bson);
}
