/*
 * support/differential/query_differential.c -- the operations on both, and their comparison.
 */
#include "support/differential/query_differential.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/query_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- What differs ---- */

/* differ -- notes a difference, with both answers; always false. */
static bool differ(differential *w, const char *what, tansu_status status, const char *engine,
                   const char *model) {
    differential_mismatch *d = &w->difference;
    bson_free(d->engine);
    bson_free(d->model);
    d->what = what;
    d->status = status;
    d->engine = bson_strdup(engine);
    d->model = bson_strdup(model);
    return false;
}

/* note_document -- keeps a part of the question that differed. */
static void note_document(bson_t **place, const bson_t *doc) {
    bson_destroy(*place);
    *place = bson_copy(doc);
}

/* record -- adds a step to the history; ends with the document given. */
static void record(differential *w, const char *role, bson_t *step) {
    if (!w->plays)
        reduction_add(&w->history, role, step, true);
    bson_destroy(step);
}

/* ---- The database ---- */

void differential_open(differential *w, bool stored, bool small, differential_counts *counts) {
    *w = (differential){.folder = stored ? folder_new() : NULL, .counts = counts};
    w->options = call_options(w->folder);
    if (small) {
        w->options.checkpoint_bytes = 20000;
        w->options.index_cache_bytes = 1;
    }
    w->db = call_open_with(&w->options);
}

void differential_close(differential *w) {
    if (w->db)
        call_close(w->db);
    if (w->folder)
        folder_end(w->folder);
    for (size_t i = 0; i < w->count; i++)
        bson_destroy(w->docs[i]);
    for (size_t i = 0; i < w->index_count; i++) {
        bson_destroy(w->indexes[i].keys);
        bson_destroy(w->indexes[i].options);
    }
    reduction_free(&w->history);
    bson_destroy(w->difference.query);
    bson_destroy(w->difference.hints);
    bson_destroy(w->difference.asked);
    bson_free(w->difference.engine);
    bson_free(w->difference.model);
    *w = (differential){.db = NULL};
}

bool differential_reopen(differential *w, bool rebuild) {
    tansu_error error = {.code = TANSU_OK};
    record(w, "reopen", BCON_NEW("rebuild", BCON_BOOL(rebuild)));
    tansu_status status = tansu_shutdown(w->db, &error);
    if (status == TANSU_OK) {
        w->db = NULL;
        if (rebuild)
            folder_remove(folder_join(w->folder, "index"));
        status = tansu_open(&w->options, &w->db, &error);
    }
    w->counts->rebuilt += rebuild;
    w->counts->reopened += !rebuild;
    return status == TANSU_OK || differ(w, "open", status, error.message, "opens again");
}

/* ---- Documents and indexes ---- */

/* same_judgement -- whether the engine refused what the model refuses, and did what it permits. */
static bool same_judgement(differential *w, const char *what, bool permitted, tansu_status status,
                           const tansu_error *error) {
    if (status == (permitted ? TANSU_OK : TANSU_E_NOT_UNIQUE))
        return true;
    return differ(w, what, status, status == TANSU_OK ? "done" : error->message,
                  permitted ? "done" : "not unique");
}

/* id_of -- a document's `_id`. */
static bool id_of(const bson_t *doc, int32_t *id) {
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, doc, "_id") || !BSON_ITER_HOLDS_INT32(&iter))
        return false;
    *id = bson_iter_int32(&iter);
    return true;
}

/* place_of -- where the document with an `_id` is, or the place after the last. */
static size_t place_of(const differential *w, int32_t id) {
    size_t at = 0;
    int32_t other;
    while (at < w->count && !(id_of(w->docs[at], &other) && other == id))
        at++;
    return at;
}

/* may_save -- whether no unique index has another document that collides. */
static bool may_save(const differential *w, const bson_t *doc, size_t at) {
    for (size_t i = 0; i < w->index_count; i++) {
        const differential_index *index = &w->indexes[i];
        for (size_t k = 0; model_is_unique(index->options) && k < w->count; k++) {
            if (k != at && model_collide(w->docs[k], doc, index->keys, index->options))
                return false;
        }
    }
    return true;
}

bool differential_save(differential *w, const bson_t *doc) {
    int32_t id;
    size_t at = id_of(doc, &id) ? place_of(w, id) : DIFFERENTIAL_DOCS;
    if (at == DIFFERENTIAL_DOCS)
        return differ(w, "case", TANSU_OK, "", "");
    bool permitted = may_save(w, doc, at);
    tansu_error error = {.code = TANSU_OK};
    tansu_document document = document_of(doc);
    record(w, "document", bson_copy(doc));
    tansu_status status = tansu_save(w->db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error);
    if (!same_judgement(w, "save", permitted, status, &error))
        return false;
    w->counts->saves_refused += !permitted;
    if (!permitted)
        return true;
    if (at < w->count)
        bson_destroy(w->docs[at]);
    else
        w->count++;
    w->docs[at] = bson_copy(doc);
    return true;
}

/* may_index -- whether no two documents collide in it. */
static bool may_index(const differential *w, const bson_t *keys, const bson_t *options) {
    for (size_t i = 0; model_is_unique(options) && i < w->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (model_collide(w->docs[k], w->docs[i], keys, options))
                return false;
        }
    }
    return true;
}

/* create -- in the engine, by either of its ways. */
static tansu_status create(differential *w, const char *name, const bson_t *keys,
                           const bson_t *options, bool background, tansu_error *error) {
    *error = (tansu_error){.code = TANSU_OK};
    if (background)
        return tansu_index_create(w->db, NULL, "c", name, document_of(keys), document_of(options),
                                  NULL, NULL, error);
    return tansu_index_create(w->db, NULL, "c", name, document_of(keys), document_of(options), NULL,
                              NULL, error);
}

bool differential_create_index(differential *w, const char *name, const bson_t *keys,
                               const bson_t *options) {
    tansu_error error;
    if (w->index_count == DIFFERENTIAL_INDEXES)
        return differ(w, "case", TANSU_OK, "", "");
    record(w, "index",
           BCON_NEW("name", BCON_UTF8(name), "keys", BCON_DOCUMENT(keys), "options",
                    BCON_DOCUMENT(options)));
    tansu_status status = create(w, name, keys, options, false, &error);
    /* The engine is asked first: a smaller case may have keys or options that make no sense. */
    if (status != TANSU_OK && status != TANSU_E_NOT_UNIQUE)
        return differ(w, "index", status, error.message, "done");
    bool permitted = may_index(w, keys, options);
    if (!same_judgement(w, "index", permitted, status, &error))
        return false;
    w->counts->unique += permitted && model_is_unique(options);
    w->counts->unique_refused += !permitted;
    if (!permitted)
        return true;
    differential_index *index = &w->indexes[w->index_count++];
    snprintf(index->name, sizeof index->name, "%s", name);
    index->keys = bson_copy(keys);
    index->options = bson_copy(options);
    return true;
}

bool differential_rebuild_index(differential *w, size_t at, bool background) {
    const differential_index *index = &w->indexes[at];
    tansu_error error = {.code = TANSU_OK};
    record(w, "again",
           BCON_NEW("name", BCON_UTF8(index->name), "background", BCON_BOOL(background)));
    tansu_status status = tansu_index_drop(w->db, NULL, "c", index->name, &error);
    if (status == TANSU_OK)
        status = create(w, index->name, index->keys, index->options, background, &error);
    w->counts->remade++;
    return same_judgement(w, "index", true, status, &error);
}

/* ---- Questions ---- */

/* add_id -- appends what identifies a document: its `_id`, or its number when it is not the one
 * that was saved. */
static void add_id(bson_string_t *text, const differential *w, const tansu_document *document) {
    bson_t doc;
    int32_t id;
    REQUIRE(bson_init_static(&doc, document->data, document->size));
    size_t at = id_of(&doc, &id) ? place_of(w, id) : w->count;
    bool same = at < w->count && w->docs[at]->len == doc.len &&
                memcmp(bson_get_data(w->docs[at]), document->data, document->size) == 0;
    if (at == w->count)
        bson_string_append(text, " (no document of ours)");
    else
        bson_string_append_printf(text, " %d%s", id, same ? "" : " (not as it was saved)");
}

/* model_answer -- the `_id`s that the model finds. */
static char *model_answer(const differential *w, const bson_t *query, const bson_t *hints,
                          size_t *count) {
    size_t found[DIFFERENTIAL_DOCS];
    *count = model_find(w->docs, w->count, query, hints, found);
    bson_string_t *text = bson_string_new(NULL);
    for (size_t i = 0; i < *count; i++) {
        int32_t id = 0;
        id_of(w->docs[found[i]], &id);
        bson_string_append_printf(text, " %d", id);
    }
    return bson_string_free(text, false);
}

/* engine_answer -- the `_id`s that the engine finds, or the error's message. */
static char *engine_answer(differential *w, const bson_t *query, const bson_t *hints,
                           tansu_status *status) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_error error = {.code = TANSU_OK};
    bson_string_t *text = bson_string_new(NULL);
    w->counts->answers++;
    *status = tansu_find(w->db, NULL, "c", document_of(query), document_of(hints), &cursor, &error);
    while (*status == TANSU_OK) {
        *status = tansu_cursor_next(cursor, &document, &error);
        if (*status == TANSU_OK)
            add_id(text, w, &document);
    }
    tansu_cursor_close(cursor);
    if (*status == TANSU_DONE) {
        *status = TANSU_OK;
        return bson_string_free(text, false);
    }
    bson_string_free(text, true);
    return bson_strdup(error.message);
}

/* same_count -- whether the engine counts as many. */
static bool same_count(differential *w, const bson_t *query, const bson_t *hints, size_t count) {
    int64_t number = -1;
    tansu_error error = {.code = TANSU_OK};
    char expected[24], said[24];
    tansu_status status =
        tansu_count(w->db, NULL, "c", document_of(query), document_of(hints), &number, &error);
    if (status == TANSU_OK && number == (int64_t)count)
        return true;
    snprintf(expected, sizeof expected, "%zu", count);
    snprintf(said, sizeof said, "%" PRId64, number);
    return differ(w, "count", status, status == TANSU_OK ? said : error.message, expected);
}

/* ask_one -- a query with certain hints, against the model's answer. */
static bool ask_one(differential *w, const bson_t *query, const bson_t *hints, const char *expected,
                    size_t count) {
    tansu_status status;
    char *said = engine_answer(w, query, hints, &status);
    bool same = status == TANSU_OK && strcmp(said, expected) == 0;
    if (!same)
        differ(w, "find", status, said, expected);
    else
        same = same_count(w, query, hints, count);
    if (!same)
        note_document(&w->difference.asked, hints);
    bson_free(said);
    return same;
}

/* is_wildcard -- whether an index is over all paths, or all below one. */
static bool is_wildcard(const differential_index *index) {
    bson_iter_t iter;
    size_t size;
    if (!bson_iter_init(&iter, index->keys) || !bson_iter_next(&iter))
        return false;
    size = strlen(bson_iter_key(&iter));
    return size >= 2 && strcmp(bson_iter_key(&iter) + size - 2, "**") == 0;
}

/* lacks -- whether an index leaves documents out, so that a query may be refused it. */
static bool lacks(const differential_index *index) {
    return is_wildcard(index) || bson_has_field(index->options, "sparse") ||
           bson_has_field(index->options, "partialFilter");
}

/* refused_index -- whether the engine can't prove that the index which the hints name has every
 * match. It must say so; this is asked of sparse and partial ones only. */
static bool refused_index(differential *w, const bson_t *query, const bson_t *hints) {
    int64_t number;
    tansu_error error;
    tansu_status status =
        tansu_count(w->db, NULL, "c", document_of(query), document_of(hints), &number, &error);
    bool refused = status == TANSU_E_INVALID_QUERY && strcmp(error.context, "hints.$index") == 0;
    w->counts->lacking++;
    w->counts->refused += refused;
    return refused;
}

/* is_folded -- whether an index and the hints are both without regard to letter case. */
static bool is_folded(const differential_index *index, const bson_t *hints) {
    bson_iter_t iter, feed_model;
    return bson_has_field(index->options, "caseInsensitive") &&
           bson_iter_init_find(&iter, hints, "$collation") && BSON_ITER_HOLDS_DOCUMENT(&iter) &&
           bson_iter_recurse(&iter, &feed_model) &&
           bson_iter_find(&feed_model, "caseInsensitive") && bson_iter_as_bool(&feed_model);
}

/* is_bounded -- whether the plan reads ranges of an index, and not the whole of it. */
static bool is_bounded(const differential *w, const bson_t *query, const bson_t *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t plan;
    bson_iter_t iter, ranges, each;
    bool bounded = tansu_explain(w->db, NULL, "c", document_of(query), document_of(hints), &result,
                                 NULL) == TANSU_OK &&
                   bson_init_static(&plan, result.data, result.size) &&
                   bson_iter_init(&iter, &plan) &&
                   bson_iter_find_descendant(&iter, "plan.ranges", &ranges) &&
                   bson_iter_recurse(&ranges, &each) && bson_iter_next(&each);
    tansu_buffer_free(&result);
    return bounded;
}

/* ask_with -- the same with the index of that number; 0: none, 1: that of `_id`s. */
static bool ask_with(differential *w, const bson_t *query, const bson_t *hints, size_t which,
                     const char *expected, size_t count) {
    const differential_index *index = which < 2 ? NULL : &w->indexes[which - 2];
    bson_t *forced = bson_copy(hints);
    bool same = true;
    if (which == 0)
        bson_append_bool(forced, "$index", -1, false);
    else
        bson_append_utf8(forced, "$index", -1, index ? index->name : "_id", -1);
    if (!index || !lacks(index) || !refused_index(w, query, forced)) {
        w->counts->folded += index && is_folded(index, hints) && is_bounded(w, query, forced);
        w->counts->wildcard += index && is_wildcard(index);
        same = ask_one(w, query, forced, expected, count);
    }
    bson_destroy(forced);
    return same;
}

/* ask_all -- one query in all ways. */
static bool ask_all(differential *w, const bson_t *query, const bson_t *hints) {
    tansu_error error = {.code = TANSU_OK};
    tansu_buffer plan = TANSU_BUFFER_INIT;
    size_t count;
    /* A smaller case may ask what the model need not understand. */
    tansu_status status =
        tansu_explain(w->db, NULL, "c", document_of(query), document_of(hints), &plan, &error);
    tansu_buffer_free(&plan);
    if (status != TANSU_OK)
        return differ(w, "explain", status, error.message, "an answer");
    char *expected = model_answer(w, query, hints, &count);
    bool same = ask_one(w, query, hints, expected, count);
    for (size_t i = 0; same && i < w->index_count + 2; i++)
        same = ask_with(w, query, hints, i, expected, count);
    bson_free(expected);
    return same;
}

bool differential_query(differential *w, const bson_t *query, const bson_t *hints) {
    if (ask_all(w, query, hints))
        return true;
    note_document(&w->difference.query, query);
    note_document(&w->difference.hints, hints);
    return false;
}

bool differential_remove(differential *w, const bson_t *query, const bson_t *hints) {
    size_t gone[DIFFERENTIAL_DOCS];
    int64_t removed = -1;
    tansu_error error = {.code = TANSU_OK};
    if (!differential_query(w, query, hints))
        return false;
    size_t count = model_find(w->docs, w->count, query, hints, gone);
    record(w, "remove", BCON_NEW("query", BCON_DOCUMENT(query), "hints", BCON_DOCUMENT(hints)));
    tansu_status status =
        tansu_remove(w->db, NULL, "c", document_of(query), document_of(hints), &removed, &error);
    char expected[24], said[24];
    snprintf(expected, sizeof expected, "%zu", count);
    snprintf(said, sizeof said, "%" PRId64, removed);
    if (status != TANSU_OK || removed != (int64_t)count)
        return differ(w, "remove", status, status == TANSU_OK ? said : error.message, expected);
    for (size_t i = 0; i < count; i++) {
        bson_destroy(w->docs[gone[i]]);
        w->docs[gone[i]] = NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->docs[i])
            w->docs[kept++] = w->docs[i];
    }
    w->count = kept;
    return true;
}
