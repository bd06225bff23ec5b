/*
 * api/api_maintenance.c -- compaction on demand, verification, and repair.
 */
#include "api/handles.h"
#include "backup/backup.h"
#include "backup/convert.h"
#include "bson/writer.h"
#include "check/repair/repair.h"
#include "check/verify/verify.h"
#include "compact/compact.h"
#include "log/scan.h"
#include "query/query_hooks.h"
#include "rules/expiry.h"
#include "store/collection_options.h"
#include "store/handle.h"
#include "store/open/instances.h"
#include "store/open/open.h"
#include "store/write_lock.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <stdlib.h>
#include <string.h>

/* append_compact_report -- the result as BSON. */
static bool append_compact_report(tansu_buffer *report, const compact_result *result) {
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "bytesBefore", (int64_t)result->before);
    writer_int64(&w, "bytesAfter", (int64_t)result->after);
    writer_int64(&w, "segments", (int64_t)result->segments);
    writer_int64(&w, "records", (int64_t)result->records);
    return writer_finish(&w, document);
}

tansu_status tansu_compact(tansu_db *db, tansu_progress progress, void *context,
                           tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    compact_result result;
    tansu_status status = handle_acquire(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    status = compact_all(db_inner(db), progress, context, &result, error);
    handle_release(db_inner(db));
    if (status == TANSU_OK && report != NULL && !append_compact_report(report, &result))
        status = error_memory(error);
    return status;
}

tansu_status tansu_expire(tansu_db *db, int64_t *removed, tansu_error *error) {
    if (removed != NULL)
        *removed = 0;
    if (db == NULL)
        return null_argument("db", error);
    expiry_result result;
    tansu_status status = handle_acquire(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    status = expiry_run(db_inner(db), &result, error);
    handle_release(db_inner(db));
    if (removed != NULL)
        *removed = (int64_t)result.removed;
    return status;
}

tansu_status tansu_verify(tansu_db *db, tansu_progress progress, void *context,
                          tansu_buffer *report, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    database *d;
    tansu_status status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    status = database_verify(d, progress, context, report, error);
    handle_release(d);
    return status;
}

/* repair -- tansu_repair(), with the key of an encrypted database. */
static tansu_status repair(const char *from, const char *to, const user_key *key, task *progress,
                           tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL)
        return null_argument(from == NULL ? "from" : "to", error);
    tansu_options settings;
    tansu_options_init(&settings);
    return database_repair(from, to, key, &fs_system, &engine_query_hooks, &settings,
                           progress->progress, progress->context, report, error);
}

tansu_status tansu_repair(const char *from, const char *to, tansu_progress progress, void *context,
                          tansu_buffer *report, tansu_error *error) {
    const user_key none = {.bytes = NULL};
    task t = {.progress = progress, .context = context};
    return repair(from, to, &none, &t, report, error);
}

tansu_status tansu_repair_encrypted(const char *from, const char *to, const tansu_key *key,
                                    tansu_progress progress, void *context, tansu_buffer *report,
                                    tansu_error *error) {
    user_key given;
    task t = {.progress = progress, .context = context};
    tansu_status status = key_argument(key, &given, error);
    return status == TANSU_OK ? repair(from, to, &given, &t, report, error) : status;
}

/* ---- Backups, and databases out of them ---- */

/* report_backup -- what was done, as BSON; `bytes`: with the size. */
static tansu_status report_backup(tansu_buffer *report, const backup_result *result, bool bytes,
                                  tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "sequence", (int64_t)result->sequence);
    if (bytes)
        writer_int64(&w, "bytes", (int64_t)result->bytes);
    writer_int64(&w, "documents", (int64_t)result->documents);
    return writer_finish(&w, document) ? TANSU_OK : error_memory(error);
}

/* reserve_report -- makes sure that the report can't fail once everything is done. */
static tansu_status reserve_report(tansu_buffer *report, tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    report->size = 0;
    return buffer_reserve(report, 256) ? TANSU_OK : error_memory(error);
}

/* backup -- tansu_backup(), with the key of database_backup(). */
static tansu_status backup(tansu_db *db, const char *to, tansu_backup_form form,
                           const user_key *key, task *progress, tansu_buffer *report,
                           tansu_error *error) {
    if (db == NULL || to == NULL)
        return null_argument(db == NULL ? "db" : "to", error);
    if ((unsigned)form > TANSU_BACKUP_FILE)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "form",
                         "The backup form is out of range; use a value of tansu_backup_form");
    database *d;
    tansu_status status = reserve_report(report, error);
    if (status == TANSU_OK)
        status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    backup_result result;
    status = database_backup(d, to, form, key, progress, &result, error);
    handle_release(d);
    return status == TANSU_OK ? report_backup(report, &result, true, error) : status;
}

tansu_status tansu_backup(tansu_db *db, const char *to, tansu_backup_form form,
                          tansu_progress progress, void *context, tansu_buffer *report,
                          tansu_error *error) {
    task t = {.progress = progress, .context = context};
    return backup(db, to, form, NULL, &t, report, error);
}

tansu_status tansu_backup_plain(tansu_db *db, const char *to, tansu_backup_form form,
                                tansu_progress progress, void *context, tansu_buffer *report,
                                tansu_error *error) {
    const user_key none = {.bytes = NULL};
    task t = {.progress = progress, .context = context};
    return backup(db, to, form, &none, &t, report, error);
}

tansu_status tansu_backup_encrypted(tansu_db *db, const char *to, tansu_backup_form form,
                                    const tansu_key *key, tansu_progress progress, void *context,
                                    tansu_buffer *report, tansu_error *error) {
    user_key given;
    task t = {.progress = progress, .context = context};
    tansu_status status = key_argument(key, &given, error);
    return status == TANSU_OK ? backup(db, to, form, &given, &t, report, error) : status;
}

/* convert -- tansu_encrypt(), or tansu_decrypt(). */
static tansu_status convert(const char *path, const tansu_key *key, bool encrypt, task *progress,
                            tansu_error *error) {
    user_key given, none = {.bytes = NULL};
    if (path == NULL)
        return null_argument("path", error);
    tansu_status status = key_argument(key, &given, error);
    return status == TANSU_OK
               ? database_convert(path, encrypt ? &none : &given, encrypt ? &given : &none,
                                  &fs_system, &engine_query_hooks, progress, error)
               : status;
}

tansu_status tansu_encrypt(const char *path, const tansu_key *key, tansu_progress progress,
                           void *context, tansu_error *error) {
    task t = {.progress = progress, .context = context};
    return convert(path, key, true, &t, error);
}

tansu_status tansu_decrypt(const char *path, const tansu_key *key, tansu_progress progress,
                           void *context, tansu_error *error) {
    task t = {.progress = progress, .context = context};
    return convert(path, key, false, &t, error);
}

/* restore -- tansu_restore(), with the key of database_restore(). */
static tansu_status restore(const char *from, const char *to, const user_key *key, task *progress,
                            tansu_buffer *report, tansu_error *error) {
    if (from == NULL || to == NULL)
        return null_argument(from == NULL ? "from" : "to", error);
    tansu_status status = reserve_report(report, error);
    if (status != TANSU_OK)
        return status;
    backup_result result;
    status =
        database_restore(from, to, key, &fs_system, &engine_query_hooks, progress, &result, error);
    return status == TANSU_OK ? report_backup(report, &result, false, error) : status;
}

tansu_status tansu_restore(const char *from, const char *to, tansu_progress progress, void *context,
                           tansu_buffer *report, tansu_error *error) {
    const user_key none = {.bytes = NULL};
    task t = {.progress = progress, .context = context};
    return restore(from, to, &none, &t, report, error);
}

tansu_status tansu_restore_encrypted(const char *from, const char *to, const tansu_key *key,
                                     tansu_progress progress, void *context, tansu_buffer *report,
                                     tansu_error *error) {
    user_key given;
    task t = {.progress = progress, .context = context};
    tansu_status status = key_argument(key, &given, error);
    return status == TANSU_OK ? restore(from, to, &given, &t, report, error) : status;
}

/* ---- A database copied into a new one of any store ---- */

/* Documents and bytes of one commit. */
#define BATCH_DOCUMENTS 4096u
#define BATCH_BYTES (4u * 1024u * 1024u)

typedef struct cloning {
    database *from;
    snapshot *snapshot;
    database *to;
    task *progress;
    uint64_t faults; /* log_faults() of the source when it began */
    log_intact *intact;
} cloning;

/* begin -- a write transaction of the copy. */
static tansu_status begin(const cloning *c, write_txn **result, tansu_error *error) {
    tansu_status status = write_lock_acquire(c->to, NULL, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_begin(c->to, result, error);
    if (status != TANSU_OK)
        write_lock_release(c->to);
    return status;
}

/* end -- commits, or aborts after an error. What is copied is synced once, when all is there. */
static tansu_status end(write_txn *c, tansu_status status, tansu_error *error) {
    if (status == TANSU_OK)
        return write_txn_commit(c, TANSU_DURABILITY_PROCESS, NULL, error);
    write_txn_abort(c);
    return status;
}

/* copy_batch -- some documents in one commit; TANSU_DONE after the last. */
static tansu_status copy_batch(const cloning *c, table_scan *scan, const char *name,
                               tansu_error *error) {
    write_txn *to;
    tansu_status status = begin(c, &to, error);
    if (status != TANSU_OK)
        return status;
    uint64_t bytes = 0, count = 0;
    while (status == TANSU_OK && count < BATCH_DOCUMENTS && bytes < BATCH_BYTES) {
        uint64_t rid;
        doc_ref ref;
        const uint8_t *doc;
        uint32_t size;
        status = table_scan_next(scan, &rid, &ref, &doc, &size, error);
        status = log_check(c->from->log, c->faults, status, error);
        if (status != TANSU_OK)
            break;
        status = write_txn_save(to, name, doc, size, TANSU_INSERT, SAVE_COPY | SAVE_RESTORED, NULL,
                                error);
        bytes += size;
        count++;
    }
    bool last = status == TANSU_DONE;
    status = log_check(c->from->log, c->faults, status, error);
    status = end(to, last ? TANSU_OK : status, error);
    if (status == TANSU_OK)
        status = task_advance(c->progress, count, error);
    return status == TANSU_OK && last ? TANSU_DONE : status;
}

/* copy_index -- creates one index in the copy. */
static tansu_status copy_index(const cloning *c, const char *name, const index_definition *model,
                               tansu_error *error) {
    index_definition *definition;
    tansu_status status = index_definition_copy(model, &engine_query_hooks, &definition, error);
    if (status != TANSU_OK)
        return status;
    write_txn *to;
    status = begin(c, &to, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    return end(to, write_txn_index_create(to, name, definition, NULL, error), error);
}

/* copy_options -- of one collection. */
static tansu_status copy_options(write_txn *to, const collection_state *state, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (int i = 0; status == TANSU_OK && i < OPTION_COUNT; i++) {
        void *option;
        if (state->options[i] == NULL)
            continue;
        status = collection_option_copy(state, i, &option, error);
        if (status == TANSU_OK)
            status = write_txn_collection_option(to, state->name, i, option, error);
    }
    return status;
}

/* copy_collection -- options, documents in their order, indexes. */
static tansu_status copy_collection(const cloning *c, const collection_state *state,
                                    tansu_error *error) {
    write_txn *to;
    tansu_status status = begin(c, &to, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_collection_ensure(to, state->name, state->local, true, error);
    if (status == TANSU_OK)
        status = write_txn_collection_compress(to, state->name, state->codec, error);
    if (status == TANSU_OK)
        status = copy_options(to, state, error);
    status = end(to, status, error);
    log_pins pins = {.next = 0};
    read_context v = {.log = c->from->log,
                      .pins = &pins,
                      .trees = c->from->trees,
                      .sequence = c->snapshot->sequence,
                      .kept = &c->snapshot->kept,
                      .intact = c->intact};
    table_scan scan;
    table_scan_init(&scan, &v, state);
    while (status == TANSU_OK)
        status = copy_batch(c, &scan, state->name, error);
    log_pins_release(&pins);
    if (status == TANSU_DONE)
        status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        status = copy_index(c, state->name, state->indexes[i].definition, error);
        if (status == TANSU_OK)
            status = task_advance(c->progress, 0, error);
    }
    return status;
}

/* copy_all -- everything in the snapshot. */
static tansu_status copy_all(const cloning *c, tansu_error *error) {
    tansu_status status = TANSU_OK;
    const collection_state *state;
    catalog_cursor all = snapshot_from(c->snapshot, NULL);
    c->progress->total += snapshot_documents(c->snapshot);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL)
        status = copy_collection(c, state, error);
    return status;
}

/* check_target -- it must be a new database. */
static tansu_status check_target(const tansu_options *target, tansu_error *error) {
    if (target->read_only || target->allow_writer || target->must_exist)
        return error_set(
            error, TANSU_E_INVALID_ARGUMENT, "target",
            "A clone is a new database; set target.read_only and target.must_exist to 0");
    return TANSU_OK;
}

/* copy_to -- a new database by the options, with everything; NULL after an error. */
static tansu_status copy_to(database *from, const tansu_options *target, task *progress,
                            database **result, tansu_error *error) {
    database *to = NULL;
    tansu_status status = database_open(target, from->files.calls, &engine_query_hooks, &to, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(from);
    log_intact intact = {.l = from->log, .position = v->position};
    cloning c = {.from = from,
                 .snapshot = v,
                 .to = to,
                 .progress = progress,
                 .faults = log_faults(from->log),
                 .intact = &intact};
    status = copy_all(&c, error);
    log_intact_end(&intact);
    snapshot_release(from, v);
    if (status != TANSU_OK) {
        to->discard = true; /* nothing of it is to be kept */
        database_close(to, NULL);
        return status;
    }
    *result = to;
    return TANSU_OK;
}

/* copy_to_folder -- the same for a persistent one, which gets its path when it is complete. An
 * empty folder may be there. */
static tansu_status copy_to_folder(database *from, const tansu_options *target, task *progress,
                                   database **result, tansu_error *error) {
    const fs *calls = from->files.calls;
    tansu_status status = staging_check_outside(target->path, from->files.folder, error);
    if (status != TANSU_OK)
        return status;
    bool emptied = calls->rmdir(calls, target->path) == 0;
    tansu_options inner = *target;
    staging staged;
    status = staging_begin(&staged, calls, target->path, true, error);
    if (status == TANSU_OK) {
        staging_unlock(&staged); /* the database locks the same LOCK */
        inner.path = staged.path;
        status = copy_to(from, &inner, progress, result, error);
    }
    if (status == TANSU_OK)
        status = database_close(*result, error);
    *result = NULL;
    if (status == TANSU_OK)
        status = staging_publish(&staged, error);
    if (status == TANSU_OK) {
        inner.path = target->path;
        inner.must_exist = 1;
        status = database_open(&inner, calls, &engine_query_hooks, result, error);
        if (status != TANSU_OK && status != TANSU_E_LOCKED) /* of somebody who was faster */
            fs_remove_all(calls, target->path);
    }
    staging_end(&staged);
    if (status != TANSU_OK && emptied)
        calls->mkdir(calls, target->path, 0755);
    return status;
}

/* clone_database -- tansu_clone() with the source entered. */
static tansu_status clone_database(database *from, const tansu_options *target, task *progress,
                                   database **copy, tansu_error *error) {
    /* tansu_open() reports what is wrong with a path. */
    bool folder =
        target->store == TANSU_STORE_PERSISTENT && target->path != NULL && target->path[0] != 0;
    tansu_status status = check_target(target, error);
    if (status == TANSU_OK)
        status = options_check(target, error);
    if (status == TANSU_OK)
        status = folder ? copy_to_folder(from, target, progress, copy, error)
                        : copy_to(from, target, progress, copy, error);
    return status;
}

tansu_status tansu_clone(tansu_db *db, const tansu_options *target, tansu_progress progress,
                         void *context, tansu_db **copy, tansu_error *error) {
    if (db == NULL || target == NULL || copy == NULL)
        return null_argument(db == NULL ? "db" : target == NULL ? "target" : "copy", error);
    *copy = NULL;
    tansu_options whole;
    database *d;
    tansu_status status = options_complete(target, &whole, error);
    if (status == TANSU_OK)
        status = database_enter_handle(db_inner(db), &d, error);
    if (status != TANSU_OK)
        return status;
    task t = {.progress = progress, .context = context};
    tansu_db *handle;
    database *inner;
    status = handle_new(&whole, &handle, error);
    if (status == TANSU_OK) {
        status = clone_database(d, &whole, &t, &inner, error);
        if (status == TANSU_OK) {
            handle_attach(handle, inner);
            background_enable(inner);
            *copy = handle;
        } else {
            handle_free(handle);
        }
    }
    handle_release(d);
    return status;
}
