/*
 * test_planner.c -- plans beyond a single range of a single index: intersections, ORs that are
 * ranges of one index, what is not there, ranges from $bt and $regex; orders from an index in
 * either direction; what explain says and suggests.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

#define PLAN(expected, query, hints, path) CHECK_TEXT(expected, plan_field(db, query, hints, path))

/* fill -- 2000 documents: n their number, a = n % 40, b = n % 50, s a text of n, and tags. */
static void fill(void) {
    db = memory_db_open();
    for (int i = 0; i < 2000; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{'_id':%d,'n':%d,'a':%d,'b':%d,'s':'k%03d','tags':['t%d','u%d']%s}", i, i, i % 40,
                 i % 50, i % 300, i % 40, i % 50, i % 500 == 0 ? "" : ",'opt':1");
        save_text(db, json);
    }
}

/* same_in -- a query's answer does not depend on the index: the named one, or with NULL the
 * planner's choice. */
static void same_in(const char *index, const char *query, const char *hints) {
    char more[300], name[40] = "";
    const char *rest = hints ? hints + 1 : "}", *comma = hints ? "," : "";
    if (index)
        snprintf(name, sizeof name, "'$index':'%s'%s", index, comma);
    snprintf(more, sizeof more, "{%s%s", name, index || hints ? rest : "}");
    char *with = strdup(find_ids(db, query, more));
    CHECK(strncmp(with, "INVALID", 7) != 0);
    snprintf(more, sizeof more, "{'$index':false%s%s", comma, rest);
    CHECK_TEXT(find_ids(db, query, more), with);
    free(with);
}

/* same -- with the planner's choice. */
static void same(const char *query, const char *hints) {
    same_in(NULL, query, hints);
}

static void two_indexes_are_intersected(void) {
    fill();
    create_index(db, "a", "{'a':1}", NULL);
    PLAN("\"index\"", "{'a':7,'b':7}", NULL, "plan.kind");
    create_index(db, "b", "{'b':-1}", NULL);
    PLAN("\"intersection\"", "{'a':7,'b':7}", NULL, "plan.kind");
    PLAN(
        "[ { \"index\" : \"b\", \"ranges\" : { \"b\" : [ { \"$eq\" : 7 } ] }, \"rangeCount\" : 1 "
        "}, "
        "{ \"index\" : \"a\", \"ranges\" : { \"a\" : [ { \"$eq\" : 7 } ] }, \"rangeCount\" : 1 } ]",
        "{'a':7,'b':7}", NULL, "plan.branches");
    PLAN("10", "{'a':7,'b':7}", NULL, "documentsExamined");
    PLAN("true", "{'a':7,'b':7}", NULL, "plan.exact");
    CHECK_TEXT("7 207 407 607 807 1007 1207 1407 1607 1807", find_ids(db, "{'a':7,'b':7}", NULL));
    /* A covered count. */
    PLAN("0", "{'a':7,'b':7}", "{'$onlycount':true}", "documentsExamined");
    CHECK_INT(10, count_matches(db, "{'a':7,'b':7}", NULL));
    /* More conditions than the two indexes know of. */
    PLAN("false", "{'a':7,'b':7,'n':{'$gt':1000}}", NULL, "plan.exact");
    CHECK_TEXT("1007 1207 1407 1607 1807", find_ids(db, "{'a':7,'b':7,'n':{'$gt':1000}}", NULL));
    CHECK_TEXT("1807 1607", find_ids(db, "{'a':7,'b':7}", "{'$orderby':{'n':-1},'$max':2}"));
    CHECK_TEXT("", find_ids(db, "{'a':7,'b':8}", NULL));
    /* One index that has both conditions does not need the other. */
    create_index(db, "ab", "{'a':1,'b':1}", NULL);
    PLAN("\"ab\"", "{'a':7,'b':7}", NULL, "plan.index");
    memory_db_close(db);
}

static void arrays_are_intersected_by_document(void) {
    fill();
    create_index(db, "tags", "{'tags':1}", NULL);
    create_index(db, "a", "{'a':1}", NULL);
    create_index(db, "b", "{'b':1}", NULL);
    PLAN("\"intersection\"", "{'tags':'t7','b':7}", NULL, "plan.kind");
    same("{'tags':'t7','b':7}", NULL);
    same("{'tags':{'$gte':'t7','$lt':'t8'},'b':7}", NULL);
    CHECK_INT(10, count_matches(db, "{'tags':'t7','b':7}", NULL));
    /* An index is not intersected with itself: two values may satisfy the two conditions. */
    same("{'$and':[{'tags':'t7'},{'tags':'u7'}]}", NULL);
    CHECK_INT(10, count_matches(db, "{'$and':[{'tags':'t7'},{'tags':'u7'}]}", NULL));
    memory_db_close(db);
}

static void an_or_on_one_path_is_ranges(void) {
    fill();
    create_index(db, "n", "{'n':1}", NULL);
    create_index(db, "tags", "{'tags':1}", NULL);
    const char *query = "{'$or':[{'n':{'$gte':1990}},{'n':5},{'n':{'$lt':3}},{'n':{'$gt':1995}}]}";
    PLAN("\"index\"", query, NULL, "plan.kind");
    PLAN("{ \"n\" : [ { \"$lt\" : 3 }, { \"$eq\" : 5 }, { \"$gte\" : 1990 } ] }", query, NULL,
         "plan.ranges");
    PLAN("true", query, NULL, "plan.exact");
    CHECK_INT(14, count_matches(db, query, NULL));
    same(query, NULL);
    PLAN("\"index\"", query, "{'$orderby':{'n':-1},'$max':3}", "plan.sort");
    CHECK_TEXT("1999 1998 1997", find_ids(db, query, "{'$orderby':{'n':-1},'$max':3}"));
    same("{'$or':[{'tags':'t7'},{'tags':'u7'}]}", NULL);
    CHECK_INT(80, count_matches(db, "{'$or':[{'tags':'t7'},{'tags':'u7'}]}", NULL));
    same("{'n':{'$or':[{'$lt':3},{'$gt':1997}]},'b':{'$gt':40}}", NULL);
    /* With another condition. */
    same("{'tags':'t7','$or':[{'n':{'$gte':1990}},{'n':7}]}", NULL);
    memory_db_close(db);
}

static void what_is_not_there_is_found(void) {
    fill();
    create_index(db, "opt", "{'opt':1}", NULL);
    PLAN("\"opt\"", "{'opt':{'$exists':false}}", NULL, "plan.index");
    PLAN("4", "{'opt':{'$exists':false}}", NULL, "documentsExamined");
    save_text(db, "{'_id':500,'opt':null}");
    CHECK_TEXT("0 1000 1500", find_ids(db, "{'opt':{'$exists':false}}", NULL));
    CHECK_TEXT("0 500 1000 1500", find_ids(db, "{'opt':null}", NULL));
    PLAN("\"opt\"", "{'opt':null}", NULL, "plan.index");
    CHECK_INT(3, count_matches(db, "{'opt':{'$exists':false}}", NULL));
    /* A path that leads through an empty array has no value, and no null either. */
    save_text(db, "{'_id':0,'opt':[]}");
    create_index(db, "deep", "{'opt.x':1}", NULL);
    same_in("deep", "{'opt.x':{'$exists':false}}", NULL);
    same_in("deep", "{'opt.x':null}", NULL);
    memory_db_close(db);
}

static void ranges_come_from_more_operators(void) {
    fill();
    create_index(db, "n", "{'n':-1}", NULL);
    create_index(db, "s", "{'s':1}", NULL);
    PLAN("{ \"n\" : [ { \"$gte\" : 5, \"$lte\" : 8 } ] }", "{'n':{'$bt':[5,8]}}", NULL,
         "plan.ranges");
    CHECK_TEXT("5 6 7 8", find_ids(db, "{'n':{'$bt':[5,8]}}", NULL));
    CHECK_INT(4, count_matches(db, "{'n':{'$bt':[5,8]}}", NULL));
    PLAN("\"s\"", "{'s':{'$regex':'^k00[0-4]$'}}", NULL, "plan.index");
    PLAN("false", "{'s':{'$regex':'^k00[0-4]$'}}", NULL, "plan.exact");
    same("{'s':{'$regex':'^k00[0-4]$'}}", NULL);
    same("{'s':{'$regex':'^k00|^k01'}}", NULL);
    same("{'s':{'$not':{'$regex':'^k[0-2]'}}}", NULL);
    /* Letter case that does not count, in an index where it does. */
    same_in("s", "{'s':{'$regex':'^K00[0-4]$','$options':'i'}}", NULL);
    same_in("s", "{'s':{'$icase':{'$eq':'K007'}}}", NULL);
    same_in("s", "{'s':'K007'}", "{'$collation':{'caseInsensitive':true}}");
    same_in("s", "{'n':{'$lt':30}}", "{'$orderby':{'s':1},'$collation':{'numeric':true}}");
    memory_db_close(db);
}

static void orders_come_from_either_direction(void) {
    fill();
    create_index(db, "ab", "{'a':1,'b':-1}", NULL);
    PLAN("\"forward\"", "{}", "{'$orderby':{'a':1,'b':-1},'$max':3}", "plan.direction");
    PLAN("\"backward\"", "{}", "{'$orderby':{'a':-1,'b':1},'$max':3}", "plan.direction");
    PLAN("3", "{}", "{'$orderby':{'a':-1,'b':1},'$max':3}", "documentsExamined");
    PLAN("\"memory\"", "{}", "{'$orderby':{'a':1,'b':1},'$max':3}", "plan.sort");
    same("{}", "{'$orderby':{'a':1,'b':-1},'$max':300}");
    same("{}", "{'$orderby':{'a':-1,'b':1},'$max':300}");
    same("{'a':{'$in':[3,9,4]}}", "{'$orderby':{'a':-1,'b':1}}");
    same("{'a':{'$in':[3,9,4]}}", "{'$orderby':{'b':-1},'$max':20}");
    memory_db_close(db);
}

static void suggestions_are_of_use(void) {
    fill();
    PLAN("{ \"a\" : 1 }", "{'a':7}", NULL, "suggestion");
    PLAN("{ \"a\" : 1, \"n\" : -1 }", "{'a':7}", "{'$orderby':{'n':-1}}", "suggestion");
    create_index(db, "an", "{'a':-1,'n':1}", NULL);
    PLAN("", "{'a':7}", "{'$orderby':{'n':-1}}", "suggestion");
    /* The index is there, and a scan is what was asked for or is cheaper. */
    PLAN("", "{'a':7}", "{'$index':false}", "suggestion");
    PLAN("", "{'a':{'$gte':0}}", NULL, "suggestion");
    PLAN("\"scan\"", "{'a':{'$gte':0}}", NULL, "plan.kind");
    create_index(db, "tags", "{'tags':1}", NULL);
    PLAN("", "{}", "{'$orderby':{'tags':1}}", "suggestion");
    /* What no index can narrow. */
    PLAN("", "{'s':{'$contains':'7'}}", NULL, "suggestion");
    PLAN("", "{'s':{'$exists':true}}", NULL, "suggestion");
    /* An index of some documents is not the one that is missing. */
    create_index(db, "bs", "{'b':1}", "{'sparse':true}");
    PLAN("{ \"b\" : 1 }", "{'b':{'$in':[1,null]}}", NULL, "suggestion");
    memory_db_close(db);
}

static void explain_measures(void) {
    fill();
    create_index(db, "a", "{'a':1}", NULL);
    /* How long it took depends on the machine: only the form is known, milliseconds with at most
     * three decimal places. */
    const char *text = plan_field(db, "{'a':7}", NULL, "milliseconds");
    char *end;
    double took = strtod(text, &end);
    CHECK(end != text && *end == '\0' && took >= 0);
    CHECK(fabs(took * 1000 - round(took * 1000)) < 1e-6);
    char *candidates = strdup(plan_field(db, "{'a':7}", NULL, "candidates"));
    CHECK(strstr(candidates, "\"scan\"") && strstr(candidates, "\"index\" : \"a\""));
    CHECK(strstr(candidates, "\"cost\"") && strstr(candidates, "\"chosen\" : true"));
    free(candidates);
    memory_db_close(db);
}

static void large_sorts_are_bounded(void) {
    db = memory_db_open();
    size_t size = (size_t)3 << 20;
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memset(text, 'x', size);
    text[size] = '\0';
    for (int i = 0; i < 40; i++) {
        bson_t doc = BSON_INITIALIZER;
        bson_append_int32(&doc, "_id", 3, i);
        bson_append_utf8(&doc, "s", 1, text, (int)size);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    free(text);
    CHECK_TEXT("TOO_LARGE hints.$orderby",
               find_ids(db, "{}", "{'$orderby':{'s':1},'$allowDiskUse':false}"));
    CHECK(atoll(plan_field(db, "{}", "{'$orderby':{'s':1}}", "spilledBytes")) > 100 << 20);
    CHECK_TEXT("", plan_field(db, "{}", "{'$orderby':{'s':1},'$max':3}", "spilledBytes"));
    CHECK_TEXT("0 1 2", find_ids(db, "{}", "{'$orderby':{'s':1},'$max':3}"));
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(two_indexes_are_intersected);
    RUN(arrays_are_intersected_by_document);
    RUN(an_or_on_one_path_is_ranges);
    RUN(what_is_not_there_is_found);
    RUN(ranges_come_from_more_operators);
    RUN(orders_come_from_either_direction);
    RUN(suggestions_are_of_use);
    RUN(explain_measures);
    RUN(large_sorts_are_bounded);
    return check_finish();
}
