/*
 * api/api_savepoint.c -- savepoints of a write transaction.
 */
#include "api/handles.h"
#include "store/handle.h"
#include "util/error.h"

#include <stdlib.h>

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
