/*
 * api/api_transaction.c -- transactions.
 */
#include "api/handles.h"
#include "store/handle.h"
#include "store/open/instances.h"
#include "store/write_lock.h"
#include "util/error.h"

#include <stdlib.h>

tansu_status tansu_txn_prepare(tansu_db *db, tansu_txn_mode mode, tansu_durability durability,
                               tansu_txn **txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    *txn = NULL;
    if (db == NULL)
        return null_argument("db", error);
    if ((unsigned)mode > TANSU_TXN_WRITE)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "mode",
                         "The transaction mode is out of range; use a value of tansu_txn_mode");
    if ((unsigned)durability > TANSU_DURABILITY_INTERVAL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "durability",
                         "The durability is out of range; use a value of tansu_durability");
    database *d;
    tansu_status status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    tansu_txn *t = calloc(1, sizeof *t);
    if (t == NULL) {
        handle_release(d);
        return error_memory(error);
    }
    t->db = d;
    t->mode = mode;
    t->durability = durability == TANSU_DURABILITY_DEFAULT ? d->options.durability : durability;
    *txn = t;
    return TANSU_OK;
}

/* begin_read -- acquires the newest snapshot, which may be in another instance by now. */
static tansu_status begin_read(tansu_txn *txn, tansu_error *error) {
    database *d = txn->db;
    if (d->root != d) {
        tansu_status status = database_enter_handle(d->root, &d, error);
        if (status != TANSU_OK)
            return status;
        handle_release(txn->db);
        txn->db = d;
    }
    txn->snapshot = snapshot_acquire(d);
    return TANSU_OK;
}

/* begin_write -- waits for the write lock. */
static tansu_status begin_write(tansu_txn *txn, tansu_error *error) {
    tansu_status status = write_lock_acquire(txn->db, &txn->interrupt, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_begin(txn->db, &txn->wtxn, error);
    if (status == TANSU_OK)
        txn->wtxn->keep_steps = true;
    else
        write_lock_release(txn->db);
    return status;
}

/* start -- tansu_txn_start() without the slow-operation log. */
static tansu_status start(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    tansu_status status = handle_check_process(txn->db, error);
    if (status != TANSU_OK)
        return status;
    if (txn->started || txn->ended)
        return error_set(error, TANSU_E_INVALID_STATE, "txn",
                         "The transaction has been started already");
    if (interrupt_asked(&txn->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "txn",
                         "The transaction was cancelled before it started; abort it");
    if (txn->mode == TANSU_TXN_WRITE)
        status = begin_write(txn, error);
    else
        status = begin_read(txn, error);
    txn->started = status == TANSU_OK;
    return status;
}

tansu_status tansu_txn_start(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL || txn->mode == TANSU_TXN_READ)
        return start(txn, error);
    const slow_log timer = slow_log_begin(txn->db->root->handle);
    return slow_log_end(&timer, TANSU_LOG_BEGIN, start(txn, error), NULL, TANSU_NO_DOCUMENT,
                        TANSU_NO_DOCUMENT);
}

tansu_status tansu_txn_begin(tansu_db *db, tansu_txn_mode mode, tansu_durability durability,
                             tansu_txn **txn, tansu_error *error) {
    tansu_status status = tansu_txn_prepare(db, mode, durability, txn, error);
    if (status != TANSU_OK)
        return status;
    status = tansu_txn_start(*txn, error);
    if (status != TANSU_OK) {
        tansu_txn_abort(*txn);
        *txn = NULL;
    }
    return status;
}

tansu_status tansu_txn_check_documents(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    tansu_status status = handle_check_process(txn->db, error);
    if (status != TANSU_OK)
        return status;
    if (!txn->started || txn->ended)
        return error_set(error, TANSU_E_INVALID_STATE, "txn",
                         "The transaction was not started, or has ended; begin one");
    const snapshot *v = txn->wtxn != NULL ? txn->wtxn->base : txn->snapshot;
    txn->intact = (log_intact){.l = txn->db->log, .position = v->position, .shared = true};
    return TANSU_OK;
}

/* txn_free -- ends the handle. */
static void txn_free(tansu_txn *txn) {
    database *db = txn->db;
    free(txn->savepoints);
    free(txn);
    handle_release(db);
}

/* commit -- tansu_txn_commit() without the slow-operation log. */
static tansu_status commit(tansu_txn *txn, uint64_t *sequence, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    if (sequence != NULL)
        *sequence = 0;
    tansu_status status = handle_check_process(txn->db, error);
    if (status != TANSU_OK)
        return status;
    if (txn->cursors != 0)
        return error_set(error, TANSU_E_BUSY, "txn",
                         "%u cursors of the transaction are open; close them first", txn->cursors);
    bool cancelled = interrupt_asked(&txn->interrupt);
    if (!txn->started)
        status = error_set(error, TANSU_E_INVALID_STATE, "txn",
                           "The transaction was not started; call tansu_txn_start() first");
    else if (cancelled)
        status = error_set(error, TANSU_E_CANCELLED, "txn",
                           "The transaction was cancelled; nothing of it was kept");
    if (txn->wtxn != NULL && cancelled)
        write_txn_abort(txn->wtxn);
    else if (txn->wtxn != NULL)
        status = write_txn_commit(txn->wtxn, txn->durability, sequence, error);
    else if (txn->started)
        snapshot_release(txn->db, txn->snapshot);
    txn_free(txn);
    return status;
}

tansu_status tansu_txn_commit(tansu_txn *txn, uint64_t *sequence, tansu_error *error) {
    const slow_log timer = slow_log_begin(txn == NULL ? NULL : txn->db->root->handle);
    return slow_log_end(&timer, TANSU_LOG_COMMIT, commit(txn, sequence, error), NULL,
                        TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT);
}

void tansu_txn_cancel(tansu_txn *txn) {
    if (txn == NULL || handle_inherited(txn->db))
        return;
    interrupt_ask(&txn->interrupt);
    write_lock_wake_waiters(txn->db);
}

void tansu_txn_abort(tansu_txn *txn) {
    if (txn == NULL || handle_inherited(txn->db) || txn->ended)
        return;
    if (txn->cursors != 0 && txn->wtxn == NULL) {
        txn->ended = true; /* its cursors still read its snapshot */
        return;
    }
    if (txn->wtxn != NULL) {
        write_txn_abort(txn->wtxn);
        txn->wtxn = NULL;
    } else if (txn->started) {
        snapshot_release(txn->db, txn->snapshot);
    }
    txn->ended = true;
    free(txn->savepoints);
    txn->savepoints = NULL;
    if (txn->cursors == 0)
        txn_free(txn);
}

/* ---- Savepoints of a write transaction ---- */

/* savepoint_top -- the innermost savepoint; NULL with the error filled in when there is none, or in
 * a fork. */
static const savepoint *savepoint_top(const tansu_txn *txn, tansu_error *error) {
    if (handle_check_process(txn->db, error) != TANSU_OK)
        return NULL;
    if (txn->ended || txn->savepoint_count == 0) {
        error_set(error, TANSU_E_INVALID_STATE, "txn",
                  txn->ended ? "The transaction has ended; begin a new one"
                             : "The transaction has no savepoint; begin one with "
                               "tansu_savepoint_begin()");
        return NULL;
    }
    return &txn->savepoints[txn->savepoint_count - 1];
}

tansu_status tansu_savepoint_begin(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    tansu_status status = handle_check_process(txn->db, error);
    if (status != TANSU_OK)
        return status;
    if (txn->ended)
        return error_set(error, TANSU_E_INVALID_STATE, "txn",
                         "The transaction has ended; begin a new one");
    if (txn->wtxn == NULL)
        return error_set(error, TANSU_E_READ_ONLY, "txn",
                         "A read transaction has no savepoints; begin one with TANSU_TXN_WRITE");
    status = write_txn_usable(txn->wtxn, error);
    if (status != TANSU_OK)
        return status;
    if (txn->savepoint_count == txn->savepoint_capacity) {
        uint32_t capacity = txn->savepoint_capacity * 2 + 4;
        savepoint *list = realloc(txn->savepoints, capacity * sizeof *list);
        if (list == NULL)
            return error_memory(error);
        txn->savepoints = list;
        txn->savepoint_capacity = capacity;
    }
    txn->savepoints[txn->savepoint_count++] =
        (savepoint){.mark = write_txn_save_mark(txn->wtxn), .cursors_opened = txn->opened};
    return TANSU_OK;
}

tansu_status tansu_savepoint_release(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    const savepoint *top = savepoint_top(txn, error);
    if (top == NULL)
        return TANSU_E_INVALID_STATE;
    if (--txn->savepoint_count == 0)
        write_txn_forget_steps(txn->wtxn, top->mark);
    return TANSU_OK;
}

tansu_status tansu_savepoint_roll_back(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return null_argument("txn", error);
    const savepoint *top = savepoint_top(txn, error);
    if (top == NULL)
        return TANSU_E_INVALID_STATE;
    txn->savepoint_count--;
    /* Documents that a cursor points at and that are rolled back would be overwritten. */
    for (tansu_cursor *c = txn->first; c != NULL; c = c->next)
        c->undone = c->undone || c->number > top->cursors_opened;
    write_txn_roll_back(txn->wtxn, top->mark);
    return write_txn_usable(txn->wtxn, error);
}
