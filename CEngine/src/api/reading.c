/*
 * api/reading.c -- cursors, counting, explaining.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"

#include <stdlib.h>

/* cursor_check -- the status that a step came to, or IO when what it read was not all there. */
static tansu_status cursor_check(tansu_cursor *c, tansu_status status, tansu_error *error) {
    const log *l = c->db->log;
    if (log_faults(l) == c->faults)
        return status;
    c->faults = log_faults(l);
    return log_read_error(l, error);
}

tansu_status tansu_find(tansu_db *db, tansu_txn *txn, const char *collection,
                        const void *query_bson, size_t query_size, const void *hints,
                        size_t hints_size, tansu_cursor **cursor, tansu_error *error) {
    if (collection == NULL || cursor == NULL)
        return misuse(cursor == NULL ? "cursor" : "collection", error);
    *cursor = NULL;
    if (db == NULL)
        return misuse("db", error);
    tansu_cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return error_memory(error);
    database *d = db_inner(db);
    reading r = {0};
    tansu_status status =
        query_compile(query_bson, query_size, hints, hints_size, txn_stop(txn), &c->query, error);
    if (status == TANSU_OK)
        status = database_enter(d, error);
    if (status != TANSU_OK) {
        query_free(c->query);
        free(c);
        return status;
    }
    c->db = d;
    status = reading_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        c->version = r.held;
        c->view = r.view;
        c->interrupt.outer = r.view.interrupt;
        c->view.interrupt = &c->interrupt;
        c->faults = r.faults;
        status = query_start(c->query, r.version, &c->view,
                             version_collection(r.version, collection), &c->run, error);
        status = cursor_check(c, status, error);
    }
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

tansu_status tansu_cursor_next(tansu_cursor *cursor, tansu_document *document, tansu_error *error) {
    if (cursor == NULL || document == NULL)
        return misuse(cursor == NULL ? "cursor" : "document", error);
    if (cursor->txn != NULL && cursor->txn->ended)
        return error_set(error, TANSU_E_MISUSE, "cursor", "the cursor's transaction has ended");
    if (cursor->undone)
        return error_set(error, TANSU_E_MISUSE, "cursor",
                         "the cursor's transaction went back to a savepoint before it");
    if (interrupt_asked(&cursor->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "cursor", "the cursor was cancelled");
    tansu_status status = query_next(cursor->run, document, error);
    /* The frame of a write transaction may move at its next write, and the document in it. */
    if (status == TANSU_OK && cursor->txn != NULL && cursor->txn->change != NULL) {
        if (!buffer_set(&cursor->copy, document->data, document->size))
            return error_memory(error);
        document->data = cursor->copy.data;
    } else if (status == TANSU_OK) {
        guard_touch(document->data, document->size);
    }
    return cursor_check(cursor, status, error);
}

void tansu_cursor_cancel(tansu_cursor *cursor) {
    if (cursor != NULL)
        interrupt_ask(&cursor->interrupt);
}

void tansu_cursor_close(tansu_cursor *cursor) {
    if (cursor == NULL)
        return;
    database *db = cursor->db;
    query_end(cursor->run);
    query_free(cursor->query);
    tansu_buffer_free(&cursor->copy);
    if (cursor->version != NULL)
        database_release(db, cursor->version);
    tansu_txn *txn = cursor->txn;
    if (cursor->next != NULL)
        cursor->next->previous = cursor->previous;
    if (cursor->previous != NULL)
        cursor->previous->next = cursor->next;
    else if (txn != NULL)
        txn->first = cursor->next;
    free(cursor);
    if (txn != NULL && --txn->cursors == 0 && txn->ended) {
        /* The transaction was aborted before: this was the last that knew of it. */
        if (txn->version != NULL)
            database_release(db, txn->version);
        free(txn);
        database_leave(db);
    }
    database_leave(db);
}

/* with_query -- compiles, begins reading and hands over to `run`. */
typedef tansu_status (*query_user)(void *context, const query *q, const view *v,
                                   const collection_state *collection, tansu_error *error);

static tansu_status with_query(tansu_db *db, tansu_txn *txn, const char *collection,
                               const void *query_bson, size_t query_size, const void *hints,
                               size_t hints_size, query_user user, void *context,
                               tansu_error *error) {
    if (collection == NULL)
        return misuse("collection", error);
    query *q;
    tansu_status status =
        query_compile(query_bson, query_size, hints, hints_size, txn_stop(txn), &q, error);
    if (status != TANSU_OK)
        return status;
    reading r;
    status = reading_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        status = user(context, q, &r.view, version_collection(r.version, collection), error);
        status = reading_end(&r, status, error);
    }
    query_free(q);
    return status;
}

static tansu_status count_user(void *context, const query *q, const view *v,
                               const collection_state *collection, tansu_error *error) {
    return query_count(q, v, collection, context, error);
}

tansu_status tansu_count(tansu_db *db, tansu_txn *txn, const char *collection,
                         const void *query_bson, size_t query_size, const void *hints,
                         size_t hints_size, int64_t *count, tansu_error *error) {
    if (count == NULL)
        return misuse("count", error);
    *count = 0;
    return with_query(db, txn, collection, query_bson, query_size, hints, hints_size, count_user,
                      count, error);
}

static tansu_status explain_user(void *context, const query *q, const view *v,
                                 const collection_state *collection, tansu_error *error) {
    return query_explain(q, v, collection, context, error);
}

tansu_status tansu_explain(tansu_db *db, tansu_txn *txn, const char *collection,
                           const void *query_bson, size_t query_size, const void *hints,
                           size_t hints_size, tansu_buffer *result, tansu_error *error) {
    if (result == NULL)
        return misuse("result", error);
    result->size = 0;
    return with_query(db, txn, collection, query_bson, query_size, hints, hints_size, explain_user,
                      result, error);
}
