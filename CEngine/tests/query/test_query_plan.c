/*
 * test_query_plan.c -- the planner takes the index that helps, counts and sorts from it where that
 * can't change the answer, says what it did, and leaves an index alone where it could lose an
 * answer.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

static tansu_db *db;

#define PLAN(expected, query, hints, path) CHECK_TEXT(expected, plan_field(db, query, hints, path))

/* fill -- 1000 documents: n 0…999, ten of each t, city c0…c99, every tenth without `opt`. */
static void fill(void) {
    db = memory_db_open();
    for (int i = 0; i < 1000; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{'_id':%d,'n':%d,'t':%d,'address':{'city':'c%d'},'tags':['x%d','y%d']%s}", i, i,
                 i / 10, i % 100, i % 7, i % 5, i % 10 == 0 ? "" : ",'opt':1");
        save_text(db, json);
    }
}

static void an_equality_uses_its_index(void) {
    fill();
    PLAN("\"scan\"", "{'address.city':'c5'}", NULL, "plan.kind");
    PLAN("1000", "{'address.city':'c5'}", NULL, "documentsExamined");
    PLAN("{ \"address.city\" : 1 }", "{'address.city':'c5'}", NULL, "suggestion");
    create_index(db, "city", "{'address.city':1}", NULL);
    PLAN("\"index\"", "{'address.city':'c5'}", NULL, "plan.kind");
    PLAN("\"city\"", "{'address.city':'c5'}", NULL, "plan.index");
    PLAN("{ \"address.city\" : [ { \"$eq\" : \"c5\" } ] }", "{'address.city':'c5'}", NULL,
         "plan.ranges");
    PLAN("10", "{'address.city':'c5'}", NULL, "keysExamined");
    PLAN("10", "{'address.city':'c5'}", NULL, "documentsExamined");
    PLAN("10", "{'address.city':'c5'}", NULL, "returned");
    PLAN("true", "{'address.city':'c5'}", NULL, "plan.exact");
    PLAN("", "{'address.city':'c5'}", NULL, "suggestion");
    PLAN("\"city\"", "{'address':{'city':'c5'},'n':{'$gt':1}}", NULL, "plan.index");
    PLAN("false", "{'address':{'city':'c5'},'n':{'$gt':1}}", NULL, "plan.exact");
    CHECK_TEXT("5 105 205 305", find_ids(db, "{'address.city':'c5'}", "{'$max':4}"));
    memory_db_close(db);
}

static void the_id_is_an_index(void) {
    fill();
    PLAN("\"_id\"", "{'_id':7}", NULL, "plan.index");
    PLAN("1", "{'_id':7}", NULL, "documentsExamined");
    PLAN("\"_id\"", "{'_id':{'$in':[7,5.0,7]}}", NULL, "plan.index");
    CHECK_TEXT("5 7", find_ids(db, "{'_id':{'$in':[7,5.0,7]}}", NULL));
    CHECK_TEXT("998 999", find_ids(db, "{'_id':{'$gte':998}}", NULL));
    PLAN("2", "{'_id':{'$gte':998}}", NULL, "keysExamined");
    memory_db_close(db);
}

static void ranges_are_typed_and_shown(void) {
    fill();
    save_text(db, "{'_id':2000,'n':'text'}");
    save_text(db, "{'_id':2001,'n':null}");
    create_index(db, "n", "{'n':-1}", NULL);
    PLAN("{ \"n\" : [ { \"$gt\" : 990, \"$lte\" : 995 } ] }", "{'n':{'$gt':990,'$lte':995}}", NULL,
         "plan.ranges");
    PLAN("5", "{'n':{'$gt':990,'$lte':995}}", NULL, "keysExamined");
    CHECK_TEXT("991 992 993 994 995", find_ids(db, "{'n':{'$gt':990,'$lte':995}}", NULL));
    PLAN("9", "{'n':{'$gt':990}}", NULL, "keysExamined");
    PLAN("{ \"n\" : [ { \"$begin\" : \"te\" } ] }", "{'n':{'$begin':'te'}}", NULL, "plan.ranges");
    CHECK_TEXT("2000", find_ids(db, "{'n':{'$begin':'te'}}", NULL));
    PLAN("0", "{'n':{'$gt':5,'$lt':5}}", NULL, "keysExamined");
    CHECK_TEXT("2001", find_ids(db, "{'n':null}", NULL));
    CHECK_INT(1001, count_matches(db, "{'n':{'$ne':3}}", NULL));
    /* Of a negation the ranges are what is left. */
    PLAN("{ \"n\" : [ { \"$lt\" : 3 }, { \"$gt\" : 3 } ] }", "{'n':{'$ne':3}}", "{'$index':'n'}",
         "plan.ranges");
    PLAN("{ \"n\" : [ {  }, { \"$gte\" : 5 } ] }", "{'n':{'$not':{'$lt':5}}}", "{'$index':'n'}",
         "plan.ranges");
    PLAN("{ \"n\" : [ { \"$lt\" : 5 }, {  } ] }", "{'n':{'$not':{'$gte':5}}}", "{'$index':'n'}",
         "plan.ranges");
    memory_db_close(db);
}

static void counts_come_from_the_index_alone(void) {
    fill();
    create_index(db, "n", "{'n':1}", NULL);
    create_index(db, "tags", "{'tags':1}", NULL);
    PLAN("0", "{'n':{'$gte':100,'$lt':900}}", "{'$onlycount':true}", "documentsExamined");
    PLAN("800", "{'n':{'$gte':100,'$lt':900}}", "{'$onlycount':true}", "returned");
    CHECK_INT(800, count_matches(db, "{'n':{'$gte':100,'$lt':900}}", NULL));
    CHECK_INT(143, count_matches(db, "{'tags':'x3'}", NULL));
    PLAN("0", "{'tags':'x3'}", "{'$onlycount':true}", "documentsExamined");
    /* A document of two values in the range counts once. */
    CHECK_INT(1000, count_matches(db, "{'tags':{'$gte':'x'}}", NULL));
    CHECK_INT(0, count_matches(db, "{'tags':{'$gt':'y4','$lt':'x'}}", NULL));
    CHECK_INT(1000, count_matches(db, "{'tags':{'$gt':'x9','$lt':'y'}}", NULL));
    memory_db_close(db);
}

static void array_ranges_are_not_intersected(void) {
    db = memory_db_open();
    create_index(db, "a", "{'a':1}", NULL);
    save_text(db, "{'_id':1,'a':[1,9]}");
    for (int i = 2; i < 200; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id':%d,'a':[%d]}", i, i * 100);
        save_text(db, json);
    }
    CHECK_TEXT("1", find_ids(db, "{'a':{'$gt':5,'$lt':3}}", NULL));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$eq':9,'$lt':3}}", NULL));
    PLAN("{ \"a\" : [ { \"$eq\" : 9 } ] }", "{'a':{'$lt':3,'$eq':9}}", NULL, "plan.ranges");
    PLAN("false", "{'a':{'$lt':3,'$eq':9}}", NULL, "plan.exact");
    memory_db_close(db);
}

static void an_index_serves_the_order(void) {
    fill();
    PLAN("\"memory\"", "{}", "{'$orderby':{'n':-1}}", "plan.sort");
    PLAN("{ \"n\" : -1 }", "{}", "{'$orderby':{'n':-1}}", "suggestion");
    create_index(db, "n", "{'n':1}", NULL);
    create_index(db, "tn", "{'t':1,'n':1}", NULL);
    create_index(db, "tags", "{'tags':1}", NULL);
    PLAN("\"index\"", "{}", "{'$orderby':{'n':-1},'$max':3}", "plan.sort");
    PLAN("\"backward\"", "{}", "{'$orderby':{'n':-1},'$max':3}", "plan.direction");
    PLAN("3", "{}", "{'$orderby':{'n':-1},'$max':3}", "documentsExamined");
    CHECK_TEXT("999 998 997", find_ids(db, "{}", "{'$orderby':{'n':-1},'$max':3}"));
    PLAN("\"tn\"", "{'t':7}", "{'$orderby':{'n':-1},'$max':3}", "plan.index");
    CHECK_TEXT("79 78 77", find_ids(db, "{'t':7}", "{'$orderby':{'n':-1},'$max':3}"));
    CHECK_TEXT("990 991 992", find_ids(db, "{}", "{'$orderby':{'t':-1},'$max':3,'$index':'tn'}"));
    CHECK_TEXT("999 998", find_ids(db, "{}", "{'$orderby':{'t':-1,'n':-1},'$max':2}"));
    CHECK_TEXT("990 991", find_ids(db, "{}", "{'$orderby':{'t':-1,'n':1},'$max':2}"));
    PLAN("\"memory\"", "{}", "{'$orderby':{'t':-1,'n':1},'$max':2}", "plan.sort");
    /* An index over arrays has several entries a document: it orders nothing. */
    PLAN("\"memory\"", "{}", "{'$orderby':{'tags':1},'$max':2,'$index':'tags'}", "plan.sort");
    memory_db_close(db);
}

static void equal_entries_keep_their_order_backward(void) {
    fill();
    create_index(db, "t", "{'t':1}", NULL);
    CHECK_TEXT("990 991 992 993 994 995 996 997 998 999 980 981",
               find_ids(db, "{}", "{'$orderby':{'t':-1},'$max':12,'$index':'t'}"));
    PLAN("\"index\"", "{}", "{'$orderby':{'t':-1},'$max':12,'$index':'t'}", "plan.sort");
    CHECK_TEXT("50 51", find_ids(db, "{'t':{'$in':[9,5]}}", "{'$orderby':{'t':1},'$max':2}"));
    CHECK_TEXT("98 99 50",
               find_ids(db, "{'t':{'$in':[9,5]}}", "{'$orderby':{'t':-1},'$skip':8,'$max':3}"));
    memory_db_close(db);
}

static void an_or_unites_indexes(void) {
    fill();
    create_index(db, "n", "{'n':1}", NULL);
    PLAN("\"scan\"", "{'$or':[{'n':5},{'t':3}]}", NULL, "plan.kind");
    create_index(db, "t", "{'t':1}", NULL);
    PLAN("\"union\"", "{'$or':[{'n':35},{'t':3},{'n':5}]}", NULL, "plan.kind");
    CHECK_TEXT("5 30 31 32 33 34 35 36 37 38 39",
               find_ids(db, "{'$or':[{'n':35},{'t':3},{'n':5}]}", NULL));
    CHECK_INT(11, count_matches(db, "{'$or':[{'n':35},{'t':3},{'n':5}]}", NULL));
    PLAN("11", "{'$or':[{'n':35},{'t':3},{'n':5}]}", NULL, "documentsExamined");
    memory_db_close(db);
}

static void index_hints_are_followed(void) {
    fill();
    create_index(db, "n", "{'n':1}", NULL);
    PLAN("\"scan\"", "{'n':5}", "{'$index':false}", "plan.kind");
    PLAN("\"scan\"", "{'n':5}", "{'$index':null}", "plan.kind");
    PLAN("\"n\"", "{'t':5}", "{'$index':'n'}", "plan.index");
    PLAN("1000", "{'t':5}", "{'$index':'n'}", "keysExamined");
    PLAN("10", "{'t':5}", "{'$index':'n'}", "returned");
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'t':5}", "{'$index':'t'}"));
    memory_db_close(db);
}

static void the_plan_is_a_document_of_the_answer(void) {
    fill();
    const char *text = find_documents(db, "{'n':5}", "{'$explain':true}");
    CHECK(strstr(text, "\"kind\" : \"scan\"") != NULL);
    CHECK(strstr(text, "\"candidates\" : [") != NULL);
    CHECK(strstr(text, "\"milliseconds\" : ") != NULL);
    PLAN("\"none\"", "{'n':{'$in':[]}}", NULL, "plan.kind");
    memory_db_close(db);
    db = memory_db_open();
    PLAN("\"none\"", "{'n':5}", "{'$orderby':{'n':1}}", "plan.kind");
    CHECK_TEXT("", find_ids(db, "{'n':5}", "{'$orderby':{'n':1}}"));
    CHECK_INT(0, count_matches(db, "{}", NULL));
    memory_db_close(db);
}

static void a_scan_stops_at_the_limit(void) {
    fill();
    PLAN("5", "{}", "{'$max':5}", "documentsExamined");
    PLAN("5", "{'opt':1}", "{'$max':4}", "documentsExamined");
    PLAN("8", "{}", "{'$skip':3,'$max':5}", "documentsExamined");
    memory_db_close(db);
}

/* next_id -- the `_id` of a cursor's next document, -1 at the end. */
static int next_id(tansu_cursor *cursor) {
    tansu_document document;
    bson_t doc;
    bson_iter_t iter;
    if (tansu_cursor_next(cursor, &document, NULL) != TANSU_OK ||
        !bson_init_static(&doc, document.data, document.size) ||
        !bson_iter_init_find(&iter, &doc, "_id"))
        return -1;
    return bson_iter_int32(&iter);
}

static void a_transaction_s_cursor_stays_as_it_was(void) {
    static const char *const hints[] = {"{}", "{'$orderby':{'n':1}}",
                                        "{'$orderby':{'n':1},'$index':false}", "{'$index':'n'}"};
    for (size_t h = 0; h < sizeof hints / sizeof *hints; h++) {
        tansu_txn *txn;
        tansu_cursor *cursor;
        tansu_error error;
        db = memory_db_open();
        create_index(db, "n", "{'n':1}", NULL);
        REQUIRE(CHECK_OK(
            tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error), &error));
        bson_t *query = bson_from_text("{'n':{'$lt':50}}"), *hint = bson_from_text(hints[h]);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 50; i++) {
                bson_t doc = BSON_INITIALIZER;
                bson_append_int32(&doc, "_id", 3, i + round * 100);
                bson_append_int32(&doc, "n", 1, i);
                tansu_document document = document_of(&doc);
                CHECK_OK(tansu_save(db, txn, "c", &document, 1, TANSU_SAVE, NULL, &error), &error);
                bson_destroy(&doc);
            }
            if (round == 1)
                break;
            REQUIRE(CHECK_OK(
                tansu_find(db, txn, "c", document_of(query), document_of(hint), &cursor, &error),
                &error));
            CHECK_INT(0, next_id(cursor));
        }
        for (int i = 1; i < 50; i++)
            CHECK_INT(i, next_id(cursor));
        CHECK_INT(-1, next_id(cursor));
        tansu_cursor_close(cursor);
        tansu_txn_abort(txn);
        bson_destroy(query);
        bson_destroy(hint);
        memory_db_close(db);
    }
}

int main(void) {
    RUN(an_equality_uses_its_index);
    RUN(the_id_is_an_index);
    RUN(ranges_are_typed_and_shown);
    RUN(counts_come_from_the_index_alone);
    RUN(array_ranges_are_not_intersected);
    RUN(an_index_serves_the_order);
    RUN(equal_entries_keep_their_order_backward);
    RUN(an_or_unites_indexes);
    RUN(index_hints_are_followed);
    RUN(the_plan_is_a_document_of_the_answer);
    RUN(a_scan_stops_at_the_limit);
    RUN(a_transaction_s_cursor_stays_as_it_was);
    return check_finish();
}
