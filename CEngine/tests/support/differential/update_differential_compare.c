/*
 * support/differential/update_differential_compare.c -- the engine's documents with the model's.
 * See update_differential.h.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/differential/update_differential_internal.h"

#include <math.h>
#include <string.h>

/* same_field -- whether two values are the same byte for byte, NaN being NaN. */
static bool same_field(const bson_iter_t *a, const bson_iter_t *b) {
    bson_t x = BSON_INITIALIZER, y = BSON_INITIALIZER;
    if (BSON_ITER_HOLDS_DOUBLE(a) && isnan(bson_iter_double(a)))
        return isnan(bson_iter_double(b));
    bson_append_iter(&x, "v", 1, a);
    bson_append_iter(&y, "v", 1, b);
    bool same = bson_equal(&x, &y);
    bson_destroy(&x);
    bson_destroy(&y);
    return same;
}

/* same_fields -- whether all that two iterators walk is the same. */
static bool same_fields(const update_run *p, bson_iter_t *engine, bson_iter_t *model) {
    while (bson_iter_next(engine)) {
        bson_iter_t x, y;
        uint32_t seconds, count, is_seconds, is_count;
        if (!bson_iter_next(model) || strcmp(bson_iter_key(engine), bson_iter_key(model)) != 0 ||
            bson_iter_type(engine) != bson_iter_type(model))
            return false;
        bool same;
        if (BSON_ITER_HOLDS_DOCUMENT(model) || BSON_ITER_HOLDS_ARRAY(model)) {
            REQUIRE(bson_iter_recurse(engine, &x) && bson_iter_recurse(model, &y));
            same = same_fields(p, &x, &y);
        } else if (BSON_ITER_HOLDS_DATE_TIME(model) &&
                   bson_iter_date_time(model) == UPDATE_MODEL_NOW) {
            same = bson_iter_date_time(engine) >= p->from && bson_iter_date_time(engine) <= p->to;
        } else if (BSON_ITER_HOLDS_TIMESTAMP(model)) {
            bson_iter_timestamp(model, &seconds, &count);
            bson_iter_timestamp(engine, &is_seconds, &is_count);
            same = seconds == UPDATE_MODEL_NOW_SECONDS
                       ? is_seconds >= p->from / 1000 && is_seconds <= p->to / 1000
                       : seconds == is_seconds && count == is_count;
        } else {
            same = same_field(engine, model);
        }
        if (!same)
            return false;
    }
    return !bson_iter_next(model);
}

bool update_run_same(const update_run *p, const bson_t *engine, const bson_t *model) {
    bson_iter_t x, y;
    if (bson_equal(engine, model))
        return true;
    REQUIRE(bson_iter_init(&x, engine) && bson_iter_init(&y, model));
    if (!bson_has_field(model, "_id") &&
        (!bson_iter_next(&x) || strcmp(bson_iter_key(&x), "_id") != 0 || !BSON_ITER_HOLDS_OID(&x)))
        return false;
    return same_fields(p, &x, &y);
}

bool update_run_compare(update_run *p, const char *collection) {
    tansu_cursor *cursor = call_cursor(p->db, NULL, collection, NULL, NULL);
    tansu_document document;
    bool same = true;
    for (size_t i = 0; i <= p->differential.count && same; i++) {
        tansu_status status = tansu_cursor_next(cursor, &document, &call_error);
        const bson_t *model = i < p->differential.count ? p->differential.docs[i] : NULL;
        bson_t engine;
        same =
            (status == TANSU_OK) == (model != NULL) && (status == TANSU_OK || status == TANSU_DONE);
        if (status == TANSU_OK && model != NULL) {
            REQUIRE(bson_init_static(&engine, document.data, document.size));
            same = update_run_same(p, &engine, model);
        }
        if (!same) {
            char *is = status == TANSU_OK && bson_init_static(&engine, document.data, document.size)
                           ? bson_as_canonical_extended_json(&engine, NULL)
                           : bson_strdup(tansu_status_name(status));
            char *be = model != NULL ? bson_as_canonical_extended_json(model, NULL)
                                     : bson_strdup("nothing");
            update_run_note(p, "%s holds  %s\nmodel says %s", collection, is, be);
            bson_free(is);
            bson_free(be);
        }
    }
    tansu_cursor_close(cursor);
    return same;
}

/* ---- Fixed values in place of what a clock made ---- */

/* settle_fields -- copies fields with fixed dates and timestamps; whether there were others. */
static bool settle_fields(bson_iter_t *from, bson_t *to) {
    bool changed = false;
    while (bson_iter_next(from)) {
        bson_iter_t inside;
        bson_t inner;
        uint32_t seconds = 0, count;
        const char *key = bson_iter_key(from);
        if (BSON_ITER_HOLDS_TIMESTAMP(from))
            bson_iter_timestamp(from, &seconds, &count);
        if (BSON_ITER_HOLDS_DOCUMENT(from)) {
            REQUIRE(bson_iter_recurse(from, &inside));
            bson_append_document_begin(to, key, -1, &inner);
            changed = settle_fields(&inside, &inner) || changed;
            bson_append_document_end(to, &inner);
        } else if (BSON_ITER_HOLDS_ARRAY(from)) {
            REQUIRE(bson_iter_recurse(from, &inside));
            bson_append_array_begin(to, key, -1, &inner);
            changed = settle_fields(&inside, &inner) || changed;
            bson_append_array_end(to, &inner);
        } else if (BSON_ITER_HOLDS_DATE_TIME(from) &&
                   bson_iter_date_time(from) == UPDATE_MODEL_NOW) {
            bson_append_date_time(to, key, -1, 3);
            changed = true;
        } else if (seconds == UPDATE_MODEL_NOW_SECONDS) {
            bson_append_timestamp(to, key, -1, 3, 1);
            changed = true;
        } else {
            bson_append_iter(to, key, -1, from);
        }
    }
    return changed;
}

/* save_settled -- saves a document of the model in both collections. */
static bool save_settled(update_run *p, const bson_t *doc) {
    for (unsigned i = 0; i < 2; i++) {
        if (call_save_bson(p->db, NULL, i == 0 ? PLAIN : INDEXED, TANSU_SAVE, doc) != TANSU_OK)
            return update_run_note(p, "a document was not saved: %s", call_error.message);
    }
    return true;
}

/* remove_unnamed -- removes what was inserted with a new ObjectID: those of random documents
 * are lower. */
static bool remove_unnamed(update_run *p) {
    for (unsigned i = 0; i < 2; i++) {
        int64_t removed = 0;
        tansu_status status =
            call_remove(p->db, NULL, i == 0 ? PLAIN : INDEXED,
                        "{'_id':{'$gt':{'$oid':'010101010101010101010101'}}}", &removed);
        if (status != TANSU_OK || removed != 1)
            return update_run_note(p, "a new document was not removed by its `_id`");
    }
    return true;
}

bool update_run_settle(update_run *p) {
    for (size_t i = 0; i < p->differential.count; i++) {
        bson_iter_t fields;
        bson_t settled = BSON_INITIALIZER;
        bool good = true, named = bson_has_field(p->differential.docs[i], "_id");
        if (!named) {
            int32_t id = 100;
            for (size_t k = 0; k < p->differential.count; k++) {
                bson_iter_t other;
                if (bson_iter_init_find(&other, p->differential.docs[k], "_id") &&
                    BSON_ITER_HOLDS_INT32(&other) && bson_iter_int32(&other) >= id &&
                    bson_iter_int32(&other) < INT32_MAX)
                    id = bson_iter_int32(&other) + 1;
            }
            bson_append_int32(&settled, "_id", 3, id);
            good = remove_unnamed(p);
        }
        REQUIRE(bson_iter_init(&fields, p->differential.docs[i]));
        bool changed = settle_fields(&fields, &settled) || !named;
        good = good && (!changed || save_settled(p, &settled));
        bson_destroy(p->differential.docs[i]);
        p->differential.docs[i] = bson_copy(&settled);
        bson_destroy(&settled);
        if (!good)
            return false;
    }
    return true;
}
