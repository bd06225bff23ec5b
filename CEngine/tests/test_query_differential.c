/*
 * test_query_differential.c -- an index never changes an answer, nor its order: random documents,
 * queries, hints and indexes, also after documents were replaced and removed; the engine with
 * whatever plan it likes, with no index, and with each index that there is, against the plain model
 * of toolkit/model.h.
 *
 * TANSU_SEED repeats a run; TANSU_ROUNDS sets how many databases are made (400).
 */
#include "toolkit/ask.h"
#include "toolkit/check.h"
#include "toolkit/model.h"
#include "toolkit/random.h"
#include "toolkit/random_operator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DOCS 60
#define MAX_INDEXES 4
#define QUERIES 60

static uint64_t answers, lacking_asked, lacking_refused;

static const char *const paths[] = {"a", "b", "c", "a.b", "a.c", "b.0", "a.b.c", "c.a", "_id"};
#define PATHS (sizeof paths / sizeof *paths)

/* pick_path -- one of the paths; the first few more often. */
static const char *pick_path(random_source *r) {
    return paths[random_below(r, random_chance(r, 60) ? 3 : PATHS)];
}

/* ---- Random documents ---- */

/* put_number -- a small number of any type, sometimes a hard one. */
static void put_number(random_source *r, bson_t *doc, const char *key) {
    int64_t small = random_between(r, -2, 4);
    bson_decimal128_t decimal;
    char text[40];
    switch (random_below(r, 8)) {
    case 0: bson_append_int64(doc, key, -1, small); break;
    case 1: bson_append_double(doc, key, -1, (double)small / 2); break;
    case 2:
        snprintf(text, sizeof text, "%d.%d", (int)small, random_chance(r, 50) ? 5 : 0);
        bson_decimal128_from_string(text, &decimal);
        bson_append_decimal128(doc, key, -1, &decimal);
        break;
    case 3: {
        static const double hard[] = {NAN, INFINITY, -INFINITY, -0.0, 9007199254740992.0};
        bson_append_double(doc, key, -1, hard[random_below(r, 5)]);
        break;
    }
    case 4: bson_append_int64(doc, key, -1, (INT64_C(1) << 53) + random_between(r, -1, 1)); break;
    default: bson_append_int32(doc, key, -1, (int32_t)small);
    }
}

/* put_value -- a value out of few, so that two are often equal. */
static void put_value(random_source *r, bson_t *doc, const char *key, int depth) {
    bson_t inner;
    bson_oid_t oid;
    uint64_t kind = random_below(r, depth > 0 ? 20 : 14);
    switch (kind) {
    case 0: bson_append_null(doc, key, -1); break;
    case 1: bson_append_bool(doc, key, -1, random_chance(r, 50)); break;
    case 2: bson_append_date_time(doc, key, -1, random_between(r, -1, 1)); break;
    case 3:
        memset(&oid, (int)random_below(r, 2), sizeof oid);
        bson_append_oid(doc, key, -1, &oid);
        break;
    case 4:
        switch (random_below(r, 6)) {
        case 0: bson_append_undefined(doc, key, -1); break;
        case 1: bson_append_minkey(doc, key, -1); break;
        case 2: bson_append_maxkey(doc, key, -1); break;
        case 3: bson_append_symbol(doc, key, -1, "ab", 2); break;
        case 4: bson_append_timestamp(doc, key, -1, 1, (uint32_t)random_below(r, 2)); break;
        default:
            bson_append_binary(doc, key, -1, BSON_SUBTYPE_BINARY, (const uint8_t *)"xy",
                               (uint32_t)random_below(r, 3));
        }
        break;
    case 5:
    case 6:
    case 7:
    case 8: bson_append_utf8(doc, key, -1, random_short_text(r), -1); break;
    case 14:
    case 15:
    case 16:
        bson_append_document_begin(doc, key, -1, &inner);
        for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
            if (random_chance(r, 50))
                put_value(r, &inner, name, depth - 1);
        }
        bson_append_document_end(doc, &inner);
        break;
    case 17:
    case 18:
    case 19: {
        bson_append_array_begin(doc, key, -1, &inner);
        uint64_t count = random_below(r, 4);
        for (uint64_t i = 0; i < count; i++) {
            char name[8];
            snprintf(name, sizeof name, "%d", (int)i);
            put_value(r, &inner, name, depth - 1);
        }
        bson_append_array_end(doc, &inner);
        break;
    }
    default: put_number(r, doc, key);
    }
}

/* make_document -- `plain` leaves arrays out, so that indexes stay of one entry a document. */
static bson_t *make_document(random_source *r, int id, bool plain) {
    bson_t *doc = bson_new();
    bson_append_int32(doc, "_id", 3, id);
    for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
        if (random_chance(r, 80))
            put_value(r, doc, name, plain ? 0 : 3);
    }
    return doc;
}

/* ---- Random queries ---- */

static void put_condition(random_source *r, bson_t *doc, const char *key, int depth);

/* put_list -- an array of values for $in. */
static void put_list(random_source *r, bson_t *doc, const char *key, bool texts) {
    bson_t list;
    uint64_t count = random_below(r, 4) + (texts ? 1 : 0);
    bson_append_array_begin(doc, key, -1, &list);
    for (uint64_t i = 0; i < count; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", (int)i);
        if (texts)
            bson_append_utf8(&list, name, -1, random_chance(r, 50) ? "a" : "ab", -1);
        else
            put_value(r, &list, name, 2);
    }
    bson_append_array_end(doc, &list);
}

/* put_choices -- an array for $in of queries, where a regex may be among the values. */
static void put_choices(random_source *r, bson_t *doc, const char *key) {
    bson_t list;
    if (random_chance(r, 70)) {
        put_list(r, doc, key, false);
        return;
    }
    bson_append_array_begin(doc, key, -1, &list);
    random_regex_value(r, &list, "0");
    put_value(r, &list, "1", 0);
    bson_append_array_end(doc, &list);
}

/* put_operator -- one operator, not yet in `used`. */
static void put_operator(random_source *r, bson_t *doc, uint32_t *used, int depth) {
    static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
    uint64_t which = random_below(r, depth > 0 ? 14 : 11);
    bool special = random_chance(r, 35);
    if (special) {
        which = random_below(r, RANDOM_OPERATORS);
        if (*used & 1u << (which + 14))
            return;
        *used |= 1u << (which + 14);
        random_operator(r, doc, which);
        return;
    }
    if (*used & 1u << which)
        return;
    *used |= 1u << which;
    switch (which) {
    case 6: put_choices(r, doc, "$in"); break;
    case 7: put_choices(r, doc, "$nin"); break;
    case 8: bson_append_bool(doc, "$exists", -1, random_chance(r, 50)); break;
    case 9: bson_append_utf8(doc, "$begin", -1, random_chance(r, 50) ? "a" : "ab", -1); break;
    case 10: put_list(r, doc, "$begin", true); break;
    case 11:
    case 12: put_condition(r, doc, "$not", depth - 1); break;
    case 13: {
        bson_t list;
        bson_append_array_begin(doc, random_chance(r, 70) ? "$or" : "$nor", -1, &list);
        for (int i = 0; i < 2; i++) {
            bson_t one;
            uint32_t inner = 0;
            bson_append_document_begin(&list, i == 0 ? "0" : "1", 1, &one);
            put_operator(r, &one, &inner, 0);
            bson_append_document_end(&list, &one);
        }
        bson_append_array_end(doc, &list);
        break;
    }
    default: put_value(r, doc, compares[which], 2);
    }
}

/* put_condition -- a value, a sub-query or operators. */
static void put_condition(random_source *r, bson_t *doc, const char *key, int depth) {
    bson_t inner;
    uint64_t form = random_below(r, 10);
    if (form < 2) {
        put_value(r, doc, key, 0);
        return;
    }
    bson_append_document_begin(doc, key, -1, &inner);
    if (form == 2 && depth > 0) {
        put_condition(r, &inner, random_chance(r, 50) ? "a" : "b", depth - 1);
    } else {
        uint32_t used = 0;
        uint64_t count = 1 + random_below(r, 2);
        for (uint64_t i = 0; i < count; i++)
            put_operator(r, &inner, &used, depth);
    }
    bson_append_document_end(doc, &inner);
}

/* put_selector -- conditions on some paths, and sometimes logic. */
static void put_selector(random_source *r, bson_t *doc, int depth) {
    uint64_t count = random_below(r, 4);
    for (uint64_t i = 0; i < count; i++)
        put_condition(r, doc, pick_path(r), 2);
    if (random_chance(r, 8))
        put_condition(r, doc, random_chance(r, 50) ? "*" : "**", 0);
    if (depth == 0 || random_chance(r, 55))
        return;
    static const char *const logic[] = {"$or", "$or", "$and", "$nor"};
    bson_t list, one;
    bson_append_array_begin(doc, logic[random_below(r, 4)], -1, &list);
    count = 1 + random_below(r, 3);
    for (uint64_t i = 0; i < count; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", (int)i);
        bson_append_document_begin(&list, name, -1, &one);
        put_selector(r, &one, depth - 1);
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(doc, &list);
}

/* put_paths -- up to `most` different paths with directions. */
static void put_paths(random_source *r, bson_t *doc, uint64_t most) {
    uint64_t count = 1 + random_below(r, most);
    for (uint64_t i = 0; i < count; i++) {
        const char *path = pick_path(r);
        if (!bson_has_field(doc, path) && !strchr(path, '.'))
            bson_append_int32(doc, path, -1, random_chance(r, 60) ? 1 : -1);
        else if (bson_empty(doc))
            bson_append_int32(doc, path, -1, random_chance(r, 60) ? 1 : -1);
    }
}

/* make_hints -- order and window. */
static bson_t *make_hints(random_source *r) {
    bson_t *hints = bson_new(), order;
    if (random_chance(r, 50)) {
        bson_append_document_begin(hints, "$orderby", -1, &order);
        put_paths(r, &order, 3);
        bson_append_document_end(hints, &order);
    }
    if (random_chance(r, 20))
        random_collation(r, hints);
    if (random_chance(r, 25))
        bson_append_int32(hints, "$skip", -1, (int32_t)random_below(r, 6));
    if (random_chance(r, 35))
        bson_append_int64(hints, "$max", -1, (int64_t)random_below(r, 8));
    return hints;
}

/* ---- Comparing ---- */

/* A database under test. */
typedef struct world {
    tansu_db *db;
    bson_t *docs[MAX_DOCS];
    size_t count;
    bool plain;
    size_t indexes;
    char names[MAX_INDEXES][8];
    bson_t *keys[MAX_INDEXES];
    bson_t *options[MAX_INDEXES];
} world;

/* same_ids -- whether the engine's answer is the documents of these numbers, in this order. */
static bool same_ids(const world *w, const bson_t *query, const bson_t *hints,
                     const size_t *expected, size_t count) {
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    size_t at = 0;
    answers++;
    if (!CHECK_OK(tansu_find(w->db, NULL, "c", bson_get_data(query), query->len,
                             bson_get_data(hints), hints->len, &cursor, &error),
                  &error))
        return false;
    bool same = true;
    tansu_status status;
    while ((status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK) {
        same = same && at < count && document.size == w->docs[expected[at]]->len &&
               memcmp(document.data, bson_get_data(w->docs[expected[at]]), document.size) == 0;
        at++;
    }
    tansu_cursor_close(cursor);
    return CHECK_STATUS(TANSU_DONE, status) && same && at == count;
}

/* tell -- prints what a failed comparison was about. */
static void tell(const world *w, const bson_t *query, const bson_t *hints) {
    char *q = bson_as_canonical_extended_json(query, NULL);
    char *h = bson_as_canonical_extended_json(hints, NULL);
    check_note("query %s hints %s", q, h);
    bson_free(q);
    bson_free(h);
    for (size_t i = 0; i < w->indexes; i++) {
        char *keys = bson_as_relaxed_extended_json(w->keys[i], NULL);
        char *options = bson_as_canonical_extended_json(w->options[i], NULL);
        check_note("index %s %s %s", w->names[i], keys, options);
        bson_free(keys);
        bson_free(options);
    }
    for (size_t i = 0; i < w->count; i++) {
        char *doc = bson_as_canonical_extended_json(w->docs[i], NULL);
        check_note("doc %s", doc);
        bson_free(doc);
    }
}

/* with_index -- the hints and $index beside them; NULL for none. */
static bson_t *with_index(const bson_t *hints, const char *name) {
    bson_t *more = bson_copy(hints);
    if (name)
        bson_append_utf8(more, "$index", -1, name, -1);
    else
        bson_append_bool(more, "$index", -1, false);
    return more;
}

/* may_lack -- whether an index leaves documents out, so that a query may be refused it. */
static bool may_lack(const world *w, size_t index) {
    return bson_has_field(w->options[index], "sparse") ||
           bson_has_field(w->options[index], "partialFilter");
}

/* refused_index -- whether the engine can't prove that the index which the hints name has every
 * match. It must say so; this is asked of sparse and partial ones only. */
static bool refused_index(const world *w, const bson_t *query, const bson_t *hints) {
    int64_t number;
    tansu_error error;
    tansu_status status = tansu_count(w->db, NULL, "c", bson_get_data(query), query->len,
                                      bson_get_data(hints), hints->len, &number, &error);
    lacking_asked++;
    if (status != TANSU_E_INVALID_QUERY || strcmp(error.context, "hints.$index") != 0)
        return false;
    lacking_refused++;
    return true;
}

/* compare_one -- one query in all ways; false when an answer differs. */
static bool compare_one(const world *w, const bson_t *query, const bson_t *hints) {
    size_t expected[MAX_DOCS];
    size_t count = model_find(w->docs, w->count, query, hints, expected);
    bool same = CHECK(same_ids(w, query, hints, expected, count));
    for (size_t i = 0; same && i < w->indexes + 2; i++) {
        const char *name = i == 0 ? NULL : i == 1 ? "_id" : w->names[i - 2];
        bson_t *forced = with_index(hints, name);
        int64_t number = -1;
        if (i >= 2 && may_lack(w, i - 2) && refused_index(w, query, forced)) {
            bson_destroy(forced);
            continue;
        }
        same = CHECK(same_ids(w, query, forced, expected, count));
        CHECK_STATUS(TANSU_OK, tansu_count(w->db, NULL, "c", bson_get_data(query), query->len,
                                           bson_get_data(forced), forced->len, &number, NULL));
        same = same && CHECK_INT(count, number);
        if (!same)
            tell(w, query, forced);
        bson_destroy(forced);
    }
    if (!same)
        tell(w, query, hints);
    return same;
}

/* put_filter -- a partial filter of a form that queries often imply. */
static void put_filter(random_source *r, bson_t *options) {
    static const char *const compares[] = {"$gt", "$gte", "$lte", "$eq", "$ne"};
    bson_t filter, inner;
    bson_append_document_begin(options, "partialFilter", -1, &filter);
    bson_append_document_begin(&filter, pick_path(r), -1, &inner);
    switch (random_below(r, 4)) {
    case 0: bson_append_bool(&inner, "$exists", -1, random_chance(r, 70)); break;
    case 1: put_list(r, &inner, "$in", false); break;
    default: put_value(r, &inner, compares[random_below(r, 5)], 0);
    }
    bson_append_document_end(&filter, &inner);
    bson_append_document_end(options, &filter);
}

/* make_options -- of a random index; most have none. */
static bson_t *make_options(random_source *r) {
    bson_t *options = bson_new();
    if (random_chance(r, 25))
        bson_append_bool(options, "sparse", -1, true);
    if (random_chance(r, 15))
        bson_append_bool(options, "caseInsensitive", -1, true);
    if (random_chance(r, 30))
        put_filter(r, options);
    return options;
}

/* make_world -- documents and indexes; half of the indexes are there before the documents. */
static void make_world(random_source *r, world *w) {
    *w = (world){.db = ask_open(),
                 .count = random_below(r, MAX_DOCS + 1),
                 .plain = random_chance(r, 40),
                 .indexes = random_below(r, MAX_INDEXES + 1)};
    size_t before = random_below(r, w->count + 1);
    for (size_t i = 0; i <= w->count; i++) {
        for (size_t k = 0; i == before && k < w->indexes; k++) {
            tansu_error error;
            snprintf(w->names[k], sizeof w->names[k], "i%d", (int)k);
            w->keys[k] = bson_new();
            put_paths(r, w->keys[k], 3);
            w->options[k] = make_options(r);
            REQUIRE(CHECK_OK(tansu_index_create(w->db, NULL, "c", w->names[k],
                                                bson_get_data(w->keys[k]), w->keys[k]->len,
                                                bson_get_data(w->options[k]), w->options[k]->len,
                                                &error),
                             &error));
        }
        if (i < w->count) {
            w->docs[i] = make_document(r, (int)i, w->plain);
            ask_save_bson(w->db, w->docs[i]);
        }
    }
}

/* remove_some -- removes what a random query with hints selects, in the engine and here. */
static void remove_some(random_source *r, world *w) {
    bson_t query = BSON_INITIALIZER;
    size_t gone[MAX_DOCS];
    int64_t removed = -1;
    tansu_error error;
    put_selector(r, &query, 1);
    bson_t *hints = make_hints(r);
    size_t count = model_find(w->docs, w->count, &query, hints, gone);
    CHECK_OK(tansu_remove(w->db, NULL, "c", bson_get_data(&query), query.len, bson_get_data(hints),
                          hints->len, &removed, &error),
             &error);
    if (!CHECK_INT(count, removed))
        tell(w, &query, hints);
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
    bson_destroy(hints);
    bson_destroy(&query);
}

/* change_world -- replaces some documents, which keep their places, and removes some. */
static void change_world(random_source *r, world *w) {
    for (size_t i = 0; i < w->count; i++) {
        bson_iter_t iter;
        if (!random_chance(r, 30) || !bson_iter_init_find(&iter, w->docs[i], "_id"))
            continue;
        int id = bson_iter_int32(&iter);
        bson_destroy(w->docs[i]);
        w->docs[i] = make_document(r, id, w->plain);
        ask_save_bson(w->db, w->docs[i]);
    }
    if (random_chance(r, 50))
        remove_some(r, w);
}

/* end_world -- frees it. */
static void end_world(world *w) {
    for (size_t i = 0; i < w->count; i++)
        bson_destroy(w->docs[i]);
    for (size_t i = 0; i < w->indexes; i++)
        bson_destroy(w->keys[i]);
    for (size_t i = 0; i < w->indexes; i++)
        bson_destroy(w->options[i]);
    ask_close(w->db);
}

static void every_plan_gives_the_same_answer(void) {
    const char *asked = getenv("TANSU_ROUNDS");
    uint64_t rounds = asked ? strtoull(asked, NULL, 10) : 400;
    for (uint64_t round = 0; round < rounds && check_failures() == 0; round++) {
        random_source r = random_start(round);
        world w;
        make_world(&r, &w);
        for (int i = 0; i < QUERIES && check_failures() == 0; i++) {
            if (i % 20 == 19)
                change_world(&r, &w);
            bson_t query = BSON_INITIALIZER;
            put_selector(&r, &query, 2);
            bson_t *hints = make_hints(&r);
            if (!compare_one(&w, &query, hints))
                check_note("round %d", (int)round);
            bson_destroy(hints);
            bson_destroy(&query);
        }
        end_world(&w);
    }
}

int main(void) {
    RUN(every_plan_gives_the_same_answer);
    printf("%llu answers compared; sparse and partial indexes were of use in %llu of %llu cases\n",
           (unsigned long long)answers, (unsigned long long)(lacking_asked - lacking_refused),
           (unsigned long long)lacking_asked);
    return check_finish();
}
