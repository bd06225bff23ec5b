/*
 * test_subquery_differential.c -- random queries with subqueries, nested, of two collections that
 * change: each must find what the same query finds with arrays in place of its subqueries, whose
 * values the test collects itself; with and without indexes, in transactions and in snapshots.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "support/random/random_query.h"
#include "util/buffer.h"

#include <stdio.h>
#include <string.h>

#define WORLDS 150
#define CASES 40
#define DOCUMENTS 50

static const char *const collections[] = {"left", "right", "right", "left", "none"};
static const char *const paths[] = {"a", "b", "_id", "u", "c", "a.b", "c.a", "b.0", "a.b.c"};
/* Without positions, so that values() below is simple. */
static const char *const fields[] = {"a", "b", "_id", "u", "c", "a.b", "c.a", "a.b.c"};

/* A database, the transaction that reads it, and the collation of the current query. */
typedef struct world {
    random_source *r;
    tansu_db *db;
    tansu_txn *txn; /* NULL: none */
    const bson_t *collation;
} world;

/* ---- Values of a field ---- */

/* Values, and regular expressions among them, which $in would take for patterns. */
typedef struct value_list {
    bson_t values;
    bson_t regexes;
    int count;
    int regex_count;
} value_list;

static void add(value_list *list, const bson_iter_t *value) {
    char key[16];
    bool regex = bson_iter_type(value) == BSON_TYPE_REGEX;
    snprintf(key, sizeof key, "%d", regex ? list->regex_count++ : list->count++);
    bson_append_iter(regex ? &list->regexes : &list->values, key, -1, value);
}

static void enter(value_list *list, const bson_iter_t *parent, const char *field);

/* reach -- a value that the path has led to; `rest` is what is left of the path, or "". */
static void reach(value_list *list, const bson_iter_t *value, const char *rest) {
    bson_iter_t iter;
    if (rest[0] != '\0' && BSON_ITER_HOLDS_DOCUMENT(value)) {
        enter(list, value, rest);
    } else if (BSON_ITER_HOLDS_ARRAY(value) && bson_iter_recurse(value, &iter)) {
        while (bson_iter_next(&iter)) {
            if (rest[0] == '\0')
                add(list, &iter);
            else if (BSON_ITER_HOLDS_DOCUMENT(&iter))
                enter(list, &iter, rest);
        }
    } else if (rest[0] == '\0') {
        add(list, value);
    }
}

/* enter -- the member of a document that the next part of a path names. */
static void enter(value_list *list, const bson_iter_t *parent, const char *field) {
    const char *dot = strchr(field, '.');
    size_t size = dot ? (size_t)(dot - field) : strlen(field);
    bson_iter_t iter;
    REQUIRE(bson_iter_recurse(parent, &iter));
    while (bson_iter_next(&iter)) {
        if (strlen(bson_iter_key(&iter)) == size &&
            memcmp(bson_iter_key(&iter), field, size) == 0) {
            reach(list, &iter, dot ? dot + 1 : "");
            return;
        }
    }
}

/* collect -- the values of a field in all documents that a query without subqueries finds. */
static void collect(const world *w, const char *collection, const char *field, const bson_t *query,
                    value_list *list) {
    bson_t hints = BSON_INITIALIZER;
    tansu_cursor *cursor = NULL;
    tansu_document document;
    BSON_APPEND_BOOL(&hints, "$index", false);
    if (w->collation)
        bson_concat(&hints, w->collation);
    tansu_status status = tansu_find(w->db, w->txn, collection, document_of(query),
                                     document_of(&hints), &cursor, &call_error);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK) {
        bson_t whole, holder = BSON_INITIALIZER;
        bson_iter_t iter;
        REQUIRE(bson_init_static(&whole, document.data, document.size));
        BSON_APPEND_DOCUMENT(&holder, "d", &whole);
        REQUIRE(bson_iter_init_find(&iter, &holder, "d"));
        enter(list, &iter, field);
        bson_destroy(&holder);
    }
    CHECK_STATUS(TANSU_DONE, status);
    tansu_cursor_close(cursor);
    bson_destroy(&hints);
}

/* ---- Random queries: each twice, with subqueries and without ---- */

static void clause(const world *w, bson_t *with, bson_t *plain, int depth);

/* append_alternatives -- {"$or": [{"$in": values}, {"$eq": regex}, …]}. */
static void append_alternatives(bson_t *to, const value_list *list) {
    bson_t any, one;
    bson_iter_t iter;
    char key[16];
    int number = 1;
    BSON_APPEND_ARRAY_BEGIN(to, "$or", &any);
    BSON_APPEND_DOCUMENT_BEGIN(&any, "0", &one);
    BSON_APPEND_ARRAY(&one, "$in", &list->values);
    bson_append_document_end(&any, &one);
    REQUIRE(bson_iter_init(&iter, &list->regexes));
    while (bson_iter_next(&iter)) {
        snprintf(key, sizeof key, "%d", number++);
        BSON_APPEND_DOCUMENT_BEGIN(&any, key, &one);
        bson_append_iter(&one, "$eq", -1, &iter);
        bson_append_document_end(&any, &one);
    }
    bson_append_array_end(to, &any);
}

/* condition -- appends $in or $nin with a subquery to one document, and what it means to the
 * other. */
static void condition(const world *w, bson_t *with, bson_t *plain, int depth) {
    random_source *r = w->r;
    const char *collection = collections[random_below(r, 5)];
    const char *field = fields[random_below(r, random_chance(r, 60) ? 3 : 8)];
    bool negated = random_chance(r, 25), named = strcmp(field, "_id") != 0 || random_chance(r, 50);
    bson_t inner_with = BSON_INITIALIZER, inner_plain = BSON_INITIALIZER, sub, not ;
    if (random_chance(r, 80))
        clause(w, &inner_with, &inner_plain, depth - 1);
    BSON_APPEND_DOCUMENT_BEGIN(with, negated ? "$nin" : "$in", &sub);
    BSON_APPEND_UTF8(&sub, "$from", collection);
    if (!bson_empty(&inner_with) || random_chance(r, 50))
        BSON_APPEND_DOCUMENT(&sub, "$query", &inner_with);
    if (named)
        BSON_APPEND_UTF8(&sub, "$field", field);
    bson_append_document_end(with, &sub);
    value_list list = {.count = 0};
    bson_init(&list.values);
    bson_init(&list.regexes);
    collect(w, collection, field, &inner_plain, &list);
    if (negated) {
        BSON_APPEND_DOCUMENT_BEGIN(plain, "$not", &not );
        append_alternatives(&not, &list);
        bson_append_document_end(plain, &not );
    } else {
        append_alternatives(plain, &list);
    }
    bson_destroy(&list.values);
    bson_destroy(&list.regexes);
    bson_destroy(&inner_with);
    bson_destroy(&inner_plain);
}

/* on_path -- {path: condition}, or {path: {operator: condition}}. */
static void on_path(const world *w, bson_t *with, bson_t *plain, int depth) {
    static const char *const operators[] = {"$elemMatch", "$not", "$allMatch"};
    const char *path = paths[random_below(w->r, random_chance(w->r, 60) ? 3 : 9)];
    const char *operator= random_chance(w->r, 25) ? operators[random_below(w->r, 3)] : NULL;
    bson_t outer[2], inner[2];
    BSON_APPEND_DOCUMENT_BEGIN(with, path, &outer[0]);
    BSON_APPEND_DOCUMENT_BEGIN(plain, path, &outer[1]);
    if (operator) {
        BSON_APPEND_DOCUMENT_BEGIN(&outer[0], operator, & inner[0]);
        BSON_APPEND_DOCUMENT_BEGIN(&outer[1], operator, & inner[1]);
        condition(w, &inner[0], &inner[1], depth);
        bson_append_document_end(&outer[0], &inner[0]);
        bson_append_document_end(&outer[1], &inner[1]);
    } else {
        condition(w, &outer[0], &outer[1], depth);
    }
    bson_append_document_end(with, &outer[0]);
    bson_append_document_end(plain, &outer[1]);
}

/* clause -- one key: a condition with a subquery, logic, or anything else. */
static void clause(const world *w, bson_t *with, bson_t *plain, int depth) {
    static const char *const logic[] = {"$and", "$or", "$nor"};
    if (depth > 0 && random_chance(w->r, 60)) {
        on_path(w, with, plain, depth);
    } else if (depth > 0 && random_chance(w->r, 60)) {
        const char *name = logic[random_below(w->r, 3)];
        bson_t list[2], one[2];
        BSON_APPEND_ARRAY_BEGIN(with, name, &list[0]);
        BSON_APPEND_ARRAY_BEGIN(plain, name, &list[1]);
        for (int i = 0; i < 2; i++) {
            const char *key = i == 0 ? "0" : "1";
            BSON_APPEND_DOCUMENT_BEGIN(&list[0], key, &one[0]);
            BSON_APPEND_DOCUMENT_BEGIN(&list[1], key, &one[1]);
            clause(w, &one[0], &one[1], depth - i);
            bson_append_document_end(&list[0], &one[0]);
            bson_append_document_end(&list[1], &one[1]);
        }
        bson_append_array_end(with, &list[0]);
        bson_append_array_end(plain, &list[1]);
    } else {
        bson_t any = BSON_INITIALIZER;
        random_selector(w->r, &any, 1);
        bson_concat(with, &any);
        bson_concat(plain, &any);
        bson_destroy(&any);
    }
}

/* ---- Both answers ---- */

/* answer -- the documents of a query one after the other; at an error its status. */
static void answer(const world *w, const bson_t *query, const bson_t *hints, tansu_buffer *out) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_buffer_free(out);
    tansu_status status = tansu_find(w->db, w->txn, "left", document_of(query), document_of(hints),
                                     &cursor, &call_error);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK)
        REQUIRE(buffer_append(out, document.data, document.size));
    if (status != TANSU_DONE)
        REQUIRE(buffer_append(out, &status, sizeof status));
    tansu_cursor_close(cursor);
}

/* The answers of the other calls. */
typedef struct other_answers {
    int64_t count;
    tansu_buffer distinct;
    tansu_buffer groups;
    tansu_buffer update;
    int64_t removed;
} other_answers;

/* ask_others -- counts, aggregates, and in a transaction that is rolled back changes documents. */
static void ask_others(const world *w, const bson_t *query, const bson_t *hints, other_answers *a) {
    static const char group_text[] =
        "{\"fields\": {\"n\": {\"$count\": true}, \"least\": {\"$min\": \"a\"}}}";
    bson_t *group = bson_new_from_json((const uint8_t *)group_text, -1, NULL);
    bson_t *update = bson_new_from_json((const uint8_t *)"{\"$set\": {\"z\": 1}}", -1, NULL);
    tansu_count(w->db, w->txn, "left", document_of(query), document_of(hints), &a->count, NULL);
    tansu_distinct(w->db, w->txn, "left", "_id", document_of(query), document_of(w->collation),
                   &a->distinct, NULL);
    tansu_aggregate(w->db, w->txn, "left", document_of(query), document_of(group),
                    document_of(w->collation), &a->groups, NULL);
    if (w->txn == NULL) {
        tansu_txn *txn = call_begin(w->db, TANSU_TXN_WRITE);
        tansu_update(w->db, txn, "left", document_of(query), document_of(update),
                     document_of(hints), &a->update, NULL);
        tansu_txn_abort(txn);
        txn = call_begin(w->db, TANSU_TXN_WRITE);
        tansu_remove(w->db, txn, "left", document_of(query), document_of(hints), &a->removed, NULL);
        tansu_txn_abort(txn);
    }
    bson_destroy(group);
    bson_destroy(update);
}

static void others_free(other_answers *a) {
    tansu_buffer_free(&a->distinct);
    tansu_buffer_free(&a->groups);
    tansu_buffer_free(&a->update);
}

/* note -- shows a case in which the answers differ. */
static void note(const bson_t *with, const bson_t *plain, const bson_t *hints) {
    char *text[] = {bson_as_canonical_extended_json(with, NULL),
                    bson_as_canonical_extended_json(plain, NULL),
                    bson_as_canonical_extended_json(hints, NULL)};
    check_note("with subqueries %s\nwithout %s\nhints %s", text[0], text[1], text[2]);
    for (int i = 0; i < 3; i++)
        bson_free(text[i]);
}

/* compare -- one random query in both forms. Whether it found anything. */
static bool compare(world *w) {
    bson_t with = BSON_INITIALIZER, plain = BSON_INITIALIZER;
    bson_t *hints = random_hints(w->r, false), collation = BSON_INITIALIZER;
    tansu_buffer expected = TANSU_BUFFER_INIT, actual = TANSU_BUFFER_INIT;
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, hints, "$collation"))
        bson_append_iter(&collation, "$collation", -1, &iter);
    w->collation = &collation;
    on_path(w, &with, &plain, 2);
    if (random_chance(w->r, 40)) {
        bson_t list[2], one[2];
        BSON_APPEND_ARRAY_BEGIN(&with, "$and", &list[0]);
        BSON_APPEND_ARRAY_BEGIN(&plain, "$and", &list[1]);
        BSON_APPEND_DOCUMENT_BEGIN(&list[0], "0", &one[0]);
        BSON_APPEND_DOCUMENT_BEGIN(&list[1], "0", &one[1]);
        clause(w, &one[0], &one[1], 2);
        bson_append_document_end(&list[0], &one[0]);
        bson_append_document_end(&list[1], &one[1]);
        bson_append_array_end(&with, &list[0]);
        bson_append_array_end(&plain, &list[1]);
    }
    uint64_t failures = check_failures();
    answer(w, &plain, hints, &expected);
    answer(w, &with, hints, &actual);
    CHECK_BYTES(expected.data, expected.size, actual.data, actual.size);
    other_answers one = {.count = -1}, two = {.count = -1};
    ask_others(w, &plain, hints, &one);
    ask_others(w, &with, hints, &two);
    CHECK_INT(one.count, two.count);
    CHECK_INT(one.removed, two.removed);
    CHECK_BYTES(one.distinct.data, one.distinct.size, two.distinct.data, two.distinct.size);
    CHECK_BYTES(one.groups.data, one.groups.size, two.groups.data, two.groups.size);
    CHECK_BYTES(one.update.data, one.update.size, two.update.data, two.update.size);
    if (check_failures() != failures)
        note(&with, &plain, hints);
    bool found = expected.size > sizeof(tansu_status);
    others_free(&one);
    others_free(&two);
    tansu_buffer_free(&expected);
    tansu_buffer_free(&actual);
    bson_destroy(&with);
    bson_destroy(&plain);
    bson_destroy(&collation);
    bson_destroy(hints);
    w->collation = NULL;
    return found;
}

/* ---- Worlds ---- */

/* change -- saves or removes a random document; a unique index may refuse it. */
static void change(const world *w, tansu_txn *txn, bool plain) {
    const char *collection = random_chance(w->r, 50) ? "left" : "right";
    int id = (int)random_below(w->r, DOCUMENTS);
    bson_t *doc = random_case_document(w->r, id, plain);
    tansu_document document = document_of(doc);
    if (random_chance(w->r, 85)) {
        tansu_save(w->db, txn, collection, &document, 1, TANSU_SAVE, NULL, NULL);
    } else {
        char query[40];
        snprintf(query, sizeof query, "{'_id': %d}", id);
        CHECK_STATUS(TANSU_OK, call_remove(w->db, txn, collection, query, NULL));
    }
    bson_destroy(doc);
}

/* add_index -- a random index of a collection, unless its documents forbid it. */
static void add_index(const world *w, int number) {
    char name[16];
    bson_t *keys, *options;
    snprintf(name, sizeof name, "i%d", number);
    random_index(w->r, &keys, &options);
    tansu_index_create(w->db, NULL, random_chance(w->r, 50) ? "left" : "right", name,
                       document_of(keys), document_of(options), NULL, NULL, NULL);
    bson_destroy(keys);
    bson_destroy(options);
}

/* one_world -- two collections, their indexes, and queries in all states. */
static int one_world(uint64_t number) {
    random_source r = random_start(number);
    world w = {.r = &r, .db = call_open(NULL)};
    bool plain = random_chance(&r, 40);
    int found = 0;
    for (int i = 0; i < 2 * DOCUMENTS; i++)
        change(&w, NULL, plain);
    for (int i = 0; i < (int)random_below(&r, 7); i++)
        add_index(&w, i);
    for (int i = 0; i < CASES; i++) {
        if (i % 8 == 6) { /* changes that are not committed */
            w.txn = call_begin(w.db, TANSU_TXN_WRITE);
            for (int k = 0; k < 8; k++)
                change(&w, w.txn, plain);
        } else if (i % 8 == 7) { /* a snapshot that others have overtaken */
            w.txn = call_begin(w.db, TANSU_TXN_READ);
            CHECK_INT(0, call_count(w.db, w.txn, "none", "{}"));
            for (int k = 0; k < 8; k++)
                change(&w, NULL, plain);
        }
        found += compare(&w);
        if (w.txn)
            tansu_txn_abort(w.txn);
        w.txn = NULL;
    }
    call_close(w.db);
    return found;
}

static void subqueries_mean_their_values(void) {
    uint64_t worlds = random_rounds("TANSU_ROUNDS", WORLDS), found = 0;
    for (uint64_t i = 0; i < worlds; i++)
        found += (uint64_t)one_world(i);
    CHECK(found > worlds * CASES / 8);
}

int main(void) {
    library_regex_start();
    RUN(subqueries_mean_their_values);
    return check_finish();
}
