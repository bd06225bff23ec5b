/*
 * test_wildcard_index.c -- wildcard indexes: what they may be defined as, which documents they find
 * for which condition, where they are not used, that they are kept in transactions, over restarts
 * and rebuilds, and what bounds them. That they never change an answer is checked with random
 * documents and queries by test_query_differential.c.
 */
#include "index/definition.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

#define PLAN(expected, query, hints, path) CHECK_TEXT(expected, plan_field(db, query, hints, path))

/* served -- a query that the wildcard index "w" answers by itself, as it is answered without. */
static void served(const char *expected, const char *query, const char *path) {
    CHECK_TEXT(expected, find_ids(db, query, "{'$index':false}"));
    CHECK_TEXT(expected, find_ids(db, query, "{'$index':'w'}"));
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", path);
    PLAN("\"index\"", query, "{'$index':'w'}", "plan.kind");
    PLAN(quoted, query, "{'$index':'w'}", "plan.path");
}

/* not_served -- a query for which the index may lack documents. */
static void not_served(const char *expected, const char *query) {
    CHECK_TEXT(expected, find_ids(db, query, NULL));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, query, "{'$index':'w'}"));
}

static void definitions_are_checked(void) {
    static const definition_case cases[] = {
        {TANSU_OK, "{'**':1}", NULL, NULL},
        {TANSU_OK, "{'a.b.**':1}", NULL, NULL},
        {TANSU_OK, "{'**':1}", "{'only':['a','b.c']}", NULL},
        {TANSU_OK, "{'**':1}", "{'only':['a'],'except':['a.b']}", NULL},
        {TANSU_OK, "{'**':1}", "{'caseInsensitive':true,'maxEntries':5}", NULL},
        {TANSU_OK, "{'**':1}", "{'partialFilter':{'a':1}}", NULL},
        {TANSU_OK, "{'**':1}", "{'wildcard':true}", NULL},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'unique':true}", "unique"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'sparse':true}", "sparse"},
        {TANSU_E_INVALID_INDEX, "{'**':-1}", NULL, "**"},
        {TANSU_E_INVALID_INDEX, "{'**':1,'a':1}", NULL, "**"},
        {TANSU_E_INVALID_INDEX, "{'a':1,'b.**':1}", NULL, "a"},
        {TANSU_E_INVALID_INDEX, "{'a.**.b':1}", NULL, "a.**.b"},
        {TANSU_E_INVALID_INDEX, "{'*':1}", NULL, "*"},
        {TANSU_E_INVALID_INDEX, "{'a.*':1}", NULL, "a.*"},
        {TANSU_E_INVALID_INDEX, "{'*.**':1}", NULL, "*"},
        {TANSU_E_INVALID_INDEX, "{'.**':1}", NULL, ".**"},
        {TANSU_E_INVALID_INDEX, "{'$a.**':1}", NULL, "$a"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'only':[]}", "only"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'only':'a'}", "only"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'only':[1]}", "only"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'except':['a.**']}", "except"},
        {TANSU_E_INVALID_INDEX, "{'**':1}", "{'except':['a..b']}", "a..b"},
        {TANSU_E_INVALID_INDEX, "{'a':1}", "{'only':['a']}", "a"},
        {TANSU_E_INVALID_INDEX, "{'a':1}", "{'wildcard':true}", "a"},
        /* Keys of that name. */
        {TANSU_OK, "{'\\\\*\\\\*':1}", NULL, NULL},
        {TANSU_OK, "{'a\\\\.\\\\*\\\\*':1}", NULL, NULL},
    };
    check_definitions(cases, sizeof cases / sizeof *cases);
    /* Too many paths. */
    tansu_buffer text = TANSU_BUFFER_INIT;
    REQUIRE(buffer_append(&text, "{'except':[", 11));
    for (int i = 0; i <= WILDCARD_MAX_PATHS; i++)
        REQUIRE(buffer_append(&text, i == 0 ? "'a'" : ",'a'", i == 0 ? 3 : 4));
    REQUIRE(buffer_append(&text, "]}", 3));
    db = memory_db_open();
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "w", "{'**':1}", (const char *)text.data));
    memory_db_close(db);
    tansu_buffer_free(&text);
}

static void definitions_are_compared_and_listed(void) {
    db = memory_db_open();
    CHECK_OK(call_index(db, NULL, "c", "w", "{'a.**':1}", "{'only':['a.b'],'except':['a.c']}"),
             &call_error);
    CHECK_OK(call_index(db, NULL, "c", "w", "{'a.**':1}", "{'except':['a.c'],'only':['a.b']}"),
             &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, call_index(db, NULL, "c", "w", "{'a.**':1}", NULL));
    CHECK_STATUS(TANSU_E_EXISTS,
                 call_index(db, NULL, "c", "w", "{'b.**':1}", "{'only':['a.b'],'except':['a.c']}"));
    CHECK_STATUS(TANSU_E_EXISTS, call_index(db, NULL, "c", "w", "{'\\\\*\\\\*':1}", NULL));
    CHECK_TEXT("{ \"indexes\" : [ { \"name\" : \"w\", \"keys\" : { \"a.**\" : 1 }, \"unique\" : "
               "false, \"only\" : [ \"a.b\" ], \"except\" : [ \"a.c\" ], \"multikey\" : false, "
               "\"entries\" : 0 } ] }",
               call_indexes(db, NULL, "c"));
    memory_db_close(db);
}

static const char *const documents[] = {"{'_id':0,'a':5,'b':'x','c':{'d':'Barcelona','e':{}}}",
                                        "{'_id':1,'a':[1,5,9],'b':null,'c':[{'d':'Bar'},{'d':2}]}",
                                        "{'_id':2,'a':[[5,6],7],'c':{'d':[]}}",
                                        "{'_id':3,'a':{'$numberLong':'5'},'b':{'0':3}}",
                                        "{'_id':5,'a':{'b':5.0},'b':[3,[4],{'x':1}]}",
                                        "{'_id':{'k':5}}",
                                        "{'_id':'Bar','a':'x'}",
                                        NULL};

static void any_path_is_found(void) {
    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", NULL);
    served("0 1 3", "{'a':5}", "a");
    served("1 2", "{'a':{'$gt':5,'$lt':20}}", "a");
    served("0 1 3", "{'a':{'$in':[5,9]}}", "a");
    served("0 1", "{'c.d':{'$begin':'Bar'}}", "c.d");
    served("0", "{'c.d':{'$regex':'^Barc'}}", "c.d");
    served("0", "{'c':{'d':'Barcelona'}}", "c.d");
    served("5", "{'a.b':5}", "a.b");
    served("{ \"k\" : 5 }", "{'_id.k':{'$gte':5}}", "_id.k");
    PLAN("true", "{'a':5}", "{'$index':'w'}", "plan.exact");
    /* Existing: at the path or below it, also without a scalar. */
    served("0 1 2", "{'c.d':{'$exists':true}}", "c.d");
    served("0", "{'c.e':{'$exists':true}}", "c.e");
    served("0 1 2 3 5 \"Bar\"", "{'a':{'$exists':true}}", "a");
    PLAN("true", "{'a':{'$exists':true}}", "{'$index':'w'}", "plan.exact");
    /* A position is a key, an element, or an array as an element. */
    served("2", "{'a.0':5}", "a.0");
    served("3 5", "{'b.0':3}", "b.0");
    served("5", "{'b.2.x':1}", "b.2.x");
    served("5", "{'b.1':4}", "b.1");
    PLAN("false", "{'b.0':3}", "{'$index':'w'}", "plan.exact");
    /* What it does not have. */
    not_served("1 2 3 5 { \"k\" : 5 } \"Bar\"", "{'b':{'$ne':'x'}}");
    not_served("1 2 { \"k\" : 5 } \"Bar\"", "{'b':null}");
    not_served("2 { \"k\" : 5 } \"Bar\"", "{'b':{'$exists':false}}");
    not_served("1", "{'a':[1,5,9]}");
    not_served("5", "{'a':{'$eq':{'b':5}}}");
    not_served("0", "{'_id':0}");
    not_served("0 1 2 3 5 { \"k\" : 5 } \"Bar\"", "{}");
    memory_db_close(db);
}

static void any_value_is_found(void) {
    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", NULL);
    served("0 1 2 3 5 { \"k\" : 5 }", "{'**':5}", "**");
    served("1 \"Bar\"", "{'**':'Bar'}", "**");
    served("0 1 \"Bar\"", "{'**':{'$begin':'Bar'}}", "**");
    served("0", "{'**':{'$regex':'^Barc'}}", "**");
    served("1 2", "{'**':{'$gt':5}}", "**");
    served("1", "{'**':null}", "**");
    served("0 \"Bar\"", "{'**':'x'}", "**");
    served("1", "{'**':'Bar','c.d':2}", "c.d"); /* the cheaper path */
    PLAN("true", "{'**':5}", "{'$index':'w'}", "plan.exact");
    not_served("0", "{'**':{'$eq':{}}}");
    not_served("2", "{'**':{'$size':0}}");
    served("", "{'**.nope':5}", "**.nope");
    served("0 1", "{'**.d':{'$begin':'Bar'}}", "**.d");
    served("0 1 3", "{'**.a':5}", "**.a");
    served("5", "{'**.b':5}", "**.b");
    served("{ \"k\" : 5 }", "{'**.k':5}", "**.k");
    served("1 5", "{'**._id':{'$in':[1,5]}}", "**._id");
    not_served("0 1 2 3 5 { \"k\" : 5 } \"Bar\"", "{'**.d':{'$ne':'no'}}");
    memory_db_close(db);
    /* An index of a part does not have all values. */
    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", "{'except':['z']}");
    not_served("1 \"Bar\"", "{'**':'Bar'}");
    memory_db_close(db);
}

static void more_paths_than_documents_are_scanned(void) {
    char text[64];
    db = memory_db_open();
    create_index(db, "w", "{'**':1}", NULL);
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "{'_id':%d,'f%d':%d}", i, i, i % 4);
        save_text(db, text);
    }
    CHECK_INT(10, count_matches(db, "{'**':3,'_id':{'$gte':0}}", NULL));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'**':3}", "{'$index':'w'}"));
    CHECK_TEXT("3", find_ids(db, "{'f3':3}", "{'$index':'w'}"));
    memory_db_close(db);
}

static void scopes_leave_paths_out(void) {
    db = memory_db_with(documents);
    create_index(db, "w", "{'c.**':1}", NULL);
    served("0 1", "{'c.d':{'$begin':'Bar'}}", "c.d");
    served("0 1 2", "{'c':{'$exists':true}}", "c");
    not_served("0 1 3", "{'a':5}");
    memory_db_close(db);

    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", "{'only':['a','c.d']}");
    served("0 1 3", "{'a':5}", "a");
    served("5", "{'a.b':5}", "a.b");
    served("0 1 2", "{'c.d':{'$exists':true}}", "c.d");
    not_served("0 1 2", "{'c':{'$exists':true}}");
    not_served("0", "{'b':'x'}");
    /* The arrays above a path of `only` count. */
    served("1", "{'c.d':{'$gt':1,'$lt':3}}", "c.d");
    memory_db_close(db);

    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", "{'except':['a.b','c']}");
    served("0 1 3", "{'a':5}", "a");
    not_served("5", "{'a.b':5}");
    not_served("0 1 2 3 5 \"Bar\"", "{'a':{'$exists':true}}");
    not_served("0", "{'c.d':'Barcelona'}");
    served("0", "{'b':'x'}", "b");
    memory_db_close(db);
}

static void case_is_folded(void) {
    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", "{'caseInsensitive':true}");
    served("0 1", "{'c.d':{'$icase':{'$begin':'BAR'}}}", "c.d");
    served("1 \"Bar\"", "{'**':{'$icase':'bAR'}}", "**");
    served("0 1 3", "{'a':5}", "a");
    not_served("1 \"Bar\"", "{'**':'Bar'}");
    memory_db_close(db);
}

static void the_planner_takes_it_as_an_index_on_the_path(void) {
    char text[100];
    db = memory_db_open();
    for (int i = 0; i < 600; i++) {
        snprintf(text, sizeof text, "{'_id':%d,'a':%d,'b':%d,'t':['x']}", i, i * 7 % 600, i % 10);
        save_text(db, text);
    }
    create_index(db, "w", "{'**':1}", NULL);
    PLAN("\"w\"", "{'a':5}", NULL, "plan.index");
    PLAN("\"a\"", "{'a':5}", NULL, "plan.path");
    PLAN("{ \"a\" : [ { \"$gte\" : 10, \"$lt\" : 20 } ] }", "{'a':{'$gte':10,'$lt':20}}", NULL,
         "plan.ranges");
    PLAN("true", "{'a':{'$gte':10,'$lt':20}}", NULL, "plan.exact");
    /* Order, where no document with the path is lost, in both directions. */
    PLAN("\"index\"", "{'a':{'$gte':10}}", "{'$orderby':{'a':1},'$max':3}", "plan.sort");
    PLAN("\"index\"", "{'a':{'$gte':10}}", "{'$orderby':{'a':-1},'$max':3}", "plan.sort");
    CHECK_TEXT("430 173 516", find_ids(db, "{'a':{'$gte':10}}", "{'$orderby':{'a':1},'$max':3}"));
    CHECK_TEXT("257 514 171", find_ids(db, "{'a':{'$gte':10}}", "{'$orderby':{'a':-1},'$max':3}"));
    PLAN("\"scan\"", "{}", "{'$orderby':{'a':1},'$max':3}", "plan.kind");
    PLAN("\"scan\"", "{}", "{'$fields':{'a':1,'_id':0}}", "plan.kind");
    /* Counts from the index alone. */
    CHECK_INT(60, count_matches(db, "{'b':3}", NULL));
    CHECK_INT(590, count_matches(db, "{'a':{'$gt':9}}", NULL));
    CHECK_INT(600, count_matches(db, "{'t':'x'}", NULL));
    /* Two paths intersect; branches of $or unite. */
    PLAN("\"w\"", "{'a':7,'b':1}", NULL, "plan.index");
    PLAN("\"union\"", "{'$or':[{'a':7},{'b':{'$gt':20}}]}", NULL, "plan.kind");
    CHECK_TEXT("1", find_ids(db, "{'$or':[{'a':7},{'b':{'$gt':20}}]}", NULL));
    /* An index of its own is preferred. */
    create_index(db, "own", "{'a':1}", NULL);
    PLAN("\"own\"", "{'a':5}", NULL, "plan.index");
    PLAN("\"w\"", "{'b':5,'a':{'$exists':true}}", NULL, "plan.index");
    memory_db_close(db);
}

static void partial_ones_are_used_where_the_filter_holds(void) {
    db = memory_db_with(documents);
    create_index(db, "w", "{'**':1}", "{'partialFilter':{'a':{'$exists':true}}}");
    served("0 1 3", "{'a':5}", "a");
    not_served("0 1 2", "{'c.d':{'$exists':true}}");
    served("0 1 2", "{'c.d':{'$exists':true},'a':{'$exists':true}}", "c.d");
    served("1 \"Bar\"", "{'**':'Bar','a':{'$exists':true}}", "a");
    memory_db_close(db);
}

/* entries -- of the only index. */
static int entries(void) {
    const char *at = strstr(call_indexes(db, NULL, "c"), "\"entries\" : ");
    return at ? atoi(at + 12) : -1;
}

static void it_is_kept_in_transactions(void) {
    char *folder = folder_new();
    const char *path = folder_join(folder, "db");
    db = call_open(path);
    CHECK_OK(call_index(db, NULL, "c", "w", "{'**':1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'a':{'b':1},'t':[1,2,2]}"),
             &call_error);
    CHECK_INT(4, entries());
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id':1,'a':{'c':1}}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id':2,'a':{'b':1}}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 2, \"a\" : { \"b\" : 1 } }",
               call_find(db, txn, "c", "{'a.b':1}", "{'$index':'w'}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'t':2}"));
    tansu_txn_abort(txn);
    CHECK_INT(4, entries());
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id':1,'a':{'c':1}}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(1, entries());
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : { \"c\" : 1 } }",
               call_find(db, NULL, "c", "{'**':1}", "{'$index':'w'}"));
    call_close(db);
    /* Reopened, and rebuilt from the log. */
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            folder_remove(folder_join(path, "index"));
        db = call_open(path);
        CHECK_INT(1, entries());
        CHECK_TEXT("{ \"_id\" : 1, \"a\" : { \"c\" : 1 } }",
                   call_find(db, NULL, "c", "{'a.c':1}", "{'$index':'w'}"));
        call_close(db);
    }
    folder_end(folder);
}

static void copies_have_the_index(void) {
    char *folder = folder_new();
    char *path = strdup(folder_join(folder, "db"));
    db = call_open(path);
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a':1}", NULL), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "w", "{'**':1}", "{'unique':true}"));
    CHECK_OK(call_index(db, NULL, "c", "w", "{'**':1}", NULL), &call_error);
    call_close(db);
    db = call_open(path);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'b':1}"), &call_error);
    const char *copy = folder_join(folder, "backup"), *restored = folder_join(folder, "restored");
    CHECK_OK(tansu_backup(db, copy, TANSU_BACKUP_FILE, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    CHECK_OK(tansu_restore(copy, restored, NULL, NULL, NULL, &call_error), &call_error);
    db = call_open(restored);
    CHECK_INT(1, call_count(db, NULL, "c", "{'**':1,'b':1}"));
    call_close(db);
    const char *salvaged = folder_join(folder, "salvaged");
    CHECK_OK(tansu_repair(path, salvaged, NULL, NULL, NULL, &call_error), &call_error);
    db = call_open(salvaged);
    CHECK_INT(1, call_count(db, NULL, "c", "{'**':1,'b':1}"));
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"w\"") != NULL);
    call_close(db);
    free(path);
    folder_end(folder);
}

static void the_entries_of_a_document_are_bounded(void) {
    db = memory_db_open();
    create_index(db, "w", "{'**':1}", "{'maxEntries':3}");
    save_text(db, "{'_id':1,'a':1,'b':2,'c':3}");
    save_text(db, "{'_id':2,'a':[1,1,1,1,1,2]}");
    CHECK_STATUS(TANSU_E_TOO_LARGE,
                 call_save(db, NULL, "c", TANSU_SAVE, "{'_id':3,'a':1,'b':2,'c':3,'d':4}"));
    CHECK_TEXT("w", call_error.context);
    CHECK_INT(2, count_matches(db, "{}", NULL));
    memory_db_close(db);

    /* Many leaves at the end of a long path: their bytes are bounded, too. */
    size_t size = 1 << 20;
    char *key = malloc(size);
    REQUIRE(key != NULL);
    memset(key, 'k', size);
    key[size - 1] = 0;
    db = memory_db_open();
    create_index(db, "w", "{'**':1}", NULL);
    bson_t *doc = bson_new();
    bson_t inner;
    bson_append_int32(doc, "_id", -1, 1);
    bson_append_document_begin(doc, key, -1, &inner);
    for (int i = 0; i < 10; i++) {
        char name[12];
        snprintf(name, sizeof name, "%d", i);
        bson_append_int32(&inner, name, -1, i);
    }
    bson_append_document_end(doc, &inner);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
    CHECK_INT(1, count_matches(db, "{'**':9}", "{'$index':'w'}"));
    bson_destroy(doc);
    doc = bson_new();
    bson_append_int32(doc, "_id", -1, 2);
    bson_append_document_begin(doc, key, -1, &inner);
    for (int i = 0; i < 100; i++) {
        char name[12];
        snprintf(name, sizeof name, "%d", i);
        bson_append_int32(&inner, name, -1, i);
    }
    bson_append_document_end(doc, &inner);
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "c", TANSU_SAVE, doc));
    bson_destroy(doc);
    free(key);
    memory_db_close(db);
}

static void the_deepest_document_is_found(void) {
    enum { DEPTH = 99 };
    bson_t *doc = BCON_NEW("a", BCON_INT32(7));
    char path[300] = "{'a";
    for (int i = 1; i < DEPTH; i++) {
        bson_t *outer = BCON_NEW("a", BCON_DOCUMENT(doc));
        bson_destroy(doc);
        doc = outer;
        strcat(path, ".a");
    }
    strcat(path, "':7}");
    BSON_APPEND_INT32(doc, "_id", 1);
    db = memory_db_open();
    create_index(db, "w", "{'**':1}", NULL);
    save_bson(db, doc);
    bson_destroy(doc);
    CHECK_INT(1, count_matches(db, "{'**':7}", "{'$index':'w'}"));
    CHECK_INT(1, count_matches(db, path, "{'$index':'w'}"));
    memory_db_close(db);
}

static void paths_are_read_back(void) {
    static const struct {
        size_t expected, size;
        const char *entry;
    } cases[] = {{2, 4, "a\0\1x"},     {2, 3, "a\0\0"},          {5, 7, "a\0\2b\0\1x"},
                 {4, 6, "a\0\3\0\1x"}, {1, 2, "\0\1"},           {0, 2, "a\0"},
                 {0, 1, "a"},          {0, 3, "a\0\4"},          {0, 0, ""},
                 {0, 3, "a\0\2"},      {6, 9, "a\0\3\0\2\0\1xy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT((int64_t)cases[i].expected,
                  (int64_t)wildcard_path_size((const uint8_t *)cases[i].entry, cases[i].size));
}

int main(void) {
    library_regex_start();
    RUN(definitions_are_checked);
    RUN(definitions_are_compared_and_listed);
    RUN(any_path_is_found);
    RUN(any_value_is_found);
    RUN(more_paths_than_documents_are_scanned);
    RUN(scopes_leave_paths_out);
    RUN(case_is_folded);
    RUN(the_planner_takes_it_as_an_index_on_the_path);
    RUN(partial_ones_are_used_where_the_filter_holds);
    RUN(it_is_kept_in_transactions);
    RUN(copies_have_the_index);
    RUN(the_entries_of_a_document_are_bounded);
    RUN(the_deepest_document_is_found);
    RUN(paths_are_read_back);
    return check_finish();
}
