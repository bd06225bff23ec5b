/*
 * support/model/update_model_run.c -- whole calls on a collection: what matches, what is inserted,
 * what unique indexes refuse, and what is reported of it. See update_model.h.
 */
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/model/update_model_internal.h"

#include <stdlib.h>
#include <string.h>

#define REFUSES UPDATE_MODEL_REFUSES

bool update_model_may_save(const update_model_collection *differential, const bson_t *doc,
                           size_t at) {
    for (size_t u = 0; u < differential->unique_count; u++) {
        for (size_t i = 0; i < differential->count; i++) {
            if (i != at && model_collide(doc, differential->docs[i], differential->unique[u].keys,
                                         differential->unique[u].options))
                return false;
        }
    }
    return true;
}

/* ---- What is asked for ---- */

/* What a call comes to. */
typedef struct plan {
    bson_t query;      /* without $upsert and $dropall */
    bson_t operations; /* likewise; $upsert's document as a $set */
    bson_t hints;
    bool replaces;
    bool confused; /* nothing is asked for, or $replace and something else */
    bool drops;
    bool inserts;
    bool has_upsert_doc;
    bson_t upsert_doc;
} plan;

/* read_beside -- whether a field is $upsert or $dropall; notes what it says. */
static bool read_beside(plan *p, const bson_iter_t *field) {
    const uint8_t *data;
    uint32_t size;
    bson_t doc;
    if (strcmp(bson_iter_key(field), "$dropall") == 0) {
        p->drops = p->drops || bson_iter_as_bool(field);
        return true;
    }
    if (strcmp(bson_iter_key(field), "$upsert") != 0)
        return false;
    if (BSON_ITER_HOLDS_DOCUMENT(field)) {
        bson_iter_document(field, &size, &data);
        REQUIRE(bson_init_static(&doc, data, size));
        bson_destroy(&p->upsert_doc);
        bson_copy_to(&doc, &p->upsert_doc);
        p->has_upsert_doc = true;
    }
    p->inserts = p->inserts || BSON_ITER_HOLDS_DOCUMENT(field) || bson_iter_as_bool(field);
    return true;
}

/* read_part -- copies the fields of a document but $upsert and $dropall. */
static void read_part(plan *p, const bson_t *from, bson_t *to) {
    bson_iter_t field;
    if (from == NULL)
        return;
    REQUIRE(bson_iter_init(&field, from));
    while (bson_iter_next(&field)) {
        if (!read_beside(p, &field))
            bson_append_iter(to, bson_iter_key(&field), -1, &field);
    }
}

/* read_call -- what a call asks for. */
static void read_call(const update_model_call *call, plan *p) {
    bson_iter_t first;
    memset(p, 0, sizeof *p);
    bson_init(&p->query);
    bson_init(&p->operations);
    bson_init(&p->hints);
    bson_init(&p->upsert_doc);
    read_part(p, call->query, &p->query);
    read_part(p, call->update, &p->operations);
    read_part(p, call->hints, &p->hints);
    if (bson_iter_init_find(&first, &p->operations, "$replace")) {
        const uint8_t *data;
        uint32_t size;
        bson_t whole;
        p->replaces = true;
        p->confused = bson_count_keys(&p->operations) > 1 || p->has_upsert_doc || p->drops;
        bson_iter_document(&first, &size, &data);
        REQUIRE(bson_init_static(&whole, data, size));
        bson_t *copy = bson_copy(&whole);
        bson_destroy(&p->operations);
        bson_steal(&p->operations, copy);
    }
    p->confused = p->confused || (call->update != NULL && bson_empty(call->update) && !p->drops &&
                                  !p->has_upsert_doc);
    if (p->has_upsert_doc)
        bson_append_document(&p->operations, "$set", -1, &p->upsert_doc);
}

static void end_plan(plan *p) {
    bson_destroy(&p->query);
    bson_destroy(&p->operations);
    bson_destroy(&p->hints);
    bson_destroy(&p->upsert_doc);
}

/* ---- One document ---- */

bool update_model_same_ids(const bson_t *a, const bson_t *b) {
    bson_iter_t x, y;
    if (!bson_iter_init_find(&x, a, "_id") || !bson_iter_init_find(&y, b, "_id"))
        return false;
    value *l = model_value_from(&x), *r = model_value_from(&y);
    bool same = model_value_compare(l, r, NULL) == 0;
    model_value_free(l);
    model_value_free(r);
    return same;
}

/* with_id_first -- a new document with the `_id` of one and the other fields of another. */
static bson_t *with_id_first(const bson_t *id, const bson_t *fields) {
    bson_t *doc = bson_new();
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, id, "_id"))
        bson_append_iter(doc, "_id", 3, &iter);
    REQUIRE(bson_iter_init(&iter, fields));
    while (bson_iter_next(&iter)) {
        if (strcmp(bson_iter_key(&iter), "_id") != 0)
            bson_append_iter(doc, bson_iter_key(&iter), -1, &iter);
    }
    return doc;
}

/* replace -- the document that takes the place of another. */
static bson_t *replace(const bson_t *doc, const bson_t *by, uint64_t *problems) {
    if (bson_has_field(by, "_id") && bson_has_field(doc, "_id") &&
        !update_model_same_ids(doc, by)) {
        *problems |= REFUSES(TANSU_E_INVALID_ID);
        return NULL;
    }
    return with_id_first(bson_has_field(doc, "_id") ? doc : by, by);
}

/* change -- a document after the plan. */
static bson_t *change(const plan *p, const bson_t *doc, bool inserting, uint64_t *problems) {
    update_model_case c = {&p->query, &p->hints, doc, inserting};
    return p->replaces ? replace(doc, &p->operations, problems)
                       : update_model(&c, &p->operations, problems);
}

/* seed -- the document that an insertion begins with. */
static bson_t *seed(const plan *p, uint64_t *problems) {
    bson_t *all = update_model_seed(&p->query), nothing = BSON_INITIALIZER;
    bson_t *result = NULL;
    if (all == NULL)
        *problems |= REFUSES(TANSU_E_INVALID_QUERY);
    else if (p->has_upsert_doc && (result = replace(all, &p->upsert_doc, problems)) == NULL)
        *problems |= REFUSES(TANSU_E_INVALID_QUERY); /* two `_id`s: reported in either way */
    else if (p->has_upsert_doc)
        ;
    else if (p->replaces)
        result = with_id_first(all, &nothing);
    else
        result = bson_copy(all);
    if (all != NULL)
        bson_destroy(all);
    bson_destroy(&nothing);
    return result;
}

/* insertion -- the document that an upsert inserts. */
static bson_t *insertion(const plan *p, uint64_t *problems) {
    bson_t *begin = seed(p, problems), *doc = NULL, *sorted = NULL;
    if (begin != NULL)
        doc = p->has_upsert_doc ? bson_copy(begin) : change(p, begin, true, problems);
    if (doc != NULL)
        sorted = with_id_first(doc, doc);
    if (begin != NULL)
        bson_destroy(begin);
    if (doc != NULL)
        bson_destroy(doc);
    return sorted;
}

/* ---- Calls ---- */

/* shown -- what find-and-modify gives of a document: all, or the fields at the top that are
 * asked for (1), or not (0). */
static bson_t *shown(const bson_t *doc, const bson_t *hints) {
    bson_iter_t fields, each, iter;
    bson_t *result = bson_new();
    bool some = bson_iter_init_find(&fields, hints, "$fields");
    REQUIRE(bson_iter_init(&iter, doc));
    while (bson_iter_next(&iter)) {
        bool named = false, include = false;
        if (some) {
            REQUIRE(bson_iter_recurse(&fields, &each));
            while (bson_iter_next(&each)) {
                include = bson_iter_as_bool(&each);
                named = named || strcmp(bson_iter_key(&each), bson_iter_key(&iter)) == 0;
            }
        }
        if (!some || named == include || (include && strcmp(bson_iter_key(&iter), "_id") == 0))
            bson_append_iter(result, bson_iter_key(&iter), -1, &iter);
    }
    return result;
}

/* insert -- what a call does when nothing matches and it is to insert. */
static void insert(update_model_collection *differential, const plan *p, bool returns_after,
                   update_model_result *result) {
    bson_t *doc = insertion(p, &result->problems);
    bson_iter_t id;
    if (doc == NULL)
        return;
    if (bson_iter_init_find(&id, doc, "_id") &&
        (BSON_ITER_HOLDS_ARRAY(&id) || BSON_ITER_HOLDS_NULL(&id)))
        result->problems |= REFUSES(TANSU_E_INVALID_ID);
    for (size_t i = 0; i < differential->count; i++) {
        if (update_model_same_ids(doc, differential->docs[i]))
            result->problems |= REFUSES(TANSU_E_EXISTS);
    }
    if (!update_model_may_save(differential, doc, SIZE_MAX))
        result->problems |= REFUSES(TANSU_E_NOT_UNIQUE);
    if (result->problems != 0) {
        bson_destroy(doc);
        return;
    }
    result->upserted = true;
    result->named = bson_has_field(doc, "_id");
    if (returns_after)
        result->returned = shown(doc, &p->hints);
    differential->docs =
        bson_realloc(differential->docs, (differential->count + 1) * sizeof *differential->docs);
    differential->docs[differential->count++] = doc;
}

/* change_all -- the matches, one after the other: each must be unique with the others as they are
 * then. */
static void change_all(update_model_collection *differential, const plan *p, const size_t *hits,
                       size_t count, update_model_result *result) {
    bson_t **before = bson_malloc((differential->count + 1) * sizeof *before);
    memcpy(before, differential->docs, differential->count * sizeof *before);
    for (size_t i = 0; i < count; i++) {
        bson_t *now = change(p, before[hits[i]], false, &result->problems);
        if (now == NULL)
            continue;
        result->modified += p->replaces || !bson_equal(now, before[hits[i]]);
        if (!update_model_may_save(differential, now, hits[i]))
            result->problems |= REFUSES(TANSU_E_NOT_UNIQUE);
        differential->docs[hits[i]] = now;
    }
    /* Which comes first, a document that an operator does not fit or one that is not unique,
     * depends on the order of checks. */
    if (result->problems != 0 && differential->unique_count != 0)
        result->problems |= REFUSES(TANSU_E_NOT_UNIQUE);
    for (size_t i = 0; i < differential->count; i++) {
        if (before[i] == differential->docs[i])
            continue;
        bson_destroy(result->problems != 0 ? differential->docs[i] : before[i]);
        if (result->problems != 0)
            differential->docs[i] = before[i];
    }
    bson_free(before);
}

/* remove_all -- the matches; `hits` in any order. */
static void remove_all(update_model_collection *differential, const size_t *hits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bson_destroy(differential->docs[hits[i]]);
        differential->docs[hits[i]] = NULL;
    }
    size_t left = 0;
    for (size_t i = 0; i < differential->count; i++) {
        if (differential->docs[i] != NULL)
            differential->docs[left++] = differential->docs[i];
    }
    differential->count = left;
}

/* is_malformed -- whether a call is refused whatever the collection holds. */
static bool is_malformed(const plan *p) {
    bson_t empty = BSON_INITIALIZER;
    update_model_case c = {NULL, &p->hints, &empty, false};
    bool bad =
        p->confused || (!p->replaces && !p->drops && !update_model_is_good(&c, &p->operations));
    bson_destroy(&empty);
    return bad;
}

void update_model_run(update_model_collection *differential, const update_model_call *call,
                      update_model_result *result) {
    size_t *hits = bson_malloc((differential->count + 1) * sizeof *hits);
    plan p;
    memset(result, 0, sizeof *result);
    result->removed = -1;
    read_call(call, &p);
    size_t count = model_find(differential->docs, differential->count, &p.query, &p.hints, hits);
    bool one = call->mode >= 0;
    if (one && count > 1)
        count = 1;
    result->matched = (int64_t)count;
    if (call->mode != TANSU_MODIFY_REMOVE && is_malformed(&p)) {
        result->problems = REFUSES(TANSU_E_INVALID_QUERY);
    } else if (p.drops || call->mode == TANSU_MODIFY_REMOVE) {
        if (one && count != 0)
            result->returned = shown(differential->docs[hits[0]], &p.hints);
        result->removed = (int64_t)count;
        remove_all(differential, hits, count);
    } else if (p.replaces && count > 1) {
        result->problems = REFUSES(TANSU_E_INVALID_QUERY);
    } else if (count == 0 && p.inserts) {
        insert(differential, &p, call->mode == TANSU_MODIFY_RETURN_AFTER, result);
    } else {
        if (call->mode == TANSU_MODIFY_RETURN_BEFORE && count != 0)
            result->returned = shown(differential->docs[hits[0]], &p.hints);
        change_all(differential, &p, hits, count, result);
        if (call->mode == TANSU_MODIFY_RETURN_AFTER && count != 0 && result->problems == 0)
            result->returned = shown(differential->docs[hits[0]], &p.hints);
    }
    if (result->problems != 0 && result->returned != NULL) {
        bson_destroy(result->returned);
        result->returned = NULL;
    }
    bson_free(hits);
    end_plan(&p);
}
