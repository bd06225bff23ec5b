/*
 * api/api_references.c -- references that lead to no document.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "rules/dangling.h"
#include "util/error.h"

#include <stdio.h>

/* References that are listed unless the options say another number. */
#define LISTED 1000

/* What a call asks for. */
typedef struct asked {
    const char *collection;
    int64_t limit;
    bool repair;
} asked;

/* read_options -- reads {collection: text, limit: number, repair: bool}. */
static tansu_status read_options(tansu_document options, asked *a, tansu_error *error) {
    *a = (asked){.limit = LISTED};
    doc_iter iter;
    size_t length;
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        bool valid = false;
        if (strcmp(iter.key, "collection") == 0 && iter.value.type == DOC_STRING) {
            a->collection = doc_string(&iter.value, &length);
            valid = strlen(a->collection) == length;
        } else if (strcmp(iter.key, "limit") == 0) {
            valid = doc_as_int64(&iter.value, &a->limit) && a->limit >= 0;
        } else if (strcmp(iter.key, "repair") == 0) {
            valid = doc_as_bool(&iter.value, &a->repair);
        }
        if (!valid)
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "\"%s\" is not an option of this call, or has the wrong type; the "
                             "options are \"collection\", \"limit\" and \"repair\"",
                             iter.key);
    }
    return TANSU_OK;
}

/* find -- lists them. */
static tansu_status find(tansu_db *db, tansu_txn *txn, const asked *a, tansu_buffer *result,
                         tansu_error *error) {
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const deadline time = deadline_begin(r.rctx.interrupt, 0);
    const dangling_search search = {
        .collection = a->collection, .limit = (uint64_t)a->limit, .time = &time};
    status = dangling_find(&search, r.snapshot, &r.rctx, result, error);
    return read_call_end(&r, status, error);
}

/* repair -- repairs them. */
static tansu_status repair(tansu_db *db, tansu_txn *txn, const asked *a, tansu_buffer *result,
                           tansu_error *error) {
    write_call w;
    uint64_t values, documents;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    const deadline time = deadline_begin(w.interrupt, 0);
    const dangling_search search = {.collection = a->collection, .time = &time};
    status = dangling_repair(&search, w.wtxn, &values, &documents, error);
    if (status == TANSU_OK) {
        writer out = {.out = result};
        result->size = 0;
        size_t document = writer_begin(&out);
        writer_int64(&out, "nullified", (int64_t)values);
        writer_int64(&out, "removed", (int64_t)documents);
        if (!writer_finish(&out, document))
            status = error_memory(error);
    }
    status = write_call_end(&w, status, error);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

tansu_status tansu_dangling_references(tansu_db *db, tansu_txn *txn, tansu_document options,
                                       tansu_buffer *result, tansu_error *error) {
    asked a;
    if (result == NULL)
        return null_argument("result", error);
    tansu_status status = read_options(options, &a, error);
    if (status != TANSU_OK)
        return status;
    return a.repair ? repair(db, txn, &a, result, error) : find(db, txn, &a, result, error);
}
