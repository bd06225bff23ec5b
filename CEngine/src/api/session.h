/*
 * api/session.h -- what a JSON command leaves open for later commands: cursors, transactions and
 * feeds, each named by a number.
 */
#ifndef TANSU_API_SESSION_H
#define TANSU_API_SESSION_H

#include "tansu.h"

#include <stdbool.h>

typedef enum session_kind { SESSION_CURSOR, SESSION_TXN, SESSION_FEED } session_kind;

typedef struct command_session {
    int64_t number;
    int64_t txn; /* the number of the transaction that a cursor belongs to, or 0 */
    void *handle;
    session_kind kind;
    bool busy;   /* a command uses it */
    bool ending; /* a command commits or aborts it */
} command_session;

/* Those of a handle; guarded by the mutex of its database. */
typedef struct session_list {
    command_session *items;
    uint32_t count;
    uint32_t capacity;
    int64_t last; /* number */
} session_list;

/* session_add -- keeps a handle, and returns its number in *number; `txn` is the number of the
 * transaction that a cursor belongs to, or 0. After an error the handle is still the caller's.
 * Errors: TOO_LARGE (too many are open), MEMORY. */
tansu_status session_add(tansu_db *db, session_kind kind, void *handle, int64_t txn,
                         int64_t *number, tansu_error *error);

/* session_take -- the handle with a number, for one command at a time; a cursor in a transaction
 * takes the transaction as well. Errors: NOT_FOUND, BUSY (another thread's command has it),
 * INVALID_STATE (in a fork). */
tansu_status session_take(tansu_db *db, session_kind kind, int64_t number, void **handle,
                          tansu_error *error);

/* session_put_back -- ends the use of what session_take() returned. */
void session_put_back(tansu_db *db, int64_t number);

/* session_forget -- the same, when the caller ends the handle itself. */
void session_forget(tansu_db *db, int64_t number);

/* session_cancel -- cancels a transaction, also while a command of another thread uses it. Errors:
 * NOT_FOUND (also while it is being ended), INVALID_STATE (in a fork). */
tansu_status session_cancel(tansu_db *db, int64_t txn, tansu_error *error);

/* session_ending -- marks a transaction that the caller has taken as being ended: it cannot be
 * cancelled from now on, because its handle is about to be freed. */
void session_ending(tansu_db *db, int64_t txn);

/* session_end_cursors -- closes the cursors of a transaction that the caller has taken. */
void session_end_cursors(tansu_db *db, int64_t txn);

/* session_end_all -- closes all cursors and feeds and aborts all transactions; one that a command
 * is using ends with that command, if the database is being closed. */
void session_end_all(tansu_db *db);

#endif
