/*
 * api/load/api_load.c -- documents out of text, one JSON object a line (docs/dump-format.md).
 *
 * Lines become BSON in a batch, and only a full batch takes the write lock: a slow source
 * does not block other writers, and memory does not grow with the length of the text.
 */
#include "api/load/load.h"
#include "bson/json/json.h"
#include "bson/writer.h"
#include "store/handle.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* Lines between two calls of `progress`. */
#define PROGRESS_LINES 1024u

/* ---- Options ---- */

/* read_mode -- the option `mode`; false when it is none of the three. */
static bool read_mode(load *l, const doc_value *value) {
    size_t size;
    const char *mode = value->type == DOC_STRING ? doc_string(value, &size) : "";
    l->skip = strcmp(mode, "skip") == 0;
    l->mode = strcmp(mode, "save") == 0 ? TANSU_SAVE : TANSU_INSERT;
    return l->skip || l->mode == TANSU_SAVE || strcmp(mode, "insert") == 0;
}

/* read_name -- the option `collection`. */
static bool read_name(load *l, const doc_value *value) {
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *name = doc_string(value, &size);
    if (size == 0 || size > TANSU_MAX_NAME || strlen(name) != size)
        return false;
    memcpy(l->collection, name, size + 1);
    return true;
}

/* read_options -- checks and stores the options. */
static tansu_status read_options(load *l, tansu_document options, tansu_error *error) {
    tansu_status status = check_bson(options, true, "options", error);
    l->mode = TANSU_INSERT;
    if (status != TANSU_OK || options.data == NULL)
        return status;
    doc_iter iter;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        bool right = false;
        if (strcmp(iter.key, "collection") == 0) {
            right = read_name(l, &iter.value);
        } else if (strcmp(iter.key, "mode") == 0) {
            right = read_mode(l, &iter.value);
        } else if (strcmp(iter.key, "atomic") == 0 && iter.value.type == DOC_BOOL) {
            l->atomic = doc_bool(&iter.value);
            right = true;
        } else if (strcmp(iter.key, "keepTimestamps") == 0 && iter.value.type == DOC_BOOL) {
            l->keeps_timestamps = doc_bool(&iter.value);
            right = true;
        }
        if (!right)
            return error_set(
                error, TANSU_E_INVALID_QUERY, iter.key,
                "\"%s\" is not an option of a load, or has the wrong type; the options are "
                "\"collection\" (a name), \"mode\" (\"insert\", \"save\" or \"skip\"), "
                "\"atomic\" and \"keepTimestamps\" (bools)",
                iter.key);
    }
    return TANSU_OK;
}

/* ---- Lines ---- */

/* add_document -- one more for the batch. */
static tansu_status add_document(load *l, tansu_error *error) {
    if (l->collection[0] == 0)
        return load_at(l->lines.number,
                       l->dump ? error_set(error, TANSU_E_INVALID_JSON, NULL,
                                           "A document is before the line of the first collection")
                               : error_set(error, TANSU_E_INVALID_QUERY, "options.collection",
                                           "Plain documents need the option \"collection\""),
                       error);
    if (!l->dump && l->collections == 0)
        l->collections = 1;
    if (!buffer_append(&l->batch, l->document.data, l->document.size))
        return error_memory(error);
    l->batch_lines[l->batch_count++] = l->lines.number;
    l->seen++;
    return l->batch_count == LOAD_DOCUMENTS || l->batch.size >= LOAD_BYTES ? load_save(l, error)
                                                                           : TANSU_OK;
}

/* take_line -- does what a line says. */
static tansu_status take_line(load *l, const char *text, size_t size, tansu_error *error) {
    /* The definitions in a dump have operators. */
    tansu_status status = l->dump ? json_parse(text, size, TANSU_MAX_DOCUMENT_SIZE, TANSU_MAX_DEPTH,
                                               &l->document, error)
                                  : json_parse_stored(text, size, &l->document, error);
    if (status != TANSU_OK)
        return load_at(l->lines.number, status, error);
    if (l->ended)
        return load_at(
            l->lines.number,
            error_set(error, TANSU_E_INVALID_JSON, NULL, "The dump has lines after its last one"),
            error);
    doc_iter first;
    if (doc_iter_init(&first, l->document.data, l->document.size) && doc_iter_next(&first) &&
        first.key[0] == '$')
        return load_control(l, &first, error);
    return add_document(l, error);
}

/* take_lines -- all of the source. */
static tansu_status take_lines(load *l, tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t reported = 0;
    while (status == TANSU_OK) {
        const char *text;
        size_t size;
        status = lines_next(&l->lines, &text, &size, error);
        if (status == TANSU_OK)
            status = take_line(l, text, size, error);
        else
            status = load_at(l->lines.number, status, error);
        if (status == TANSU_OK && l->progress != NULL &&
            l->lines.number - reported >= PROGRESS_LINES) {
            reported = l->lines.number;
            if (!l->progress(l->progress_context, reported, 0))
                status = error_set(error, TANSU_E_CANCELLED, NULL, "The load was cancelled");
        }
    }
    if (status != TANSU_DONE)
        return status;
    if (l->dump && !l->ended)
        return load_at(l->lines.number,
                       error_set(error, TANSU_E_INVALID_JSON, NULL,
                                 "The dump has no last line; it was cut off"),
                       error);
    return load_end_collection(l, error);
}

/* ---- The call ---- */

/* report_load -- what was done, as BSON. */
static bool report_load(const load *l, tansu_buffer *report) {
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "collections", (int64_t)l->collections);
    writer_int64(&w, "documents", (int64_t)l->documents);
    writer_int64(&w, "skipped", (int64_t)l->skipped);
    writer_int64(&w, "indexes", (int64_t)l->indexes_made);
    writer_int64(&w, "lines", (int64_t)l->lines.number);
    return writer_finish(&w, document);
}

/* run -- the load, in a transaction if it is to be atomic. */
static tansu_status run(load *l, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (l->atomic)
        status = tansu_txn_begin(l->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &l->txn, error);
    if (status != TANSU_OK)
        return status;
    status = take_lines(l, error);
    if (status != TANSU_OK && !l->atomic) /* what came before the line at fault is kept */
        load_save(l, NULL);
    if (l->txn != NULL && status == TANSU_OK)
        status = tansu_txn_commit(l->txn, NULL, error);
    else
        tansu_txn_abort(l->txn);
    if (status != TANSU_OK && l->atomic)
        l->collections = l->documents = l->skipped = l->indexes_made = 0;
    return status;
}

tansu_status tansu_load(tansu_db *db, tansu_read_bytes read, void *read_context,
                        tansu_document options, tansu_progress progress, void *context,
                        tansu_buffer *report, tansu_error *error) {
    if (db == NULL || read == NULL)
        return null_argument(db == NULL ? "db" : "read", error);
    if (report != NULL)
        report->size = 0;
    load l = {.db = db,
              .lines = {.read = read, .context = read_context},
              .progress = progress,
              .progress_context = context};
    tansu_status status = read_options(&l, options, error);
    if (status == TANSU_OK)
        status = handle_acquire(db_inner(db), error);
    if (status != TANSU_OK)
        return status;
    l.batch_lines = malloc(LOAD_DOCUMENTS * sizeof *l.batch_lines);
    status = l.batch_lines == NULL ? error_memory(error) : run(&l, error);
    if (report != NULL && !report_load(&l, report) && status == TANSU_OK)
        status = error_memory(error);
    handle_release(db_inner(db));
    lines_free(&l.lines);
    free(l.batch_lines);
    tansu_buffer_free(&l.batch);
    tansu_buffer_free(&l.document);
    tansu_buffer_free(&l.indexes);
    return status;
}
