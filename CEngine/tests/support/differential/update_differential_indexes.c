/*
 * support/differential/update_differential_indexes.c -- what updates left in the indexes: each is
 * asked with a scan of all documents and the model, and has as many entries as when it is rebuilt.
 * See update_differential.h.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/differential/update_differential_internal.h"
#include "support/model/query_model.h"
#include "support/random/random_update.h"

#include <stdio.h>
#include <string.h>

#define QUERIES 3

/* index_name -- "i0", "i1" and so on. */
static const char *index_name(unsigned number, char name[12]) {
    snprintf(name, 12, "i%u", number);
    return name;
}

bool update_run_create_indexes(update_run *p) {
    const char *options, *keys;
    char name[12];
    for (unsigned i = 0; (keys = random_update_index(i, &options)) != NULL; i++) {
        if (call_index(p->db, NULL, INDEXED, index_name(i, name), keys, options) != TANSU_OK)
            return update_run_note(p, "index %u: %s", i, call_error.message);
    }
    return true;
}

/* entries -- how many an index has. */
static int64_t entries(update_run *p, const char *name) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_iter_t iter, each, field;
    int64_t result = -1;
    if (tansu_index_list(p->db, NULL, INDEXED, &list, &call_error) == TANSU_OK) {
        REQUIRE(bson_init_static(&doc, list.data, list.size));
        REQUIRE(bson_iter_init_find(&iter, &doc, "indexes") && bson_iter_recurse(&iter, &each));
        while (bson_iter_next(&each)) {
            bson_iter_t its;
            REQUIRE(bson_iter_recurse(&each, &field));
            its = field;
            if (bson_iter_find(&field, "name") && strcmp(bson_iter_utf8(&field, NULL), name) == 0 &&
                bson_iter_find(&its, "entries"))
                result = bson_iter_as_int64(&its);
        }
    }
    tansu_buffer_free(&list);
    return result;
}

/* answer -- the documents that a collection gives, or a status. */
static tansu_status answer(update_run *p, const char *collection, const bson_t *query,
                           const bson_t *hints, bson_t *docs) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    char key[12];
    tansu_status status = tansu_find(p->db, NULL, collection, document_of(query),
                                     document_of(hints), &cursor, &call_error);
    for (unsigned i = 0; status == TANSU_OK; i++) {
        bson_t doc;
        status = tansu_cursor_next(cursor, &document, &call_error);
        if (status != TANSU_OK)
            break;
        REQUIRE(bson_init_static(&doc, document.data, document.size));
        snprintf(key, sizeof key, "%u", i);
        bson_append_document(docs, key, -1, &doc);
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* expected -- what the model gives; of "n", whose numbers the model's matches do not know, and of
 * "**", which includes it, what a scan of the other collection gives. */
static void expected(update_run *p, const bson_t *query, bson_t *docs) {
    bson_t scan = BSON_INITIALIZER;
    bson_append_bool(&scan, "$index", -1, false);
    if (bson_has_field(query, "n") || bson_has_field(query, "**")) {
        CHECK_OK(answer(p, PLAIN, query, &scan, docs), &call_error);
    } else {
        size_t *hits = bson_malloc((p->differential.count + 1) * sizeof *hits);
        size_t count = model_find(p->differential.docs, p->differential.count, query, &scan, hits);
        for (size_t i = 0; i < count; i++) {
            char key[12];
            snprintf(key, sizeof key, "%u", (unsigned)i);
            bson_append_document(docs, key, -1, p->differential.docs[hits[i]]);
        }
        bson_free(hits);
    }
    bson_destroy(&scan);
}

/* ask -- whether a query gives what it should. An index that would lose some is refused; then
 * *asked stays. */
static bool ask(update_run *p, const bson_t *query, const bson_t *hints, const bson_t *should,
                unsigned *asked) {
    bson_t is = BSON_INITIALIZER;
    tansu_status status = answer(p, INDEXED, query, hints, &is);
    bool same = status == TANSU_OK ? bson_equal(&is, should)
                                   : strcmp(call_error.context, "hints.$index") == 0;
    *asked += status == TANSU_OK;
    if (!same) {
        char *q = bson_as_canonical_extended_json(query, NULL);
        char *h = bson_as_canonical_extended_json(hints, NULL);
        char *i = bson_as_canonical_extended_json(&is, NULL);
        char *s = bson_as_canonical_extended_json(should, NULL);
        update_run_note(p, "query %s hints %s %s\ngives  %s\nshould %s", q, h,
                        tansu_status_name(status), i, s);
        bson_free(q);
        bson_free(h);
        bson_free(i);
        bson_free(s);
    }
    bson_destroy(&is);
    return same;
}

/* index_query -- a query about the first path of an index, so that it can serve. */
static bson_t *index_query(random_source *r, const char *keys) {
    char path[20];
    bson_t *query = bson_new();
    REQUIRE(sscanf(keys, "{'%19[^']'", path) == 1);
    if (strcmp(path, "n") == 0)
        bson_append_int32(query, "n", 1, (int32_t)random_between(r, -2, 2));
    else
        random_update_condition(r, query, path);
    return query;
}

/* create_index -- some queries through an index, and without any. */
static bool create_index(update_run *p, random_source *r, const char *name, const char *keys) {
    bool good = true;
    for (unsigned i = 0; i < QUERIES && good; i++) {
        bson_t *query = i == 0 ? random_update_query(r) : index_query(r, keys);
        bson_t with = BSON_INITIALIZER, without = BSON_INITIALIZER, none = BSON_INITIALIZER;
        bson_append_utf8(&with, "$index", -1, name, -1);
        bson_append_bool(&without, "$index", -1, false);
        bson_t should = BSON_INITIALIZER;
        expected(p, query, &should);
        good = ask(p, query, &with, &should, &p->result->asked) &&
               ask(p, query, &without, &should, &p->result->asked) &&
               ask(p, query, &none, &should, &p->result->asked);
        bson_destroy(&should);
        bson_destroy(query);
        bson_destroy(&with);
        bson_destroy(&without);
        bson_destroy(&none);
    }
    return good;
}

bool update_run_query_indexes(update_run *p, uint64_t seed) {
    random_source r = random_from(seed);
    const char *options, *keys;
    char name[12];
    for (unsigned i = 0; (keys = random_update_index(i, &options)) != NULL; i++) {
        index_name(i, name);
        if (!create_index(p, &r, name, keys))
            return false;
        int64_t before = entries(p, name);
        if (tansu_index_drop(p->db, NULL, INDEXED, name, &call_error) != TANSU_OK ||
            call_index(p->db, NULL, INDEXED, name, keys, options) != TANSU_OK)
            return update_run_note(p, "index %s was not rebuilt: %s", name, call_error.message);
        int64_t after = entries(p, name);
        if (before != after)
            return update_run_note(p, "index %s has %lld entries, rebuilt %lld", name,
                                   (long long)before, (long long)after);
    }
    return true;
}
