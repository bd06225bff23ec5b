/*
 * api/session.c -- the list of what JSON commands have open. It is part of the database and guarded
 * by state_mutex; what a command uses is marked, so that no two use it at the same time.
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
static command_session *find(database *db, int64_t number) {
    for (uint32_t i = 0; i < db->session_count; i++)
        if (db->sessions[i].number == number)
            return &db->sessions[i];
    return NULL;
}

/* take_out -- removes one from the list, with the mutex held. */
static command_session take_out(database *db, command_session *session) {
    command_session taken = *session;
    *session = db->sessions[--db->session_count];
    return taken;
}

/* end -- closes a handle that is no longer in the list. */
static void end(const command_session *session) {
    switch ((session_kind)session->kind) {
    case SESSION_CURSOR: tansu_cursor_close(session->handle); break;
    case SESSION_TXN: tansu_txn_abort(session->handle); break;
    case SESSION_FEED: tansu_feed_close(session->handle); break;
    }
}

tansu_status session_add(tansu_db *handle_db, session_kind kind, void *handle, int64_t txn,
                         int64_t *number, tansu_error *error) {
    database *db = db_inner(handle_db);
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&db->state_mutex);
    if (db->session_count >= SESSIONS_MAX)
        status = error_set(error, TANSU_E_TOO_LARGE, kind_names[kind],
                           "%d cursors, transactions and feeds of commands are open; end some",
                           SESSIONS_MAX);
    else if (!ARRAY_RESERVE(db->sessions, db->session_count, db->session_capacity, 1))
        status = error_memory(error);
    if (status == TANSU_OK) {
        *number = ++db->last_session;
        db->sessions[db->session_count++] =
            (command_session){.number = *number, .txn = txn, .handle = handle, .kind = (int)kind};
    }
    pthread_mutex_unlock(&db->state_mutex);
    return status;
}

tansu_status session_take(tansu_db *handle_db, session_kind kind, int64_t number, void **handle,
                          tansu_error *error) {
    database *db = db_inner(handle_db);
    tansu_status status = handle_check_process(db, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&db->state_mutex);
    command_session *session = find(db, number);
    command_session *txn = session == NULL ? NULL : find(db, session->txn);
    if (session == NULL || session->kind != (int)kind) {
        status = error_set(error, TANSU_E_NOT_FOUND, kind_names[kind],
                           "The %s %lld is not open; it has ended, or was never begun",
                           kind_names[kind], (long long)number);
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
    pthread_mutex_unlock(&db->state_mutex);
    return status;
}

/* give_back -- ends the use of a session and of its transaction. Those of a database that is being
 * closed end, and so does the one that the caller ended itself. */
static void give_back(database *db, int64_t number, bool forget) {
    command_session ended[2];
    int count = 0;
    pthread_mutex_lock(&db->state_mutex);
    bool closing = __atomic_load_n(&db->closing, __ATOMIC_RELAXED);
    command_session *session = find(db, number);
    int64_t txn = session->txn;
    session->busy = false;
    if (forget)
        (void)take_out(db, session);
    else if (closing)
        ended[count++] = take_out(db, session);
    session = find(db, txn);
    if (session != NULL) {
        session->busy = false;
        if (closing)
            ended[count++] = take_out(db, session);
    }
    pthread_mutex_unlock(&db->state_mutex);
    for (int i = 0; i < count; i++) /* the last one may free the database */
        end(&ended[i]);
}

void session_put_back(tansu_db *db, int64_t number) {
    give_back(db_inner(db), number, false);
}

void session_forget(tansu_db *db, int64_t number) {
    give_back(db_inner(db), number, true);
}

/* take_free -- takes one out that no command uses: of that transaction, or of that kind when `txn`
 * is 0. */
static bool take_free(database *db, int64_t txn, session_kind kind, command_session *session) {
    bool found = false;
    pthread_mutex_lock(&db->state_mutex);
    for (uint32_t i = 0; !found && i < db->session_count; i++) {
        command_session *s = &db->sessions[i];
        found = !s->busy && (txn != 0 ? s->txn == txn : s->kind == (int)kind);
        if (found)
            *session = take_out(db, s);
    }
    pthread_mutex_unlock(&db->state_mutex);
    return found;
}

void session_end_cursors(tansu_db *db, int64_t txn) {
    command_session session;
    while (take_free(db_inner(db), txn, SESSION_CURSOR, &session))
        end(&session);
}

void session_end_all(tansu_db *db) {
    static const session_kind order[] = {SESSION_CURSOR, SESSION_FEED, SESSION_TXN};
    command_session session;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        while (take_free(db_inner(db), 0, order[i], &session))
            end(&session);
}
