/*
 * native.h -- what the Python package calls: tansu.h behind handles that stay valid whatever
 * Python does with them.
 *
 * A handle is used after it was closed, by two threads at once, in a callback of its own call, or
 * freed in any order by the garbage collector: each of these is an error, or does what it should,
 * and none is undefined. Therefore:
 *
 *  - Each handle counts who refers to it, and is freed with the last of them.
 *  - Closing a database waits for the calls that are running, and ends the handles that are open.
 *  - A transaction with its cursors, a cursor without one, and a feed are used by one call at a
 *    time: another call returns INVALID_STATE, and closing takes place when the call ends.
 *  - What the engine shows in memory of its own is copied before the handle can be used by somebody
 *    else.
 *
 * Documents are given as bytes and a size; NULL and 0 are none. All functions may be called without
 * the GIL. setup.py makes cffi's declarations of this file and tansu.h by removing comments and
 * lines of the preprocessor.
 */
#ifndef TANSU_PYTHON_NATIVE_H
#define TANSU_PYTHON_NATIVE_H

#include "tansu.h"

typedef struct native_db native_db;
typedef struct native_handle native_handle; /* a transaction, a cursor or a feed */

/* What a call returns, reused by later calls. */
typedef struct native_call {
    tansu_error error;
    tansu_buffer buffer;
    const char *data; /* the result: bytes of `buffer`, valid until the next call */
    size_t size;
    int64_t number;    /* a count, or another result */
    uint64_t sequence; /* of a commit */
    void *progress;    /* for python_progress(), or NULL */
} native_call;

/* An event of a feed. Its texts and documents lie in native_call.data, one after the other, each
 * with its size; texts have no NUL. */
typedef struct native_change {
    int kind;
    int last;
    uint64_t sequence;
    size_t collection;
    size_t new_name;
    size_t id;
    size_t before;
    size_t after;
} native_change;

/* native_init -- is called once. `main_thread` is the identifier of Python's main thread, on which
 * SIGINT interrupts. */
void native_init(uintptr_t main_thread);

native_call *native_call_new(void);
void native_call_free(native_call *call);

/* ---- Databases ---- */

tansu_status native_open(const tansu_options *options, native_db **db, native_call *call);
/* native_close -- waits for running calls, ends what is open, and shuts down. Later calls return
 * CLOSED. */
tansu_status native_close(native_db *db, native_call *call);
/* native_db_free -- gives the reference up that native_open() returned, and closes the database. */
void native_db_free(native_db *db);
/* native_closed -- whether native_close() was called. */
int native_closed(native_db *db);

tansu_status native_sync(native_db *db, native_call *call);
tansu_status native_checkpoint(native_db *db, native_call *call);
tansu_status native_rekey(native_db *db, const void *key, size_t size, int kind,
                          uint32_t iterations, native_call *call);
/* number: whether there are newer commits. */
tansu_status native_refresh(native_db *db, native_call *call);
tansu_status native_stats(native_db *db, native_call *call);
tansu_status native_compact(native_db *db, native_call *call);
/* number: of the removed documents. */
tansu_status native_expire(native_db *db, native_call *call);
tansu_status native_verify(native_db *db, native_call *call);
tansu_status native_backup(native_db *db, const char *to, int form, native_call *call);
tansu_status native_restore(const char *from, const char *to, native_call *call);
tansu_status native_repair(const char *from, const char *to, native_call *call);
tansu_status native_clone(native_db *db, const tansu_options *target, native_db **copy,
                          native_call *call);
/* `stream` is for python_write() and python_read(). */
tansu_status native_dump(native_db *db, native_handle *txn, void *stream, const char *options,
                         size_t options_size, native_call *call);
tansu_status native_load(native_db *db, void *stream, const char *options, size_t options_size,
                         native_call *call);
tansu_status native_execute_json(native_db *db, const char *request, native_call *call);

/* ---- Transactions, cursors, feeds ---- */

/* native_handle_free -- gives a reference up, and closes the handle. */
void native_handle_free(native_handle *handle);
/* native_handle_close -- rolls a transaction back, closes a cursor or feed. */
void native_handle_close(native_handle *handle);
/* native_handle_cancel -- from any thread. */
void native_handle_cancel(native_handle *handle);

tansu_status native_begin(native_db *db, int mode, int durability, native_handle **txn,
                          native_call *call);
/* native_commit -- closes the cursors of the transaction, commits it, and sets the sequence. */
tansu_status native_commit(native_handle *txn, native_call *call);
tansu_status native_savepoint_begin(native_handle *txn, native_call *call);
tansu_status native_savepoint_release(native_handle *txn, native_call *call);
tansu_status native_savepoint_roll_back(native_handle *txn, native_call *call);

/* native_next -- the next documents, one after the other: up to `count`, and one more than fits
 * into `bytes`. number: how many. DONE: there are none after these. */
tansu_status native_next(native_handle *cursor, size_t count, size_t bytes, native_call *call);

tansu_status native_feed_open(native_db *db, uint64_t since, const char *options,
                              size_t options_size, native_handle **feed, native_call *call);
tansu_status native_feed_next(native_handle *feed, int64_t timeout_ms, native_change *change,
                              native_call *call);

/* ---- Documents: `txn` may be NULL ---- */

tansu_status native_get(native_db *db, native_handle *txn, const char *collection, const char *id,
                        size_t id_size, native_call *call);
/* native_get_many -- number: the first id that was not answered. */
tansu_status native_get_many(native_db *db, native_handle *txn, const char *collection,
                             const char *ids, size_t ids_size, size_t first, native_call *call);
tansu_status native_find(native_db *db, native_handle *txn, const char *collection,
                         const char *query, size_t query_size, const char *hints, size_t hints_size,
                         native_handle **cursor, native_call *call);
tansu_status native_pipeline(native_db *db, native_handle *txn, const char *collection,
                             const char *stages, size_t stages_size, const char *hints,
                             size_t hints_size, native_handle **cursor, native_call *call);
/* native_write_pipeline -- one that ends with $out or $merge. */
tansu_status native_write_pipeline(native_db *db, native_handle *txn, const char *collection,
                                   const char *stages, size_t stages_size, const char *hints,
                                   size_t hints_size, native_call *call);
/* native_find_one -- the first document; DONE when there is none. */
tansu_status native_find_one(native_db *db, native_handle *txn, const char *collection,
                             const char *query, size_t query_size, const char *hints,
                             size_t hints_size, native_call *call);
tansu_status native_count(native_db *db, native_handle *txn, const char *collection,
                          const char *query, size_t query_size, const char *hints,
                          size_t hints_size, native_call *call);
tansu_status native_explain(native_db *db, native_handle *txn, const char *collection,
                            const char *query, size_t query_size, const char *hints,
                            size_t hints_size, native_call *call);
tansu_status native_distinct(native_db *db, native_handle *txn, const char *collection,
                             const char *path, const char *query, size_t query_size,
                             const char *hints, size_t hints_size, native_call *call);
tansu_status native_aggregate(native_db *db, native_handle *txn, const char *collection,
                              const char *query, size_t query_size, const char *group,
                              size_t group_size, const char *hints, size_t hints_size,
                              native_call *call);
tansu_status native_save_one(native_db *db, native_handle *txn, const char *collection,
                             const char *document, size_t document_size, int mode,
                             native_call *call);
/* native_save_many -- `documents` are one after the other, of which each begins with its size. */
tansu_status native_save_many(native_db *db, native_handle *txn, const char *collection,
                              const char *documents, size_t documents_size, size_t count, int mode,
                              native_call *call);
tansu_status native_update(native_db *db, native_handle *txn, const char *collection,
                           const char *query, size_t query_size, const char *update,
                           size_t update_size, const char *hints, size_t hints_size,
                           native_call *call);
tansu_status native_find_and_modify(native_db *db, native_handle *txn, const char *collection,
                                    const char *query, size_t query_size, const char *update,
                                    size_t update_size, const char *hints, size_t hints_size,
                                    int mode, native_call *call);
tansu_status native_remove(native_db *db, native_handle *txn, const char *collection,
                           const char *query, size_t query_size, const char *hints,
                           size_t hints_size, native_call *call);

/* ---- Collections and indexes ---- */

tansu_status native_collection_ensure(native_db *db, native_handle *txn, const char *name,
                                      const char *options, size_t options_size, native_call *call);
tansu_status native_collection_drop(native_db *db, native_handle *txn, const char *name,
                                    native_call *call);
tansu_status native_collection_rename(native_db *db, native_handle *txn, const char *name,
                                      const char *new_name, native_call *call);
tansu_status native_collection_list(native_db *db, native_handle *txn, native_call *call);
tansu_status native_collection_info(native_db *db, native_handle *txn, const char *name,
                                    native_call *call);
tansu_status native_collection_referrers(native_db *db, native_handle *txn, const char *name,
                                         native_call *call);
tansu_status native_dangling_references(native_db *db, native_handle *txn, const char *options,
                                        size_t options_size, native_call *call);
/* `declare`: tansu_index_declare(). */
tansu_status native_index_create(native_db *db, native_handle *txn, const char *collection,
                                 const char *name, const char *keys, size_t keys_size,
                                 const char *options, size_t options_size, int declare,
                                 native_call *call);
tansu_status native_index_drop(native_db *db, native_handle *txn, const char *collection,
                               const char *name, native_call *call);
tansu_status native_index_list(native_db *db, native_handle *txn, const char *collection,
                               native_call *call);

#endif
