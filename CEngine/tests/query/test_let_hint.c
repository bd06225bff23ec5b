/*
 * test_let_hint.c -- the hint $let: variables of a whole call, which $expr, computed fields and
 * updates by a pipeline see in all calls that take a query.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"

#include <string.h>

#define ABOVE "{'$expr':{'$gt':['$n','$$x']}}"
#define LET(value) "{'$let':{'x':" value "}}"

/* fresh -- three documents. */
static tansu_db *fresh(void) {
    static const char *const documents[] = {"{'_id':1,'n':1,'s':'a'}", "{'_id':2,'n':2,'s':'A'}",
                                            "{'_id':3,'n':3,'s':'b'}", NULL};
    return memory_db_with(documents);
}

/* remove_text -- removes what matches; the answer is the number, or -1. */
static int64_t remove_text(tansu_db *db, const char *query, const char *hints) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    int64_t removed = 0;
    tansu_status status =
        tansu_remove(db, NULL, "c", document_of(q), document_of(h), &removed, NULL);
    bson_destroy(q);
    bson_destroy(h);
    return status == TANSU_OK ? removed : -1;
}

static void queries_see_variables(void) {
    static const struct {
        const char *query, *hints, *expected;
    } cases[] = {
        {ABOVE, LET("1"), "2 3"},
        {ABOVE, LET("{'$add':[1,1]}"), "3"},
        {"{'$expr':{'$eq':['$s','$$x']}}", LET("'a'"), "1"},
        {"{'$expr':{'$eq':['$s','$$x']}}", "{'$collation':'caseInsensitive','$let':{'x':'a'}}",
         "1 2"},
        {"{'$expr':{'$eq':['$n','$$y.b']}}", "{'$let':{'x':3,'y':{'b':'$$x'}}}", "3"},
        {"{'$expr':{'$in':['$_id','$$x']}}", LET("[1,3]"), "1 3"},
        {"{'$or':[{'n':1},{'$expr':{'$eq':['$n','$$x']}}]}", LET("3"), "1 3"},
        {"{'$expr':{'$eq':['$n',{'$let':{'vars':{'x':2},'in':'$$x'}}]}}", LET("3"), "2"},
        {"{'n':{'$in':{'$from':'c','$field':'n','$query':" ABOVE "}}}", LET("2"), "3"},
        {"{'n':2}", LET("'unused'"), "2"},
        {"{'$expr':{'$lt':['$$x',1]}}", LET("{'$rand':{}}"), "1 2 3"},
        {"{'$expr':{'$eq':['$$x','$$y']}}", "{'$let':{'x':{'$rand':{}},'y':'$$x'}}", "1 2 3"},
        {"{}", "{'$let':{}}", "1 2 3"},
        {ABOVE, NULL, "INVALID_QUERY $expr"},
        {"{}", "{'$let':[1]}", "INVALID_QUERY hints.$let"},
        {"{}", "{'$let':null}", "INVALID_QUERY hints.$let"},
        {"{}", LET("'$n'"), "INVALID_QUERY hints.$let.x"},
        {"{}", LET("'$$ROOT'"), "INVALID_QUERY hints.$let.x"},
        {"{}", LET("'$$y'"), "INVALID_QUERY hints.$let.x"},
        {"{}", LET("{'$nothing':1}"), "INVALID_QUERY hints.$let.x.$nothing"},
        {"{}", LET("{'$divide':[1,0]}"), "INVALID_QUERY hints.$let.x.$divide"},
        {"{}", "{'$let':{'X':1}}", "INVALID_QUERY hints.$let.X"},
        {"{}", "{'$let':{'a.b':1}}", "INVALID_QUERY hints.$let.a.b"},
        {"{}", "{'$let':{'x':1},'$let':{'x':2}}", "INVALID_QUERY hints.$let"},
    };
    tansu_db *db = fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_TEXT(cases[i].expected, find_ids(db, cases[i].query, cases[i].hints)))
            check_note("query %s hints %s", cases[i].query, cases[i].hints ? cases[i].hints : "");
    }
    memory_db_close(db);
}

/* A variable is a constant of the query, so that an index finds it. */
static void an_index_serves_them(void) {
    tansu_db *db = fresh();
    create_index(db, "by_n", "{'n':1}", NULL);
    const char *query = "{'$expr':{'$eq':['$n','$$x']}}";
    CHECK_TEXT("2", find_ids(db, query, LET("2")));
    CHECK_TEXT("1", plan_field(db, query, "{'$index':'by_n','$let':{'x':2}}", "documentsExamined"));
    CHECK_TEXT("{ \"groups\" : [ { \"low\" : 2 } ] }",
               aggregate_text(db, ABOVE, "{'fields':{'low':{'$min':'n'}}}", LET("1")));
    memory_db_close(db);
}

static void all_calls_see_variables(void) {
    tansu_db *db = fresh();
    CHECK_INT(2, count_matches(db, ABOVE, LET("1")));
    CHECK_TEXT("INVALID_QUERY hints.$let.x", distinct_text(db, "n", ABOVE, LET("'$n'")));
    CHECK_TEXT("{ \"values\" : [ 2, 3 ] }", distinct_text(db, "n", ABOVE, LET("1")));
    CHECK_TEXT("{ \"groups\" : [ { \"n\" : 2 } ] }",
               aggregate_text(db, ABOVE, "{'fields':{'n':{'$count':true}}}", LET("1")));
    CHECK_TEXT("{ \"_id\" : 3, \"m\" : 12 }",
               find_documents(db, ABOVE,
                              "{'$let':{'x':2,'y':4},'$fields':{'m':{'$multiply':['$n','$$y']}}}"));
    CHECK_TEXT("INVALID_QUERY hints.$fields.m",
               find_documents(db, "{}", "{'$fields':{'m':'$$y'}}"));
    memory_db_close(db);
}

static void writes_see_variables(void) {
    tansu_db *db = fresh();
    CHECK_TEXT("{ \"matched\" : 1, \"modified\" : 1, \"upserted\" : [  ] }",
               update_text(db, NULL, ABOVE, "{'$set':{'t':true}}", LET("2")));
    CHECK_TEXT("3", find_ids(db, "{'t':true}", NULL));
    CHECK_TEXT("{ \"_id\" : 2, \"n\" : 7, \"s\" : \"A\" }",
               find_and_modify_text(db, "{'$expr':{'$eq':['$_id','$$x']}}",
                                    "{'$pipeline':[{'$set':{'n':{'$add':['$n','$$y.0']}}}]}",
                                    "{'$let':{'x':2,'y':{'0':5}}}", TANSU_MODIFY_RETURN_AFTER));
    /* One value for all documents, and for the query. */
    CHECK_TEXT("{ \"matched\" : 3, \"modified\" : 3, \"upserted\" : [  ] }",
               update_text(db, NULL, "{'$expr':{'$gte':['$$x',0]}}",
                           "{'$pipeline':[{'$set':{'r':'$$x'}}]}", LET("{'$rand':{}}")));
    CHECK_TEXT("{ \"groups\" : [ { \"n\" : 3 } ] }",
               aggregate_text(db, "{'r':{'$gte':0}}", "{'fields':{'n':{'$count':true}}}", NULL));
    CHECK(strchr(distinct_text(db, "r", "{}", NULL), ',') == NULL);
    CHECK_TEXT("INVALID_QUERY $pipeline.0.$set.r",
               update_text(db, NULL, "{}", "{'$pipeline':[{'$set':{'r':'$$y'}}]}", LET("1")));
    CHECK_INT(-1, remove_text(db, ABOVE, "{}"));
    CHECK_INT(2, remove_text(db, ABOVE, LET("1")));
    CHECK_TEXT("1", find_ids(db, "{}", NULL));
    memory_db_close(db);
}

static void every_failing_allocation_is_reported(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    tansu_db *db = fresh();
    bson_t *query = bson_from_text("{'$expr':{'$in':['$n','$$y.b']}}");
    bson_t *hints = bson_from_text("{'$let':{'x':{'$concatArrays':[[1],[2]]},'y':{'b':'$$x'}},"
                                   "'$fields':{'m':{'$size':'$$x'}}}");
    unsigned failures = 0;
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        int64_t count;
        fault_start(FAULT_OWN_MEMORY, nth, false, 0);
        tansu_status status =
            tansu_count(db, NULL, "c", document_of(query), document_of(hints), &count, NULL);
        met = fault_occurred();
        fault_stop();
        if (status == TANSU_OK)
            CHECK_INT(2, count);
        else
            failures += CHECK_STATUS(TANSU_E_MEMORY, status);
    }
    CHECK(failures > 8);
    bson_destroy(query);
    bson_destroy(hints);
    memory_db_close(db);
}

int main(void) {
    RUN(queries_see_variables);
    RUN(an_index_serves_them);
    RUN(all_calls_see_variables);
    RUN(writes_see_variables);
    RUN(every_failing_allocation_is_reported);
    return check_finish();
}
