/*
 * test_pipeline_order.c -- the order in which the stages of a pipeline run changes no answer: random
 * pipelines, each compared with itself in an order that is fixed by a $redact before every stage,
 * which keeps all documents, and which nothing moves across. Likewise comparisons in $expr, and joins
 * of values that look like operators, with and without an index. Then $explain says what the query of
 * the collection has taken over.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many pipelines are compared (3000).
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_ROUNDS 3000
#define DOCUMENTS 60
#define STAGES_MOST 6

/* ---- Commands, with ' instead of " ---- */

static char *answer;

/* run -- the status of a command, whose text is in `answer`. */
static tansu_status run(tansu_db *db, const text *command) {
    static text quoted;
    quoted = *command;
    for (char *c = quoted.bytes; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    tansu_free(answer);
    answer = NULL;
    return tansu_execute_json(db, quoted.bytes, &answer);
}

/* must_run -- a command that succeeds. */
static void must_run(tansu_db *db, const char *command) {
    text t = {.size = 0};
    put(&t, "%s", command);
    if (!CHECK_STATUS(TANSU_OK, run(db, &t)))
        check_note("%s: %s", t.bytes, answer);
}

/* ---- Documents ---- */

/* put_value -- a value of any kind, but unless `any` none that $sort and queries order differently. */
static void put_value(text *t, random_source *r, bool any) {
    int number = (int)random_below(r, 5);
    switch (random_below(r, any ? 13 : 12)) {
    case 0: put(t, "null"); break;
    case 1: put(t, "'t%d'", number); break;
    case 2: put(t, "[%d, %d]", number, (int)random_below(r, 5)); break;
    case 3: put(t, "{'d': %d}", number); break;
    case 4: put(t, "{'$date': {'$numberLong': '%d'}}", number); break;
    case 5: put(t, "{'$numberDouble': '%s'}", number == 0 ? "NaN" : "2.5"); break;
    case 6: put(t, "true"); break;
    case 7: put(t, "{'$minKey': 1}"); break;
    case 8: put(t, "{'$maxKey': 1}"); break;
    case 12: put(t, "{'$undefined': true}"); break;
    default: put(t, "%d", number);
    }
}

/* save_documents -- {_id, a, b, c: {d}, e}, some of which lack what others have. */
static void save_documents(tansu_db *db, random_source *r, bool any) {
    text t = {.size = 0};
    put(&t, "{'op': 'save', 'collection': 'c', 'documents': [");
    for (int i = 0; i < DOCUMENTS; i++) {
        put(&t, "%s{'_id': %d, 'b': %d", i == 0 ? "" : ", ", i, (int)random_below(r, 5));
        if (random_chance(r, 85)) {
            put(&t, ", 'a': ");
            put_value(&t, r, any);
        }
        if (random_chance(r, 20))
            put(&t, ", 'c': [{'d': %d}, {'d': 1}]", (int)random_below(r, 5));
        else if (random_chance(r, 80)) {
            put(&t, ", 'c': {'d': ");
            put_value(&t, r, any);
            put(&t, "}");
        }
        if (random_chance(r, 10))
            put(&t, ", 'e': []");
        else if (random_chance(r, 80))
            put(&t, ", 'e': [%d, %d]", (int)random_below(r, 5), (int)random_below(r, 5));
        put(&t, "}");
    }
    put(&t, "]}");
    must_run(db, t.bytes);
}

/* ---- Pipelines whose expressions never fail ---- */

static const char *const fields[] = {"_id", "a", "b", "c", "c.d", "e", "x", "y"};
#define FIELDS (sizeof fields / sizeof *fields)

/* put_condition -- a member of a query. */
static void put_condition(text *t, random_source *r, int depth) {
    const char *field = fields[random_below(r, FIELDS)];
    int number = (int)random_below(r, 5);
    switch (random_below(r, depth < 2 ? 9 : 6)) {
    case 0: put(t, "'%s': {'$in': [%d, null]}", field, number); break;
    case 1: put(t, "'%s': {'$exists': %s}", field, number < 2 ? "true" : "false"); break;
    case 2: put(t, "'%s': {'$gte': %d}", field, number); break;
    case 3: put(t, "'%s': {'$ne': %d}", field, number); break;
    case 4: put(t, "'%s': {'$lt': %d}", field, number); break;
    case 5: put(t, "'$expr': {'$lte': ['$%s', %d]}", field, number); break;
    default:
        put(t, "'%s': [{", number < 2 ? "$and" : number < 4 ? "$or" : "$nor");
        put_condition(t, r, depth + 1);
        put(t, "}, {");
        put_condition(t, r, depth + 1);
        put(t, "}]");
    }
}

/* put_expression -- a value of a document. */
static void put_expression(text *t, random_source *r) {
    const char *field = fields[random_below(r, FIELDS)];
    switch (random_below(r, 3)) {
    case 0: put(t, "'$%s'", field); break;
    case 1: put(t, "{'$type': '$%s'}", field); break;
    default: put(t, "{'$cond': [{'$gt': ['$%s', 2]}, '$b', 7]}", field);
    }
}

/* put_projection -- what $project takes. */
static void put_projection(text *t, random_source *r) {
    if (random_chance(r, 30)) {
        put(t, "{'%s': 0}", fields[1 + random_below(r, FIELDS - 1)]);
        return;
    }
    put(t, "{'_id': %d", (int)random_below(r, 2));
    for (size_t i = 1; i < FIELDS; i++) {
        if (i == 4 || !random_chance(r, 50))
            continue;
        put(t, ", '%s': ", i == 3 && random_chance(r, 50) ? "c.d" : fields[i]);
        if (random_chance(r, 60))
            put(t, "1");
        else
            put_expression(t, r);
    }
    put(t, ", 'z': 1}");
}

/* put_stage -- any stage. */
static void put_stage(text *t, random_source *r) {
    const char *field = fields[random_below(r, FIELDS)];
    switch (random_below(r, 18)) {
    case 0:
        put(t, "{'$project': ");
        put_projection(t, r);
        put(t, "}");
        break;
    case 1: put(t, "{'$unset': ['%s', 'q']}", field); break;
    case 2:
        /* Not by e, which has empty arrays. */
        put(t, "{'$sort': {'%s': %d}}", fields[random_below(r, 5)], random_chance(r, 50) ? 1 : -1);
        break;
    case 3: put(t, "{'$sort': {'b': -1, 'q': 1}}"); break;
    case 4: put(t, "{'$skip': %d}", (int)random_below(r, 9)); break;
    case 5: put(t, "{'$limit': %d}", 1 + (int)random_below(r, 40)); break;
    case 6: put(t, "{'$unwind': '$e'}"); break;
    case 7: put(t, "{'$unwind': {'path': '$c.d', 'includeArrayIndex': 'x'}}"); break;
    case 8:
        put(t, "{'$lookup': {'from': 'c', 'localField': 'b', 'foreignField': '_id', 'as': '%s'}}",
            random_chance(r, 50) ? "y" : "x");
        break;
    case 9:
        put(t, "{'$set': {'%s': ", field);
        put_expression(t, r);
        put(t, "}}");
        break;
    case 10: put(t, "{'$group': {'_id': '$b', 'x': {'$first': '$$ROOT'}}}"); break;
    case 11:
        put(t,
            "{'$setWindowFields': {'partitionBy': {'$type': '$b'}, 'sortBy': {'_id': %d}, "
            "'output': {'x': "
            "{'$first': '$%s', 'window': {'documents': [-1, 1]}}}}}",
            random_chance(r, 50) ? 1 : -1, field);
        break;
    case 12: put(t, "{'$group': {'_id': '$b', 'x': {'$sum': 1}, 'a': {'$first': '$a'}}}"); break;
    default:
        put(t, "{'$match': {");
        if (random_chance(r, 50)) {
            put_condition(t, r, 0);
        } else {
            put_condition(t, r, 2);
            put(t, ", '$and': [{'%s': {'$lte': 3}}, {", field);
            put_condition(t, r, 1);
            put(t, "}]");
        }
        put(t, "}}");
    }
}

/* compare -- a random pipeline as it is, and in a fixed order. */
static void compare(tansu_db *db, random_source *r) {
    text free_order = {.size = 0}, fixed = {.size = 0};
    const char *begin = "{'op': 'aggregate', 'collection': 'c', 'pipeline': [";
    put(&free_order, "%s", begin);
    put(&fixed, "%s", begin);
    uint64_t count = 1 + random_below(r, STAGES_MOST);
    for (uint64_t i = 0; i < count; i++) {
        text stage = {.size = 0};
        put_stage(&stage, r);
        put(&free_order, "%s%s", i == 0 ? "" : ", ", stage.bytes);
        put(&fixed, "%s{'$redact': '$$KEEP'}, %s", i == 0 ? "" : ", ", stage.bytes);
    }
    put(&free_order, "]}");
    put(&fixed, "]}");
    CHECK_STATUS(TANSU_OK, run(db, &fixed));
    char *expected = answer;
    answer = NULL;
    run(db, &free_order);
    if (!CHECK_TEXT(expected, answer))
        check_note("%s", free_order.bytes);
    tansu_free(expected);
}

static void order_changes_no_answer(void) {
    random_source r = random_start(1);
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    save_documents(db, &r, false);
    for (uint64_t i = 0; i < rounds; i++) {
        if (i == rounds / 2) {
            must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'a': 1}}");
            must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'c.d': 1}}");
        }
        compare(db, &r);
    }
    call_close(db);
    folder_end(folder);
}

/* ---- Comparisons in $expr ---- */

static void comparisons_select_the_same_by_index(void) {
    random_source r = random_start(2);
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    static const char *const operators[] = {"$eq", "$gt", "$gte", "$lt", "$lte"};
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    save_documents(db, &r, true);
    must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'a': 1}}");
    must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'c.d': 1}}");
    for (uint64_t i = 0; i < rounds; i++) {
        text value = {.size = 0}, plain = {.size = 0}, indexed = {.size = 0};
        const char *operator= operators[random_below(&r, 5)];
        const char *path = random_chance(&r, 50) ? "a" : "c.d";
        put(&value, "{'$literal': ");
        put_value(&value, &r, true);
        put(&value, "}");
        text test = {.size = 0};
        if (random_chance(&r, 50))
            put(&test, "{'%s': ['$%s', %s]}", operator, path, value.bytes);
        else
            put(&test, "{'%s': [%s, '$%s']}", operator, value.bytes, path);
        put(&indexed, "{'op': 'find', 'collection': 'c', 'query': {'$expr': %s}}", test.bytes);
        put(&plain,
            "{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$redact': {'$cond': [%s, "
            "'$$KEEP', '$$PRUNE']}}]}",
            test.bytes);
        CHECK_STATUS(TANSU_OK, run(db, &plain));
        char *expected = answer;
        answer = NULL;
        run(db, &indexed);
        if (!CHECK_TEXT(expected, answer))
            check_note("%s", indexed.bytes);
        tansu_free(expected);
    }
    must_run(db, "{'op': 'find', 'collection': 'c', 'query': {'$expr': {'$eq': ['$a', {'$literal': "
                 "{'$gt': 1}}]}}}");
    CHECK_TEXT("{\"ok\": true, \"documents\": []}", answer);
    call_close(db);
    folder_end(folder);
}

/* ---- What is taken over ---- */

/* count_of -- how often a part is in a text. */
static int count_of(const char *in, const char *part) {
    int count = 0;
    for (; (in = strstr(in, part)); in += strlen(part))
        count++;
    return count;
}

/* explained -- a pipeline of which the query takes `taken` stages, by an index or not. */
static void explained(tansu_db *db, const char *stages, int taken, bool by_index) {
    text t = {.size = 0};
    put(&t, "{'op': 'aggregate', 'collection': 'c', 'pipeline': [%s], 'hints': {'$explain': true}}",
        stages);
    if (!CHECK_STATUS(TANSU_OK, run(db, &t)) ||
        !CHECK_INT(taken, count_of(answer, "\"by\": \"query\"")) ||
        !CHECK_INT(by_index, count_of(answer, "\"plan\": {\"kind\": \"index\"") != 0))
        check_note("%s: %s", stages, answer);
}

static void what_can_lead_is_in_the_query(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    random_source r = random_from(1);
    save_documents(db, &r, false);
    must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'b': 1}}");
    explained(db, "{'$project': {'b': 1}}, {'$match': {'b': 1}}", 1, true);
    explained(db, "{'$project': {'b': '$a'}}, {'$match': {'b': 1}}", 0, false);
    explained(db, "{'$project': {'a': 1}}, {'$match': {'b': 1}}", 0, false);
    explained(db, "{'$project': {'a': 0}}, {'$match': {'b': 1}}", 1, true);
    explained(db, "{'$set': {'x': 1}}, {'$match': {'b': 1, 'x': 1}}", 0, true);
    explained(db, "{'$set': {'x': 1}}, {'$match': {'$and': [{'b': 1}, {'x': 1}]}}", 0, true);
    explained(db, "{'$set': {'b.c': 1}}, {'$match': {'b': 1}}", 0, false);
    explained(db, "{'$unset': 'a'}, {'$unwind': '$e'}, {'$match': {'b': 1}}", 1, true);
    explained(db, "{'$unwind': '$b'}, {'$match': {'b': 1}}", 0, false);
    explained(db,
              "{'$lookup': {'from': 'c', 'localField': 'b', 'foreignField': '_id', 'as': 'x'}}, "
              "{'$match': {'b': 1}}",
              1, true);
    explained(db,
              "{'$lookup': {'from': 'c', 'localField': 'b', 'foreignField': '_id', 'as': 'x'}}, "
              "{'$project': {'x': 1}}, {'$limit': 2}",
              1, false);
    explained(db, "{'$sort': {'a': 1}}, {'$match': {'b': 1}}, {'$skip': 1}, {'$limit': 2}", 4,
              true);
    explained(db, "{'$limit': 2}, {'$match': {'b': 1}}", 1, false);
    explained(db, "{'$group': {'_id': '$b', 'a': {'$sum': '$a'}}}, {'$match': {'b': 1}}", 0, false);
    explained(db, "{'$set': {'x': 1}}, {'$match': {'$expr': {'$eq': ['$b', 1]}}}", 0, false);
    explained(db, "{'$match': {'$expr': {'$gt': ['$b', 3]}}}", 1, true);
    explained(db, "{'$match': {'$expr': {'$and': [{'$lt': ['$b', 1]}, {'$gt': ['$a', 1]}]}}}", 1,
              true);
    explained(db, "{'$match': {'$expr': {'$gte': [0, '$b']}}}", 1, true);
    call_close(db);
    folder_end(folder);
}

static void what_is_dropped_is_not_computed(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    must_run(db, "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 'n': 0}, {'_id': 2, "
                 "'n': 2}]}");
    text fails = {.size = 0};
    put(&fails, "{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$set': {'x': {'$divide': "
                "[8, '$n']}}}, {'$match': {'x': 4}}]}");
    CHECK_STATUS(TANSU_E_INVALID_QUERY, run(db, &fails));
    must_run(db, "{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$set': {'x': {'$divide': "
                 "[8, '$n']}}}, {'$match': {'n': 2}}]}");
    CHECK_TEXT("{\"ok\": true, \"documents\": [{\"_id\": 2, \"n\": 2, \"x\": 4.0}]}", answer);
    must_run(db, "{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$set': {'x': {'$divide': "
                 "[8, '$n']}}}, {'$skip': 1}]}");
    CHECK_TEXT("{\"ok\": true, \"documents\": [{\"_id\": 2, \"n\": 2, \"x\": 4.0}]}", answer);
    call_close(db);
    folder_end(folder);
}

static void joins_find_values_that_look_like_operators(void) {
    static const char *const values[][2] = {
        {"{'$gt': 5}", "[{\"_id\": 1}, {\"_id\": 2}]"},
        {"[{'$gt': 5}, {'$x': 1}]", "[{\"_id\": 1}, {\"_id\": 2}, {\"_id\": 3}]"},
        {"{'$regularExpression': {'pattern': '^a', 'options': ''}}", "[{\"_id\": 4}]"},
        {"{'a': {'$gt': 5}}", "[{\"_id\": 6}]"},
    };
    static const char *const stages[] = {
        "{'$lookup': {'from': 'c', 'localField': 's', 'foreignField': 'k', 'as': 'j'}}",
        "{'$graphLookup': {'from': 'c', 'startWith': '$s', 'connectFromField': 'none', "
        "'connectToField': 'k', 'as': 'j'}}, "
        "{'$set': {'j': {'$sortArray': {'input': '$j', 'sortBy': {'_id': 1}}}}}"};
    tansu_db *db = call_open(NULL);
    must_run(db,
             "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 'k': {'$gt': 5}}, "
             "{'_id': 2, 'k': [{'$gt': 5}, 7]}, {'_id': 3, 'k': {'$x': 1}}, {'_id': 4, 'k': "
             "{'$regularExpression': {'pattern': '^a', 'options': ''}}}, {'_id': 5, 'k': 'abc'}, "
             "{'_id': 6, 'k': {'a': {'$gt': 5}}}, {'_id': 7, 'k': 9}]}");
    for (int indexed = 0; indexed < 2; indexed++) {
        if (indexed)
            must_run(db, "{'op': 'createIndex', 'collection': 'c', 'keys': {'k': 1}}");
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
                text t = {.size = 0};
                put(&t,
                    "{'op': 'aggregate', 'pipeline': [{'$documents': [{'s': {'$literal': %s}}]}, "
                    "%s, {'$project': {'j._id': 1}}]}",
                    values[i][0], stages[k]);
                if (!CHECK_STATUS(TANSU_OK, run(db, &t)) || !CHECK(strstr(answer, values[i][1])))
                    check_note("%s: %s", t.bytes, answer);
            }
        }
    }
    call_close(db);
}

int main(void) {
    RUN(order_changes_no_answer);
    RUN(comparisons_select_the_same_by_index);
    RUN(joins_find_values_that_look_like_operators);
    RUN(what_can_lead_is_in_the_query);
    RUN(what_is_dropped_is_not_computed);
    tansu_free(answer);
    return check_finish();
}
