/*
 * tansu.h -- the C API of Tansu, an embedded JSON document database.
 *
 * INTRODUCTION
 *
 * Tansu is a library, not a server: a database is a folder that one process opens for writing, or
 * lies in memory only. It holds named collections; a collection holds documents in BSON form
 * (https://bsonspec.org), each with an `_id` that no other document of its collection has.
 *
 *  - ACID transactions: all changes of a transaction, in any collections, become durable and
 *    visible together, or not at all. A call without a transaction is a transaction of its own.
 *  - Snapshot isolation (MVCC) with a single writer: readers never wait and never see uncommitted
 *    data; one write transaction runs at a time, and the others wait for the write lock.
 *  - Rollback: of a transaction, or to a savepoint within it.
 *  - Log-structured storage: a commit is one frame of an append-only log, with checksums.
 *    Compaction reclaims the space of removed and replaced documents in the background.
 *  - Crash recovery: opening replays the log from the last checkpoint and cuts off a torn end.
 *  - Secondary indexes: unique, compound, multikey, sparse and partial ones. Queries and updates
 *    are documents (docs/query-language.md).
 *  - Change streams: a feed delivers the events of all commits after a given one.
 *
 * EXAMPLE
 *
 * This program saves two documents and prints the one that matches a query. A test compiles and
 * runs it.
 *
 *     #include <stdint.h>
 *     #include <stdio.h>
 *     #include <tansu.h>
 *
 *     static tansu_document document(const tansu_buffer *bson) {
 *         return (tansu_document){bson->data, bson->size};
 *     }
 *
 *     int main(void) {
 *         tansu_db *db = NULL;
 *         tansu_cursor *cursor = NULL;
 *         tansu_error error;
 *         tansu_document found;
 *         tansu_buffer ada = TANSU_BUFFER_INIT, alan = TANSU_BUFFER_INIT;
 *         tansu_buffer query = TANSU_BUFFER_INIT, json = TANSU_BUFFER_INIT;
 *
 *         tansu_status status = tansu_open_path("people.tansu", &db, &error);
 *         if (status == TANSU_OK)
 *             status = tansu_json_to_bson("{\"_id\": 1, \"name\": \"Ada\", \"born\": 1815}",
 *                                         SIZE_MAX, &ada, &error);
 *         if (status == TANSU_OK)
 *             status = tansu_json_to_bson("{\"_id\": 2, \"name\": \"Alan\", \"born\": 1912}",
 *                                         SIZE_MAX, &alan, &error);
 *         if (status == TANSU_OK) {
 *             tansu_document people[] = {document(&ada), document(&alan)};
 *             status = tansu_save(db, NULL, "people", people, 2, TANSU_SAVE, NULL, &error);
 *         }
 *         if (status == TANSU_OK)
 *             status = tansu_json_to_bson("{\"born\": {\"$gt\": 1900}}", SIZE_MAX, &query, &error);
 *         if (status == TANSU_OK)
 *             status = tansu_find(db, NULL, "people", document(&query), TANSU_NO_DOCUMENT, &cursor,
 *                                 &error);
 *         while (status == TANSU_OK) {
 *             status = tansu_cursor_next(cursor, &found, &error);
 *             if (status == TANSU_OK)
 *                 status = tansu_bson_to_json(found, 0, &json, &error);
 *             if (status == TANSU_OK)
 *                 printf("%s\n", (const char *)json.data);
 *         }
 *         if (status != TANSU_DONE)
 *             fprintf(stderr, "%s: %s\n", tansu_status_name(status), error.message);
 *
 *         tansu_cursor_close(cursor);
 *         tansu_buffer_free(&ada);
 *         tansu_buffer_free(&alan);
 *         tansu_buffer_free(&query);
 *         tansu_buffer_free(&json);
 *         tansu_close(db);
 *         return status == TANSU_DONE ? 0 : 1;
 *     }
 *
 * CONVENTIONS
 *
 *  - A function that can fail returns a tansu_status: TANSU_OK (0) on success. Its last parameter
 *    is an optional tansu_error* (NULL is allowed) that is filled in on failure and unchanged on
 *    success. The list under "Errors" is complete except for these, which almost every call can
 *    return: TANSU_E_MEMORY (an allocation failed; nothing was changed), TANSU_E_INVALID_ARGUMENT
 *    (an argument is NULL or out of range), TANSU_E_INVALID_STATE (the state of the handle forbids
 *    the call), TANSU_E_CLOSED (the database is being closed) and, for calls that read, TANSU_E_IO
 *    and TANSU_E_CORRUPT (the disk failed, or a checksum does not match). With allow_writer, every
 *    call that reads can return TANSU_E_TOO_LARGE, with max_pinned_bytes those in a read
 *    transaction and of a cursor or feed; and with follow what tansu_refresh() can. A query or
 *    schema with a regular expression gives TANSU_E_UNSUPPORTED in a library that has none
 *    (tansu_platform_set()). "A commit's" errors are those of tansu_txn_begin() and
 *    tansu_txn_commit().
 *  - Documents are passed as tansu_document by value: a pointer and a size. They need no alignment.
 *    The engine copies what it keeps: input memory may be freed when the call returns. Queries,
 *    hints and options are documents too, and TANSU_NO_DOCUMENT stands for an empty one.
 *  - Results are returned in a tansu_buffer that the caller owns and can reuse, or as pointers into
 *    memory that a cursor or a feed holds.
 *  - Text is UTF-8. Collection and index names are NUL-terminated, 1 to 120 bytes.
 *  - A call that takes `tansu_txn *txn` works in that transaction. With NULL it is on its own: a
 *    read sees the newest commit, and a write is a commit of its own.
 *  - All functions may be called from any thread, and a database may be used by many threads
 *    concurrently. One transaction, cursor, matcher or feed is used by one thread at a time.
 *  - In documents of options or hints, true and false may also be given as a number: 0 is false.
 *
 * NAMES OF COLLECTIONS
 *
 *  - 1 to 120 bytes of UTF-8 without control characters, not beginning with "$". Every call that
 *    takes a name that no collection can have returns TANSU_E_INVALID_NAME, reads as well as
 *    writes. A collection that could be there and is not, is empty to reads.
 *
 * TIMEOUTS AND CANCELLATION
 *
 *  - A deadline: the hint {"$maxTimeMS": n} of find, count, explain, distinct, aggregate, update,
 *    find and modify, and remove. The error is TANSU_E_TIMEOUT.
 *  - From another thread: tansu_cursor_cancel() cancels the steps of a cursor, and
 *    tansu_feed_cancel() the waiting of a feed. Every other call is cancelled with its transaction:
 *    begin one, for reading or for writing, make the call in it, let the other thread call
 *    tansu_txn_cancel(), and abort it. The error is TANSU_E_CANCELLED.
 *  - From its progress function: a call that takes one is cancelled when the function returns 0.
 *  - The wait for the write lock: tansu_txn_prepare() creates a transaction that can be cancelled
 *    while tansu_txn_start() waits.
 *  - Nothing of a call that timed out or was cancelled is kept, except the commits that a
 *    tansu_load() in several commits made before, and the segments that tansu_compact() had
 *    finished.
 *
 * CAVEATS
 *
 *  - Handles do not survive fork(2). In the child every call with one of them returns
 *    TANSU_E_INVALID_STATE, and closing, aborting or cancelling it does nothing: no file is
 *    touched, and its memory stays allocated. The child opens a database of its own, or the same
 *    folder once the parent has closed it.
 *  - The folder must be on a file system with working flock(2) and shared mappings: not on NFS.
 *  - A handle keeps to the folder that it opened. When that is moved, removed or replaced, by
 *    another database too, the next write returns TANSU_E_MOVED and nothing of it is kept, and
 *    nothing at the path is touched, by closing neither. The same is true when the MANIFEST or the
 *    newest segment is removed or written over, until the handle is closed. A commit with
 *    TANSU_DURABILITY_FULL checks this before it writes; others check it at most every few
 *    milliseconds, and what they write until then is in the folder that was moved. Reading
 *    continues, except in handles that follow another process.
 *  - A failed fsync makes the database read-only until it is opened again (TANSU_E_SYNC_FAILED),
 *    because the operating system may have dropped the pages that it could not write. Reading
 *    continues, but a document on such a page that has to be read again gives TANSU_E_IO.
 *  - A handler of SIGBUS is installed while a database is open: see tansu_read_mode.
 *  - On a full disk, removing documents and tansu_compact() still work, out of reserved space.
 *    Until the reserve is filled again, saving fails with TANSU_E_FULL.
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

/* The version of this header as one number, for comparisons. */
#define TANSU_VERSION_NUMBER \
    (TANSU_VERSION_MAJOR * 1000000 + TANSU_VERSION_MINOR * 1000 + TANSU_VERSION_PATCH)

#if defined(__GNUC__) || defined(__clang__)
#define TANSU_API __attribute__((visibility("default")))
#else
#define TANSU_API
#endif

/* ---- Limits ------------------------------------------------------------------------------- */

#define TANSU_MAX_DOCUMENT_SIZE (16 * 1024 * 1024) /* bytes of one document in BSON form */
#define TANSU_MAX_DEPTH 100                        /* nesting of documents and arrays */
#define TANSU_MAX_KEYS (1024 * 1024)               /* keys of one document or embedded document */
#define TANSU_MAX_NAME 120                         /* bytes of a collection's or index's name */
#define TANSU_MAX_INDEX_PATHS 16                   /* paths of one compound index */
#define TANSU_MIN_QUERY_MEMORY 65536      /* least bytes of sort_memory_bytes and $maxMemory */
#define TANSU_MAX_INDEXES 64              /* indexes of one collection, `_id` not counted */
#define TANSU_DEFAULT_INDEX_ENTRIES 10000 /* entries of one document in one index */
#define TANSU_MAX_INDEX_ENTRIES 1000000   /* the same, with the index option maxEntries */
#define TANSU_MAX_TRANSACTION_SIZE (1024u * 1024u * 1024u) /* bytes of one commit in the log */

/* ---- Status and errors -------------------------------------------------------------------- */

/* The result of a call. The numbers never change; new ones may be added. */
typedef enum tansu_status {
    TANSU_OK = 0,
    TANSU_DONE = 1,                /* there is no further document or event; not an error */
    TANSU_E_MEMORY = 10,           /* out of memory; nothing was changed */
    TANSU_E_INVALID_ARGUMENT = 11, /* an argument is NULL or out of range */
    TANSU_E_CLOSED = 12,           /* the database is closed or being closed */
    TANSU_E_IO = 13,               /* a system call failed; sys_errno is its errno */
    TANSU_E_FULL = 14,       /* the disk is full, or a file would exceed the limit of the process;
                                nothing of the commit was kept */
    TANSU_E_LOCKED = 15,     /* another process, or another handle of this one, has it open */
    TANSU_E_BUSY = 16,       /* the write lock was not released in time, or is held by this thread;
                                or the call is excluded by another one that is running */
    TANSU_E_READ_ONLY = 17,  /* opened read-only; a write in a read transaction; or (any call that
                                writes) the file system has become read-only */
    TANSU_E_CORRUPT = 18,    /* stored bytes are not valid; context names file and offset */
    TANSU_E_VERSION = 19,    /* the files are of another format than this library reads */
    TANSU_E_NOT_FOUND = 20,  /* no such database, collection, index or document */
    TANSU_E_EXISTS = 21,     /* the name or the `_id` is taken */
    TANSU_E_NOT_UNIQUE = 22, /* a unique index already has an entry with this value */
    TANSU_E_INVALID_NAME = 23,     /* a collection or index name that is not allowed */
    TANSU_E_INVALID_BSON = 24,     /* bytes that are not a valid BSON document */
    TANSU_E_INVALID_DOCUMENT = 25, /* valid BSON that may not be stored (key, duplicate, ...) */
    TANSU_E_INVALID_ID = 26,       /* an `_id` of a type that is not allowed */
    TANSU_E_INVALID_QUERY = 27,    /* an unknown or malformed operator, hint, path or operand */
    TANSU_E_INVALID_INDEX = 28,    /* an index definition that is not valid */
    TANSU_E_INVALID_JSON = 29,     /* text that is not JSON, or not the extended JSON of BSON */
    TANSU_E_INVALID_COMMAND = 30,  /* a JSON command with an unknown or missing member */
    TANSU_E_TOO_LARGE = 31,        /* over one of the limits above */
    TANSU_E_CANCELLED = 32,        /* cancelled by the caller */
    TANSU_E_TIMEOUT = 33,          /* the deadline has passed */
    TANSU_E_SYNC_FAILED = 34, /* an fsync failed, of this commit or an earlier one: the database is
                                 read-only until it is opened again */
    TANSU_E_UNSUPPORTED = 35, /* understood, but not in this version of the library */
    TANSU_E_INVALID_STATE = 36, /* the state of the handle forbids the call */
    TANSU_E_REFERENCED = 37,    /* documents refer to what would be removed, by the rule "deny" */
    TANSU_E_MOVED = 38,         /* the database's folder is no longer at its path; context names the
                                folder */
    TANSU_E_ENCRYPTED = 39,     /* the database is encrypted, and no key was given */
    TANSU_E_WRONG_KEY = 40      /* the database is encrypted with another key than the given one */
} tansu_status;

/* What went wrong, for people (message, context) and for programs (code, context, offset). */
typedef struct tansu_error {
    tansu_status code;
    int sys_errno;     /* errno of the failed system call, or 0 */
    int64_t offset;    /* byte offset in the input or file, or -1 */
    char message[512]; /* one sentence: what is wrong and what to do about it */
    char context[256]; /* a path, an operator, a file or a name; may be empty */
} tansu_error;

/* Returns the permanent name of a status, such as "NOT_UNIQUE"; never NULL. */
TANSU_API const char *tansu_status_name(tansu_status status);

/* Returns the version of the library as text, such as "0.1.0". */
TANSU_API const char *tansu_version(void);

/* Returns the version of the library as a number, as TANSU_VERSION_NUMBER is that of the header. */
TANSU_API int tansu_version_number(void);

/* Returns the format of the database files that the library reads and writes, such as 2: the number
 * in the first line of a MANIFEST. Files of another one give TANSU_E_VERSION. */
TANSU_API int tansu_file_format(void);

/* Returns the names, as pkg-config has them, of the optional libraries that the library was built
 * with: in alphabetical order, with a space between them, such as "libdeflate liblz4". Empty
 * without any. */
TANSU_API const char *tansu_optional_libraries(void);

/* ---- Memory that crosses the API ----------------------------------------------------------- */

/* Bytes that a call returns. Set it to zero (or TANSU_BUFFER_INIT) before its first use. Calls
 * replace its content and reuse its memory; tansu_buffer_free() frees it. */
typedef struct tansu_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
} tansu_buffer;

#define TANSU_BUFFER_INIT \
    { NULL, 0, 0 }

/* A document in BSON form: `size` bytes at `data` may be read. {NULL, 0} is no document. */
typedef struct tansu_document {
    const void *data;
    size_t size;
} tansu_document;

/* No document: an empty query, no hints, no options. */
#ifdef __cplusplus
#define TANSU_NO_DOCUMENT (tansu_document{NULL, 0})
#else
#define TANSU_NO_DOCUMENT ((tansu_document){NULL, 0})
#endif

/* Frees a buffer's memory and sets it to zero. No-op on NULL or an empty one. */
TANSU_API void tansu_buffer_free(tansu_buffer *buffer);

/* Frees a text that tansu_execute_json() returned. No-op on NULL. */
TANSU_API void tansu_free(void *memory);

/*
 * Reports the progress of a long call, in units of the call; `total` is 0 when it is not known. It
 * is called on the thread that made the call, with no lock of the database held except the write
 * lock of the caller's own transaction. Returning 0 cancels the call: it returns CANCELLED, and
 * nothing half done is left.
 */
typedef int (*tansu_progress)(void *context, uint64_t done, uint64_t total);

/* ---- What the host supplies ----------------------------------------------------------------- */

/* Results of tansu_platform.regex_matches. */
enum {
    TANSU_REGEX_NO_MATCH = 0,
    TANSU_REGEX_MATCH = 1,
    TANSU_REGEX_STEPS = -1, /* the match takes too many steps */
    TANSU_REGEX_MEMORY = -2 /* memory is exhausted */
};

/*
 * Functions that a library without PCRE2 or libcrypto takes from the program that links it (the
 * host). They may be called by several threads at once, also with the same expression, and must not call back into
 * the library.
 *
 * - regex_compile: compiles `size` bytes of UTF-8, which need not end with a NUL and may contain
 *   some. The syntax should be as near to Perl's as the host can make it. `options` is
 *   NUL-terminated and has some of the letters i (ignore case), m (^ and $ match at lines), s (a dot
 *   matches newlines) and x (white space and comments in the pattern are ignored), in this order.
 *   Returns TANSU_OK with *regex set (to whatever the other functions want to get), TANSU_E_MEMORY,
 *   or TANSU_E_INVALID_QUERY: then `message`, of `message_size` bytes, is set to a NUL-terminated
 *   text that says what is wrong, such as "missing closing parenthesis", and *offset to the byte at
 *   fault, if it is known. Any other status counts as INVALID_QUERY.
 * - regex_matches: TANSU_REGEX_MATCH if the expression matches any part of `size` bytes of valid
 *   UTF-8, or one of the other results above. The host bounds the work of a match: nothing else
 *   does, because a deadline is checked between matches only. Any other number below 0 counts as
 *   TANSU_REGEX_STEPS.
 * - regex_free: frees what regex_compile made.
 * - regex_groups, regex_find (after the ciphers; both or neither may be NULL, then operators that need
 *   them are UNSUPPORTED): the number of groups that capture, and where the expression matches for
 *   the first time from the byte `from` on, while what is before it can be looked behind at. The
 *   result is that of regex_matches; with TANSU_REGEX_MATCH, spans[0] and spans[1] are the bytes
 *   where the match begins and ends, and 2 more numbers for each group follow, SIZE_MAX for one that
 *   took no part. `count` is how many pairs there are: 1 more than groups.
 * - gcm_seal, gcm_open: AES-256-GCM, for encrypted databases on Apple's systems, where CommonCrypto
 *   has all else that they need; both or neither may be NULL. The key has 32 bytes, the nonce 12, the
 *   tag 16. `out` has `size` bytes and may be the input itself. gcm_seal returns TANSU_OK or
 *   TANSU_E_MEMORY; gcm_open returns these or, when the tag does not match, TANSU_E_CORRUPT. A struct
 *   may end before them.
 */
typedef struct tansu_platform {
    uint32_t struct_size; /* sizeof(tansu_platform), set by the caller: the struct may grow */
    tansu_status (*regex_compile)(const char *pattern, size_t size, const char *options,
                                  void **regex, int64_t *offset, char *message,
                                  size_t message_size);
    int (*regex_matches)(void *regex, const char *text, size_t size);
    void (*regex_free)(void *regex);
    tansu_status (*gcm_seal)(const uint8_t *key, const uint8_t *nonce, const void *aad,
                             size_t aad_size, const uint8_t *plain, size_t size, uint8_t *out,
                             uint8_t *tag);
    tansu_status (*gcm_open)(const uint8_t *key, const uint8_t *nonce, const void *aad,
                             size_t aad_size, const uint8_t *sealed, size_t size,
                             const uint8_t *tag, uint8_t *out);
    size_t (*regex_groups)(void *regex);
    int (*regex_find)(void *regex, const char *text, size_t size, size_t from, size_t *spans,
                      size_t count);
} tansu_platform;

/*
 * Sets the functions for the process, which copies the struct. Call it once, when the program
 * starts, before databases are opened; it may be called from any thread. Until then, and without
 * it, a library that was built without PCRE2 answers every query with a regular expression, and
 * every schema with "pattern", with UNSUPPORTED.
 * Errors: INVALID_STATE (it was called before), INVALID_ARGUMENT (a function is NULL), UNSUPPORTED
 * (the library was built with PCRE2 and uses that: a program that works with both builds takes this
 * as success; the functions for ciphers are used if they are needed).
 */
TANSU_API tansu_status tansu_platform_set(const tansu_platform *platform, tansu_error *error);

/* ---- Logging of slow operations and warnings ------------------------------------------------ */

/* The operation that an event is about. */
typedef enum tansu_log_kind {
    TANSU_LOG_GET = 1,
    TANSU_LOG_FIND = 2, /* all steps of a cursor together; logged when it is closed */
    TANSU_LOG_COUNT = 3,
    TANSU_LOG_EXPLAIN = 4,
    TANSU_LOG_DISTINCT = 5,
    TANSU_LOG_AGGREGATE = 6,
    TANSU_LOG_SAVE = 7,
    TANSU_LOG_UPDATE = 8,
    TANSU_LOG_REMOVE = 9,
    TANSU_LOG_INDEX_CREATE = 10,
    TANSU_LOG_COMMIT = 11, /* of a transaction */
    TANSU_LOG_FIND_AND_MODIFY = 12,
    TANSU_LOG_BEGIN = 13,      /* of a write transaction, which waits for the write lock */
    TANSU_LOG_VALIDATION = 14, /* a warning: see tansu_log */
    TANSU_LOG_PIPELINE = 15    /* as FIND; the calls by which $out and $merge write are in it */
} tansu_log_kind;

/* An operation that has ended. What it points at is valid during the call of the function only. */
typedef struct tansu_log_event {
    uint32_t struct_size; /* sizeof(tansu_log_event) of the library: the struct may grow */
    tansu_log_kind kind;
    tansu_status status;    /* the result of the operation */
    uint64_t nanoseconds;   /* how long it took, waiting for the write lock included */
    const char *collection; /* NULL for the beginning and the commit of a transaction, and for a
                               pipeline without a collection */
    tansu_document query;   /* as the call got it, with its values, or the document with the `_id`,
                               or the array of stages; {NULL, 0} when the operation has none. tansu_bson_to_json() makes
                               text of it, unless the call failed because it is no BSON */
    tansu_document hints; /* of the query; {NULL, 0} without, and for groups and distinct values */
} tansu_log_event;

/*
 * Receives the operations that took options.slow_operation_ms or longer, or all of them with
 * options.log_all. It is called on the thread that made the call, after the operation, with no lock
 * of the database held except the write lock of the caller's own transaction. It may be called by
 * several threads at the same time, and must not close the database.
 *
 * Whatever these options are, it also receives TANSU_LOG_VALIDATION for a document that was saved
 * though it violates the validator of its collection, whose validationLevel is "warn": the status is
 * INVALID_DOCUMENT, `query` is {"_id": id}, and `hints` is {"path": text, "rule": text, "message":
 * text}. It comes when the call that saved the document has succeeded, in a transaction before its
 * commit, and for the first 100 documents of a call; tansu_stats() counts all.
 */
typedef void (*tansu_log)(void *context, const tansu_log_event *event);

/* ---- Opening and closing ------------------------------------------------------------------- */

typedef struct tansu_db tansu_db;
typedef struct tansu_txn tansu_txn;
typedef struct tansu_cursor tansu_cursor;
typedef struct tansu_feed tansu_feed;

/* What a commit survives once it has returned. */
typedef enum tansu_durability {
    TANSU_DURABILITY_DEFAULT = 0, /* FULL when opening; the database's own in a transaction */
    TANSU_DURABILITY_FULL = 1,    /* power loss: fdatasync before returning (group commit) */
    TANSU_DURABILITY_PROCESS = 2, /* a crash of the process: the kernel has the bytes */
    TANSU_DURABILITY_INTERVAL = 3 /* a crash of the process; power loss after interval_ms */
} tansu_durability;

typedef enum tansu_store {
    TANSU_STORE_PERSISTENT = 0, /* the folder `path` */
    TANSU_STORE_TEMPORARY = 1, /* a new folder (in `path`, or the system's temporary folder) that is
                                   removed when the database is closed or the process exits; after a
                                   crash, when the next one is made there */
    TANSU_STORE_MEMORY = 2     /* no files */
} tansu_store;

/*
 * What happens when a page of the log, which is read through mapped files, cannot be read: the
 * device fails, or the file was truncated, and the thread that touches the page gets SIGBUS.
 *
 * GUARDED: while such a database is open, a handler of SIGBUS (macOS: and of SIGSEGV) is installed.
 * It handles the faults of the log's mappings, and passes every other one to the handler that was
 * installed before; it is removed when the last database is closed. The call that touched the page
 * returns TANSU_E_IO, and so does every later one that needs it; other documents can be read as
 * before. Calls in other threads that run during a new fault may return TANSU_E_IO too. A page that
 * is lost while it is written ends the commit with TANSU_E_IO, and later writes with
 * TANSU_E_SYNC_FAILED. A program that installs a handler of its own while a database is open must
 * pass other faults to the handler before it. Documents that a cursor or a feed has returned are
 * bytes of the mapping: a page of them that has to be read again, and can't, is zeros, and the next
 * call on the handle returns TANSU_E_IO.
 *
 * UNGUARDED: no handler is installed; SIGBUS is up to the program.
 */
typedef enum tansu_read_mode { TANSU_READ_GUARDED = 0, TANSU_READ_UNGUARDED = 1 } tansu_read_mode;

/*
 * What the key of an encrypted database is. Everything in its files is encrypted with a random data
 * key (AES-256-GCM); that is stored in the file KEY, encrypted with a key that is derived from this
 * one: from 32 bytes by HKDF-SHA-256, from a passphrase by PBKDF2-HMAC-SHA512, which takes about a
 * quarter of a second for each opening. A memory or temporary store draws a data key that is
 * written nowhere.
 */
typedef enum tansu_key_kind {
    TANSU_KEY_BYTES = 0,     /* 32 bytes from a source of random ones */
    TANSU_KEY_PASSPHRASE = 1 /* 1 to 1,048,576 bytes, none of them a NUL */
} tansu_key_kind;

/* A key, for what is not opened with tansu_options: of a backup or a dump. */
typedef struct tansu_key {
    const void *bytes;
    size_t size;
    tansu_key_kind kind;
    uint32_t iterations; /* of what is written with a passphrase: as options.key_iterations */
} tansu_key;

/* How to open a database. Fill it with tansu_options_init() first, then change what differs. */
typedef struct tansu_options {
    uint32_t struct_size; /* set by tansu_options_init(): the struct may grow */
    tansu_store store;
    const char *path; /* the folder; a relative path is resolved once, when opening. The folder must
                         not be moved or replaced while the database is open */
    int read_only;    /* never writes; several read-only openers may share the folder, and keep
                         writers out (but see allow_writer) */
    int must_exist;   /* NOT_FOUND instead of creating a new database */
    tansu_durability durability;
    uint32_t interval_ms;       /* for TANSU_DURABILITY_INTERVAL; default 100 */
    uint32_t busy_timeout_ms;   /* how long to wait for the write lock; default 60000 */
    uint64_t segment_size;      /* bytes of a log segment, 1 MiB to 1 GiB; default 64 MiB */
    uint64_t checkpoint_bytes;  /* log bytes between background checkpoints, where a
                                    record counts as 256 at least; default 64 MiB */
    uint64_t index_cache_bytes; /* bound of the index blocks in memory, clean and dirty together,
                                   and of what collections take in addition; default 64 MiB;
                                   docs/durability.md says what is not counted */
    tansu_progress progress; /* of recovery and index rebuilds, in bytes of the log; may be NULL */
    void *progress_context;
    uint32_t compaction_percent; /* dead part of a log segment from which it is compacted in the
                                    background: 1 to 100, default 50; 0: only tansu_compact() */
    uint32_t compaction_share;   /* percent of the time that background compaction may copy for;
                                    1 to 100, default 25 */
    tansu_read_mode read_mode;
    uint32_t slow_operation_ms; /* operations that take as long are passed to `log`; 0: none */
    tansu_log log;              /* may be NULL */
    void *log_context;
    uint32_t lock_timeout_ms; /* how long to wait while another process has the database open;
                                 default 0 */
    int allow_writer; /* read-only, whether or not another process writes: sees all commits up to
                         the opening, or to the last tansu_refresh(), and none after it; takes no
                         lock, and neither waits for a writer nor makes one wait. Opening copies
                         the index file into a temporary one (docs/readers.md) */
    uint64_t sort_memory_bytes;  /* what a sort may take before it uses temporary files, or fails
                                    with TOO_LARGE if its hints forbid them: at least 64 KiB;
                                    default 100 MiB. $maxMemory sets it for one call */
    uint64_t group_memory_bytes; /* the same for groups, distinct values, and prefixes of
                                    $text; default 256 MiB */
    uint64_t transaction_memory_bytes; /* what a write transaction may keep in memory until its
                                          commit: a call that would exceed it fails with TOO_LARGE
                                          and changes nothing. 0, the default: no limit.
                                          docs/durability.md says what counts */
    uint64_t block_cache_bytes; /* bound of the decompressed blocks of compressed collections in
                                   memory, without those in use; default 32 MiB */
    int follow; /* with allow_writer: each read outside of a transaction, and each read
                         transaction that begins, sees the newest commit, as if tansu_refresh() was
                         called first. INVALID_ARGUMENT without allow_writer */
    uint64_t max_pinned_bytes; /* how many bytes a snapshot may keep on the disk that nobody else
                                  needs: segments that were removed meanwhile, and with
                                  allow_writer its copy of the index file. Beyond that, the next
                                  call in the read transaction, or of the cursor or feed, that holds
                                  it fails with TOO_LARGE, and all that follow; end it. With
                                  allow_writer every read does until tansu_refresh(). Of a writer:
                                  also for each such reader. The smaller one counts; 0, the default:
                                  no limit */
    int log_all;               /* every operation is passed to `log`, whatever time it took */
    const void *key; /* the key of an encrypted database, which is copied; a new one is encrypted
                        with it (tansu_key_kind). NULL, the default: not encrypted */
    size_t key_size; /* bytes of it */
    tansu_key_kind key_kind;
    uint32_t key_iterations; /* of a new database with a passphrase: 256,000 to 10,000,000; 0, the
                                default: 256,000. Without a key INVALID_ARGUMENT */
} tansu_options;

/* Sets all members to the defaults. No-op on NULL. */
TANSU_API void tansu_options_init(tansu_options *options);

/*
 * Opens a database, creating it unless must_exist or read_only is set. Recovery runs here: the log
 * is replayed from the last checkpoint, its torn end is cut off, and index files that are missing
 * or corrupt are rebuilt from the log ("indexesRebuilt" in tansu_stats() is the reason). A database
 * on a read-only file system is opened as if read_only was set ("readOnly").
 * *db: set on success, otherwise NULL.
 * Errors: LOCKED (after lock_timeout_ms; the message names the process that has it open, where the
 * system does); BUSY (allow_writer: for ten seconds and lock_timeout_ms checkpoints followed each
 * other faster than the index file can be copied); NOT_FOUND (must_exist, read_only or
 * allow_writer, and there is none); EXISTS (the path is a file, or a folder with other content);
 * CORRUPT (before the last synced commit: context and offset say where, and the log is left
 * unchanged, see tansu_repair()); ENCRYPTED (and no key was given); WRONG_KEY; INVALID_ARGUMENT (a
 * key was given, and the database is not encrypted); VERSION; IO; FULL; READ_ONLY (there is none, and the file system
 * is read-only); CANCELLED (by options.progress; the log is unchanged); TOO_LARGE
 * (allow_writer: the copy of the index file exceeds max_pinned_bytes); UNSUPPORTED (segments are
 * compressed, and the library was built without LZ4; a key was given, and it was built without
 * libcrypto; a segment is too large for a process of 32 bits).
 */
TANSU_API tansu_status tansu_open(const tansu_options *options, tansu_db **db, tansu_error *error);

/* Opens the folder `path` with the default options, or a memory store when it is NULL. The same as
 * tansu_open(), with the same errors. */
TANSU_API tansu_status tansu_open_path(const char *path, tansu_db **db, tansu_error *error);

/*
 * tansu_open() with the options as a JSON object, for bindings that cannot use the struct. NULL
 * means {}. The members, all optional:
 *   "store"       "persistent" (default), "temporary" or "memory"
 *   "path"        text
 *   "durability"  "full", "process" or "interval"
 *   "readMode"    "guarded" or "unguarded"
 *   "readOnly", "allowWriter", "follow", "mustExist"
 *                 true or false
 *   "intervalMs", "busyTimeoutMs", "segmentSize", "checkpointBytes", "indexCacheBytes",
 *   "blockCacheBytes", "compactionPercent", "compactionShare", "lockTimeoutMs", "maxPinnedBytes",
 *   "sortMemoryBytes", "groupMemoryBytes", "transactionMemoryBytes", "keyIterations"
 *                 whole number
 *   "key"         32 bytes, as {"$binary": {"base64": text, "subType": "00"}}
 *   "passphrase"  text
 * Errors: INVALID_JSON; INVALID_ARGUMENT (an unknown member, or a value of another type or out of
 * range; context is the member); TOO_LARGE (more than 1 MiB in all, so a passphrase has less than
 * tansu_options takes); those of tansu_open().
 */
TANSU_API tansu_status tansu_open_json(const char *options, tansu_db **db, tansu_error *error);

/*
 * Compacts what is due (options.compaction_percent), for two seconds at most, stops background
 * work, writes a checkpoint, syncs, and frees the handle. No-op on NULL.
 * Errors: BUSY (a transaction, cursor or feed is open: nothing was closed; end it and call again);
 * IO, FULL (the database is closed; acknowledged commits are in the log, so none may be repeated,
 * and only the next opening takes longer); MOVED (the database is closed, and nothing was written;
 * acknowledged commits are in the folder that was moved); SYNC_FAILED (the database is closed, and
 * commits that were not yet synced may be lost by a power failure).
 */
TANSU_API tansu_status tansu_shutdown(tansu_db *db, tansu_error *error);

/* tansu_shutdown() without a result. While transactions, cursors or feeds are open, the database is
 * closed when the last of them ends. No-op on NULL. */
TANSU_API void tansu_close(tansu_db *db);

/*
 * Of a database that was opened with allow_writer: what is read from now on has all commits that
 * are complete, also those that another process made since. Cursors, transactions and what they
 * read stay as they are. When nothing was committed, the call reads two numbers in memory, and
 * every few milliseconds checks the folder's path; otherwise it replays the new commits, or opens
 * the files again if that is not possible or takes too much memory (docs/readers.md). Any thread;
 * one refresh at a time, and reads do not wait for it.
 * Other databases always have their newest commit: nothing is done.
 * *changed, *sequence: whether the newest commit is another one now, and its number; may be NULL.
 * Errors: MOVED; those of tansu_open(). What was read before can still be read.
 */
TANSU_API tansu_status tansu_refresh(tansu_db *db, int *changed, uint64_t *sequence,
                                     tansu_error *error);

/* Makes every commit so far survive power loss: readers see all of them then. A commit of another
 * thread that still waits for the disk counts. Errors: IO, MOVED, SYNC_FAILED. */
TANSU_API tansu_status tansu_sync(tansu_db *db, tansu_error *error);

/* Writes the dirty index blocks to the index file, so that the next opening has nothing to replay,
 * and has segments of the log compacted in the background if that is due. Readers and writers
 * continue. Errors: IO, FULL, READ_ONLY, MOVED, SYNC_FAILED; CORRUPT (in the index files; the next
 * opening rebuilds them). */
TANSU_API tansu_status tansu_checkpoint(tansu_db *db, tansu_error *error);

/*
 * Replaces the key of an encrypted database, whose data key stays: the file KEY is written anew, at
 * once and durably, while others read and write. From then on the database opens with the new key
 * only; who has it open goes on. A memory or temporary store has no such file, and nothing is done.
 * Errors: INVALID_ARGUMENT (the key); INVALID_STATE (the database is not encrypted); READ_ONLY; BUSY
 * (this thread has a write transaction); MOVED; IO, FULL (the old key is valid, or the new one if only the last sync failed).
 */
TANSU_API tansu_status tansu_rekey(tansu_db *db, const tansu_key *key, tansu_error *error);

/*
 * Replaces the key as tansu_rekey() does, and the data key as well: all files are encrypted anew, by
 * a compaction of the whole log, while others read and write; it takes the space of a copy of each
 * segment in turn. Afterwards who had the old key and an old copy of the file KEY cannot read what is
 * written, or was kept. After an error or a crash either the old key opens the database or the
 * new one, with data under both data keys: try the new one, and then the old one, before one of them is
 * forgotten. A later call completes the change. What recovery had put into set-aside before cannot be
 * decrypted afterwards. Processes that have the database open to read must open it again: until then
 * their calls return what they see or WRONG_KEY.
 * Errors: those of tansu_rekey() and tansu_compact().
 */
TANSU_API tansu_status tansu_rekey_everything(tansu_db *db, const tansu_key *key,
                                              tansu_progress progress, void *context,
                                              tansu_error *error);

/*
 * Returns statistics as a BSON document:
 *   "path", "store", "durability", "readOnly", "allowWriter" (if it is true), "format"
 *                         how the database was opened
 *   "uuid"                which database it is; its backups have the same one
 *   "encrypted"           the cipher, "aes-256-gcm", if the database is encrypted
 *   "follow", "refreshes", "reopenings"
 *                         with allow_writer: whether reads follow, how many refreshes found
 *                         commits, and how many of them opened the files again
 *   "sequence"            the number of the newest commit
 *   "checkpointSequence"  the number of the newest commit in the index file
 *   "collections"         [{"name", "documents", "compression" (if it has one),
 *                         "indexes": [{"name", "entries"}]}]
 *   "logBytes", "logSegments", "deadBytes", "compactions"
 *                         the log, how much of it can be reclaimed, and how often that was done
 *   "compressedBytes", "compressedFromBytes"
 *                         compressed segments of the log, if there are any, and what their size
 *                         was before
 *   "indexFileBytes"      size of the index file
 *   "indexMemoryBytes", "indexDirtyBytes"
 *                         index blocks in memory, with what collections take in addition, and
 *                         those blocks that are dirty
 *   "validationWarnings"  how many documents were saved since opening though they violate a
 *                         validator whose level is "warn", also in transactions that were aborted
 *   "writeStalls", "writeStallMicroseconds"
 *                         how often and how long writers waited for a checkpoint, because three
 *                         quarters of index_cache_bytes were dirty, or for the compaction of what
 *                         processes that were not closed have left
 *   "snapshots", "oldestSnapshot", "pinnedBytes"
 *                         how many older snapshots of this process are in use, the commit of the
 *                         oldest, and the bytes of removed segments of the log that they keep
 *   "readers"             who reads the database with allow_writer, if somebody does: [{"process",
 *                         "openedAt", "sequence" (the commit of its newest snapshot), "pinnedBytes"
 *                         (what it keeps on the disk that nobody else needs, at most)}]
 *   "indexesRebuilt"      text, if this opening rebuilt the index files: the reason
 *   "indexesDamaged"      true, if corruption of the index files was found since opening: the next
 *                         opening rebuilds them
 */
TANSU_API tansu_status tansu_stats(tansu_db *db, tansu_buffer *result, tansu_error *error);

/*
 * Returns what takes the space of a database as a BSON document. It reads the inner blocks of all
 * indexes, which takes longer than tansu_stats():
 *   "segments"     the log, in order: [{"segment": its number, as in the name of its file, "bytes":
 *                  of the file, "liveBytes", "deadBytes": of the records in it, before
 *                  compression, and "compressedFromBytes" if it is compressed: what its size was
 *                  before}]
 *   "collections"  [{"name", "documents", "bytes": of its documents in the log, before compression,
 *                  "indexes": [{"name" (the first is "_id"), "entries", "blocks", "bytes": about
 *                  what its blocks take in the index file, by their average size there; in memory
 *                  where there is no file, "uses": how many queries of this process have read it
 *                  since it was opened or created, explain aside; not of "_id"}]}]
 * Errors: CLOSED, MEMORY, IO, CORRUPT.
 */
TANSU_API tansu_status tansu_storage(tansu_db *db, tansu_buffer *result, tansu_error *error);

/* ---- Transactions --------------------------------------------------------------------------- */

typedef enum tansu_txn_mode {
    TANSU_TXN_READ = 0, /* reads one snapshot, whatever others commit. It keeps disk space
                           (max_pinned_bytes); and the first get of a document with many newer
                           versions passes them all, up to 36 ms for 200,000 */
    TANSU_TXN_WRITE = 1 /* one atomic commit over any collections; sees its own changes */
} tansu_txn_mode;

/*
 * Begins a transaction. A write transaction waits for the write lock, up to busy_timeout_ms; a read
 * transaction never waits. A transaction may move from thread to thread, but is used by one at a
 * time. Errors: BUSY, READ_ONLY, SYNC_FAILED.
 */
TANSU_API tansu_status tansu_txn_begin(tansu_db *db, tansu_txn_mode mode,
                                       tansu_durability durability, tansu_txn **txn,
                                       tansu_error *error);

/*
 * tansu_txn_begin() in two steps, so that the wait for the write lock can be cancelled: the first
 * creates the transaction and never waits; the second waits, until another thread calls
 * tansu_txn_cancel(). Before the second step, only cancelling and aborting are allowed. After an
 * error of the second step the transaction must be aborted.
 * Errors of the second: those of tansu_txn_begin(), CANCELLED, INVALID_STATE (it has been started).
 */
TANSU_API tansu_status tansu_txn_prepare(tansu_db *db, tansu_txn_mode mode,
                                         tansu_durability durability, tansu_txn **txn,
                                         tansu_error *error);
TANSU_API tansu_status tansu_txn_start(tansu_txn *txn, tansu_error *error);

/*
 * Has the reads of a transaction that has begun check documents from now on, as tansu_dump() does:
 * a document that is not intact, by the checksum of its commit or as BSON, is CORRUPT. For copies
 * of documents, such as replicas; other reads trust what was written. The commits in a segment of
 * the log are checked when the first of its documents is read, once while the database is open.
 */
TANSU_API tansu_status tansu_txn_check_documents(tansu_txn *txn, tansu_error *error);

/*
 * Commits and frees the transaction, whatever the result (except BUSY). After an error nothing of
 * it is kept, except after IO from the sync itself: then it may or may not survive power loss, and
 * the database accepts no more writes (SYNC_FAILED) until it is opened again. *sequence (may be
 * NULL): the number of the commit; 0 when the transaction changed nothing.
 * Errors: FULL, IO, MOVED, SYNC_FAILED, CANCELLED, BUSY (one of its cursors is open: nothing
 * happened, and the transaction continues).
 */
TANSU_API tansu_status tansu_txn_commit(tansu_txn *txn, uint64_t *sequence, tansu_error *error);

/*
 * Cancels a transaction, from any thread: the call that runs in it (tansu_txn_start() too) and
 * every later one return CANCELLED (a long read soon, a short call perhaps after it is done), and
 * so does tansu_txn_commit(), which then keeps nothing. The caller must make sure that no commit or
 * abort runs at the same time. No-op on NULL.
 */
TANSU_API void tansu_txn_cancel(tansu_txn *txn);

/* Rolls the transaction back and frees it. The next step of a cursor of it that is still open
 * returns INVALID_STATE. No-op on NULL. */
TANSU_API void tansu_txn_abort(tansu_txn *txn);

/*
 * Begins a savepoint in a write transaction: the changes of documents and the creation of
 * collections from here on can be rolled back alone. Savepoints nest; each is ended by one release
 * or roll back, the innermost first. A commit keeps, and an abort rolls back, the changes of
 * savepoints that are open. In a savepoint, creating or dropping an index, and dropping or renaming
 * a collection, is INVALID_STATE.
 * Errors: READ_ONLY.
 */
TANSU_API tansu_status tansu_savepoint_begin(tansu_txn *txn, tansu_error *error);

/* Ends the innermost savepoint and keeps its changes. Errors: INVALID_STATE (there is none). */
TANSU_API tansu_status tansu_savepoint_release(tansu_txn *txn, tansu_error *error);

/* Ends the innermost savepoint and rolls its changes back; the transaction continues. The next step
 * of a cursor that was opened in the savepoint returns INVALID_STATE. Errors: INVALID_STATE (there
 * is none; or memory ran out half-way: then the transaction can only be aborted). */
TANSU_API tansu_status tansu_savepoint_roll_back(tansu_txn *txn, tansu_error *error);

/* ---- Collections ---------------------------------------------------------------------------- */

/*
 * Creates the collection unless it exists. `options` is a document with any of:
 *
 * - local: bool. Such a collection is never replicated.
 * - compression: "lz4" or "none", of the documents in compacted segments, from the next compaction
 *   on.
 * - references: [{path: text, to: text, onDelete: text}, ...]. The values at the path (elements of
 *   arrays, and paths through arrays, too) are `_id`s of documents of the collection `to`, and
 *   onDelete says what the removal of such a document does to a document that refers to it:
 *   "cascade" removes it as well, "nullify" makes the value null or takes it out of its array,
 *   "deny" forbids the removal (REFERENCED), "ignore" (the default) leaves it. This holds for every
 *   way of removing documents, dropping a collection included, in one commit and over any number of
 *   references. An index on each path makes removals quick. Replaces all that there are.
 * - timestamps: {created: text, updated: text} with one or both names of fields, true for
 *   {created: "createdAt", updated: "updatedAt"}, or false for none. Every save sets them, whatever
 *   the document says: the date at which a document was inserted, which later saves keep, and that
 *   of its last save, which is never before it.
 * - changeTracking: the name of another collection, or false. It gets {_id: id} of every document
 *   that a commit saves or removes, in that commit, unless it has it already, and is created when
 *   it does not exist; who follows the changes removes what it has seen. Where it cannot get it (a
 *   unique index), the save or removal fails. Not noted are a save of the bytes that are stored,
 *   what is saved with TANSU_COPY or by the load of a dump that creates the collection, dropping
 *   it, and what the tracking of another collection puts into it. The option does not follow the
 *   collection that it names when that is renamed.
 * - validator: what every document satisfies, a schema (tansu_schema_new()) or a query; false, null or
 *   {} for none. A document with a key "$and", "$expr" or the like, or with a value such as
 *   {"$gte": 0}, is a query; one whose keys are all keywords of schemas is a schema; one without
 *   keywords is a query. What is left, such as {"title": "x"}, is written {"$jsonSchema": schema} or
 *   {"$and": [query]}. A query cannot have $do, subqueries, $rand or $sampleRate. Whatever saves a
 *   document (a save, an update, an import, a delete rule, a replica) fails with INVALID_DOCUMENT
 *   when it violates the validator, and changes nothing; the context is the path and the rule or
 *   the operator, such as "pet.age: minimum", or an operator alone, such as "$expr".
 * - validationLevel: text. "strict" (the default): as above. "moderate": the same, but a document
 *   that violates the validator may be replaced by one that does, too. "warn": such documents are
 *   saved, and reported (tansu_log). "off": nothing is checked. It stays when the validator changes.
 * - validationAction: "error" or "warn", as MongoDB has it: "warn" makes the level "warn" unless
 *   "off" is given; "error" makes a level that is not given "strict".
 *
 * When the validator or the level changes, and the level is "strict" then, all documents that are
 * there have to satisfy the validator.
 *
 * All but `local` are also changed when the collection exists.
 * Errors: INVALID_NAME, INVALID_QUERY (an option that is unknown or given twice, an invalid
 * reference or validator), INVALID_DOCUMENT (a document violates the validator), EXISTS (with another
 * value of "local"), UNSUPPORTED (the library was built without LZ4), INVALID_STATE (an option of an
 * existing collection is changed in a savepoint), and a commit's.
 */
TANSU_API tansu_status tansu_collection_ensure(tansu_db *db, tansu_txn *txn, const char *name,
                                               tansu_document options, tansu_error *error);

/* Drops the collection, its documents and its indexes. Errors: NOT_FOUND, REFERENCED, and a
 * commit's. */
TANSU_API tansu_status tansu_collection_drop(tansu_db *db, tansu_txn *txn, const char *name,
                                             tansu_error *error);

/* Renames the collection; references to it follow. Errors: NOT_FOUND, EXISTS, INVALID_NAME (also
 * the name that its option "changeTracking" has), and a commit's. */
TANSU_API tansu_status tansu_collection_rename(tansu_db *db, tansu_txn *txn, const char *name,
                                               const char *new_name, tansu_error *error);

/* Lists the collections by name: {"collections": [{"name", "documents": n, "options": {...}},
 * ...]}.
 */
TANSU_API tansu_status tansu_collection_list(tansu_db *db, tansu_txn *txn, tansu_buffer *result,
                                             tansu_error *error);

/* Describes one collection as tansu_collection_list() does: {"name", "documents": n, "options":
 * {...}}. It takes the same time however many collections there are. Errors: NOT_FOUND (*result is
 * emptied). */
TANSU_API tansu_status tansu_collection_info(tansu_db *db, tansu_txn *txn, const char *name,
                                             tansu_buffer *result, tansu_error *error);

/* Lists the collections with references to the collection `name`, which need not exist, as
 * tansu_collection_list() does. Looks at no collection without references. */
TANSU_API tansu_status tansu_collection_referrers(tansu_db *db, tansu_txn *txn, const char *name,
                                                  tansu_buffer *result, tansu_error *error);

/*
 * Finds references that lead to no document: removals keep the rules, but a document may be stored
 * with any value, and may have been removed before its collection had references. `options`:
 * {collection: text (only what it holds), limit: number (of those that are listed; 1000), repair:
 * bool}. The result is {"references": [{"collection", "_id", "path", "to", "value"}, ...], "count":
 * n, "documents": n (that hold them)}; with repair, which writes, {"nullified": n, "removed": n}:
 * the rule of each reference was applied; those with "deny" and "ignore" stay. Reads every document
 * of the collections that have references. Errors: NOT_FOUND (the collection), INVALID_QUERY (an
 * option); with repair REFERENCED, and a commit's.
 */
TANSU_API tansu_status tansu_dangling_references(tansu_db *db, tansu_txn *txn,
                                                 tansu_document options, tansu_buffer *result,
                                                 tansu_error *error);

/* ---- Writing documents ---------------------------------------------------------------------- */

typedef enum tansu_save_mode {
    TANSU_SAVE = 0,    /* insert, or replace the document with the same `_id` */
    TANSU_INSERT = 1,  /* EXISTS when the `_id` is taken */
    TANSU_REPLACE = 2, /* NOT_FOUND when it is not */
    TANSU_COPY = 3     /* as TANSU_SAVE, but timestamps stay as the document has them, and change
                          tracking does not note it: for copies of documents that were saved
                          elsewhere, such as replicas */
} tansu_save_mode;

/*
 * Saves documents in one commit, creating the collection if it does not exist. A document without
 * `_id` gets a new ObjectID as its first field. *ids (may be NULL): {"ids": [_id, ...]} in order.
 * After an error nothing of the call is kept (a surrounding transaction is as it was before), and
 * error->offset is the index of the document at fault, counted from 0.
 * Errors: INVALID_BSON, INVALID_DOCUMENT, INVALID_ID, TOO_LARGE, NOT_UNIQUE, EXISTS, NOT_FOUND,
 * INVALID_NAME, and a commit's.
 */
TANSU_API tansu_status tansu_save(tansu_db *db, tansu_txn *txn, const char *collection,
                                  const tansu_document *documents, size_t count,
                                  tansu_save_mode mode, tansu_buffer *ids, tansu_error *error);

/*
 * Saves one document, as tansu_save() does. *id (may be NULL): {"_id": value}, as tansu_get() and
 * tansu_remove_id() take it; emptied after an error, whose offset is -1. Errors: those of
 * tansu_save().
 */
TANSU_API tansu_status tansu_save_one(tansu_db *db, tansu_txn *txn, const char *collection,
                                      tansu_document document, tansu_save_mode mode,
                                      tansu_buffer *id, tansu_error *error);

/*
 * Updates the matching documents in one commit. The matches are determined before the first change.
 * `update` holds operators, such as {"$inc": {"age": 1}} (docs/query-language.md); $replace takes a
 * whole document for the match, which must then be a single one: use {"$max": 1}. `query` may
 * have $upsert or $dropall next to its paths; `hints` may have $orderby, $skip, $max, $index,
 * $collation (which comparing operators use as well), $let, $maxTimeMS, $upsert and $arrayFilters.
 * *result (may be NULL): {"matched": n, "modified": n, "upserted": [_id, ...]}, and "removed" after
 * $dropall. Documents that an update leaves unchanged are matched and not modified.
 * After an error nothing of the call is kept.
 * Errors: INVALID_BSON, INVALID_QUERY (context names operator and path; also an operator that does
 * not fit a document), INVALID_ID (it would change an `_id`), INVALID_DOCUMENT, TOO_LARGE,
 * NOT_UNIQUE, EXISTS (an upsert with an `_id` that is taken), INVALID_NAME, TIMEOUT, CANCELLED, and
 * a commit's.
 */
TANSU_API tansu_status tansu_update(tansu_db *db, tansu_txn *txn, const char *collection,
                                    tansu_document query, tansu_document update,
                                    tansu_document hints, tansu_buffer *result, tansu_error *error);

/* What tansu_find_and_modify() does and returns. */
typedef enum tansu_modify_mode {
    TANSU_MODIFY_RETURN_BEFORE = 0, /* update; the document before it */
    TANSU_MODIFY_RETURN_AFTER = 1,  /* update; the document after it */
    TANSU_MODIFY_REMOVE = 2         /* remove (there is no `update`); the removed document */
} tansu_modify_mode;

/*
 * Updates or removes the first matching document, in the order of $orderby, and returns it, in one
 * commit. The hints are those of tansu_update() and $fields, the projection of what is returned.
 * *result (may be NULL) is the document; its size is 0 when there is none: nothing matched, or the
 * document before an upsert was asked for.
 * Errors: those of tansu_update(); INVALID_ARGUMENT (an unknown mode, or an update with REMOVE).
 */
TANSU_API tansu_status tansu_find_and_modify(tansu_db *db, tansu_txn *txn, const char *collection,
                                             tansu_document query, tansu_document update,
                                             tansu_document hints, tansu_modify_mode mode,
                                             tansu_buffer *result, tansu_error *error);

/*
 * Removes the matching documents in one commit. *removed (may be NULL): how many. A collection that
 * does not exist is empty. The delete rules of references to them are kept in the same commit
 * (tansu_collection_ensure()); what they remove or change is not counted.
 * Errors: INVALID_BSON, INVALID_QUERY, TOO_LARGE (a sort over its memory, and $allowDiskUse is
 * false), FULL and IO (of its temporary file), REFERENCED (context: the collection that refers to
 * one of them), TIMEOUT, CANCELLED, and a commit's.
 */
TANSU_API tansu_status tansu_remove(tansu_db *db, tansu_txn *txn, const char *collection,
                                    tansu_document query, tansu_document hints, int64_t *removed,
                                    tansu_error *error);

/* Removes the document whose id is the first value of `id`, a document such as {"_id": 7}. *removed
 * (may be NULL): 1, or 0 when there is none. Errors: INVALID_BSON, INVALID_ID, REFERENCED, and a
 * commit's. */
TANSU_API tansu_status tansu_remove_id(tansu_db *db, tansu_txn *txn, const char *collection,
                                       tansu_document id, int *removed, tansu_error *error);

/* ---- Reading documents ---------------------------------------------------------------------- */

/* Copies the document whose id is the first value of `id`, a document such as {"_id": 7}. Errors:
 * NOT_FOUND (no such document or collection; *result is emptied), INVALID_BSON, INVALID_ID. */
TANSU_API tansu_status tansu_get(tansu_db *db, tansu_txn *txn, const char *collection,
                                 tansu_document id, tansu_buffer *result, tansu_error *error);

/*
 * Copies the documents with several ids, faster than as many calls of tansu_get(): `ids` is a
 * document or an array whose values are the ids, and *result becomes {"documents": [...]}, in the
 * order of the ids from number `first` (from 0) on, with null for one that there is none of. The
 * call ends after the document with which the result exceeds 16 MiB; *next is the number of the
 * first id that it has not answered, and that of all ids when it has answered them all. Several
 * calls see one snapshot in a transaction only. Errors: INVALID_BSON, INVALID_ID (context: its
 * number), INVALID_ARGUMENT (`first`), CANCELLED.
 */
TANSU_API tansu_status tansu_get_many(tansu_db *db, tansu_txn *txn, const char *collection,
                                      tansu_document ids, size_t first, tansu_buffer *result,
                                      size_t *next, tansu_error *error);

/*
 * Starts a query. The cursor reads one snapshot (in a write transaction: the state at this call),
 * whatever is written later, and must be closed before the database is. Without $orderby documents
 * come in the order in which they were first inserted. A collection that does not exist is empty.
 * With $onlycount the one result is {"count": n}; with $explain it is the plan, after running it.
 * Errors: INVALID_BSON, INVALID_QUERY (context names the path and operator), TOO_LARGE (the
 * compiled query or its plan exceeds the memory limit of docs/query-language.md), TIMEOUT,
 * CANCELLED; with $onlycount, $explain or in a write transaction also those of tansu_cursor_next().
 */
TANSU_API tansu_status tansu_find(tansu_db *db, tansu_txn *txn, const char *collection,
                                  tansu_document query, tansu_document hints, tansu_cursor **cursor,
                                  tansu_error *error);

/*
 * Steps to the next document. On TANSU_OK *document points at memory that is valid until the next
 * call on this cursor. TANSU_DONE when there is none, then and at every later call.
 * Errors: CANCELLED, TIMEOUT ($maxTimeMS), TOO_LARGE (a sort over its memory, and $allowDiskUse is
 * false), FULL and IO (of its temporary file; the database is not affected), INVALID_QUERY (a
 * regular expression that needs more steps than one match may take), INVALID_STATE (its transaction
 * has ended, or was rolled back to before it).
 */
TANSU_API tansu_status tansu_cursor_next(tansu_cursor *cursor, tansu_document *document,
                                         tansu_error *error);

/* Cancels a cursor, from any thread: the step that is running, if it is a long one, and every later
 * one return CANCELLED. The cursor must not be closed at the same time. No-op on NULL. */
TANSU_API void tansu_cursor_cancel(tansu_cursor *cursor);

/* Ends the time limit ($maxTimeMS) of a cursor: later steps take as long as they need. No-op on NULL
 * and after a step that returned TIMEOUT. */
TANSU_API void tansu_cursor_end_timeout(tansu_cursor *cursor);

/* Closes the cursor and releases its snapshot. No-op on NULL. */
TANSU_API void tansu_cursor_close(tansu_cursor *cursor);

/* Counts the matching documents ($skip and $max apply). Errors: those of tansu_find() and
 * tansu_cursor_next(). */
TANSU_API tansu_status tansu_count(tansu_db *db, tansu_txn *txn, const char *collection,
                                   tansu_document query, tansu_document hints, int64_t *count,
                                   tansu_error *error);

/* Returns the collections that a query reads, as {"collections": [name, ...]}: its own, those that
 * it joins, those of its subqueries, and those that its conditions reach through references. For
 * caches and observers, which need to know what changes a result. The query is not run.
 * Errors: those of tansu_find(). */
TANSU_API tansu_status tansu_query_collections(tansu_db *db, tansu_txn *txn, const char *collection,
                                               tansu_document query, tansu_document hints,
                                               tansu_buffer *result, tansu_error *error);

/* Runs the query and returns how: the candidate plans with their costs, the chosen one, its bounds,
 * the keys and documents examined, the documents returned, milliseconds. Errors: those of
 * tansu_find() and tansu_cursor_next(). */
TANSU_API tansu_status tansu_explain(tansu_db *db, tansu_txn *txn, const char *collection,
                                     tansu_document query, tansu_document hints,
                                     tansu_buffer *result, tansu_error *error);

/* ---- Matching single documents -------------------------------------------------------------- */

/* A compiled query that is applied to documents outside of a database. Used by one thread at a
 * time. */
typedef struct tansu_matcher tansu_matcher;

/* Compiles a query without $do and subqueries. Errors: INVALID_BSON, INVALID_QUERY, TOO_LARGE. */
TANSU_API tansu_status tansu_matcher_new(tansu_document query, tansu_matcher **matcher,
                                         tansu_error *error);

/* Sets *matches to 1 if the document matches, otherwise to 0. It must be valid BSON, but need not
 * be a document that may be stored. Errors: INVALID_BSON, INVALID_QUERY (a regular expression that
 * needs more steps than one match may take). */
TANSU_API tansu_status tansu_matcher_ask(tansu_matcher *matcher, tansu_document document,
                                         int *matches, tansu_error *error);

/* Frees the matcher. No-op on NULL. */
TANSU_API void tansu_matcher_free(tansu_matcher *matcher);

/* ---- Schemas -------------------------------------------------------------------------------- */

/* A compiled schema for documents, the common part of JSON Schema. Any number of threads at once
 * may use one. */
typedef struct tansu_schema tansu_schema;

/*
 * Compiles a schema, or {"$jsonSchema": schema}: the keywords of MongoDB's $jsonSchema and those of
 * JSON Schema 2020-12 (docs/json-schema.md has a table of them). References lead to schemas of the
 * same document. A keyword that is unknown is an error, as is one that is given twice; with
 * "$schema": "https://json-schema.org/draft/2020-12/schema" the rules are those of 2020-12, and
 * unknown keywords are ignored. A keyword for one type does not constrain others.
 * additionalProperties and unevaluatedProperties never exclude the `_id` of the whole document.
 * Errors: INVALID_BSON, INVALID_QUERY (error->context is the keyword's path, such as
 * "properties.age.minimum"; of an invalid pattern error->offset is the byte), TOO_LARGE, MEMORY.
 */
TANSU_API tansu_status tansu_schema_new(tansu_document schema, tansu_schema **result,
                                        tansu_error *error);

/*
 * Replaces *violations by {"violations": [{"path": text, "rule": text, "message": text}, ...]}, at
 * most `limit` of them (0: all), in the order of the schema's keywords; empty when the document is
 * valid. properties and additionalProperties are checked together, where the first of them stands, in
 * the order of the document's fields. `path` is dotted, and empty for the whole document; `rule` is
 * the keyword.
 * Errors: INVALID_BSON, INVALID_QUERY (a pattern needs more steps than one match may take),
 * TOO_LARGE (over 256 MiB), MEMORY.
 */
TANSU_API tansu_status tansu_schema_check(const tansu_schema *schema, tansu_document document,
                                          uint64_t limit, tansu_buffer *violations,
                                          tansu_error *error);

/* Frees the schema. No-op on NULL. */
TANSU_API void tansu_schema_free(tansu_schema *schema);

/* ---- Aggregation ---------------------------------------------------------------------------- */

/*
 * Returns the distinct values of a path in the matching documents, an array by its elements:
 * {"values": [...]} in the order of values; of equal ones (1 and 1.0, or strings that are equal by
 * $collation) the one inserted first. A missing field has no value. $skip and $max apply to the
 * values; with $explain the result is the plan.
 * Errors: those of tansu_find() and tansu_cursor_next(), and TOO_LARGE (values over the memory, and
 * $allowDiskUse is false; a result over 256 MiB).
 */
TANSU_API tansu_status tansu_distinct(tansu_db *db, tansu_txn *txn, const char *collection,
                                      const char *path, tansu_document query, tansu_document hints,
                                      tansu_buffer *result, tansu_error *error);

/*
 * Groups the matching documents and computes aggregates of each group: {"groups": [{...}, ...]}.
 * `group`: {"by": path | [path, ...] | {name: path, ...}, "fields": {name: {operator: path}}} with
 * the operators $count, $sum, $avg, $min, $max, $first, $last, $distinct (docs/query-language.md).
 * In "by", {"$dateTrunc": {"date": path, "unit": "month", "timezone": "Europe/Berlin"}} is the
 * beginning of the unit of time in which a date lies.
 * Without "by" there is one group, even of no documents. Groups come in the order of their keys;
 * $orderby (members of the groups), $skip and $max apply to groups; $collation applies to keys,
 * values and orders; with $explain the result is the plan.
 * Errors: those of tansu_find() and tansu_cursor_next(), and TOO_LARGE (groups over the memory, and
 * $allowDiskUse is false; a single group over it, with the values of its $distinct; a result
 * over 256 MiB).
 */
TANSU_API tansu_status tansu_aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                                       tansu_document query, tansu_document group,
                                       tansu_document hints, tansu_buffer *result,
                                       tansu_error *error);

/*
 * Runs an aggregation pipeline, as MongoDB defines it (docs/pipelines.md). `stages` is a BSON array:
 * [{"$match": {...}}, {"$group": {...}}, ...]; `collection` may be NULL when the first stage is
 * $documents. `hints`: $maxTimeMS, $allowDiskUse, $maxMemory, $collation, $index, $let, $explain. The
 * cursor shows the documents that the last stage makes. $out and $merge write within this call, in one
 * commit or in the transaction, and the cursor then shows nothing.
 * Errors: those of tansu_find(), TOO_LARGE; tansu_cursor_next() has these, too, since expressions
 * are computed document by document.
 */
TANSU_API tansu_status tansu_pipeline(tansu_db *db, tansu_txn *txn, const char *collection,
                                      tansu_document stages, tansu_document hints,
                                      tansu_cursor **cursor, tansu_error *error);

/* ---- Indexes -------------------------------------------------------------------------------- */

/*
 * Creates an index over the documents of a collection, which is created if it does not exist.
 * `keys`: {path: 1 | -1, ...}, or {path: "text", ...} for an index of words; `options`:
 *   unique: bool           no two documents have the same value in it
 *   sparse: bool           documents in which no path has a value have no entry
 *   caseInsensitive: bool  strings by their Unicode case folding; used by $icase and $collation
 *                          that compare so. Other queries may name it in $index, and scan all of it
 *   partialFilter: {...}   a selector of comparisons, $in, $nin, $exists, $type and $begin, joined
 *                          by $and, $or, $nor and $not: other documents have no entry. A query uses
 *                          the index when its conditions imply the filter
 *   only: [path, ...]      of a wildcard index: it has values at these paths and below them
 *   except: [path, ...]    likewise: it has none at these paths and below them
 *   maxEntries: n          a document whose arrays would make more entries in it is refused; 1 to
 *                          TANSU_MAX_INDEX_ENTRIES, TANSU_DEFAULT_INDEX_ENTRIES without it
 *   expireAfterSeconds: n  documents are removed when this many seconds, 0 to 2147483647, have
 *                          passed since the date at the index's one path, or since the earliest
 *                          date of an array there, as tansu_expire() says. Not for `_id`, compound
 *                          and wildcard indexes
 * The path "**" makes a wildcard index, with entries for the values of all paths, and "path.**" one
 * for those at a path and below it (docs/query-language.md#wildcard-indexes). It has no other path,
 * the direction 1, and neither `unique` nor `sparse`.
 * An index of words (docs/query-language.md#indexes-of-words) has the words of the strings at its
 * paths, or with {"**": "text"} of all strings, for $text; a collection has at most one. Its options
 * are `partialFilter` and
 *   weights: {path: n}     how much a path counts for the score, 1 to 1000; 1 without it
 *   language: name         of the texts, for stems, such as "en"; "none" without it
 *   languageField: path    where a document names its own language
 *   positions: bool        false: phrases are found by reading documents; true without it
 * The same index again is no error. A NULL or empty name becomes "path_1_other_-1" from the keys.
 *
 * Without `txn` other threads read and write while the index is built: a snapshot of the collection
 * is read, the later changes are added, and the index is committed. In a transaction it is built
 * under the transaction's write lock.
 *
 * `progress` (may be NULL): documents read, of about `total`; it is called again with the same
 * numbers while entries are sorted, later changes are added, and the call waits for the write lock.
 * Errors: INVALID_NAME, INVALID_INDEX, EXISTS (the name with another definition), NOT_UNIQUE
 * (context names the index, the message the value), TOO_LARGE (too many indexes or entries),
 * CANCELLED, and a commit's.
 */
TANSU_API tansu_status tansu_index_create(tansu_db *db, tansu_txn *txn, const char *collection,
                                          const char *name, tansu_document keys,
                                          tansu_document options, tansu_progress progress,
                                          void *context, tansu_error *error);

/*
 * Creates an index as tansu_index_create() does, if the collection exists, and creates it again
 * whenever the collection is created by a call on `db`: by a first save, also in a transaction, or
 * after the collection was dropped or renamed. A declaration lasts until the index is dropped by
 * its name or the database is closed; it is not stored. Without a collection nothing is written; in
 * a read-only database nothing is created.
 * Errors: those of tansu_index_create(), also EXISTS (declared before with another definition); the
 * index is then not declared.
 */
TANSU_API tansu_status tansu_index_declare(tansu_db *db, tansu_txn *txn, const char *collection,
                                           const char *name, tansu_document keys,
                                           tansu_document options, tansu_progress progress,
                                           void *context, tansu_error *error);

/* Drops an index by name, and forgets its declaration, also when there is only that. In a
 * transaction that is rolled back both remain. Errors: NOT_FOUND, and a commit's. */
TANSU_API tansu_status tansu_index_drop(tansu_db *db, tansu_txn *txn, const char *collection,
                                        const char *name, tansu_error *error);

/* Lists the indexes: {"indexes": [{"name", "keys": {...}, "unique": bool, "multikey": bool,
 * "entries": n}, ...]}, with "sparse": true, "caseInsensitive": true, "partialFilter": {...},
 * "maxEntries": n, "expireAfterSeconds": n, "only": [...] and "except": [...] where they were given.
 * Errors: NOT_FOUND. */
TANSU_API tansu_status tansu_index_list(tansu_db *db, tansu_txn *txn, const char *collection,
                                        tansu_buffer *result, tansu_error *error);

/* ---- Change streams ------------------------------------------------------------------------- */

/* What happened. */
typedef enum tansu_change_kind {
    TANSU_CHANGE_INSERT = 1, /* a document that did not exist before the commit */
    TANSU_CHANGE_UPDATE =
        2, /* one that did: its content changed, or it was saved again unchanged */
    TANSU_CHANGE_REMOVE = 3,
    TANSU_CHANGE_COLLECTION_CREATED = 4,
    TANSU_CHANGE_COLLECTION_DROPPED = 5, /* and its documents, which have no events of their own */
    TANSU_CHANGE_COLLECTION_RENAMED = 6  /* from `collection` to `new_name` */
} tansu_change_kind;

/* One change event. Fill it with tansu_change_init() first. What it points at is valid until the
 * next call on the feed, including the one that closes it. */
typedef struct tansu_change {
    uint32_t struct_size; /* set by tansu_change_init(): the struct may grow */
    tansu_change_kind kind;
    uint64_t sequence;      /* of the commit */
    int last;               /* this is the last event of the commit */
    const char *collection; /* its name at the time of the change */
    const char *new_name;   /* of a renamed one; otherwise NULL */
    tansu_document id;      /* {"_id": ...} of a document; otherwise {NULL, 0} */
    tansu_document before; /* {NULL, 0} when not requested, not there, or reclaimed by compaction */
    tansu_document after;  /* {NULL, 0} when not requested, or there is none */
} tansu_change;

/* Sets struct_size, and all other members to zero. No-op on NULL. */
TANSU_API void tansu_change_init(tansu_change *change);

#define TANSU_FEED_NOW UINT64_MAX /* for tansu_feed_open(): commits from now on */

/*
 * Opens a feed: the events of all commits after number `since`, and then those of future commits.
 * Commits are delivered whole, in order and once, and only when readers see them. A document has
 * one event a commit, from its version before the commit to the one after. To resume after a
 * restart, pass the number of the last commit whose events were all processed, or
 * tansu_feed_position().
 * `options`: {"collections": [name, ...]} (by their names at the time of the change; default: all),
 * {"before": bool}, {"after": bool} (whether events have the documents; default: false).
 *
 * The log is the feed's buffer: a feed that is not read uses no more memory with time, and misses
 * nothing. It counts as open, like a cursor, for tansu_shutdown() and tansu_close().
 *
 * Compaction keeps only the newest version of each document, and drops removals at the beginning of
 * the log. Therefore:
 *  - 0 always works: it delivers the existing documents, then later changes. Versions that were
 *    replaced before a compaction are missing, so the state that results from the events is that of
 *    a commit only from the time of the compaction on; and the first event of a document may be an
 *    UPDATE.
 *  - Another number is rejected with NOT_FOUND when removals after it may be missing, or when the
 *    database has not reached it (a backup was restored). Then read everything and continue with a
 *    TANSU_FEED_NOW feed that was opened before reading. Or begin at 0 with an empty copy.
 *  - Compaction keeps removals that an open feed has not delivered.
 * Errors: NOT_FOUND, INVALID_BSON, INVALID_QUERY (an unknown option).
 */
TANSU_API tansu_status tansu_feed_open(tansu_db *db, uint64_t since, tansu_document options,
                                       tansu_feed **feed, tansu_error *error);

/*
 * Waits for the next event, up to `timeout_ms` (0: does not wait; negative: no limit). DONE when
 * there is none by then. While the events of a commit of more than 1 MiB are delivered, its
 * snapshot is held, as by a cursor; a feed that began at 0 holds one until it has passed what was
 * compacted before it was opened.
 * Errors: CANCELLED, CLOSED (tansu_close() was called).
 */
TANSU_API tansu_status tansu_feed_next(tansu_feed *feed, int64_t timeout_ms, tansu_change *change,
                                       tansu_error *error);

/*
 * Waits for a commit whose events were not delivered, in any collection, and skips all of them:
 * *sequence (may be NULL) is the newest commit, and the feed continues after it. For programs that
 * run their queries again whenever something changed. Timeout, DONE and errors: as
 * tansu_feed_next().
 */
TANSU_API tansu_status tansu_feed_skip(tansu_feed *feed, int64_t timeout_ms, uint64_t *sequence,
                                       tansu_error *error);

/*
 * The number of the last commit of which nothing is left to deliver: where a later feed with the
 * same options resumes, as by tansu_feed_open(). It also passes commits in which the feed had
 * nothing to deliver, once tansu_feed_next() has looked at them. 0 on NULL.
 */
TANSU_API uint64_t tansu_feed_position(const tansu_feed *feed);

/* Cancels a feed, from any thread: the call that waits in it and every later one return CANCELLED.
 * The feed must not be closed at the same time. No-op on NULL. */
TANSU_API void tansu_feed_cancel(tansu_feed *feed);

/* Closes the feed. No-op on NULL. */
TANSU_API void tansu_feed_close(tansu_feed *feed);

/* ---- Maintenance ---------------------------------------------------------------------------- */

/*
 * Reclaims the space of removed and replaced documents: log segments with dead records are
 * rewritten without them, and the index file is shrunk. Readers and writers continue; documents
 * that open cursors and transactions can see are kept until those end. It needs at most the size of
 * one segment of extra space at a time. The same runs in the background while the database is open
 * (options.compaction_percent), and for two seconds at most when it is closed. *report (may be
 * NULL): {"bytesBefore", "bytesAfter", "segments", "records"}. `progress` (may be NULL): bytes.
 * Errors: FULL, IO, MOVED, CORRUPT (a corrupt segment is left as it is), CANCELLED, READ_ONLY, BUSY
 * (a backup, a verification or another compaction is running).
 */
TANSU_API tansu_status tansu_compact(tansu_db *db, tansu_progress progress, void *context,
                                     tansu_buffer *report, tansu_error *error);

/*
 * Removes the documents that have expired by indexes with the option expireAfterSeconds. The same
 * runs in the background while the database is open for writing: after opening, when such an index
 * was created, and so often that a document is removed within a minute; until then it is found as
 * any other. This call is for programs that want it now, or whose threads are stopped. Documents
 * without a date in the index never expire, those that a partial index lacks neither.
 *
 * The wall clock decides what has expired. Documents are removed in commits of up to 100 of them,
 * between which others write, with the delete rules and the change events of other removals. One
 * whose removal a rule denies stays, and is tried again the next time. A commit is as durable as
 * options.durability says, but `full` as `interval`.
 *
 * *removed (may be NULL): how many had expired and were removed, also before an error. Errors: BUSY,
 * READ_ONLY, and those of a removal and of a commit.
 */
TANSU_API tansu_status tansu_expire(tansu_db *db, int64_t *removed, tansu_error *error);

/*
 * Verifies all that is stored, as of one commit: every frame and record of the log, every
 * document's BSON, every index block, each index against the documents in both directions,
 * uniqueness and counts. Readers and writers continue. *report (may be NULL), also filled in after
 * CORRUPT: {"ok": bool, "segments", "frames", "records", "documents", "entries",
 * "damagedDocuments": n (those that can't be read, or lie in a corrupt part of the log without a
 * valid checksum), "byCollection": [{"name", "documents", "damaged"}, ...], "problems": [{"file",
 * "offset", "collection", "index", "message"}, ...] (at most 1000), "problemCount": n}. `progress`
 * (may be NULL): bytes. Corruption of index files alone is repaired by the next opening, which
 * rebuilds them; until then nothing more is written to them.
 * Errors: CORRUPT (there are problems; the error is the first one), CANCELLED, IO, BUSY (a
 * compaction on demand, a backup or another verification is running, or one in the background waits
 * for this thread's own write transaction).
 */
TANSU_API tansu_status tansu_verify(tansu_db *db, tansu_progress progress, void *context,
                                    tansu_buffer *report, tansu_error *error);

/*
 * Salvages a corrupt database: every readable document of the folder `from`, which is not changed,
 * is copied to a new database at `to`, with the collections and indexes that are known. A frame of
 * the log with a valid checksum is used wherever it lies. Of several readable versions of a
 * document the newest is used. Where a checksum does not match, whole documents are copied all the
 * same and counted as unprotected: their values may be wrong. A collection whose name is lost has
 * the one of the index files, or is called recovered_<number>; an index that is no longer unique is
 * created without that. *report (may be NULL): {"documents", "unprotected", "olderDocuments" (a
 * newer version is known to be lost), "uncertainDocuments" (a lost commit may have changed or
 * removed them; each document is of one of these three kinds at most), "collections", "indexes",
 * "lostBytes", "lostCommits", "lostDocuments" (known from the index files, if they can be read): n,
 * "suspects": [{"collection", "_id", "reason": "unprotected" | "older" | "uncertain"}, ...] (at
 * most 1000), "byCollection": [{"name", "documents", "unprotected", "older", "uncertain", "lost"},
 * ...], "problems": [{"file", "offset", "size", "collection", "index", "message"}, ...] (at most
 * 1000), "problemCount": n}. Returns OK also when something was lost. `progress` (may be NULL):
 * bytes. Errors: NOT_FOUND (no database at `from`), LOCKED (it is open; the message names the
 * process, see tansu_open()), EXISTS (`to` exists), INVALID_ARGUMENT (`to` lies in `from`),
 * ENCRYPTED (see tansu_repair_encrypted()), FULL, IO, VERSION, CANCELLED.
 */
TANSU_API tansu_status tansu_repair(const char *from, const char *to, tansu_progress progress,
                                    void *context, tansu_buffer *report, tansu_error *error);

/*
 * tansu_repair() of an encrypted database, with its key. What is salvaged was written by someone with
 * the key: whatever else is in the files is left out. The new database has the same key, and a data
 * key of its own. Nothing decrypted is written to the disk. More errors: INVALID_ARGUMENT (the key,
 * or the database is not encrypted), WRONG_KEY, CORRUPT (the file KEY is missing, corrupt or another
 * database's: nothing can be salvaged without it), UNSUPPORTED (the library was built without
 * libcrypto).
 */
TANSU_API tansu_status tansu_repair_encrypted(const char *from, const char *to,
                                              const tansu_key *key, tansu_progress progress,
                                              void *context, tansu_buffer *report,
                                              tansu_error *error);

/* The two forms of a backup. */
typedef enum tansu_backup_form {
    TANSU_BACKUP_FOLDER = 0, /* a database folder, which can be opened */
    TANSU_BACKUP_FILE = 1    /* one compressed file (gzip) with checksums, for tansu_restore() */
} tansu_backup_form;

/*
 * Copies the database as of one commit to a new folder or file, while readers and writers continue.
 * `to` is complete and synced on success, and does not exist after an error. *report (may be NULL):
 * {"sequence", "bytes", "documents": n}. `progress` (may be NULL): bytes.
 * Errors: EXISTS (`to` exists), INVALID_ARGUMENT (`to` lies in the database's folder, by whatever
 * path), FULL, IO, CORRUPT, CANCELLED, BUSY (a compaction on demand, a
 * verification or another backup is running), INVALID_STATE (a memory or temporary store that is
 * encrypted, whose key is written nowhere: use one of the next two functions).
 *
 * The backup of an encrypted database is encrypted with its data key, a folder with one that is
 * derived from that, and opens with the key that the database has now.
 */
TANSU_API tansu_status tansu_backup(tansu_db *db, const char *to, tansu_backup_form form,
                                    tansu_progress progress, void *context, tansu_buffer *report,
                                    tansu_error *error);

/*
 * tansu_backup() whose result is encrypted with a new data key, and opens with `key`: whoever has
 * that cannot read the database with it. The database need not be encrypted. Errors: as
 * tansu_backup(); INVALID_ARGUMENT (also the key), UNSUPPORTED (the library was built without
 * libcrypto).
 */
TANSU_API tansu_status tansu_backup_encrypted(tansu_db *db, const char *to, tansu_backup_form form,
                                              const tansu_key *key, tansu_progress progress,
                                              void *context, tansu_buffer *report,
                                              tansu_error *error);

/* tansu_backup() whose result is not encrypted, though the database may be. Errors: as
 * tansu_backup(). */
TANSU_API tansu_status tansu_backup_plain(tansu_db *db, const char *to, tansu_backup_form form,
                                          tansu_progress progress, void *context,
                                          tansu_buffer *report, tansu_error *error);

/*
 * Encrypts the database at `path` with `key`: an encrypted copy is made beside it, at `path` with
 * ".tansu-converted" added, takes its place in one step, and the old files are removed. The copy is
 * of the newest commit, with the same commit numbers; nobody else may have the database open. Killed
 * at any moment, the database is as before or encrypted, and the next call removes what is left of the
 * other. Removed files can often be read from a disk, an SSD above all, until they are written over.
 * Errors: NOT_FOUND, LOCKED (it is open, also to read), ENCRYPTED (it is encrypted), INVALID_STATE (the
 * folder has files that would be lost, in "set-aside" or not the database's), INVALID_ARGUMENT (the key), UNSUPPORTED (the file system
 * cannot exchange folders, or the library was built without libcrypto), CORRUPT, CANCELLED, FULL, IO.
 */
TANSU_API tansu_status tansu_encrypt(const char *path, const tansu_key *key,
                                     tansu_progress progress, void *context, tansu_error *error);

/* The reverse of tansu_encrypt(), of a database that opens with `key`. Errors: as there, and
 * WRONG_KEY; INVALID_ARGUMENT also when the database is not encrypted. */
TANSU_API tansu_status tansu_decrypt(const char *path, const tansu_key *key,
                                     tansu_progress progress, void *context, tansu_error *error);

/*
 * Creates a database at `to` from a backup of either form, and verifies it before `to` exists.
 * *report (may be NULL): {"sequence", "documents": n}. `progress` (may be NULL): bytes.
 * Errors: NOT_FOUND (no backup at `from`), EXISTS (`to` exists), INVALID_ARGUMENT (`to` lies in the
 * folder `from`), CORRUPT (offset says where),
 * VERSION, FULL, IO, LOCKED (the folder `from` is open), BUSY (another call is creating `to`),
 * CANCELLED, ENCRYPTED (use tansu_restore_encrypted()).
 */
TANSU_API tansu_status tansu_restore(const char *from, const char *to, tansu_progress progress,
                                     void *context, tansu_buffer *report, tansu_error *error);

/*
 * tansu_restore() of an encrypted backup. The database is encrypted with a new data key and opens
 * with `key`, whose iterations do not matter: they stay the backup's. Nothing is decrypted to the
 * disk. Errors: as tansu_restore(); WRONG_KEY, INVALID_ARGUMENT (also the key, or the backup is not encrypted),
 * UNSUPPORTED (the library was built without libcrypto).
 */
TANSU_API tansu_status tansu_restore_encrypted(const char *from, const char *to,
                                               const tansu_key *key, tansu_progress progress,
                                               void *context, tansu_buffer *report,
                                               tansu_error *error);

/*
 * Opens a new, empty database by the options `target` (memory, temporary or persistent) and copies
 * all collections, options, documents and indexes into it, as of one commit. *copy is open, and the
 * caller's. A persistent copy gets its path when it is complete. `progress` (may be NULL):
 * documents.
 * Errors: EXISTS (something is at the path, other than an empty folder), INVALID_ARGUMENT (the path
 * lies in the database's folder), BUSY (another call is
 * creating it), CORRUPT (as tansu_dump()), CANCELLED, and those of tansu_open() and of
 * commits; after an error a database that was begun is removed.
 */
TANSU_API tansu_status tansu_clone(tansu_db *db, const tansu_options *target,
                                   tansu_progress progress, void *context, tansu_db **copy,
                                   tansu_error *error);

/* Writes the next bytes of a dump. Returns 0 on failure: the dump fails with IO. */
typedef int (*tansu_write_bytes)(void *context, const void *bytes, size_t size);

/* Reads up to `capacity` bytes of a dump into `bytes`. Returns how many, 0 at the end, negative on
 * failure. */
typedef ptrdiff_t (*tansu_read_bytes)(void *context, void *bytes, size_t capacity);

/*
 * Writes collections as text: newline-delimited canonical extended JSON (docs/dump-format.md), as
 * of one commit. Every BSON type survives dump and load. `options`: {"collections": [name, ...]}
 * (default: all), {"query": {...}} (with one collection), {"indexes": bool} (default: true).
 * *report (may be NULL): {"collections", "documents", "indexes", "bytes": n}. `progress` (may be
 * NULL): documents. Errors: NOT_FOUND (a collection of that name), INVALID_QUERY, IO (`write`
 * failed), CORRUPT (a document that is not intact: the message names its collection, context and
 * offset its location), CANCELLED.
 */
TANSU_API tansu_status tansu_dump(tansu_db *db, tansu_txn *txn, tansu_write_bytes write,
                                  void *write_context, tansu_document options,
                                  tansu_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error);

/*
 * tansu_dump() whose text is encrypted with a random data key, and opens with `key`: as a stream of
 * bytes (docs/backup-format.md). The database need not be encrypted. Errors: as tansu_dump();
 * INVALID_ARGUMENT (also the key), UNSUPPORTED (the library was built without libcrypto).
 */
TANSU_API tansu_status tansu_dump_encrypted(tansu_db *db, tansu_txn *txn, tansu_write_bytes write,
                                            void *write_context, tansu_document options,
                                            const tansu_key *key, tansu_progress progress,
                                            void *context, tansu_buffer *report,
                                            tansu_error *error);

/*
 * Loads what tansu_dump() wrote, or newline-delimited JSON documents, also of version 1 of extended
 * JSON ({"$date": n} and the like). `options`: {"collection":
 * name} (of plain documents; required for those), {"mode": "save" | "insert" | "skip"} (a document
 * whose `_id` is taken is replaced, an error, or left out; default: "insert"), {"atomic": bool}
 * (default false: commits of some thousand documents; true: all or nothing, within the limit of a
 * transaction), {"keepTimestamps": bool} (whether dates that plain documents have in the fields of
 * the option "timestamps" are kept; those of a dump are). Indexes are created after the documents
 * of their collection. *report (may be NULL; also after an error): {"collections", "documents",
 * "skipped", "indexes", "lines": n}. `progress` (may be NULL): lines, of an unknown total (0).
 * Errors: INVALID_JSON and others with the number of the line in the message and in error->offset,
 * IO (`read` failed), CANCELLED, ENCRYPTED (use tansu_load_encrypted()), and those of tansu_save()
 * and tansu_index_create().
 */
TANSU_API tansu_status tansu_load(tansu_db *db, tansu_read_bytes read, void *read_context,
                                  tansu_document options, tansu_progress progress, void *context,
                                  tansu_buffer *report, tansu_error *error);

/*
 * tansu_load() of what tansu_dump_encrypted() wrote. What comes before damage has been loaded when it
 * is noticed, unless the load is atomic. Errors: as tansu_load(); WRONG_KEY, CORRUPT (also: it was
 * cut off), VERSION, INVALID_ARGUMENT (also the key, or the dump is not encrypted), UNSUPPORTED (the
 * library was built without libcrypto).
 */
TANSU_API tansu_status tansu_load_encrypted(tansu_db *db, tansu_read_bytes read, void *read_context,
                                            tansu_document options, const tansu_key *key,
                                            tansu_progress progress, void *context,
                                            tansu_buffer *report, tansu_error *error);

/* The text of an encrypted dump, for who does more with it than to load it. Of one thread at a time. */
typedef struct tansu_dump_reader tansu_dump_reader;

/* Reads the head of what tansu_dump_encrypted() wrote. `read` is called until the reader is closed, with
 * tansu_dump_reader_close(). Errors: IO (`read` failed), WRONG_KEY, CORRUPT, VERSION, INVALID_ARGUMENT
 * and UNSUPPORTED as tansu_load_encrypted(). */
TANSU_API tansu_status tansu_dump_reader_open(tansu_read_bytes read, void *read_context,
                                              const tansu_key *key, tansu_dump_reader **reader,
                                              tansu_error *error);

/* The next bytes of the text, up to `capacity`; *got is 0 at its end only, and then all of the dump was
 * as it was written. Errors: IO (`read` failed), CORRUPT (also: it was cut off). */
TANSU_API tansu_status tansu_dump_reader_read(tansu_dump_reader *reader, void *bytes,
                                              size_t capacity, size_t *got, tansu_error *error);

/* No-op on NULL. */
TANSU_API void tansu_dump_reader_close(tansu_dump_reader *reader);

/* ---- Text ------------------------------------------------------------------------------------ */

/*
 * The terms of a text, by which it can be found (docs/text.md): {"words": how many words it has,
 * "terms": [{"term": "fox", "position": of the word, "start" and "end": its bytes}]}, in the order
 * of the positions. `length` is SIZE_MAX for NUL-terminated text. Options, none of which is needed:
 *
 * - language: whose stems the terms are, a code of ISO 639 ("en") or a name of Snowball ("english");
 *   "none" (the default) leaves words as they are.
 * - purpose: "index" (the default): all terms; "search": those that a text must have to be found by
 *   this one.
 *
 * Errors: INVALID_ARGUMENT (not UTF-8; error->offset is the byte at fault), INVALID_QUERY (an
 * unknown option or language), TOO_LARGE (beyond TANSU_MAX_DOCUMENT_SIZE), UNSUPPORTED (a language, in
 * a library that was built without libstemmer).
 */
TANSU_API tansu_status tansu_analyze(const char *text, size_t length, tansu_document options,
                                     tansu_buffer *result, tansu_error *error);

/*
 * The places in a text that a search finds, for showing why a document was found (docs/text-search.md):
 * {"ranges": [{"start", "end"}], "snippets": [{"start", "end", "ranges": […]}]}, all in the order of
 * the text and as its bytes. `search` is the operand of $text. Of phrases and words near one another
 * only whole matches are places; what the search excludes is none. Ranges do not overlap. `length` is
 * SIZE_MAX for NUL-terminated text. Options, none of which is needed:
 *
 * - language: that of the text, as of tansu_analyze(); the default is the search's own, or "none".
 * - path: where the text stands in the document: parts of the search with another "path" are left out;
 *   by default none is.
 * - snippets: how many parts of the text are wanted (0 to 100; 0 is the default): those with most
 *   different words of the search, then with most places. They do not overlap.
 * - snippetWords: how many words each has at most (1 to 1000; default 20).
 *
 * Errors: those of tansu_analyze(); INVALID_QUERY (also the search), TOO_LARGE (also: a search beyond its
 * limits, or more than a million places).
 */
TANSU_API tansu_status tansu_highlight(const char *text, size_t length, tansu_document search,
                                       tansu_document options, tansu_buffer *result,
                                       tansu_error *error);

/*
 * What the words of a collection's index of words suggest for a text, as somebody types it or has
 * typed it: from documents of the newest snapshot, or of the transaction. `options` is {"limit": n},
 * from 1 to 50, and 10 unless given; TANSU_NO_DOCUMENT: none. Words come as a document has them.
 *
 * tansu_complete() completes the last word of the text, the most frequent words first:
 *
 *     {"start": 4, "completions": [{"text": "Hamburg", "documents": 12}, …]}
 *
 * "start" is the byte of the text where that word begins; there are no completions where the text ends
 * with something else. In an index of stems the completions are words that a document has, of which
 * there may be fewer.
 *
 * tansu_suggest() suggests words for those that no document has: words that are one edit away
 * (a character that is inserted, left out, replaced, or exchanged with its neighbour), or two where
 * there are none and the word has five characters or more; the nearest first, then the most
 * frequent:
 *
 *     {"words": [{"start": 0, "end": 6, "suggestions": [{"text": "coffee", "documents": 8,
 *      "distance": 1}]}], "text": "coffee beans"}
 *
 * "text" is the whole text with the first suggestion for each word.
 *
 * The first completion of a beginning that thousands of words have reads all words of the index; later
 * ones take less than a millisecond, until a tenth of the documents has come or gone.
 * Errors: INVALID_QUERY (there is no index of words; an option), INVALID_ARGUMENT (no UTF-8),
 * TOO_LARGE (more than 64 KiB, or for suggestions 100 words), CANCELLED, UNSUPPORTED (stems, without
 * libstemmer), CORRUPT, IO, MEMORY.
 */
TANSU_API tansu_status tansu_complete(tansu_db *db, tansu_txn *txn, const char *collection,
                                      const char *text, size_t length, tansu_document options,
                                      tansu_buffer *result, tansu_error *error);
TANSU_API tansu_status tansu_suggest(tansu_db *db, tansu_txn *txn, const char *collection,
                                     const char *text, size_t length, tansu_document options,
                                     tansu_buffer *result, tansu_error *error);

/* ---- BSON and JSON -------------------------------------------------------------------------- */

/* Writes the 12 bytes of a new ObjectID: seconds, a random number of this process, a counter. No-op
 * on NULL. */
TANSU_API void tansu_oid_generate(uint8_t oid[12]);

/* Checks that the bytes are a document that may be stored, as tansu_save() does. Errors:
 * INVALID_BSON, INVALID_DOCUMENT, INVALID_ID, TOO_LARGE; error->offset is the byte at fault. */
TANSU_API tansu_status tansu_validate(tansu_document document, tansu_error *error);

/* Converts one JSON object (extended JSON v2, canonical or relaxed) to BSON. `length` is SIZE_MAX
 * for NUL-terminated text. Errors: INVALID_JSON (error->offset is the byte at fault), TOO_LARGE. */
TANSU_API tansu_status tansu_json_to_bson(const char *json, size_t length, tansu_buffer *result,
                                          tansu_error *error);

/* Converts a document to NUL-terminated extended JSON (result->size does not count the NUL),
 * canonical or relaxed. Errors: INVALID_BSON. */
TANSU_API tansu_status tansu_bson_to_json(tansu_document document, int canonical,
                                          tansu_buffer *result, tansu_error *error);

/*
 * Runs one command in JSON form (docs/json-commands.md). *response is the answer, a NUL-terminated
 * JSON text, set on success and on failure (NULL only when memory is exhausted); free it with
 * tansu_free(). Returns the status of the command. What a command leaves open (a cursor, a
 * transaction, a feed) counts as open for tansu_shutdown(), and tansu_close() ends it. `db` may be
 * NULL for the commands "restore", "repair" and "analyze".
 */
TANSU_API tansu_status tansu_execute_json(tansu_db *db, const char *request, char **response);

#ifdef __cplusplus
}
#endif

#endif
