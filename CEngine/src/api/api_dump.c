/*
 * api/api_dump.c -- collections as text, one JSON object a line (docs/dump-format.md).
 */
#include "api/dump_format.h"
#include "api/handles.h"
#include "backup/backup.h"
#include "bson/json/json.h"
#include "bson/writer.h"
#include "log/scan.h"
#include "store/collection.h"
#include "store/handle.h"
#include "util/buffer.h"
#include "util/error.h"

/* Text is handed over in pieces of about this size. */
#define OUT_SIZE (64u * 1024u)
/* A long line's memory is not kept for the next. */
#define OUT_KEPT (4u * 1024u * 1024u)

typedef struct dump {
    const read_call *reading;
    tansu_write_bytes write;
    void *write_context;
    task progress;
    tansu_document options;
    bool indexes;
    doc_value collections; /* an array; DOC_MISSING: all */
    query *query;          /* NULL: all documents */
    tansu_buffer out;
    uint64_t collection_count, document_count, index_count, bytes;
} dump;

/* ---- Options ---- */

/* listed -- whether the caller named the collection. */
static bool listed(const dump *d, const char *name) {
    if (d->collections.type == DOC_MISSING)
        return true;
    doc_iter iter;
    for (doc_iter_value(&iter, &d->collections); doc_iter_next(&iter);) {
        size_t size;
        const char *text = doc_string(&iter.value, &size);
        if (strlen(name) == size && memcmp(name, text, size) == 0)
            return true;
    }
    return false;
}

/* read_names -- the option `collections`; *count: how many there are. */
static tansu_status read_names(dump *d, const doc_value *value, size_t *count, tansu_error *error) {
    bool right = value->type == DOC_ARRAY;
    doc_iter iter;
    for (doc_iter_value(&iter, value); right && doc_iter_next(&iter); (*count)++)
        right = iter.value.type == DOC_STRING;
    if (!right)
        return error_set(error, TANSU_E_INVALID_QUERY, "options.collections",
                         "The option \"collections\" must be an array of names");
    d->collections = *value;
    return TANSU_OK;
}

/* read_options -- checks and stores the options. */
static tansu_status read_options(dump *d, tansu_error *error) {
    d->indexes = true;
    if (d->options.data == NULL)
        return TANSU_OK;
    size_t names = 0;
    tansu_status status = TANSU_OK;
    doc_iter iter;
    doc_iter_init(&iter, d->options.data, d->options.size);
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        if (strcmp(iter.key, "collections") == 0)
            status = read_names(d, &iter.value, &names, error);
        else if (strcmp(iter.key, "query") == 0 && iter.value.type == DOC_DOCUMENT &&
                 d->query == NULL)
            status =
                query_compile(iter.value.data, iter.value.size, NULL, 0, NULL, &d->query, error);
        else if (strcmp(iter.key, "indexes") == 0 && iter.value.type == DOC_BOOL)
            d->indexes = doc_bool(&iter.value);
        else
            status = error_set(
                error, TANSU_E_INVALID_QUERY, iter.key,
                "\"%s\" is not an option of a dump, or has the wrong type; the options are "
                "\"collections\" (names), \"query\" (an object) and \"indexes\" (a bool)",
                iter.key);
    }
    if (status == TANSU_OK && d->query != NULL && names != 1)
        status = error_set(error, TANSU_E_INVALID_QUERY, "options.query",
                           "The option \"query\" needs exactly one name in \"collections\"");
    return status;
}

/* check_names -- NOT_FOUND when a collection that was named is not there. */
static tansu_status check_names(const dump *d, tansu_error *error) {
    doc_iter iter;
    if (d->collections.type == DOC_MISSING)
        return TANSU_OK;
    for (doc_iter_value(&iter, &d->collections); doc_iter_next(&iter);) {
        size_t size;
        const char *name = doc_string(&iter.value, &size);
        if (strlen(name) != size || snapshot_collection(d->reading->snapshot, name) == NULL)
            return snapshot_missing(name, error);
    }
    return TANSU_OK;
}

/* ---- Writing ---- */

/* flush -- hands over what has been gathered. */
static tansu_status flush(dump *d, tansu_error *error) {
    if (d->out.size != 0 && d->write(d->write_context, d->out.data, d->out.size) == 0)
        return error_set(error, TANSU_E_IO, NULL, "The write function of the dump failed");
    d->bytes += d->out.size;
    d->out.size = 0;
    if (d->out.capacity > OUT_KEPT)
        tansu_buffer_free(&d->out);
    return TANSU_OK;
}

/* end_line -- ends a line, which has been written or not. */
static tansu_status end_line(dump *d, bool written, tansu_error *error) {
    if (!written || !buffer_append_byte(&d->out, '\n'))
        return error_memory(error);
    return d->out.size >= OUT_SIZE ? flush(d, error) : TANSU_OK;
}

/* put_control -- a control line, of which everything but the ends of two documents is in `body`;
 * frees it. */
static tansu_status put_control(dump *d, writer *body, size_t start, tansu_error *error) {
    writer_end(body, start);
    tansu_status status =
        writer_finish(body, 0)
            ? end_line(d, json_write_document(&d->out, body->out->data, body->out->size, true),
                       error)
            : error_memory(error);
    tansu_buffer_free(body->out);
    return status;
}

/* control -- begins the control line {kind: {…}} in an empty buffer; `*start` is for
 * put_control(). */
static writer control(tansu_buffer *line, const char *kind, size_t *start) {
    writer w = {.out = line};
    writer_begin(&w);
    *start = writer_open(&w, kind, DOC_DOCUMENT);
    return w;
}

/* put_header -- the first line. */
static tansu_status put_header(dump *d, tansu_error *error) {
    tansu_buffer line = TANSU_BUFFER_INIT;
    size_t start;
    writer w = control(&line, DUMP_HEADER, &start);
    writer_int32(&w, "format", DUMP_FORMAT);
    return put_control(d, &w, start, error);
}

/* put_collection -- the line before a collection's documents. */
static tansu_status put_collection(dump *d, const collection_state *state, uint64_t documents,
                                   tansu_error *error) {
    uint32_t indexes = d->indexes ? state->index_count : 0;
    tansu_buffer line = TANSU_BUFFER_INIT;
    size_t start;
    writer w = control(&line, DUMP_COLLECTION, &start);
    writer_string(&w, "name", state->name);
    size_t options = writer_open(&w, "options", DOC_DOCUMENT);
    writer_bool(&w, "local", state->local);
    collection_write_options(state, &w);
    writer_end(&w, options);
    writer_int64(&w, "documents", (int64_t)documents);
    size_t list = writer_open(&w, "indexes", DOC_ARRAY);
    for (uint32_t i = 0; i < indexes; i++) {
        size_t one = writer_open_index(&w, i, DOC_DOCUMENT);
        index_definition_elements(state->indexes[i].definition, &w);
        writer_end(&w, one);
    }
    writer_end(&w, list);
    d->collection_count++;
    d->index_count += indexes;
    return put_control(d, &w, start, error);
}

/* put_document -- one document's line. */
static tansu_status put_document(dump *d, const uint8_t *doc, size_t size, tansu_error *error) {
    const read_call *r = d->reading;
    guard_touch(doc, size);
    tansu_status status = log_check(r->db->log, r->faults, TANSU_OK, error);
    if (status == TANSU_OK)
        status = end_line(d, json_write_stored(&d->out, doc, size), error);
    d->document_count++;
    return status == TANSU_OK ? task_advance(&d->progress, 1, error) : status;
}

/* put_all -- every document of a collection, in the order of insertion. */
static tansu_status put_all(dump *d, const collection_state *state, tansu_error *error) {
    table_scan scan;
    table_scan_init(&scan, &d->reading->rctx, state);
    tansu_status status = put_collection(d, state, state->count, error);
    while (status == TANSU_OK) {
        uint64_t rid;
        doc_ref ref;
        const uint8_t *doc;
        uint32_t size;
        status = table_scan_next(&scan, &rid, &ref, &doc, &size, error);
        if (status == TANSU_OK)
            status = put_document(d, doc, size, error);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* put_matches -- the documents that the query finds. */
static tansu_status put_matches(dump *d, const collection_state *state, tansu_error *error) {
    int64_t count = 0;
    query_run *run = NULL;
    tansu_status status =
        query_resolve(d->query, d->reading->snapshot, &d->reading->rctx, state, false, error);
    if (status == TANSU_OK)
        status = query_count(d->query, &d->reading->rctx, state, &count, error);
    if (status == TANSU_OK)
        status = put_collection(d, state, (uint64_t)count, error);
    if (status == TANSU_OK)
        status = query_start(d->query, d->reading->snapshot, &d->reading->rctx, state, &run, error);
    while (status == TANSU_OK) {
        tansu_document document;
        status = query_next(run, &document, error);
        if (status == TANSU_OK)
            status = put_document(d, document.data, document.size, error);
    }
    query_end(run);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* put_end -- the last line. */
static tansu_status put_end(dump *d, tansu_error *error) {
    tansu_buffer line = TANSU_BUFFER_INIT;
    size_t start;
    writer w = control(&line, DUMP_END, &start);
    writer_int64(&w, "collections", (int64_t)d->collection_count);
    writer_int64(&w, "documents", (int64_t)d->document_count);
    writer_int64(&w, "indexes", (int64_t)d->index_count);
    tansu_status status = put_control(d, &w, start, error);
    return status == TANSU_OK ? flush(d, error) : status;
}

/* put_everything -- all lines. */
static tansu_status put_everything(dump *d, tansu_error *error) {
    const snapshot *v = d->reading->snapshot;
    tansu_status status = check_names(d, error);
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while ((state = snapshot_next(&all)) != NULL)
        if (listed(d, state->name))
            d->progress.total += state->count;
    if (status == TANSU_OK)
        status = put_header(d, error);
    all = snapshot_from(v, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL) {
        if (listed(d, state->name))
            status = d->query == NULL ? put_all(d, state, error) : put_matches(d, state, error);
    }
    return status == TANSU_OK ? put_end(d, error) : status;
}

/* report_dump -- what was done, as BSON. */
static tansu_status report_dump(const dump *d, tansu_buffer *report, tansu_error *error) {
    if (report == NULL)
        return TANSU_OK;
    writer w = {.out = report};
    report->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "collections", (int64_t)d->collection_count);
    writer_int64(&w, "documents", (int64_t)d->document_count);
    writer_int64(&w, "indexes", (int64_t)d->index_count);
    writer_int64(&w, "bytes", (int64_t)d->bytes);
    return writer_finish(&w, document) ? TANSU_OK : error_memory(error);
}

tansu_status tansu_dump(tansu_db *db, tansu_txn *txn, tansu_write_bytes write, void *write_context,
                        tansu_document options, tansu_progress progress, void *context,
                        tansu_buffer *report, tansu_error *error) {
    if (db == NULL || write == NULL)
        return null_argument(db == NULL ? "db" : "write", error);
    if (report != NULL)
        report->size = 0;
    read_call r;
    dump d = {.reading = &r,
              .write = write,
              .write_context = write_context,
              .progress = {.progress = progress, .context = context},
              .options = options};
    tansu_status status = check_bson(options, true, "options", error);
    if (status == TANSU_OK)
        status = read_options(&d, error);
    if (status == TANSU_OK)
        status = handle_acquire(db_inner(db), error);
    if (status == TANSU_OK) {
        status = read_call_begin(&r, db, txn, error);
        if (status == TANSU_OK) {
            log_intact intact = {.l = r.db->log, .position = r.snapshot->position};
            r.rctx.intact = &intact;
            status = put_everything(&d, error);
            log_intact_end(&intact);
            status = read_call_end(&r, status, error);
        }
        handle_release(db_inner(db));
    }
    tansu_buffer_free(&d.out);
    query_free(d.query);
    return status == TANSU_OK ? report_dump(&d, report, error) : status;
}
