/*
 * test_reference_paths.c -- conditions on paths that go on after a declared reference: they select
 * what they would select if the documents that are referred to were embedded. Random queries on
 * both forms of the same data, and the calls that take queries.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/random/random.h"
#include "support/text.h"
#include "util/buffer.h"

#include <stdio.h>
#include <string.h>

#define WORLDS 60
#define CASES 60
#define MOST 12 /* documents of a collection that is referred to */
#define BOOKS 40

/* ---- The same data in two forms ---- */

/* A database whose "books" refer to others, and whose "c" has the same embedded. */
typedef struct world {
    random_source *r;
    tansu_db *db;
    text publishers[MOST], authors[MOST], tags[MOST]; /* as embedded; empty: there is none */
} world;

static void declare(tansu_db *db) {
    CHECK_STATUS(TANSU_OK, call_ensure(db, NULL, "books",
                                       "{'references': [{'path': 'author', 'to': 'authors'}, "
                                       "{'path': 'tags', 'to': 'tags'}, "
                                       "{'path': 'lines.tag', 'to': 'tags'}]}"));
    CHECK_STATUS(TANSU_OK,
                 call_ensure(db, NULL, "authors",
                             "{'references': [{'path': 'publisher', 'to': 'publishers'}]}"));
}

/* embed -- what a reference stands for: the document without braces for its members, or nothing. */
static void embed(text *t, const char *name, const text *document) {
    if (document->size != 0)
        put(t, ", '%s': %s", name, document->bytes);
}

static void save_publishers(world *w) {
    for (int i = 0; i < MOST; i++) {
        if (random_chance(w->r, 30))
            continue;
        put(&w->publishers[i], "{'_id': %d, 'name': 'n%d'}", i, (int)random_below(w->r, 4));
        call_save(w->db, NULL, "publishers", TANSU_SAVE, w->publishers[i].bytes);
    }
}

static void save_authors(world *w) {
    for (int i = 0; i < MOST; i++) {
        text own = {.size = 0}, both = {.size = 0};
        int publisher = (int)random_below(w->r, MOST);
        if (random_chance(w->r, 20))
            continue;
        put(&both, "{'_id': %d", i);
        if (random_chance(w->r, 80))
            put(&both, ", 'name': 'n%d'", (int)random_below(w->r, 4));
        if (random_chance(w->r, 80))
            put(&both, ", 'born': %d", (int)random_below(w->r, 6));
        put(&own, "%s", both.bytes);
        if (random_chance(w->r, 80)) {
            put(&own, ", 'publisher': %d", publisher);
            embed(&both, "publisher", &w->publishers[publisher]);
        }
        put(&own, "}");
        put(&both, "}");
        w->authors[i] = both;
        call_save(w->db, NULL, "authors", TANSU_SAVE, own.bytes);
    }
}

static void save_tags(world *w) {
    for (int i = 0; i < MOST; i++) {
        if (random_chance(w->r, 20))
            continue;
        put(&w->tags[i], "{'_id': %d, 'name': 'n%d', 'w': %d}", i, (int)random_below(w->r, 4),
            (int)random_below(w->r, 6));
        call_save(w->db, NULL, "tags", TANSU_SAVE, w->tags[i].bytes);
    }
}

/* save_book -- both forms of a book. */
static void save_book(world *w, int id) {
    random_source *r = w->r;
    text own = {.size = 0}, both = {.size = 0};
    int author = (int)random_below(r, MOST);
    put(&both, "{'_id': %d, 'year': %d", id, (int)random_below(r, 6));
    put(&own, "%s", both.bytes);
    if (random_chance(r, 80)) {
        put(&own, ", 'author': %d", author);
        embed(&both, "author", &w->authors[author]);
    }
    put(&own, ", 'tags': [");
    put(&both, ", 'tags': [");
    int tags = (int)random_below(r, 4), embedded = 0;
    for (int i = 0; i < tags; i++) {
        int tag = (int)random_below(r, MOST);
        put(&own, "%s%d", i > 0 ? ", " : "", tag);
        if (w->tags[tag].size != 0)
            put(&both, "%s%s", embedded++ > 0 ? ", " : "", w->tags[tag].bytes);
    }
    put(&own, "], 'lines': [");
    put(&both, "], 'lines': [");
    int lines = (int)random_below(r, 4);
    for (int i = 0; i < lines; i++) {
        int tag = (int)random_below(r, MOST), quantity = (int)random_below(r, 6);
        put(&own, "%s{'q': %d, 'tag': %d}", i > 0 ? ", " : "", quantity, tag);
        put(&both, "%s{'q': %d", i > 0 ? ", " : "", quantity);
        embed(&both, "tag", &w->tags[tag]);
        put(&both, "}");
    }
    put(&own, "]}");
    put(&both, "]}");
    call_save(w->db, NULL, "books", TANSU_SAVE, own.bytes);
    call_save(w->db, NULL, "c", TANSU_SAVE, both.bytes);
}

/* ---- Random queries ---- */

/* put_name, put_number -- a condition on a text or a number. Some, of several values together, mean
 * one document that is referred to and any of those that are embedded: not where there are
 * several. */
static void put_name(world *w, text *t, bool several) {
    int a = (int)random_below(w->r, 4), b = (int)random_below(w->r, 4);
    switch (random_below(w->r, several ? 7 : 9)) {
    case 0: put(t, "{'$ne': 'n%d'}", a); return;
    case 1: put(t, "{'$in': ['n%d', 'n%d']}", a, b); return;
    case 2: put(t, "{'$nin': ['n%d', 'n%d']}", a, b); return;
    case 3: put(t, "{'$exists': %s}", a < 2 ? "true" : "false"); return;
    case 4: put(t, "{'$not': {'$gt': 'n%d'}}", a); return;
    case 5: put(t, "{'$gte': 'n%d'}", a); return;
    case 7: put(t, "null"); return;
    case 8: put(t, "{'$gt': 'n%d', '$not': {'$eq': 'n%d'}}", a, b); return;
    default: put(t, "'n%d'", a);
    }
}

static void put_number(world *w, text *t, bool several) {
    int a = (int)random_below(w->r, 6), b = (int)random_below(w->r, 6);
    switch (random_below(w->r, several ? 4 : 6)) {
    case 0: put(t, "{'$lt': %d}", a); return;
    case 1: put(t, "{'$ne': %d}", a); return;
    case 2: put(t, "{'$mod': [2, %d]}", a % 2); return;
    case 4: put(t, "{'$gte': %d, '$lt': %d}", a, b); return;
    case 5: put(t, "{'$in': [null, %d]}", a); return;
    default: put(t, "%d", a);
    }
}

static void put_clauses(world *w, text *t, int depth);

/* put_author -- a condition on what "author" leads to, in each form that a path may have. */
static void put_author(world *w, text *t) {
    switch (random_below(w->r, 8)) {
    case 0:
        put(t, "'author.name': ");
        put_name(w, t, false);
        return;
    case 1:
        put(t, "'author.born': ");
        put_number(w, t, false);
        return;
    case 2:
        put(t, "'author.publisher.name': ");
        put_name(w, t, false);
        return;
    case 3:
        put(t, "'author': {'publisher': {'name': ");
        put_name(w, t, false);
        put(t, "}}");
        return;
    case 4:
        put(t, "'author': {'born': ");
        put_number(w, t, false);
        put(t, ", 'publisher.name': ");
        put_name(w, t, false);
        put(t, "}");
        return;
    case 5:
        put(t, "'author': {'%s': [{'name': ", random_chance(w->r, 50) ? "$or" : "$nor");
        put_name(w, t, false);
        put(t, "}, {'publisher': {'_id': ");
        put_number(w, t, false);
        put(t, "}}]}");
        return;
    case 6:
        put(t, "'author': {'$not': {'name': ");
        put_name(w, t, false);
        put(t, "}}");
        return;
    default: put(t, "'author._id': "); put_number(w, t, false);
    }
}

/* put_many -- a condition on what arrays lead to. */
static void put_many(world *w, text *t) {
    switch (random_below(w->r, 7)) {
    case 0:
        put(t, "'tags.name': ");
        put_name(w, t, true);
        return;
    case 1:
        put(t, "'tags': {'w': ");
        put_number(w, t, true);
        put(t, "}");
        return;
    case 2:
        put(t, "'tags': {'%s': {'name': ", random_chance(w->r, 70) ? "$elemMatch" : "$allMatch");
        put_name(w, t, false);
        put(t, ", 'w': ");
        put_number(w, t, false);
        put(t, "}}");
        return;
    case 3:
        put(t, "'lines.tag.name': ");
        put_name(w, t, true);
        return;
    case 4:
        put(t,
            "'lines': {'%s': {'tag.name': ", random_chance(w->r, 70) ? "$elemMatch" : "$allMatch");
        put_name(w, t, false);
        put(t, ", 'q': ");
        put_number(w, t, false);
        put(t, "}}");
        return;
    case 5:
        put(t, "'lines': {'$all': [{'$elemMatch': {'tag': {'w': ");
        put_number(w, t, false);
        put(t, "}}}, {'$elemMatch': {'$or': [{'q': ");
        put_number(w, t, false);
        put(t, "}, {'tag.name': ");
        put_name(w, t, false);
        put(t, "}]}}]}");
        return;
    default:
        put(t, "'lines': {'$size': %d, '$elemMatch': {'tag.w': ", (int)random_below(w->r, 4));
        put_number(w, t, false);
        put(t, "}}");
    }
}

/* put_clause -- one member of a query. */
static void put_clause(world *w, text *t, int depth) {
    static const char *const logic[] = {"$and", "$or", "$nor"};
    if (depth > 0 && random_chance(w->r, 30)) {
        put(t, "'%s': [{", logic[random_below(w->r, 3)]);
        put_clauses(w, t, depth - 1);
        put(t, "}, {");
        put_clauses(w, t, depth - 1);
        put(t, "}]");
    } else if (depth > 0 && random_chance(w->r, 10)) {
        put(t, "'$not': {");
        put_clauses(w, t, depth - 1);
        put(t, "}");
    } else if (random_chance(w->r, 20)) {
        put(t, "'year': ");
        put_number(w, t, false);
    } else if (random_chance(w->r, 50)) {
        put_author(w, t);
    } else {
        put_many(w, t);
    }
}

/* put_clauses -- one or two members; the keys may be equal, as in no JSON that people write, so the
 * second is inside $and. */
static void put_clauses(world *w, text *t, int depth) {
    put_clause(w, t, depth);
    if (depth > 0 && random_chance(w->r, 30)) {
        put(t, ", '$comment': 'two', '$and': [{");
        put_clause(w, t, 0);
        put(t, "}]");
    }
}

/* ---- Comparison ---- */

/* ids -- the `_id`s that a query finds in a collection. */
static void ids(world *w, const char *collection, const char *query, text *to) {
    to->size = 0;
    put(to, "%s", call_find(w->db, NULL, collection, query, "{'$fields': {'_id': 1}}"));
}

/* compare -- one random query. Whether it found some documents, but not all. */
static bool compare(world *w) {
    text query = {.size = 0};
    text *found = calloc(2, sizeof *found);
    REQUIRE(found);
    put(&query, "{");
    put_clause(w, &query, 2);
    put(&query, "}");
    ids(w, "c", query.bytes, &found[0]);
    ids(w, "books", query.bytes, &found[1]);
    if (!CHECK_TEXT(found[0].bytes, found[1].bytes))
        check_note("%s", query.bytes);
    CHECK_INT(call_count(w->db, NULL, "c", query.bytes),
              call_count(w->db, NULL, "books", query.bytes));
    ids(w, "books", "{}", &found[1]);
    bool some = found[0].size != 0 && found[0].size != found[1].size;
    free(found);
    return some;
}

static int one_world(uint64_t number) {
    random_source r = random_start(number);
    world *w = calloc(1, sizeof *w);
    int found = 0;
    REQUIRE(w);
    w->r = &r;
    w->db = call_open(NULL);
    declare(w->db);
    save_publishers(w);
    save_authors(w);
    save_tags(w);
    for (int i = 0; i < BOOKS; i++)
        save_book(w, i);
    if (number % 2 == 1) {
        static const char *const indexed[][2] = {
            {"books", "{'author': 1}"}, {"books", "{'tags': 1}"},  {"books", "{'lines.tag': 1}"},
            {"authors", "{'name': 1}"}, {"tags", "{'name': 1}"},   {"authors", "{'publisher': 1}"},
            {"books", "{'year': 1}"},   {"c", "{'tags.name': 1}"}, {"c", "{'author.name': 1}"}};
        for (size_t i = 0; i < sizeof indexed / sizeof *indexed; i++)
            CHECK_STATUS(TANSU_OK,
                         call_index(w->db, NULL, indexed[i][0], (const char[]){(char)('a' + i), 0},
                                    indexed[i][1], NULL));
    }
    for (int i = 0; i < CASES; i++)
        found += compare(w);
    call_close(w->db);
    free(w);
    return found;
}

static void as_if_embedded(void) {
    int found = 0;
    for (uint64_t i = 0; i < WORLDS; i++)
        found += one_world(i);
    CHECK(found > WORLDS * CASES / 3);
}

/* ---- The calls ---- */

/* library -- books of authors, as documentation has them. */
static tansu_db *library(void) {
    tansu_db *db = call_open(NULL);
    declare(db);
    call_save(db, NULL, "publishers", TANSU_SAVE, "{'_id': 7, 'name': 'Ace'}");
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 1, 'name': 'Le Guin', 'publisher': 7}");
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 2, 'name': 'Lem'}");
    call_save(db, NULL, "tags", TANSU_SAVE, "{'_id': 3, 'name': 'sf'}");
    call_save(db, NULL, "books", TANSU_SAVE, "{'_id': 10, 'author': 1, 'tags': [3, 4]}");
    call_save(db, NULL, "books", TANSU_SAVE, "{'_id': 11, 'author': 2}");
    call_save(db, NULL, "books", TANSU_SAVE, "{'_id': 12, 'author': 5}");
    call_save(db, NULL, "books", TANSU_SAVE,
              "{'_id': 13, 'author': {'$ref': 'authors', '$id': 2}, 'lines': [{'tag': 3}]}");
    return db;
}

static const char *books(tansu_db *db, const char *query) {
    return call_find(db, NULL, "books", query, "{'$fields': {'_id': 1}}");
}

static void what_is_followed(void) {
    tansu_db *db = library();
    CHECK_TEXT("{ \"_id\" : 10 }", books(db, "{'author.publisher.name': 'Ace'}"));
    CHECK_TEXT("{ \"_id\" : 10 }", books(db, "{'tags.0.name': 'sf'}"));
    CHECK_TEXT("", books(db, "{'tags.1.name': 'sf'}"));
    CHECK_TEXT("{ \"_id\" : 13 }", books(db, "{'lines.0.tag.name': 'sf'}"));
    CHECK_TEXT("", books(db, "{'lines.1.tag.name': 'sf'}"));
    /* The keys of a DBRef are in the document itself, and wildcard paths stay there. */
    CHECK_TEXT("{ \"_id\" : 13 }", books(db, "{'author.$id': 2}"));
    CHECK_TEXT("", books(db, "{'**.name': 'sf'}"));
    CHECK_TEXT("", books(db, "{'**': 'sf'}"));
    /* A reference that leads nowhere is to a document without any value. */
    CHECK_TEXT("{ \"_id\" : 12 } { \"_id\" : 13 }", books(db, "{'author.name': null}"));
    CHECK_TEXT("{ \"_id\" : 11 } { \"_id\" : 12 } { \"_id\" : 13 }",
               books(db, "{'author.publisher.name': {'$ne': 'Ace'}}"));
    /* In a subquery the references are those of its own collection. */
    CHECK_TEXT("{ \"_id\" : 2 }",
               call_find(db, NULL, "authors",
                         "{'_id': {'$in': {'$from': 'books', '$field': 'author', '$query': "
                         "{'author.name': 'Lem'}}}}",
                         "{'$fields': {'_id': 1}}"));
    /* Of a reference below another one, the longer path counts. */
    call_save(db, NULL, "both", TANSU_SAVE, "{'_id': 1, 'a': {'b': 2}}");
    CHECK_STATUS(TANSU_OK, call_ensure(db, NULL, "both",
                                       "{'references': [{'path': 'a', 'to': 'tags'}, {'path': "
                                       "'a.b', 'to': 'authors'}]}"));
    CHECK_INT(1, call_count(db, NULL, "both", "{'a.b': 2}"));
    CHECK_INT(1, call_count(db, NULL, "both", "{'a': {'b': {'name': 'Lem'}}}"));
    CHECK_INT(0, call_count(db, NULL, "both", "{'a.name': 'Lem'}"));
    /* Without a declaration the path is in the document. */
    CHECK_STATUS(TANSU_OK, call_ensure(db, NULL, "books", "{'references': []}"));
    CHECK_TEXT("", books(db, "{'author.name': 'Lem'}"));
    call_close(db);
}

static void in_every_call(void) {
    tansu_db *db = library();
    bson_t *query = bson_from_text("{'author.name': 'Lem'}");
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_INT(1, call_count(db, NULL, "books", "{'author.name': 'Lem'}"));
    CHECK_STATUS(TANSU_OK, tansu_distinct(db, NULL, "books", "_id", document_of(query),
                                          TANSU_NO_DOCUMENT, &result, &call_error));
    bson_t values;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&values, result.data, result.size));
    REQUIRE(bson_iter_init(&iter, &values));
    REQUIRE(bson_iter_find_descendant(&iter, "values.0", &iter) ||
            (bson_iter_init(&iter, &values) && bson_iter_find_descendant(&iter, "0", &iter)));
    CHECK_INT(11, bson_iter_as_int64(&iter));
    /* An upsert takes no value from what another document has to have. */
    bson_t *absent = bson_from_text("{'author.name': 'Nobody', 'year': 3}");
    bson_t *update = bson_from_text("{'$set': {'read': true}}");
    bson_t *hints = bson_from_text("{'$upsert': true}");
    CHECK_STATUS(TANSU_OK, tansu_update(db, NULL, "books", document_of(query), document_of(update),
                                        TANSU_NO_DOCUMENT, &result, &call_error));
    CHECK_TEXT("{ \"_id\" : 11, \"author\" : 2, \"read\" : true }",
               call_get(db, NULL, "books", "{'_id': 11}"));
    CHECK_STATUS(TANSU_OK, tansu_update(db, NULL, "books", document_of(absent), document_of(update),
                                        document_of(hints), &result, &call_error));
    CHECK_INT(1, call_count(db, NULL, "books", "{'year': 3, 'author': {'$exists': false}}"));
    int64_t removed = 0;
    CHECK_STATUS(TANSU_OK,
                 call_remove(db, NULL, "books", "{'author.publisher.name': 'Ace'}", &removed));
    CHECK_INT(1, removed);
    bson_destroy(query);
    bson_destroy(absent);
    bson_destroy(update);
    bson_destroy(hints);
    tansu_buffer_free(&result);
    call_close(db);
}

/* in_a_transaction -- its own changes and its own references. */
static void in_a_transaction(void) {
    tansu_db *db = library();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    call_save(db, txn, "authors", TANSU_SAVE, "{'_id': 5, 'name': 'New'}");
    CHECK_INT(1, call_count(db, txn, "books", "{'author.name': 'New'}"));
    CHECK_INT(0, call_count(db, NULL, "books", "{'author.name': 'New'}"));
    CHECK_STATUS(TANSU_OK, call_ensure(db, txn, "books", "{'references': []}"));
    CHECK_INT(0, call_count(db, txn, "books", "{'author.name': 'New'}"));
    CHECK_INT(1, call_count(db, NULL, "books", "{'author.name': 'Lem'}"));
    tansu_txn_abort(txn);
    call_close(db);
}

/* collections_of -- what tansu_query_collections() returns, separated by spaces. */
static const char *collections_of(tansu_db *db, const char *collection, const char *query) {
    static char names[400];
    bson_t *q = bson_from_text(query), all;
    bson_iter_t iter, name;
    tansu_buffer result = TANSU_BUFFER_INIT;
    names[0] = '\0';
    tansu_status status = tansu_query_collections(db, NULL, collection, document_of(q),
                                                  TANSU_NO_DOCUMENT, &result, &call_error);
    if (status != TANSU_OK) {
        snprintf(names, sizeof names, "%s %s", tansu_status_name(status), call_error.context);
    } else {
        REQUIRE(bson_init_static(&all, result.data, result.size));
        REQUIRE(bson_iter_init_find(&iter, &all, "collections") && bson_iter_recurse(&iter, &name));
        while (bson_iter_next(&name)) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "",
                     bson_iter_utf8(&name, NULL));
        }
    }
    tansu_buffer_free(&result);
    bson_destroy(q);
    return names;
}

static void which_collections_are_read(void) {
    tansu_db *db = library();
    CHECK_TEXT("books", collections_of(db, "books", "{'author': 1}"));
    CHECK_TEXT("nowhere", collections_of(db, "nowhere", "{'author.name': 1}"));
    CHECK_TEXT("books authors publishers",
               collections_of(db, "books", "{'author.publisher.name': 'Ace'}"));
    CHECK_TEXT("books tags authors",
               collections_of(db, "books",
                              "{'tags.name': 'a', '$or': [{'lines.tag.w': 1}, {'author.name': "
                              "'x'}]}"));
    CHECK_TEXT("books pictures publishers authors",
               collections_of(db, "books",
                              "{'x': {'$in': {'$from': 'publishers', '$query': {'y': {'$in': "
                              "{'$from': 'authors'}}}}}, '$do': {'picture': {'$join': "
                              "'pictures'}}}"));
    CHECK_TEXT("INVALID_QUERY x.$gtt", collections_of(db, "books", "{'x': {'$gtt': 1}}"));
    CHECK_TEXT("INVALID_NAME $x", collections_of(db, "$x", "{}"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_query_collections(db, NULL, NULL, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, NULL,
                                         &call_error));
    call_close(db);
}

/* limits_hold -- references in cycles end with the path, and subqueries are counted. */
static void limits_hold(void) {
    tansu_db *db = call_open(NULL);
    text path = {.size = 0}, query = {.size = 0};
    CHECK_STATUS(TANSU_OK,
                 call_ensure(db, NULL, "c", "{'references': [{'path': 'n', 'to': 'c'}]}"));
    call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1, 'v': 1}");
    for (int i = 0; i < 16; i++)
        put(&path, "n.");
    put(&query, "{'%sv': 1}", path.bytes);
    CHECK_INT(1, call_count(db, NULL, "c", query.bytes));
    query.size = 0;
    put(&query, "{'n.%sv': 1}", path.bytes);
    CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", query.bytes, NULL));
    query.size = 0;
    put(&query, "{'$or': [");
    for (int i = 0; i < 101; i++)
        put(&query, "%s{'n.v': %d}", i > 0 ? ", " : "", i);
    put(&query, "]}");
    CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", query.bytes, NULL));
    call_close(db);
}

/* allocations_may_fail -- each in turn: the answer, or MEMORY. */
static void allocations_may_fail(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    tansu_db *db = library();
    bson_t *query = bson_from_text(
        "{'$or': [{'author': {'publisher': {'name': 'Ace'}}}, {'tags': {'$elemMatch': {'name': "
        "'x'}}}, {'lines': {'$elemMatch': {'tag.name': {'$ne': 'x'}}}}]}");
    unsigned failures = 0;
    for (int lists = 0; lists < 2; lists++) {
        bool met = true;
        for (unsigned nth = 1; met; nth++) {
            tansu_buffer result = TANSU_BUFFER_INIT;
            int64_t count = 0;
            fault_start(FAULT_OWN_MEMORY, nth, false, 0);
            tansu_status status =
                lists ? tansu_query_collections(db, NULL, "books", document_of(query),
                                                TANSU_NO_DOCUMENT, &result, &call_error)
                      : tansu_count(db, NULL, "books", document_of(query), TANSU_NO_DOCUMENT,
                                    &count, &call_error);
            met = fault_occurred();
            fault_stop();
            if (status != TANSU_OK)
                failures += CHECK_STATUS(TANSU_E_MEMORY, status);
            else if (!lists)
                CHECK_INT(2, count);
            else
                CHECK(result.size > 40);
            tansu_buffer_free(&result);
        }
    }
    CHECK(failures > 80);
    bson_destroy(query);
    call_close(db);
}

int main(void) {
    RUN(as_if_embedded);
    RUN(what_is_followed);
    RUN(in_every_call);
    RUN(in_a_transaction);
    RUN(which_collections_are_read);
    RUN(limits_hold);
    RUN(allocations_may_fail);
    return check_finish();
}
