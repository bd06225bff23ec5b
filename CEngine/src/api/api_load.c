/*
 * api/api_load.c -- the state of a load: its options, its position, the current batch. Private to
 * api/load*.c.
 */
#include "api/dump_format.h"
#include "api/handles.h"
#include "backup/envelope.h"
#include "bson/json/json.h"
#include "bson/writer.h"
#include "store/collection.h"
#include "store/handle.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Documents and bytes of one commit. */
#define LOAD_DOCUMENTS 4096u
#define LOAD_BYTES (4u * 1024u * 1024u)

typedef struct load {
    tansu_db *db;
    tansu_txn *txn; /* all of it is one; NULL: a commit a batch */
    line_source lines;
    tansu_progress progress;
    void *progress_context;

    char collection[TANSU_MAX_NAME + 1]; /* where documents go now; "": nowhere yet */
    tansu_save_mode mode;
    bool skip; /* what is there already */
    bool atomic;
    bool keeps_timestamps;

    bool dump;    /* it began with a dump's first line */
    bool created; /* the collection was not there before */
    bool ended;   /* and its last one was read */
    uint64_t collection_line;
    uint64_t expected; /* documents of the collection, as its line says */
    uint64_t seen;     /* that were read */
    uint64_t all_seen; /* of all collections */
    uint64_t all_indexes;
    tansu_buffer indexes; /* of the collection: a BSON array, created after the documents */

    /* Documents that were read and not saved yet, one after the other. */
    tansu_buffer batch;
    uint32_t batch_count;
    uint64_t *batch_lines;
    tansu_buffer document;

    /* What was done. */
    uint64_t collections, documents, skipped, indexes_made;
} load;

/* load_at -- puts the line's number into an error that a line is to blame for; returns the
 * status. */
tansu_status load_at(uint64_t line, tansu_status status, tansu_error *error);

/* load_save -- saves what was gathered. After an error what came before it in the batch is kept,
 * unless the load is atomic. */
tansu_status load_save(load *l, tansu_error *error);

/* load_control -- a control line (api/api_load.c). */
tansu_status load_control(load *l, const doc_iter *first, tansu_error *error);

/* load_end_collection -- the collection's documents have all been read: they are saved and counted,
 * and its indexes are made. */
tansu_status load_end_collection(load *l, tansu_error *error);

/* ---- Documents out of text, one JSON object a line (docs/dump-format.md) ---- */

/*
 * Lines become BSON in a batch, and only a full batch takes the write lock: a slow source
 * does not block other writers, and memory does not grow with the length of the text.
 */

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

/* is_control -- whether a line begins an object with a key that begins with `$`, unescaped. */
static bool is_control(const char *text, size_t size) {
    static const char begins[] = "{\"$";
    size_t found = 0;
    for (size_t i = 0; i < size && begins[found] != '\0'; i++) {
        bool space = found < 2 && strchr(" \t\r\n", text[i]) != NULL;
        if (!space && text[i] != begins[found])
            return false;
        found += !space;
    }
    return begins[found] == '\0';
}

/* is_control_name -- whether a key is that of a control line. */
static bool is_control_name(const char *key) {
    return strcmp(key, DUMP_HEADER) == 0 || strcmp(key, DUMP_COLLECTION) == 0 ||
           strcmp(key, DUMP_END) == 0;
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
    if (is_control(text, size) && doc_iter_init(&first, l->document.data, l->document.size) &&
        doc_iter_next(&first) && (l->dump || is_control_name(first.key)))
        return load_control(l, &first, error);
    return add_document(l, error);
}

/* is_encrypted -- whether a line is what a dump that is encrypted begins with. */
static bool is_encrypted(const line_source *l, const char *text, size_t size) {
    return l->number == 1 && size >= ENVELOPE_MAGIC_SIZE &&
           memcmp(text, ENVELOPE_MAGIC, ENVELOPE_MAGIC_SIZE) == 0;
}

/* take_lines -- all of the source. */
static tansu_status take_lines(load *l, tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t reported = 0;
    while (status == TANSU_OK) {
        const char *text = NULL;
        size_t size = 0;
        status = lines_next(&l->lines, &text, &size, error);
        if (status == TANSU_OK && is_encrypted(&l->lines, text, size))
            status = error_set(error, TANSU_E_ENCRYPTED, NULL,
                               "The dump is encrypted; load it with its key");
        else if (status == TANSU_OK)
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

/* ---- Lines out of a caller's source ---- */

/* A long line's memory is not kept for the next. */
#define LINE_KEPT (4u * 1024u * 1024u)

/* fill -- reads more, when all lines were returned. */
static tansu_status fill(line_source *l, tansu_error *error) {
    if (l->at < l->size || l->ended)
        return TANSU_OK;
    if (l->bytes == NULL && (l->bytes = malloc(LINE_CHUNK)) == NULL)
        return error_memory(error);
    ptrdiff_t got = l->read(l->context, l->bytes, LINE_CHUNK);
    if (got < 0 || got > (ptrdiff_t)LINE_CHUNK)
        return error_set(error, TANSU_E_IO, NULL, "The read function of the load failed");
    l->at = 0;
    l->size = (size_t)got;
    l->ended = got == 0;
    return TANSU_OK;
}

/* line_next -- the next line, blank or not; TANSU_DONE at the end. */
static tansu_status line_next(line_source *l, const char **text, size_t *size, tansu_error *error) {
    if (l->line.capacity > LINE_KEPT)
        tansu_buffer_free(&l->line);
    l->line.size = 0;
    for (bool begun = false;; begun = true) {
        tansu_status status = fill(l, error);
        if (status != TANSU_OK)
            return status;
        if (l->ended && l->line.size == 0 && !begun)
            return TANSU_DONE;
        const uint8_t *from = l->bytes + l->at;
        size_t left = l->ended ? 0 : l->size - l->at;
        const uint8_t *stop = left == 0 ? NULL : memchr(from, '\n', left);
        size_t part = stop == NULL ? left : (size_t)(stop - from);
        l->at += part + (stop != NULL);
        if (stop != NULL && l->line.size == 0) { /* the usual case: nothing is copied */
            *text = (const char *)from;
            *size = part;
            return TANSU_OK;
        }
        if (part > LINE_MOST - l->line.size)
            return error_set(error, TANSU_E_TOO_LARGE, NULL,
                             "The line is longer than the text of any document");
        if (!buffer_append(&l->line, from, part))
            return error_memory(error);
        if (stop != NULL || l->ended) {
            *text = (const char *)l->line.data;
            *size = l->line.size;
            return TANSU_OK;
        }
    }
}

tansu_status lines_next(line_source *lines, const char **text, size_t *size, tansu_error *error) {
    for (;;) {
        tansu_status status = line_next(lines, text, size, error);
        if (status == TANSU_DONE)
            return status;
        lines->number++;
        if (status != TANSU_OK)
            return status;
        if (lines->number == 1 && *size >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0) {
            *text += 3; /* a byte order mark */
            *size -= 3;
        }
        for (size_t i = 0; i < *size; i++)
            if (!strchr(" \t\r", (*text)[i]) || (*text)[i] == 0)
                return TANSU_OK;
    }
}

void lines_free(line_source *lines) {
    free(lines->bytes);
    tansu_buffer_free(&lines->line);
}

/* ---- Saving the documents that a load has gathered, and naming the line at fault ---- */

tansu_status load_at(uint64_t line, tansu_status status, tansu_error *error) {
    switch (status) {
    case TANSU_OK:
    case TANSU_E_MEMORY:
    case TANSU_E_IO:
    case TANSU_E_FULL:
    case TANSU_E_SYNC_FAILED:
    case TANSU_E_MOVED:
    case TANSU_E_BUSY:
    case TANSU_E_READ_ONLY:
    case TANSU_E_CLOSED:
    case TANSU_E_CANCELLED: return status;
    default: break;
    }
    if (error != NULL) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        error_at(error, status, error->context, (int64_t)line, "Line %llu: %s",
                 (unsigned long long)line, message);
    }
    return status;
}

/* save_documents -- saves the batch in a write transaction; *saved, *skipped: how many. */
static tansu_status save_documents(load *l, write_txn *c, uint64_t *saved, uint64_t *skipped,
                                   tansu_error *error) {
    const uint8_t *at = l->batch.data;
    unsigned how = l->dump ? SAVE_NO_DATES : l->keeps_timestamps ? SAVE_KEEPS_DATES : 0;
    how |= l->created ? SAVE_UNTRACKED | SAVE_RESTORED : 0;
    for (uint32_t i = 0; i < l->batch_count; i++) {
        uint32_t size = load_u32(at);
        tansu_status status = write_txn_save(c, l->collection, at, size, l->mode, how, NULL, error);
        if (status == TANSU_E_EXISTS && l->skip)
            ++*skipped;
        else if (status != TANSU_OK)
            return load_at(l->batch_lines[i], status, error);
        else
            ++*saved;
        at += size;
    }
    return TANSU_OK;
}

tansu_status load_save(load *l, tansu_error *error) {
    if (l->batch_count == 0)
        return TANSU_OK;
    write_call w;
    tansu_status status = write_call_begin_saves(&w, l->db, l->txn, error);
    if (status != TANSU_OK)
        return status;
    uint64_t saved = 0, skipped = 0;
    status = save_documents(l, w.wtxn, &saved, &skipped, error);
    bool keep = status == TANSU_OK || (w.own && write_txn_usable(w.wtxn, NULL) == TANSU_OK);
    tansu_status end =
        write_call_end(&w, keep ? TANSU_OK : status, status == TANSU_OK ? error : NULL);
    if (end == TANSU_OK) {
        l->documents += saved;
        l->skipped += skipped;
    }
    l->batch.size = 0;
    l->batch_count = 0;
    return status == TANSU_OK ? end : status;
}

/* ---- The control lines of a dump ---- */

/* invalid -- the error for an invalid control line. */
static tansu_status invalid(const load *l, const char *what, tansu_error *error) {
    return load_at(l->lines.number, error_set(error, TANSU_E_INVALID_JSON, NULL, "%s", what),
                   error);
}

/* number_of -- a whole number of a control line; false without one. */
static bool number_of(const doc_value *body, const char *key, uint64_t *result) {
    doc_value value;
    int64_t number;
    if (!doc_find(body->data, body->size, key, strlen(key), &value) ||
        !doc_as_int64(&value, &number) || number < 0)
        return false;
    *result = (uint64_t)number;
    return true;
}

/* member -- a member of that type; false without one. */
static bool member(const doc_value *body, const char *key, uint8_t type, doc_value *value) {
    return doc_find(body->data, body->size, key, strlen(key), value) && value->type == type;
}

/* name_of -- a member that is a name; NULL without one. */
static const char *name_of(const doc_value *body) {
    doc_value value;
    size_t size;
    if (!member(body, "name", DOC_STRING, &value))
        return NULL;
    const char *text = doc_string(&value, &size);
    return strlen(text) == size && size <= TANSU_MAX_NAME ? text : NULL;
}

/* read_header -- the first line of a dump. */
static tansu_status read_header(load *l, const doc_value *body, tansu_error *error) {
    uint64_t format;
    if (l->dump || l->all_seen != 0 || l->seen != 0)
        return invalid(l, "The first line of a dump is in the middle", error);
    if (!number_of(body, "format", &format) || format == 0)
        return invalid(l, "The first line of the dump has no format", error);
    if (format != DUMP_FORMAT)
        return load_at(l->lines.number,
                       error_set(error, TANSU_E_VERSION, NULL,
                                 "The dump is of format %llu and this library reads format %d; use "
                                 "the version of the library that wrote it",
                                 (unsigned long long)format, DUMP_FORMAT),
                       error);
    l->dump = true;
    l->collection[0] = 0;
    return TANSU_OK;
}

/* make_index -- one index of the collection that has been loaded. */
static tansu_status make_index(load *l, const doc_value *index, tansu_error *error) {
    doc_value keys, options;
    const char *name = index->type == DOC_DOCUMENT ? name_of(index) : NULL;
    if (name == NULL || !member(index, "keys", DOC_DOCUMENT, &keys) ||
        !member(index, "options", DOC_DOCUMENT, &options))
        return load_at(
            l->collection_line,
            error_set(error, TANSU_E_INVALID_JSON, NULL,
                      "An index is not {\"name\": ..., \"keys\": {...}, \"options\": {...}}"),
            error);
    tansu_status status =
        tansu_index_create(l->db, l->txn, l->collection, name, value_document(&keys),
                           value_document(&options), NULL, NULL, error);
    if (status == TANSU_OK)
        l->indexes_made++;
    return load_at(l->collection_line, status, error);
}

tansu_status load_end_collection(load *l, tansu_error *error) {
    tansu_status status = load_save(l, error);
    if (status == TANSU_OK && l->dump && l->seen != l->expected)
        status = load_at(
            l->collection_line,
            error_set(error, TANSU_E_INVALID_JSON, l->collection,
                      "Collection \"%s\" should have %llu documents, and %llu were read; "
                      "lines are missing or too many",
                      l->collection, (unsigned long long)l->expected, (unsigned long long)l->seen),
            error);
    doc_iter iter;
    if (status == TANSU_OK && l->indexes.size != 0)
        for (doc_iter_init(&iter, l->indexes.data, l->indexes.size);
             status == TANSU_OK && doc_iter_next(&iter);)
            status = make_index(l, &iter.value, error);
    l->indexes.size = 0;
    l->all_seen += l->seen;
    l->seen = l->expected = 0;
    return status;
}

/* count_elements -- of an array. */
static uint64_t count_elements(const doc_value *array) {
    uint64_t count = 0;
    doc_iter iter;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);)
        count++;
    return count;
}

/* read_collection -- the line before a collection's documents. */
static tansu_status read_collection(load *l, const doc_value *body, tansu_error *error) {
    doc_value options, indexes;
    const char *name = name_of(body);
    uint64_t documents;
    tansu_status status = load_end_collection(l, error);
    if (status != TANSU_OK)
        return status;
    if (name == NULL || !member(body, "options", DOC_DOCUMENT, &options) ||
        !member(body, "indexes", DOC_ARRAY, &indexes) || !number_of(body, "documents", &documents))
        return invalid(l,
                       "The line of a collection needs \"name\", \"options\", \"documents\" and "
                       "\"indexes\" of the right types",
                       error);
    tansu_buffer info = TANSU_BUFFER_INIT;
    l->created = tansu_collection_info(l->db, l->txn, name, &info, NULL) == TANSU_E_NOT_FOUND;
    tansu_buffer_free(&info);
    status = tansu_collection_ensure(l->db, l->txn, name, value_document(&options), error);
    if (status != TANSU_OK)
        return load_at(l->lines.number, status, error);
    if (!buffer_set(&l->indexes, indexes.data, indexes.size))
        return error_memory(error);
    snprintf(l->collection, sizeof l->collection, "%s", name);
    l->collection_line = l->lines.number;
    l->expected = documents;
    l->all_indexes += count_elements(&indexes);
    l->collections++;
    return TANSU_OK;
}

/* read_end -- the last line of a dump. */
static tansu_status read_end(load *l, const doc_value *body, tansu_error *error) {
    uint64_t collections, documents, indexes;
    tansu_status status = load_end_collection(l, error);
    if (status != TANSU_OK)
        return status;
    if (!number_of(body, "collections", &collections) ||
        !number_of(body, "documents", &documents) || !number_of(body, "indexes", &indexes) ||
        collections != l->collections || documents != l->all_seen || indexes != l->all_indexes)
        return invalid(l, "The totals in the last line of the dump do not match the lines before",
                       error);
    l->ended = true;
    return TANSU_OK;
}

tansu_status load_control(load *l, const doc_iter *first, tansu_error *error) {
    const char *key = first->key;
    bool header = strcmp(key, DUMP_HEADER) == 0;
    if (!is_control_name(key))
        return invalid(l, "A line begins with a key that neither documents nor dumps have", error);
    if (first->next != first->end || first->value.type != DOC_DOCUMENT)
        return invalid(l, "A control line of a dump must have one member, an object", error);
    if (header)
        return read_header(l, &first->value, error);
    if (!l->dump)
        return invalid(l, "The first line of the dump is missing", error);
    return strcmp(key, DUMP_END) == 0 ? read_end(l, &first->value, error)
                                      : read_collection(l, &first->value, error);
}
