/*
 * test_elements_by_index.c -- $elemMatch and $allMatch by indexes on what is below the array: which
 * ranges they read, and that an index changes neither the answer nor its order, for arrays of
 * anything.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"
#include "support/text.h"

#include <stdio.h>
#include <string.h>

#define WORLDS 60
#define DOCUMENTS 60
#define CASES 50

/* ---- Random documents and queries ---- */

/* put_scalar -- few values of several kinds. */
static void put_scalar(random_source *r, text *t) {
    static const char *const values[] = {"0",     "1",
                                         "2",     "3",
                                         "4",     "1.5",
                                         "null",  "'a'",
                                         "'b'",   "'Abc'",
                                         "true",  "{'$minKey': 1}",
                                         "'abc'", "{'$numberDouble': 'NaN'}"};
    put(t, "%s", values[random_below(r, random_chance(r, 70) ? 5 : 14)]);
}

/* put_value -- also arrays, documents and arrays of arrays. */
static void put_value(random_source *r, text *t, int depth) {
    static const char *const keys[] = {"p", "q", "subs", "0"};
    bool array = random_chance(r, 60);
    if (depth == 0 || random_chance(r, 35)) {
        put_scalar(r, t);
        return;
    }
    put(t, array ? "[" : "{");
    uint64_t count = random_below(r, 4), used = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (array) {
            put(t, i > 0 ? ", " : "");
        } else {
            if (!random_chance(r, 70))
                continue;
            put(t, "%s'%s': ", used++ > 0 ? ", " : "", keys[i]);
        }
        put_value(r, t, depth - 1);
    }
    put(t, array ? "]" : "}");
}

static void put_document(random_source *r, text *t, int id) {
    put(t, "{'_id': %d", id);
    if (random_chance(r, 90)) {
        put(t, ", 'lines': ");
        if (random_chance(r, 60)) {
            uint64_t count = random_below(r, 4);
            put(t, "[");
            for (uint64_t i = 0; i < count; i++) {
                put(t, "%s{'p': ", i > 0 ? ", " : "");
                put_scalar(r, t);
                put(t, ", 'q': ");
                put_value(r, t, 1);
                put(t, ", 'subs': [{'p': ");
                put_scalar(r, t);
                put(t, "}, {'p': ");
                put_scalar(r, t);
                put(t, "}]}");
            }
            put(t, "]");
        } else {
            put_value(r, t, 3);
        }
    }
    if (random_chance(r, 80)) {
        put(t, ", 'tags': ");
        put_value(r, t, 2);
    }
    put(t, "}");
}

/* put_test -- a condition on one value. */
static void put_test(random_source *r, text *t) {
    static const char *const operators[] = {"$eq", "$gt", "$gte", "$lt", "$lte", "$ne"};
    switch (random_below(r, 10)) {
    case 0:
        put(t, "{'$in': [");
        put_scalar(r, t);
        put(t, ", ");
        put_scalar(r, t);
        put(t, "]}");
        return;
    case 1: put(t, "{'$begin': '%s'}", random_chance(r, 50) ? "a" : "A"); return;
    case 2: put(t, "{'$bt': [%d, %d]}", (int)random_below(r, 5), (int)random_below(r, 5)); return;
    case 3: put(t, "{'$exists': %s}", random_chance(r, 50) ? "true" : "false"); return;
    case 4:
        put(t, "{'$gte': %d, '$lt': %d}", (int)random_below(r, 3), 1 + (int)random_below(r, 4));
        return;
    case 5: put(t, "{'$not': {'$gt': %d}}", (int)random_below(r, 4)); return;
    default:
        put(t, "{'%s': ", operators[random_below(r, 6)]);
        put_scalar(r, t);
        put(t, "}");
    }
}

/* put_elements -- a condition on the elements of one of the arrays. */
static void put_elements(random_source *r, text *t) {
    const char *match = random_chance(r, 75) ? "$elemMatch" : "$allMatch";
    switch (random_below(r, 6)) {
    case 0:
        put(t, "'tags': {'%s': ", match);
        put_test(r, t);
        break;
    case 1:
        put(t, "'lines': {'%s': {'subs': {'$elemMatch': {'p': ", match);
        put_test(r, t);
        put(t, "}}}");
        break;
    case 2:
        put(t, "'lines.subs': {'%s': {'p': ", match);
        put_test(r, t);
        put(t, "}");
        break;
    case 3:
        put(t, "'lines': {'%s': {'subs.p': ", match);
        put_test(r, t);
        put(t, ", '0': ");
        put_test(r, t);
        put(t, "}");
        break;
    default:
        put(t, "'lines': {'%s': {'p': ", match);
        put_test(r, t);
        put(t, ", 'q': ");
        put_test(r, t);
        put(t, "}");
    }
    put(t, "}");
}

static void put_query(random_source *r, text *t) {
    static const char *const logic[] = {"$or", "$and", "$nor"};
    put(t, "{");
    if (random_chance(r, 70)) {
        put_elements(r, t);
    } else {
        put(t, "'%s': [{", logic[random_below(r, 3)]);
        put_elements(r, t);
        put(t, "}, {");
        put_elements(r, t);
        put(t, "}]");
    }
    put(t, "}");
}

/* ---- The index changes nothing ---- */

static void create_some_index(random_source *r, tansu_db *db, int number) {
    static const char *const keys[] = {"{'lines.p': 1}",
                                       "{'lines.q': -1}",
                                       "{'lines.p': 1, 'lines.q': 1}",
                                       "{'lines.subs.p': 1}",
                                       "{'tags': 1}",
                                       "{'tags': -1, '_id': 1}",
                                       "{'**': 1}"};
    static const char *const options[] = {NULL, "{'sparse': true}", "{'caseInsensitive': true}"};
    uint64_t which = random_below(r, 7);
    char name[16];
    snprintf(name, sizeof name, "i%d", number);
    CHECK_STATUS(
        TANSU_OK,
        call_index(db, NULL, "c", name, keys[which],
                   which == 6 || random_chance(r, 70) ? NULL : options[random_below(r, 3)]));
}

/* one_world -- how many of its queries used an index and found something. */
static int one_world(uint64_t number) {
    random_source r = random_start(number);
    tansu_db *db = call_open(NULL);
    int used = 0;
    for (int i = 0; i < DOCUMENTS; i++) {
        text document = {.size = 0};
        put_document(&r, &document, i);
        CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c", TANSU_SAVE, document.bytes));
    }
    for (int i = 0; i < 3; i++)
        create_some_index(&r, db, i);
    for (int i = 0; i < CASES; i++) {
        text query = {.size = 0}, expected = {.size = 0};
        const char *order = random_chance(&r, 30) ? "'$orderby': {'_id': -1}" : "'$skip': 0";
        char hints[80];
        put_query(&r, &query);
        snprintf(hints, sizeof hints, "{'$index': false, %s}", order);
        put(&expected, "%s", find_ids(db, query.bytes, hints));
        snprintf(hints, sizeof hints, "{%s}", order);
        if (!CHECK_TEXT(expected.bytes, find_ids(db, query.bytes, hints)))
            check_note("%s", query.bytes);
        used += expected.size != 0 &&
                strcmp(plan_field(db, query.bytes, hints, "plan.kind"), "scan") != 0;
    }
    call_close(db);
    return used;
}

static void answers_are_the_same(void) {
    int used = 0;
    for (uint64_t i = 0; i < WORLDS; i++)
        used += one_world(i);
    CHECK(used > WORLDS * CASES / 8);
}

/* ---- What is read ---- */

static void only_the_range_is_read(void) {
    tansu_db *db = call_open(NULL);
    for (int i = 0; i < 1000; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "{'_id': %d, 'lines': [{'p': %d, 'q': 1}, {'p': %d, 'q': 2}], 'marks': [%d, %d]}",
                 i, i, i + 1, i % 100, 900 + i % 100);
        call_save(db, NULL, "c", TANSU_SAVE, text);
    }
    static const struct {
        const char *keys, *query, *examined, *returned;
    } cases[] = {
        {"{'lines.p': 1}", "{'lines': {'$elemMatch': {'p': 7, 'q': 1}}}", "2", "1"},
        {"{'lines.p': 1}", "{'lines': {'$elemMatch': {'p': {'$lt': 3}, 'q': 2}}}", "3", "2"},
        {"{'lines.p': 1, 'lines.q': 1}", "{'lines': {'$elemMatch': {'p': 7, 'q': 1}}}", "2", "1"},
        {"{'lines.p': 1}", "{'$or': [{'lines': {'$elemMatch': {'p': 7}}}, {'_id': 3}]}", "3", "3"},
        /* One element is within both bounds; most documents have one below and one above. */
        {"{'marks': 1}", "{'marks': {'$elemMatch': {'$gte': 98, '$lt': 500}}}", "20", "20"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(TANSU_OK, call_index(db, NULL, "c", "i", cases[i].keys, NULL));
        bool fine = CHECK_TEXT(cases[i].examined,
                               plan_field(db, cases[i].query, NULL, "documentsExamined")) &&
                    CHECK_TEXT(cases[i].returned, plan_field(db, cases[i].query, NULL, "returned"));
        if (!fine)
            check_note("%s", cases[i].query);
        CHECK_STATUS(TANSU_OK, tansu_index_drop(db, NULL, "c", "i", &call_error));
    }
    /* Without the index, explain says which would help. */
    CHECK_TEXT("{ \"lines.p\" : 1, \"lines.q\" : 1 }",
               plan_field(db, "{'lines': {'$elemMatch': {'p': 7, 'q': 1}}}", NULL, "suggestion"));
    call_close(db);
}

int main(void) {
    RUN(answers_are_the_same);
    RUN(only_the_range_is_read);
    return check_finish();
}
