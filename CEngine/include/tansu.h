/*
 * tansu.h -- the public C API of Tansu, an embedded JSON document database.
 *
 * INTRODUCTION
 *
 * A database is one folder (or memory only). It holds named collections; a collection holds
 * documents in BSON form (https://bsonspec.org), each with an `_id` that no other document of its
 * collection has. Every change is one commit: a frame of an append-only log, there whole or not at
 * all. Queries are documents too; docs/query-language.md tells their meaning.
 *
 * CONVENTIONS
 *
 *  - A function that can fail returns a tansu_status: TANSU_OK (0) on success. Its last parameter
 *    is an optional tansu_error* (NULL is fine) that is filled in on failure and left alone on
 *    success. What a function says under "Errors" is complete, but for these, which almost every
 *    call can return and which are not repeated: TANSU_E_MEMORY (an allocation failed, nothing was
 *    changed), TANSU_E_MISUSE (a NULL handle or a call that the handle's state forbids),
 *    TANSU_E_CLOSED (the database is being closed) and, for calls that read, TANSU_E_IO and
 *    TANSU_E_CORRUPT (the disk failed, or what it returned does not check out).
 *  - Documents go in as pointer and length in BSON form and need no alignment. The engine copies
 *    what it keeps: input memory may be freed when the call returns.
 *  - Results come back in a tansu_buffer that the caller owns and may use again and again, or as
 *    pointers into memory that a cursor or a feed pins.
 *  - Text is UTF-8. Collection and index names are NUL-terminated, 1 to 120 bytes.
 *  - A call that takes `tansu_txn *txn` works inside that transaction, or, with NULL, on its own:
 *    a read then sees the newest commit, a write is a commit of its own.
 *  - Everything may be called from any thread, and a database by many threads at once. One
 *    transaction, cursor or feed is used by one thread at a time.
 *  - In a BSON document of options or hints, true and false may also be given as a number: 0 is
 *    false.
 *
 * ENDING A LONG CALL
 *
 *  - By time: the hint {"$maxTimeMS": n} of find, count, explain, distinct, aggregate, update, find
 *    and modify, and remove. The error is TANSU_E_TIMEOUT.
 *  - From another thread: tansu_cursor_cancel() ends the steps of a cursor, and
 *    tansu_feed_cancel() the waiting of a feed. Every other call is
 *    cancelled together with the transaction that it is made in: begin one, for reading or for
 *    writing, make the call in it, let the other thread call tansu_txn_cancel(), and abort it. That
 *    is so for tansu_find() too, which does the whole work of $onlycount and $explain, and for
 *    tansu_index_create(). The error is TANSU_E_CANCELLED. A call on its own, without a transaction,
 *    can't be cancelled, but for tansu_index_build(): its progress function ends it.
 *  - The wait for another writer: tansu_txn_prepare() makes a transaction that can be cancelled while
 *    tansu_txn_start() waits.
 *  - Either way nothing of the call is kept.
 *
 * CAVEATS
 *
 *  - Do not open the same folder through fork(2): close before, open after.
 *  - The folder must lie on a file system with working flock(2) and shared mappings: not on NFS.
 *  - A failed fsync makes the database read-only until it is opened again (TANSU_E_FAILED), because
 *    the operating system may have dropped the very pages that it could not write.
 *  - A handler of SIGBUS is in place while a database is open, for the log's own pages: see tansu_read_mode.
 *  - On a full disk deletions and tansu_compact() go on, out of a reserve; until that is filled up again
 *    saving is TANSU_E_FULL.
 */
#ifndef TANSU_H
#define TANSU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TANSU_VERSION_MAJOR 0
#define TANSU_VERSION_MINOR 1
#define TANSU_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define TANSU_API __attribute__((visibility("default")))
#else
#define TANSU_API
#endif

/* ---- Bounds ------------------------------------------------------------------------------- */

#define TANSU_MAX_DOCUMENT_SIZE (16 * 1024 * 1024) /* bytes of one document in BSON form */
#define TANSU_MAX_DEPTH 100                        /* documents and arrays inside each other */
#define TANSU_MAX_KEYS (1024 * 1024)               /* keys of one document, inner ones apart */
#define TANSU_MAX_NAME 120                         /* bytes of a collection's or index's name */
#define TANSU_MAX_INDEX_PATHS 16                   /* paths of one compound index */
#define TANSU_MAX_INDEXES 64          /* indexes of one collection, `_id` not counted */
#define TANSU_MAX_INDEX_ENTRIES 10000 /* entries one document may make in one index */
#define TANSU_MAX_TRANSACTION_SIZE (1024u * 1024u * 1024u) /* bytes of one commit in the log */

/* ---- Status and errors -------------------------------------------------------------------- */

/* What a call came to. The numbers never change; new ones may be added. */
typedef enum tansu_status {
    TANSU_OK = 0,
    TANSU_DONE = 1,      /* a cursor has no further document; not an error */
    TANSU_E_MEMORY = 10, /* out of memory; nothing was changed */
    TANSU_E_MISUSE = 11, /* a handle is NULL, of the wrong kind or in the wrong state */
    TANSU_E_CLOSED = 12, /* the database is closed or closing */
    TANSU_E_IO = 13,     /* a system call failed; sys_errno says how */
    TANSU_E_FULL = 14,   /* the disk is full, or the process may not make files that large;
                                  nothing of the commit was kept */
    TANSU_E_LOCKED = 15, /* another process, or another handle here, has it open */
    TANSU_E_BUSY = 16,   /* another transaction is writing and the wait ran out, or this
                                     thread itself holds that transaction */
    TANSU_E_READ_ONLY =
        17,               /* opened read-only, a write through a read transaction, or (any call that
                                  writes) the file system has become read-only, as many do after an error */
    TANSU_E_CORRUPT = 18, /* stored bytes do not check out; context names file and offset */
    TANSU_E_VERSION = 19, /* the files are of a newer format than this library reads */
    TANSU_E_NOT_FOUND = 20,        /* no such database, collection, index or document */
    TANSU_E_EXISTS = 21,           /* the name or the `_id` is taken */
    TANSU_E_NOT_UNIQUE = 22,       /* a unique index already holds this value */
    TANSU_E_INVALID_NAME = 23,     /* a collection or index name that is not allowed */
    TANSU_E_INVALID_BSON = 24,     /* bytes that are not a valid BSON document */
    TANSU_E_INVALID_DOCUMENT = 25, /* valid BSON that may not be stored (key, duplicate, ...) */
    TANSU_E_INVALID_ID = 26,       /* an `_id` of a kind that cannot be one */
    TANSU_E_INVALID_QUERY = 27,    /* an unknown or malformed operator, hint, path or operand */
    TANSU_E_INVALID_INDEX = 28,    /* an index definition that makes no sense */
    TANSU_E_INVALID_JSON = 29,     /* text that is not JSON, or not the extended JSON of BSON */
    TANSU_E_INVALID_COMMAND = 30,  /* a JSON command with an unknown or missing member */
    TANSU_E_TOO_LARGE = 31,        /* over one of the bounds above */
    TANSU_E_CANCELLED = 32,        /* stopped by the caller */
    TANSU_E_TIMEOUT = 33,          /* stopped by its own time limit */
    TANSU_E_FAILED = 34,     /* an fsync failed, of this commit or an earlier one: the database
                                      is read-only, and opening it again shows what was kept */
    TANSU_E_UNSUPPORTED = 35 /* understood, but not in this version of the library */
} tansu_status;

/* What went wrong, for people (message, context) and for programs (code, path, offset). */
typedef struct tansu_error {
    tansu_status code;
    int sys_errno;     /* errno of the failed system call, or 0 */
    int64_t offset;    /* byte offset in the input or file, or -1 */
    char message[512]; /* one sentence: what is wrong and how to mend it */
    char context[256]; /* where: a path, an operator, a file or a name; may be empty */
} tansu_error;

/* The lasting name of a status, such as "NOT_UNIQUE"; never NULL. */
TANSU_API const char *tansu_status_name(tansu_status status);

/* The library's version as text, "0.1.0". */
TANSU_API const char *tansu_version(void);

/* ---- Memory that crosses the API ----------------------------------------------------------- */

/* Bytes that a call returns. Set it to zero (or TANSU_BUFFER_INIT) before its first use; calls
 * replace what it holds and reuse its memory; tansu_buffer_free() ends it. */
typedef struct tansu_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
} tansu_buffer;

#define TANSU_BUFFER_INIT \
    { NULL, 0, 0 }

/* A document that a call takes: `data` points at BSON, `size` is what the caller vouches for. */
typedef struct tansu_document {
    const void *data;
    size_t size;
} tansu_document;

/* Frees a buffer's memory and sets it to zero; fine on NULL or an empty one. */
TANSU_API void tansu_buffer_free(tansu_buffer *buffer);

/* Frees a text that tansu_execute_json() returned; fine on NULL. */
TANSU_API void tansu_free(void *memory);

/* ---- Opening and closing ------------------------------------------------------------------- */

typedef struct tansu_db tansu_db;
typedef struct tansu_txn tansu_txn;
typedef struct tansu_cursor tansu_cursor;
typedef struct tansu_feed tansu_feed;

/* What a commit that returned survives. */
typedef enum tansu_durability {
    TANSU_DURABILITY_DEFAULT = 0, /* FULL when opening; the database's own in a transaction */
    TANSU_DURABILITY_FULL = 1,    /* power loss: fdatasync before returning, shared by writers */
    TANSU_DURABILITY_PROCESS = 2, /* kill -9 of this process: the bytes are with the kernel */
    TANSU_DURABILITY_INTERVAL = 3 /* kill -9 at once, power loss after interval_ms */
} tansu_durability;

typedef enum tansu_store {
    TANSU_STORE_PERSISTENT = 0, /* the folder `path` */
    TANSU_STORE_TEMPORARY =
        1,                 /* a new folder (in `path`, or the system's place), removed at close */
    TANSU_STORE_MEMORY = 2 /* no files at all */
} tansu_store;

/*
 * The log is read through mapped files. A page that the system can't bring in (the device fails, or somebody
 * has cut the file) raises SIGBUS in the thread that touches it.
 *
 * GUARDED: while a database is open in this way, a handler of SIGBUS (macOS: and of SIGSEGV) is in place. It takes
 * the faults of the log's mappings alone, and passes every other on to the handler that was there before;
 * it goes when the last database is closed. The call that met the page ends with TANSU_E_IO, and so does
 * every later one that needs it; documents elsewhere can be read as before. Calls that are under way in
 * other threads at the moment of a new fault may end with TANSU_E_IO too. A page that is lost while it is
 * written ends the commit with TANSU_E_IO, and writing (TANSU_E_FAILED). A program that sets a handler of its own
 * while a database is open passes on what it does not know to the one that was there before. Documents that a
 * cursor or a feed has shown in place are bytes of the mapping: a page of them that has to be brought in
 * again, and can't, is zeros, and the next call on the handle ends with TANSU_E_IO.
 *
 * UNGUARDED: no handler; SIGBUS is the program's.
 */
typedef enum tansu_read_mode { TANSU_READ_GUARDED = 0, TANSU_READ_UNGUARDED = 1 } tansu_read_mode;

/* Tells how much of a long opening is done. Called on the opening thread. */
typedef void (*tansu_progress)(void *context, uint64_t done, uint64_t total);

/* How to open. Fill it with tansu_options_init() first, then change what differs. */
typedef struct tansu_options {
    uint32_t struct_size; /* set by tansu_options_init(): lets the struct grow */
    tansu_store store;
    const char
        *path;      /* the database's folder; a relative path is taken from the working folder as it
                         is now. The folder must not be moved or replaced while it is open */
    int read_only;  /* never writes; several read-only openers may share the folder */
    int must_exist; /* NOT_FOUND instead of creating a new database */
    tansu_durability durability;
    uint32_t interval_ms;       /* for TANSU_DURABILITY_INTERVAL; default 100 */
    uint32_t busy_timeout_ms;   /* how long a writer waits for another; default 60000 */
    uint64_t segment_size;      /* bytes of a log segment, 1 MiB to 1 GiB; default 64 MiB */
    uint64_t checkpoint_bytes;  /* log bytes between background checkpoints; default 64 MiB */
    uint64_t index_cache_bytes; /* bound on index blocks kept in memory, those that are stored and
                                   those that are still to be stored together; default 64 MiB. See
                                   docs/durability.md for what comes on top of it */
    tansu_progress progress;    /* recovery and index rebuilds; may be NULL */
    void *progress_context;
    uint32_t compaction_percent; /* dead part of a log segment that has it compacted in the
                                    background: 1 to 100, default 50; 0: only tansu_compact() */
    uint32_t compaction_share;   /* percent of the time that a background compaction may copy for;
                                    1 to 100, default 25 */
    tansu_read_mode read_mode;   /* what a read error of the log comes to */
} tansu_options;

/* Fills in the defaults. */
TANSU_API void tansu_options_init(tansu_options *options);

/*
 * Opens a database, creating it unless must_exist or read_only is set. Work that a crash left
 * undone is done here: the log's tail is replayed, its torn end dropped, lost indexes rebuilt.
 * What lies on a read-only file system is opened as if read_only was set; tansu_stats() tells.
 * *db: set on success only.
 * Index files that are missing or damaged are made anew out of the log; tansu_stats() then says why
 * ("indexesRebuilt").
 * Errors: LOCKED; NOT_FOUND (must_exist or read_only and none there); EXISTS (the path is a file,
 * or a folder with other things in it); CORRUPT (damage before the last synced point; context and
 * offset say where, and nothing of the log is changed: see tansu_repair()); VERSION; IO; FULL;
 * READ_ONLY (none is there, and the file system is read-only).
 */
TANSU_API tansu_status tansu_open(const tansu_options *options, tansu_db **db, tansu_error *error);

/* Opens `path_utf8` with the defaults, or a memory store when it is NULL. Errors: tansu_open(). */
TANSU_API tansu_status tansu_open_path(const char *path_utf8, tansu_db **db);

/*
 * Ends background work, writes a checkpoint, syncs and frees the handle. Fine on NULL.
 * Errors: BUSY (a transaction, cursor or feed is still open: nothing was closed, end it and call again);
 * IO, FULL (the handle is closed all the same; acknowledged commits are safe in the log, only the
 * next opening takes longer); FAILED (likewise, and it is not known whether what was not yet forced to
 * the disk is there after power loss).
 */
TANSU_API tansu_status tansu_shutdown(tansu_db *db, tansu_error *error);

/* tansu_shutdown() for callers that do not ask: with open transactions, cursors or feeds
 * the close happens when the last of them ends. */
TANSU_API void tansu_close(tansu_db *db);

/* Makes every commit so far survive power loss. Errors: IO, FAILED. */
TANSU_API tansu_status tansu_sync(tansu_db *db, tansu_error *error);

/* Writes the changed index blocks to the cabinet now, so that the next opening has nothing to
 * replay. Writers and readers go on. Errors: IO, FULL, READ_ONLY, FAILED; CORRUPT (the index files were
 * found to be damaged; the next opening makes them anew). */
TANSU_API tansu_status tansu_checkpoint(tansu_db *db, tansu_error *error);

/*
 * A BSON document of figures: {path, store, format, sequence, collections: [{name, documents,
 * indexes: [{name, entries}]}], logBytes, logSegments, cabinetBytes, checkpointSequence, ...};
 * "indexMemoryBytes": index blocks in memory; "indexDirtyBytes": how many of them are still to be
 * stored; "writeStalls", "writeStallMicroseconds": how often and how long writers waited for a
 * checkpoint, because three quarters of index_cache_bytes were still to be stored; "snapshots": how
 * many states older than the newest are kept for those who read them, "oldestSnapshot": the commit
 * of the oldest.
 * "indexesRebuilt": text when this opening made the index files anew, and why; "indexesDamaged": true
 * when they were found to be damaged since, so that the next opening will.
 */
TANSU_API tansu_status tansu_stats(tansu_db *db, tansu_buffer *result, tansu_error *error);

/* ---- Transactions --------------------------------------------------------------------------- */

typedef enum tansu_txn_mode {
    TANSU_TXN_READ = 0, /* one consistent moment, whatever others commit */
    TANSU_TXN_WRITE = 1 /* one atomic commit over any collections; sees its own changes */
} tansu_txn_mode;

/*
 * Begins a transaction. One writer at a time: a second waits up to busy_timeout_ms. Readers never
 * wait. A transaction may move from thread to thread but is used by one at a time.
 * Errors: BUSY, READ_ONLY, FAILED.
 */
TANSU_API tansu_status tansu_txn_begin(tansu_db *db, tansu_txn_mode mode,
                                       tansu_durability durability, tansu_txn **txn,
                                       tansu_error *error);

/*
 * tansu_txn_begin() in two steps, for callers who want to end a long wait for another writer: the
 * first makes the transaction and never waits; the second waits, until another thread calls
 * tansu_txn_cancel(). In between there is nothing to be done in it but to cancel or abort it. After an
 * error of the second step it is still to be aborted.
 * Errors of the second: those of tansu_txn_begin(), CANCELLED, MISUSE (it has been started).
 */
TANSU_API tansu_status tansu_txn_prepare(tansu_db *db, tansu_txn_mode mode,
                                         tansu_durability durability, tansu_txn **txn,
                                         tansu_error *error);
TANSU_API tansu_status tansu_txn_start(tansu_txn *txn, tansu_error *error);

/*
 * Commits and frees the transaction, whatever the result. On an error nothing of it was kept,
 * except after IO from the sync itself: then it is not known to survive power loss and the
 * database accepts no more writes (FAILED) until it is opened again. *sequence (may be NULL): the
 * commit's number; 0 when the transaction changed nothing.
 * Errors: FULL, IO, FAILED, BUSY (one of its cursors is open: nothing happened, the transaction goes on).
 */
TANSU_API tansu_status tansu_txn_commit(tansu_txn *txn, uint64_t *sequence, tansu_error *error);

/*
 * Stops a transaction for good, from any thread: the call that is inside it now (tansu_txn_start()
 * too) and every later one return CANCELLED (a long read soon, a short call perhaps after it has done
 * its work), and so does tansu_txn_commit(), which then keeps nothing. The transaction must not be
 * freed meanwhile: it is the caller's part that no commit or abort runs at the same time. Fine on
 * NULL.
 */
TANSU_API void tansu_txn_cancel(tansu_txn *txn);

/* Drops everything that the transaction did and frees it. Cursors of it that are still open end
 * with MISUSE at their next step. Fine on NULL. */
TANSU_API void tansu_txn_abort(tansu_txn *txn);

/*
 * Sets a savepoint in a write transaction: the documents that are saved and removed, and the collections
 * that are created, from here on can be taken back alone. Each savepoint is ended by one release or roll
 * back, the innermost first; a commit keeps, and an abort drops, what savepoints are open over. Inside one,
 * creating or dropping an index, and dropping or renaming a collection, is MISUSE.
 * Errors: READ_ONLY.
 */
TANSU_API tansu_status tansu_txn_savepoint(tansu_txn *txn, tansu_error *error);

/* Ends the innermost savepoint and keeps what was done since. Errors: MISUSE (there is none). */
TANSU_API tansu_status tansu_txn_release(tansu_txn *txn, tansu_error *error);

/* Ends the innermost savepoint and takes back what was done since; the transaction goes on. Cursors opened
 * since end with MISUSE at their next step. Errors: MISUSE (there is none, or memory ran out half-way: then
 * the transaction can only be aborted). */
TANSU_API tansu_status tansu_txn_roll_back(tansu_txn *txn, tansu_error *error);

/* ---- Collections ---------------------------------------------------------------------------- */

/* Creates the collection unless it is there. `options` is BSON (may be NULL): {local: bool}; a
 * collection that is there with other options is EXISTS. Errors: INVALID_NAME, INVALID_QUERY (an
 * unknown option), EXISTS, and those of a commit. */
TANSU_API tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                               const void *options, size_t options_size,
                                               tansu_error *error);

/* Removes the collection, its documents and its indexes. Errors: NOT_FOUND, and a commit's. */
TANSU_API tansu_status tansu_collection_drop(tansu_db *db, tansu_txn *txn, const char *name,
                                             tansu_error *error);

/* Gives the collection another name. Errors: NOT_FOUND, EXISTS, INVALID_NAME, and a commit's. */
TANSU_API tansu_status tansu_collection_rename(tansu_db *db, tansu_txn *txn, const char *name,
                                               const char *new_name, tansu_error *error);

/* {"collections": [{"name": …, "documents": n, "options": {…}}, …]}, by name. */
TANSU_API tansu_status tansu_collection_list(tansu_db *db, tansu_txn *txn, tansu_buffer *result,
                                             tansu_error *error);

/* ---- Writing documents ---------------------------------------------------------------------- */

typedef enum tansu_save_mode {
    TANSU_SAVE = 0,   /* insert, or replace the document with the same `_id` */
    TANSU_INSERT = 1, /* EXISTS when the `_id` is taken */
    TANSU_REPLACE = 2 /* NOT_FOUND when it is not */
} tansu_save_mode;

/*
 * Saves documents in one commit, creating the collection if need be. A document without `_id`
 * gets a new ObjectID as its first field. *ids (may be NULL): BSON {"ids": [_id, …]} in order.
 * On an error nothing of the call is kept (a surrounding transaction stays as it was before) and
 * error->offset is the number of the document at fault, counted from 0.
 * Errors: INVALID_BSON, INVALID_DOCUMENT, INVALID_ID, TOO_LARGE, NOT_UNIQUE, EXISTS, NOT_FOUND,
 * INVALID_NAME, and a commit's.
 */
TANSU_API tansu_status tansu_save(tansu_db *db, tansu_txn *txn, const char *collection,
                                  const tansu_document *documents, size_t count,
                                  tansu_save_mode mode, tansu_buffer *ids, tansu_error *error);

/*
 * Removes the documents that match, in one commit. *removed (may be NULL): how many. A collection
 * that does not exist has none.
 * Errors: INVALID_BSON, INVALID_QUERY, TOO_LARGE (a sort over its memory, and $allowDiskUse is false), FULL
 * and IO (of its temporary file), TIMEOUT, CANCELLED, and a commit's.
 */
TANSU_API tansu_status tansu_remove(tansu_db *db, tansu_txn *txn, const char *collection,
                                    const void *query, size_t query_size, const void *hints,
                                    size_t hints_size, int64_t *removed, tansu_error *error);

/*
 * Updates the documents that match, in one commit. The matches are fixed before the first change.
 * `update` (BSON) holds operators, such as {"$inc": {"age": 1}} (docs/query-language.md), or is a
 * whole document that takes the place of the match, which must then be one: ask for {"$max": 1}.
 * `query` may be NULL (all documents) and have $upsert or $dropall beside its paths; `hints` (may be
 * NULL) may have $orderby, $skip, $max, $index, $collation (which operators that compare go by as
 * well), $maxTimeMS, $upsert and $arrayFilters.
 * *result (may be NULL): {"matched": n, "modified": n, "upserted": [_id, …]}, and "removed" after
 * $dropall; documents that an update leaves as they were are matched and not modified.
 * On an error nothing of the call is kept. Errors: INVALID_BSON, INVALID_QUERY (context names
 * operator and path; also an operator that does not fit a document), INVALID_ID (it would change an
 * `_id`), INVALID_DOCUMENT, TOO_LARGE, NOT_UNIQUE, EXISTS (an upsert with an `_id` that is taken),
 * INVALID_NAME, TIMEOUT, CANCELLED, and a commit's.
 */
TANSU_API tansu_status tansu_update(tansu_db *db, tansu_txn *txn, const char *collection,
                                    const void *query, size_t query_size, const void *update,
                                    size_t update_size, const void *hints, size_t hints_size,
                                    tansu_buffer *result, tansu_error *error);

/* What tansu_find_and_modify() does, and returns. */
typedef enum tansu_modify_mode {
    TANSU_MODIFY_RETURN_BEFORE = 0, /* update; the document as it was */
    TANSU_MODIFY_RETURN_AFTER = 1,  /* update; the document as it is now */
    TANSU_MODIFY_REMOVE = 2         /* remove, `update` is NULL; the document as it was */
} tansu_modify_mode;

/*
 * Updates or removes the first document that matches, in the order of $orderby, and returns it, in
 * one commit. Beside the hints of tansu_update(), $fields says what of it is returned. *result (may
 * be NULL) is the document; its size is 0 when there is none: nothing matched, or an upsert was
 * asked for what was before. Errors: as tansu_update(); MISUSE (an unknown mode, or an update
 * beside REMOVE).
 */
TANSU_API tansu_status tansu_find_and_modify(tansu_db *db, tansu_txn *txn, const char *collection,
                                             const void *query, size_t query_size,
                                             const void *update, size_t update_size,
                                             const void *hints, size_t hints_size,
                                             tansu_modify_mode mode, tansu_buffer *result,
                                             tansu_error *error);

/* Removes the document whose id is the first value of `id`, a BSON document like {"_id": 7}.
 * *removed: 1, or 0 when there is none. Errors: INVALID_BSON, INVALID_ID, and a commit's. */
TANSU_API tansu_status tansu_remove_id(tansu_db *db, tansu_txn *txn, const char *collection,
                                       const void *id, size_t id_size, int *removed,
                                       tansu_error *error);

/* ---- Reading -------------------------------------------------------------------------------- */

/* Copies the document whose id is the first value of `id`, a BSON document like {"_id": 7}.
 * Errors: NOT_FOUND (no such document or collection; error is filled in, result is emptied),
 * INVALID_BSON, INVALID_ID. */
TANSU_API tansu_status tansu_get(tansu_db *db, tansu_txn *txn, const char *collection,
                                 const void *id, size_t id_size, tansu_buffer *result,
                                 tansu_error *error);

/*
 * Starts a query. `query` and `hints` are BSON; NULL means empty. The cursor sees the database as
 * of one commit (or, in a write transaction, as of this call) whatever is written meanwhile, and
 * must be closed before the database is. Without $orderby documents come in the order in which
 * they were first inserted. A collection that does not exist has no documents.
 * $onlycount makes the one result {"count": n}; $explain makes it the plan, after running it.
 * Errors: INVALID_BSON, INVALID_QUERY (context names the path and operator), TOO_LARGE (compiled or planned,
 * the query would take more memory than it may: docs/query-language.md), TIMEOUT, CANCELLED (of its
 * transaction); with $onlycount, $explain or in a write transaction also those of tansu_cursor_next().
 */
TANSU_API tansu_status tansu_find(tansu_db *db, tansu_txn *txn, const char *collection,
                                  const void *query, size_t query_size, const void *hints,
                                  size_t hints_size, tansu_cursor **cursor, tansu_error *error);

/* Steps to the next document. On TANSU_OK *document points at memory that is valid until the
 * next call on this cursor. TANSU_DONE when there is none, then and at every later call.
 * Errors: CANCELLED, TIMEOUT ($maxTimeMS), TOO_LARGE (a sort over its memory, and $allowDiskUse is false),
 * FULL and IO (of its temporary file; the database goes on), INVALID_QUERY (a regular expression that needs
 * more steps than one match may take). */
TANSU_API tansu_status tansu_cursor_next(tansu_cursor *cursor, tansu_document *document,
                                         tansu_error *error);

/*
 * Stops a cursor for good, from any thread: the step that is going on now, if it is a long one, and
 * every later one return CANCELLED. The cursor must not be closed meanwhile. Fine on NULL.
 */
TANSU_API void tansu_cursor_cancel(tansu_cursor *cursor);

/* Ends the cursor and unpins what it saw. Fine on NULL. */
TANSU_API void tansu_cursor_close(tansu_cursor *cursor);

/* Counts the documents that match ($skip and $max apply). Errors: as tansu_find() and
 * tansu_cursor_next(). */
TANSU_API tansu_status tansu_count(tansu_db *db, tansu_txn *txn, const char *collection,
                                   const void *query, size_t query_size, const void *hints,
                                   size_t hints_size, int64_t *count, tansu_error *error);

/* Runs the query, and tells how: candidates with costs, the chosen plan, bounds, keys and
 * documents examined, documents returned, milliseconds. Errors: as tansu_find() and
 * tansu_cursor_next(). */
TANSU_API tansu_status tansu_explain(tansu_db *db, tansu_txn *txn, const char *collection,
                                     const void *query, size_t query_size, const void *hints,
                                     size_t hints_size, tansu_buffer *result, tansu_error *error);

/* ---- Asking one document -------------------------------------------------------------------- */

/* A compiled query that is asked about documents that need not be in a database. Used by one thread at a
 * time. */
typedef struct tansu_matcher tansu_matcher;

/* Compiles a query. $do has no meaning in it. Errors: INVALID_BSON, INVALID_QUERY, TOO_LARGE. */
TANSU_API tansu_status tansu_matcher_new(const void *query, size_t query_size,
                                         tansu_matcher **matcher, tansu_error *error);

/* Tells whether a document matches; it is valid BSON, but need not be one that may be stored. *matches: 1 or
 * 0. Errors: INVALID_BSON, INVALID_QUERY (a regular expression that needs more steps than one match may
 * take). */
TANSU_API tansu_status tansu_matcher_ask(tansu_matcher *matcher, const void *document, size_t size,
                                         int *matches, tansu_error *error);

/* Frees it. Fine on NULL. */
TANSU_API void tansu_matcher_free(tansu_matcher *matcher);

/* ---- Aggregates ----------------------------------------------------------------------------- */

/*
 * The different values that a path has in the documents that match, an array by its elements:
 * {"values": [...]} in the order of values; of equal ones (1 and 1.0, or strings that $collation takes
 * for equal) the one inserted first. What is missing is no value. $skip and $max apply to the values;
 * $explain makes it the plan.
 * Errors: as tansu_find() and tansu_cursor_next(), and TOO_LARGE (values over the memory, and
 * $allowDiskUse is false; an answer over 256 MiB).
 */
TANSU_API tansu_status tansu_distinct(tansu_db *db, tansu_txn *txn, const char *collection,
                                      const char *path, const void *query, size_t query_size,
                                      const void *hints, size_t hints_size, tansu_buffer *result,
                                      tansu_error *error);

/*
 * Groups the documents that match and tells figures about each group: {"groups": [{...}, ...]}.
 * `group`: BSON {"by": path | [path, ...] | {name: path, ...}, "fields": {name: {operator: path}}}
 * with the operators $count, $sum, $avg, $min, $max, $first, $last, $distinct
 * (docs/query-language.md). Without "by" there is one group, also of no documents. Groups come in
 * the order of their keys; $orderby (members of the groups), $skip and $max apply to groups;
 * $collation is how keys, values and orders compare; $explain makes it the plan.
 * Errors: as tansu_find() and tansu_cursor_next(), and TOO_LARGE (groups over the memory, and
 * $allowDiskUse is false; a single group over it; an answer over 256 MiB).
 */
TANSU_API tansu_status tansu_aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                                       const void *query, size_t query_size, const void *group,
                                       size_t group_size, const void *hints, size_t hints_size,
                                       tansu_buffer *result, tansu_error *error);

/* ---- Indexes -------------------------------------------------------------------------------- */

/*
 * Creates an index over the documents that are there and those to come; the collection is created
 * if need be. `keys`: BSON {path: 1 | -1, …}; `options`: BSON or NULL, with
 *   unique: bool           no two documents have one value in it
 *   sparse: bool           documents in which none of the paths yields a value are left out
 *   caseInsensitive: bool  strings by their Unicode case folding; for $icase and $collation that
 *                          compare so, and no others: $index may name it all the same, it is then
 *                          read from end to end
 *   partialFilter: {…}     a selector of comparisons, $in, $nin, $exists and $begin, joined by $and, $or,
 *                          $nor and $not: other documents are left out; queries use the index when they
 *                          ask for none of those
 * The same index again is no harm. A NULL or empty name becomes "path_1_other_-1" from the keys.
 * Without `txn` others go on writing while it is built, see tansu_index_build(); in a transaction
 * it is built in the writer's turn.
 * Errors: INVALID_NAME, INVALID_INDEX, EXISTS (the name with another definition), NOT_UNIQUE
 * (context names the index, the message the value), TOO_LARGE (too many indexes or entries), and a
 * commit's.
 */
TANSU_API tansu_status tansu_index_create(tansu_db *db, tansu_txn *txn, const char *collection,
                                          const char *name, const void *keys, size_t keys_size,
                                          const void *options, size_t options_size,
                                          tansu_error *error);

/* Tells how many of about `total` documents a build has read; called on the building thread, with no
 * lock held, and again and again with the same figures while their entries are sorted and while changes
 * are caught up with. Returning 0 ends the build, which leaves nothing behind. */
typedef int (*tansu_build_progress)(void *context, uint64_t done, uint64_t total);

/*
 * tansu_index_create() in a commit of its own, on a collection in use: it is read as of one commit
 * while others read and write, and what they changed is caught up with before the new index is
 * committed. `progress` may be NULL. Errors: those of tansu_index_create(), CANCELLED.
 */
TANSU_API tansu_status tansu_index_build(tansu_db *db, const char *collection, const char *name,
                                         const void *keys, size_t keys_size, const void *options,
                                         size_t options_size, tansu_build_progress progress,
                                         void *context, tansu_error *error);

/* Drops an index by name. Errors: NOT_FOUND, and a commit's. */
TANSU_API tansu_status tansu_index_drop(tansu_db *db, tansu_txn *txn, const char *collection,
                                        const char *name, tansu_error *error);

/* {"indexes": [{"name": …, "keys": {…}, "unique": bool, "multikey": bool, "entries": n}, …]}, with
 * "sparse": true, "caseInsensitive": true and "partialFilter": {…} where they were asked for.
 * Errors: NOT_FOUND. */
TANSU_API tansu_status tansu_index_list(tansu_db *db, tansu_txn *txn, const char *collection,
                                        tansu_buffer *result, tansu_error *error);

/* ---- Changes -------------------------------------------------------------------------------- */

/* What happened. */
typedef enum tansu_change_kind {
    TANSU_CHANGE_INSERT = 1, /* a document that was not there before the commit */
    TANSU_CHANGE_UPDATE =
        2, /* one that was: it has another content, or was saved again as it was */
    TANSU_CHANGE_DELETE = 3,
    TANSU_CHANGE_COLLECTION_CREATED = 4,
    TANSU_CHANGE_COLLECTION_DROPPED = 5, /* with all its documents, of which nothing more is told */
    TANSU_CHANGE_COLLECTION_RENAMED =
        6 /* with all its documents: from `collection` to `new_name` */
} tansu_change_kind;

/* One change. Fill it with tansu_change_init() first. What it points at is valid until the next call on
 * the feed, that which closes it included. */
typedef struct tansu_change {
    uint32_t struct_size; /* set by tansu_change_init(): lets the struct grow */
    tansu_change_kind kind;
    uint64_t sequence;      /* of the commit */
    int last;               /* nothing more of this commit is told */
    const char *collection; /* its name as of the change */
    const char *new_name;   /* of a renamed one; otherwise NULL */
    tansu_document id;      /* {"_id": ...} of a document; otherwise {NULL, 0} */
    tansu_document before; /* {NULL, 0} when not asked for, not there, or its room was given back */
    tansu_document after;  /* {NULL, 0} when not asked for, or there is none */
} tansu_change;

/* Fills in what says which version of the struct this is, and zeros. */
TANSU_API void tansu_change_init(tansu_change *change);

#define TANSU_FEED_NOW UINT64_MAX /* for tansu_feed_open(): what is committed from now on */

/*
 * Opens a feed: all changes of the commits behind number `since`, and then those to come, for ever.
 * Whole commits, in their order, each once, and only those that readers see; of a document one change
 * a commit, from what it was before to what it is after. A program that keeps the number of the last
 * commit that it was told to the end goes on there with a feed of its next run.
 * `options` (BSON, may be NULL): {"collections": [name, ...]} (by their names as of the change; all),
 * {"before": bool}, {"after": bool} (whether documents are shown; false).
 *
 * The log is the feed's buffer: one that is not read takes no more memory with time, and loses
 * nothing. It counts as open like a cursor for tansu_shutdown() and tansu_close().
 *
 * Compaction thins what is past: of each document the newest version stays, and deletions go where the
 * log begins. So:
 *  - 0 is always right: everything that is there, then what follows. But versions that were replaced
 *    before a compaction are not told, so that between, the changes told make up no moment that ever
 *    was, until they have come to the moment of the compaction; and a document's first news may be an
 *    UPDATE.
 *  - Another number is refused with NOT_FOUND when deletions behind it may be gone, or when the
 *    database has not come so far (a backup was restored). Then read everything and begin with
 *    TANSU_FEED_NOW, opened before reading: what is committed in between is told, too. Or begin at 0
 *    and an empty copy.
 *  - For an open feed compaction keeps deletions that it has not been told.
 * Errors: NOT_FOUND, INVALID_BSON, INVALID_QUERY (an unknown option).
 */
TANSU_API tansu_status tansu_feed_open(tansu_db *db, uint64_t since, const void *options,
                                       size_t options_size, tansu_feed **feed, tansu_error *error);

/*
 * Waits for the next change up to `timeout_ms` (0: does not wait; negative: for ever). DONE when none
 * came. While changes of a commit of more than 1 MiB are told, its moment is pinned, as by a cursor; so it
 * is with a feed that began at 0 until it has passed what was compacted before it was opened.
 * Errors: CANCELLED, CLOSED (tansu_close() was called).
 */
TANSU_API tansu_status tansu_feed_next(tansu_feed *feed, int64_t timeout_ms, tansu_change *change,
                                       tansu_error *error);

/*
 * Waits until something was committed that was not told, in whatever collection, and passes over all of
 * it: *sequence (may be NULL) is the newest commit, and the feed goes on behind it. For programs that
 * read anew what they show whenever there are changes. Timeout, DONE and errors: as tansu_feed_next().
 */
TANSU_API tansu_status tansu_feed_skip(tansu_feed *feed, int64_t timeout_ms, uint64_t *sequence,
                                       tansu_error *error);

/*
 * Stops a feed for good, from any thread: the call that waits in it and every later one return
 * CANCELLED. The feed must not be closed meanwhile. Fine on NULL.
 */
TANSU_API void tansu_feed_cancel(tansu_feed *feed);

/* Ends the feed. Fine on NULL. */
TANSU_API void tansu_feed_close(tansu_feed *feed);

/* ---- Upkeep --------------------------------------------------------------------------------- */

/* Tells how much of a long task is done, in units of the task's own; called on the calling thread
 * with no lock held. Returning 0 ends the task with CANCELLED; nothing half done is left. */
typedef int (*tansu_task_progress)(void *context, uint64_t done, uint64_t total);

/*
 * Gives the room of deleted and replaced documents back to the disk: log segments with dead records
 * are written anew without them, and the cabinet is shrunk. Readers and writers go on; documents
 * that open cursors and transactions still see are kept until those end. At most one segment's size
 * of extra room is taken at a time. The same happens by itself in the background
 * (options.compaction_percent).
 * *report (may be NULL): BSON {bytesBefore, bytesAfter, segments, records}. `progress` may be NULL;
 * its units are bytes. Errors: FULL, IO, CORRUPT (a damaged segment is left as it is), CANCELLED,
 * READ_ONLY, BUSY (a backup, a verification or another compaction is under way).
 */
TANSU_API tansu_status tansu_compact(tansu_db *db, tansu_task_progress progress, void *context,
                                     tansu_buffer *report, tansu_error *error);

/*
 * Checks everything that is stored as of now: every frame and record of the log, every document's
 * BSON, every index block, each index against the documents in both directions, uniqueness and
 * counts. Readers and writers go on. *report (may be NULL) is BSON, filled in on success and after
 * CORRUPT: {"ok": bool, "segments", "frames", "records", "documents", "entries", "damagedDocuments": n
 * (those that can't be read or lie in a damaged part of the log, where no checksum protects them),
 * "byCollection": [{"name", "documents", "damaged"}, ...], "problems": [{"file", "offset",
 * "collection", "index", "message"}, ...] (at most 1000), "problemCount": n}.
 * Problems of index files alone are mended by the next opening, which makes them anew; until then no
 * more is written to them. A database that does not open at all says where it is damaged at opening.
 * Errors: CORRUPT (there are problems; the error is the first one), CANCELLED, IO, BUSY (a compaction
 * on demand, a backup or another verification is under way, or one in the background waits for this
 * thread's own write transaction).
 */
TANSU_API tansu_status tansu_verify(tansu_db *db, tansu_task_progress progress, void *context,
                                    tansu_buffer *report, tansu_error *error);

/*
 * Salvages a damaged database: every document that can be read in the folder `from`, which is not
 * changed, goes into a new database at `to`, with the collections and indexes that are known. A frame of
 * the log whose checksum is right is taken wherever it lies. Of a document with several readable
 * versions the newest is taken. Where a checksum does not fit, what still reads as a whole document is
 * taken all the same and counted as unprotected: a value in it may be wrong. A collection that lost
 * its name has the one that the index files know, or is called recovered_<number>; an index that is
 * not unique any more is made without that.
 * *report (may be NULL): {"documents", "unprotected", "olderDocuments" (a newer version is known to be
 * lost), "uncertainDocuments" (a lost commit may have changed or deleted them; three kinds of the
 * documents that are there, and each document is of one kind at most), "collections", "indexes",
 * "lostBytes", "lostCommits", "lostDocuments" (which the index files know, if they can be read): n,
 * "doubtful": [{"collection", "_id", "reason": "unprotected" | "older" | "uncertain"}, ...] (at most
 * 1000 of those three kinds), "byCollection": [{"name", "documents", "unprotected", "older",
 * "uncertain", "lost"}, ...], "problems": [{"file", "offset", "size", "collection", "index",
 * "message"}, ...] (at most 1000), "problemCount": n}. Returns OK also when something was lost: the
 * report says what.
 * Errors: NOT_FOUND (no database at `from`), LOCKED (it is open), EXISTS (`to` is there), FULL, IO,
 * VERSION, CANCELLED.
 */
TANSU_API tansu_status tansu_repair(const char *from, const char *to, tansu_task_progress progress,
                                    void *context, tansu_buffer *report, tansu_error *error);

/* What a backup is. */
typedef enum tansu_backup_form {
    TANSU_BACKUP_FOLDER = 0, /* a database folder, which can be opened as it is */
    TANSU_BACKUP_FILE = 1    /* one file, compressed (gzip), with checksums: for tansu_restore() */
} tansu_backup_form;

/*
 * Copies the database as of one commit to a new folder or file, while readers and writers go on.
 * What is at `to` afterwards is whole and on the disk, or, after an error, not there. *report (may
 * be NULL): {"sequence", "bytes", "documents": n}. Errors: EXISTS (`to` is there), FULL, IO, CORRUPT
 * (what is read does not check out), CANCELLED, BUSY (a compaction on demand, a verification or another backup
 * goes on).
 */
TANSU_API tansu_status tansu_backup(tansu_db *db, const char *to, tansu_backup_form form,
                                    tansu_task_progress progress, void *context,
                                    tansu_buffer *report, tansu_error *error);

/*
 * Makes a new database at `to` out of a backup of either form, and checks all of it before it is
 * there. *report (may be NULL): {"sequence", "documents": n}. Errors: NOT_FOUND (no backup at
 * `from`), EXISTS (`to` is there), CORRUPT (the backup is damaged; offset says where), VERSION, FULL,
 * IO, LOCKED (the folder `from` is open), BUSY (another task is making `to`), CANCELLED.
 */
TANSU_API tansu_status tansu_restore(const char *from, const char *to, tansu_task_progress progress,
                                     void *context, tansu_buffer *report, tansu_error *error);

/*
 * Opens a new, empty database as `target` says (memory, temporary or persistent) and copies all
 * collections, options, documents and indexes into it as of one commit. *copy is open, and the
 * caller's. Errors: EXISTS (there is a database already), CANCELLED, and those of tansu_open() and of
 * commits; a database that was begun is removed again.
 */
TANSU_API tansu_status tansu_clone(tansu_db *db, const tansu_options *target,
                                   tansu_task_progress progress, void *context, tansu_db **copy,
                                   tansu_error *error);

/* Takes the next bytes of a dump. Returns 0 when they could not be taken: the dump ends with IO. */
typedef int (*tansu_write_bytes)(void *context, const void *bytes, size_t size);

/* Gives up to `room` bytes of a dump: how many were given, 0 at the end, negative on failure. */
typedef ptrdiff_t (*tansu_read_bytes)(void *context, void *bytes, size_t room);

/*
 * Writes collections as text: newline-delimited canonical extended JSON (docs/dump-format.md), as of
 * one commit. Every type survives dump and load. `options` (BSON, may be NULL): {"collections":
 * [name, ...]} (all), {"query": {...}} (with one collection), {"indexes": bool} (true). *report (may
 * be NULL): {"collections", "documents", "indexes", "bytes": n}. Errors: NOT_FOUND (a collection of
 * that name), INVALID_QUERY, IO (the receiver refused), CANCELLED. The unit of `progress` is
 * documents.
 */
TANSU_API tansu_status tansu_dump(tansu_db *db, tansu_txn *txn, tansu_write_bytes write,
                                  void *write_context, const void *options, size_t options_size,
                                  tansu_task_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error);

/*
 * Reads what tansu_dump() wrote, or plain newline-delimited JSON documents. `options` (BSON, may be
 * NULL): {"collection": name} (where plain documents go; needed for those), {"mode": "save" |
 * "insert" | "skip"} (what becomes of a document whose `_id` is taken: replaced, an error, left out;
 * "insert"), {"atomic": bool} (false: commits of some thousand documents; true: all or nothing, within
 * the bound of a transaction). Indexes are created after the documents of their collection. *report
 * (may be NULL; also after an error): {"collections", "documents", "skipped", "indexes", "lines": n}.
 * Errors: INVALID_JSON and others with the line's number in the message and in error->offset, IO (the
 * source failed), CANCELLED, and those of tansu_save() and tansu_index_create(). The unit of
 * `progress` is lines, of an unknown total (0).
 */
TANSU_API tansu_status tansu_load(tansu_db *db, tansu_read_bytes read, void *read_context,
                                  const void *options, size_t options_size,
                                  tansu_task_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error);

/* ---- BSON and JSON -------------------------------------------------------------------------- */

/* Writes 12 new bytes of an ObjectID: seconds, random of this process, counter. */
TANSU_API void tansu_oid_generate(uint8_t oid[12]);

/* Checks that the bytes are a document that may be stored, as tansu_save() does. Errors:
 * INVALID_BSON, INVALID_DOCUMENT, INVALID_ID, TOO_LARGE; error->offset is the byte at fault. */
TANSU_API tansu_status tansu_validate(const void *bson, size_t size, tansu_error *error);

/* Turns one JSON object (extended JSON v2, canonical or relaxed) into BSON. `length` may be
 * SIZE_MAX for a NUL-terminated text. Errors: INVALID_JSON (offset is the byte at fault),
 * TOO_LARGE. */
TANSU_API tansu_status tansu_json_to_bson(const char *json, size_t length, tansu_buffer *result,
                                          tansu_error *error);

/* Turns a BSON document into NUL-terminated extended JSON (result->size does not count the NUL),
 * canonical or relaxed. Errors: INVALID_BSON. */
TANSU_API tansu_status tansu_bson_to_json(const void *bson, size_t size, int canonical,
                                          tansu_buffer *result, tansu_error *error);

/*
 * Runs one command in JSON form and answers in JSON (docs/json-commands.md). *response is a
 * NUL-terminated UTF-8 text, set on success and on failure alike (NULL only when memory is
 * exhausted); free it with tansu_free(). The status is that of the command.
 */
TANSU_API tansu_status tansu_execute_json(tansu_db *db, const char *request, char **response);

#ifdef __cplusplus
}
#endif

#endif
