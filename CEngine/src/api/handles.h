/*
 * api/handles.h -- what the public handles are. Part api: the only part that tansu.h's callers see;
 * may call every other part.
 */
#ifndef TANSU_API_HANDLES_H
#define TANSU_API_HANDLES_H

#include "catalog/change.h"
#include "query/query.h"

/* The public names are of structs that hold nothing but the inner ones, so that no part but this one
 * depends on the public handles. */
struct tansu_db {
    database inner;
};

/* What tansu_txn_roll_back() goes back to. */
typedef struct savepoint {
    change_mark mark;
    uint64_t cursors_opened; /* of the transaction, before it */
} savepoint;

struct tansu_txn {
    database *db;
    tansu_txn_mode mode;
    tansu_durability durability;
    bool started;        /* it has a change or a version */
    change *change;      /* NULL in a read transaction */
    version *version;    /* held by a read transaction */
    uint32_t cursors;    /* open ones */
    uint64_t opened;     /* cursors that ever were */
    tansu_cursor *first; /* open one */
    savepoint *savepoints;
    uint32_t savepoint_count;
    uint32_t savepoint_room;
    interrupt interrupt; /* tansu_txn_cancel() */
    bool ended;          /* aborted while cursors were open: the last of them frees this */
};

struct tansu_cursor {
    database *db;
    tansu_txn *txn; /* NULL: on its own, holding a version */
    version *version;
    view view;
    query *query;
    query_run *run;
    uint64_t faults;               /* log_faults() that were told */
    interrupt interrupt;           /* tansu_cursor_cancel() */
    tansu_buffer copy;             /* in a write transaction: the document last shown */
    uint64_t number;               /* of the transaction's cursors, counted from 1 */
    bool undone;                   /* its transaction went back to before it */
    tansu_cursor *previous, *next; /* of the transaction */
};

/* db_inner -- the database behind a handle. */
static inline database *db_inner(tansu_db *db) {
    return (database *)db;
}

/* What a call reads in: a transaction's state, or the newest version held for its length. */
typedef struct reading {
    database *db;
    version *held; /* NULL inside a transaction */
    const version *version;
    view view;
    uint64_t faults; /* log_faults() when it began */
} reading;

/* reading_begin -- errors: MISUSE (no handle, or another database's transaction). */
tansu_status reading_begin(reading *r, tansu_db *db, tansu_txn *txn, tansu_error *error);
/* reading_end -- returns the status that the call came to, or IO when what it read was not all there. */
tansu_status reading_end(reading *r, tansu_status status, tansu_error *error);

/* What a call writes in: a transaction's change, or one of its own. */
typedef struct writing {
    change *change;
    bool own;
    change_mark mark;
    tansu_durability durability;
    const interrupt *interrupt; /* what stops a long call, or NULL */
    bool savepoint;             /* the transaction may yet go back to before this call */
} writing;

/* writing_begin -- errors: MISUSE, READ_ONLY, BUSY, FAILED. */
tansu_status writing_begin(writing *w, tansu_db *db, tansu_txn *txn, tansu_error *error);
/* writing_view -- reading what is changed; a long read stops when the transaction is cancelled. */
view writing_view(const writing *w);
/* writing_check -- to be asked before each document that is changed. Errors: CANCELLED. */
tansu_status writing_check(const writing *w, tansu_error *error);
/* writing_for_good -- to be asked by a call that no savepoint can take back. Errors: MISUSE. */
tansu_status writing_for_good(const writing *w, tansu_error *error);
/* writing_end -- with TANSU_OK commits a change of its own; otherwise takes back what the call did.
 * Returns the status, or the commit's. */
tansu_status writing_end(writing *w, tansu_status status, tansu_error *error);

/* txn_stop -- what cancels a transaction's calls; NULL without one. */
static inline const interrupt *txn_stop(const tansu_txn *txn) {
    return txn != NULL ? &txn->interrupt : NULL;
}

/* misuse -- the error for a NULL where something is needed. */
tansu_status misuse(const char *what, tansu_error *error);

/* check_bson -- whether an input document is valid BSON; NULL with size 0 is fine when `optional`. */
tansu_status check_bson(const void *bson, size_t size, bool optional, const char *what,
                        tansu_error *error);

#endif
