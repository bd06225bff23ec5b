/*
 * test_aggregate.c -- groups, figures and distinct values: held against a plain model on random
 * documents with and without indexes; exact sums; errors.
 */
#include "toolkit/ask.h"
#include "toolkit/check.h"
#include "toolkit/model.h"
#include "toolkit/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Asking ---- */

static char answer[1 << 16];

/* keep_answer -- a result as relaxed JSON, or the name of the status and where. */
static const char *keep_answer(tansu_status status, tansu_buffer *result,
                               const tansu_error *error) {
    bson_t doc;
    if (status != TANSU_OK) {
        snprintf(answer, sizeof answer, "%s %s", tansu_status_name(status), error->context);
    } else {
        REQUIRE(bson_init_static(&doc, result->data, result->size));
        char *json = bson_as_relaxed_extended_json(&doc, NULL);
        snprintf(answer, sizeof answer, "%s", json);
        bson_free(json);
    }
    tansu_buffer_free(result);
    return answer;
}

/* aggregate -- groups of the collection "c". */
static const char *aggregate(tansu_db *db, const char *query, const char *group,
                             const char *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t *q = ask_bson(query), *g = ask_bson(group), *h = ask_bson(hints);
    tansu_status status = tansu_aggregate(
        db, NULL, "c", q ? bson_get_data(q) : NULL, q ? q->len : 0, bson_get_data(g), g->len,
        h ? bson_get_data(h) : NULL, h ? h->len : 0, &result, &error);
    bson_destroy(q);
    bson_destroy(g);
    bson_destroy(h);
    return keep_answer(status, &result, &error);
}

/* distinct -- values of the collection "c". */
static const char *distinct(tansu_db *db, const char *path, const char *query, const char *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t *q = ask_bson(query), *h = ask_bson(hints);
    tansu_status status =
        tansu_distinct(db, NULL, "c", path, q ? bson_get_data(q) : NULL, q ? q->len : 0,
                       h ? bson_get_data(h) : NULL, h ? h->len : 0, &result, &error);
    bson_destroy(q);
    bson_destroy(h);
    return keep_answer(status, &result, &error);
}

/* ---- Examples ---- */

/* groups_and_figures -- every operator, and what is no value. */
static void groups_and_figures(void) {
    tansu_db *db = ask_open();
    CHECK_TEXT(
        "{ \"groups\" : [ { \"n\" : 0, \"s\" : 0, \"a\" : null, \"lo\" : null, \"d\" : [  ] } ] }",
        aggregate(db, NULL,
                  "{'fields': {'n': {'$count': true}, 's': {'$sum': 'x'}, 'a': {'$avg': "
                  "'x'}, 'lo': {'$min': 'x'}, 'd': {'$distinct': 'x'}}}",
                  NULL));
    CHECK_TEXT("{ \"groups\" : [  ] }", aggregate(db, NULL, "{'by': 'a'}", NULL));
    ask_save(db, "{'_id': 1, 'c': 'de', 'x': 3, 't': [1, 2], 's': [{'n': 1}, {'n': 2}]}");
    ask_save(db, "{'_id': 2, 'c': 'fr', 'x': 'text', 't': [2, null], 's': {'n': 5}}");
    ask_save(db, "{'_id': 3, 'c': 'de', 'x': 4.5, 't': 7}");
    ask_save(db, "{'_id': 4, 'c': null, 'x': null}");
    ask_save(db, "{'_id': 5}");
    CHECK_TEXT(
        "{ \"groups\" : [ { \"c\" : null, \"n\" : 2, \"x\" : 0, \"sum\" : 0 }, { \"c\" : "
        "\"de\", \"n\" : 2, \"x\" : 2, \"sum\" : 7.5 }, { \"c\" : \"fr\", \"n\" : 1, \"x\" : "
        "1, \"sum\" : 0 } ] }",
        aggregate(db, NULL,
                  "{'by': 'c', 'fields': {'n': {'$count': true}, 'x': {'$count': 'x'}, "
                  "'sum': {'$sum': 'x'}}}",
                  NULL));
    CHECK_TEXT("{ \"groups\" : [ { \"lo\" : 3, \"hi\" : \"text\", \"mean\" : 3.75, \"t\" : [ null, "
               "1, 2, 7 ], \"tsum\" : 12, \"n\" : 8, \"ones\" : 5 } ] }",
               aggregate(db, NULL,
                         "{'fields': {'lo': {'$min': 'x'}, 'hi': {'$max': 'x'}, 'mean': {'$avg': "
                         "'x'}, 't': {'$distinct': 't'}, 'tsum': {'$sum': 't'}, 'n': {'$sum': "
                         "'s.n'}, 'ones': {'$sum': 1}}}",
                         NULL));
    CHECK_TEXT("{ \"groups\" : [ { \"f\" : [ 1, 2 ], \"l\" : 7, \"through\" : [ 1, 2 ] } ] }",
               aggregate(db, "{'c': 'de'}",
                         "{'fields': {'f': {'$first': 't'}, 'l': {'$last': 't'}, 'through': "
                         "{'$first': 's.n'}}}",
                         NULL));
    CHECK_TEXT(
        "{ \"groups\" : [ { \"land\" : \"fr\", \"first\" : 2 }, { \"land\" : \"de\", \"first\" "
        ": 1 } ] }",
        aggregate(db, "{'_id': {'$lt': 4}}", "{'by': {'land': 'c', 'first': 't.0'}}",
                  "{'$orderby': {'land': -1, 'first': -1}, '$max': 2}"));
    CHECK_TEXT("{ \"groups\" : [ { \"c\" : \"de\", \"_id\" : 3 } ] }",
               aggregate(db, "{'c': 'de'}", "{'by': ['c', '_id']}", "{'$skip': 1}"));
    ask_close(db);
}

/* sums_are_exact -- whatever the order of the numbers and their types. */
static void sums_are_exact(void) {
    static const struct {
        const char *values, *sum, *mean;
    } cases[] = {
        {"[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]", "1.0", "0.1"},
        {"[1e308, 1e308, -1e308]", "1e+308", "3.333333333333333e+307"},
        {"[1e308, 1e308, 5e-324]", "Infinity", "6.666666666666666e+307"},
        {"[1.0, 1e100, 1.0, -1e100]", "2.0", "0.5"},
        {"[5e-324, 1e308, -1e308]", "4.9406564584124654e-324", "0.0"},
        {"[9007199254740993, 0.0, 2]", "9007199254740996.0", "3002399751580331.5"},
        {"[9223372036854775807, 9223372036854775807]", "D18446744073709551614",
         "9.2233720368547758e+18"},
        {"[9223372036854775807, 1, -1]", "9223372036854775807", "3.0744573456182584e+18"},
        {"[{'$numberDecimal': '1.10'}, {'$numberDecimal': '2.20'}]", "D3.30", "D1.65"},
        {"[{'$numberDecimal': '1'}, 0.5, 2]", "D3.5", "D1.166666666666666666666666666666667"},
        {"[{'$numberDecimal': '0'}, 0.1]", "D0.1000000000000000055511151231257827",
         "D0.05000000000000000277555756156289135"},
        {"[{'$numberDecimal': '1E+6000'}, 1, {'$numberDecimal': '-1E+6000'}]", "D1",
         "D0.3333333333333333333333333333333333"},
        {"[{'$numberDecimal': '9E+6144'}, {'$numberDecimal': '9E+6144'}]", "DInfinity",
         "D9.000000000000000000000000000000000E+6144"},
        {"[{'$numberDecimal': 'Infinity'}, {'$numberDouble': '-Infinity'}]", "DNaN", "DNaN"},
        {"[{'$numberDouble': 'Infinity'}, 1]", "Infinity", "Infinity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_db *db = ask_open();
        char json[500], expected[300];
        snprintf(json, sizeof json, "{'v': %s}", cases[i].values);
        ask_save(db, json);
        const char *texts[2] = {cases[i].sum, cases[i].mean};
        const char *groups[2] = {"{'fields': {'v': {'$sum': 'v'}}}",
                                 "{'fields': {'v': {'$avg': 'v'}}}"};
        for (int k = 0; k < 2; k++) {
            const char *text = texts[k];
            const char *form = text[0] == 'D'                  ? "{'$numberDecimal': '%s'}"
                               : strcmp(text, "Infinity") == 0 ? "{'$numberDouble': '%s'}"
                                                               : "%s";
            char number[100];
            snprintf(number, sizeof number, form, text[0] == 'D' ? text + 1 : text);
            snprintf(expected, sizeof expected, "{'groups': [{'v': %s}]}", number);
            bson_t *wanted = ask_bson(expected);
            char *wanted_json = bson_as_relaxed_extended_json(wanted, NULL);
            if (!CHECK_TEXT(wanted_json, aggregate(db, NULL, groups[k], NULL)))
                check_note("%s", cases[i].values);
            bson_free(wanted_json);
            bson_destroy(wanted);
        }
        ask_close(db);
    }
}

/* sums_have_no_order -- random doubles of all sizes give one sum, however they are shuffled. */
static void sums_have_no_order(void) {
    random_source source = random_start(1);
    double numbers[60];
    for (size_t i = 0; i < 60; i++) {
        do {
            uint64_t bits = random_next(&source);
            memcpy(&numbers[i], &bits, 8);
        } while (!(numbers[i] > -1e300 && numbers[i] < 1e300));
    }
    char first[500] = "";
    for (int round = 0; round < 20; round++) {
        tansu_db *db = ask_open();
        for (size_t i = 0; i < 60; i++) {
            size_t other = (size_t)random_below(&source, 60);
            double kept = numbers[i];
            numbers[i] = numbers[other];
            numbers[other] = kept;
        }
        for (size_t i = 0; i < 60; i++) {
            bson_t doc = BSON_INITIALIZER;
            BSON_APPEND_DOUBLE(&doc, "v", numbers[i]);
            ask_save_bson(db, &doc);
            bson_destroy(&doc);
        }
        const char *sum = aggregate(db, NULL, "{'fields': {'v': {'$sum': 'v'}}}", NULL);
        if (round == 0)
            snprintf(first, sizeof first, "%s", sum);
        CHECK_TEXT(first, sum);
        ask_close(db);
    }
}

/* what_is_wrong_is_named -- every error says where. */
static void what_is_wrong_is_named(void) {
    static const struct {
        const char *group, *hints, *expected;
    } cases[] = {
        {"{}", NULL, "INVALID_QUERY group"},
        {"{'by': 1}", NULL, "INVALID_QUERY group.by"},
        {"{'by': 'a..b'}", NULL, "INVALID_QUERY a..b"},
        {"{'by': ['a', 'a']}", NULL, "INVALID_QUERY group.by.1"},
        {"{'by': {'$x': 'a'}}", NULL, "INVALID_QUERY group.by.$x"},
        {"{'on': 'a'}", NULL, "INVALID_QUERY group.on"},
        {"{'fields': []}", NULL, "INVALID_QUERY group.fields"},
        {"{'fields': {'n': 1}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'fields': {'n': {'$sum': 'a', '$avg': 'a'}}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'fields': {'n': {'$median': 'a'}}}", NULL, "INVALID_QUERY group.fields.n.$median"},
        {"{'fields': {'n': {'$min': 1}}}", NULL, "INVALID_QUERY group.fields.n.$min"},
        {"{'fields': {'n': {'$count': false}}}", NULL, "INVALID_QUERY group.fields.n.$count"},
        {"{'by': 'n', 'fields': {'n': {'$count': true}}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'by': 'a'}", "{'$orderby': {'b': 1}}", "INVALID_QUERY hints.$orderby"},
        {"{'by': 'a'}", "{'$fields': {'a': 1}}", "INVALID_QUERY hints.$fields"},
        {"{'by': 'a'}", "{'$onlycount': true}", "INVALID_QUERY hints.$onlycount"},
        {"{'by': 'a'}", "{'$do': {'a': {'$join': 'd'}}}", "INVALID_QUERY $do"},
    };
    tansu_db *db = ask_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].expected, aggregate(db, NULL, cases[i].group, cases[i].hints));
    CHECK_TEXT("INVALID_QUERY hints.$orderby", distinct(db, "a", NULL, "{'$orderby': {'a': 1}}"));
    CHECK_TEXT("INVALID_QUERY a.$no", aggregate(db, "{'a': {'$no': 1}}", "{'by': 'a'}", NULL));
    ask_close(db);
}

/* ---- The model ---- */

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

/* model_figures -- {n, sum, lo, hi, d} of some documents, the sum as a double. */
static void model_figures(bson_t *to, bson_t *const *docs, const size_t *numbers, size_t count,
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
        model_figures(&group, docs, members, member_count, path);
        bson_append_document_end(to, &group);
    }
}

/* ---- Random documents ---- */

/* append_random -- a value for grouping and figures. */
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
        group ? tansu_aggregate(db, NULL, "c", bson_get_data(query), query->len,
                                bson_get_data(group), group->len, NULL, 0, &result, &error)
              : tansu_distinct(db, NULL, "c", path, bson_get_data(query), query->len, NULL, 0,
                               &result, &error);
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
    bson_t *spec = ask_bson(json);
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
    spec = ask_bson("{'by': 'g', 'fields': {'n': {'$count': true}}}");
    compare(db, query, spec, "g", &counts, "counts");
    bson_destroy(spec);

    /* One group: count, least and greatest; and the distinct values. */
    bson_t all = BSON_INITIALIZER, extremes = BSON_INITIALIZER, values = BSON_INITIALIZER;
    model_figures(&all, docs, matches, match_count, path);
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
    spec = ask_bson(json);
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
    return ask_bson(json);
}

/* agrees_with_the_model -- on random documents, with no index and with several. */
static void agrees_with_the_model(void) {
    static const char *const paths[] = {"x", "g", "s.n", "_id"};
    static const char *const indexes[] = {"{'g': 1}", "{'x': -1}", "{'s.n': 1}",
                                          "{'g': 1, 'x': 1}"};
    random_source source = random_start(2);
    for (int round = 0; round < 30; round++) {
        tansu_db *db = ask_open();
        bson_t *docs[MAX_DOCS];
        bool arrays = round % 2 == 1;
        for (int i = 0; i < MAX_DOCS; i++) {
            docs[i] = random_doc(&source, i, arrays);
            ask_save_bson(db, docs[i]);
        }
        for (size_t index = 0; index <= sizeof indexes / sizeof *indexes; index++) {
            for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                bson_t *query = random_query(&source);
                compare_all(db, docs, MAX_DOCS, query, paths[i]);
                bson_destroy(query);
            }
            if (index < sizeof indexes / sizeof *indexes)
                ask_index(db, "", indexes[index], NULL);
        }
        for (int i = 0; i < MAX_DOCS; i++)
            bson_destroy(docs[i]);
        ask_close(db);
    }
}

/* from_an_index -- the plan says so, few documents are read, and the values are those of the
 * documents that were inserted first. */
static void from_an_index(void) {
    tansu_db *db = ask_open();
    char json[100];
    for (int i = 0; i < 3000; i++) {
        snprintf(json, sizeof json, i % 2 ? "{'g': %d, 'x': %d}" : "{'g': %d.0, 'x': %d}", i % 5,
                 i);
        ask_save(db, json);
    }
    ask_index(db, "g", "{'g': 1}", NULL);
    ask_index(db, "x", "{'x': 1}", NULL);
    ask_index(db, "folded", "{'h': 1}", "{'caseInsensitive': true}");
    CHECK_TEXT("{ \"values\" : [ 0.0, 1, 2.0, 3, 4.0 ] }", distinct(db, "g", NULL, NULL));
    CHECK(strstr(distinct(db, "g", NULL, "{'$explain': true}"),
                 "\"from\" : \"index\", \"values\" : 5") != NULL);
    CHECK(strstr(answer, "\"documentsExamined\" : 5") != NULL);
    CHECK(strstr(distinct(db, "g", NULL, "{'$explain': true, '$index': false}"),
                 "\"from\" : \"documents\"") != NULL);
    CHECK_TEXT("{ \"values\" : [ 3, 4.0 ] }", distinct(db, "g", "{'g': {'$gt': 2}}", NULL));
    const char *counts = "{'by': 'g', 'fields': {'n': {'$count': true}}}";
    CHECK_TEXT("{ \"groups\" : [ { \"g\" : 1, \"n\" : 600 } ] }",
               aggregate(db, "{'g': 1}", counts, NULL));
    CHECK(strstr(aggregate(db, NULL, counts, "{'$explain': true}"), "\"documentsExamined\" : 5") !=
          NULL);
    const char *extremes = "{'fields': {'lo': {'$min': 'x'}, 'hi': {'$max': 'x'}}}";
    CHECK_TEXT("{ \"groups\" : [ { \"lo\" : 0, \"hi\" : 2999 } ] }",
               aggregate(db, NULL, extremes, NULL));
    CHECK(strstr(aggregate(db, NULL, extremes, "{'$explain': true}"), "\"index\" : \"x\"") != NULL);
    CHECK(strstr(answer, "\"documentsExamined\" : 2") != NULL);
    CHECK_TEXT("{ \"groups\" : [ { \"lo\" : 7, \"hi\" : 2997 } ] }",
               aggregate(db, "{'g': 2, 'x': {'$gt': 2}}", extremes, NULL));
    /* An index of folded strings would not tell them apart. */
    ask_save(db, "{'h': 'A'}");
    ask_save(db, "{'h': 'a'}");
    CHECK_TEXT("{ \"values\" : [ \"A\", \"a\" ] }", distinct(db, "h", NULL, NULL));
    ask_close(db);
}

/* in_a_transaction -- a write transaction sees its own changes, others do not. */
static void in_a_transaction(void) {
    tansu_db *db = ask_open();
    tansu_txn *txn;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    ask_save(db, "{'_id': 1, 'x': 1}");
    ask_index(db, "x", "{'x': 1}", NULL);
    bson_t *doc = ask_bson("{'_id': 2, 'x': 2}");
    tansu_document document = {bson_get_data(doc), doc->len};
    REQUIRE(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL) == TANSU_OK);
    CHECK_OK(tansu_save(db, txn, "c", &document, 1, TANSU_SAVE, NULL, &error), &error);
    CHECK_OK(tansu_distinct(db, txn, "c", "x", NULL, 0, NULL, 0, &result, &error), &error);
    CHECK_TEXT("{ \"values\" : [ 1, 2 ] }", keep_answer(TANSU_OK, &result, &error));
    CHECK_TEXT("{ \"values\" : [ 1 ] }", distinct(db, "x", NULL, NULL));
    tansu_txn_abort(txn);
    bson_destroy(doc);
    ask_close(db);
}

int main(void) {
    RUN(groups_and_figures);
    RUN(sums_are_exact);
    RUN(sums_have_no_order);
    RUN(what_is_wrong_is_named);
    RUN(agrees_with_the_model);
    RUN(from_an_index);
    RUN(in_a_transaction);
    return check_finish();
}
