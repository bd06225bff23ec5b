/*
 * test_covering_index.c -- results that are made from an index, or merged from several of its
 * ranges, are byte for byte those of the documents: for values of every kind, fields in any order
 * at every level, indexes of any shape and option, documents that change, an answer that was begun
 * before they did, and a database that was opened again.
 *
 * TANSU_ROUNDS: how many databases (default 12); TANSU_SEED repeats a run.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random_bson.h"
#include "support/random/random_operator.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEXES 7
#define MOST_PATHS 5
#define IDS 250
#define DEFAULT_ROUNDS 12

static tansu_db *db;
static bool arrays; /* whether documents of this round may have some */

/* An index of this round. */
static struct index {
    const char *paths[MOST_PATHS];
    int directions[MOST_PATHS];
    unsigned count;
    char name[12];
} indexes[INDEXES];

/* What the questions met. */
static unsigned questions, merged, covered, read_after_all;

/* ---- Documents ---- */

/* append_leaf -- a value; often one of few, so that many are equal. */
static void append_leaf(random_source *r, bson_t *doc, const char *key) {
    static const char *const texts[] = {"", "a", "A", "aab", "Aab", "b", "\xC3\xA9"};
    int n = (int)random_below(r, 4);
    switch (random_below(r, arrays ? 16 : 14)) {
    case 0:
    case 1:
    case 2:
    case 3: bson_append_int32(doc, key, -1, n); break;
    case 4: bson_append_int64(doc, key, -1, n); break;
    case 5: bson_append_double(doc, key, -1, n == 0 ? -0.0 : n); break;
    case 6:
    case 7: bson_append_utf8(doc, key, -1, texts[random_below(r, 7)], -1); break;
    case 8: bson_append_utf8(doc, key, -1, "a\0b", n); break;
    case 9: bson_append_null(doc, key, -1); break;
    case 10: bson_append_bool(doc, key, -1, n > 1); break;
    case 11: random_append_number(r, doc, key, -1); break;
    case 12: bson_append_date_time(doc, key, -1, n - 2); break;
    case 13: {
        /* Whatever there is, but no array. */
        bson_t one = BSON_INITIALIZER;
        bson_iter_t iter;
        do {
            bson_reinit(&one);
            random_append_value(r, &one, "v", 1, 1);
            REQUIRE(bson_iter_init_find(&iter, &one, "v"));
        } while (BSON_ITER_HOLDS_ARRAY(&iter));
        bson_append_iter(doc, key, -1, &iter);
        bson_destroy(&one);
        break;
    }
    default: {
        bson_t list;
        bson_append_array_begin(doc, key, -1, &list);
        for (int i = 0; i < n; i++)
            bson_append_int32(&list, i == 0 ? "0" : i == 1 ? "1" : "2", 1, (n + i) % 4);
        bson_append_array_end(doc, &list);
    }
    }
}

/* A level of the documents: its keys, and what is below them. */
typedef struct level {
    const char *const *keys;
    const struct level *const *below; /* NULL: a value */
    unsigned count;
} level;

static const char *const m_keys[] = {"p", "q"}, *const o_keys[] = {"x"};
static const char *const n_keys[] = {"x", "m", "y", "0"};
static const char *const top_keys[] = {"a", "n", "b", "k.d", "o", "0", "c"};
static const level *const no_levels[4];
static const level m_level = {m_keys, no_levels, 2}, o_level = {o_keys, no_levels, 1};
static const level *const below_n[] = {NULL, &m_level, NULL, NULL};
static const level n_level = {n_keys, below_n, 4};
static const level *const below_top[] = {NULL, &n_level, NULL, NULL, &o_level, NULL, NULL};
static const level top_level = {top_keys, below_top, 7};

/* append_level -- a level's fields, in their own order or from another one on, some of them
 * missing. */
static void append_level(random_source *r, bson_t *doc, const level *l) {
    unsigned first = random_chance(r, 65) ? 0 : (unsigned)random_below(r, l->count);
    bool back = random_chance(r, 20);
    for (unsigned i = 0; i < l->count; i++) {
        unsigned at = (first + (back ? l->count - i : i)) % l->count;
        bson_t inner;
        if (random_chance(r, 4))
            continue;
        if (!l->below[at] || random_chance(r, 3)) {
            append_leaf(r, doc, l->keys[at]);
            continue;
        }
        bson_append_document_begin(doc, l->keys[at], -1, &inner);
        append_level(r, &inner, l->below[at]);
        bson_append_document_end(doc, &inner);
    }
}

/* append_id -- one of few ids in one of their forms. */
static void append_id(random_source *r, bson_t *doc) {
    int id = (int)random_below(r, IDS);
    switch (random_below(r, 6)) {
    case 0: bson_append_double(doc, "_id", 3, id); break;
    case 1: bson_append_int64(doc, "_id", 3, id); break;
    default: bson_append_int32(doc, "_id", 3, id);
    }
}

/* save_one -- a document with its `_id` first or last; whether it was taken. */
static bool save_one(random_source *r) {
    bson_t doc = BSON_INITIALIZER;
    bool first = random_chance(r, 85);
    if (first)
        append_id(r, &doc);
    append_level(r, &doc, &top_level);
    if (!first)
        append_id(r, &doc);
    tansu_status status = call_save_bson(db, NULL, "c", TANSU_SAVE, &doc);
    bson_destroy(&doc);
    return CHECK_OK(status, &call_error);
}

/* change_some -- saves, replaces and removes. */
static void change_some(random_source *r, int count) {
    for (int i = 0; i < count; i++) {
        if (random_chance(r, 80)) {
            save_one(r);
            continue;
        }
        char id[40];
        snprintf(id, sizeof id, "{'':%d}", (int)random_below(r, IDS));
        int removed;
        CHECK_OK(call_remove_id(db, NULL, "c", id, &removed), &call_error);
    }
}

/* ---- Indexes ---- */

static const char *const paths[] = {"a",     "b",   "_id", "n.x", "n.y",  "n.m.p",
                                    "n.m.q", "o.x", "0",   "n.0", "k\\.d"};
#define PATHS (sizeof paths / sizeof *paths)

/* make_index -- over some paths in any order, with any options. */
static void make_index(random_source *r, unsigned number) {
    struct index *index = &indexes[number];
    char keys[200] = "{", options[200] = "{";
    bool id = false;
    index->count = 1 + (unsigned)random_below(r, random_chance(r, 30) ? MOST_PATHS : 3);
    unsigned at = (unsigned)random_below(r, PATHS), step = 1 + (unsigned)random_below(r, PATHS - 1);
    for (unsigned i = 0; i < index->count; i++, at = (at + step) % PATHS) {
        index->paths[i] = paths[at];
        index->directions[i] = random_chance(r, 35) ? -1 : 1;
        id = id || strcmp(paths[at], "_id") == 0;
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s'%s%s':%d", i ? "," : "",
                 strcmp(paths[at], "k\\.d") == 0 ? "k\\" : "", /* JSON has \\ for \ */
                 strcmp(paths[at], "k\\.d") == 0 ? "\\.d" : paths[at], index->directions[i]);
    }
    strcat(keys, "}");
    snprintf(index->name, sizeof index->name, "i%u", number);
    if (id && random_chance(r, 40))
        strcat(options, ",'unique':true");
    if (random_chance(r, 12))
        strcat(options, ",'sparse':true");
    if (random_chance(r, 12))
        strcat(options, ",'caseInsensitive':true");
    if (random_chance(r, 12))
        strcat(options, ",'partialFilter':{'a':{'$gte':1}}");
    if (options[1] == ',')
        options[1] = ' ';
    strcat(options, "}");
    create_index(db, index->name, keys, options);
}

/* ---- Questions ---- */

/* append_condition -- on a path. */
static void append_condition(random_source *r, bson_t *query, const char *path) {
    bson_t inner, list;
    char key[4] = "0";
    bson_append_document_begin(query, path, -1, &inner);
    switch (random_below(r, 10)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        bson_append_array_begin(&inner, "$in", -1, &list);
        for (uint64_t i = 0, count = 1 + random_below(r, 4); i < count; i++, key[0]++) {
            if (random_chance(r, 60))
                bson_append_int32(&list, key, 1, (int32_t)random_below(r, 4));
            else
                append_leaf(r, &list, key);
        }
        bson_append_array_end(&inner, &list);
        break;
    case 6: append_leaf(r, &inner, "$eq"); break;
    case 7:
        bson_append_int32(&inner, "$gte", -1, (int32_t)random_below(r, 3));
        bson_append_int32(&inner, random_chance(r, 50) ? "$lt" : "$lte", -1,
                          (int32_t)random_below(r, 6));
        break;
    case 8: append_leaf(r, &inner, random_chance(r, 50) ? "$gt" : "$lte"); break;
    default: append_leaf(r, &inner, "$ne");
    }
    bson_append_document_end(query, &inner);
}

/* append_merge -- a condition with several values that documents have, and an order by the next
 * path of the index: the answer can be merged from several of its ranges. */
static void append_merge(bson_t *query, bson_t *hints, const struct index *index) {
    bson_t inner, list, order;
    bson_append_document_begin(hints, "$orderby", -1, &order);
    bson_append_int32(&order, index->paths[1], -1, index->directions[1]);
    bson_append_document_end(hints, &order);
    bson_append_document_begin(query, index->paths[0], -1, &inner);
    bson_append_array_begin(&inner, "$in", -1, &list);
    BSON_APPEND_INT32(&list, "0", 0);
    BSON_APPEND_INT32(&list, "1", 1);
    BSON_APPEND_UTF8(&list, "2", "a");
    bson_append_array_end(&inner, &list);
    bson_append_document_end(query, &inner);
}

/* is_question -- whether the engine takes it: no condition has an operand that is nothing to
 * compare with, no two fields are in each other's way. */
static bool is_question(const bson_t *query, const bson_t *hints) {
    tansu_cursor *cursor;
    tansu_error error;
    tansu_status status =
        tansu_find(db, NULL, "c", document_of(query), document_of(hints), &cursor, &error);
    if (status == TANSU_OK)
        tansu_cursor_close(cursor);
    return status == TANSU_OK;
}

/* append_order -- of the index's paths, or of any. */
static void append_order(random_source *r, bson_t *hints, const struct index *index) {
    bson_t order;
    unsigned first =
        index->count > 1 && random_chance(r, 60) ? 1 : (unsigned)random_below(r, index->count);
    int turn = random_chance(r, 50) ? -1 : 1;
    bson_append_document_begin(hints, "$orderby", -1, &order);
    for (unsigned i = first; i < index->count && (i == first || random_chance(r, 60)); i++) {
        int direction = turn * index->directions[i];
        bson_append_int32(&order, index->paths[i], -1,
                          random_chance(r, 90) ? direction : -direction);
    }
    if (random_chance(r, 10) && !bson_has_field(&order, "b"))
        bson_append_int32(&order, "b", -1, turn);
    bson_append_document_end(hints, &order);
}

/* append_fields -- of the index's paths, seldom another one. */
static void append_fields(random_source *r, bson_t *hints, const struct index *index) {
    bson_t fields;
    bool id = false, any = false;
    for (unsigned i = 0; i < index->count; i++)
        id = id || strcmp(index->paths[i], "_id") == 0;
    bool show = random_chance(r, id ? 70 : 8);
    bson_append_document_begin(hints, "$fields", -1, &fields);
    for (unsigned i = 0; i < index->count; i++) {
        if (strcmp(index->paths[i], "_id") == 0 || random_chance(r, 25))
            continue;
        bson_append_int32(&fields, index->paths[i], -1, 1);
        any = true;
    }
    if (random_chance(r, 4))
        bson_append_int32(&fields, "c", -1, any = true);
    if (!any && !show)
        bson_append_int32(&fields, index->paths[0][0] == '_' ? "a" : index->paths[0], -1, 1);
    bson_append_int32(&fields, "_id", 3, show);
    bson_append_document_end(hints, &fields);
}

/* append_rest -- the other hints. */
static void append_rest(random_source *r, bson_t *hints) {
    if (random_chance(r, 50))
        bson_append_int32(hints, "$max", -1, (int32_t)random_below(r, 12));
    if (random_chance(r, 25))
        bson_append_int32(hints, "$skip", -1, (int32_t)random_below(r, 12));
    if (random_chance(r, 12))
        random_collation(r, hints);
}

/* with_index -- the hints and $index. */
static bson_t *with_index(const bson_t *hints, const char *name) {
    bson_t *all = bson_copy(hints);
    if (name && *name)
        bson_append_utf8(all, "$index", -1, name, -1);
    else if (name)
        bson_append_bool(all, "$index", -1, false);
    return all;
}

/* open_answer -- a cursor, or NULL when the index may not be used. */
static tansu_cursor *open_answer(const bson_t *query, const bson_t *hints) {
    tansu_cursor *cursor = NULL;
    tansu_error error;
    tansu_status status =
        tansu_find(db, NULL, "c", document_of(query), document_of(hints), &cursor, &error);
    if (status != TANSU_OK && strcmp(error.context, "hints.$index") != 0)
        CHECK_OK(status, &error);
    return status == TANSU_OK ? cursor : NULL;
}

/* take -- up to `most` documents, appended one after the other. */
static void take(tansu_cursor *cursor, uint64_t most, tansu_buffer *out) {
    tansu_document document;
    tansu_error error;
    tansu_status status = TANSU_OK;
    while (most-- > 0 && (status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK)
        REQUIRE(buffer_append(out, document.data, document.size));
    if (status != TANSU_DONE)
        CHECK_OK(status, &error);
}

/* show -- the query of a failed check. */
static void show(const bson_t *query, const bson_t *hints) {
    char *q = bson_as_canonical_extended_json(query, NULL);
    char *h = bson_as_canonical_extended_json(hints, NULL);
    check_note("    query %s hints %s", q, h);
    bson_free(q);
    bson_free(h);
}

/* note_plan -- counts what kind of plan it was. */
static void note_plan(const bson_t *query, const bson_t *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t plan;
    bson_iter_t iter, found;
    REQUIRE(CHECK_OK(
        tansu_explain(db, NULL, "c", document_of(query), document_of(hints), &result, &error),
        &error));
    REQUIRE(bson_init_static(&plan, result.data, result.size));
    bool shown =
        bson_iter_init(&iter, &plan) && bson_iter_find_descendant(&iter, "plan.covered", &found);
    merged +=
        bson_iter_init(&iter, &plan) && bson_iter_find_descendant(&iter, "plan.merged", &found);
    covered += shown;
    read_after_all += shown && bson_iter_init(&iter, &plan) &&
                      bson_iter_find_descendant(&iter, "documentsExamined", &found) &&
                      bson_iter_as_int64(&found) > 0;
    tansu_buffer_free(&result);
}

/* ask_by -- an answer by one index, begun and perhaps finished after changes, against the one
 * without. */
static void ask_by(random_source *r, const bson_t *query, const bson_t *plain, const char *name,
                   bool meddle) {
    bson_t *none = with_index(plain, ""), *hints = with_index(plain, name);
    tansu_buffer expected = TANSU_BUFFER_INIT, actual = TANSU_BUFFER_INIT;
    tansu_cursor *cursor = open_answer(query, none);
    REQUIRE(cursor != NULL);
    take(cursor, UINT64_MAX, &expected);
    tansu_cursor_close(cursor);
    cursor = open_answer(query, hints);
    if (cursor) {
        questions++;
        note_plan(query, hints);
        if (meddle) {
            take(cursor, random_below(r, 3), &actual);
            change_some(r, 15);
        }
        take(cursor, UINT64_MAX, &actual);
        tansu_cursor_close(cursor);
        if (!CHECK_BYTES(expected.data, expected.size, actual.data, actual.size))
            show(query, hints);
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&actual);
    bson_destroy(none);
    bson_destroy(hints);
}

/* ask_something -- one random question, in every way. */
static void ask_something(random_source *r) {
    const struct index *index = &indexes[random_below(r, INDEXES)];
    bson_t query = BSON_INITIALIZER, hints = BSON_INITIALIZER;
    if (index->count > 1 && random_chance(r, 20)) {
        append_merge(&query, &hints, index);
    } else {
        if (random_chance(r, 85))
            append_condition(r, &query, index->paths[0]);
        if (index->count > 1 && random_chance(r, 40))
            append_condition(r, &query, index->paths[1]);
        if (random_chance(r, 10) && !bson_has_field(&query, "a"))
            append_condition(r, &query, "a");
        if (random_chance(r, 60))
            append_order(r, &hints, index);
    }
    if (random_chance(r, 85))
        append_fields(r, &hints, index);
    append_rest(r, &hints);
    if (is_question(&query, &hints)) {
        for (unsigned i = 0; i < INDEXES; i++)
            ask_by(r, &query, &hints, indexes[i].name, false);
        ask_by(r, &query, &hints, "_id", false);
        ask_by(r, &query, &hints, NULL, false);
        ask_by(r, &query, &hints, random_chance(r, 50) ? index->name : NULL, true);
    }
    bson_destroy(&query);
    bson_destroy(&hints);
}

static void every_answer_is_that_of_the_documents(void) {
    random_source r = random_start(1);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    for (uint64_t round = 0; round < rounds && check_failures() == 0; round++) {
        bool stored = random_chance(&r, 30);
        char *folder = stored ? folder_new() : NULL;
        char *path = stored ? strdup(folder_join(folder, "db")) : NULL;
        db = call_open(path);
        arrays = random_chance(&r, 20);
        for (int i = 0; i < 150; i++)
            save_one(&r);
        for (unsigned i = 0; i < INDEXES; i++)
            make_index(&r, i);
        change_some(&r, 200);
        for (int i = 0; i < 25; i++)
            ask_something(&r);
        if (stored) {
            call_close(db);
            db = call_open(path);
            for (int i = 0; i < 10; i++)
                ask_something(&r);
        }
        call_close(db);
        free(path);
        if (folder)
            folder_end(folder);
    }
    if (rounds >= DEFAULT_ROUNDS) { /* the indexes of a few databases may fit no question */
        CHECK(merged > questions / 500);
        CHECK(covered > questions / 50);
        CHECK(read_after_all > questions / 500);
    }
    check_note("%u questions, %u merged, %u covered, %u of them with documents read", questions,
               merged, covered, read_after_all);
}

int main(void) {
    RUN(every_answer_is_that_of_the_documents);
    return check_finish();
}
