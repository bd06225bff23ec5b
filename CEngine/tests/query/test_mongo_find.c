/*
 * test_mongo_find.c -- cases of MongoDB's meaning (tests/vectors/mongo): queries, sorts,
 * projections and distinct values, each with no index and with indexes on what it asks for. Where
 * our rules differ, the case is in a table below with the number of its rule in
 * docs/query-language.md, and must differ; docs/coming-from.md lists them.
 */
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/mongo/mongo_reply.h"
#include "support/repo_file.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS "CEngine/tests/vectors/mongo/"

/* A case that we answer otherwise, on purpose. */
struct difference {
    const char *test;
    unsigned number; /* among the cases of that test, from 1 */
    unsigned rule;
    const char *why;
};

static const struct difference differences[] = {
    {"test_insert_invalid_doc_2", 1, 9, "MongoDB stores a key that begins with $ since version 5"},
    {"test_insert_invalid_doc_2", 2, 9, "MongoDB stores a key that begins with $ since version 5"},
    {"test_find_3", 1, 3, "a nested document is a sub-query"},
    {"test_projection_positional_err_2", 1, 2, "a position names the element that matched"},
    {"test_projection_positional_11", 2, 9, "a path does not begin with $"},
    {"test_projection_positional_11", 7, 2, "a number in a path is a position too"},
    {"test_projection_positional_11", 8, 2, "a number in a path is a position too"},
    {"test_projection_positional_12", 1, 2, "a number in a path is a position too"},
    {"test_projection_positional_12", 2, 2, "a number in a path is a position too"},
    {"test_projection_positional_12", 3, 9, "a part of the path is empty"},
    {"test_projection_positional_12", 4, 2, "a number in a path is a position too"},
    {"test_projection_positional_14", 1, 2, "a number in a path is a position too"},
    {"test_projection_positional_err_96_2", 1, 2, "a position names the element that matched"},
    {"test_projection_positional_17", 1, 2, "a position names the element that matched"},
    {"test_projection_positional_18", 1, 2, "a position names the element that matched"},
    {"test_projection_positional_19", 1, 2, "a position names the element that matched"},
    {"test_projection_elemMatch_unsupported_option", 1, 2, "$elemMatch of a path of several parts"},
    {"test_qop_eq_12", 1, 4, "an array at a position is looked into as any other"},
    {"test_sort_4", 1, 8, "an empty array has no least element: as missing"},
    {"test_sort_20", 1, 8, "an empty array has no least element: as missing"},
    {"operator", 18, 3, "a nested document is a sub-query"},
    {"operator", 20, 3, "a nested document is a sub-query"},
    {"operator", 65, 9, "$in takes an array"},
    {"operator", 72, 9, "$nin takes an array"},
    {"operator", 103, 9, "$where is not in the language"},
    {"operator", 104, 9, "$where is not in the language"},
    {"operator", 115, 9, "$in stands on a field"},
};

/* What one case came to. */
static char outcome[1 << 16];

/* ---- Parts of a case ---- */

/* flag -- a member that is a bool. */
static bool flag(const bson_t *test, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, test, name) && bson_iter_as_bool(&iter);
}

/* text -- a member that is a text, "" when it is not there. */
static const char *text(const bson_t *test, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, test, name) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

/* append_json -- adds a document to the outcome. */
static void append_json(const bson_t *doc) {
    char *json = bson_as_canonical_extended_json(doc, NULL);
    size_t used = strlen(outcome);
    snprintf(outcome + used, sizeof outcome - used, "%s%s", used == 0 ? "" : " ", json);
    bson_free(json);
}

/* expected -- the outcome that a case asks for, in memory of the caller: the documents, or
 * "error". */
static char *expected(const bson_t *test, const char *name, bool values) {
    bson_t list, doc;
    bson_iter_t iter;
    outcome[0] = '\0';
    if (!member_document(test, name, &list)) {
        strcpy(outcome, "error");
    } else if (values) {
        append_json(&list);
    } else {
        for (bson_iter_init(&iter, &list); bson_iter_next(&iter);) {
            REQUIRE(iter_document(&iter, &doc));
            append_json(&doc);
        }
    }
    return strdup(outcome);
}

/* ---- Running ---- */

/* save -- a document with its `_id` first, as MongoDB stores it; false when it is refused. */
static bool save(tansu_db *db, const bson_t *doc) {
    bson_t ordered = BSON_INITIALIZER;
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, doc, "_id"))
        bson_append_iter(&ordered, "_id", -1, &iter);
    for (bson_iter_init(&iter, doc); bson_iter_next(&iter);) {
        if (strcmp(bson_iter_key(&iter), "_id") != 0)
            bson_append_iter(&ordered, NULL, -1, &iter);
    }
    tansu_document document = document_of(&ordered);
    tansu_status status = tansu_save(db, NULL, "c", &document, 1, TANSU_INSERT, NULL, NULL);
    bson_destroy(&ordered);
    return status == TANSU_OK;
}

/* save_all -- the documents of a case. */
static bool save_all(tansu_db *db, const bson_t *test) {
    bson_t docs, doc;
    bson_iter_t iter;
    REQUIRE(member_document(test, "docs", &docs));
    for (bson_iter_init(&iter, &docs); bson_iter_next(&iter);) {
        if (!iter_document(&iter, &doc) || !save(db, &doc))
            return false;
    }
    return true;
}

/* make_indexes -- one over every path that stands at the top of a query or an order. */
static void make_indexes(tansu_db *db, const bson_t *query) {
    bson_iter_t iter;
    for (bson_iter_init(&iter, query); bson_iter_next(&iter);) {
        if (bson_iter_key(&iter)[0] == '$')
            continue;
        bson_t keys = BSON_INITIALIZER;
        BSON_APPEND_INT32(&keys, bson_iter_key(&iter), 1);
        tansu_index_create(db, NULL, "c", NULL, document_of(&keys), TANSU_NO_DOCUMENT, NULL, NULL,
                           NULL);
        bson_destroy(&keys);
    }
}

/* find -- the documents that match, or "error", as the outcome. */
static void find(tansu_db *db, const bson_t *query, const bson_t *hints) {
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    outcome[0] = '\0';
    tansu_status status =
        tansu_find(db, NULL, "c", document_of(query), document_of(hints), &cursor, &error);
    while (status == TANSU_OK) {
        bson_t doc;
        status = tansu_cursor_next(cursor, &document, &error);
        if (status == TANSU_OK && CHECK(bson_init_static(&doc, document.data, document.size)))
            append_json(&doc);
    }
    if (status == TANSU_DONE) {
        tansu_cursor_close(cursor);
        return;
    }
    CHECK(status == TANSU_E_INVALID_QUERY || status == TANSU_E_UNSUPPORTED);
    strcpy(outcome, "error");
}

/* distinct -- the values likewise. */
static void distinct(tansu_db *db, const char *path, const bson_t *query) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t answer, values;
    tansu_error error;
    outcome[0] = '\0';
    if (CHECK_OK(tansu_distinct(db, NULL, "c", path, document_of(query), TANSU_NO_DOCUMENT, &result,
                                &error),
                 &error) &&
        bson_init_static(&answer, result.data, result.size) &&
        member_document(&answer, "values", &values))
        append_json(&values);
    tansu_buffer_free(&result);
}

/* order_of -- the hints of a sort's list of pairs. */
static void order_of(const bson_t *pairs, bson_t *hints) {
    bson_iter_t iter;
    bson_t order, pair;
    bson_append_document_begin(hints, "$orderby", -1, &order);
    for (bson_iter_init(&iter, pairs); bson_iter_next(&iter);) {
        bson_iter_t path, direction;
        REQUIRE(iter_document(&iter, &pair) && bson_iter_init_find(&path, &pair, "0") &&
                bson_iter_init_find(&direction, &pair, "1"));
        bson_append_iter(&order, bson_iter_utf8(&path, NULL), -1, &direction);
    }
    bson_append_document_end(hints, &order);
}

/* is_different -- the entry of a case in the table, or NULL. */
static const struct difference *is_different(const char *test, unsigned number) {
    const char *name = strstr(test, "::") ? strstr(test, "::") + 2 : test;
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        if (strcmp(differences[i].test, name) == 0 && differences[i].number == number)
            return &differences[i];
    }
    return NULL;
}

/* judge -- holds the outcome against what was expected. */
static void judge(const bson_t *test, const char *name, unsigned number, const char *wanted) {
    const struct difference *different = is_different(name, number);
    bool same = strcmp(outcome, wanted) == 0;
    if (different ? CHECK(!same) : CHECK(same))
        return;
    char *json = bson_as_relaxed_extended_json(test, NULL);
    if (different)
        check_note("%s #%u no longer differs by rule %u: %s", name, number, different->rule,
                   different->why);
    check_note("%s #%u\n%s\nshould be %s\nis        %s", name, number, json, wanted, outcome);
    bson_free(json);
}

/* run_case -- one case, with or without indexes. */
static void run_case(const bson_t *test, unsigned number, bool indexed) {
    tansu_db *db;
    bson_t args, first, second, hints = BSON_INITIALIZER, none = BSON_INITIALIZER;
    bson_iter_t iter;
    const char *kind = text(test, "kind"), *name = text(test, "test");
    if (strstr(name, "regex") != NULL && !library_pcre2())
        return;
    char *wanted = expected(test, "result", strcmp(kind, "distinct") == 0);
    REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
    REQUIRE(member_document(test, "args", &args) && bson_iter_init_find(&iter, &args, "0"));
    bool has_first = iter_document(&iter, &first);
    if (!save_all(db, test)) {
        strcpy(outcome, "error");
    } else if (strcmp(kind, "distinct") == 0) {
        bson_t keys = BSON_INITIALIZER;
        BSON_APPEND_INT32(&keys, bson_iter_utf8(&iter, NULL), 1);
        if (indexed)
            make_indexes(db, &keys);
        bson_destroy(&keys);
        distinct(db, bson_iter_utf8(&iter, NULL), &none);
    } else if (strcmp(kind, "sort") == 0) {
        bson_t order;
        order_of(&first, &hints);
        if (indexed && member_document(&hints, "$orderby", &order))
            make_indexes(db, &order);
        find(db, &none, &hints);
    } else {
        REQUIRE(has_first);
        if (member_document(&args, "1", &second))
            BSON_APPEND_DOCUMENT(&hints, "$fields", &second);
        if (indexed)
            make_indexes(db, &first);
        find(db, &first, &hints);
    }
    judge(test, name, number, wanted);
    free(wanted);
    bson_destroy(&hints);
    CHECK_OK(tansu_shutdown(db, NULL), NULL);
}

/* Numbers of cases by name. */
static struct counter {
    char name[120];
    unsigned count;
} counters[400];

/* number_of -- how many cases of this name there were, this one included. */
static unsigned number_of(const char *name) {
    struct counter *c = counters;
    while (c->count != 0 && strcmp(c->name, name) != 0)
        c++;
    REQUIRE(c < counters + sizeof counters / sizeof *counters - 1);
    snprintf(c->name, sizeof c->name, "%s", name);
    return ++c->count;
}

/* each_case -- calls `run` for all cases of a file; returns how many. */
static unsigned each_case(const char *file, unsigned (*run)(const bson_t *test)) {
    size_t size;
    unsigned count = 0;
    char *json = repo_file_read(file, &size);
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t all, cases, test;
    bson_iter_t iter;
    if (!CHECK(json != NULL))
        return 0;
    REQUIRE(CHECK_OK(tansu_json_to_bson(json, size, &bson, &error), &error));
    REQUIRE(bson_init_static(&all, bson.data, bson.size) && member_document(&all, "cases", &cases));
    for (bson_iter_init(&iter, &cases); bson_iter_next(&iter);) {
        REQUIRE(iter_document(&iter, &test));
        count += run(&test);
    }
    tansu_buffer_free(&bson);
    free(json);
    return count;
}

/* run_engine_case -- those of our kinds. */
static unsigned run_engine_case(const bson_t *test) {
    static const char *const kinds[] = {"find", "sort", "proj", "distinct"};
    const char *kind = text(test, "kind");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i], kind) != 0)
            continue;
        unsigned number = number_of(text(test, "test"));
        run_case(test, number, false);
        run_case(test, number, true);
        return 1;
    }
    return 0;
}

/* run_operator_case -- those whose documents can be stored. */
static unsigned run_operator_case(const bson_t *test) {
    static unsigned number;
    bson_t filter, hints = BSON_INITIALIZER, fields = BSON_INITIALIZER;
    number++;
    if (!flag(test, "docs_are_documents") || !member_document(test, "filter", &filter)) {
        bson_destroy(&hints);
        return 0;
    }
    BSON_APPEND_INT32(&fields, "_id", 0);
    BSON_APPEND_DOCUMENT(&hints, "$fields", &fields);
    char *wanted = expected(test, "expected", false);
    for (int indexed = 0; indexed < 2; indexed++) {
        tansu_db *db;
        REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
        CHECK(save_all(db, test));
        if (indexed)
            make_indexes(db, &filter);
        find(db, &filter, &hints);
        judge(test, "operator", number, wanted);
        CHECK_OK(tansu_shutdown(db, NULL), NULL);
    }
    free(wanted);
    bson_destroy(&fields);
    bson_destroy(&hints);
    return 1;
}

/* engine_cases -- find, sort, proj, distinct. */
static void engine_cases(void) {
    CHECK_INT(216, each_case(VECTORS "engine-cases.json", run_engine_case));
}

/* operator_cases -- single operators. */
static void operator_cases(void) {
    CHECK(each_case(VECTORS "operator-cases.json", run_operator_case) > 0);
}

int main(void) {
    library_regex_start();
    RUN(engine_cases);
    RUN(operator_cases);
    return check_finish();
}
