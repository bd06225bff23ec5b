/*
 * test_projection.c -- $fields: include, exclude, and the three forms that take a part of an array;
 * compared with a plain model on random documents.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* shown -- the one document that matches, projected. */
static const char *shown(tansu_db *db, const char *query, const char *fields) {
    char hints[500];
    snprintf(hints, sizeof hints, "{'$fields': %s}", fields);
    return find_documents(db, query, hints);
}

/* parts_of_arrays -- what each form takes, and what else it leaves. */
static void parts_of_arrays(void) {
    static const struct {
        const char *query, *fields, *expected;
    } cases[] = {
        {"{}", "{'a': {'$slice': 2}, '_id': 0, 'o': 0, 's': 0}", "{ \"a\" : [ 1, 2 ], \"x\" : 1 }"},
        {"{}", "{'a': {'$slice': 2}, 'x': 1, '_id': 0}", "{ \"a\" : [ 1, 2 ], \"x\" : 1 }"},
        {"{}", "{'a': {'$slice': -2}, 'x': 1, '_id': 0}", "{ \"a\" : [ 3, 4 ], \"x\" : 1 }"},
        {"{}", "{'a': {'$slice': 0}, '_id': 1}", "{ \"_id\" : 1, \"a\" : [  ] }"},
        {"{}", "{'a': {'$slice': -9}, '_id': 1}", "{ \"_id\" : 1, \"a\" : [ 1, 2, 3, 4 ] }"},
        {"{}", "{'a': {'$slice': [1, 2]}, '_id': 1}", "{ \"_id\" : 1, \"a\" : [ 2, 3 ] }"},
        {"{}", "{'a': {'$slice': [-3, 2]}, '_id': 1}", "{ \"_id\" : 1, \"a\" : [ 2, 3 ] }"},
        {"{}", "{'a': {'$slice': [9, 2]}, '_id': 1}", "{ \"_id\" : 1, \"a\" : [  ] }"},
        {"{}", "{'x': {'$slice': 1}, '_id': 1}", "{ \"_id\" : 1, \"x\" : 1 }"},
        {"{}", "{'s.v': {'$slice': 1}, '_id': 1}",
         "{ \"_id\" : 1, \"s\" : [ { \"v\" : [ 7 ] }, { \"v\" : [ 9 ] } ] }"},
        {"{}", "{'a': {'$elemMatch': {'$gt': 2}}}", "{ \"_id\" : 1, \"a\" : [ 3 ] }"},
        {"{}", "{'a': {'$elemMatch': {'$gt': 9}}}", "{ \"_id\" : 1 }"},
        {"{}", "{'x': {'$elemMatch': {'$gt': 0}}, '_id': 0}", "{ }"},
        {"{}", "{'s': {'$elemMatch': {'n': {'$in': [2, 3]}}}}",
         "{ \"_id\" : 1, \"s\" : [ { \"n\" : 2, \"v\" : [ 9, 10 ] } ] }"},
        {"{}", "{'a': {'$elemMatch': {'$gt': 2}}, 'o': 0, 's': 0}",
         "{ \"_id\" : 1, \"a\" : [ 3 ], \"x\" : 1 }"},
        {"{'a': {'$gte': 3}}", "{'a.$': 1}", "{ \"_id\" : 1, \"a\" : [ 3 ] }"},
        {"{'s.n': 2}", "{'s.$': 1, 'x': 1}",
         "{ \"_id\" : 1, \"x\" : 1, \"s\" : [ { \"n\" : 2, \"v\" : [ 9, 10 ] } ] }"},
        {"{'s.v': 10}", "{'s.$': 1, '_id': 0}", "{ \"s\" : [ { \"n\" : 2, \"v\" : [ 9, 10 ] } ] }"},
        {"{'s': {'$elemMatch': {'n': 2}}}", "{'s.$': 1, '_id': 0}",
         "{ \"s\" : [ { \"n\" : 2, \"v\" : [ 9, 10 ] } ] }"},
        {"{'o.p': 6}", "{'o.p.$': 1, '_id': 0}", "{ \"o\" : { \"p\" : [ 6 ] } }"},
        {"{'o.p': 6, 'a': 2}", "{'o.p.$': 1, 'a.$': true, '_id': 0}",
         "{ \"a\" : [ 2 ], \"o\" : { \"p\" : [ 6 ] } }"},
        {"{'x': 1}", "{'x.$': 1}", "{ \"_id\" : 1, \"x\" : 1 }"},
        {"{'s.n': 2}", "{'s.$.n': 1, '_id': 0}", "{ \"s\" : [ { \"n\" : 2 } ] }"},
        {"{'s.n': 2}", "{'s.$.v': 1, 'x': 1, 's.$.n': 1, '_id': 0}",
         "{ \"x\" : 1, \"s\" : [ { \"n\" : 2, \"v\" : [ 9, 10 ] } ] }"},
        {"{'s': {'$elemMatch': {'n': 2}}}", "{'s.$.v.1': 1, '_id': 0}",
         "{ \"s\" : [ { \"v\" : [ 10 ] } ] }"},
        {"{'s.n': 2}", "{'s.$.none': 1, '_id': 0}", "{ \"s\" : [ {  } ] }"},
        {"{'a': 3}", "{'a.$.n': 1, '_id': 0}", "{ \"a\" : [  ] }"},
        {"{'x': 1}", "{'x.$.n': 1, '_id': 0}", "{ }"},
        {"{'o.p': 6}", "{'o.$.p': 1, '_id': 0}", "{ \"o\" : { \"p\" : [ 5, 6 ] } }"},
        {"{'s.v': 10}", "{'s.v.$.n': 1, '_id': 0}", "{ \"s\" : [ { \"v\" : [  ] } ] }"},
        {"{'s.n': 2}", "{'s.v.$.q': 1, 's.n.$': 1, '_id': 0}",
         "{ \"s\" : [ { \"n\" : 2, \"v\" : [  ] } ] }"},
        {"{'x': 1}", "{'s.$.n': 1}", "INVALID_QUERY hints.$fields.s.$"},
        {"{'x': 1}", "{'y.$': 1}", "{ \"_id\" : 1 }"},
        {"{'x': 1}", "{'a.$': 1}", "INVALID_QUERY hints.$fields.a.$"},
        {"{'_id': 1}", "{'a.$': 1}", "INVALID_QUERY hints.$fields.a.$"},
        {"{'$or': [{'a': 3}, {'y': 1}]}", "{'a.$': 1}", "INVALID_QUERY hints.$fields.a.$"},
        {"{'s.n': 2}", "{'a.$': 1}", "{ \"_id\" : 1, \"a\" : [ 2 ] }"},
        {"{'a': {'$all': [1, 3]}}", "{'a.$': 1}", "{ \"_id\" : 1, \"a\" : [ 3 ] }"},
    };
    tansu_db *db = memory_db_open();
    save_text(db,
              "{'_id': 1, 'a': [1, 2, 3, 4], 'x': 1, 'o': {'p': [5, 6]}, 's': [{'n': 1, 'v': [7, "
              "8]}, {'n': 2, 'v': [9, 10]}]}");
    for (int indexed = 0; indexed < 2; indexed++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            /* With "_id": 1 alone with a slice the rest is not included. */
            if (!CHECK_TEXT(cases[i].expected, shown(db, cases[i].query, cases[i].fields)))
                check_note("%s %s", cases[i].query, cases[i].fields);
        }
        create_index(db, "", "{'a': 1}", NULL);
        create_index(db, "", "{'s.n': -1}", NULL);
        create_index(db, "", "{'o.p': 1}", NULL);
    }
    memory_db_close(db);
}

/* what_is_wrong_is_named -- every error says where. */
static void what_is_wrong_is_named(void) {
    static const struct {
        const char *fields, *context;
    } cases[] = {
        {"{'a': 1, 'b': 0}", "b"},
        {"{'a': 0, 'b.$': 1}", "b.$"},
        {"{'b.$': 0}", "b.$"},
        {"{'b.$': 'x'}", "b.$"},
        {"{'b.$.c': 0}", "b.$.c"},
        {"{'b.$.c': {'$slice': 1}}", "b.$.c"},
        {"{'b.$.c': 1, 'b.$': 1}", "b.$"},
        {"{'b.$': 1, 'b.$.c': 1}", "b.$.c"},
        {"{'b.$.c': 1, 'b.$.c': 1}", "b.$.c"},
        {"{'b.$.c': 1, 'b.$.c.d': 1}", "b.$.c.d"},
        {"{'b.$.c': 1, 'b.x': 1}", "b.x"},
        {"{'b.x': 1, 'b.$.c': 1}", "b.$.c"},
        {"{'b.$.c.$': 1}", "b.$.c.$"},
        {"{'b.$.$': 1}", "b.$.$"},
        {"{'b.$.': 1}", "b.$."},
        {"{'$.b': 1}", "$.b"},
        {"{'b.$c': 1}", "b.$c"},
        {"{'a': {}}", "a"},
        {"{'a': {'b': 1, '$slice': 1}}", "a.$slice"},
        {"{'a': {'b': 1, 'c': 0}}", "a.c"},
        {"{'a': {'b': 1}, 'a.b': 1}", "a.b"},
        {"{'a': 1, 'a': {'b': 1}}", "a.b"},
        {"{'a': {'b': {}}}", "a.b"},
        {"{'a': {'': 1}}", "a."},
        {"{'a': {'$slice': 1, '$elemMatch': {}}}", "a"},
        {"{'a': {'$slice': 'x'}}", "a.$slice"},
        {"{'a': {'$slice': []}}", "a.$slice"},
        {"{'a': {'$slice': [1]}}", "a.$slice"},
        {"{'a': {'$slice': [1, 0]}}", "a.$slice"},
        {"{'a': {'$slice': [1, -1]}}", "a.$slice"},
        {"{'a': {'$slice': [1, 2, 3]}}", "a.$slice"},
        {"{'a': {'$elemMatch': 1}}", "a.$elemMatch"},
        {"{'a': {'$first': 1}}", "a.$first"},
        {"{'a.b': 1, 'a': {'$slice': 1}}", "a"},
        {"{'_id': 1, '_id.a': 1}", "_id"},
    };
    tansu_db *db = memory_db_open();
    char expected[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(expected, sizeof expected, "INVALID_QUERY hints.$fields.%s", cases[i].context);
        if (!CHECK_TEXT(expected, shown(db, "{'b.x': 1}", cases[i].fields)))
            check_note("%s", cases[i].fields);
    }
    CHECK_TEXT("INVALID_QUERY hints.$fields.a.$elemMatch.$no",
               shown(db, "{}", "{'a': {'$elemMatch': {'$no': 1}}}"));
    memory_db_close(db);
}

/* A document of paths means the paths that lead into it. */
static void nested_paths_are_dotted_paths(void) {
    static const struct {
        const char *nested, *dotted;
    } pairs[] = {
        {"{'o': {'p': 1}}", "{'o.p': 1}"},
        {"{'o': {'q': {'r': 1}, 'p': 1}, 'x': 1}", "{'o.q.r': 1, 'o.p': 1, 'x': 1}"},
        {"{'o': {'q.r': 1}}", "{'o.q.r': 1}"},
        {"{'o.q': {'r': 1}}", "{'o.q.r': 1}"},
        {"{'o': {'p': 0, 'q': {'r': 0}}}", "{'o.p': 0, 'o.q.r': 0}"},
        {"{'s': {'n': 1}, '_id': 0}", "{'s.n': 1, '_id': 0}"},
        {"{'s': {'n': false}}", "{'s.n': false}"},
        {"{'o': {'p': {'$slice': 1}}}", "{'o.p': {'$slice': 1}}"},
        {"{'o': {'p': {'$elemMatch': {'$gt': 5}}}}", "{'o.p': {'$elemMatch': {'$gt': 5}}}"},
        {"{'o': {'p.$': 1}}", "{'o.p.$': 1}"},
        {"{'s': {'0': {'n': 1}}}", "{'s.0.n': 1}"},
        {"{'_id': {'k': 1}}", "{'_id.k': 1}"},
    };
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id': {'k': 1, 'l': 2}, 'x': 1, 'o': {'p': [5, 6], 'q': {'r': 1, 's': 2}}, "
                  "'s': [{'n': 1, 'v': 7}, {'n': 2}]}");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char expected[500];
        snprintf(expected, sizeof expected, "%s", shown(db, "{'o.p': 6}", pairs[i].dotted));
        CHECK(expected[0] == '{');
        CHECK_TEXT(expected, shown(db, "{'o.p': 6}", pairs[i].nested));
    }
    memory_db_close(db);
}

/* ---- A model ---- */

enum form { INCLUDE, EXCLUDE, SLICE, WINDOW, MATCH };

/* One entry of $fields. */
typedef struct wanted {
    const char *path;
    enum form form;
    int first, second;
} wanted;

#define MAX_WANTED 3

typedef struct wanted_list {
    wanted items[MAX_WANTED];
    size_t count;
    bool exclude;
    bool id;
} wanted_list;

/* keep_elements -- the elements of an array from a place on, this many. */
static void keep_elements(bson_t *to, const char *key, const bson_iter_t *value, int skip,
                          int most) {
    bson_iter_t inner;
    bson_t array;
    int position = 0, taken = 0;
    char index[16];
    bson_append_array_begin(to, key, -1, &array);
    for (bson_iter_recurse(value, &inner); bson_iter_next(&inner); position++) {
        if (position < skip || taken >= most)
            continue;
        snprintf(index, sizeof index, "%d", taken++);
        bson_append_iter(&array, index, -1, &inner);
    }
    bson_append_array_end(to, &array);
}

/* apply -- an element whose path is in the list. */
static void apply(bson_t *to, const wanted *w, const bson_iter_t *value) {
    const char *key = bson_iter_key(value);
    bson_iter_t inner;
    int size = 0, position = 0, skip;
    if (w->form == EXCLUDE)
        return;
    if (w->form == INCLUDE || (w->form != MATCH && !BSON_ITER_HOLDS_ARRAY(value))) {
        bson_append_iter(to, NULL, -1, value);
        return;
    }
    if (!BSON_ITER_HOLDS_ARRAY(value))
        return;
    for (bson_iter_recurse(value, &inner); bson_iter_next(&inner);)
        size++;
    if (w->form == MATCH) {
        for (bson_iter_recurse(value, &inner); bson_iter_next(&inner); position++) {
            if (BSON_ITER_HOLDS_INT32(&inner) && bson_iter_int32(&inner) > w->first) {
                keep_elements(to, key, value, position, 1);
                return;
            }
        }
        return;
    }
    skip = w->first < 0 ? (size + w->first > 0 ? size + w->first : 0) : w->first;
    if (w->form == WINDOW)
        keep_elements(to, key, value, skip, w->second);
    else
        keep_elements(to, key, value, w->first < 0 ? skip : 0, w->first < 0 ? size : w->first);
}

/* append_matching -- the fields of $elemMatch, which come after the others. */
static void append_matching(bson_t *to, bson_iter_t iter, const wanted_list *list,
                            const char *prefix) {
    while (bson_iter_next(&iter)) {
        char path[64];
        snprintf(path, sizeof path, "%s%s%s", prefix, prefix[0] ? "." : "", bson_iter_key(&iter));
        for (size_t i = 0; i < list->count; i++) {
            if (list->items[i].form == MATCH && strcmp(list->items[i].path, path) == 0)
                apply(to, &list->items[i], &iter);
        }
    }
}

/* model -- the elements of a document or array, whose path so far is `prefix`. */
static void model(bson_t *to, bson_iter_t *iter, const wanted_list *list, const char *prefix,
                  bool array) {
    int number = 0;
    const bson_iter_t begin = *iter;
    while (bson_iter_next(iter)) {
        char path[64], index[16];
        const wanted *at = NULL;
        bool above = false;
        snprintf(index, sizeof index, "%d", number);
        const char *key = array ? index : bson_iter_key(iter);
        if (array)
            snprintf(path, sizeof path, "%s", prefix);
        else
            snprintf(path, sizeof path, "%s%s%s", prefix, prefix[0] ? "." : "", key);
        size_t size = strlen(path);
        for (size_t i = 0; i < list->count; i++) {
            if (!array && strcmp(list->items[i].path, path) == 0)
                at = &list->items[i];
            above = above || (strncmp(list->items[i].path, path, size) == 0 &&
                              list->items[i].path[size] == '.');
        }
        if (at) {
            if (at->form != MATCH || list->exclude)
                apply(to, at, iter);
            continue;
        }
        if (!above) {
            bool id = !prefix[0] && strcmp(key, "_id") == 0;
            if (id ? list->id : list->exclude)
                bson_append_iter(to, NULL, -1, iter);
            continue;
        }
        bson_iter_t inner;
        bson_t child;
        if (BSON_ITER_HOLDS_DOCUMENT(iter) || BSON_ITER_HOLDS_ARRAY(iter)) {
            bool is_array = BSON_ITER_HOLDS_ARRAY(iter);
            bson_iter_recurse(iter, &inner);
            if (is_array)
                bson_append_array_begin(to, key, -1, &child);
            else
                bson_append_document_begin(to, key, -1, &child);
            model(&child, &inner, list, path, is_array);
            if (is_array)
                bson_append_array_end(to, &child);
            else
                bson_append_document_end(to, &child);
            number++;
        } else if (list->exclude) {
            bson_append_iter(to, key, -1, iter);
            number++;
        }
    }
    if (!array && !list->exclude)
        append_matching(to, begin, list, prefix);
}

/* append_random -- something small, nested up to `depth`. */
static void append_random(random_source *source, bson_t *to, const char *key, int depth) {
    static const char *const names[] = {"a", "b", "c"};
    bson_t child;
    char index[16];
    uint64_t kind = random_below(source, depth > 0 ? 4 : 2);
    if (kind < 2) {
        BSON_APPEND_INT32(to, key, (int32_t)random_below(source, 10));
    } else if (kind == 2) {
        bson_append_document_begin(to, key, -1, &child);
        for (size_t i = 0; i < 3; i++) {
            if (random_chance(source, 70))
                append_random(source, &child, names[i], depth - 1);
        }
        bson_append_document_end(to, &child);
    } else {
        bson_append_array_begin(to, key, -1, &child);
        for (int i = 0, count = (int)random_below(source, 5); i < count; i++) {
            snprintf(index, sizeof index, "%d", i);
            append_random(source, &child, index, depth - 1);
        }
        bson_append_array_end(to, &child);
    }
}

/* random_wanted -- entries that may stand together, and their text. */
static void random_wanted(random_source *source, wanted_list *list, char *text, size_t room) {
    static const char *const paths[][3] = {
        {"a", "b", "c"}, {"a.a", "a.b", "b"}, {"a.b.c", "b.a", "c.b"}, {"a.b.c", "a.b.a", "c"}};
    const char *const *set = paths[random_below(source, 4)];
    bool include = false, exclude = false, match = false;
    int mode = (int)random_below(source, 2);
    list->count = 1 + random_below(source, MAX_WANTED);
    snprintf(text, room, "{");
    for (size_t i = 0; i < list->count; i++) {
        wanted *w = &list->items[i];
        char value[64];
        *w = (wanted){set[i], (enum form)random_below(source, 5),
                      (int)random_between(source, -4, 5), (int)random_between(source, 1, 4)};
        if (w->form == INCLUDE || w->form == EXCLUDE)
            w->form = mode ? INCLUDE : EXCLUDE;
        include = include || w->form == INCLUDE;
        exclude = exclude || w->form == EXCLUDE;
        match = match || w->form == MATCH;
        switch (w->form) {
        case INCLUDE: snprintf(value, sizeof value, "1"); break;
        case EXCLUDE: snprintf(value, sizeof value, "0"); break;
        case SLICE: snprintf(value, sizeof value, "{'$slice': %d}", w->first); break;
        case WINDOW:
            snprintf(value, sizeof value, "{'$slice': [%d, %d]}", w->first, w->second);
            break;
        case MATCH: snprintf(value, sizeof value, "{'$elemMatch': {'$gt': %d}}", w->first); break;
        }
        size_t used = strlen(text);
        snprintf(text + used, room - used, "%s'%s': %s", i == 0 ? "" : ", ", w->path, value);
    }
    list->exclude = !include && (exclude || !match);
    list->id = random_chance(source, 70);
    snprintf(text + strlen(text), room - strlen(text), "%s}", list->id ? "" : ", '_id': 0");
}

/* agrees_with_the_model -- random documents and projections. */
static void agrees_with_the_model(void) {
    random_source source = random_start(1);
    tansu_db *db = memory_db_open();
    for (int round = 0; round < 3000; round++) {
        bson_t doc = BSON_INITIALIZER, expected = BSON_INITIALIZER;
        bson_iter_t iter;
        wanted_list list;
        char text[400];
        BSON_APPEND_INT32(&doc, "_id", 1);
        append_random(&source, &doc, "a", 4);
        append_random(&source, &doc, "b", 3);
        append_random(&source, &doc, "c", 3);
        save_bson(db, &doc);
        random_wanted(&source, &list, text, sizeof text);
        bson_iter_init(&iter, &doc);
        model(&expected, &iter, &list, "", false);
        char *json = bson_as_relaxed_extended_json(&expected, NULL);
        if (!CHECK_TEXT(json, shown(db, "{}", text)))
            check_note("%s", text);
        bson_free(json);
        bson_destroy(&doc);
        bson_destroy(&expected);
    }
    memory_db_close(db);
}

/* the_first_match_is_shown -- "a.$" is the first element that passes, with and without an index. */
static void the_first_match_is_shown(void) {
    random_source source = random_start(2);
    tansu_db *db = memory_db_open();
    create_index(db, "a", "{'a': 1}", NULL);
    for (int round = 0; round < 500; round++) {
        char json[200] = "{'_id': 1, 'a': [", query[100], expected[100] = "";
        int least = (int)random_below(&source, 10), first = -1;
        for (int i = 0, count = 1 + (int)random_below(&source, 6); i < count; i++) {
            int number = (int)random_below(&source, 10);
            if (number > least && first < 0)
                first = number;
            snprintf(json + strlen(json), sizeof json - strlen(json), "%s%d", i ? ", " : "",
                     number);
        }
        strcat(json, "]}");
        save_text(db, json);
        snprintf(query, sizeof query, "{'a': {'$gt': %d}}", least);
        if (first >= 0)
            snprintf(expected, sizeof expected, "{ \"_id\" : 1, \"a\" : [ %d ] }", first);
        CHECK_TEXT(expected, shown(db, query, "{'a.$': 1}"));
    }
    memory_db_close(db);
}

/* append_element -- a document with some of the keys k, h and g, or a scalar. */
static void append_element(random_source *source, char *json, size_t size, bool inside) {
    static const char *const values[] = {"1", "'x'", "[1, 2]", "{'i': 1, 'j': 2}", "null"};
    size_t used = strlen(json);
    if (random_chance(source, 10)) {
        snprintf(json + used, size - used, "%d", (int)random_below(source, 3));
        return;
    }
    snprintf(json + used, size - used, "{'k': %d", (int)random_below(source, 3));
    for (const char *key = "hg"; *key; key++) {
        if (random_chance(source, 30))
            continue;
        used = strlen(json);
        snprintf(json + used, size - used, ", '%c': ", *key);
        used = strlen(json);
        if (inside && random_chance(source, 30)) {
            snprintf(json + used, size - used, "[");
            append_element(source, json, size, false);
            strcat(json, "]");
        } else {
            snprintf(json + used, size - used, "%s", values[random_below(source, 5)]);
        }
    }
    strcat(json, "}");
}

/* a_part_of_the_element -- "s.$.h" is "s.h" of what "s.$" shows. */
static void a_part_of_the_element(void) {
    static const char *const parts[][2] = {
        {"{'s.$.h': 1, '_id': 0}", "{'s.h': 1, '_id': 0}"},
        {"{'s.$.h': 1, 's.$.g.i': 1, '_id': 0}", "{'s.h': 1, 's.g.i': 1, '_id': 0}"},
        {"{'s.$.h.k': 1, '_id': 0}", "{'s.h.k': 1, '_id': 0}"},
        {"{'s.$.g.0': 1, '_id': 0}", "{'s.g.0': 1, '_id': 0}"},
    };
    random_source source = random_start(3);
    tansu_db *db = memory_db_open();
    unsigned compared = 0;
    for (int round = 0; round < 500; round++) {
        char json[2000] = "{'_id': 1, 's': [", query[100], whole[2000], part[2000];
        for (int i = 0, count = 1 + (int)random_below(&source, 4); i < count; i++) {
            strcat(json, i ? ", " : "");
            append_element(&source, json, sizeof json, true);
        }
        strcat(json, "]}");
        save_text(db, json);
        snprintf(query, sizeof query, "{'_id': 1, 's.k': %d}", (int)random_below(&source, 3));
        snprintf(whole, sizeof whole, "%s", shown(db, query, "{'s.$': 1, '_id': 0}"));
        if (whole[0] == '\0')
            continue;
        snprintf(json, sizeof json, "{ \"_id\" : 2,%.1900s", whole + 1);
        save_text(db, json);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, compared++) {
            snprintf(part, sizeof part, "%s", shown(db, query, parts[i][0]));
            if (!CHECK_TEXT(shown(db, "{'_id': 2}", parts[i][1]), part))
                check_note("%s %s", whole, parts[i][0]);
        }
    }
    CHECK(compared > 500);
    memory_db_close(db);
}

int main(void) {
    RUN(parts_of_arrays);
    RUN(what_is_wrong_is_named);
    RUN(nested_paths_are_dotted_paths);
    RUN(agrees_with_the_model);
    RUN(the_first_match_is_shown);
    RUN(a_part_of_the_element);
    return check_finish();
}
