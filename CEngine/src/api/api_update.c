/*
 * api/api_update.c -- updating documents by a query: in one commit, with counts of the result.
 */
#include "api/handles.h"

#include "bson/writer.h"
#include "query/update/update.h"
#include "rules/rules.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- The request ---- */

/* A call's query and operations, taken apart and compiled. */
typedef struct request {
    tansu_buffer selector; /* the query without $upsert and $dropall */
    tansu_buffer hints;    /* those that the query part knows */
    tansu_buffer extra;    /* $upsert and $dropall from the query and the hints */
    tansu_buffer filters;  /* {"$arrayFilters": […]}, or nothing */
    query *query;
    update *update; /* NULL: remove */
    match_context context;
    deadline time; /* what stops the call */
    update_case how;
} request;

/* request_free -- ends what a request holds. */
static void request_free(request *r) {
    tansu_buffer_free(&r->selector);
    tansu_buffer_free(&r->hints);
    tansu_buffer_free(&r->extra);
    tansu_buffer_free(&r->filters);
    query_free(r->query);
    update_free(r->update);
    match_context_free(&r->context);
}

/* begin -- opens a document in a buffer. */
static writer begin(tansu_buffer *doc) {
    writer w = {.out = doc};
    doc->size = 0;
    writer_begin(&w);
    return w;
}

/* is_one_of -- whether a key is in a list. */
static bool is_one_of(const char *key, const char *const *list) {
    for (; *list != NULL; list++) {
        if (strcmp(key, *list) == 0)
            return true;
    }
    return false;
}

/* split_query -- takes $upsert and $dropall out of a query. */
static tansu_status split_query(request *r, tansu_document query, writer *extra,
                                tansu_error *error) {
    static const char *const ours[] = {"$upsert", "$dropall", NULL};
    doc_iter iter;
    writer selector = begin(&r->selector);
    if (query.data != NULL && doc_iter_init(&iter, query.data, query.size)) {
        while (doc_iter_next(&iter))
            writer_copy(is_one_of(iter.key, ours) ? extra : &selector, &iter);
    }
    return writer_finish(&selector, 0) && !extra->failed ? TANSU_OK : error_memory(error);
}

/* split_hints -- takes the hints of an update out, and refuses those that have no meaning in
 * one. */
static tansu_status split_hints(request *r, tansu_document hints, bool shows, writer *extra,
                                tansu_error *error) {
    static const char *const meaningless[] = {"$onlycount", "$explain", "$do", NULL};
    doc_iter iter;
    writer kept = begin(&r->hints);
    if (hints.data != NULL && doc_iter_init(&iter, hints.data, hints.size)) {
        while (doc_iter_next(&iter)) {
            if (is_one_of(iter.key, meaningless) || (!shows && strcmp(iter.key, "$fields") == 0)) {
                char context[sizeof error->context];
                snprintf(context, sizeof context, "hints.%s", iter.key);
                return error_set(error, TANSU_E_INVALID_QUERY, context,
                                 "The hint \"%s\" is not allowed in this call", iter.key);
            }
            if (strcmp(iter.key, "$arrayFilters") == 0) {
                if (r->filters.size != 0)
                    return error_set(error, TANSU_E_INVALID_QUERY, "hints.$arrayFilters",
                                     "The hint \"$arrayFilters\" is given twice");
                if (!writer_single(&r->filters, iter.key, &iter.value))
                    return error_memory(error);
                continue;
            }
            writer_copy(strcmp(iter.key, "$upsert") == 0 ? extra : &kept, &iter);
        }
    }
    return writer_finish(&kept, 0) && !extra->failed ? TANSU_OK : error_memory(error);
}

/* compile_update -- the operations, with $upsert and $dropall. */
static tansu_status compile_update(request *r, tansu_document given, tansu_error *error) {
    doc_value extra = {r->extra.data, (uint32_t)r->extra.size, DOC_DOCUMENT};
    doc_value filters = {.type = DOC_MISSING};
    if (r->filters.size != 0)
        doc_find(r->filters.data, r->filters.size, "$arrayFilters", 13, &filters);
    return update_compile(given.data, given.size, &extra, &filters, r->query, &r->update, error);
}

/* The arguments of a call. */
typedef struct call {
    tansu_document query;
    tansu_document update;
    tansu_document hints;
    bool removes; /* there are no operations, and the match goes */
    bool shows;   /* a document is returned, so that $fields has a meaning */
} call;

/* request_make -- checks and compiles the arguments. *r must be freed, also after an error. */
static tansu_status request_make(request *r, const call *c, const interrupt *stop,
                                 tansu_error *error) {
    *r = (request){.how = {.now = (uint64_t)clock_date()}};
    tansu_status status = check_bson(c->query, true, "query", error);
    if (status == TANSU_OK)
        status = check_bson(c->update, true, "update", error);
    if (status == TANSU_OK)
        status = check_bson(c->hints, true, "hints", error);
    writer extra_writer = begin(&r->extra);
    if (status == TANSU_OK)
        status = split_query(r, c->query, &extra_writer, error);
    if (status == TANSU_OK)
        status = split_hints(r, c->hints, c->shows, &extra_writer, error);
    if (status != TANSU_OK)
        return status;
    bool extra = r->extra.size > 4;
    if (c->removes && (extra || r->filters.size != 0))
        return error_set(
            error, TANSU_E_INVALID_QUERY, "hints",
            "\"$upsert\", \"$dropall\" and \"$arrayFilters\" are not allowed in a removal");
    if (!c->removes && c->update.data == NULL && !extra)
        return null_argument("update", error);
    if (!writer_finish(&extra_writer, 0))
        return error_memory(error);
    status = query_compile(r->selector.data, r->selector.size, r->hints.data, r->hints.size, stop,
                           &r->query, error);
    if (status == TANSU_OK && !c->removes)
        status = compile_update(r, c->update, error);
    r->how.matched = r->query;
    r->how.context = &r->context;
    return status;
}

/* ---- At work ---- */

/* What a call has come to. */
typedef struct outcome {
    int64_t matched;
    int64_t modified;
    int64_t removed;
    bool inserted;
    tansu_buffer id;     /* {"_id": …} of the document inserted */
    tansu_buffer before; /* the last match as it was, if wanted */
    tansu_buffer after;  /* the last document written */
    bool keep_before;
    bool counts;          /* `result` is for counts, not for a document */
    tansu_buffer *result; /* may be NULL */
} outcome;

/* outcome_free -- ends what it holds. */
static void outcome_free(outcome *o) {
    tansu_buffer_free(&o->id);
    tansu_buffer_free(&o->before);
    tansu_buffer_free(&o->after);
}

/* removes -- whether the matches go. */
static bool removes(const request *r) {
    return r->update == NULL || update_get_facts(r->update)->drops;
}

/* take_dates -- the document that was saved last, with the dates that the save has set. */
static tansu_status take_dates(const write_txn *c, const char *collection, outcome *o,
                               tansu_error *error) {
    return snapshot_collection(c->next, collection)->timestamps == NULL ||
                   buffer_set(&o->after, c->stamped.data, c->stamped.size)
               ? TANSU_OK
               : error_memory(error);
}

/* update_match -- updates one document, or notes one that is to be removed. */
static tansu_status update_match(const request *r, write_txn *c, const char *collection,
                                 uint64_t rid, outcome *o, tansu_error *error) {
    /* Any save may have moved the collection's state. */
    const collection_state *state = snapshot_collection(c->next, collection);
    read_context v = write_txn_read_context(c);
    doc_ref ref;
    uint32_t size;
    tansu_status status = read_find(&v, state, rid, &ref, error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *doc = read_document(&v, ref, &size);
    if (o->keep_before && !buffer_set(&o->before, doc, size))
        return error_memory(error);
    o->matched++;
    if (removes(r)) {
        o->removed++;
        return TANSU_OK;
    }
    status = update_apply(r->update, doc, size, &r->how, &o->after, error);
    if (status != TANSU_OK)
        return status;
    /* A replacement is written as a save is, also by an equal document. */
    if (!update_get_facts(r->update)->replaces && o->after.size == size &&
        memcmp(o->after.data, doc, size) == 0)
        return TANSU_OK;
    o->modified++;
    status =
        write_txn_save(c, collection, o->after.data, o->after.size, TANSU_REPLACE, 0, NULL, error);
    if (status == TANSU_E_INVALID_DOCUMENT)
        return name_document(o->after.data, o->after.size, "", status, error);
    return status == TANSU_OK ? take_dates(c, collection, o, error) : status;
}

/* insert -- what an upsert does when nothing matched. */
static tansu_status insert(request *r, write_txn *c, const char *collection, outcome *o,
                           tansu_error *error) {
    doc_value id;
    r->how.inserting = true;
    r->how.matched = NULL;
    /* What referenced documents have to satisfy is nothing that the new one could have. */
    const doc_value selector = query_selector(r->query);
    tansu_status status =
        update_insert(r->update, selector.data, selector.size, &r->how, &o->after, error);
    if (status == TANSU_OK)
        status = write_txn_save(c, collection, o->after.data, o->after.size, TANSU_INSERT, 0, &id,
                                error);
    if (status != TANSU_OK)
        return status;
    o->inserted = true;
    doc_value given;
    if (!writer_single(&o->id, "_id", &id))
        return error_memory(error);
    status = take_dates(c, collection, o, error);
    if (status != TANSU_OK)
        return status;
    if (doc_find_id(o->after.data, o->after.size, &given))
        return TANSU_OK;
    /* The `_id` that the save generated is the first field, as in the stored document. */
    tansu_buffer whole = TANSU_BUFFER_INIT;
    writer w = begin(&whole);
    writer_value(&w, "_id", &id);
    writer_bytes(&w, o->after.data + 4, o->after.size - 5);
    bool done = writer_finish(&w, 0) && buffer_set(&o->after, whole.data, whole.size);
    tansu_buffer_free(&whole);
    return done ? TANSU_OK : error_memory(error);
}

/* run -- determines the matches and changes them, in a write transaction. */
static tansu_status run(request *r, const write_call *w, const char *collection, outcome *o,
                        tansu_error *error) {
    write_txn *c = w->wtxn;
    uint64_t *rids = NULL;
    size_t count = 0;
    const update_facts *facts = r->update != NULL ? update_get_facts(r->update) : NULL;
    const collection_state *state;
    tansu_status status = snapshot_find(c->next, collection, &state, error);
    r->time = query_deadline(r->query, w->interrupt);
    r->context.deadline = &r->time;
    if (state != NULL) {
        read_context v = write_call_read_context(w);
        status = query_resolve(r->query, c->next, &v, state, false, error);
        if (status == TANSU_OK)
            status = query_rids(r->query, &v, state, &rids, &count, error);
    }
    if (status == TANSU_OK && facts != NULL && facts->replaces && count > 1)
        status = error_set(error, TANSU_E_INVALID_QUERY, "update",
                           "%zu documents match, and \"$replace\" can replace only one; give the "
                           "hint {\"$max\": 1}, or use \"$set\"",
                           count);
    for (size_t i = 0; status == TANSU_OK && i < count; i++) {
        status = write_call_check(w, error);
        if (status == TANSU_OK && i % CHANGE_STEP == 0)
            status = deadline_check(&r->time, error);
        if (status == TANSU_OK)
            status = update_match(r, c, collection, rids[i], o, error);
    }
    if (status == TANSU_OK && removes(r))
        status = delete_rules_remove(c, collection, rids, count, &r->time, error);
    free(rids);
    if (status == TANSU_OK && count == 0 && facts != NULL && facts->inserts)
        status = insert(r, c, collection, o, error);
    return status == TANSU_OK ? deadline_check(&r->time, error) : status;
}

/* ---- The calls ---- */

/* write_counts -- the result of tansu_update(). */
static bool write_counts(const outcome *o, bool drops, tansu_buffer *result) {
    doc_value id;
    writer w = begin(result);
    writer_int64(&w, "matched", o->matched);
    writer_int64(&w, "modified", o->modified);
    size_t ids = writer_open(&w, "upserted", DOC_ARRAY);
    if (o->inserted) {
        doc_find_id(o->id.data, o->id.size, &id);
        writer_index_value(&w, 0, &id);
    }
    writer_end(&w, ids);
    if (drops)
        writer_int64(&w, "removed", o->removed);
    return writer_finish(&w, 0);
}

/* answer -- fills in the result. */
static tansu_status answer(request *r, const outcome *o, tansu_error *error) {
    if (o->counts)
        return write_counts(o, update_get_facts(r->update)->drops, o->result) ? TANSU_OK
                                                                              : error_memory(error);
    const tansu_buffer *shown = o->keep_before ? &o->before : &o->after;
    if (shown->size == 0)
        return TANSU_OK;
    return query_project(r->query, &r->context, shown->data, shown->size, o->result, error);
}

/* perform -- the whole call. The result is built before the commit, so that a call that fails
 * changes nothing. */
static tansu_status perform(request *r, tansu_db *db, tansu_txn *txn, const char *collection,
                            outcome *o, tansu_error *error) {
    write_call w;
    tansu_status status = write_call_begin(&w, db, txn, error);
    if (status != TANSU_OK)
        return status;
    status = run(r, &w, collection, o, error);
    if (status == TANSU_OK && o->result != NULL)
        status = answer(r, o, error);
    status = write_call_end(&w, status, error);
    if (status != TANSU_OK && o->result != NULL)
        o->result->size = 0;
    return status;
}

/* update_documents -- tansu_update() without the slow-operation log. */
static tansu_status update_documents(tansu_db *db, tansu_txn *txn, const char *collection,
                                     tansu_document query, tansu_document update,
                                     tansu_document hints, tansu_buffer *result,
                                     tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    if (result != NULL)
        result->size = 0;
    const call c = {.query = query, .update = update, .hints = hints};
    request r;
    outcome o = {.counts = true, .result = result};
    tansu_status status = request_make(&r, &c, txn_stop(txn), error);
    if (status == TANSU_OK)
        status = perform(&r, db, txn, collection, &o, error);
    outcome_free(&o);
    request_free(&r);
    return status;
}

tansu_status tansu_update(tansu_db *db, tansu_txn *txn, const char *collection,
                          tansu_document query, tansu_document update, tansu_document hints,
                          tansu_buffer *result, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_UPDATE,
                        update_documents(db, txn, collection, query, update, hints, result, error),
                        collection, query, hints);
}

/* find_and_modify -- tansu_find_and_modify() without the slow-operation log. */
static tansu_status find_and_modify(tansu_db *db, tansu_txn *txn, const char *collection,
                                    tansu_document query, tansu_document update,
                                    tansu_document hints, tansu_modify_mode mode,
                                    tansu_buffer *result, tansu_error *error) {
    if (collection == NULL)
        return null_argument("collection", error);
    if ((unsigned)mode > TANSU_MODIFY_REMOVE ||
        (mode == TANSU_MODIFY_REMOVE && update.data != NULL))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "mode",
                         "The mode is out of range, or an update was passed with "
                         "TANSU_MODIFY_REMOVE; use a value of tansu_modify_mode");
    if (result != NULL)
        result->size = 0;
    const call c = {.query = query,
                    .update = update,
                    .hints = hints,
                    .removes = mode == TANSU_MODIFY_REMOVE,
                    .shows = true};
    request r;
    outcome o = {.keep_before = mode != TANSU_MODIFY_RETURN_AFTER, .result = result};
    tansu_status status = request_make(&r, &c, txn_stop(txn), error);
    if (status == TANSU_OK) {
        query_limit_to_one(r.query);
        status = perform(&r, db, txn, collection, &o, error);
    }
    outcome_free(&o);
    request_free(&r);
    return status;
}

tansu_status tansu_find_and_modify(tansu_db *db, tansu_txn *txn, const char *collection,
                                   tansu_document query, tansu_document update,
                                   tansu_document hints, tansu_modify_mode mode,
                                   tansu_buffer *result, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(
        &timer, TANSU_LOG_FIND_AND_MODIFY,
        find_and_modify(db, txn, collection, query, update, hints, mode, result, error), collection,
        query, hints);
}
