/*
 * test_partial_filters.c -- indexes with random partial filters, made of all that may be in one:
 * comparisons, $in, $exists, $type and $begin, joined by $and, $or, $nor and $not. Whether the
 * planner proves that a query asks for none of the documents that the index leaves out, or does
 * not, the answer is that of a scan.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DOCUMENTS 300
#define TEXT 4096

static tansu_db *db;
static struct { unsigned filters, asked, used[4]; /* with $or, $nor, $not, and any */ } tally;

/* ---- Random texts ---- */

/* add -- appends to a text. */
static void add(char *text, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, TEXT - used, "%s", more);
}

/* add_value -- one of few values. */
static void add_value(random_source *r, char *text) {
    static const char *const values[] = {"0",   "1",    "2",     "3",       "4",
                                         "2.5", "null", "'ab'",  "'abc'",   "true",
                                         "[]",  "[1]",  "[1,3]", "{'x':1}", "'b'"};
    add(text, values[random_below(r, random_chance(r, 70) ? 6 : sizeof values / sizeof *values)]);
}

/* add_document -- some of the fields that filters look at. */
static void add_document(random_source *r, char *text, int id) {
    snprintf(text, TEXT, "{'_id':%d,'n':%d", id, (int)random_below(r, 8));
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        if (random_chance(r, 25))
            continue;
        add(text, ",'");
        add(text, names[i]);
        add(text, "':");
        if (random_chance(r, 15)) {
            add(text, "[");
            add_value(r, text);
            add(text, ",");
            add_value(r, text);
            add(text, "]");
        } else {
            add_value(r, text);
        }
    }
    add(text, "}");
}

/* add_test -- one condition on one path. */
static void add_test(random_source *r, char *text) {
    static const char *const names[] = {"'a'", "'b'", "'c'", "'a.x'"};
    static const char *const operators[] = {"$gt", "$gte", "$lt", "$lte", "$ne", "$eq"};
    add(text, "{");
    add(text, names[random_below(r, 20) < 19 ? random_below(r, 3) : 3]);
    add(text, ":");
    bool negated = random_chance(r, 20);
    static const char *const types[] = {"'number'", "'int'",   "['int','double']", "'string'",
                                        "'null'",   "'array'", "['null','number']"};
    uint64_t kind = random_below(r, 14);
    if (negated)
        add(text, "{'$not':");
    if (kind < 6) {
        add(text, "{'");
        add(text, operators[random_below(r, 6)]);
        add(text, "':");
        add_value(r, text);
    } else if (kind < 8) {
        add(text, kind == 6 ? "{'$in':[" : "{'$nin':[");
        add_value(r, text);
        add(text, ",");
        add_value(r, text);
        add(text, "]");
    } else if (kind == 8) {
        add(text, random_chance(r, 50) ? "{'$exists':true" : "{'$exists':false");
    } else if (kind > 11) {
        char range[40];
        int from = (int)random_below(r, 4);
        snprintf(range, sizeof range, "{'$bt':[%d,%d]", from, (int)random_below(r, 5));
        add(text, range);
    } else if (kind > 9) {
        add(text, "{'$TYPE':");
        add(text, types[random_below(r, sizeof types / sizeof *types)]);
    } else {
        add(text, random_chance(r, 50) ? "{'$begin':'a'" : "{'$begin':'ab'");
    }
    add(text, negated ? "}}}" : "}}");
}

/* add_filter -- conditions, joined. */
static void add_filter(random_source *r, char *text, int depth) {
    if (depth == 0 || random_chance(r, 30)) {
        add_test(r, text);
        return;
    }
    static const char *const groups[] = {"{'$and':[", "{'$or':[", "{'$nor':["};
    add(text, groups[random_below(r, 3)]);
    for (uint64_t i = 1 + random_below(r, 3); i > 0; i--) {
        add_filter(r, text, depth - 1);
        if (i > 1)
            add(text, ",");
    }
    add(text, "]}");
}

/* add_query -- the filter, or something like it, and more. */
static void add_query(random_source *r, char *text, const char *filter) {
    uint64_t kind = random_below(r, 6);
    if (kind == 0) {
        add_filter(r, text, 2);
    } else if (kind == 1) {
        add(text, filter);
    } else if (kind < 5) {
        add(text, "{'$and':[{'n':{'$lt':");
        add(text, random_chance(r, 50) ? "3" : "6");
        add(text, "}},");
        add(text, filter);
        if (kind > 2) {
            add(text, ",");
            add_filter(r, text, 1);
        }
        add(text, "]}");
    } else {
        add(text, "{'$or':[{'$and':[{'n':2},");
        add(text, filter);
        add(text, "]},{'$and':[");
        add(text, filter);
        add(text, ",");
        add_test(r, text);
        add(text, "]}]}");
    }
    /* A constant of it may be another one: what follows from the filter may not any more. */
    char *digit = strpbrk(text, "01234");
    if (random_chance(r, 20) && digit != NULL && digit[-1] == ':')
        *digit = (char)('0' + random_below(r, 5));
}

/* ---- The test ---- */

/* ask -- a copy of an answer. */
static char *ask(const char *query, const char *hints) {
    char *answer = strdup(find_ids(db, query, hints));
    REQUIRE(answer != NULL);
    return answer;
}

/* note_used -- counts an index that was proven to have all. */
static void note_used(const char *filter) {
    tally.used[0] += strstr(filter, "$or") != NULL;
    tally.used[1] += strstr(filter, "$nor") != NULL;
    tally.used[2] += strstr(filter, "$not") != NULL;
    tally.used[3]++;
}

/* ask_all_ways -- one query by a scan, by the planner's choice, and by the index where it may
 * be. */
static void ask_all_ways(const char *filter, const char *query) {
    static const char *const hints[] = {"{}", "{'$index':'p'}", "{'$orderby':{'n':1,'_id':1}}",
                                        "{'$index':'p','$orderby':{'n':1,'_id':1}}"};
    char *scanned[2] = {ask(query, "{'$index':false}"),
                        ask(query, "{'$index':false,'$orderby':{'n':1,'_id':1}}")};
    for (size_t i = 0; i < 4; i++) {
        char *found = ask(query, hints[i]);
        bool refused = i % 2 == 1 && strncmp(found, "INVALID", 7) == 0;
        if (i == 1 && !refused)
            note_used(filter);
        if (!refused && !CHECK_TEXT(scanned[i / 2], found))
            check_note("    filter %s query %s hints %s", filter, query, hints[i]);
        free(found);
    }
    tally.asked++;
    free(scanned[0]);
    free(scanned[1]);
}

static void no_answer_depends_on_a_partial_index(void) {
    unsigned rounds = (unsigned)random_rounds("TANSU_ROUNDS", 60);
    random_source r = random_start(1);
    char text[TEXT], filter[TEXT], options[TEXT + 64];
    for (unsigned round = 0; round < rounds && check_failures() == 0; round++) {
        db = memory_db_open();
        filter[0] = 0;
        add_filter(&r, filter, 2);
        for (int i = 0; i < DOCUMENTS / 2; i++) {
            add_document(&r, text, i);
            save_text(db, text);
        }
        snprintf(options, sizeof options, "{'partialFilter':%s}", filter);
        create_index(db, "p", "{'n':1}", options);
        for (int i = 0; i < DOCUMENTS; i++) { /* half of them are replaced */
            add_document(&r, text, i);
            save_text(db, text);
        }
        for (int i = 0; i < 12; i++) {
            text[0] = 0;
            add_query(&r, text, filter);
            ask_all_ways(filter, text);
        }
        tally.filters++;
        memory_db_close(db);
    }
    check_note("%u filters, %u queries; indexes proven to serve %u, with $or %u, $nor %u, $not %u",
               tally.filters, tally.asked, tally.used[3], tally.used[0], tally.used[1],
               tally.used[2]);
    CHECK(tally.used[0] > 0 && tally.used[1] > 0 && tally.used[2] > 0);
}

/* A file with such an index opens in every later version. */
static void a_stored_filter_with_logic_opens_again(void) {
    static const char *const filters[] = {
        "{'$or':[{'a':1},{'b':{'$gt':2}}]}", "{'$nor':[{'a':1},{'b':{'$in':[1,2]}}]}",
        "{'a':{'$not':{'$gt':1}}}", "{'a':{'$ne':3},'b':{'$nin':[0]}}",
        "{'$or':[{'$and':[{'a':{'$exists':true}},{'$nor':[{'b':1}]}]},{'a':{'$begin':'x'}}]}"};
    char *folder = folder_new(), options[TEXT];
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        tansu_db *store = call_open(folder);
        snprintf(options, sizeof options, "{'partialFilter':%s}", filters[i]);
        char name[16];
        snprintf(name, sizeof name, "f%zu", i);
        CHECK_OK(call_index(store, NULL, "c", name, "{'n':1}", options), &call_error);
        CHECK_OK(call_save(store, NULL, "c", TANSU_SAVE, "{'_id':1,'a':1,'b':3,'n':1}"),
                 &call_error);
        call_close(store);
        if (i % 2 == 0) {
            char index[300];
            snprintf(index, sizeof index, "%s/index", folder);
            folder_remove(index);
        }
    }
    tansu_db *store = call_open(folder);
    CHECK_OK(tansu_verify(store, NULL, NULL, NULL, &call_error), &call_error);
    CHECK(strstr(call_indexes(store, NULL, "c"), "\"f4\"") != NULL);
    CHECK(strstr(call_indexes(store, NULL, "c"), "$nor") != NULL);
    call_close(store);
    folder_end(folder);
}

int main(void) {
    RUN(no_answer_depends_on_a_partial_index);
    RUN(a_stored_filter_with_logic_opens_again);
    return check_finish();
}
