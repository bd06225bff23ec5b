/*
 * api/handles.c -- public handles, beginning and ending what a call reads or writes in, and
 * reporting slow operations.
 */
#include "api/handles.h"
#include "backup/convert.h"
#include "bson/json/json.h"

#include "compact/compact.h"
#include "rules/expiry.h"
#include "store/handle.h"
#include "store/open/instances.h"
#include "store/write_lock.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- Handles ---- */

tansu_status handle_new(const tansu_options *options, tansu_db **db, tansu_error *error) {
    *db = calloc(1, sizeof **db);
    if (*db == NULL)
        return error_memory(error);
    completion_cache_init(&(*db)->completions);
    (*db)->warning_log = (slow_log){.function = options->log, .context = options->log_context};
    if (options->slow_operation_ms != 0 || options->log_all)
        (*db)->slow_log = (slow_log){
            .function = options->log,
            .context = options->log_context,
            .nanoseconds = options->log_all ? 0 : options->slow_operation_ms * (uint64_t)1000000};
    return TANSU_OK;
}

void handle_free(tansu_db *db) {
    free(db->sessions.items);
    completion_cache_free(&db->completions);
    free(db);
}

void handle_attach(tansu_db *db, database *inner) {
    db->inner = inner;
    inner->handle = db;
    inner->free_handle = handle_free;
}

tansu_status handle_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                         tansu_db **db, tansu_error *error) {
    database *inner = NULL;
    *db = NULL;
    tansu_db *handle;
    tansu_status status = handle_new(options, &handle, error);
    if (status != TANSU_OK)
        return status;
    status = database_open(options, calls, hooks, &inner, error);
    if (status == TANSU_OK) {
        handle_attach(handle, inner);
        *db = handle;
        if (options->key_size != 0 && options->path != NULL && !options->read_only)
            database_convert_clear(options->path, calls);
    } else {
        handle_free(handle);
    }
    return status;
}

void background_enable(database *db) {
    compact_enable(db);
    expiry_enable(db);
}

/* ---- Calls ---- */

tansu_status null_argument(const char *what, tansu_error *error) {
    return error_set(error, TANSU_E_INVALID_ARGUMENT, what, "The argument \"%s\" is NULL", what);
}

tansu_status key_argument(const tansu_key *key, user_key *result, tansu_error *error) {
    if (key == NULL || key->bytes == NULL)
        return null_argument("key", error);
    *result = (user_key){
        .bytes = key->bytes, .size = key->size, .kind = key->kind, .iterations = key->iterations};
    return user_key_check(result, error);
}

tansu_status check_bson(tansu_document document, bool optional, const char *what,
                        tansu_error *error) {
    if (document.data == NULL)
        return optional && document.size == 0 ? TANSU_OK : null_argument(what, error);
    return doc_check(document.data, document.size, DOC_CHECK_BSON, error);
}

/* cancelled -- the error for a call in a transaction that was stopped. */
static tansu_status cancelled(tansu_error *error) {
    return error_set(error, TANSU_E_CANCELLED, "txn", "The transaction was cancelled; abort it");
}

/* check_txn -- whether a call may use the transaction. */
static tansu_status check_txn(tansu_db *db, const tansu_txn *txn, tansu_error *error) {
    tansu_status status = handle_check_process(txn->db, error);
    if (status != TANSU_OK)
        return status;
    if (txn->ended)
        return error_set(error, TANSU_E_INVALID_STATE, "txn",
                         "The transaction has ended; begin a new one");
    if (txn->db->root != db_inner(db))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "txn",
                         "The transaction is of another database");
    if (!txn->started)
        return error_set(error, TANSU_E_INVALID_STATE, "txn",
                         "The transaction was not started; call tansu_txn_start() first");
    if (interrupt_asked(&txn->interrupt))
        return cancelled(error);
    return instance_pins_check(txn->db, txn->snapshot, error);
}

tansu_status read_call_begin(read_call *r, tansu_db *db, tansu_txn *txn, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    *r = (read_call){.db = db_inner(db)};
    if (txn != NULL) {
        tansu_status status = check_txn(db, txn, error);
        if (status != TANSU_OK)
            return status;
        r->db = txn->db;
        r->faults = log_faults(r->db->log);
        if (txn->wtxn != NULL) {
            status = write_txn_usable(txn->wtxn, error);
            if (status == TANSU_OK)
                status = write_txn_flush(txn->wtxn, error);
            r->snapshot = txn->wtxn->next;
            r->rctx = write_txn_read_context(txn->wtxn);
            r->rctx.interrupt = &txn->interrupt;
            r->rctx.intact = txn->intact.l != NULL ? &txn->intact : NULL;
            return status;
        }
        r->snapshot = txn->snapshot;
    } else {
        tansu_status status = handle_check_open(r->db, error);
        if (status == TANSU_OK)
            status = database_enter(db_inner(db), &r->db, error);
        if (status != TANSU_OK)
            return status;
        r->entered = true;
        r->faults = log_faults(r->db->log);
        r->held = snapshot_acquire(r->db);
        r->snapshot = r->held;
    }
    r->rctx = (read_context){.log = r->db->log,
                             .pins = &r->pins,
                             .trees = r->db->trees,
                             .sequence = r->snapshot->sequence,
                             .kept = txn != NULL ? &txn->snapshot->kept : &r->held->kept,
                             .intact = txn != NULL && txn->intact.l != NULL ? &txn->intact : NULL,
                             .interrupt = txn != NULL ? &txn->interrupt : NULL,
                             .calls = r->db->files.calls,
                             .folder = r->db->files.folder,
                             .keys = r->db->keys,
                             .sort_memory = r->db->options.sort_memory_bytes,
                             .group_memory = r->db->options.group_memory_bytes};
    return TANSU_OK;
}

tansu_status read_call_end(read_call *r, tansu_status status, tansu_error *error) {
    status = log_check(r->db->log, r->faults, status, error);
    log_pins_release(&r->pins);
    if (r->held != NULL)
        snapshot_release(r->db, r->held);
    if (r->entered)
        database_leave(r->db);
    return status;
}

tansu_status write_call_begin(write_call *w, tansu_db *db, tansu_txn *txn, tansu_error *error) {
    tansu_status status = write_call_begin_saves(w, db, txn, error);
    return status == TANSU_OK ? write_txn_flush(w->wtxn, error) : status;
}

tansu_status write_call_begin_saves(write_call *w, tansu_db *db, tansu_txn *txn,
                                    tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    tansu_status status;
    *w = (write_call){.durability = db_inner(db)->options.durability};
    if (txn != NULL) {
        status = check_txn(db, txn, error);
        if (status == TANSU_OK && txn->wtxn == NULL)
            status = error_set(error, TANSU_E_READ_ONLY, "txn",
                               "The transaction is for reading; begin one with TANSU_TXN_WRITE");
        if (status == TANSU_OK)
            status = write_txn_usable(txn->wtxn, error);
        if (status != TANSU_OK)
            return status;
        w->wtxn = txn->wtxn;
        w->mark = write_txn_save_mark(w->wtxn);
        w->interrupt = &txn->interrupt;
        w->savepoint = txn->savepoint_count != 0;
        return TANSU_OK;
    }
    w->own = true;
    status = handle_check_open(db_inner(db), error);
    if (status == TANSU_OK)
        status = write_lock_acquire(db_inner(db), NULL, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_begin(db_inner(db), &w->wtxn, error);
    if (status != TANSU_OK)
        write_lock_release(db_inner(db));
    return status;
}

read_context write_call_read_context(const write_call *w) {
    read_context v = write_txn_read_context(w->wtxn);
    v.interrupt = w->interrupt;
    return v;
}

tansu_status write_call_check(const write_call *w, tansu_error *error) {
    return interrupt_asked(w->interrupt) ? cancelled(error) : TANSU_OK;
}

tansu_status write_call_check_savepoint(const write_call *w, tansu_error *error) {
    if (w->savepoint)
        return error_set(
            error, TANSU_E_INVALID_STATE, "savepoint",
            "Indexes cannot be created, and nothing dropped or renamed, in a savepoint; "
            "release it first");
    return TANSU_OK;
}

/* report_warnings -- reports the documents that violate a validator and were saved by a call. */
static void report_warnings(const tansu_db *db, const tansu_buffer *warnings) {
    size_t length;
    for (const uint8_t *at = warnings->data; at != warnings->data + warnings->size;
         at += load_u32(at)) {
        doc_value collection, document, violation;
        doc_find(at, load_u32(at), "collection", 10, &collection);
        doc_find(at, load_u32(at), "document", 8, &document);
        doc_find(at, load_u32(at), "violation", 9, &violation);
        slow_log_report(&db->warning_log, 0, TANSU_LOG_VALIDATION, TANSU_E_INVALID_DOCUMENT,
                        doc_string(&collection, &length), value_document(&document),
                        value_document(&violation));
    }
}

tansu_status write_call_end(write_call *w, tansu_status status, tansu_error *error) {
    const tansu_db *handle = w->wtxn->db->root->handle;
    tansu_buffer warnings = w->wtxn->warnings;
    w->wtxn->warnings = (tansu_buffer)TANSU_BUFFER_INIT;
    w->wtxn->warning_count = 0;
    /* After a read error, what the call read and wrote may be wrong. */
    if (!w->own || status != TANSU_OK)
        status = log_check(w->wtxn->db->log, w->wtxn->faults, status, error);
    if (w->own && status == TANSU_OK)
        status = write_txn_commit(w->wtxn, w->durability, NULL, error);
    else if (w->own)
        write_txn_abort(w->wtxn);
    else if (status != TANSU_OK)
        write_txn_roll_back(w->wtxn, w->mark);
    else if (!w->savepoint)
        write_txn_forget_steps(w->wtxn, w->mark);
    if (status == TANSU_OK && warnings.size != 0 && handle->warning_log.function != NULL)
        report_warnings(handle, &warnings);
    tansu_buffer_free(&warnings);
    return status;
}

tansu_status id_value(tansu_document document, doc_value *id, tansu_error *error) {
    tansu_status status = check_bson(document, false, "id", error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    if (!doc_iter_init(&iter, document.data, document.size) || !doc_iter_next(&iter))
        return error_set(error, TANSU_E_INVALID_ID, "_id",
                         "The id document is empty; pass one such as {\"_id\": 7}");
    *id = iter.value;
    return doc_check_id(id, error);
}

tansu_status name_document(const uint8_t *doc, size_t size, const char *advice, tansu_status status,
                           tansu_error *error) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    doc_value id;
    if (error != NULL && doc_find_id(doc, size, &id) && json_write_value(&text, &id, false)) {
        const tansu_error found = *error;
        error_set(error, status, found.context, "%.300s; it is the document with the _id %.*s%s",
                  found.message, text.size < 80 ? (int)text.size : 80, (const char *)text.data,
                  advice);
    }
    tansu_buffer_free(&text);
    return status;
}

/* ---- Slow operations ---- */

void slow_log_report(const slow_log *timer, uint64_t nanoseconds, tansu_log_kind kind,
                     tansu_status status, const char *collection, tansu_document query,
                     tansu_document hints) {
    if (nanoseconds < timer->nanoseconds)
        return;
    const tansu_log_event event = {.struct_size = sizeof event,
                                   .kind = kind,
                                   .status = status,
                                   .nanoseconds = nanoseconds,
                                   .collection = collection,
                                   .query = query,
                                   .hints = hints};
    timer->function(timer->context, &event);
}
