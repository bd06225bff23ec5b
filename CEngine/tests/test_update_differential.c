/*
 * test_update_differential.c -- random updates of random documents come to what a plain model says:
 * without indexes, with indexes, and after the database was opened again.
 *
 * TANSU_ROUNDS: how many updates (default 3000); TANSU_SEED repeats a run.
 */
#include "toolkit/ask.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/model.h"
#include "toolkit/random.h"
#include "toolkit/update_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 12
#define PER_DATABASE 60

static random_source source;

/* append_scalar -- a small number of some type, a text, or something else that is simple. */
static void append_scalar(bson_t *doc, const char *key) {
    int64_t number = random_between(&source, -3, 6);
    switch (random_below(&source, 12)) {
    case 0: bson_append_int64(doc, key, -1, number); break;
    case 1: bson_append_double(doc, key, -1, (double)number); break;
    case 2: bson_append_double(doc, key, -1, (double)number / 2); break;
    case 3: bson_append_utf8(doc, key, -1, number < 2 ? "x" : "yz", -1); break;
    case 4: bson_append_null(doc, key, -1); break;
    case 5: bson_append_bool(doc, key, -1, number > 1); break;
    case 6:
        bson_append_int64(doc, key, -1, number > 1 ? INT64_MAX - number : INT64_MIN + (number & 1));
        break;
    case 7: bson_append_int32(doc, key, -1, number > 1 ? INT32_MAX : INT32_MIN); break;
    default: bson_append_int32(doc, key, -1, (int32_t)number); break;
    }
}

/* append_value -- a scalar, document or array. */
static void append_value(bson_t *doc, const char *key, unsigned depth) {
    static const char *const names[] = {"a", "b", "c", "0"};
    bson_t inner;
    uint64_t kind = depth == 0 ? 9 : random_below(&source, 10);
    if (kind < 3) {
        unsigned from = (unsigned)random_below(&source, 3);
        bson_append_document_begin(doc, key, -1, &inner);
        for (unsigned i = from; i < 4 && i < from + 2; i++)
            append_value(&inner, names[i], depth - 1);
        bson_append_document_end(doc, &inner);
    } else if (kind < 7) {
        unsigned count = (unsigned)random_below(&source, 4);
        bson_append_array_begin(doc, key, -1, &inner);
        for (unsigned i = 0; i < count; i++) {
            char number[12];
            snprintf(number, sizeof number, "%u", i);
            append_value(&inner, number, depth - 1);
        }
        bson_append_array_end(doc, &inner);
    } else {
        append_scalar(doc, key);
    }
}

/* a_document -- with an `_id` and up to five fields. */
static bson_t *a_document(int32_t id) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    bson_t *doc = bson_new();
    bson_append_int32(doc, "_id", 3, id);
    for (unsigned i = 0; i < 5; i++) {
        if (random_chance(&source, 75))
            append_value(doc, names[i], 2);
    }
    return doc;
}

/* a_path -- a path of one to three parts. */
static const char *a_path(char text[40]) {
    static const char *const first[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const next[] = {"a", "b", "c", "0", "1", "2", "4", "$[]", "$[]", "$[]"};
    snprintf(text, 40, "%s", first[random_below(&source, 6)]);
    for (uint64_t more = random_below(&source, 5); more > 2; more -= 2) {
        strcat(text, ".");
        strcat(text, next[random_below(&source, 10)]);
    }
    return text;
}

/* append_list -- an array of values. */
static void append_list(bson_t *doc, const char *key) {
    bson_t list;
    unsigned count = (unsigned)random_below(&source, random_chance(&source, 20) ? 8 : 3);
    bson_append_array_begin(doc, key, -1, &list);
    for (unsigned i = 0; i < count; i++) {
        char number[12];
        snprintf(number, sizeof number, "%u", i);
        append_value(&list, number, 1);
    }
    bson_append_array_end(doc, &list);
}

/* append_each -- {$each: […]} and perhaps more. */
static void append_each(bson_t *doc, const char *key, bool modifiers) {
    bson_t inner;
    bson_append_document_begin(doc, key, -1, &inner);
    append_list(&inner, "$each");
    if (modifiers && random_chance(&source, 40))
        bson_append_int32(&inner, "$position", -1, (int32_t)random_between(&source, -3, 3));
    if (modifiers && random_chance(&source, 40))
        bson_append_int32(&inner, "$slice", -1, (int32_t)random_between(&source, -3, 3));
    if (modifiers && random_chance(&source, 40))
        bson_append_int32(&inner, "$sort", -1, random_chance(&source, 50) ? 1 : -1);
    bson_append_document_end(doc, &inner);
}

/* append_operand -- what suits an operator. */
static void append_operand(bson_t *doc, const char *name, const char *path) {
    bson_t inner;
    char to[40];
    if (strcmp(name, "$inc") == 0 || strcmp(name, "$mul") == 0) {
        if (random_chance(&source, 20))
            bson_append_double(doc, path, -1, (double)random_between(&source, -3, 3) / 2);
        else if (random_chance(&source, 20))
            bson_append_int64(doc, path, -1, random_between(&source, -3, 3));
        else
            bson_append_int32(doc, path, -1, (int32_t)random_between(&source, -3, 3));
    } else if (strcmp(name, "$rename") == 0) {
        do {
            a_path(to);
        } while (strchr(to, '$') != NULL);
        bson_append_utf8(doc, path, -1, to, -1);
    } else if (strcmp(name, "$pop") == 0) {
        bson_append_int32(doc, path, -1, random_chance(&source, 50) ? 1 : -1);
    } else if (strcmp(name, "$bit") == 0) {
        static const char *const ways[] = {"and", "or", "xor"};
        bson_append_document_begin(doc, path, -1, &inner);
        bson_append_int32(&inner, ways[random_below(&source, 3)], -1,
                          (int32_t)random_below(&source, 8));
        bson_append_document_end(doc, &inner);
    } else if (strcmp(name, "$pullAll") == 0) {
        append_list(doc, path);
    } else if (strcmp(name, "$pull") == 0) {
        append_scalar(doc, path); /* a document would be a condition */
    } else if ((strcmp(name, "$push") == 0 || strcmp(name, "$addToSet") == 0) &&
               random_chance(&source, 60)) {
        append_each(doc, path, name[1] == 'p');
    } else {
        append_value(doc, path, 2);
    }
}

/* some_operations -- one to three operators, each on one or two paths. */
static bson_t *some_operations(void) {
    static const char *const names[] = {"$set",     "$unset",  "$inc",  "$mul",      "$min",
                                        "$max",     "$rename", "$push", "$addToSet", "$pull",
                                        "$pullAll", "$pop",    "$bit"};
    bson_t *operations = bson_new();
    uint64_t first = random_below(&source, 13);
    uint64_t count = 1 + random_below(&source, 3);
    for (uint64_t i = 0; i < count; i++) {
        const char *name = names[(first + 4 * i) % 13];
        bson_t inner;
        bson_append_document_begin(operations, name, -1, &inner);
        for (uint64_t k = random_below(&source, 2) + 1; k > 0; k--) {
            char path[40];
            do {
                a_path(path);
            } while (strcmp(name, "$rename") == 0 && strchr(path, '$') != NULL);
            append_operand(&inner, name, path);
        }
        bson_append_document_end(operations, &inner);
    }
    return operations;
}

/* a_query -- all documents, or those with something. */
static bson_t *a_query(void) {
    bson_t *query = bson_new(), inner;
    char path[40];
    if (random_chance(&source, 10))
        return query;
    if (random_chance(&source, 50)) {
        bson_append_int32(query, "_id", 3, (int32_t)random_below(&source, DOCUMENTS));
        return query;
    }
    do {
        a_path(path);
    } while (strchr(path, '$') != NULL);
    if (random_chance(&source, 50)) {
        bson_append_document_begin(query, path, -1, &inner);
        append_scalar(&inner, random_chance(&source, 50) ? "$gt" : "$lte");
        bson_append_document_end(query, &inner);
    } else {
        append_scalar(query, path);
    }
    return query;
}

/* check_same -- a collection holds what the model says, byte for byte. */
static bool check_same(tansu_db *db, const char *collection, bson_t *const *docs) {
    tansu_cursor *cursor = call_cursor(db, NULL, collection, NULL, NULL);
    tansu_document document;
    bool same = true;
    for (unsigned i = 0; i < DOCUMENTS && same; i++) {
        same = CHECK_STATUS(TANSU_OK, tansu_cursor_next(cursor, &document, NULL)) &&
               CHECK(document.size == docs[i]->len &&
                     memcmp(document.data, bson_get_data(docs[i]), document.size) == 0);
        if (!same) {
            bson_t got;
            REQUIRE(bson_init_static(&got, document.data, document.size));
            char *g = bson_as_canonical_extended_json(&got, NULL);
            char *w = bson_as_canonical_extended_json(docs[i], NULL);
            check_note("%s holds  %s\nmodel says %s", collection, g, w);
            bson_free(g);
            bson_free(w);
        }
    }
    tansu_cursor_close(cursor);
    return same;
}

/* model_all -- the model's documents after an update; false (and none) when it is refused. */
static bool model_all(bson_t *const *docs, const bson_t *query, const bson_t *operations,
                      bson_t **after, int64_t *matched, int64_t *modified) {
    size_t hits[DOCUMENTS];
    bson_t no_hints = BSON_INITIALIZER;
    size_t count = model_find(docs, DOCUMENTS, query, &no_hints, hits);
    bson_destroy(&no_hints);
    bool done = true;
    *matched = (int64_t)count;
    *modified = 0;
    for (unsigned i = 0; i < DOCUMENTS; i++)
        after[i] = NULL;
    for (size_t i = 0; i < count && done; i++) {
        after[hits[i]] = update_model(docs[hits[i]], operations);
        done = after[hits[i]] != NULL;
        *modified += done && !bson_equal(after[hits[i]], docs[hits[i]]);
    }
    return done;
}

/* ask_update -- the same of a collection; the counts, when it succeeds. */
static tansu_status ask_update(tansu_db *db, const char *collection, const bson_t *query,
                               const bson_t *operations, int64_t *matched, int64_t *modified) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_update(db, NULL, collection, bson_get_data(query), query->len,
                     bson_get_data(operations), operations->len, NULL, 0, &result, &call_error);
    bson_t counts;
    bson_iter_t iter;
    *matched = *modified = -1;
    if (status == TANSU_OK) {
        REQUIRE(bson_init_static(&counts, result.data, result.size));
        if (bson_iter_init_find(&iter, &counts, "matched"))
            *matched = bson_iter_int64(&iter);
        if (bson_iter_init_find(&iter, &counts, "modified"))
            *modified = bson_iter_int64(&iter);
    }
    tansu_buffer_free(&result);
    return status;
}

/* one_update -- on both collections and the model. Returns whether all agree; *applied is counted up
 * when the update was not refused. */
static bool one_update(tansu_db *db, bson_t **docs, unsigned *applied) {
    bson_t *query = a_query(), *operations = some_operations();
    bson_t *after[DOCUMENTS];
    int64_t matched, modified;
    bool good = true;
    bool done = model_all(docs, query, operations, after, &matched, &modified);
    for (unsigned i = 0; i < 2; i++) {
        int64_t engine_matched, engine_modified;
        tansu_status status = ask_update(db, i == 0 ? "plain" : "indexed", query, operations,
                                         &engine_matched, &engine_modified);
        /* Conflicts in the statement itself are refused even when nothing matches. */
        if (matched == 0 && status == TANSU_E_INVALID_QUERY)
            continue;
        good = CHECK((status == TANSU_OK) == done) && good;
        if (done && status == TANSU_OK)
            good =
                CHECK_INT(matched, engine_matched) && CHECK_INT(modified, engine_modified) && good;
    }
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        if (after[i] == NULL)
            continue;
        bson_destroy(done ? docs[i] : after[i]);
        if (done)
            docs[i] = after[i];
    }
    *applied += done && matched != 0;
    good = check_same(db, "plain", docs) && check_same(db, "indexed", docs) && good;
    if (!good) {
        char *q = bson_as_canonical_extended_json(query, NULL);
        char *u = bson_as_canonical_extended_json(operations, NULL);
        check_note("query  %s\nupdate %s\n%s", q, u, call_error.message);
        bson_free(q);
        bson_free(u);
    }
    bson_destroy(query);
    bson_destroy(operations);
    return good;
}

/* ask_indexes -- both collections answer alike through indexes and without. */
static void ask_indexes(tansu_db *db) {
    for (unsigned i = 0; i < 20; i++) {
        bson_t *query = a_query();
        char *json = bson_as_canonical_extended_json(query, NULL);
        CHECK_INT(call_count(db, NULL, "plain", json), call_count(db, NULL, "indexed", json));
        bson_free(json);
        bson_destroy(query);
    }
}

/* one_database -- many updates one after the other. */
static bool one_database(unsigned *applied) {
    char *folder = folder_new();
    const char *path = folder_join(folder, "db");
    tansu_db *db = call_open(path);
    bson_t *docs[DOCUMENTS];
    bool good = true;
    CHECK_OK(call_index(db, NULL, "indexed", "a", "{'a':1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "indexed", "bc", "{'b.a':-1,'c':1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "indexed", "d", "{'d.0':1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "indexed", "e", "{'e':1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        docs[i] = a_document(i);
        CHECK_OK(call_save_bson(db, NULL, "plain", TANSU_INSERT, docs[i]), &call_error);
        CHECK_OK(call_save_bson(db, NULL, "indexed", TANSU_INSERT, docs[i]), &call_error);
    }
    for (unsigned i = 0; i < PER_DATABASE && good; i++)
        good = one_update(db, docs, applied);
    ask_indexes(db);
    call_close(db);
    db = call_open(folder_join(folder, "db"));
    good = check_same(db, "plain", docs) && check_same(db, "indexed", docs) && good;
    ask_indexes(db);
    call_close(db);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        bson_destroy(docs[i]);
    folder_end(folder);
    return good;
}

static void updates_are_as_the_model_s(void) {
    const char *asked = getenv("TANSU_ROUNDS");
    unsigned long rounds = asked != NULL ? strtoul(asked, NULL, 10) : 3000;
    unsigned applied = 0;
    source = random_start(1);
    bool good = true;
    for (unsigned long i = 0; i < rounds && good; i += PER_DATABASE)
        good = one_database(&applied);
    /* Most random statements are refused; enough must go through. */
    CHECK(!good || applied * 10 > rounds);
}

int main(void) {
    RUN(updates_are_as_the_model_s);
    return check_finish();
}
