/*
 * api/handles.h -- the structs behind the public handles, and how a call of tansu.h begins and ends
 * to read or to write, and is measured.
 */
#ifndef TANSU_API_HANDLES_H
#define TANSU_API_HANDLES_H

#include "api/session.h"
#include "log/scan.h"
#include "query/pipeline/pipeline.h"
#include "query/query.h"
#include "query/text/text_complete.h"
#include "store/database_internal.h"
#include "store/key_file.h"
#include "store/write_txn/write_txn.h"
#include "util/clock.h"

/* Where slow operations are reported (options.log), and when one of them began. */
typedef struct slow_log {
    tansu_log function; /* NULL: nowhere */
    void *context;
    uint64_t nanoseconds; /* from which on an operation is slow */
    uint64_t began;
} slow_log;

/* It lives as long as its database, which may be longer than until tansu_close(). */
struct tansu_db {
    database *inner;
    slow_log slow_log;
    slow_log warning_log; /* of documents that violate a validator */
    session_list sessions;
    completion_cache completions;
};

/* The state that tansu_savepoint_roll_back() restores. */
typedef struct savepoint {
    write_txn_mark mark;
    uint64_t cursors_opened; /* of the transaction, before it */
} savepoint;

struct tansu_txn {
    database *db;
    tansu_txn_mode mode;
    tansu_durability durability;
    bool started;        /* it has a write transaction or a snapshot */
    write_txn *wtxn;     /* NULL in a read transaction */
    snapshot *snapshot;  /* acquired by a read transaction */
    uint32_t cursors;    /* open ones */
    uint64_t opened;     /* cursors that ever were */
    tansu_cursor *first; /* open one */
    savepoint *savepoints;
    uint32_t savepoint_count;
    uint32_t savepoint_capacity;
    interrupt interrupt; /* tansu_txn_cancel() */
    log_intact intact;   /* of tansu_txn_check_documents(); `l` NULL: documents are not checked */
    bool ended;          /* aborted while cursors were open: the last of them frees this */
};

struct tansu_cursor {
    database *db;
    tansu_txn *txn; /* NULL: on its own, with a snapshot */
    snapshot *snapshot;
    read_context rctx;
    log_pins pins; /* of it */
    query *query;
    query_run *run;
    pipeline *pipeline;            /* instead of a query and its run */
    uint64_t faults;               /* log_faults() that were reported */
    interrupt interrupt;           /* tansu_cursor_cancel() */
    tansu_buffer copy;             /* in a write transaction: the document last shown */
    uint64_t number;               /* of the transaction's cursors, counted from 1 */
    bool undone;                   /* its savepoint was rolled back */
    bool done;                     /* it has returned DONE, and does so again */
    tansu_cursor *previous, *next; /* of the transaction */
    slow_log slow_log;             /* its steps are measured if there is a function to call */
    tansu_log_kind log_kind;
    uint64_t nanoseconds; /* that the steps took so far */
    tansu_status status;  /* of the last step */
    char *collection;     /* and query: for the log; NULL when steps are not measured */
    tansu_buffer query_bson;
    tansu_buffer hints_bson;
};

/* db_inner -- the database behind a handle. */
static inline database *db_inner(tansu_db *db) {
    return db->inner;
}

/* handle_new -- a handle without a database. Errors: MEMORY. handle_attach -- gives it one, which
 * frees it when it is closed; handle_free -- for one that got none. */
tansu_status handle_new(const tansu_options *options, tansu_db **db, tansu_error *error);
void handle_attach(tansu_db *db, database *inner);
void handle_free(tansu_db *db);

/* handle_open -- tansu_open() over the given file calls, without compaction in the background.
 * `options` are whole. */
tansu_status handle_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                         tansu_db **db, tansu_error *error);

/* background_enable -- what a database that was opened does by itself from now on: compaction, and
 * removing expired documents. */
void background_enable(database *db);

/* options_parse -- reads the members that tansu_open_json() lists. Texts are those of the document.
 * Errors: INVALID_ARGUMENT. */
tansu_status options_parse(const uint8_t *doc, size_t size, tansu_options *options,
                           tansu_error *error);

/* What a call reads: a transaction's state, or the newest snapshot for the length of the call. */
typedef struct read_call {
    database *db;
    bool entered;   /* database_leave() is due */
    snapshot *held; /* NULL inside a transaction */
    const snapshot *snapshot;
    read_context rctx;
    log_pins pins;   /* of it */
    uint64_t faults; /* log_faults() when it began */
} read_call;

/* read_call_begin -- errors: INVALID_ARGUMENT (no handle, or another database's transaction). */
tansu_status read_call_begin(read_call *r, tansu_db *db, tansu_txn *txn, tansu_error *error);
/* read_call_end -- returns the status of the call, or IO when a page that it read was lost. */
tansu_status read_call_end(read_call *r, tansu_status status, tansu_error *error);

/* What a call writes in: the caller's transaction, or one of its own. */
typedef struct write_call {
    write_txn *wtxn;
    bool own;
    write_txn_mark mark;
    tansu_durability durability;
    const interrupt *interrupt; /* what stops a long call, or NULL */
    bool savepoint;             /* the transaction may yet go back to before this call */
} write_call;

/* write_call_begin -- errors: INVALID_ARGUMENT, READ_ONLY, BUSY, SYNC_FAILED. */
tansu_status write_call_begin(write_call *w, tansu_db *db, tansu_txn *txn, tansu_error *error);
/* write_call_begin_saves -- the same for a call that saves or removes documents and reads no index
 * but that of `_id`: what the calls before changed in indexes continues to wait
 * (write_txn_flush()). */
tansu_status write_call_begin_saves(write_call *w, tansu_db *db, tansu_txn *txn,
                                    tansu_error *error);
/* write_call_read_context -- reading what is changed; a long read stops when the transaction is
 * cancelled. */
read_context write_call_read_context(const write_call *w);
/* write_call_check -- call it before each document that is changed. Errors: CANCELLED. */
tansu_status write_call_check(const write_call *w, tansu_error *error);
/* write_call_check_savepoint -- for calls that a savepoint cannot roll back. Errors:
 * INVALID_STATE. */
tansu_status write_call_check_savepoint(const write_call *w, tansu_error *error);
/* write_call_end -- with TANSU_OK commits a transaction of its own; otherwise rolls the call back.
 * Returns the status, or the commit's. */
tansu_status write_call_end(write_call *w, tansu_status status, tansu_error *error);

/* txn_stop -- what cancels a transaction's calls; NULL without one. */
static inline const interrupt *txn_stop(const tansu_txn *txn) {
    return txn != NULL ? &txn->interrupt : NULL;
}

/* cursor_begin -- a zeroed cursor begins to read. Errors: as read_call_begin(). */
tansu_status cursor_begin(tansu_cursor *c, tansu_db *db, tansu_txn *txn, read_call *r,
                          tansu_error *error);
/* cursor_open -- after that, and after it was given something to read, which ended with `status`:
 * *cursor is the cursor, unless that was an error, or a page was lost. */
tansu_status cursor_open(tansu_cursor *c, tansu_txn *txn, tansu_status status,
                         tansu_cursor **cursor, tansu_error *error);

/* null_argument -- the error for a NULL where something is needed. */
tansu_status null_argument(const char *what, tansu_error *error);

/* key_argument -- the key of a call that needs one, validated. Errors: INVALID_ARGUMENT,
 * UNSUPPORTED. */
tansu_status key_argument(const tansu_key *key, user_key *result, tansu_error *error);

/* check_bson -- whether an input document is valid BSON; {NULL, 0} is fine when `optional`. */
tansu_status check_bson(tansu_document document, bool optional, const char *what,
                        tansu_error *error);

/* id_value -- the `_id` that a call names: the first value of a document. Errors: INVALID_BSON,
 * INVALID_ID. */
tansu_status id_value(tansu_document document, doc_value *id, tansu_error *error);

/* name_document -- adds to an error's message which document it is about, and what to do. Returns the
 * status. */
tansu_status name_document(const uint8_t *doc, size_t size, const char *advice, tansu_status status,
                           tansu_error *error);

/* value_document -- a member that is a document, as calls take it; {NULL, 0} when it is missing. */
static inline tansu_document value_document(const doc_value *value) {
    return (tansu_document){value->data, value->size};
}

/* ---- Slow operations ---- */

/* Operations are measured, and slow ones passed to options.log. Without a function to call, an
 * operation costs one comparison more. */

/* slow_log_begin -- starts the clock for an operation, if there is a function to call. `db` may be
 * NULL. */
static inline slow_log slow_log_begin(const tansu_db *db) {
    if (db == NULL || db->slow_log.function == NULL)
        return (slow_log){.function = NULL};
    slow_log timer = db->slow_log;
    timer.began = clock_now();
    return timer;
}

/* slow_log_report -- calls the function if `nanoseconds` are not below the limit. `query` and
 * `hints`: {NULL, 0} for an operation without. */
void slow_log_report(const slow_log *timer, uint64_t nanoseconds, tansu_log_kind kind,
                     tansu_status status, const char *collection, tansu_document query,
                     tansu_document hints);

/* slow_log_end -- stops the clock. Returns the status. */
static inline tansu_status slow_log_end(const slow_log *timer, tansu_log_kind kind,
                                        tansu_status status, const char *collection,
                                        tansu_document query, tansu_document hints) {
    if (timer->function != NULL)
        slow_log_report(timer, clock_now() - timer->began, kind, status, collection, query, hints);
    return status;
}

/* cursor_log -- when opening a cursor has ended with `status`: notes what is passed on when the
 * cursor is closed, with the time of all steps. `collection` may be NULL. Returns the status; after
 * MEMORY the cursor is closed. */
tansu_status cursor_log(const slow_log *timer, tansu_log_kind kind, tansu_status status,
                        const char *collection, tansu_document query_bson, tansu_document hints,
                        tansu_cursor **cursor, tansu_error *error);

#endif
