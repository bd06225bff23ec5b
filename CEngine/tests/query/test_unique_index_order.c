/*
 * test_unique_index_order.c -- an order whose first path has a unique index is the same without it:
 * with documents that lack the path, nulls, arrays, empty ones among them, and indexes that are
 * sparse, partial, case-insensitive or descending.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 60
#define DOCUMENTS 24

/* With more than one entry in an index from ARRAYS on: such an index provides no order. */
#define ARRAYS 15
static const char *const values[] = {"",
                                     "",
                                     "'u':null,",
                                     "'u':[],",
                                     "'u':1,",
                                     "'u':1.5,",
                                     "'u':2,",
                                     "'u':'a',",
                                     "'u':'A',",
                                     "'u':'b',",
                                     "'u':{'v':1},",
                                     "'u':{},",
                                     "'u':{'$numberDouble':'NaN'},",
                                     "'u':{'$minKey':1},",
                                     "'u':{'$maxKey':1},",
                                     "'u':[null],",
                                     "'u':[[]],",
                                     "'u':[2,3],",
                                     "'u':[3],",
                                     "'u':['A','z'],",
                                     "'u':[{'v':1}],",
                                     "'u':[4,4],"};

static const char *const options[] = {"{'unique':true}", "{'unique':true,'sparse':true}",
                                      "{'unique':true,'caseInsensitive':true}",
                                      "{'unique':true,'sparse':true,'caseInsensitive':true}",
                                      "{'unique':true,'partialFilter':{'k':1}}"};

static const char *const keys[] = {"{'u':1}",   "{'u':-1}",      "{'u.v':1}",
                                   "{'u.0':1}", "{'u':1,'w':1}", "{'w':-1,'u':1}"};

static const char *const queries[] = {"{}",
                                      "{'k':1}",
                                      "{'u':{'$exists':true}}",
                                      "{'u':{'$gte':1}}",
                                      "{'u':{'$in':[1,'a','b',null]}}",
                                      "{'u':null}",
                                      "{'u':{'$in':[2,1]},'w':{'$gte':0}}",
                                      "{'w':{'$in':[0,1]}}",
                                      "{'k':1,'u':null}"};

static int used;

#define COUNT(list) (sizeof list / sizeof *(list))

/* save -- a document with one of the first values, in both databases or, when the index refuses it,
 * in neither. */
static void save(random_source *r, tansu_db *indexed, tansu_db *plain, int id, size_t first) {
    char json[200];
    snprintf(json, sizeof json, "{'_id':%d,%s'w':%d,'k':%d,'x':%d}", id,
             values[random_below(r, first)], (int)random_below(r, 2), (int)random_below(r, 2),
             (int)random_below(r, 4));
    tansu_status status = call_save(indexed, NULL, "c", TANSU_SAVE, json);
    if (status == TANSU_OK)
        CHECK_STATUS(TANSU_OK, call_save(plain, NULL, "c", TANSU_SAVE, json));
    else
        CHECK_STATUS(TANSU_E_NOT_UNIQUE, status);
}

/* compare -- every query in some orders, with the index wherever it may be used. */
static void compare(random_source *r, tansu_db *indexed, tansu_db *plain) {
    static const char *const paths[] = {"u", "u.v", "u.0"};
    for (size_t q = 0; q < COUNT(queries); q++) {
        char order[200], hints[240], expected[4000];
        snprintf(order, sizeof order, "'$orderby':{'%s':%d,'x':%d},'$max':%d%s",
                 paths[random_below(r, 3)], random_chance(r, 50) ? 1 : -1,
                 random_chance(r, 50) ? 1 : -1, (int)random_below(r, DOCUMENTS + 1),
                 random_chance(r, 30) ? ",'$collation':{'caseInsensitive':true}" : "");
        snprintf(hints, sizeof hints, "{%s}", order);
        snprintf(expected, sizeof expected, "%s", find_ids(plain, queries[q], hints));
        if (!CHECK_TEXT(expected, find_ids(indexed, queries[q], hints)))
            check_note("%s %s %s", queries[q], hints, call_indexes(indexed, NULL, "c"));
        snprintf(hints, sizeof hints, "{%s,'$index':'i'}", order);
        const char *answer = find_ids(indexed, queries[q], hints);
        if (strncmp(answer, "INVALID_QUERY", 13) == 0) /* it lacks documents */
            continue;
        used++;
        if (!CHECK_TEXT(expected, answer))
            check_note("%s %s %s", queries[q], hints, call_indexes(indexed, NULL, "c"));
    }
}

static void orders_are_those_of_a_scan(void) {
    random_source r = random_start(__LINE__);
    for (int round = 0; round < ROUNDS; round++) {
        tansu_db *indexed = memory_db_open(), *plain = memory_db_open();
        create_index(indexed, "i", keys[random_below(&r, COUNT(keys))],
                     options[random_below(&r, COUNT(options))]);
        for (int id = 0; id < DOCUMENTS; id++)
            save(&r, indexed, plain, id, round % 2 == 0 ? COUNT(values) : ARRAYS);
        for (int i = 0; i < 6; i++)
            compare(&r, indexed, plain);
        memory_db_close(indexed);
        memory_db_close(plain);
    }
    CHECK(used > ROUNDS);
}

int main(void) {
    RUN(orders_are_those_of_a_scan);
    return check_finish();
}
