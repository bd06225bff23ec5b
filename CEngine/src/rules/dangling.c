/*
 * rules/dangling.c -- references that lead to no document. Every document of a collection with
 * references is read, and every value at their paths looked up.
 */

#include "bson/writer.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "store/database_internal.h"
#include "store/references/reference_list.h"
#include "util/error.h"

#include <stdlib.h>

/* Documents between two checks of the deadline. */
#define STEP 64

/* Called for each reference that dangles. */
typedef struct scan scan;
typedef tansu_status (*visitor)(scan *s, const reference *by, const doc_value *value);

/* One search at work. */
struct scan {
    const dangling_search *search;
    const snapshot *snapshot;
    const read_context *rctx;
    visitor visit;
    void *context;
    tansu_buffer key;
    tansu_error *error;
    /* At the moment. */
    const collection_state *holder;
    uint64_t rid;
    const uint8_t *doc;
    uint32_t size;
    const reference *by;
    const collection_state *target; /* NULL: there is no such collection */
    tansu_status status;
};

/* dangles -- whether a value leads to no document of a collection. */
static tansu_status dangles(const read_context *rctx, const collection_state *target,
                            const doc_value *value, tansu_buffer *key, bool *result,
                            tansu_error *error) {
    bool found = false;
    uint64_t rid;
    tansu_status status =
        target == NULL ? TANSU_OK
                       : write_txn_find_id(rctx->trees, target, value, key, &found, &rid, error);
    *result = status == TANSU_OK && !found;
    return status;
}

/* look_up -- one value that is not an array. */
static void look_up(scan *s, const doc_value *value) {
    bool result;
    if (s->status != TANSU_OK || value->type == DOC_NULL || value->type == DOC_UNDEFINED)
        return;
    s->status = dangles(s->rctx, s->target, value, &s->key, &result, s->error);
    if (s->status == TANSU_OK && result)
        s->status = s->visit(s, s->by, value);
}

/* visit_value -- what the path of a reference finds. */
static bool visit_value(void *context, const doc_value *value) {
    scan *s = context;
    doc_iter iter;
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (s->status == TANSU_OK && doc_iter_next(&iter))
            look_up(s, &iter.value);
    } else if (value->type != DOC_MISSING) {
        look_up(s, value);
    }
    return s->status == TANSU_OK;
}

/* scan_document -- all references of the document. */
static tansu_status scan_document(scan *s) {
    const reference_list *list = s->holder->references;
    for (uint32_t i = 0; s->status == TANSU_OK && i < list->count; i++) {
        s->by = &list->items[i];
        s->target = snapshot_collection(s->snapshot, s->by->to);
        path_walk(&s->by->path, s->doc, s->size, visit_value, s, NULL);
    }
    return s->status;
}

/* scan_collection -- all documents of a collection. */
static tansu_status scan_collection(scan *s) {
    table_scan table;
    table_scan_init(&table, s->rctx, s->holder);
    doc_ref ref;
    tansu_status status = TANSU_OK;
    for (uint64_t i = 0; status == TANSU_OK; i++) {
        if (i % STEP == 0)
            status = deadline_check(s->search->time, s->error);
        if (status == TANSU_OK)
            status = table_scan_next(&table, &s->rid, &ref, &s->doc, &s->size, s->error);
        if (status == TANSU_OK)
            status = scan_document(s);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* run -- searches through the collections. */
static tansu_status run(scan *s) {
    const char *only = s->search->collection;
    const collection_state *one = NULL;
    tansu_status status = TANSU_OK;
    if (only != NULL && (one = snapshot_collection(s->snapshot, only)) == NULL)
        return snapshot_missing(only, s->error);
    catalog_cursor holders = catalog_from(&s->snapshot->holders, order_of_holders, NULL);
    while (status == TANSU_OK &&
           (s->holder = snapshot_next_holder(s->snapshot, &holders)) != NULL) {
        if (one == NULL || one == s->holder)
            status = scan_collection(s);
    }
    tansu_buffer_free(&s->key);
    return status;
}

/* ---- Finding ---- */

/* A list of what was found. */
typedef struct listing {
    writer w;
    uint64_t count;
    uint64_t documents;
    uint32_t collection; /* and record id of the last document */
    uint64_t rid;
} listing;

/* list_one -- a visitor that lists what dangles. */
static tansu_status list_one(scan *s, const reference *by, const doc_value *value) {
    listing *l = s->context;
    doc_value id = {.type = DOC_MISSING};
    if (l->count == 0 || l->collection != s->holder->id || l->rid != s->rid)
        l->documents++;
    l->collection = s->holder->id;
    l->rid = s->rid;
    if (l->count++ >= s->search->limit)
        return TANSU_OK;
    doc_find_id(s->doc, s->size, &id);
    size_t one = writer_open_index(&l->w, (uint32_t)(l->count - 1), DOC_DOCUMENT);
    writer_string(&l->w, "collection", s->holder->name);
    writer_value(&l->w, "_id", &id);
    writer_string(&l->w, "path", by->path.text);
    writer_string(&l->w, "to", by->to);
    writer_value(&l->w, "value", value);
    writer_end(&l->w, one);
    return l->w.failed ? error_memory(s->error) : TANSU_OK;
}

tansu_status dangling_find(const dangling_search *search, const snapshot *v,
                           const read_context *rctx, tansu_buffer *result, tansu_error *error) {
    listing l = {.w = {.out = result}};
    scan s = {.search = search,
              .snapshot = v,
              .rctx = rctx,
              .visit = list_one,
              .context = &l,
              .error = error};
    result->size = 0;
    size_t document = writer_begin(&l.w);
    size_t list = writer_open(&l.w, "references", DOC_ARRAY);
    tansu_status status = run(&s);
    writer_end(&l.w, list);
    writer_int64(&l.w, "count", (int64_t)l.count);
    writer_int64(&l.w, "documents", (int64_t)l.documents);
    if (status == TANSU_OK && !writer_finish(&l.w, document))
        status = error_memory(error);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

/* ---- Repairing ---- */

/* What a repair is to change. */
typedef struct repairing {
    document_set nullified;
    document_set removed;
} repairing;

/* note_one -- a visitor that notes what has to be done. */
static tansu_status note_one(scan *s, const reference *by, const doc_value *value) {
    (void)value;
    repairing *r = s->context;
    const document_place place = {s->holder->id, s->rid};
    bool noted = by->rule == DELETE_CASCADE   ? document_set_add(&r->removed, place)
                 : by->rule == DELETE_NULLIFY ? document_set_add(&r->nullified, place)
                                              : true;
    return noted ? TANSU_OK : error_memory(s->error);
}

/* What the test of the values needs. */
typedef struct testing {
    read_context rctx;
    tansu_buffer key;
} testing;

/* test_value -- a nullify_test. */
static tansu_status test_value(void *context, const collection_state *target,
                               const doc_value *value, bool *goes, tansu_error *error) {
    testing *t = context;
    return dangles(&t->rctx, target, value, &t->key, goes, error);
}

/* take_out -- the values of the documents that stay. */
static tansu_status take_out(const repairing *r, write_txn *wtxn, const deadline *time,
                             uint64_t *values, tansu_error *error) {
    testing t = {.rctx = write_txn_read_context(wtxn)};
    nullifier n = {.test = test_value, .context = &t};
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->nullified.count; i++) {
        if (i % STEP == 0)
            status = deadline_check(time, error);
        if (status == TANSU_OK && !document_set_has(&r->removed, r->nullified.items[i]))
            status = nullify_document(&n, wtxn, r->nullified.items[i], values, error);
    }
    nullifier_free(&n);
    tansu_buffer_free(&t.key);
    return status;
}

/* remove_holders -- the documents that go, in runs of one collection. */
static tansu_status remove_holders(const repairing *r, write_txn *wtxn, const deadline *time,
                                   tansu_error *error) {
    const document_set *set = &r->removed;
    uint64_t *rids = malloc((set->count + 1) * sizeof *rids);
    tansu_status status = rids == NULL ? error_memory(error) : TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < set->count;) {
        const uint32_t collection = set->items[i].collection;
        size_t count = 0;
        for (; i < set->count && set->items[i].collection == collection; i++)
            rids[count++] = set->items[i].rid;
        status = write_txn_flush(wtxn, error);
        if (status == TANSU_OK)
            status =
                delete_rules_remove(wtxn, snapshot_collection_by_id(wtxn->next, collection)->name,
                                    rids, count, time, error);
    }
    free(rids);
    return status;
}

tansu_status dangling_repair(const dangling_search *search, write_txn *wtxn, uint64_t *values,
                             uint64_t *documents, tansu_error *error) {
    repairing r = {.removed = {.count = 0}};
    const read_context v = write_txn_read_context(wtxn);
    scan s = {.search = search,
              .snapshot = wtxn->next,
              .rctx = &v,
              .visit = note_one,
              .context = &r,
              .error = error};
    *values = 0;
    tansu_status status = run(&s);
    if (status == TANSU_OK)
        status = take_out(&r, wtxn, search->time, values, error);
    if (status == TANSU_OK)
        status = remove_holders(&r, wtxn, search->time, error);
    *documents = r.removed.count;
    document_set_free(&r.nullified);
    document_set_free(&r.removed);
    return status;
}
