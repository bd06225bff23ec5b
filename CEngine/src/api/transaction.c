/*
 * api/transaction.c -- transactions.
 */
#include "api/handles.h"
#include "base/error.h"

#include <stdlib.h>

tansu_status tansu_txn_prepare(tansu_db *db, tansu_txn_mode mode, tansu_durability durability,
                               tansu_txn **txn, tansu_error *error) {
    if (txn == NULL)
        return misuse("txn", error);
    *txn = NULL;
    if (db == NULL)
        return misuse("db", error);
    if ((unsigned)mode > TANSU_TXN_WRITE)
        return error_set(error, TANSU_E_MISUSE, "mode", "the mode is not a tansu_txn_mode");
    if ((unsigned)durability > TANSU_DURABILITY_INTERVAL)
        return error_set(error, TANSU_E_MISUSE, "durability",
                         "the durability is not a tansu_durability");
    database *d = db_inner(db);
    tansu_status status = database_enter(d, error);
    if (status != TANSU_OK)
        return status;
    tansu_txn *t = calloc(1, sizeof *t);
    if (t == NULL) {
        database_leave(d);
        return error_memory(error);
    }
    t->db = d;
    t->mode = mode;
    t->durability = durability == TANSU_DURABILITY_DEFAULT ? d->durability : durability;
    *txn = t;
    return TANSU_OK;
}

/* begin_change -- waits for the writer's turn. */
static tansu_status begin_change(tansu_txn *txn, tansu_error *error) {
    tansu_status status = database_begin_writing(txn->db, &txn->interrupt, error);
    if (status != TANSU_OK)
        return status;
    status = change_begin(txn->db, &txn->change, error);
    if (status == TANSU_OK)
        txn->change->keep_steps = true;
    else
        database_end_writing(txn->db);
    return status;
}

tansu_status tansu_txn_start(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL)
        return misuse("txn", error);
    if (txn->started || txn->ended)
        return error_set(error, TANSU_E_MISUSE, "txn", "the transaction has been started");
    if (interrupt_asked(&txn->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "txn",
                         "the transaction was cancelled before it was started");
    tansu_status status = TANSU_OK;
    if (txn->mode == TANSU_TXN_WRITE)
        status = begin_change(txn, error);
    else
        txn->version = database_hold(txn->db);
    txn->started = status == TANSU_OK;
    return status;
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

/* txn_free -- ends the handle. */
static void txn_free(tansu_txn *txn) {
    database *db = txn->db;
    free(txn->savepoints);
    free(txn);
    database_leave(db);
}

tansu_status tansu_txn_commit(tansu_txn *txn, uint64_t *sequence, tansu_error *error) {
    if (txn == NULL)
        return misuse("txn", error);
    if (sequence != NULL)
        *sequence = 0;
    if (txn->cursors != 0)
        return error_set(error, TANSU_E_BUSY, "txn",
                         "%u cursors of the transaction are open: close them first", txn->cursors);
    tansu_status status = TANSU_OK;
    bool cancelled = interrupt_asked(&txn->interrupt);
    if (!txn->started)
        status = error_set(error, TANSU_E_MISUSE, "txn", "the transaction was never started");
    else if (cancelled)
        status = error_set(error, TANSU_E_CANCELLED, "txn",
                           "the transaction was cancelled: nothing of it was kept");
    if (txn->change != NULL && cancelled)
        change_abort(txn->change);
    else if (txn->change != NULL)
        status = change_commit(txn->change, txn->durability, sequence, error);
    else if (txn->started)
        database_release(txn->db, txn->version);
    txn_free(txn);
    return status;
}

void tansu_txn_cancel(tansu_txn *txn) {
    if (txn == NULL)
        return;
    interrupt_ask(&txn->interrupt);
    database_look_again(txn->db);
}

void tansu_txn_abort(tansu_txn *txn) {
    if (txn == NULL || txn->ended)
        return;
    if (txn->cursors != 0 && txn->change == NULL) {
        txn->ended = true; /* its cursors hold on to the version that they read */
        return;
    }
    if (txn->change != NULL) {
        change_abort(txn->change);
        txn->change = NULL;
    } else if (txn->started) {
        database_release(txn->db, txn->version);
    }
    txn->ended = true;
    free(txn->savepoints);
    txn->savepoints = NULL;
    if (txn->cursors == 0)
        txn_free(txn);
}

/* ---- Savepoints ---- */

/* savepoint_top -- the innermost savepoint; NULL with the error filled in when there is none. */
static const savepoint *savepoint_top(const tansu_txn *txn, tansu_error *error) {
    if (txn == NULL || txn->ended || txn->savepoint_count == 0) {
        misuse(txn == NULL ? "txn" : "savepoint", error);
        return NULL;
    }
    return &txn->savepoints[txn->savepoint_count - 1];
}

tansu_status tansu_txn_savepoint(tansu_txn *txn, tansu_error *error) {
    if (txn == NULL || txn->ended)
        return misuse("txn", error);
    if (txn->change == NULL)
        return error_set(error, TANSU_E_READ_ONLY, "txn",
                         "this is a read transaction: it has nothing to take back");
    tansu_status status = change_usable(txn->change, error);
    if (status != TANSU_OK)
        return status;
    if (txn->savepoint_count == txn->savepoint_room) {
        uint32_t room = txn->savepoint_room * 2 + 4;
        savepoint *list = realloc(txn->savepoints, room * sizeof *list);
        if (list == NULL)
            return error_memory(error);
        txn->savepoints = list;
        txn->savepoint_room = room;
    }
    txn->savepoints[txn->savepoint_count++] =
        (savepoint){.mark = change_save_mark(txn->change), .cursors_opened = txn->opened};
    return TANSU_OK;
}

tansu_status tansu_txn_release(tansu_txn *txn, tansu_error *error) {
    const savepoint *top = savepoint_top(txn, error);
    if (top == NULL)
        return TANSU_E_MISUSE;
    if (--txn->savepoint_count == 0)
        change_forget_steps(txn->change, top->mark);
    return TANSU_OK;
}

tansu_status tansu_txn_roll_back(tansu_txn *txn, tansu_error *error) {
    const savepoint *top = savepoint_top(txn, error);
    if (top == NULL)
        return TANSU_E_MISUSE;
    txn->savepoint_count--;
    /* What a cursor holds of documents that are taken back would be overwritten under it. */
    for (tansu_cursor *c = txn->first; c != NULL; c = c->next)
        c->undone = c->undone || c->number > top->cursors_opened;
    change_roll_back(txn->change, top->mark);
    return change_usable(txn->change, error);
}
