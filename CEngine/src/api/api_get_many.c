/*
 * api/api_get_many.c -- reading the documents with several ids in one call.
 */
#include "api/slow_log.h"
#include "bson/value.h"
#include "bson/writer.h"
#include "query/util/deadline.h"
#include "store/index_tail/index_tail.h"
#include "util/array.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* A result ends with the document with which it exceeds this. */
#define BATCH_BYTES ((size_t)16 << 20)

/* Documents between two checks of whether the call is cancelled. */
#define BATCH_STEP 64

/* The rid of an id that no document has. */
#define NO_RID UINT64_MAX

/* One id of a batch. */
typedef struct wanted {
    const uint8_t *key; /* value_key() */
    uint32_t size;
    uint32_t number;
    uint64_t rid;
} wanted;

/* The ids of a batch and what is read for them. */
typedef struct batch {
    wanted *ids;
    size_t count;
    size_t capacity;
    tansu_buffer keys;
    uint64_t *rids; /* of the documents that there are, in the order of the ids */
    size_t found;
} batch;

static void batch_free(batch *b) {
    free(b->ids);
    free(b->rids);
    tansu_buffer_free(&b->keys);
}

/* by_key -- for qsort(). */
static int by_key(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    int order = memcmp(x->key, y->key, x->size < y->size ? x->size : y->size);
    return order != 0 ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* by_number -- the same. */
static int by_number(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* batch_read_ids -- the keys of the ids from number `first` on. */
static tansu_status batch_read_ids(batch *b, tansu_document ids, size_t first, tansu_error *error) {
    tansu_status status = check_bson(ids, false, "ids", error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    size_t number = 0;
    for (doc_iter_init(&iter, ids.data, ids.size); doc_iter_next(&iter); number++) {
        if (number < first)
            continue;
        status = doc_check_id(&iter.value, error);
        if (status != TANSU_OK) {
            char context[24];
            snprintf(context, sizeof context, "%zu", number);
            error_prefix(error, context);
            return status;
        }
        const size_t start = b->keys.size;
        if (!ARRAY_RESERVE(b->ids, b->count, b->capacity, 1) ||
            !value_key(&b->keys, &iter.value, false))
            return error_memory(error);
        b->ids[b->count++] = (wanted){
            .size = (uint32_t)(b->keys.size - start), .number = (uint32_t)number, .rid = NO_RID};
    }
    if (first > number)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "first",
                         "The first id is number %zu, and there are %zu", first, number);
    const uint8_t *key = b->keys.data;
    for (size_t i = 0; i < b->count; key += b->ids[i++].size)
        b->ids[i].key = key;
    return TANSU_OK;
}

/* batch_find -- looks the ids up. In the order of the index its blocks stay in the caches of the
 * processor. */
static tansu_status batch_find(batch *b, const read_call *r, const collection_state *state,
                               const deadline *time, tansu_error *error) {
    bool sorted = true;
    for (size_t i = 1; sorted && i < b->count; i++)
        sorted = by_key(&b->ids[i - 1], &b->ids[i]) <= 0;
    if (!sorted)
        qsort(b->ids, b->count, sizeof *b->ids, by_key);
    tansu_status status = index_current(state, 0, error);
    for (size_t i = 0; status == TANSU_OK && i < b->count; i++) {
        bool found = false;
        uint64_t rid;
        if (i % BATCH_STEP == 0)
            status = deadline_check(time, error);
        if (status == TANSU_OK)
            status = tree_find_prefix(r->rctx.trees, &state->ids, b->ids[i].key, b->ids[i].size,
                                      &found, &rid, error);
        if (status == TANSU_OK && found)
            b->ids[i].rid = rid;
    }
    if (!sorted)
        qsort(b->ids, b->count, sizeof *b->ids, by_number);
    if (status != TANSU_OK)
        return status;
    b->rids = malloc((b->count + 1) * sizeof *b->rids);
    if (b->rids == NULL)
        return error_memory(error);
    for (size_t i = 0; i < b->count; i++)
        if (b->ids[i].rid != NO_RID)
            b->rids[b->found++] = b->ids[i].rid;
    return TANSU_OK;
}

/* batch_copy -- the documents. `state` is NULL when there are none. */
static tansu_status batch_copy(const batch *b, const read_call *r, const collection_state *state,
                               const deadline *time, writer *w, size_t *answered,
                               tansu_error *error) {
    tansu_status status = TANSU_OK;
    size_t at = 0, i = 0; /* among the documents, among the ids */
    for (; status == TANSU_OK && i < b->count && w->out->size <= BATCH_BYTES; i++) {
        doc_value value = {.type = DOC_NULL};
        doc_ref ref;
        if (i % BATCH_STEP == 0)
            status = deadline_check(time, error);
        if (status == TANSU_OK && state != NULL && b->ids[i].rid != NO_RID) {
            read_prefetch(&r->rctx, state, b->rids, b->found, at++);
            status = read_find_document(&r->rctx, state, b->ids[i].rid, &ref, &value.data,
                                        &value.size, error);
            if (status == TANSU_OK)
                value.type = DOC_DOCUMENT;
            else if (status == TANSU_DONE)
                status = TANSU_OK;
        }
        writer_index_value(w, (uint32_t)i, &value);
    }
    *answered = i;
    return status;
}

/* get_many -- tansu_get_many() without the slow-operation log. */
static tansu_status get_many(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document ids, size_t first, tansu_buffer *result, size_t *next,
                             tansu_error *error) {
    if (collection == NULL || result == NULL || next == NULL)
        return null_argument(result == NULL ? "result"
                             : next == NULL ? "next"
                                            : "collection",
                             error);
    result->size = 0;
    *next = first;
    batch b = {.count = 0};
    tansu_status status = batch_read_ids(&b, ids, first, error);
    read_call r;
    if (status == TANSU_OK)
        status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK) {
        batch_free(&b);
        return status;
    }
    const collection_state *state;
    size_t answered = 0;
    const deadline time = deadline_begin(r.rctx.interrupt, 0);
    status = snapshot_find(r.snapshot, collection, &state, error);
    if (state != NULL)
        status = batch_find(&b, &r, state, &time, error);
    writer w = {.out = result, .limit = INT32_MAX};
    size_t document = writer_begin(&w), list = writer_open(&w, "documents", DOC_ARRAY);
    if (status == TANSU_OK)
        status = batch_copy(&b, &r, state, &time, &w, &answered, error);
    writer_end(&w, list);
    if (status == TANSU_OK && !writer_finish(&w, document))
        status = error_memory(error);
    batch_free(&b);
    status = read_call_end(&r, status, error);
    if (status == TANSU_OK)
        *next = first + answered;
    else
        result->size = 0;
    return status;
}

tansu_status tansu_get_many(tansu_db *db, tansu_txn *txn, const char *collection,
                            tansu_document ids, size_t first, tansu_buffer *result, size_t *next,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_GET,
                        get_many(db, txn, collection, ids, first, result, next, error), collection,
                        TANSU_NO_DOCUMENT);
}
