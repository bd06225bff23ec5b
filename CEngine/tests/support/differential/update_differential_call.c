/*
 * support/differential/update_differential_call.c -- one call on both collections and the model.
 * See update_differential.h.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/differential/update_differential_internal.h"

#include <string.h>
#include <time.h>

/* What a call is made of; NULL where it is not there. */
typedef struct parts {
    const char *mode;
    const bson_t *query;
    const bson_t *update;
    const bson_t *hints;
    bson_t documents[3];
} parts;

/* milliseconds -- since 1970. */
static int64_t milliseconds(void) {
    struct timespec now;
    REQUIRE(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* document_at -- a document by its key; NULL when there is none. */
static const bson_t *document_at(const bson_t *doc, const char *key, bson_t *room) {
    bson_iter_t iter;
    const uint8_t *data;
    uint32_t size;
    if (!bson_iter_init_find(&iter, doc, key) || !BSON_ITER_HOLDS_DOCUMENT(&iter))
        return NULL;
    bson_iter_document(&iter, &size, &data);
    REQUIRE(bson_init_static(room, data, size));
    return room;
}

/* read_parts -- takes a call apart; false when a part is missing. */
static bool read_parts(const bson_t *call, parts *p) {
    bson_iter_t iter;
    memset(p, 0, sizeof *p);
    if (!bson_iter_init_find(&iter, call, "mode") || !BSON_ITER_HOLDS_UTF8(&iter))
        return false;
    p->mode = bson_iter_utf8(&iter, NULL);
    p->query = document_at(call, "query", &p->documents[0]);
    p->update = document_at(call, "update", &p->documents[1]);
    p->hints = document_at(call, "hints", &p->documents[2]);
    return true;
}

/* ---- Whether a call makes sense ---- */

/* is_query -- whether the engine takes it for one. */
static bool is_query(update_run *p, const bson_t *query, const bson_t *hints) {
    int64_t count;
    return tansu_count(p->db, NULL, PLAIN, document_of(query), document_of(hints), &count, NULL) ==
           TANSU_OK;
}

/* copy_some -- the fields of a document that are in a list, or those that are not. */
static bson_t *copy_some(const bson_t *doc, const char *const *names, bool listed) {
    bson_t *result = bson_new();
    bson_iter_t iter;
    if (doc == NULL || !bson_iter_init(&iter, doc))
        return result;
    while (bson_iter_next(&iter)) {
        bool found = false;
        for (const char *const *name = names; *name != NULL; name++)
            found = found || strcmp(*name, bson_iter_key(&iter)) == 0;
        if (found == listed)
            bson_append_iter(result, bson_iter_key(&iter), -1, &iter);
    }
    return result;
}

/* good_conditions -- whether the conditions of $pull and of array filters are such. */
static bool good_conditions(update_run *p, const parts *call) {
    bson_iter_t iter, each;
    bool good = true;
    if (call->update != NULL && bson_iter_init_find(&iter, call->update, "$pull") &&
        BSON_ITER_HOLDS_DOCUMENT(&iter)) {
        REQUIRE(bson_iter_recurse(&iter, &each));
        while (bson_iter_next(&each)) {
            bson_t query = BSON_INITIALIZER;
            bson_append_iter(&query, "e", 1, &each);
            good = good && is_query(p, &query, NULL);
            bson_destroy(&query);
        }
    }
    if (call->hints != NULL && bson_iter_init_find(&iter, call->hints, "$arrayFilters")) {
        if (!BSON_ITER_HOLDS_ARRAY(&iter) || !bson_iter_recurse(&iter, &each))
            return false;
        while (bson_iter_next(&each)) {
            const uint8_t *data;
            uint32_t size;
            bson_t query;
            if (!BSON_ITER_HOLDS_DOCUMENT(&each))
                return false;
            bson_iter_document(&each, &size, &data);
            REQUIRE(bson_init_static(&query, data, size));
            good = good && bson_count_keys(&query) == 1 && is_query(p, &query, NULL);
        }
    }
    return good;
}

/* good_beside -- whether $upsert and $dropall are what they may be. */
static bool good_beside(const bson_t *doc) {
    bson_iter_t iter;
    bool good = true;
    if (doc != NULL && bson_iter_init_find(&iter, doc, "$upsert"))
        good = BSON_ITER_HOLDS_BOOL(&iter) || BSON_ITER_HOLDS_INT32(&iter) ||
               BSON_ITER_HOLDS_DOCUMENT(&iter);
    if (doc != NULL && bson_iter_init_find(&iter, doc, "$dropall"))
        good = good && BSON_ITER_HOLDS_BOOL(&iter);
    return good;
}

/* is_beside -- whether there is $upsert or $dropall: then an update may be left out. */
static bool is_beside(const bson_t *doc) {
    return doc != NULL && (bson_has_field(doc, "$upsert") || bson_has_field(doc, "$dropall"));
}

/* makes_sense -- whether the model may be asked: the query, hints and conditions are valid. */
static bool makes_sense(update_run *p, const parts *call) {
    static const char *const beside[] = {"$upsert", "$dropall", NULL};
    static const char *const window[] = {"$orderby", "$skip", "$max", "$collation", NULL};
    static const char *const others[] = {"$index", "$upsert", "$arrayFilters", "$fields", NULL};
    bson_iter_t id;
    if (strcmp(call->mode, "insert") == 0)
        return call->update != NULL && bson_iter_init_find(&id, call->update, "_id");
    bson_t *query = copy_some(call->query, beside, false);
    bson_t *hints = copy_some(call->hints, others, false);
    bson_t *known = copy_some(hints, window, true);
    bool good = bson_equal(hints, known) && good_beside(call->query) && good_beside(call->update) &&
                good_beside(call->hints) && is_query(p, query, hints) && good_conditions(p, call) &&
                (call->update != NULL || is_beside(call->query) || is_beside(call->hints) ||
                 strcmp(call->mode, "remove") == 0);
    bson_destroy(query);
    bson_destroy(hints);
    bson_destroy(known);
    return good;
}

/* ---- The call ---- */

/* note_call -- the first difference, with the call. */
static bool note_call(update_run *p, const char *collection, const char *what, const char *engine,
                      const char *model) {
    return update_run_note(p, "%s: %s\nengine %s\nmodel  %s", collection, what, engine, model);
}

/* note_documents -- the same of two documents, either of which may be NULL. */
static bool note_documents(update_run *p, const char *collection, const char *what,
                           const bson_t *engine, const bson_t *model) {
    char *is = engine != NULL ? bson_as_canonical_extended_json(engine, NULL) : NULL;
    char *be = model != NULL ? bson_as_canonical_extended_json(model, NULL) : NULL;
    note_call(p, collection, what, is != NULL ? is : "nothing", be != NULL ? be : "nothing");
    bson_free(is);
    bson_free(be);
    return false;
}

/* same_counts -- what tansu_update() reported. */
static bool same_counts(update_run *p, const char *collection, const tansu_buffer *answer,
                        const update_model_result *model) {
    bson_t engine, expected = BSON_INITIALIZER, list;
    bson_iter_t iter, id;
    REQUIRE(bson_init_static(&engine, answer->data, answer->size));
    bson_append_int64(&expected, "matched", -1, model->matched);
    bson_append_int64(&expected, "modified", -1, model->modified);
    bson_append_array_begin(&expected, "upserted", -1, &list);
    bool new_id = false;
    if (model->upserted && model->named) {
        REQUIRE(bson_iter_init_find(&id, p->differential.docs[p->differential.count - 1], "_id"));
        bson_append_iter(&list, "0", 1, &id);
    } else if (model->upserted && bson_iter_init_find(&iter, &engine, "upserted") &&
               bson_iter_recurse(&iter, &id) && bson_iter_next(&id) && BSON_ITER_HOLDS_OID(&id)) {
        bson_append_iter(&list, "0", 1, &id);
        new_id = true;
    }
    bson_append_array_end(&expected, &list);
    if (model->removed >= 0)
        bson_append_int64(&expected, "removed", -1, model->removed);
    bool same = bson_equal(&engine, &expected) && new_id == (model->upserted && !model->named);
    if (!same)
        note_documents(p, collection, "counts", &engine, &expected);
    bson_destroy(&expected);
    return same;
}

/* same_document -- what tansu_find_and_modify() reported. */
static bool same_document(update_run *p, const char *collection, const tansu_buffer *answer,
                          const bson_t *model) {
    bson_t engine;
    bool there = answer->size != 0;
    if (there)
        REQUIRE(bson_init_static(&engine, answer->data, answer->size));
    if (there == (model != NULL) && (!there || update_run_same(p, &engine, model)))
        return true;
    return note_documents(p, collection, "returned", there ? &engine : NULL, model);
}

/* model_mode -- the mode as the model has it. */
static int model_mode(const char *mode) {
    return strcmp(mode, "before") == 0   ? TANSU_MODIFY_RETURN_BEFORE
           : strcmp(mode, "after") == 0  ? TANSU_MODIFY_RETURN_AFTER
           : strcmp(mode, "remove") == 0 ? TANSU_MODIFY_REMOVE
                                         : -1;
}

/* call_engine -- the call on a collection. */
static tansu_status call_engine(update_run *p, const char *collection, const parts *call,
                                tansu_buffer *answer) {
    static const char *const index[] = {"$index", NULL};
    bson_iter_t iter;
    int mode = model_mode(call->mode);
    tansu_status status;
    if (strcmp(call->mode, "insert") == 0)
        return call_save_bson(p->db, NULL, collection, TANSU_INSERT, call->update);
    bson_t *hints = copy_some(call->hints, index, false);
    if (call->hints != NULL && bson_iter_init_find(&iter, call->hints, "$index") &&
        (strcmp(collection, INDEXED) == 0 || BSON_ITER_HOLDS_BOOL(&iter)))
        bson_append_iter(hints, "$index", -1, &iter);
    if (mode < 0)
        status = tansu_update(p->db, NULL, collection, document_of(call->query),
                              document_of(call->update), document_of(hints), answer, &call_error);
    else
        status = tansu_find_and_modify(p->db, NULL, collection, document_of(call->query),
                                       document_of(call->update), document_of(hints),
                                       (tansu_modify_mode)mode, answer, &call_error);
    bson_destroy(hints);
    return status;
}

/* call_model -- the call on the model. */
static void call_model(update_run *p, const parts *call, update_model_result *model) {
    update_model_call asked = {call->query, call->update, call->hints, model_mode(call->mode)};
    if (strcmp(call->mode, "insert") != 0) {
        update_model_run(&p->differential, &asked, model);
        return;
    }
    memset(model, 0, sizeof *model);
    for (size_t i = 0; i < p->differential.count; i++) {
        if (update_model_same_ids(call->update, p->differential.docs[i]))
            model->problems |= UPDATE_MODEL_REFUSES(TANSU_E_EXISTS);
    }
    if (!update_model_may_save(&p->differential, call->update, SIZE_MAX))
        model->problems |= UPDATE_MODEL_REFUSES(TANSU_E_NOT_UNIQUE);
    if (model->problems != 0)
        return;
    p->differential.docs = bson_realloc(p->differential.docs,
                                        (p->differential.count + 1) * sizeof *p->differential.docs);
    p->differential.docs[p->differential.count++] = bson_copy(call->update);
}

/* compare_call -- the call on one collection, and what it reported. */
static bool compare_call(update_run *p, const char *collection, const parts *call,
                         const update_model_result *model) {
    tansu_buffer answer = TANSU_BUFFER_INIT;
    char expected[100];
    tansu_status status = call_engine(p, collection, call, &answer);
    bool good = status == TANSU_OK ? model->problems == 0
                                   : (model->problems & UPDATE_MODEL_REFUSES(status)) != 0;
    p->to = milliseconds();
    snprintf(expected, sizeof expected, "%s (set %llx)", model->problems == 0 ? "OK" : "refuses",
             (unsigned long long)model->problems);
    if (!good)
        note_call(p, collection, tansu_status_name(status),
                  status == TANSU_OK ? "OK" : call_error.message, expected);
    else if (status == TANSU_OK && strcmp(call->mode, "insert") != 0)
        good = model_mode(call->mode) < 0 ? same_counts(p, collection, &answer, model)
                                          : same_document(p, collection, &answer, model->returned);
    tansu_buffer_free(&answer);
    return good;
}

bool update_run_call(update_run *p, const bson_t *call) {
    parts asked;
    update_model_result model;
    if (!read_parts(call, &asked) || !makes_sense(p, &asked)) {
        p->result->senseless = true;
        return true;
    }
    p->from = milliseconds();
    call_model(p, &asked, &model);
    bool good = compare_call(p, PLAIN, &asked, &model) && compare_call(p, INDEXED, &asked, &model);
    p->result->compared += strcmp(asked.mode, "insert") != 0;
    p->result->applied += strcmp(asked.mode, "insert") != 0 && model.problems == 0 &&
                          (model.matched != 0 || model.upserted);
    p->result->refused += strcmp(asked.mode, "insert") != 0 && model.problems != 0;
    if (model.returned != NULL)
        bson_destroy(model.returned);
    return good;
}
