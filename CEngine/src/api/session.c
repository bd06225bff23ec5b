/*
 * api/session.c -- the list of what JSON commands have open. What a command uses is marked, so that
 * no two use it at the same time.
 */
#include "api/session.h"

#include "api/handles.h"
#include "store/handle.h"
#include "util/array.h"
#include "util/error.h"

/* Each may hold a snapshot, so a client that forgets to close them has to learn of it. */
#define SESSIONS_MAX 1000

static const char *const kind_names[] = {"cursor", "transaction", "feed"};

/* find -- with the mutex held; NULL when there is none. */
static command_session *find(session_list *all, int64_t number) {
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].number == number)
            return &all->items[i];
    return NULL;
}

/* take_out -- removes one from the list, with the mutex held. */
static command_session take_out(session_list *all, command_session *session) {
    command_session taken = *session;
    *session = all->items[--all->count];
    return taken;
}

/* end -- closes a handle that is no longer in the list. */
static void end(const command_session *session) {
    switch (session->kind) {
    case SESSION_CURSOR: tansu_cursor_close(session->handle); break;
    case SESSION_TXN: tansu_txn_abort(session->handle); break;
    case SESSION_FEED: tansu_feed_close(session->handle); break;
    }
}

/* not_open -- the error for a number that names nothing. */
static tansu_status not_open(session_kind kind, int64_t number, tansu_error *error) {
    return error_set(error, TANSU_E_NOT_FOUND, kind_names[kind],
                     "The %s %lld is not open; it has ended, or was never begun", kind_names[kind],
                     (long long)number);
}

tansu_status session_add(tansu_db *db, session_kind kind, void *handle, int64_t txn,
                         int64_t *number, tansu_error *error) {
    database *inner = db_inner(db);
    session_list *all = &db->sessions;
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&inner->mutex);
    if (all->count >= SESSIONS_MAX)
        status = error_set(error, TANSU_E_TOO_LARGE, kind_names[kind],
                           "%d cursors, transactions and feeds of commands are open; end some",
                           SESSIONS_MAX);
    else if (!ARRAY_RESERVE(all->items, all->count, all->capacity, 1))
        status = error_memory(error);
    if (status == TANSU_OK) {
        *number = ++all->last;
        all->items[all->count++] =
            (command_session){.number = *number, .txn = txn, .handle = handle, .kind = kind};
    }
    pthread_mutex_unlock(&inner->mutex);
    return status;
}

tansu_status session_take(tansu_db *db, session_kind kind, int64_t number, void **handle,
                          tansu_error *error) {
    database *inner = db_inner(db);
    tansu_status status = handle_check_process(inner, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&inner->mutex);
    command_session *session = find(&db->sessions, number);
    command_session *txn = session == NULL ? NULL : find(&db->sessions, session->txn);
    if (session == NULL || session->kind != kind) {
        status = not_open(kind, number, error);
    } else if (session->busy || (txn != NULL && txn->busy)) {
        status = error_set(error, TANSU_E_BUSY, kind_names[kind],
                           "Another command uses the %s %lld; wait for its response",
                           kind_names[kind], (long long)number);
    } else {
        session->busy = true;
        if (txn != NULL)
            txn->busy = true;
        *handle = session->handle;
    }
    pthread_mutex_unlock(&inner->mutex);
    return status;
}

/* give_back -- ends the use of a session and of its transaction. Those of a database that is being
 * closed end, and so does the one that the caller ended itself. */
static void give_back(tansu_db *db, int64_t number, bool forget) {
    database *inner = db_inner(db);
    command_session ended[2];
    int count = 0;
    pthread_mutex_lock(&inner->mutex);
    bool closing = __atomic_load_n(&inner->handles.closing, __ATOMIC_RELAXED);
    command_session *session = find(&db->sessions, number);
    int64_t txn = session->txn;
    session->busy = false;
    if (forget)
        (void)take_out(&db->sessions, session);
    else if (closing)
        ended[count++] = take_out(&db->sessions, session);
    session = find(&db->sessions, txn);
    if (session != NULL) {
        session->busy = false;
        if (closing)
            ended[count++] = take_out(&db->sessions, session);
    }
    pthread_mutex_unlock(&inner->mutex);
    for (int i = 0; i < count; i++) /* the last one may free the database */
        end(&ended[i]);
}

void session_put_back(tansu_db *db, int64_t number) {
    give_back(db, number, false);
}

void session_forget(tansu_db *db, int64_t number) {
    give_back(db, number, true);
}

tansu_status session_cancel(tansu_db *db, int64_t txn, tansu_error *error) {
    database *inner = db_inner(db);
    tansu_status status = handle_check_process(inner, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&inner->mutex);
    command_session *session = find(&db->sessions, txn);
    if (session == NULL || session->kind != SESSION_TXN || session->ending)
        status = not_open(SESSION_TXN, txn, error);
    else /* it was started, so that nothing of it waits and has to be woken */
        interrupt_ask(&((tansu_txn *)session->handle)->interrupt);
    pthread_mutex_unlock(&inner->mutex);
    return status;
}

void session_ending(tansu_db *db, int64_t txn) {
    database *inner = db_inner(db);
    pthread_mutex_lock(&inner->mutex);
    find(&db->sessions, txn)->ending = true;
    pthread_mutex_unlock(&inner->mutex);
}

/* take_free -- takes one out that no command uses: of that transaction, or of that kind when `txn`
 * is 0. */
static bool take_free(tansu_db *db, int64_t txn, session_kind kind, command_session *session) {
    database *inner = db_inner(db);
    bool found = false;
    pthread_mutex_lock(&inner->mutex);
    for (uint32_t i = 0; !found && i < db->sessions.count; i++) {
        command_session *s = &db->sessions.items[i];
        found = !s->busy && (txn != 0 ? s->txn == txn : s->kind == kind);
        if (found)
            *session = take_out(&db->sessions, s);
    }
    pthread_mutex_unlock(&inner->mutex);
    return found;
}

void session_end_cursors(tansu_db *db, int64_t txn) {
    command_session session;
    while (take_free(db, txn, SESSION_CURSOR, &session))
        end(&session);
}

void session_end_all(tansu_db *db) {
    static const session_kind order[] = {SESSION_CURSOR, SESSION_FEED, SESSION_TXN};
    command_session session;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        while (take_free(db, 0, order[i], &session))
            end(&session);
}
