/*
 * test_array_positions.c -- numbers and `$` in paths through arrays: which element a query with a
 * position names, what `.$` means where another array matched, and what is null after a position.
 * Where MongoDB answers otherwise, docs/coming-from.md says so.
 */
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"

static tansu_db *db;

/* changed -- the first document after an update. */
static const char *changed(const char *document, const char *query, const char *operations) {
    db = memory_db_open();
    save_text(db, document);
    const char *answer = update_text(db, NULL, query, operations, NULL);
    if (answer[0] == '{')
        answer = find_documents(db, NULL, "{'$fields':{'_id':0}}");
    memory_db_close(db);
    return answer;
}

/* shown -- a document's projection. */
static const char *shown(const char *document, const char *query, const char *hints) {
    db = memory_db_open();
    save_text(db, document);
    const char *answer = find_documents(db, query, hints);
    memory_db_close(db);
    return answer;
}

/* A position in a query says which element matched, as the first element that passes does (rule
 * 2). */
static void a_position_names_the_element(void) {
    static const char a[] = "{'a':[{'b':5,'c':[7,8]},{'b':5,'c':[8,7]}]}";
    CHECK_TEXT("{ \"a\" : [ { \"b\" : 6, \"c\" : [ 7, 8 ] }, { \"b\" : 5, \"c\" : [ 8, 7 ] } ] }",
               changed(a, "{'a.b':5}", "{'$set':{'a.$.b':6}}"));
    CHECK_TEXT("{ \"a\" : [ { \"b\" : 5, \"c\" : [ 7, 8 ] }, { \"b\" : 6, \"c\" : [ 8, 7 ] } ] }",
               changed(a, "{'a.1.b':5}", "{'$set':{'a.$.b':6}}"));
    CHECK_TEXT("{ \"a\" : [ { \"b\" : 5, \"c\" : [ 7, 8 ] }, { \"b\" : 5, \"c\" : [ 8, 0 ] } ] }",
               changed(a, "{'a.1.c':7}", "{'$set':{'a.1.c.$':0}}"));
    CHECK_TEXT("{ \"a\" : [ { \"b\" : 5, \"c\" : [ 7, 8 ] }, { \"b\" : 5, \"c\" : [ 8, 0 ] } ] }",
               changed(a, "{'a.1.c.1':7}", "{'$set':{'a.1.c.$':0}}"));
    CHECK_TEXT("{ \"a\" : [ { \"b\" : 5, \"c\" : [ 8, 7 ] } ] }",
               shown(a, "{'a.1.b':5}", "{'$fields':{'a.$':1,'_id':0}}"));
    CHECK_TEXT("{ \"a\" : [ 4 ] }",
               shown("{'a':[3,4]}", "{'a.1':4}", "{'$fields':{'a.$':1,'_id':0}}"));
    /* The position of the document in between is none of the array's elements. */
    CHECK_TEXT("INVALID_QUERY $set.a.1.b.$", changed(a, "{'a.1.b':5}", "{'$set':{'a.1.b.$':6}}"));
}

/* The position is that of the array that the query speaks of. */
static void another_array_matched(void) {
    static const char two[] = "{'a':[1,2],'b':[3,4]}";
    CHECK_TEXT("{ \"a\" : [ 1, 2 ], \"b\" : [ 3, 0 ] }",
               changed(two, "{'a':2}", "{'$set':{'b.$':0}}"));
    CHECK_TEXT("{ \"b\" : [ 4 ] }", shown(two, "{'a':2}", "{'$fields':{'b.$':1,'_id':0}}"));
    CHECK_TEXT("{ \"a\" : [ 2 ] }", shown(two, "{'a':2,'b':3}", "{'$fields':{'a.$':1,'_id':0}}"));
    /* The query speaks of it, but it is not what matched. */
    CHECK_TEXT("INVALID_QUERY hints.$fields.b.$",
               shown(two, "{'$or':[{'a':2},{'b':9}]}", "{'$fields':{'a':1,'b.$':1,'_id':0}}"));
    CHECK_TEXT("INVALID_QUERY $set.b.$",
               changed("{'a':1,'b':[3,4]}", "{'$or':[{'a':1},{'b':9}]}", "{'$set':{'b.$':0}}"));
}

/* The documents in an array may have the number as a key: in those that do not, it is missing. */
static void what_is_null_after_a_position(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'a':[{'b':1},{'b':2}]}");
    save_text(db, "{'_id':2,'a':[{'b':1},{'b':null}]}");
    save_text(db, "{'_id':3,'a':[{'b':1}]}");
    save_text(db, "{'_id':4,'a':[]}");
    save_text(db, "{'_id':5,'a':[1,2]}");
    save_text(db, "{'_id':6,'a':{'1':{'b':2}}}");
    save_text(db, "{'_id':7,'a':{'1':{'b':null}}}");
    save_text(db, "{'_id':8}");
    save_text(db, "{'_id':9,'a':[{'1':{'b':1}},{'1':{'b':2}}]}");
    for (int indexed = 0; indexed < 2; indexed++) {
        CHECK_TEXT("1 2 3 7 8 9", find_ids(db, "{'a.1.b':null}", NULL));
        CHECK_TEXT("4 5 6", find_ids(db, "{'a.1.b':{'$ne':null}}", NULL));
        CHECK_TEXT("2 7", find_ids(db, "{'a.1.b':{'$TYPE':'null'}}", NULL));
        CHECK_TEXT("1 6 9", find_ids(db, "{'a.1.b':2}", NULL));
        if (!indexed)
            create_index(db, "b", "{'a.1.b':1}", NULL);
    }
    memory_db_close(db);
}

int main(void) {
    RUN(a_position_names_the_element);
    RUN(another_array_matched);
    RUN(what_is_null_after_a_position);
    return check_finish();
}
