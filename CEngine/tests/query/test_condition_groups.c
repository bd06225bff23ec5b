/*
 * test_condition_groups.c -- many conditions in one query mean what they mean one by one. The
 * engine puts many tests of one path together and looks for all their values at once; here every
 * condition is asked by itself, and the sets of documents that they select are joined in the test:
 * $or is their union, $and what they have in common, $nor what is in none of them; alone, inside
 * each other, under $elemMatch, $all and $stror, with a collation and with an index.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many databases are made (60).
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"
#include "support/random/random_operator.h"
#include "support/random/random_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 40
#define LEAVES 60
#define QUERIES 12
#define DEFAULT_ROUNDS 60
#define ALL ((UINT64_C(1) << DOCUMENTS) - 1)

/* Conditions, each with the set of documents that it selects: bit n is `_id` n. */
typedef struct leaves {
    bson_t *conditions[LEAVES];
    uint64_t sets[LEAVES];
    int count;
} leaves;

static tansu_db *db;
static bson_t *hints;
static uint64_t compared, selected;

/* ask_set -- the documents that a query selects; false when it is refused. */
static bool ask_set(const bson_t *query, uint64_t *set) {
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    *set = 0;
    if (tansu_find(db, NULL, "c", document_of(query), document_of(hints), &cursor, &error) !=
        TANSU_OK)
        return false;
    tansu_status status;
    while ((status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK) {
        bson_t doc;
        bson_iter_t iter;
        if (bson_init_static(&doc, document.data, document.size) &&
            bson_iter_init_find(&iter, &doc, "_id"))
            *set |= UINT64_C(1) << bson_iter_as_int64(&iter);
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE;
}

/* append_condition -- one on a path: mostly an equality, or with `favourite` mostly one operator,
 * so that there are many of it on one path. */
static void append_condition(random_source *r, bson_t *query, const char *path,
                             const uint64_t *favourite) {
    if (random_chance(r, favourite ? 20 : 60)) {
        random_append_value(r, query, path, -1, 1);
        return;
    }
    bson_t operators;
    BSON_APPEND_DOCUMENT_BEGIN(query, path, &operators);
    random_operator(r, &operators, favourite && random_chance(r, 90) ? *favourite : random_next(r));
    bson_append_document_end(query, &operators);
}

/* make_leaves -- conditions on few paths. */
static void make_leaves(random_source *r, leaves *l, int most) {
    static const char *const paths[] = {"a", "a", "a", "b", "c", "a.b", "a.0", "*", "zz"};
    uint64_t favourite = random_next(r);
    bool any = random_chance(r, 50);
    l->count = 0;
    for (int i = 0; i < most; i++) {
        bson_t *query = bson_new();
        append_condition(r, query, paths[random_below(r, sizeof paths / sizeof *paths)],
                         any ? NULL : &favourite);
        if (ask_set(query, &l->sets[l->count]))
            l->conditions[l->count++] = query;
        else
            bson_destroy(query);
    }
}

/* append_all -- a logical operator over the conditions whose sets have all bits of `within`.
 * Returns the union and the intersection of those sets. */
static void append_all(const leaves *l, bson_t *query, const char *op, uint64_t within,
                       uint64_t *any, uint64_t *every) {
    bson_t list;
    int count = 0;
    *any = 0;
    *every = ALL;
    BSON_APPEND_ARRAY_BEGIN(query, op, &list);
    for (int i = 0; i < l->count; i++) {
        char key[16];
        if ((l->sets[i] & within) != within)
            continue;
        snprintf(key, sizeof key, "%d", count++);
        BSON_APPEND_DOCUMENT(&list, key, l->conditions[i]);
        *any |= l->sets[i];
        *every &= l->sets[i];
    }
    if (count == 0) {
        bson_t empty = BSON_INITIALIZER;
        BSON_APPEND_DOCUMENT(&list, "0", &empty);
        *any = ALL;
    }
    bson_append_array_end(query, &list);
}

/* compare -- a query selects a set. */
static bool compare(const bson_t *query, uint64_t expected) {
    uint64_t set;
    bool same = CHECK(ask_set(query, &set)) && CHECK_INT((int64_t)expected, (int64_t)set);
    compared++;
    selected += set != 0;
    if (!same) {
        char *text = bson_as_canonical_extended_json(query, NULL);
        char *with = bson_as_canonical_extended_json(hints, NULL);
        check_note("query %s hints %s, TANSU_SEED=%" PRIu64, text, with, random_seed());
        bson_free(text);
        bson_free(with);
    }
    return same;
}

/* compare_logic -- $or, $and, $nor, and some inside others. */
static bool compare_logic(random_source *r, const leaves *l) {
    static const char *const ops[] = {"$or", "$and", "$nor"};
    uint64_t any, every, other_any, other_every;
    uint64_t within = random_chance(r, 60) ? UINT64_C(1) << random_below(r, DOCUMENTS) : 0;
    int which = (int)random_below(r, 3), inner = (int)random_below(r, 3);
    bson_t *query = bson_new(), *below = bson_new();
    append_all(l, query, ops[which], within, &any, &every);
    uint64_t expected = which == 0 ? any : which == 1 ? every : ALL & ~any;
    bool same = compare(query, expected);
    append_all(l, below, ops[inner], UINT64_C(1) << random_below(r, DOCUMENTS), &other_any,
               &other_every);
    uint64_t set = inner == 0 ? other_any : inner == 1 ? other_every : ALL & ~other_any;
    /* With the operator, and inside a $not with it. */
    bson_t whole = BSON_INITIALIZER, both;
    BSON_APPEND_ARRAY_BEGIN(&whole, "$and", &both);
    BSON_APPEND_DOCUMENT(&both, "0", query);
    bson_t negated = BSON_INITIALIZER;
    BSON_APPEND_DOCUMENT(&negated, "$not", below);
    BSON_APPEND_DOCUMENT(&both, "1", &negated);
    bson_append_array_end(&whole, &both);
    same = same && compare(&whole, expected & ~set);
    bson_destroy(&whole);
    bson_destroy(&negated);
    bson_destroy(query);
    bson_destroy(below);
    return same;
}

/* compare_lists -- {a: {operator: [many]}} with {a: {operator: [one]}} for each of the values. */
static bool compare_lists(random_source *r) {
    static const struct {
        const char *op;
        bool every; /* all must hold */
        bool texts;
    } kinds[] = {{"$in", false, false},      {"$all", true, false},
                 {"$stror", false, true},    {"$strand", true, true},
                 {"$begin", false, true},    {"$endsWith", false, true},
                 {"$contains", false, true}, {"$elemMatch", false, false}};
    size_t kind = random_below(r, sizeof kinds / sizeof *kinds);
    bool elements = strcmp(kinds[kind].op, "$elemMatch") == 0, whole = true;
    uint64_t expected = kinds[kind].every ? ALL : 0;
    bson_t many = BSON_INITIALIZER, a, list, branches;
    BSON_APPEND_DOCUMENT_BEGIN(&many, "a", &a);
    if (elements) {
        BSON_APPEND_DOCUMENT_BEGIN(&a, "$elemMatch", &branches);
        BSON_APPEND_ARRAY_BEGIN(&branches, "$or", &list);
    } else {
        BSON_APPEND_ARRAY_BEGIN(&a, kinds[kind].op, &list);
    }
    for (int i = 0, most = 2 + (int)random_below(r, 40); i < most; i++) {
        char key[16];
        bson_t one = BSON_INITIALIZER, value = BSON_INITIALIZER, condition, values;
        bson_iter_t iter;
        uint64_t set = 0;
        if (kinds[kind].texts)
            bson_append_utf8(&value, "v", -1, random_short_text(r), -1);
        else
            random_append_value(r, &value, elements ? "$eq" : "v", -1, 1);
        snprintf(key, sizeof key, "%d", i);
        bson_iter_init(&iter, &value);
        bson_iter_next(&iter);
        BSON_APPEND_DOCUMENT_BEGIN(&one, "a", &condition);
        if (elements) {
            BSON_APPEND_DOCUMENT(&condition, "$elemMatch", &value);
            BSON_APPEND_DOCUMENT(&list, key, &value);
        } else {
            BSON_APPEND_ARRAY_BEGIN(&condition, kinds[kind].op, &values);
            bson_append_iter(&values, "0", 1, &iter);
            bson_append_array_end(&condition, &values);
            bson_append_iter(&list, key, -1, &iter);
        }
        bson_append_document_end(&one, &condition);
        whole = ask_set(&one, &set) && whole;
        expected = kinds[kind].every ? expected & set : expected | set;
        bson_destroy(&one);
        bson_destroy(&value);
    }
    if (elements) {
        bson_append_array_end(&branches, &list);
        bson_append_document_end(&a, &branches);
    } else {
        bson_append_array_end(&a, &list);
    }
    bson_append_document_end(&many, &a);
    bool same = !whole || compare(&many, expected);
    bson_destroy(&many);
    return same;
}

/* one_round -- one database. */
static bool one_round(uint64_t round) {
    random_source r = random_start(round);
    bool same = true, plain = random_chance(&r, 40);
    db = memory_db_open();
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t *doc = random_case_document(&r, i, plain);
        save_bson(db, doc);
        bson_destroy(doc);
    }
    if (random_chance(&r, 50))
        create_index(db, "by_a", random_chance(&r, 50) ? "{'a':1}" : "{'a':-1,'b':1}", NULL);
    for (int i = 0; same && i < QUERIES; i++) {
        leaves l;
        hints = bson_new();
        if (random_chance(&r, 40))
            random_collation(&r, hints);
        make_leaves(&r, &l, 2 + (int)random_below(&r, LEAVES - 1));
        same = compare_logic(&r, &l) && compare_lists(&r);
        for (int k = 0; k < l.count; k++)
            bson_destroy(l.conditions[k]);
        bson_destroy(hints);
    }
    memory_db_close(db);
    return same;
}

static void many_conditions_mean_what_each_of_them_does(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round))
            return;
    }
    CHECK(selected > compared / 4);
}

/* put_documents -- values around zero in steps of a half, what no range has, and arrays of them. */
static void put_documents(void) {
    static const char *const values[] = {"{'$numberDouble':'NaN'}",
                                         "null",
                                         "'x'",
                                         "'y'",
                                         "[]",
                                         "[0,{'$numberDouble':'NaN'}]",
                                         "[-3,3]",
                                         "[1,2,3]",
                                         "['x',0.5]",
                                         "[[1],-1]",
                                         "{'$numberDecimal':'0.5'}",
                                         "{'$numberDecimal':'NaN'}",
                                         "{'$minKey':1}",
                                         "true"};
    int id = 0;
    for (; id < 25; id++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", id);
        BSON_APPEND_DOUBLE(&doc, "a", (id - 12) / 2.0);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'_id':%d,'a':%s}", id++, values[i]);
        bson_t *doc = bson_from_text(text);
        save_bson(db, doc);
        bson_destroy(doc);
    }
    bson_t doc = BSON_INITIALIZER;
    BSON_APPEND_INT32(&doc, "_id", id++);
    save_bson(db, &doc);
    CHECK_INT(DOCUMENTS, id);
    bson_destroy(&doc);
}

/* put_range -- a short range, or one to either side of a value near zero. */
static void put_range(random_source *r, bson_t *query) {
    static const char *const below[] = {"$lt", "$lte"}, *const above[] = {"$gt", "$gte"};
    double value = (double)random_between(r, 0, 12) / 2;
    char text[100];
    switch (random_below(r, 8)) {
    case 0: snprintf(text, sizeof text, "{'%s':%g}", below[random_below(r, 2)], -value); break;
    case 1: snprintf(text, sizeof text, "{'%s':%g}", above[random_below(r, 2)], value); break;
    case 2:
        snprintf(text, sizeof text, "{'$bt':['w','%c']}", (char)('w' + random_below(r, 3)));
        break;
    case 3:
        snprintf(text, sizeof text, "{'%s':'x'}", (random_chance(r, 50) ? below : above)[0]);
        break;
    case 4: snprintf(text, sizeof text, "%g", value); break;
    case 5: snprintf(text, sizeof text, "{'%s':null}", below[1]); break;
    default:
        value = (double)random_between(r, -12, 12) / 2;
        snprintf(text, sizeof text, "{'$bt':[%g,%g]}", value,
                 value + (double)random_below(r, 3) / 2);
    }
    char whole[150];
    snprintf(whole, sizeof whole, "{'a':%s}", text);
    bson_t *made = bson_from_text(whole);
    bson_concat(query, made);
    bson_destroy(made);
}

/* put_bound -- one of many bounds on the same side, a remainder, or a size, by `kind`. */
static void put_bound(random_source *r, bson_t *query, uint64_t kind) {
    static const char *const pairs[][2] = {{"$lt", "$lte"}, {"$gt", "$gte"}};
    char text[100];
    if (kind < 2)
        snprintf(text, sizeof text, "{'a':{'%s':%g}}", pairs[kind][random_below(r, 2)],
                 (double)random_between(r, -6, 6) / 2);
    else if (kind == 2)
        snprintf(text, sizeof text, "{'a':{'$mod':[%d,%d]}}", random_chance(r, 80) ? 5 : -3,
                 (int)random_between(r, -4, 4));
    else
        snprintf(text, sizeof text, "{'a':{'$size':%d}}", (int)random_below(r, 4));
    bson_t *made = bson_from_text(text);
    bson_concat(query, made);
    bson_destroy(made);
}

/* Many ranges, bounds, remainders and sizes of one path, whose ends touch. */
static void many_ranges_of_one_path_mean_what_each_does(void) {
    random_source r = random_start(1000000);
    db = memory_db_open();
    hints = bson_new();
    put_documents();
    bool same = true;
    for (int round = 0; same && round < 600; round++) {
        leaves l = {.count = 0};
        uint64_t kind = random_below(&r, 8);
        for (int i = 8 + (int)random_below(&r, 20); i > 0; i--) {
            bson_t *query = bson_new();
            if (kind < 4)
                put_bound(&r, query, kind);
            else
                put_range(&r, query);
            CHECK(ask_set(query, &l.sets[l.count]));
            l.conditions[l.count++] = query;
        }
        same = compare_logic(&r, &l);
        for (int k = 0; k < l.count; k++)
            bson_destroy(l.conditions[k]);
    }
    bson_destroy(hints);
    memory_db_close(db);
}

/* More fields than a word has bits: found by search, those that are not there among them. */
static void very_many_fields_are_all_asked(void) {
    db = memory_db_open();
    hints = bson_new();
    for (int id = 0; id < 4; id++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", id);
        for (int i = 0; i < 300; i++) {
            char key[16];
            snprintf(key, sizeof key, "f%d", i);
            if (id != 1 || i != 137)
                BSON_APPEND_INT32(&doc, key, id == 2 && i == 299 ? -1 : i);
        }
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    bson_t all = BSON_INITIALIZER, none = BSON_INITIALIZER, list;
    BSON_APPEND_ARRAY_BEGIN(&none, "$nor", &list);
    for (int i = 299; i >= 0; i--) {
        char key[16], number[16];
        snprintf(key, sizeof key, "f%d", i);
        snprintf(number, sizeof number, "%d", 299 - i);
        BSON_APPEND_INT32(&all, key, i);
        bson_t branch = BSON_INITIALIZER;
        if (i == 137)
            BSON_APPEND_NULL(&branch, key);
        else
            BSON_APPEND_INT32(&branch, key, -1);
        BSON_APPEND_DOCUMENT(&list, number, &branch);
        bson_destroy(&branch);
    }
    bson_append_array_end(&none, &list);
    compare(&all, 1 << 0 | 1 << 3);
    compare(&none, 1 << 0 | 1 << 3);
    BSON_APPEND_NULL(&all, "missing");
    compare(&all, 1 << 0 | 1 << 3);
    BSON_APPEND_INT32(&all, "missing_too", 1);
    compare(&all, 0);
    bson_destroy(&all);
    bson_destroy(&none);
    bson_destroy(hints);
    memory_db_close(db);
}

int main(void) {
    RUN(many_conditions_mean_what_each_of_them_does);
    RUN(many_ranges_of_one_path_mean_what_each_does);
    RUN(very_many_fields_are_all_asked);
    check_note("%" PRIu64 " queries compared, %" PRIu64 " of which select something", compared,
               selected);
    return check_finish();
}
