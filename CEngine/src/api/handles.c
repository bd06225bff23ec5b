/*
 * api/handles.c -- beginning and ending what a call reads or writes in.
 */
#include "api/handles.h"

#include "base/error.h"

tansu_status misuse(const char *what, tansu_error *error) {
    return error_set(error, TANSU_E_MISUSE, what, "%s is NULL", what);
}

tansu_status check_bson(const void *bson, size_t size, bool optional, const char *what,
                        tansu_error *error) {
    if (bson == NULL)
        return optional && size == 0 ? TANSU_OK : misuse(what, error);
    return doc_check(bson, size, DOC_CHECK_BSON, error);
}

/* cancelled -- the error for a call in a transaction that was stopped. */
static tansu_status cancelled(tansu_error *error) {
    return error_set(error, TANSU_E_CANCELLED, "txn", "the transaction was cancelled: abort it");
}

/* check_txn -- whether a call may use the transaction. */
static tansu_status check_txn(tansu_db *db, const tansu_txn *txn, tansu_error *error) {
    if (txn->ended)
        return error_set(error, TANSU_E_MISUSE, "txn", "the transaction has ended");
    if (txn->db != db_inner(db))
        return error_set(error, TANSU_E_MISUSE, "txn", "the transaction is of another database");
    if (!txn->started)
        return error_set(error, TANSU_E_MISUSE, "txn",
                         "the transaction was prepared only: call tansu_txn_start() first");
    if (interrupt_asked(&txn->interrupt))
        return cancelled(error);
    return TANSU_OK;
}

tansu_status reading_begin(reading *r, tansu_db *db, tansu_txn *txn, tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    *r = (reading){.db = db_inner(db)};
    r->faults = log_faults(r->db->log);
    if (txn != NULL) {
        tansu_status status = check_txn(db, txn, error);
        if (status != TANSU_OK)
            return status;
        if (txn->change != NULL) {
            status = change_usable(txn->change, error);
            r->version = txn->change->next;
            r->view = change_view(txn->change);
            r->view.interrupt = &txn->interrupt;
            return status;
        }
        r->version = txn->version;
    } else {
        tansu_status status = database_check_open(r->db, error);
        if (status != TANSU_OK)
            return status;
        r->held = database_hold(r->db);
        r->version = r->held;
    }
    r->view = (view){.log = r->db->log,
                     .trees = r->db->trees,
                     .sequence = r->version->sequence,
                     .interrupt = txn != NULL ? &txn->interrupt : NULL,
                     .calls = r->db->calls,
                     .folder = r->db->folder};
    return TANSU_OK;
}

tansu_status reading_end(reading *r, tansu_status status, tansu_error *error) {
    status = log_check(r->db->log, r->faults, status, error);
    if (r->held != NULL)
        database_release(r->db, r->held);
    return status;
}

tansu_status writing_begin(writing *w, tansu_db *db, tansu_txn *txn, tansu_error *error) {
    if (db == NULL)
        return misuse("db", error);
    tansu_status status;
    *w = (writing){.durability = db_inner(db)->durability};
    if (txn != NULL) {
        status = check_txn(db, txn, error);
        if (status == TANSU_OK && txn->change == NULL)
            status = error_set(error, TANSU_E_READ_ONLY, "txn",
                               "this is a read transaction: begin one with TANSU_TXN_WRITE");
        if (status == TANSU_OK)
            status = change_usable(txn->change, error);
        if (status != TANSU_OK)
            return status;
        w->change = txn->change;
        w->mark = change_save_mark(w->change);
        w->interrupt = &txn->interrupt;
        w->savepoint = txn->savepoint_count != 0;
        return TANSU_OK;
    }
    w->own = true;
    status = database_check_open(db_inner(db), error);
    if (status == TANSU_OK)
        status = database_begin_writing(db_inner(db), NULL, error);
    if (status != TANSU_OK)
        return status;
    status = change_begin(db_inner(db), &w->change, error);
    if (status != TANSU_OK)
        database_end_writing(db_inner(db));
    return status;
}

view writing_view(const writing *w) {
    view v = change_view(w->change);
    v.interrupt = w->interrupt;
    return v;
}

tansu_status writing_check(const writing *w, tansu_error *error) {
    return interrupt_asked(w->interrupt) ? cancelled(error) : TANSU_OK;
}

tansu_status writing_for_good(const writing *w, tansu_error *error) {
    if (w->savepoint)
        return error_set(error, TANSU_E_MISUSE, "savepoint",
                         "inside a savepoint no index is made and nothing dropped or renamed: that "
                         "could not be taken back");
    return TANSU_OK;
}

tansu_status writing_end(writing *w, tansu_status status, tansu_error *error) {
    /* What the call found may be wrong, and what it made of that. */
    if (!w->own || status != TANSU_OK)
        status = log_check(w->change->db->log, w->change->faults, status, error);
    if (w->own && status == TANSU_OK)
        return change_commit(w->change, w->durability, NULL, error);
    if (w->own)
        change_abort(w->change);
    else if (status != TANSU_OK)
        change_roll_back(w->change, w->mark);
    else if (!w->savepoint)
        change_forget_steps(w->change, w->mark);
    return status;
}
