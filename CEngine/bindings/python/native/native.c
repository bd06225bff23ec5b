/*
 * native.c -- handles of tansu.h that stay valid whatever Python does with them, and the calls
 * with them.
 */
#include "native.h"

#include "callbacks.h"
#include "interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct native_db {
    atomic_uint references; /* one of Python's, and one of each handle */
    atomic_uint calls;      /* that are running */
    atomic_bool closing;    /* there are no new ones */
    unsigned forks;         /* interrupt_forks() when it was opened */
    pthread_mutex_t mutex;  /* of all below; recursive: ending a handle may call the log */
    pthread_cond_t drained; /* no call is running */
    tansu_db *inner;        /* NULL once it is closed */
    native_handle *first;   /* of those that are open */
};

typedef enum handle_kind { HANDLE_TXN, HANDLE_CURSOR, HANDLE_FEED } handle_kind;

struct native_handle {
    atomic_uint references; /* Python's, the list's of open ones, each cursor's of a transaction */
    handle_kind kind;
    native_db *db;
    native_handle *txn;    /* of a cursor; NULL: on its own */
    atomic_bool busy;      /* a call uses it, or a cursor of it */
    atomic_bool abandoned; /* it is to be ended when the call has ended */
    atomic_bool sweep;     /* it, or one of its cursors, is abandoned */
    bool open; /* this and what follows are guarded by the mutex of the database and by `busy` */
    union {
        tansu_txn *txn;
        tansu_cursor *cursor;
        tansu_feed *feed;
    } as;
    tansu_txn *own; /* of a cursor without transaction, to interrupt it; may be NULL */
    native_handle *previous, *next;
};

/* Calls that run on this thread, of any database: one that is made by a callback is within
 * another. */
static _Thread_local unsigned depth;

static tansu_document document(const char *data, size_t size) {
    return (tansu_document){data, size};
}

/* fail -- fills in an error of the handles. Returns its code. */
static tansu_status fail(native_call *call, tansu_status code, const char *context,
                         const char *message) {
    call->error = (tansu_error){.code = code, .offset = -1};
    snprintf(call->error.message, sizeof call->error.message, "%s", message);
    snprintf(call->error.context, sizeof call->error.context, "%s", context);
    return code;
}

static tansu_status fail_memory(native_call *call) {
    return fail(call, TANSU_E_MEMORY, "", "Out of memory");
}

/* ---- Results ---- */

/* append -- adds bytes to the result. Returns false if memory is exhausted. */
static bool append(tansu_buffer *buffer, const void *data, size_t size) {
    if (buffer->capacity - buffer->size < size) {
        size_t capacity = buffer->size + size + buffer->capacity / 2 + 64;
        uint8_t *larger = realloc(buffer->data, capacity);
        if (larger == NULL)
            return false;
        buffer->data = larger;
        buffer->capacity = capacity;
    }
    if (size != 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

/* show -- makes the buffer the result. */
static void show(native_call *call) {
    call->data = (const char *)call->buffer.data;
    call->size = call->buffer.size;
}

native_call *native_call_new(void) {
    return calloc(1, sizeof(native_call));
}

void native_call_free(native_call *call) {
    if (call != NULL)
        tansu_buffer_free(&call->buffer);
    free(call);
}

/* progress -- of a long call: Ctrl-C ends it, or Python does. */
static int progress(void *context, uint64_t done, uint64_t total) {
    const native_call *call = context;
    return !interrupt_asked() &&
           (call->progress == NULL || python_progress(call->progress, done, total));
}

/* ---- Handles ---- */

static void db_release(native_db *db) {
    if (atomic_fetch_sub(&db->references, 1) != 1)
        return;
    pthread_cond_destroy(&db->drained);
    pthread_mutex_destroy(&db->mutex);
    free(db);
}

static void handle_release(native_handle *handle) {
    if (atomic_fetch_sub(&handle->references, 1) != 1)
        return;
    if (handle->txn != NULL)
        handle_release(handle->txn);
    db_release(handle->db);
    free(handle);
}

static bool forked(const native_db *db) {
    return db->forks != interrupt_forks();
}

/* handle_new -- opened by a call of `db`. NULL if memory is exhausted. */
static native_handle *handle_new(native_db *db, handle_kind kind, native_handle *txn) {
    native_handle *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return NULL;
    atomic_init(&handle->references, 2);
    handle->kind = kind;
    handle->db = db;
    handle->txn = txn;
    atomic_fetch_add(&db->references, 1);
    if (txn != NULL)
        atomic_fetch_add(&txn->references, 1);
    return handle;
}

/* handle_link -- adds it to those that are open, now that the engine has it. */
static void handle_link(native_handle *handle) {
    native_db *db = handle->db;
    pthread_mutex_lock(&db->mutex);
    handle->open = true;
    handle->next = db->first;
    if (handle->next != NULL)
        handle->next->previous = handle;
    db->first = handle;
    pthread_mutex_unlock(&db->mutex);
}

/* handle_unlink -- takes it out; the engine no longer has it, or its caller ends it. */
static void handle_unlink(native_handle *handle) {
    handle->open = false;
    if (handle->next != NULL)
        handle->next->previous = handle->previous;
    if (handle->previous != NULL)
        handle->previous->next = handle->next;
    else
        handle->db->first = handle->next;
    handle->next = handle->previous = NULL;
}

static void handle_end(native_handle *handle);

/* end_cursors -- of a transaction: all, or those that were abandoned. With the mutex. */
static void end_cursors(native_handle *txn, bool all) {
    native_handle *next;
    for (native_handle *cursor = txn->db->first; cursor != NULL; cursor = next) {
        next = cursor->next;
        if (cursor->txn != txn || !(all || atomic_load(&cursor->abandoned)))
            continue;
        handle_end(cursor);
        next = txn->db->first; /* the log may have called back */
    }
}

/* handle_end -- ends what is open. With the mutex, and `busy` of the handle or its transaction, or
 * no call running. */
static void handle_end(native_handle *handle) {
    if (!handle->open)
        return;
    if (handle->kind == HANDLE_TXN)
        end_cursors(handle, true);
    handle_unlink(handle);
    depth++;
    switch (handle->kind) {
    case HANDLE_TXN: tansu_txn_abort(handle->as.txn); break;
    case HANDLE_CURSOR:
        tansu_cursor_close(handle->as.cursor);
        tansu_txn_abort(handle->own);
        break;
    case HANDLE_FEED: tansu_feed_close(handle->as.feed); break;
    }
    depth--;
    handle_release(handle);
}

/* owner -- whose `busy` counts. */
static native_handle *owner(native_handle *handle) {
    return handle->txn != NULL ? handle->txn : handle;
}

/* sweep -- ends what was abandoned while it was busy. */
static void sweep(native_handle *o) {
    pthread_mutex_lock(&o->db->mutex);
    if (atomic_exchange(&o->sweep, false)) {
        if (atomic_load(&o->abandoned))
            handle_end(o);
        else
            end_cursors(o, false);
    }
    pthread_mutex_unlock(&o->db->mutex);
}

/* leave_handle -- a call has ended. */
static void leave_handle(native_handle *handle) {
    native_handle *o = owner(handle);
    atomic_fetch_add(&o->references, 1);
    atomic_store(&o->busy, false);
    while (atomic_load(&o->sweep) && !atomic_exchange(&o->busy, true)) {
        sweep(o);
        atomic_store(&o->busy, false);
    }
    handle_release(o);
}

static const char *const kind_names[] = {"transaction", "cursor", "change stream"};

/* enter_handle -- a call begins that uses the handle. Errors: INVALID_STATE, CLOSED. */
static tansu_status enter_handle(native_handle *handle, native_call *call) {
    char message[128];
    const char *name = kind_names[handle->kind];
    if (atomic_exchange(&owner(handle)->busy, true)) {
        snprintf(message, sizeof message, "The %s is used by another call that is running", name);
        return fail(call, TANSU_E_INVALID_STATE, name, message);
    }
    if (handle->open)
        return TANSU_OK;
    leave_handle(handle);
    snprintf(message, sizeof message, "The %s has ended", name);
    return fail(call, TANSU_E_INVALID_STATE, name, message);
}

void native_handle_close(native_handle *handle) {
    if (handle == NULL || forked(handle->db))
        return;
    native_handle *o = owner(handle);
    atomic_store(&handle->abandoned, true);
    atomic_store(&o->sweep, true);
    if (!atomic_exchange(&o->busy, true))
        leave_handle(handle);
}

void native_handle_free(native_handle *handle) {
    if (handle == NULL || forked(handle->db))
        return;
    native_handle_close(handle);
    handle_release(handle);
}

void native_handle_cancel(native_handle *handle) {
    if (forked(handle->db))
        return;
    pthread_mutex_lock(&handle->db->mutex);
    if (handle->open) {
        switch (handle->kind) {
        case HANDLE_TXN: tansu_txn_cancel(handle->as.txn); break;
        case HANDLE_CURSOR: tansu_cursor_cancel(handle->as.cursor); break;
        case HANDLE_FEED: tansu_feed_cancel(handle->as.feed); break;
        }
    }
    pthread_mutex_unlock(&handle->db->mutex);
}

/* ---- Calls ---- */

/* leave -- a call has ended. */
static void leave(native_db *db) {
    depth--;
    if (atomic_fetch_sub(&db->calls, 1) == 1 && atomic_load(&db->closing)) {
        pthread_mutex_lock(&db->mutex);
        pthread_cond_broadcast(&db->drained);
        pthread_mutex_unlock(&db->mutex);
    }
}

/* enter -- a call begins. Errors: CLOSED. */
static tansu_status enter(native_db *db, native_call *call) {
    call->buffer.size = 0;
    depth++;
    atomic_fetch_add(&db->calls, 1);
    if (!atomic_load(&db->closing))
        return TANSU_OK;
    leave(db);
    return fail(call, TANSU_E_CLOSED, "", "The database is closed");
}

/* How SIGINT ends a call. */
typedef enum scope_mode {
    SCOPE_SHORT,    /* it does not */
    SCOPE_PROGRESS, /* by its progress function, or its transaction */
    SCOPE_READ,     /* by its transaction; the call gets one of its own */
    SCOPE_WRITE
} scope_mode;

/* A call, with the transaction that it runs in. */
typedef struct scope {
    native_db *db;
    native_handle *handle; /* Python's transaction, cursor or feed, or NULL */
    tansu_txn *txn;        /* its, or one of this call; or NULL */
    bool own;
    scope_mode mode;
    interrupt_call interrupt;
} scope;

/* begin_own -- begins a transaction of this call. */
static tansu_status begin_own(scope *s, native_call *call) {
    tansu_txn_mode mode = s->mode == SCOPE_WRITE ? TANSU_TXN_WRITE : TANSU_TXN_READ;
    tansu_status status =
        tansu_txn_prepare(s->db->inner, mode, TANSU_DURABILITY_DEFAULT, &s->txn, &call->error);
    if (status != TANSU_OK)
        return status;
    interrupt_begin(&s->interrupt, s->txn, NULL);
    status = tansu_txn_start(s->txn, &call->error);
    if (status == TANSU_OK) {
        s->own = true;
    } else {
        interrupt_end(&s->interrupt);
        tansu_txn_abort(s->txn);
    }
    return status;
}

/* begin -- a call begins. Errors: CLOSED, INVALID_STATE, those of tansu_txn_begin(). */
static tansu_status begin(scope *s, native_db *db, native_handle *handle, scope_mode mode,
                          native_call *call) {
    *s = (scope){.db = db, .handle = handle, .mode = mode};
    tansu_status status = enter(db, call);
    if (status != TANSU_OK)
        return status;
    if (handle != NULL) {
        status = enter_handle(handle, call);
        s->txn = status == TANSU_OK && handle->kind == HANDLE_TXN ? handle->as.txn : NULL;
    } else if (mode >= SCOPE_READ && interrupt_is_main()) {
        status = begin_own(s, call);
    }
    if (status != TANSU_OK) {
        leave(db);
        return status;
    }
    if (mode != SCOPE_SHORT && !s->own)
        interrupt_begin(&s->interrupt, s->txn, NULL);
    return TANSU_OK;
}

/* end -- a call has ended, with its result. Returns the status, or that of the commit. */
static tansu_status end(scope *s, tansu_status status, native_call *call) {
    interrupt_end(&s->interrupt);
    if (s->own && s->mode == SCOPE_WRITE && status == TANSU_OK)
        status = tansu_txn_commit(s->txn, &call->sequence, &call->error);
    else if (s->own)
        tansu_txn_abort(s->txn);
    if (s->handle != NULL)
        leave_handle(s->handle);
    leave(s->db);
    show(call);
    return status;
}

/* A whole call of the engine: in the transaction s.txn, with a result in call->buffer. */
#define CALL(db, txn, mode, expression)                       \
    scope s;                                                  \
    tansu_status status = begin(&s, (db), (txn), mode, call); \
    return status == TANSU_OK ? end(&s, (expression), call) : status

/* ---- Databases ---- */

void native_init(uintptr_t main_thread) {
    interrupt_init(main_thread);
}

/* db_new -- without a database. NULL if memory is exhausted. */
static native_db *db_new(void) {
    native_db *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    atomic_init(&db->references, 1);
    db->forks = interrupt_forks();
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&db->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_cond_init(&db->drained, NULL);
    return db;
}

/* begin_alone, end_alone -- a long call without a database of Python's. */
static void begin_alone(interrupt_call *interrupt, native_call *call) {
    call->buffer.size = 0;
    interrupt_install();
    interrupt_begin(interrupt, NULL, NULL);
    depth++;
}

static tansu_status end_alone(interrupt_call *interrupt, tansu_status status, native_call *call) {
    depth--;
    interrupt_end(interrupt);
    show(call);
    return status;
}

tansu_status native_open(const tansu_options *options, native_db **db, native_call *call) {
    *db = NULL;
    native_db *new = db_new();
    if (new == NULL)
        return fail_memory(call);
    tansu_options whole = *options;
    whole.progress = progress;
    whole.progress_context = call;
    interrupt_call interrupt;
    begin_alone(&interrupt, call);
    tansu_status status = tansu_open(&whole, &new->inner, &call->error);
    if (status == TANSU_OK)
        *db = new;
    else
        db_release(new);
    return end_alone(&interrupt, status, call);
}

/* drain -- waits a moment until no call is running. Returns whether there is none. */
static bool drain(native_db *db) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int result = 0;
    while (atomic_load(&db->calls) != 0 && result == 0)
        result = pthread_cond_timedwait(&db->drained, &db->mutex, &until);
    return atomic_load(&db->calls) == 0;
}

tansu_status native_close(native_db *db, native_call *call) {
    if (depth != 0)
        return fail(call, TANSU_E_INVALID_STATE, "",
                    "A database is not closed in a callback of a call that is running");
    atomic_store(&db->closing, true);
    if (forked(db))
        return TANSU_OK;
    pthread_mutex_lock(&db->mutex);
    if (!drain(db)) {
        pthread_mutex_unlock(&db->mutex);
        return TANSU_DONE;
    }
    while (db->first != NULL)
        handle_end(db->first);
    tansu_db *inner = db->inner;
    db->inner = NULL;
    pthread_mutex_unlock(&db->mutex);
    if (inner == NULL)
        return TANSU_OK;
    depth++;
    tansu_status status = tansu_shutdown(inner, &call->error);
    if (status == TANSU_E_BUSY) { /* JSON commands left something open */
        tansu_close(inner);
        status = TANSU_OK;
    }
    depth--;
    return status;
}

void native_db_free(native_db *db) {
    if (db == NULL || forked(db))
        return;
    atomic_store(&db->closing, true);
    depth++;
    tansu_close(db->inner);
    depth--;
    db_release(db);
}

int native_closed(native_db *db) {
    return atomic_load(&db->closing);
}

tansu_status native_sync(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, tansu_sync(db->inner, &call->error));
}

tansu_status native_checkpoint(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, tansu_checkpoint(db->inner, &call->error));
}

tansu_status native_rekey(native_db *db, const void *key, size_t size, int kind,
                          uint32_t iterations, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT,
         tansu_rekey(db->inner, &(tansu_key){key, size, (tansu_key_kind)kind, iterations},
                     &call->error));
}

static tansu_status refresh(native_db *db, native_call *call) {
    int changed = 0;
    tansu_status status = tansu_refresh(db->inner, &changed, &call->sequence, &call->error);
    call->number = changed;
    return status;
}

tansu_status native_refresh(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, refresh(db, call));
}

tansu_status native_stats(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, tansu_stats(db->inner, &call->buffer, &call->error));
}

tansu_status native_compact(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_PROGRESS,
         tansu_compact(db->inner, progress, call, &call->buffer, &call->error));
}

tansu_status native_expire(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, tansu_expire(db->inner, &call->number, &call->error));
}

tansu_status native_verify(native_db *db, native_call *call) {
    CALL(db, NULL, SCOPE_PROGRESS,
         tansu_verify(db->inner, progress, call, &call->buffer, &call->error));
}

tansu_status native_backup(native_db *db, const char *to, int form, native_call *call) {
    CALL(db, NULL, SCOPE_PROGRESS,
         tansu_backup(db->inner, to, (tansu_backup_form)form, progress, call, &call->buffer,
                      &call->error));
}

tansu_status native_restore(const char *from, const char *to, native_call *call) {
    interrupt_call interrupt;
    begin_alone(&interrupt, call);
    return end_alone(&interrupt,
                     tansu_restore(from, to, progress, call, &call->buffer, &call->error), call);
}

tansu_status native_repair(const char *from, const char *to, native_call *call) {
    interrupt_call interrupt;
    begin_alone(&interrupt, call);
    return end_alone(&interrupt,
                     tansu_repair(from, to, progress, call, &call->buffer, &call->error), call);
}

tansu_status native_clone(native_db *db, const tansu_options *target, native_db **copy,
                          native_call *call) {
    *copy = NULL;
    native_db *new = db_new();
    if (new == NULL)
        return fail_memory(call);
    scope s;
    tansu_status status = begin(&s, db, NULL, SCOPE_PROGRESS, call);
    if (status == TANSU_OK)
        status = end(&s, tansu_clone(db->inner, target, progress, call, &new->inner, &call->error),
                     call);
    if (status == TANSU_OK)
        *copy = new;
    else
        db_release(new);
    return status;
}

tansu_status native_dump(native_db *db, native_handle *txn, void *stream, const char *options,
                         size_t options_size, native_call *call) {
    CALL(db, txn, SCOPE_PROGRESS,
         tansu_dump(db->inner, s.txn, python_write, stream, document(options, options_size),
                    progress, call, &call->buffer, &call->error));
}

tansu_status native_load(native_db *db, void *stream, const char *options, size_t options_size,
                         native_call *call) {
    CALL(db, NULL, SCOPE_PROGRESS,
         tansu_load(db->inner, python_read, stream, document(options, options_size), progress, call,
                    &call->buffer, &call->error));
}

static tansu_status execute_json(native_db *db, const char *request, native_call *call) {
    char *response = NULL;
    tansu_execute_json(db->inner, request, &response);
    bool kept = response != NULL && append(&call->buffer, response, strlen(response));
    tansu_free(response);
    return kept ? TANSU_OK : fail_memory(call);
}

tansu_status native_execute_json(native_db *db, const char *request, native_call *call) {
    CALL(db, NULL, SCOPE_SHORT, execute_json(db, request, call));
}

/* ---- Transactions ---- */

static tansu_status begin_txn(native_db *db, int mode, int durability, native_handle *txn,
                              native_call *call) {
    tansu_status status = tansu_txn_prepare(
        db->inner, (tansu_txn_mode)mode, (tansu_durability)durability, &txn->as.txn, &call->error);
    if (status != TANSU_OK)
        return status;
    interrupt_call interrupt;
    interrupt_begin(&interrupt, txn->as.txn, NULL);
    status = tansu_txn_start(txn->as.txn, &call->error);
    interrupt_end(&interrupt);
    if (status != TANSU_OK)
        tansu_txn_abort(txn->as.txn);
    return status;
}

/* keep_handle -- links a handle that was opened, or frees one that was not. */
static void keep_handle(native_handle *handle, tansu_status status, native_handle **result) {
    *result = status == TANSU_OK ? handle : NULL;
    if (status == TANSU_OK) {
        handle_link(handle);
    } else {
        handle_release(handle);
        handle_release(handle);
    }
}

tansu_status native_begin(native_db *db, int mode, int durability, native_handle **txn,
                          native_call *call) {
    *txn = NULL;
    tansu_status status = enter(db, call);
    if (status != TANSU_OK)
        return status;
    native_handle *new = handle_new(db, HANDLE_TXN, NULL);
    status = new == NULL ? fail_memory(call) : begin_txn(db, mode, durability, new, call);
    if (new != NULL)
        keep_handle(new, status, txn);
    leave(db);
    return status;
}

/* commit -- of a transaction without cursors. */
static tansu_status commit(native_handle *txn, native_call *call) {
    pthread_mutex_lock(&txn->db->mutex);
    end_cursors(txn, true);
    handle_unlink(txn);
    pthread_mutex_unlock(&txn->db->mutex);
    tansu_status status = tansu_txn_commit(txn->as.txn, &call->sequence, &call->error);
    handle_release(txn);
    return status;
}

tansu_status native_commit(native_handle *txn, native_call *call) {
    CALL(txn->db, txn, SCOPE_SHORT, commit(txn, call));
}

tansu_status native_savepoint_begin(native_handle *txn, native_call *call) {
    CALL(txn->db, txn, SCOPE_SHORT, tansu_savepoint_begin(s.txn, &call->error));
}

tansu_status native_savepoint_release(native_handle *txn, native_call *call) {
    CALL(txn->db, txn, SCOPE_SHORT, tansu_savepoint_release(s.txn, &call->error));
}

tansu_status native_savepoint_roll_back(native_handle *txn, native_call *call) {
    CALL(txn->db, txn, SCOPE_SHORT, tansu_savepoint_roll_back(s.txn, &call->error));
}

/* ---- Cursors ---- */

/* open_cursor -- opens the cursor of a query or of a pipeline, with its own snapshot where the call has one. */
static tansu_status open_cursor(native_db *db, native_handle *txn, const char *collection,
                                tansu_document what, bool is_pipeline, tansu_document hints,
                                native_handle **cursor, native_call *call) {
    *cursor = NULL;
    scope s;
    tansu_status status = begin(&s, db, txn, SCOPE_READ, call);
    if (status != TANSU_OK)
        return status;
    native_handle *new = handle_new(db, HANDLE_CURSOR, txn);
    if (new == NULL)
        status = fail_memory(call);
    else if (is_pipeline)
        status = tansu_pipeline(db->inner, s.txn, collection, what, hints, &new->as.cursor,
                                &call->error);
    else
        status =
            tansu_find(db->inner, s.txn, collection, what, hints, &new->as.cursor, &call->error);
    if (status == TANSU_OK && s.own) {
        new->own = s.txn;
        s.own = false;
    }
    if (new != NULL)
        keep_handle(new, status, cursor);
    return end(&s, status, call);
}

tansu_status native_find(native_db *db, native_handle *txn, const char *collection,
                         const char *query, size_t query_size, const char *hints, size_t hints_size,
                         native_handle **cursor, native_call *call) {
    return open_cursor(db, txn, collection, document(query, query_size), false,
                       document(hints, hints_size), cursor, call);
}

tansu_status native_pipeline(native_db *db, native_handle *txn, const char *collection,
                             const char *stages, size_t stages_size, const char *hints,
                             size_t hints_size, native_handle **cursor, native_call *call) {
    return open_cursor(db, txn, collection, document(stages, stages_size), true,
                       document(hints, hints_size), cursor, call);
}

/* write_pipeline -- runs a pipeline that writes, whose cursor shows nothing. */
static tansu_status write_pipeline(native_db *db, tansu_txn *txn, const char *collection,
                                   tansu_document stages, tansu_document hints, native_call *call) {
    tansu_cursor *cursor;
    tansu_status status =
        tansu_pipeline(db->inner, txn, collection, stages, hints, &cursor, &call->error);
    if (status == TANSU_OK)
        tansu_cursor_close(cursor);
    return status;
}

tansu_status native_write_pipeline(native_db *db, native_handle *txn, const char *collection,
                                   const char *stages, size_t stages_size, const char *hints,
                                   size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         write_pipeline(db, s.txn, collection, document(stages, stages_size),
                        document(hints, hints_size), call));
}

/* next -- copies the next documents, because the engine's are only valid until the next step. */
static tansu_status next(tansu_cursor *cursor, size_t count, size_t bytes, native_call *call) {
    tansu_document found;
    tansu_status status = TANSU_OK;
    call->number = 0;
    while (status == TANSU_OK && (size_t)call->number < count && call->buffer.size < bytes) {
        status = tansu_cursor_next(cursor, &found, &call->error);
        if (status != TANSU_OK)
            break;
        if (!append(&call->buffer, found.data, found.size))
            return fail_memory(call);
        call->number++;
    }
    return status;
}

/* next_interrupted -- next(), which SIGINT ends. */
static tansu_status next_interrupted(tansu_cursor *cursor, size_t count, size_t bytes,
                                     native_call *call) {
    interrupt_call interrupt;
    interrupt_begin(&interrupt, NULL, cursor);
    tansu_status status = next(cursor, count, bytes, call);
    interrupt_end(&interrupt);
    return status;
}

tansu_status native_next(native_handle *cursor, size_t count, size_t bytes, native_call *call) {
    CALL(cursor->db, cursor, SCOPE_SHORT, next_interrupted(cursor->as.cursor, count, bytes, call));
}

static tansu_status find_one(native_db *db, tansu_txn *txn, const char *collection,
                             tansu_document query, tansu_document hints, native_call *call) {
    tansu_cursor *cursor;
    tansu_status status =
        tansu_find(db->inner, txn, collection, query, hints, &cursor, &call->error);
    if (status != TANSU_OK)
        return status;
    status = next(cursor, 1, SIZE_MAX, call);
    tansu_cursor_close(cursor);
    return status;
}

tansu_status native_find_one(native_db *db, native_handle *txn, const char *collection,
                             const char *query, size_t query_size, const char *hints,
                             size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_READ,
         find_one(db, s.txn, collection, document(query, query_size), document(hints, hints_size),
                  call));
}

/* ---- Feeds ---- */

tansu_status native_feed_open(native_db *db, uint64_t since, const char *options,
                              size_t options_size, native_handle **feed, native_call *call) {
    *feed = NULL;
    tansu_status status = enter(db, call);
    if (status != TANSU_OK)
        return status;
    native_handle *new = handle_new(db, HANDLE_FEED, NULL);
    status = new == NULL ? fail_memory(call)
                         : tansu_feed_open(db->inner, since, document(options, options_size),
                                           &new->as.feed, &call->error);
    if (new != NULL)
        keep_handle(new, status, feed);
    leave(db);
    return status;
}

/* feed_next -- copies the next event. */
static tansu_status feed_next(tansu_feed *feed, int64_t timeout_ms, native_change *result,
                              native_call *call) {
    tansu_change change;
    tansu_change_init(&change);
    tansu_status status = tansu_feed_next(feed, timeout_ms, &change, &call->error);
    if (status != TANSU_OK)
        return status;
    *result = (native_change){.kind = (int)change.kind,
                              .last = change.last,
                              .sequence = change.sequence,
                              .collection = strlen(change.collection),
                              .new_name = change.new_name == NULL ? 0 : strlen(change.new_name),
                              .id = change.id.size,
                              .before = change.before.size,
                              .after = change.after.size};
    bool kept = append(&call->buffer, change.collection, result->collection) &&
                append(&call->buffer, change.new_name, result->new_name) &&
                append(&call->buffer, change.id.data, change.id.size) &&
                append(&call->buffer, change.before.data, change.before.size) &&
                append(&call->buffer, change.after.data, change.after.size);
    return kept ? TANSU_OK : fail_memory(call);
}

tansu_status native_feed_next(native_handle *feed, int64_t timeout_ms, native_change *change,
                              native_call *call) {
    CALL(feed->db, feed, SCOPE_SHORT, feed_next(feed->as.feed, timeout_ms, change, call));
}

/* ---- Documents ---- */

tansu_status native_get(native_db *db, native_handle *txn, const char *collection, const char *id,
                        size_t id_size, native_call *call) {
    CALL(db, txn, SCOPE_SHORT,
         tansu_get(db->inner, s.txn, collection, document(id, id_size), &call->buffer,
                   &call->error));
}

static tansu_status get_many(native_db *db, tansu_txn *txn, const char *collection,
                             tansu_document ids, size_t first, native_call *call) {
    size_t answered = 0;
    tansu_status status = tansu_get_many(db->inner, txn, collection, ids, first, &call->buffer,
                                         &answered, &call->error);
    call->number = (int64_t)answered;
    return status;
}

tansu_status native_get_many(native_db *db, native_handle *txn, const char *collection,
                             const char *ids, size_t ids_size, size_t first, native_call *call) {
    CALL(db, txn, SCOPE_READ,
         get_many(db, s.txn, collection, document(ids, ids_size), first, call));
}

tansu_status native_count(native_db *db, native_handle *txn, const char *collection,
                          const char *query, size_t query_size, const char *hints,
                          size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_READ,
         tansu_count(db->inner, s.txn, collection, document(query, query_size),
                     document(hints, hints_size), &call->number, &call->error));
}

tansu_status native_explain(native_db *db, native_handle *txn, const char *collection,
                            const char *query, size_t query_size, const char *hints,
                            size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_READ,
         tansu_explain(db->inner, s.txn, collection, document(query, query_size),
                       document(hints, hints_size), &call->buffer, &call->error));
}

tansu_status native_distinct(native_db *db, native_handle *txn, const char *collection,
                             const char *path, const char *query, size_t query_size,
                             const char *hints, size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_READ,
         tansu_distinct(db->inner, s.txn, collection, path, document(query, query_size),
                        document(hints, hints_size), &call->buffer, &call->error));
}

tansu_status native_aggregate(native_db *db, native_handle *txn, const char *collection,
                              const char *query, size_t query_size, const char *group,
                              size_t group_size, const char *hints, size_t hints_size,
                              native_call *call) {
    CALL(db, txn, SCOPE_READ,
         tansu_aggregate(db->inner, s.txn, collection, document(query, query_size),
                         document(group, group_size), document(hints, hints_size), &call->buffer,
                         &call->error));
}

tansu_status native_save_one(native_db *db, native_handle *txn, const char *collection,
                             const char *bytes, size_t size, int mode, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_save_one(db->inner, s.txn, collection, document(bytes, size), (tansu_save_mode)mode,
                        NULL, &call->error));
}

/* save_many -- saves documents that lie one after the other. */
static tansu_status save_many(native_db *db, tansu_txn *txn, const char *collection,
                              tansu_document all, size_t count, int mode, native_call *call) {
    tansu_document *list = malloc((count + 1) * sizeof *list);
    if (list == NULL)
        return fail_memory(call);
    const uint8_t *at = all.data, *limit = at + all.size;
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)(limit - at);
        if (size >= 4) {
            size_t own = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
            size = own < size ? own : size;
        }
        list[i] = (tansu_document){at, size};
        at += size;
    }
    tansu_status status = tansu_save(db->inner, txn, collection, list, count, (tansu_save_mode)mode,
                                     NULL, &call->error);
    free(list);
    return status;
}

tansu_status native_save_many(native_db *db, native_handle *txn, const char *collection,
                              const char *documents, size_t documents_size, size_t count, int mode,
                              native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         save_many(db, s.txn, collection, document(documents, documents_size), count, mode, call));
}

tansu_status native_update(native_db *db, native_handle *txn, const char *collection,
                           const char *query, size_t query_size, const char *update,
                           size_t update_size, const char *hints, size_t hints_size,
                           native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_update(db->inner, s.txn, collection, document(query, query_size),
                      document(update, update_size), document(hints, hints_size), &call->buffer,
                      &call->error));
}

tansu_status native_find_and_modify(native_db *db, native_handle *txn, const char *collection,
                                    const char *query, size_t query_size, const char *update,
                                    size_t update_size, const char *hints, size_t hints_size,
                                    int mode, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_find_and_modify(db->inner, s.txn, collection, document(query, query_size),
                               document(update, update_size), document(hints, hints_size),
                               (tansu_modify_mode)mode, &call->buffer, &call->error));
}

tansu_status native_remove(native_db *db, native_handle *txn, const char *collection,
                           const char *query, size_t query_size, const char *hints,
                           size_t hints_size, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_remove(db->inner, s.txn, collection, document(query, query_size),
                      document(hints, hints_size), &call->number, &call->error));
}

/* ---- Collections and indexes ---- */

tansu_status native_collection_ensure(native_db *db, native_handle *txn, const char *name,
                                      const char *options, size_t options_size, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_collection_ensure(db->inner, s.txn, name, document(options, options_size),
                                 &call->error));
}

tansu_status native_collection_drop(native_db *db, native_handle *txn, const char *name,
                                    native_call *call) {
    CALL(db, txn, SCOPE_WRITE, tansu_collection_drop(db->inner, s.txn, name, &call->error));
}

tansu_status native_collection_rename(native_db *db, native_handle *txn, const char *name,
                                      const char *new_name, native_call *call) {
    CALL(db, txn, SCOPE_WRITE,
         tansu_collection_rename(db->inner, s.txn, name, new_name, &call->error));
}

tansu_status native_collection_list(native_db *db, native_handle *txn, native_call *call) {
    CALL(db, txn, SCOPE_SHORT,
         tansu_collection_list(db->inner, s.txn, &call->buffer, &call->error));
}

tansu_status native_collection_info(native_db *db, native_handle *txn, const char *name,
                                    native_call *call) {
    CALL(db, txn, SCOPE_SHORT,
         tansu_collection_info(db->inner, s.txn, name, &call->buffer, &call->error));
}

tansu_status native_collection_referrers(native_db *db, native_handle *txn, const char *name,
                                         native_call *call) {
    CALL(db, txn, SCOPE_SHORT,
         tansu_collection_referrers(db->inner, s.txn, name, &call->buffer, &call->error));
}

tansu_status native_dangling_references(native_db *db, native_handle *txn, const char *options,
                                        size_t options_size, native_call *call) {
    CALL(db, txn, SCOPE_PROGRESS,
         tansu_dangling_references(db->inner, s.txn, document(options, options_size), &call->buffer,
                                   &call->error));
}

tansu_status native_index_create(native_db *db, native_handle *txn, const char *collection,
                                 const char *name, const char *keys, size_t keys_size,
                                 const char *options, size_t options_size, int declare,
                                 native_call *call) {
    CALL(db, txn, SCOPE_PROGRESS,
         (declare ? tansu_index_declare : tansu_index_create)(
             db->inner, s.txn, collection, name, document(keys, keys_size),
             document(options, options_size), progress, call, &call->error));
}

tansu_status native_index_drop(native_db *db, native_handle *txn, const char *collection,
                               const char *name, native_call *call) {
    CALL(db, txn, SCOPE_WRITE, tansu_index_drop(db->inner, s.txn, collection, name, &call->error));
}

tansu_status native_index_list(native_db *db, native_handle *txn, const char *collection,
                               native_call *call) {
    CALL(db, txn, SCOPE_SHORT,
         tansu_index_list(db->inner, s.txn, collection, &call->buffer, &call->error));
}
