/*
 * test_collation.c -- $collation is how one whole call compares strings: its query, order, groups
 * and aggregates, and what its update compares. Compared with plain code on random words, with and
 * without indexes; and each operator of an update by itself.
 */
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

#define WITH(...) (db = memory_db_with((const char *const[]){__VA_ARGS__, NULL}))
#define FOLDED "{'$collation':'caseInsensitive'}"
#define NUMERIC "{'$collation':'numeric'}"

/* ---- Groups and distinct values ---- */

/* command -- the answer to a command in JSON form, in which single quotes stand for double ones. */
static const char *command(const char *json) {
    static char answer[1 << 16];
    char request[1024], *response;
    snprintf(request, sizeof request, "%s", json);
    for (char *c = request; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    tansu_execute_json(db, request, &response);
    REQUIRE(response != NULL);
    snprintf(answer, sizeof answer, "%s", response);
    tansu_free(response);
    for (char *c = answer; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    return answer;
}

/* aggregate -- groups of the collection "c". */
static const char *aggregate(const char *group, const char *hints) {
    char text[1024];
    snprintf(text, sizeof text, "{'op': 'aggregate', 'collection': 'c', 'group': %s, 'hints': %s}",
             group, hints);
    return command(text);
}

/* distinct -- the values of "a". */
static const char *distinct(const char *hints) {
    char text[1024];
    snprintf(text, sizeof text, "{'op': 'distinct', 'collection': 'c', 'path': 'a', 'hints': %s}",
             hints);
    return command(text);
}

static void groups_and_aggregates_compare_by_it(void) {
    WITH("{'_id':1,'a':'b','t':['X','y10']}", "{'_id':2,'a':'B','t':['x','y9']}",
         "{'_id':3,'a':'A','t':[]}", "{'_id':4,'a':'a'}", "{'_id':5,'a':7}",
         "{'_id':6,'a':{'k':'V'}}", "{'_id':7,'a':{'k':'v'}}");
    CHECK_TEXT("{'ok': true, 'values': [7, 'A', 'B', 'a', 'b', {'k': 'V'}, {'k': 'v'}]}",
               distinct("{}"));
    CHECK_TEXT("{'ok': true, 'values': [7, 'A', 'b', {'k': 'V'}]}", distinct(FOLDED));
    CHECK_TEXT("{'ok': true, 'values': ['A', 'b']}",
               distinct("{'$collation':'caseInsensitive','$skip':1,'$max':2}"));
    CHECK_TEXT("{'ok': true, 'groups': [{'a': 7, 'n': 1}, {'a': 'A', 'n': 2}, {'a': 'b', 'n': 2}, "
               "{'a': {'k': 'V'}, 'n': 2}]}",
               aggregate("{'by':'a','fields':{'n':{'$count':true}}}", FOLDED));
    /* The first of equal ones is shown, whichever aggregate it is. */
    CHECK_TEXT("{'ok': true, 'groups': [{'lo': 'X', 'hi': 'y9', 'd': ['X', 'y10', 'y9'], 'n': 4}]}",
               aggregate("{'fields':{'lo':{'$min':'t'},'hi':{'$max':'t'},'d':{'$distinct':'t'},"
                         "'n':{'$count':'t'}}}",
                         FOLDED));
    CHECK_TEXT("{'ok': true, 'groups': [{'lo': 'X', 'hi': 'y10', 'd': ['X', 'x', 'y9', 'y10']}]}",
               aggregate("{'fields':{'lo':{'$min':'t'},'hi':{'$max':'t'},'d':{'$distinct':'t'}}}",
                         NUMERIC));
    CHECK_TEXT("{'ok': true, 'groups': [{'lo': 'X', 'hi': 'y9'}]}",
               aggregate("{'fields':{'lo':{'$min':'t'},'hi':{'$max':'t'}}}", "{}"));
    memory_db_close(db);
}

static void groups_are_ordered_by_it(void) {
    WITH("{'_id':1,'a':'n2','x':'b'}", "{'_id':2,'a':'n10','x':'C'}", "{'_id':3,'a':'N1','x':'a'}");
    static const char group[] = "{'by':'a','fields':{'x':{'$max':'x'}}}";
    CHECK_TEXT("{'ok': true, 'groups': [{'a': 'N1', 'x': 'a'}, {'a': 'n10', 'x': 'C'}, {'a': 'n2', "
               "'x': 'b'}]}",
               aggregate(group, "{'$orderby':{'a':1}}"));
    CHECK_TEXT("{'ok': true, 'groups': [{'a': 'N1', 'x': 'a'}, {'a': 'n2', 'x': 'b'}, {'a': 'n10', "
               "'x': 'C'}]}",
               aggregate(group, "{'$collation':{'caseInsensitive':true,'numeric':true}}"));
    CHECK_TEXT("{'ok': true, 'groups': [{'a': 'n10', 'x': 'C'}, {'a': 'n2', 'x': 'b'}, {'a': 'N1', "
               "'x': 'a'}]}",
               aggregate(group, "{'$orderby':{'x':-1},'$collation':'caseInsensitive'}"));
    CHECK_TEXT("{'ok': true, 'groups': [{'a': 'n2', 'x': 'b'}, {'a': 'N1', 'x': 'a'}, {'a': 'n10', "
               "'x': 'C'}]}",
               aggregate(group, "{'$orderby':{'x':-1}}"));
    memory_db_close(db);
}

/* ---- compared with plain code ---- */

#define WORDS 200
static char words[WORDS][4];

/* by_letters -- two words without regard to case; equal ones in the order of saving. */
static int by_letters(const void *left, const void *right) {
    const char *a = left, *b = right;
    for (size_t i = 0; a[i] || b[i]; i++) {
        int order = tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

/* Answers that plain code gives. */
static char plain_values[1 << 13], plain_groups[1 << 14], plain_ends[200];

/* make_plain -- finds what `count` words come to. */
static void make_plain(size_t count) {
    const char *first[WORDS];
    size_t many[WORDS], kinds = 0, used = 0, group = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kinds && by_letters(first[k], words[i]) != 0)
            k++;
        if (k == kinds) {
            first[kinds] = words[i];
            many[kinds++] = 0;
        }
        many[k]++;
    }
    used += (size_t)snprintf(plain_values, sizeof plain_values, "{'ok': true, 'values': [");
    group += (size_t)snprintf(plain_groups, sizeof plain_groups, "{'ok': true, 'groups': [");
    const char *least = NULL, *greatest = NULL;
    for (size_t done = 0; done < kinds; done++) {
        size_t next = WORDS;
        for (size_t k = 0; k < kinds; k++) {
            if ((greatest == NULL || by_letters(first[k], greatest) > 0) &&
                (next == WORDS || by_letters(first[k], first[next]) < 0))
                next = k;
        }
        greatest = first[next];
        least = least ? least : greatest;
        const char *comma = done + 1 < kinds ? ", " : "]}";
        used += (size_t)snprintf(plain_values + used, sizeof plain_values - used, "'%s'%s",
                                 greatest, comma);
        group += (size_t)snprintf(plain_groups + group, sizeof plain_groups - group,
                                  "{'a': '%s', 'n': %zu}%s", greatest, many[next], comma);
    }
    snprintf(plain_ends, sizeof plain_ends,
             "{'ok': true, 'groups': [{'n': %zu, 'lo': '%s', 'hi': '%s'}]}", count, least,
             greatest);
}

static void indexes_change_no_aggregate(void) {
    static const char letters[] = "aAbBc1";
    random_source r = random_start(1);
    db = memory_db_open();
    for (size_t i = 0; i < WORDS; i++) {
        char json[1000];
        /* So few different ones that an index is worth its while. */
        size_t size = 1 + random_below(&r, 2);
        for (size_t k = 0; k < size; k++)
            words[i][k] = letters[random_below(&r, sizeof letters - 1)];
        snprintf(json, sizeof json, "{'_id':%zu,'a':'%s'}", i, words[i]);
        save_text(db, json);
    }
    make_plain(WORDS);
    for (int indexed = 0; indexed < 3; indexed++) {
        CHECK_TEXT(plain_values, distinct(FOLDED));
        CHECK_TEXT(plain_groups, aggregate("{'by':'a','fields':{'n':{'$count':true}}}", FOLDED));
        CHECK_TEXT(plain_ends, aggregate("{'fields':{'n':{'$count':true},'lo':{'$min':'a'},"
                                         "'hi':{'$max':'a'}}}",
                                         FOLDED));
        /* Only the index that has strings in the same form holds the aggregated values. */
        const char *from = indexed == 2 ? "'from': 'index'" : "'from': 'documents'";
        CHECK(strstr(distinct("{'$collation':'caseInsensitive','$explain':true}"), from) != NULL);
        from = indexed == 1 ? "'from': 'index'" : "'from': 'documents'";
        if (indexed < 2)
            CHECK(strstr(distinct("{'$explain':true}"), from) != NULL);
        CHECK(strstr(distinct("{'$collation':'numeric','$explain':true}"), "'documents'") != NULL);
        if (indexed == 0)
            create_index(db, "bytes", "{'a':1}", NULL);
        if (indexed == 1)
            create_index(db, "folded", "{'a':-1}", "{'caseInsensitive':true}");
    }
    /* The folded index is not asked for what compares by bytes. */
    CHECK(strstr(distinct("{'$index':'folded','$explain':true}"), "'from': 'documents'") != NULL);
    memory_db_close(db);
}

/* ---- Updates ---- */

/* becomes -- {"_id": 1, "a": …} after an update. */
static const char *becomes(const char *a, const char *operations, const char *hints) {
    static char text[1 << 12];
    char json[400];
    snprintf(json, sizeof json, "{'_id':1,'a':%s}", a);
    WITH(json);
    const char *answer = update_text(db, NULL, NULL, operations, hints);
    if (answer[0] == '{')
        answer = find_documents(db, NULL, "{'$fields':{'_id':0}}");
    snprintf(text, sizeof text, "%s", answer);
    memory_db_close(db);
    for (char *c = text; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    return text;
}

static void updates_compare_by_it(void) {
    static const struct {
        const char *a;
        const char *operations;
        const char *by_bytes;
        const char *folded;
    } cases[] = {
        {"['x','X',['x'],{'k':'X'}]", "{'$pull':{'a':'X'}}", "[ 'x', [ 'x' ], { 'k' : 'X' } ]",
         "[ [ 'x' ], { 'k' : 'X' } ]"},
        {"['x','X',['x']]", "{'$pull':{'a':['X']}}", "[ 'x', 'X', [ 'x' ] ]", "[ 'x', 'X' ]"},
        {"['x','Y','z']", "{'$pull':{'a':{'$in':['X','y']}}}", "[ 'x', 'Y', 'z' ]", "[ 'z' ]"},
        {"['x','Y','z']", "{'$pull':{'a':{'$gte':'Y'}}}", "[  ]", "[ 'x' ]"},
        {"[{'k':'x'},{'k':'X'}]", "{'$pull':{'a':{'k':'X'}}}", "[ { 'k' : 'x' } ]", "[  ]"},
        {"['x','Y','z',5]", "{'$pullAll':{'a':['X','y',5]}}", "[ 'x', 'Y', 'z' ]", "[ 'z' ]"},
        {"[{'k':'x'},{'k':'y'}]", "{'$pullAll':{'a':[{'k':'X'}]}}",
         "[ { 'k' : 'x' }, { 'k' : 'y' } ]", "[ { 'k' : 'y' } ]"},
        {"['x']", "{'$addToSet':{'a':'X'}}", "[ 'x', 'X' ]", "[ 'x' ]"},
        {"['x',{'k':'v'}]", "{'$addToSet':{'a':{'$each':['y','Y',{'k':'V'}]}}}",
         "[ 'x', { 'k' : 'v' }, 'y', 'Y', { 'k' : 'V' } ]", "[ 'x', { 'k' : 'v' }, 'y' ]"},
        {"['x']", "{'$addToSetAll':{'a':['X','Z','z','A','b','B']}}",
         "[ 'x', 'X', 'Z', 'z', 'A', 'b', 'B' ]", "[ 'x', 'Z', 'A', 'b' ]"},
        {"['b','A']", "{'$push':{'a':{'$each':['B','a'],'$sort':1}}}", "[ 'A', 'B', 'a', 'b' ]",
         "[ 'A', 'a', 'b', 'B' ]"},
        {"['b','A']", "{'$push':{'a':{'$each':['B','a'],'$sort':-1,'$slice':2}}}", "[ 'b', 'a' ]",
         "[ 'b', 'B' ]"},
        {"[{'k':'b'},{'k':'C'},7]", "{'$push':{'a':{'$each':[{'k':['a','Z']}],'$sort':{'k':-1}}}}",
         "[ { 'k' : 'b' }, { 'k' : [ 'a', 'Z' ] }, { 'k' : 'C' }, 7 ]",
         "[ { 'k' : [ 'a', 'Z' ] }, { 'k' : 'C' }, { 'k' : 'b' }, 7 ]"},
        {"'b'", "{'$max':{'a':'C'}}", "'b'", "'C'"},
        {"'b'", "{'$min':{'a':'C'}}", "'C'", "'b'"},
        {"'b'", "{'$min':{'a':'B'}}", "'B'", "'b'"},
        {"{'k':'b'}", "{'$min':{'a':{'k':'B'}}}", "{ 'k' : 'B' }", "{ 'k' : 'b' }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[400];
        snprintf(expected, sizeof expected, "{ 'a' : %s }", cases[i].by_bytes);
        CHECK_TEXT(expected, becomes(cases[i].a, cases[i].operations, NULL));
        CHECK_TEXT(expected, becomes(cases[i].a, cases[i].operations, "{'$collation':'binary'}"));
        snprintf(expected, sizeof expected, "{ 'a' : %s }", cases[i].folded);
        CHECK_TEXT(expected, becomes(cases[i].a, cases[i].operations, FOLDED));
    }
    CHECK_TEXT("{ 'a' : [ 'n1', 'n2', 'n10' ] }",
               becomes("['n10','n2']", "{'$push':{'a':{'$each':['n1'],'$sort':1}}}", NUMERIC));
    CHECK_TEXT("{ 'a' : 'n10' }", becomes("'n9'", "{'$max':{'a':'n10'}}", NUMERIC));
    CHECK_TEXT("{ 'a' : [ 'n01' ] }", becomes("['n01']", "{'$addToSet':{'a':'n1'}}", NUMERIC));
}

static void array_filters_compare_by_it(void) {
    CHECK_TEXT("{ 'a' : [ 'x', 0, 'y' ] }",
               becomes("['x','X','y']", "{'$set':{'a.$[e]':0}}", "{'$arrayFilters':[{'e':'X'}]}"));
    CHECK_TEXT("{ 'a' : [ 0, 0, 'y' ] }",
               becomes("['x','X','y']", "{'$set':{'a.$[e]':0}}",
                       "{'$arrayFilters':[{'e':'X'}],'$collation':'caseInsensitive'}"));
    CHECK_TEXT("{ 'a' : [ { 'k' : 'n9' }, { 'k' : 'n10', 'v' : 1 } ] }",
               becomes("[{'k':'n9'},{'k':'n10'}]", "{'$set':{'a.$[e].v':1}}",
                       "{'$arrayFilters':[{'e.k':{'$gt':'n9'}}],'$collation':'numeric'}"));
}

static void the_position_is_found_by_it(void) {
    WITH("{'_id':1,'a':['x','Y','y']}");
    CHECK_TEXT("INVALID_QUERY $set.a.$",
               update_text(db, NULL, "{'_id':1}", "{'$set':{'a.$':0}}", NULL));
    update_text(db, NULL, "{'a':'y'}", "{'$set':{'a.$':0}}", FOLDED);
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : [ \"x\", 0, \"y\" ] }", find_documents(db, NULL, NULL));
    CHECK_TEXT(
        "{ \"_id\" : 1, \"a\" : [ \"y\" ] }",
        find_documents(db, "{'a':'Y'}", "{'$fields':{'a.$':1},'$collation':'caseInsensitive'}"));
    memory_db_close(db);
}

/* ids_stay_by_bytes -- what a document is called does not depend on how a call compares. */
static void ids_stay_by_bytes(void) {
    WITH("{'_id':'x','n':1}", "{'_id':'X','n':2}");
    CHECK_TEXT("INVALID_ID _id", update_text(db, NULL, "{'n':1}", "{'$set':{'_id':'X'}}", FOLDED));
    CHECK_TEXT("\"x\" \"X\"", find_ids(db, "{'_id':'x'}", FOLDED));
    CHECK_TEXT("\"x\"", find_ids(db, "{'_id':'x'}", NULL));
    memory_db_close(db);
}

int main(void) {
    RUN(groups_and_aggregates_compare_by_it);
    RUN(groups_are_ordered_by_it);
    RUN(indexes_change_no_aggregate);
    RUN(updates_compare_by_it);
    RUN(array_filters_compare_by_it);
    RUN(the_position_is_found_by_it);
    RUN(ids_stay_by_bytes);
    return check_finish();
}
