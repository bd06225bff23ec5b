/*
 * test_aggregate_differential.c -- groups, aggregates and distinct values of random documents,
 * compared with a plain model.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DOCS 120
#define MAX_VALUES 1000

/* An iterator that can stand in an array: libbson's own size is no multiple of its alignment. */
typedef struct value_slot {
    bson_iter_t iter;
} value_slot;

/* Values found, as iterators into documents. */
typedef struct value_list {
    value_slot items[MAX_VALUES];
    size_t count;
} value_list;

/* add_values -- a value, or an array's elements. */
static void add_values(value_list *list, const bson_iter_t *iter) {
    bson_iter_t inner;
    if (!BSON_ITER_HOLDS_ARRAY(iter)) {
        list->items[list->count++].iter = *iter;
        return;
    }
    for (bson_iter_recurse(iter, &inner); bson_iter_next(&inner);)
        list->items[list->count++].iter = inner;
}

/* find_values -- what "x", or "s.x" with `s` a document or an array of documents, finds. */
static void find_values(value_list *list, const bson_t *doc, const char *path) {
    bson_iter_t iter, inner, field;
    const char *dot = strchr(path, '.');
    if (!dot) {
        if (bson_iter_init_find(&iter, doc, path))
            add_values(list, &iter);
        return;
    }
    if (!bson_iter_init_find(&iter, doc, "s"))
        return;
    if (BSON_ITER_HOLDS_DOCUMENT(&iter) && bson_iter_recurse(&iter, &inner) &&
        bson_iter_find(&inner, dot + 1))
        add_values(list, &inner);
    if (!BSON_ITER_HOLDS_ARRAY(&iter))
        return;
    for (bson_iter_recurse(&iter, &inner); bson_iter_next(&inner);) {
        if (BSON_ITER_HOLDS_DOCUMENT(&inner) && bson_iter_recurse(&inner, &field) &&
            bson_iter_find(&field, dot + 1))
            add_values(list, &field);
    }
}

/* append_value -- a value under a key; NULL is null. */
static void append_value(bson_t *to, const char *key, const bson_iter_t *value) {
    if (value)
        bson_append_iter(to, key, -1, value);
    else
        BSON_APPEND_NULL(to, key);
}

/* as_number -- a model's number; all of them are small multiples of a quarter. */
static bool as_number(const bson_iter_t *iter, double *number) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (BSON_ITER_HOLDS_DECIMAL128(iter)) {
        bson_iter_decimal128(iter, &decimal);
        bson_decimal128_to_string(&decimal, text);
        *number = strtod(text, NULL);
        return true;
    }
    if (!BSON_ITER_HOLDS_NUMBER(iter))
        return false;
    *number = bson_iter_as_double(iter);
    return true;
}

/* model_aggregates -- {n, sum, lo, hi, d} of some documents, the sum as a double. */
static void model_aggregates(bson_t *to, bson_t *const *docs, const size_t *numbers, size_t count,
                             const char *path) {
    static value_list list, different;
    const bson_iter_t *low = NULL, *high = NULL;
    double sum = 0, number;
    list.count = different.count = 0;
    for (size_t i = 0; i < count; i++)
        find_values(&list, docs[numbers[i]], path);
    for (size_t i = 0; i < list.count; i++) {
        const bson_iter_t *value = &list.items[i].iter;
        size_t k = 0;
        if (as_number(value, &number))
            sum += number;
        if (!BSON_ITER_HOLDS_NULL(value) && (!low || model_compare(value, low) < 0))
            low = value;
        if (!BSON_ITER_HOLDS_NULL(value) && (!high || model_compare(value, high) > 0))
            high = value;
        while (k < different.count && model_compare(value, &different.items[k].iter) > 0)
            k++;
        if (k < different.count && model_compare(value, &different.items[k].iter) == 0)
            continue;
        memmove(&different.items[k + 1], &different.items[k],
                (different.count - k) * sizeof *different.items);
        different.items[k].iter = *value;
        different.count++;
    }
    BSON_APPEND_INT64(to, "n", (int64_t)count);
    BSON_APPEND_DOUBLE(to, "sum", sum);
    append_value(to, "lo", low);
    append_value(to, "hi", high);
    bson_t array;
    bson_append_array_begin(to, "d", -1, &array);
    for (size_t i = 0; i < different.count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%zu", i);
        append_value(&array, key, &different.items[i].iter);
    }
    bson_append_array_end(to, &array);
}

/* key_of -- the value to group by, NULL when it is missing. `g` is never inside of an array. */
static const bson_iter_t *key_of(const bson_t *doc, bson_iter_t *iter) {
    return bson_iter_init_find(iter, doc, "g") ? iter : NULL;
}

/* model_groups -- the groups by `g`, in order: appends one document each to an array. */
static void model_groups(bson_t *to, bson_t *const *docs, const size_t *matches, size_t count,
                         const char *path) {
    bool taken[MAX_DOCS] = {false};
    for (uint32_t number = 0;; number++) {
        const bson_iter_t *least = NULL;
        bson_iter_t kept;
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            bson_iter_t iter;
            const bson_iter_t *key = key_of(docs[matches[i]], &iter);
            if (taken[i] || (best != SIZE_MAX && model_compare(key, least) >= 0))
                continue;
            kept = iter;
            least = key ? &kept : NULL;
            best = i;
        }
        if (best == SIZE_MAX)
            return;
        size_t members[MAX_DOCS], member_count = 0;
        for (size_t i = 0; i < count; i++) {
            bson_iter_t iter;
            if (taken[i] || model_compare(key_of(docs[matches[i]], &iter), least) != 0)
                continue;
            taken[i] = true;
            members[member_count++] = matches[i];
        }
        bson_t group;
        char text[16];
        snprintf(text, sizeof text, "%u", number);
        bson_append_document_begin(to, text, -1, &group);
        append_value(&group, "g", least);
        model_aggregates(&group, docs, members, member_count, path);
        bson_append_document_end(to, &group);
    }
}

/* ---- Random documents ---- */

/* append_random -- a value for grouping and aggregates. */
static void append_random(random_source *source, bson_t *doc, const char *key, bool arrays) {
    int64_t number = random_between(source, -6, 6);
    bson_decimal128_t decimal;
    char text[32];
    bson_t array;
    switch (random_below(source, arrays ? 9 : 8)) {
    case 0: break;
    case 1: BSON_APPEND_NULL(doc, key); break;
    case 2: BSON_APPEND_INT32(doc, key, (int32_t)number); break;
    case 3: BSON_APPEND_INT64(doc, key, number); break;
    case 4: BSON_APPEND_DOUBLE(doc, key, (double)number / 4); break;
    case 5:
        snprintf(text, sizeof text, "%s%d.%s", number < 0 ? "-" : "", (int)llabs(number), "5");
        bson_decimal128_from_string(text, &decimal);
        BSON_APPEND_DECIMAL128(doc, key, &decimal);
        break;
    case 6: BSON_APPEND_UTF8(doc, key, number < 0 ? "low" : "high"); break;
    case 7: BSON_APPEND_BOOL(doc, key, number < 0); break;
    default:
        bson_append_array_begin(doc, key, -1, &array);
        for (int64_t i = 0; i < llabs(number) % 4; i++) {
            snprintf(text, sizeof text, "%d", (int)i);
            BSON_APPEND_INT32(&array, text, (int32_t)(number + i));
        }
        bson_append_array_end(doc, &array);
    }
}

/* random_doc -- {_id, g, x, s: {n} or [{n}, …]}. */
static bson_t *random_doc(random_source *source, int32_t id, bool arrays) {
    bson_t *doc = bson_new(), sub, array;
    BSON_APPEND_INT32(doc, "_id", id);
    append_random(source, doc, "g", false);
    append_random(source, doc, "x", arrays);
    if (!arrays || random_chance(source, 50)) {
        BSON_APPEND_DOCUMENT_BEGIN(doc, "s", &sub);
        append_random(source, &sub, "n", arrays);
        bson_append_document_end(doc, &sub);
        return doc;
    }
    bson_append_array_begin(doc, "s", -1, &array);
    for (int i = 0; i < 2; i++) {
        bson_append_document_begin(&array, i == 0 ? "0" : "1", -1, &sub);
        append_random(source, &sub, "n", true);
        bson_append_document_end(&array, &sub);
    }
    bson_append_array_end(doc, &array);
    return doc;
}

/* same -- whether two values are equal: numbers by value, since a sum's type is its own matter. */
static bool same(const bson_iter_t *a, const bson_iter_t *b) {
    bson_iter_t x, y;
    if (!BSON_ITER_HOLDS_ARRAY(a) && !BSON_ITER_HOLDS_DOCUMENT(a))
        return model_compare(a, b) == 0;
    if (bson_iter_type(a) != bson_iter_type(b) || !bson_iter_recurse(a, &x) ||
        !bson_iter_recurse(b, &y))
        return false;
    for (;;) {
        bool more = bson_iter_next(&x);
        if (bson_iter_next(&y) != more)
            return false;
        if (!more)
            return true;
        if (strcmp(bson_iter_key(&x), bson_iter_key(&y)) != 0 || !same(&x, &y))
            return false;
    }
}

/* compare -- the engine's answer against the model's array under `name`. */
static void compare(tansu_db *db, const bson_t *query, const bson_t *group, const char *path,
                    const bson_t *expected, const char *what) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    tansu_status status =
        group ? tansu_aggregate(db, NULL, "c", document_of(query), document_of(group),
                                TANSU_NO_DOCUMENT, &result, &error)
              : tansu_distinct(db, NULL, "c", path, document_of(query), TANSU_NO_DOCUMENT, &result,
                               &error);
    bson_t doc;
    bson_iter_t a, b;
    if (!CHECK_OK(status, &error))
        return;
    REQUIRE(bson_init_static(&doc, result.data, result.size) && bson_iter_init(&a, &doc) &&
            bson_iter_next(&a) && bson_iter_init(&b, expected) && bson_iter_next(&b));
    if (!CHECK(same(&a, &b))) {
        char *q = bson_as_relaxed_extended_json(query, NULL);
        char *is = bson_as_canonical_extended_json(&doc, NULL);
        char *should = bson_as_canonical_extended_json(expected, NULL);
        check_note("%s %s, query %s\nshould be %s\nis        %s", what, path, q, should, is);
        bson_free(q);
        bson_free(is);
        bson_free(should);
    }
    tansu_buffer_free(&result);
}

/* compare_all -- every form over one path, against the model. */
static void compare_all(tansu_db *db, bson_t *const *docs, size_t count, const bson_t *query,
                        const char *path) {
    size_t matches[MAX_DOCS];
    char json[600];
    bson_t none = BSON_INITIALIZER, expected = BSON_INITIALIZER, list, group, one;
    bson_iter_t iter;
    size_t match_count = model_find(docs, count, query, &none, matches);

    bson_append_array_begin(&expected, "groups", -1, &list);
    model_groups(&list, docs, matches, match_count, path);
    bson_append_array_end(&expected, &list);
    snprintf(json, sizeof json,
             "{'by': 'g', 'fields': {'n': {'$count': true}, 'sum': {'$sum': '%s'}, 'lo': {'$min': "
             "'%s'}, 'hi': {'$max': '%s'}, 'd': {'$distinct': '%s'}}}",
             path, path, path, path);
    bson_t *spec = bson_from_text(json);
    compare(db, query, spec, path, &expected, "groups");
    bson_destroy(spec);

    /* Only the counts of the groups: these may come from an index. */
    bson_t counts = BSON_INITIALIZER;
    bson_append_array_begin(&counts, "groups", -1, &list);
    REQUIRE(bson_iter_init_find(&iter, &expected, "groups"));
    bson_iter_t groups;
    for (bson_iter_recurse(&iter, &groups); bson_iter_next(&groups);) {
        bson_iter_t field;
        bson_append_document_begin(&list, bson_iter_key(&groups), -1, &group);
        for (bson_iter_recurse(&groups, &field); bson_iter_next(&field);) {
            if (strcmp(bson_iter_key(&field), "g") == 0 || strcmp(bson_iter_key(&field), "n") == 0)
                bson_append_iter(&group, NULL, -1, &field);
        }
        bson_append_document_end(&list, &group);
    }
    bson_append_array_end(&counts, &list);
    spec = bson_from_text("{'by': 'g', 'fields': {'n': {'$count': true}}}");
    compare(db, query, spec, "g", &counts, "counts");
    bson_destroy(spec);

    /* One group: count, least and greatest; and the distinct_text values. */
    bson_t all = BSON_INITIALIZER, extremes = BSON_INITIALIZER, values = BSON_INITIALIZER;
    model_aggregates(&all, docs, matches, match_count, path);
    bson_append_array_begin(&extremes, "groups", -1, &list);
    bson_append_document_begin(&list, "0", -1, &one);
    for (bson_iter_init(&iter, &all); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        if (strcmp(key, "d") == 0)
            bson_append_iter(&values, "values", -1, &iter);
        else if (strcmp(key, "sum") != 0)
            bson_append_iter(&one, NULL, -1, &iter);
    }
    bson_append_document_end(&list, &one);
    bson_append_array_end(&extremes, &list);
    snprintf(json, sizeof json,
             "{'fields': {'n': {'$count': true}, 'lo': {'$min': '%s'}, 'hi': {'$max': '%s'}}}",
             path, path);
    spec = bson_from_text(json);
    compare(db, query, spec, path, &extremes, "extremes");
    compare(db, query, NULL, path, &values, "distinct");
    bson_destroy(spec);
    bson_destroy(&expected);
    bson_destroy(&counts);
    bson_destroy(&all);
    bson_destroy(&extremes);
    bson_destroy(&values);
}

/* random_query -- {}, or a range, or a value. */
static bson_t *random_query(random_source *source) {
    char json[100];
    int number = (int)random_between(source, -5, 5);
    static const char *const forms[] = {"{}", "{'x': {'$gt': %d}}", "{'g': {'$lte': %d}}",
                                        "{'g': {'$in': [%d, null, 'low']}}",
                                        "{'x': {'$ne': %d}, 'g': {'$exists': true}}"};
    snprintf(json, sizeof json, forms[random_below(source, 5)], number);
    return bson_from_text(json);
}

/* agrees_with_the_model -- on random documents, with no index and with several. */
static void agrees_with_the_model(void) {
    static const char *const paths[] = {"x", "g", "s.n", "_id"};
    static const char *const indexes[] = {"{'g': 1}", "{'x': -1}", "{'s.n': 1}",
                                          "{'g': 1, 'x': 1}"};
    random_source source = random_start(2);
    for (int round = 0; round < 30; round++) {
        tansu_db *db = memory_db_open();
        bson_t *docs[MAX_DOCS];
        bool arrays = round % 2 == 1;
        for (int i = 0; i < MAX_DOCS; i++) {
            docs[i] = random_doc(&source, i, arrays);
            save_bson(db, docs[i]);
        }
        for (size_t index = 0; index <= sizeof indexes / sizeof *indexes; index++) {
            for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                bson_t *query = random_query(&source);
                compare_all(db, docs, MAX_DOCS, query, paths[i]);
                bson_destroy(query);
            }
            if (index < sizeof indexes / sizeof *indexes)
                create_index(db, "", indexes[index], NULL);
        }
        for (int i = 0; i < MAX_DOCS; i++)
            bson_destroy(docs[i]);
        memory_db_close(db);
    }
}

int main(void) {
    RUN(agrees_with_the_model);
    return check_finish();
}
